// SPDX-License-Identifier: Apache-2.0
#include "input.h"

#include <errno.h>

enum { PARK_COPY_MAX = 1024 }; /* leftovers up to here are worth a copy to free the large buffer */

static void lend(struct osb_buf *in, struct osb_buf *spare)
{
    if (in->base || !spare->base)
        return;
    *in = *spare;
    *spare = (struct osb_buf){0};
    osb_buf_clear(in);
}

static void give_back(struct osb_buf *in, struct osb_buf *spare)
{
    if (spare->base) {
        osb_buf_done(in);
        return;
    }
    *spare = *in;
    *in = (struct osb_buf){0};
}

ssize_t http_input_read(struct osb_buf *in, struct osb_buf *spare, struct osb_stream *stream)
{
    lend(in, spare);
    char *room = osb_buf_reserve(in, HTTP_READ_SIZE);
    if (!room)
        return -ENOMEM;
    ssize_t n = osb_stream_read(stream, room, HTTP_READ_SIZE);
    if (n > 0)
        osb_buf_commit(in, (size_t)n);
    return n;
}

void http_input_park(struct osb_buf *in, struct osb_buf *spare)
{
    if (!in->base)
        return;
    if (in->len == 0) {
        give_back(in, spare);
    } else if (in->len <= PARK_COPY_MAX && in->cap > 4 * PARK_COPY_MAX) {
        struct osb_buf large = *in;
        *in = (struct osb_buf){0};
        osb_buf_append_slice(in, osb_buf_slice(&large));
        give_back(&large, spare);
    }
}
