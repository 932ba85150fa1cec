// SPDX-License-Identifier: Apache-2.0
/* Trees from text and back: by our reader, so that its strictness is the tree's as well. */
#include "json_node.h"
#include "json_number.h"

#include <osb/arena.h>
#include <osb/text.h>
#include <string.h>

static struct osb_json *parse_value(struct osb_json_reader *r, struct osb_arena *arena);

static struct osb_json *parse_object(struct osb_json_reader *r, struct osb_arena *arena)
{
    struct osb_slice key;
    struct osb_json *object = osb_json_new_object();
    osb_json_enter_object(r);
    while (osb_json_next_key_arena(r, arena, &key)) {
        if (key.len && memchr(key.data, '\0', key.len))
            osb_json_reader_fail(r, -OSB_E_INVALID, "a key with U+0000");
        else if (osb_json_get_slice(object, key))
            osb_json_reader_fail(r, -OSB_E_INVALID, "a key that is there already");
        struct osb_json *value = parse_value(r, arena);
        if (value)
            osb_json_set_slice(object, key, value);
    }
    return object;
}

static struct osb_json *parse_array(struct osb_json_reader *r, struct osb_arena *arena)
{
    struct osb_json *array = osb_json_new_array();
    osb_json_enter_array(r);
    while (osb_json_next_item(r)) {
        struct osb_json *value = parse_value(r, arena);
        if (value)
            osb_json_append(array, value);
    }
    return array;
}

/* An integer that fits 64 bits stays one; any other number becomes a double. */
static struct osb_json *parse_number(struct osb_json_reader *r)
{
    struct osb_json_reader as_integer = *r;
    int64_t integer = 0;
    double value = 0;
    osb_json_read_i64(&as_integer, &integer);
    if (!as_integer.err) {
        *r = as_integer;
        return osb_json_new_i64(integer);
    }
    osb_json_read_double(r, &value);
    return r->err ? NULL : osb_json_new_double(value);
}

static struct osb_json *parse_string(struct osb_json_reader *r, struct osb_arena *arena)
{
    struct osb_slice text = OSB_SLICE_NULL;
    osb_json_read_string(r, arena, &text);
    if (text.len > INT32_MAX)
        osb_json_reader_fail(r, -OSB_E_TOO_LARGE, "a string beyond 2 GiB");
    return r->err ? NULL : osb_json_new_string(text);
}

/* NULL after a failure. */
static struct osb_json *parse_value(struct osb_json_reader *r, struct osb_arena *arena)
{
    bool flag = false;
    switch (osb_json_peek(r)) {
    case OSB_JSON_NULL:
        return osb_json_read_null(r) ? osb_json_new_null() : NULL;
    case OSB_JSON_BOOL:
        osb_json_read_bool(r, &flag);
        return r->err ? NULL : osb_json_new_bool(flag);
    case OSB_JSON_NUMBER:
        return parse_number(r);
    case OSB_JSON_STRING:
        return parse_string(r, arena);
    case OSB_JSON_ARRAY:
        return parse_array(r, arena);
    case OSB_JSON_OBJECT:
        return parse_object(r, arena);
    case OSB_JSON_NONE:
        break;
    }
    osb_json_skip(r); /* there is none: raises the reason */
    return NULL;
}

int osb_json_parse(struct osb_slice text, struct osb_json **ret, struct osb_err *err)
{
    struct osb_json_reader reader;
    _cleanup_arena_ struct osb_arena arena = {0};
    _cleanup_json_ struct osb_json *value = NULL;
    osb_json_reader_init(&reader, text);
    value = parse_value(&reader, &arena);
    int r = osb_json_reader_finish(&reader, err);
    if (r < 0)
        return r;
    *ret = osb_take_ptr(value);
    return 0;
}

static void print_string(struct osb_slice s, struct osb_buf *out)
{
    osb_buf_append_char(out, '"');
    osb_json_escape(out, s);
    osb_buf_append_char(out, '"');
}

static void print_object(const struct osb_json *object, struct osb_buf *out)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    char separator = '{';
    while (osb_json_next_member(object, &cursor, &key, &value)) {
        osb_buf_append_char(out, separator);
        print_string(key, out);
        osb_buf_append_char(out, ':');
        osb_json_print(value, out);
        separator = ',';
    }
    osb_buf_append_str(out, separator == '{' ? "{}" : "}");
}

static void print_array(const struct osb_json *array, struct osb_buf *out)
{
    osb_buf_append_char(out, '[');
    for (size_t i = 0; i < osb_json_count(array); i++) {
        if (i)
            osb_buf_append_char(out, ',');
        osb_json_print(osb_json_at(array, i), out);
    }
    osb_buf_append_char(out, ']');
}

void osb_json_print(const struct osb_json *value, struct osb_buf *out)
{
    switch (osb_json_type(value)) {
    case OSB_JSON_NONE:
    case OSB_JSON_NULL:
        osb_buf_append_str(out, "null");
        break;
    case OSB_JSON_BOOL:
        osb_buf_append_str(out, osb_json_bool_or(value, false) ? "true" : "false");
        break;
    case OSB_JSON_NUMBER:
        if (osb_json_is_i64(value))
            osb_buf_appendf(out, "%lld", (long long)osb_json_i64_or(value, 0));
        else
            json_number_print(out, osb_json_double_or(value, 0));
        break;
    case OSB_JSON_STRING:
        print_string(osb_json_str(value), out);
        break;
    case OSB_JSON_ARRAY:
        print_array(value, out);
        break;
    case OSB_JSON_OBJECT:
        print_object(value, out);
        break;
    }
}
