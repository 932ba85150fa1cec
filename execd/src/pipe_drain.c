// SPDX-License-Identifier: Apache-2.0
#include "pipe_drain.h"

#include <errno.h>
#include <osb/alloc.h>
#include <unistd.h>

enum { DRAIN_READ = 16 * 1024 };

struct pipe_drain {
    struct osb_watch watch;
    struct osb_list link;
};

static void drain_free(struct pipe_drain *drain)
{
    osb_watch_stop(&drain->watch);
    close(drain->watch.fd);
    osb_list_remove(&drain->link);
    free(drain);
}

/* True when the pipe is at its end. One read a turn: a flood must not starve the others. */
static bool discard(int fd)
{
    char buffer[DRAIN_READ];
    ssize_t n = read(fd, buffer, sizeof(buffer));

    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void on_readable(struct osb_watch *watch, int events)
{
    (void)events;
    if (discard(watch->fd))
        drain_free(osb_container_of(watch, struct pipe_drain, watch));
}

void pipe_drains_init(struct pipe_drains *drains, struct osb_loop *loop)
{
    drains->loop = loop;
    osb_list_init(&drains->all);
}

void pipe_drains_done(struct pipe_drains *drains)
{
    struct pipe_drain *drain;

    while ((drain = osb_list_first(&drains->all, struct pipe_drain, link)))
        drain_free(drain);
}

void pipe_drain_add(struct pipe_drains *drains, int fd)
{
    if (discard(fd)) {
        close(fd);
        return;
    }
    struct pipe_drain *drain = osb_new(struct pipe_drain);
    osb_watch_init(&drain->watch, drains->loop, fd, on_readable, drain);
    osb_list_append(&drains->all, &drain->link);
    if (osb_watch_set(&drain->watch, OSB_READABLE) < 0)
        drain_free(drain);
}
