// SPDX-License-Identifier: Apache-2.0
#include <osb/secret.h>

#include <osb/alloc.h>
#include <osb/uuid.h>
#include <stdlib.h>

enum { SECRET_RANDOM_BYTES = 32, SECRET_TEXT_LEN = 43 };

void osb_secret_done(struct osb_secret *secret)
{
    if (secret->bytes)
        explicit_bzero(secret->bytes, secret->len);
    free(secret->bytes);
    *secret = (struct osb_secret){0};
}

/* The copy is made first: S may be a part of the secret that it replaces. */
void osb_secret_set(struct osb_secret *secret, struct osb_slice s)
{
    char *copy = osb_slice_dup(s);
    osb_secret_done(secret);
    secret->bytes = copy;
    secret->len = s.len;
}

/* Takes six bits at a time from the front; the last character carries the four that are left. */
void osb_secret_generate(struct osb_secret *secret)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char random[SECRET_RANDOM_BYTES];
    char text[SECRET_TEXT_LEN];
    osb_random_bytes(random, sizeof(random));
    for (size_t i = 0; i < sizeof(text); i++) {
        size_t byte = i * 6 / 8;
        unsigned pair = (unsigned)random[byte] << 8;
        if (byte + 1 < sizeof(random))
            pair |= random[byte + 1];
        text[i] = alphabet[pair >> (10 - i * 6 % 8) & 63];
    }
    osb_secret_set(secret, osb_slice(text, sizeof(text)));
    explicit_bzero(random, sizeof(random));
    explicit_bzero(text, sizeof(text));
}

bool osb_secret_eq(const struct osb_secret *secret, struct osb_slice s)
{
    return osb_slice_eq_secret(osb_secret_reveal(secret), s);
}
