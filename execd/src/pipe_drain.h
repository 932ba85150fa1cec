// SPDX-License-Identifier: Apache-2.0
/*
 * Output pipes whose command is over but that background children still hold: what they write is
 * read and thrown away, so that they see neither SIGPIPE nor a full pipe, until the last one
 * closes.
 */
#ifndef EXECD_PIPE_DRAIN_H
#define EXECD_PIPE_DRAIN_H

#include <osb/list.h>
#include <osb/loop.h>

struct pipe_drains {
    struct osb_loop *loop;
    struct osb_list all;
};

void pipe_drains_init(struct pipe_drains *drains, struct osb_loop *loop);
void pipe_drains_done(struct pipe_drains *drains);
/* Takes FD, the non-blocking reading end. Closes it at once when nobody writes any more. */
void pipe_drain_add(struct pipe_drains *drains, int fd);

#endif
