// SPDX-License-Identifier: Apache-2.0
/*
 * A slice is a borrowed run of bytes: pointer and length, passed by value, never freed through.
 * Everything that comes from the wire is a slice; it may hold NUL bytes and need not end in one.
 */
#ifndef OSB_SLICE_H
#define OSB_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct osb_slice {
    const char *data; /* may be NULL when len is 0 */
    size_t len;       /* bytes */
};

#define OSB_SLICE_NULL ((struct osb_slice){NULL, 0})
/* A slice over a string literal. */
#define OSB_SLICE(literal) ((struct osb_slice){"" literal, sizeof(literal) - 1})
/* Arguments for "%.*s". */
#define OSB_SLICE_ARG(s) (int)(s).len, (s).data ? (s).data : ""

static inline struct osb_slice osb_slice(const void *data, size_t len)
{
    return (struct osb_slice){(const char *)data, len};
}

/* A slice over a NUL-terminated string; NULL gives the empty slice. */
static inline struct osb_slice osb_slice_str(const char *s)
{
    return (struct osb_slice){s, s ? strlen(s) : 0};
}

bool osb_slice_eq(struct osb_slice a, struct osb_slice b);
bool osb_slice_eq_str(struct osb_slice a, const char *b);
/* ASCII case-insensitive equality. */
bool osb_slice_ieq(struct osb_slice a, struct osb_slice b);
bool osb_slice_ieq_str(struct osb_slice a, const char *b);
/* Byte order, shorter first; for sorting. */
int osb_slice_cmp(struct osb_slice a, struct osb_slice b);
bool osb_slice_starts(struct osb_slice s, struct osb_slice prefix);
bool osb_slice_ends(struct osb_slice s, struct osb_slice suffix);
/* Offset of the first C, or -1. */
ptrdiff_t osb_slice_find(struct osb_slice s, char c);
/* Offset of the first occurrence of NEEDLE, or -1. */
ptrdiff_t osb_slice_find_slice(struct osb_slice s, struct osb_slice needle);
/* The part from OFFSET on; an offset past the end gives the empty slice. */
struct osb_slice osb_slice_from(struct osb_slice s, size_t offset);
/* At most the first LEN bytes. */
struct osb_slice osb_slice_first(struct osb_slice s, size_t len);
/* Without SP and HTAB at both ends. */
struct osb_slice osb_slice_trim(struct osb_slice s);
/*
 * Cuts the next piece up to SEPARATOR off *REST and stores it in *RET_PIECE; false once *REST is
 * used up. "a,,b" gives "a", "", "b".
 */
bool osb_slice_split(struct osb_slice *rest, char separator, struct osb_slice *ret_piece);
/* A NUL-terminated copy; owned by the caller, freed with free(). Aborts on exhaustion. */
char *osb_slice_dup(struct osb_slice s);
/* Digits only, no sign, no blanks; 0 or -OSB_E_SYNTAX, -ERANGE. */
int osb_slice_to_u64(struct osb_slice s, uint64_t *ret_value);
/* An optional '-', then digits; 0 or -OSB_E_SYNTAX, -ERANGE. */
int osb_slice_to_i64(struct osb_slice s, int64_t *ret_value);
/* Equality in time that depends on the lengths only; for tokens. */
bool osb_slice_eq_secret(struct osb_slice a, struct osb_slice b);

#endif
