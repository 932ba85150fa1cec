// SPDX-License-Identifier: Apache-2.0
#include <osb/json_reader.h>

#include "json_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longest number that is converted to a double; longer ones are valid only where skipped. */
enum { NUMBER_MAX = 512 };

void osb_json_reader_init(struct osb_json_reader *r, struct osb_slice input)
{
    const char *begin = input.data ? input.data : "";
    *r = (struct osb_json_reader){.begin = begin, .p = begin, .end = begin + input.len};
}

void osb_json_reader_fail(struct osb_json_reader *r, int code, const char *what)
{
    if (r->err)
        return;
    r->err = code;
    r->what = what;
}

/* Takes over the result of a scan: the new place, or its error. */
static bool accept(struct osb_json_reader *r, const struct json_scan *s, const char *p)
{
    if (p) {
        r->p = p;
        return true;
    }
    r->p = s->where;
    osb_json_reader_fail(r, s->err, s->what);
    return false;
}

static uint64_t level_bit(const struct osb_json_reader *r)
{
    return UINT64_C(1) << (r->depth - 1);
}

/*
 * Moves to the value that is due and returns its first byte; 0 when there is none. At the top
 * level values may follow each other, as in a stream.
 */
static char due(struct osb_json_reader *r)
{
    if (r->err)
        return 0;
    if (r->depth > 0 && !r->has_value) {
        osb_json_reader_fail(r, -OSB_E_INTERNAL, "a value was asked for where none is due");
        return 0;
    }
    r->p = json_scan_blanks(r->p, r->end);
    if (r->p < r->end && *r->p)
        return *r->p;
    osb_json_reader_fail(r, -OSB_E_SYNTAX,
                         r->p < r->end ? "not a value" : "the input ends where a value is due");
    return 0;
}

static void wrong_type(struct osb_json_reader *r, const char *what)
{
    /* Garbage is a syntax error, whatever type was hoped for. */
    if (osb_json_peek(r) != OSB_JSON_NONE)
        osb_json_reader_fail(r, -OSB_E_INVALID, what);
}

enum osb_json_type osb_json_peek(struct osb_json_reader *r)
{
    if (r->err || (r->depth > 0 && !r->has_value))
        return OSB_JSON_NONE;
    r->p = json_scan_blanks(r->p, r->end);
    if (r->p == r->end)
        return OSB_JSON_NONE;
    switch (*r->p) {
    case '"':
        return OSB_JSON_STRING;
    case '{':
        return OSB_JSON_OBJECT;
    case '[':
        return OSB_JSON_ARRAY;
    case 't':
    case 'f':
        return OSB_JSON_BOOL;
    case 'n':
        return OSB_JSON_NULL;
    default:
        if (json_scan_starts_number(*r->p))
            return OSB_JSON_NUMBER;
        osb_json_reader_fail(r, -OSB_E_SYNTAX, "not a value");
        return OSB_JSON_NONE;
    }
}

static void enter(struct osb_json_reader *r, bool is_object)
{
    char c = due(r);
    if (!c)
        return;
    if (c != (is_object ? '{' : '[')) {
        wrong_type(r, is_object ? "not an object" : "not an array");
        return;
    }
    if (r->depth >= OSB_JSON_MAX_DEPTH) {
        osb_json_reader_fail(r, -OSB_E_TOO_DEEP, "nested too deeply");
        return;
    }
    r->p++;
    r->depth++;
    r->has_value = false;
    r->is_first |= level_bit(r);
    if (is_object)
        r->is_object |= level_bit(r);
    else
        r->is_object &= ~level_bit(r);
}

void osb_json_enter_object(struct osb_json_reader *r)
{
    enter(r, true);
}

void osb_json_enter_array(struct osb_json_reader *r)
{
    enter(r, false);
}

static bool is_inside(struct osb_json_reader *r, bool is_object)
{
    if (r->err)
        return false;
    if (r->depth == 0 || ((r->is_object & level_bit(r)) != 0) != is_object || r->has_value) {
        osb_json_reader_fail(r, -OSB_E_INTERNAL,
                             r->has_value ? "a value was not read"
                                          : "the next element of a container that is not open");
        return false;
    }
    return true;
}

