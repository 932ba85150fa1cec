// SPDX-License-Identifier: Apache-2.0
/* UUIDs (RFC 9562) and random bytes from getrandom(2). */
#ifndef OSB_UUID_H
#define OSB_UUID_H

#include <stddef.h>
#include <stdint.h>

enum {
    OSB_UUID_TEXT_MAX = 37, /* 36 characters and a NUL */
    OSB_UUID_HEX_MAX = 33   /* 32 characters and a NUL */
};

struct osb_uuid {
    uint8_t bytes[16];
};

/* Fills BUFFER with LEN random bytes; aborts if the kernel has none. */
void osb_random_bytes(void *buffer, size_t len);
struct osb_uuid osb_uuid_v4(void);
/* Version 5 from a SHA-1 digest of namespace and name (RFC 9562 section 5.5). */
struct osb_uuid osb_uuid_v5_from_sha1(const uint8_t digest[static 20]);
/* "8-4-4-4-12" lower-case text; returns BUFFER. */
const char *osb_uuid_format(struct osb_uuid uuid, char buffer[static OSB_UUID_TEXT_MAX]);
/* 32 lower-case hex digits; returns BUFFER. */
const char *osb_uuid_format_hex(struct osb_uuid uuid, char buffer[static OSB_UUID_HEX_MAX]);
/* Lower-case hex of any bytes; BUFFER holds 2 * LEN + 1. Returns BUFFER. */
const char *osb_hex(const void *data, size_t len, char *buffer);

#endif
