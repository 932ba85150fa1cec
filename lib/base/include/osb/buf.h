// SPDX-License-Identifier: Apache-2.0
/*
 * A growing byte buffer. Appending never fails at the call: the first failure (limit reached or
 * memory exhausted) sticks in `err`, later appends are dropped, and the caller checks once at the
 * end. Zero-initialise it, or osb_buf_init() to name a limit. Consuming from the front is cheap.
 */
#ifndef OSB_BUF_H
#define OSB_BUF_H

#include <osb/slice.h>
#include <stdarg.h>
#include <stddef.h>

struct osb_buf {
    char *base;   /* allocation */
    size_t start; /* offset of the first live byte */
    size_t len;   /* live bytes */
    size_t cap;   /* bytes allocated */
    size_t limit; /* most live bytes; 0 means none */
    int err;      /* sticky: 0, -OSB_E_TOO_LARGE or -ENOMEM */
};

/* LIMIT in bytes; 0 for none. */
void osb_buf_init(struct osb_buf *buf, size_t limit);
/* Frees the storage; the buffer may be used again. */
void osb_buf_done(struct osb_buf *buf);
/* Forgets content and error, keeps the storage. */
void osb_buf_clear(struct osb_buf *buf);

void osb_buf_append(struct osb_buf *buf, const void *data, size_t len);
void osb_buf_append_slice(struct osb_buf *buf, struct osb_slice s);
void osb_buf_append_str(struct osb_buf *buf, const char *s);
void osb_buf_append_char(struct osb_buf *buf, char c);
void osb_buf_appendf(struct osb_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void osb_buf_vappendf(struct osb_buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/*
 * Room for N more bytes at the end, to be filled by the caller and published by osb_buf_commit();
 * NULL (and the sticky error) when there is none.
 */
char *osb_buf_reserve(struct osb_buf *buf, size_t n);
void osb_buf_commit(struct osb_buf *buf, size_t n);
/* Drops N bytes from the front. */
void osb_buf_consume(struct osb_buf *buf, size_t n);
/* Drops everything behind the first LEN bytes. */
void osb_buf_truncate(struct osb_buf *buf, size_t len);

/* The live bytes; valid until the next append. */
static inline struct osb_slice osb_buf_slice(const struct osb_buf *buf)
{
    return osb_slice(buf->base ? buf->base + buf->start : NULL, buf->len);
}

/* The live bytes with a NUL behind them (not counted); valid until the next append. */
const char *osb_buf_cstr(struct osb_buf *buf);
/* Moves the content out as a NUL-terminated string owned by the caller; the buffer is empty. */
char *osb_buf_take(struct osb_buf *buf);

#define _cleanup_buf_ __attribute__((cleanup(osb_buf_done)))

#endif
