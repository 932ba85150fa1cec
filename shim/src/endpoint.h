// SPDX-License-Identifier: Apache-2.0
/*
 * The socket that the kubelet connects to, and who owns it. One shim a path: a lock file beside it
 * (PATH.lock) is held as long as the process lives. A path that somebody serves is never taken, be
 * it another shim, or the runtime itself by a slip of the command line; one that is left over is
 * replaced by a rename, so that there is no moment without a socket.
 */
#ifndef SHIM_ENDPOINT_H
#define SHIM_ENDPOINT_H

#include <osb/err.h>
#include <osb/loop.h>

enum {
    /* Of the process; the limit of open files is raised to it. */
    ENDPOINT_DESCRIPTORS_MAX = 4096,
    /* Connections beyond this many descriptors are closed: health and the runtime need some. */
    ENDPOINT_CONNECTIONS_MAX = ENDPOINT_DESCRIPTORS_MAX - 128,
    ENDPOINT_MODE = 0660,
};

struct endpoint;

/*
 * PATH is borrowed. FN gets each connection of root or of our own user, and takes the descriptor.
 * -EADDRINUSE when the path is another's. Accepts nothing before endpoint_start().
 */
int endpoint_new(struct osb_loop *loop, const char *path, void (*fn)(int fd, void *arg), void *arg,
                 struct endpoint **ret, struct osb_err *err);
int endpoint_start(struct endpoint *endpoint, struct osb_err *err);
/* Stops accepting and removes the socket if it is still ours; the lock is held on. */
void endpoint_stop(struct endpoint *endpoint);
/* NULL is allowed. The lock file stays: removing it would let two hold "the" lock. */
void endpoint_free(struct endpoint *endpoint);

#endif
