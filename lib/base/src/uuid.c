// SPDX-License-Identifier: Apache-2.0
#include <osb/uuid.h>

#include <osb/err.h>
#include <string.h>
#include <sys/random.h>

void osb_random_bytes(void *buffer, size_t len)
{
    for (char *at = buffer; len;) {
        ssize_t n = getrandom(at, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        osb_assert(n > 0 && "getrandom");
        at += n;
        len -= (size_t)n;
    }
}

/* Sets version and variant (RFC 9562 sections 4.1 and 4.2). */
static void stamp(struct osb_uuid *uuid, unsigned version)
{
    uuid->bytes[6] = (uint8_t)((uuid->bytes[6] & 0x0f) | version << 4);
    uuid->bytes[8] = (uint8_t)((uuid->bytes[8] & 0x3f) | 0x80);
}

struct osb_uuid osb_uuid_v4(void)
{
    struct osb_uuid uuid;
    osb_random_bytes(uuid.bytes, sizeof(uuid.bytes));
    stamp(&uuid, 4);
    return uuid;
}

struct osb_uuid osb_uuid_v5_from_sha1(const uint8_t digest[static 20])
{
    struct osb_uuid uuid;
    memcpy(uuid.bytes, digest, sizeof(uuid.bytes));
    stamp(&uuid, 5);
    return uuid;
}

const char *osb_hex(const void *data, size_t len, char *buffer)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = data;
    for (size_t i = 0; i < len; i++) {
        buffer[2 * i] = digits[bytes[i] >> 4];
        buffer[2 * i + 1] = digits[bytes[i] & 15];
    }
    buffer[2 * len] = '\0';
    return buffer;
}

const char *osb_uuid_format_hex(struct osb_uuid uuid, char buffer[static OSB_UUID_HEX_MAX])
{
    return osb_hex(uuid.bytes, sizeof(uuid.bytes), buffer);
}

const char *osb_uuid_format(struct osb_uuid uuid, char buffer[static OSB_UUID_TEXT_MAX])
{
    static const uint8_t group_bytes[] = {4, 2, 2, 2, 6};
    const uint8_t *from = uuid.bytes;
    char *to = buffer;
    for (size_t i = 0; i < sizeof(group_bytes); i++) {
        if (i)
            *to++ = '-';
        osb_hex(from, group_bytes[i], to);
        from += group_bytes[i];
        to += 2 * group_bytes[i];
    }
    return buffer;
}
