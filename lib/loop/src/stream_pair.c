// SPDX-License-Identifier: Apache-2.0
/* A pipe in memory, both ways, that behaves like a socket pair with buffers of a chosen size. */
#include <osb/alloc.h>
#include <osb/list.h>
#include <osb/stream.h>
#include <string.h>

struct pair_end {
    struct osb_stream base;
    struct pair_end *peer; /* NULL once it was closed */
    size_t capacity;       /* of the bytes on their way to the peer */
    struct osb_buf in;     /* written by the peer, not read yet */
    bool is_at_end;        /* the peer writes no more */
    bool is_shut;          /* we write no more */
    struct osb_defer notify;
};

static struct pair_end *downcast(struct osb_stream *stream)
{
    return osb_container_of(stream, struct pair_end, base);
}

static size_t space(const struct pair_end *end)
{
    return end->peer ? end->capacity - end->peer->in.len : 0;
}

static int ready_events(const struct pair_end *end)
{
    int ready = 0;
    if (end->in.len > 0 || end->is_at_end)
        ready |= OSB_READABLE;
    if (space(end) > 0 || !end->peer || end->is_shut)
        ready |= OSB_WRITABLE;
    return ready;
}

static void kick(struct pair_end *end)
{
    if (end && (ready_events(end) & end->base.events))
        osb_defer_post(&end->notify);
}

static void on_notify(struct osb_defer *defer)
{
    struct pair_end *end = osb_container_of(defer, struct pair_end, notify);
    int ready = ready_events(end) & end->base.events;
    if (ready == 0)
        return;
    osb_defer_post(defer); /* level-triggered: look again in the next turn. A close cancels it. */
    end->base.fn(&end->base, ready, end->base.arg);
}

static ssize_t pair_read(struct osb_stream *stream, void *buffer, size_t len)
{
    struct pair_end *end = downcast(stream);
    if (end->in.len == 0)
        return end->is_at_end ? 0 : -EAGAIN;
    struct osb_slice part = osb_slice_first(osb_buf_slice(&end->in), len);
    memcpy(buffer, part.data, part.len);
    osb_buf_consume(&end->in, part.len);
    kick(end->peer);
    return (ssize_t)part.len;
}

static ssize_t pair_writev(struct osb_stream *stream, const struct iovec *iov, int count)
{
    struct pair_end *end = downcast(stream);
    size_t total = 0;
    if (!end->peer || end->is_shut)
        return -EPIPE;
    for (int i = 0; i < count; i++) {
        size_t room = space(end);
        size_t n = iov[i].iov_len < room ? iov[i].iov_len : room;
        osb_buf_append(&end->peer->in, iov[i].iov_base, n);
        total += n;
        if (n < iov[i].iov_len)
            break;
    }
    kick(end->peer);
    return total == 0 && space(end) == 0 ? -EAGAIN : (ssize_t)total;
}

static int pair_want(struct osb_stream *stream, int events)
{
    struct pair_end *end = downcast(stream);
    end->base.events = events;
    kick(end);
    return 0;
}

static int pair_shutdown(struct osb_stream *stream)
{
    struct pair_end *end = downcast(stream);
    end->is_shut = true;
    if (end->peer)
        end->peer->is_at_end = true;
    kick(end->peer);
    return 0;
}

static void pair_close(struct osb_stream *stream)
{
    struct pair_end *end = downcast(stream);
    pair_shutdown(stream);
    if (end->peer) {
        end->peer->peer = NULL;
        kick(end->peer);
    }
    osb_defer_cancel(&end->notify);
    osb_buf_done(&end->in);
    free(end);
}

static const struct osb_stream_ops pair_ops = {
    .read = pair_read,
    .writev = pair_writev,
    .want = pair_want,
    .shutdown = pair_shutdown,
    .close = pair_close,
};

static struct pair_end *pair_end_new(struct osb_loop *loop, size_t capacity)
{
    struct pair_end *end = osb_new(struct pair_end);
    end->base.ops = &pair_ops;
    end->base.loop = loop;
    end->capacity = capacity;
    osb_defer_init(&end->notify, loop, on_notify, NULL);
    return end;
}

int osb_stream_pair(struct osb_loop *loop, size_t capacity, struct osb_stream **ret_a,
                    struct osb_stream **ret_b)
{
    osb_assert(capacity > 0);
    struct pair_end *a = pair_end_new(loop, capacity);
    struct pair_end *b = pair_end_new(loop, capacity);
    a->peer = b;
    b->peer = a;
    *ret_a = &a->base;
    *ret_b = &b->base;
    return 0;
}
