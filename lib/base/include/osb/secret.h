// SPDX-License-Identifier: Apache-2.0
/*
 * A secret: bytes that are wiped when freed and have no printer. Comparison takes the same time
 * whatever the content. Hand the bytes only to the call that needs them.
 */
#ifndef OSB_SECRET_H
#define OSB_SECRET_H

#include <osb/slice.h>
#include <stdbool.h>
#include <stddef.h>

struct osb_secret {
    char *bytes; /* NUL-terminated for C APIs */
    size_t len;
};

/* Copies S. */
void osb_secret_set(struct osb_secret *secret, struct osb_slice s);
/* 256 random bits as 43 characters of URL-safe base64 without padding. */
void osb_secret_generate(struct osb_secret *secret);
bool osb_secret_eq(const struct osb_secret *secret, struct osb_slice s);
static inline bool osb_secret_is_empty(const struct osb_secret *secret)
{
    return secret->len == 0;
}
/* The bytes, borrowed. */
static inline struct osb_slice osb_secret_reveal(const struct osb_secret *secret)
{
    return osb_slice(secret->bytes, secret->len);
}
/* Wipes and frees. */
void osb_secret_done(struct osb_secret *secret);

#define _cleanup_secret_ __attribute__((cleanup(osb_secret_done)))

#endif
