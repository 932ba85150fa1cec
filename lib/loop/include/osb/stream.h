// SPDX-License-Identifier: Apache-2.0
/*
 * The byte-stream interface that TCP, UNIX sockets, pipes, TLS and scripted streams implement.
 * It is readiness-based: the owner asks for events, is called when they hold, and reads or writes
 * without blocking. No buffer is held while a stream is idle, and back-pressure is exact: who does
 * not read is not read for.
 *
 * Life cycle: a stream is made by a listener, a connect call, osb_stream_from_fd(), a TLS wrapper
 * or a script, belongs to one owner, and ends with osb_stream_close(), which is allowed inside its
 * own callback.
 */
#ifndef OSB_STREAM_H
#define OSB_STREAM_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/loop.h>
#include <osb/slice.h>
#include <sys/types.h>
#include <sys/uio.h>

struct osb_stream;

typedef void osb_stream_fn(struct osb_stream *stream, int events, void *arg);

/* What an implementation provides; the stream is the first member of its own struct. */
struct osb_stream_ops {
    ssize_t (*read)(struct osb_stream *stream, void *buffer, size_t len);
    ssize_t (*writev)(struct osb_stream *stream, const struct iovec *iov, int count);
    /* May be NULL: then callers copy. */
    ssize_t (*sendfile)(struct osb_stream *stream, int fd, off_t *offset, size_t len);
    int (*want)(struct osb_stream *stream, int events);
    int (*shutdown)(struct osb_stream *stream);
    void (*close)(struct osb_stream *stream);
};

struct osb_stream {
    const struct osb_stream_ops *ops;
    struct osb_loop *loop;
    osb_stream_fn *fn; /* the owner's callback */
    void *arg;
    int events; /* what the owner asked for */
};

/* Sets the owner's callback; OSB_READABLE is also reported at end of file and on error. */
void osb_stream_set_callback(struct osb_stream *stream, osb_stream_fn *fn, void *arg);
/* Asks for OSB_READABLE and/or OSB_WRITABLE; 0 pauses. */
int osb_stream_want(struct osb_stream *stream, int events);
/* Bytes read; 0 at end of file; -EAGAIN when there is nothing now; another -errno or code. */
ssize_t osb_stream_read(struct osb_stream *stream, void *buffer, size_t len);
/* Bytes written, possibly fewer; -EAGAIN when nothing fits now; -EPIPE; else an error. */
ssize_t osb_stream_write(struct osb_stream *stream, struct osb_slice data);
ssize_t osb_stream_writev(struct osb_stream *stream, const struct iovec *iov, int count);
/* Like sendfile(2); -OSB_E_UNSUPPORTED when the stream cannot. */
ssize_t osb_stream_sendfile(struct osb_stream *stream, int fd, off_t *offset, size_t len);
/* Ends the writing side; the reading side lives on. */
int osb_stream_shutdown(struct osb_stream *stream);
/* Closes and frees. NULL is allowed. */
void osb_stream_close(struct osb_stream *stream);

/*
 * Takes FD (socket, pipe end or terminal; made non-blocking) in every case, also on failure. A
 * terminal whose other side is closed reads as the end of file. Shutting down a pipe's end closes
 * it; a terminal cannot be shut down (-OSB_E_UNSUPPORTED).
 */
int osb_stream_from_fd(struct osb_loop *loop, int fd, struct osb_stream **ret, struct osb_err *err);
/* The descriptor behind a plain stream, borrowed; -1 for TLS and scripted ones. */
int osb_stream_fd(const struct osb_stream *stream);

/* ---- listeners ---- */

struct osb_listener;

/* STREAM is the callee's. PEER is "127.0.0.1:3456", "[::1]:3456" or "unix:PID,UID". */
typedef void osb_accept_fn(struct osb_stream *stream, const char *peer, void *arg);

/*
 * ADDRESS is an IPv4 or IPv6 literal ("::" listens on both families); PORT 0 picks a free one.
 * Accepting pauses for a second when descriptors run out.
 */
int osb_listener_new_tcp(struct osb_loop *loop, const char *address, int port, osb_accept_fn *fn,
                         void *arg, struct osb_listener **ret, struct osb_err *err);
/*
 * Takes a path that nobody listens on (a stale socket is removed, a live one is -EADDRINUSE).
 * MODE is the file's mode. The path is removed by osb_listener_free().
 */
int osb_listener_new_unix(struct osb_loop *loop, const char *path, mode_t mode, osb_accept_fn *fn,
                          void *arg, struct osb_listener **ret, struct osb_err *err);
/* Takes a listening descriptor. */
int osb_listener_new_fd(struct osb_loop *loop, int fd, osb_accept_fn *fn, void *arg,
                        struct osb_listener **ret, struct osb_err *err);
/* The bound TCP port; 0 for UNIX sockets. */
int osb_listener_port(const struct osb_listener *listener);
/* Also inside its own callback. NULL is allowed. Streams that it made live on. */
void osb_listener_free(struct osb_listener *listener);

/* ---- connecting ---- */

/* STREAM is the callee's, or NULL with R < 0. Never called from inside the connect call. */
typedef void osb_connect_fn(struct osb_stream *stream, int r, void *arg);
struct osb_connect;

/*
 * ADDRESS is an IP literal. *RET may be cancelled until the callback ran. TIMEOUT_MS 0 means 10
 * seconds; when it is over, the callback gets -OSB_E_TIMEOUT. What the kernel says about the
 * peer comes by the callback, also at once; only wrong arguments and a lack of descriptors are
 * errors of the call.
 */
int osb_connect_tcp(struct osb_loop *loop, const char *address, int port, uint64_t timeout_ms,
                    osb_connect_fn *fn, void *arg, struct osb_connect **ret, struct osb_err *err);
int osb_connect_unix(struct osb_loop *loop, const char *path, uint64_t timeout_ms,
                     osb_connect_fn *fn, void *arg, struct osb_connect **ret, struct osb_err *err);
/* The callback will not run. NULL is allowed. */
void osb_connect_cancel(struct osb_connect *connect);

/* ---- scripted streams, for tests on any back end ---- */

/*
 * Two ends of a pipe in memory: what one writes the other reads. CAPACITY bounds the bytes in
 * flight each way (at least 1). Both ends are closed on their own.
 */
int osb_stream_pair(struct osb_loop *loop, size_t capacity, struct osb_stream **ret_a,
                    struct osb_stream **ret_b);

OSB_DEFINE_CLEANUP(struct osb_stream, osb_cleanup_stream, osb_stream_close);
#define _cleanup_stream_ OSB_CLEANUP(osb_cleanup_stream)

#endif
