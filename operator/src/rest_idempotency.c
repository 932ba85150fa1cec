// SPDX-License-Identifier: Apache-2.0
#include "rest_idempotency.h"

#include <osb/alloc.h>
#include <osb/digest.h>
#include <osb/json_writer.h>

#include <stdlib.h>
#include <string.h>

/* ---- names (RFC 9562 section 5.5) ---- */

/* docs/interfaces.md: 6f1d9a52-0b57-4a0e-9d6b-5c1c8f0e3a71 */
static const struct osb_uuid root = {{0x6f, 0x1d, 0x9a, 0x52, 0x0b, 0x57, 0x4a, 0x0e, 0x9d, 0x6b,
                                      0x5c, 0x1c, 0x8f, 0x0e, 0x3a, 0x71}};

static struct osb_uuid name_in(struct osb_uuid parent, struct osb_slice name)
{
    uint8_t digest[OSB_SHA1_LEN];
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_append(&text, parent.bytes, sizeof(parent.bytes));
    osb_buf_append_slice(&text, name);
    osb_sha1(osb_buf_slice(&text), digest);
    return osb_uuid_v5_from_sha1(digest);
}

const char *rest_idempotent_name(const char *namespace_, struct osb_slice key,
                                 char buffer[static OSB_UUID_TEXT_MAX])
{
    struct osb_uuid parent = name_in(root, osb_slice_str(namespace_));
    return osb_uuid_format(name_in(parent, key), buffer);
}

/* ---- bodies ---- */

struct member {
    struct osb_slice key;
    const struct osb_json *value;
};

static int compare(const void *a, const void *b)
{
    return osb_slice_cmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static void write_value(struct osb_json_writer *w, const struct osb_json *value);

static void write_object(struct osb_json_writer *w, const struct osb_json *object)
{
    size_t count = 0;
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    _cleanup_free_ struct member *members =
        osb_calloc(osb_json_count(object) + 1, sizeof(members[0]));
    while (osb_json_next_member(object, &cursor, &key, &value))
        if (osb_json_type(value) != OSB_JSON_NULL)
            members[count++] = (struct member){key, value};
    qsort(members, count, sizeof(members[0]), compare);
    osb_json_begin_object(w);
    for (size_t i = 0; i < count; i++) {
        osb_json_key_slice(w, members[i].key);
        write_value(w, members[i].value);
    }
    osb_json_end_object(w);
}

static void write_value(struct osb_json_writer *w, const struct osb_json *value)
{
    _cleanup_buf_ struct osb_buf text = {0};
    switch (osb_json_type(value)) {
    case OSB_JSON_OBJECT:
        write_object(w, value);
        return;
    case OSB_JSON_ARRAY:
        osb_json_begin_array(w);
        for (size_t i = 0; i < osb_json_count(value); i++)
            write_value(w, osb_json_at(value, i));
        osb_json_end_array(w);
        return;
    default:
        osb_json_print(value, &text);
        osb_json_raw(w, osb_buf_slice(&text));
    }
}

const char *rest_body_digest(const struct osb_json *body, char buffer[static REST_DIGEST_MAX])
{
    uint8_t digest[OSB_SHA256_LEN];
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &text);
    write_value(&w, body);
    osb_assert(osb_json_writer_finish(&w, NULL) == 0);
    osb_sha256(osb_buf_slice(&text), digest);
    return osb_hex(digest, sizeof(digest), buffer);
}