/* Consumes the comma or the closing bracket; true when an element follows. */
static bool next_element(struct osb_json_reader *r, char close)
{
    const char *p = json_scan_blanks(r->p, r->end);
    r->p = p;
    if (p == r->end) {
        osb_json_reader_fail(r, -OSB_E_SYNTAX, "the input ends inside an object or array");
        return false;
    }
    if (*p == close) {
        r->p = p + 1;
        r->depth--;
        return false;
    }
    if (r->is_first & level_bit(r)) {
        r->is_first &= ~level_bit(r);
        return true;
    }
    if (*p != ',') {
        osb_json_reader_fail(r, -OSB_E_SYNTAX, "a comma or a closing bracket is due");
        return false;
    }
    r->p = json_scan_blanks(p + 1, r->end);
    return true;
}

bool osb_json_next_item(struct osb_json_reader *r)
{
    if (!is_inside(r, false) || !next_element(r, ']'))
        return false;
    r->has_value = true;
    return true;
}

/* The string at the current place, raw, without its quotes. */
static bool raw_string(struct osb_json_reader *r, struct osb_slice *ret, bool *ret_has_escapes)
{
    struct json_scan s = {.end = r->end};
    const char *begin = r->p + 1;
    if (!accept(r, &s, json_scan_string(&s, begin, ret_has_escapes)))
        return false;
    *ret = osb_slice(begin, (size_t)(r->p - begin) - 1);
    return true;
}

static struct osb_slice decode(struct osb_arena *arena, struct osb_slice raw)
{
    char *text = osb_arena_alloc(arena, raw.len + 1);
    return osb_slice(text, json_scan_decode(raw, text));
}

/* ARENA may be NULL: keys with escapes stay as they are then. */
static bool next_key(struct osb_json_reader *r, struct osb_arena *arena, struct osb_slice *ret_key)
{
    struct osb_slice key;
    bool has_escapes;
    if (!is_inside(r, true) || !next_element(r, '}'))
        return false;
    if (r->p == r->end || *r->p != '"') {
        osb_json_reader_fail(r, -OSB_E_SYNTAX, "a key is due");
        return false;
    }
    if (!raw_string(r, &key, &has_escapes))
        return false;
    r->p = json_scan_blanks(r->p, r->end);
    if (r->p == r->end || *r->p != ':') {
        osb_json_reader_fail(r, -OSB_E_SYNTAX, "a colon is due");
        return false;
    }
    r->p++;
    r->has_value = true;
    *ret_key = has_escapes && arena ? decode(arena, key) : key;
    return true;
}

bool osb_json_next_key(struct osb_json_reader *r, struct osb_slice *ret_key)
{
    return next_key(r, NULL, ret_key);
}

bool osb_json_next_key_arena(struct osb_json_reader *r, struct osb_arena *arena,
                             struct osb_slice *ret_key)
{
    return next_key(r, arena, ret_key);
}

static bool literal(struct osb_json_reader *r, struct osb_slice word)
{
    struct json_scan s = {.end = r->end};
    if (!accept(r, &s, json_scan_literal(&s, r->p, word)))
        return false;
    r->has_value = false;
    return true;
}

void osb_json_read_bool(struct osb_json_reader *r, bool *ret)
{
    char c = due(r);
    if (!c)
        return;
    if (c == 't') {
        if (literal(r, OSB_SLICE("true")))
            *ret = true;
    } else if (c == 'f') {
        if (literal(r, OSB_SLICE("false")))
            *ret = false;
    } else {
        wrong_type(r, "not a boolean");
    }
}

bool osb_json_read_null(struct osb_json_reader *r)
{
    return osb_json_peek(r) == OSB_JSON_NULL && literal(r, OSB_SLICE("null"));
}

/* The text of the number that is due. */
static bool number(struct osb_json_reader *r, struct osb_slice *ret, bool *ret_is_integer)
{
    char c = due(r);
    if (!c)
        return false;
    if (!json_scan_starts_number(c)) {
        wrong_type(r, "not a number");
        return false;
    }
    struct json_scan s = {.end = r->end};
    const char *begin = r->p;
    if (!accept(r, &s, json_scan_number(&s, begin, ret_is_integer)))
        return false;
    r->has_value = false;
    *ret = osb_slice(begin, (size_t)(r->p - begin));
    return true;
}

