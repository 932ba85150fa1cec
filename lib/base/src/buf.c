// SPDX-License-Identifier: Apache-2.0
#include <osb/buf.h>

#include <osb/alloc.h>
#include <osb/err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUF_CAPACITY_MIN = 128 };

void osb_buf_init(struct osb_buf *buf, size_t limit)
{
    *buf = (struct osb_buf){.limit = limit};
}

void osb_buf_done(struct osb_buf *buf)
{
    free(buf->base);
    osb_buf_init(buf, buf->limit);
}

void osb_buf_clear(struct osb_buf *buf)
{
    buf->start = 0;
    buf->len = 0;
    buf->err = 0;
}

static bool fail(struct osb_buf *buf, int code)
{
    if (!buf->err)
        buf->err = code;
    return false;
}

static bool is_within_limit(struct osb_buf *buf, size_t n)
{
    if (buf->limit && (buf->len > buf->limit || n > buf->limit - buf->len))
        return fail(buf, -OSB_E_TOO_LARGE);
    return true;
}

/* Storage that holds WANTED live bytes, growing by doubling; the live bytes move to its start. */
static bool grow(struct osb_buf *buf, size_t wanted)
{
    size_t cap = buf->cap < BUF_CAPACITY_MIN ? BUF_CAPACITY_MIN : buf->cap;
    if (wanted > PTRDIFF_MAX)
        return fail(buf, -ENOMEM);
    while (cap < wanted)
        cap = cap > PTRDIFF_MAX / 2 ? PTRDIFF_MAX : cap * 2;

    if (buf->start)
        memmove(buf->base, buf->base + buf->start, buf->len);
    buf->start = 0;
    char *base = realloc(buf->base, cap);
    if (!base)
        return fail(buf, -ENOMEM);
    buf->base = base;
    buf->cap = cap;
    return true;
}

/* Room for N bytes behind the live ones, whatever the limit says. */
static bool make_room(struct osb_buf *buf, size_t n)
{
    if (n <= buf->cap - buf->start - buf->len)
        return true;
    size_t wanted;
    if (__builtin_add_overflow(buf->len, n, &wanted))
        return fail(buf, -ENOMEM);
    /*
     * Consumed space is reused once it is as large as what has to move; a shorter move would
     * make a slow reader of a long buffer pay for the whole of it again and again.
     */
    if (wanted <= buf->cap && buf->start >= buf->len) {
        memmove(buf->base, buf->base + buf->start, buf->len);
        buf->start = 0;
        return true;
    }
    return grow(buf, wanted <= buf->cap ? buf->cap + 1 : wanted);
}

char *osb_buf_reserve(struct osb_buf *buf, size_t n)
{
    if (buf->err || !is_within_limit(buf, n) || !make_room(buf, n ? n : 1))
        return NULL;
    return buf->base + buf->start + buf->len;
}

void osb_buf_commit(struct osb_buf *buf, size_t n)
{
    osb_assert(n <= buf->cap - buf->start - buf->len);
    buf->len += n;
}

void osb_buf_append(struct osb_buf *buf, const void *data, size_t len)
{
    if (len == 0)
        return;
    char *room = osb_buf_reserve(buf, len);
    if (!room)
        return;
    memcpy(room, data, len);
    buf->len += len;
}

void osb_buf_append_slice(struct osb_buf *buf, struct osb_slice s)
{
    osb_buf_append(buf, s.data, s.len);
}

void osb_buf_append_str(struct osb_buf *buf, const char *s)
{
    osb_buf_append_slice(buf, osb_slice_str(s));
}

void osb_buf_append_char(struct osb_buf *buf, char c)
{
    osb_buf_append(buf, &c, 1);
}

void osb_buf_appendf(struct osb_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    osb_buf_vappendf(buf, format, args);
    va_end(args);
}

/* Formats into the free space; only a text that does not fit there is formatted twice. */
void osb_buf_vappendf(struct osb_buf *buf, const char *format, va_list args)
{
    if (buf->err)
        return;
    va_list again;
    va_copy(again, args);
    size_t room = buf->cap - buf->start - buf->len;
    char *end = room ? buf->base + buf->start + buf->len : NULL;
    int n = vsnprintf(end, room, format, args);
    osb_assert(n >= 0);

    /* The NUL needs room too, but does not count against the limit. */
    if (is_within_limit(buf, (size_t)n)) {
        bool is_complete = (size_t)n < room;
        if (!is_complete && make_room(buf, (size_t)n + 1)) {
            vsnprintf(buf->base + buf->start + buf->len, (size_t)n + 1, format, again);
            is_complete = true;
        }
        if (is_complete)
            buf->len += (size_t)n;
    }
    va_end(again);
}

void osb_buf_consume(struct osb_buf *buf, size_t n)
{
    osb_assert(n <= buf->len);
    buf->len -= n;
    buf->start = buf->len ? buf->start + n : 0;
}

void osb_buf_truncate(struct osb_buf *buf, size_t len)
{
    if (len < buf->len)
        buf->len = len;
}

const char *osb_buf_cstr(struct osb_buf *buf)
{
    if (!make_room(buf, 1))
        return "";
    buf->base[buf->start + buf->len] = '\0';
    return buf->base + buf->start;
}

char *osb_buf_take(struct osb_buf *buf)
{
    if (!make_room(buf, 1))
        return osb_strdup("");
    if (buf->start)
        memmove(buf->base, buf->base + buf->start, buf->len);
    char *text = buf->base;
    text[buf->len] = '\0';
    buf->base = NULL;
    buf->start = buf->len = buf->cap = 0;
    return text;
}