void osb_json_read_i64(struct osb_json_reader *r, int64_t *ret)
{
    struct osb_slice text;
    bool is_integer;
    if (!number(r, &text, &is_integer))
        return;
    int64_t value;
    if (!is_integer)
        osb_json_reader_fail(r, -OSB_E_INVALID, "not an integer");
    else if (osb_slice_to_i64(text, &value) < 0)
        osb_json_reader_fail(r, -OSB_E_INVALID, "an integer out of range");
    else
        *ret = value;
}

void osb_json_read_double(struct osb_json_reader *r, double *ret)
{
    struct osb_slice text;
    bool is_integer;
    char copy[NUMBER_MAX + 1]; /* strtod() needs an end */
    if (!number(r, &text, &is_integer))
        return;
    if (text.len > NUMBER_MAX) {
        osb_json_reader_fail(r, -OSB_E_INVALID, "a number with too many digits");
        return;
    }
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    double value = strtod(copy, NULL);
    if (!isfinite(value))
        osb_json_reader_fail(r, -OSB_E_INVALID, "a number out of range");
    else
        *ret = value;
}

static bool string(struct osb_json_reader *r, struct osb_slice *ret, bool *ret_has_escapes)
{
    char c = due(r);
    if (!c)
        return false;
    if (c != '"') {
        wrong_type(r, "not a string");
        return false;
    }
    if (!raw_string(r, ret, ret_has_escapes))
        return false;
    r->has_value = false;
    return true;
}

void osb_json_read_string(struct osb_json_reader *r, struct osb_arena *arena, struct osb_slice *ret)
{
    struct osb_slice raw;
    bool has_escapes;
    if (string(r, &raw, &has_escapes))
        *ret = has_escapes ? decode(arena, raw) : raw;
}

void osb_json_read_string_buf(struct osb_json_reader *r, struct osb_buf *out)
{
    struct osb_slice raw;
    bool has_escapes;
    if (!string(r, &raw, &has_escapes))
        return;
    if (!has_escapes) {
        osb_buf_append_slice(out, raw);
        return;
    }
    char *room = osb_buf_reserve(out, raw.len);
    if (room)
        osb_buf_commit(out, json_scan_decode(raw, room));
}

void osb_json_read_cstr(struct osb_json_reader *r, struct osb_arena *arena, char **ret)
{
    struct osb_slice raw;
    bool has_escapes;
    if (!string(r, &raw, &has_escapes))
        return;
    char *text = osb_arena_alloc(arena, raw.len + 1);
    size_t len = json_scan_decode(raw, text);
    if (memchr(text, '\0', len)) {
        osb_json_reader_fail(r, -OSB_E_INVALID, "a string with U+0000");
        return;
    }
    text[len] = '\0';
    *ret = text;
}

void osb_json_read_raw(struct osb_json_reader *r, struct osb_slice *ret)
{
    if (!due(r))
        return;
    struct json_scan s = {.end = r->end};
    const char *begin = r->p;
    if (!accept(r, &s, json_scan_value(&s, begin, r->depth)))
        return;
    r->has_value = false;
    *ret = osb_slice(begin, (size_t)(r->p - begin));
}

void osb_json_skip(struct osb_json_reader *r)
{
    struct osb_slice ignored;
    osb_json_read_raw(r, &ignored);
}

size_t osb_json_reader_offset(const struct osb_json_reader *r)
{
    return (size_t)(r->p - r->begin);
}

int osb_json_reader_check(struct osb_json_reader *r, struct osb_err *err)
{
    if (!r->err)
        return 0;
    return osb_fail(err, r->err, "JSON at byte %zu: %s", osb_json_reader_offset(r), r->what);
}

int osb_json_reader_finish(struct osb_json_reader *r, struct osb_err *err)
{
    if (!r->err && r->depth > 0)
        osb_json_reader_fail(r, -OSB_E_INTERNAL, "the reader was left inside a container");
    if (!r->err) {
        r->p = json_scan_blanks(r->p, r->end);
        if (r->p < r->end)
            osb_json_reader_fail(r, -OSB_E_SYNTAX, "bytes behind the value");
    }
    return osb_json_reader_check(r, err);
}
