// SPDX-License-Identifier: Apache-2.0
#include <osb/json_writer.h>

#include "json_number.h"

#include <osb/clock.h>
#include <osb/json_reader.h>
#include <osb/text.h>

void osb_json_writer_init(struct osb_json_writer *w, struct osb_buf *out)
{
    *w = (struct osb_json_writer){.out = out};
}

static void fail(struct osb_json_writer *w, int code)
{
    if (!w->err)
        w->err = code;
}

static uint64_t level_bit(const struct osb_json_writer *w)
{
    return UINT64_C(1) << (w->depth - 1);
}

/* Puts the comma that is due in front of an element. */
static void separate(struct osb_json_writer *w)
{
    if (w->has_items & level_bit(w))
        osb_buf_append_char(w->out, ',');
    w->has_items |= level_bit(w);
}

/* Opens the place of a value: behind a key, in an array, or once at the top. */
static bool begin_value(struct osb_json_writer *w)
{
    if (w->err)
        return false;
    if (w->is_after_key) {
        w->is_after_key = false;
    } else if (w->depth == 0 && !w->is_complete) {
        w->is_complete = true;
    } else if (w->depth > 0 && !(w->is_object & level_bit(w))) {
        separate(w);
    } else {
        fail(w, -OSB_E_INTERNAL);
        return false;
    }
    return true;
}

static void begin(struct osb_json_writer *w, bool is_object)
{
    if (!begin_value(w))
        return;
    if (w->depth >= OSB_JSON_MAX_DEPTH) {
        fail(w, -OSB_E_TOO_DEEP);
        return;
    }
    osb_buf_append_char(w->out, is_object ? '{' : '[');
    w->depth++;
    w->has_items &= ~level_bit(w);
    if (is_object)
        w->is_object |= level_bit(w);
    else
        w->is_object &= ~level_bit(w);
}

static void end(struct osb_json_writer *w, bool is_object)
{
    if (w->err)
        return;
    if (w->depth == 0 || w->is_after_key || ((w->is_object & level_bit(w)) != 0) != is_object) {
        fail(w, -OSB_E_INTERNAL);
        return;
    }
    osb_buf_append_char(w->out, is_object ? '}' : ']');
    w->depth--;
}

void osb_json_begin_object(struct osb_json_writer *w)
{
    begin(w, true);
}

void osb_json_end_object(struct osb_json_writer *w)
{
    end(w, true);
}

void osb_json_begin_array(struct osb_json_writer *w)
{
    begin(w, false);
}

void osb_json_end_array(struct osb_json_writer *w)
{
    end(w, false);
}

static void quoted(struct osb_json_writer *w, struct osb_slice s)
{
    osb_buf_append_char(w->out, '"');
    osb_json_escape(w->out, s);
    osb_buf_append_char(w->out, '"');
}

void osb_json_key(struct osb_json_writer *w, const char *key)
{
    osb_json_key_slice(w, osb_slice_str(key));
}

void osb_json_key_slice(struct osb_json_writer *w, struct osb_slice key)
{
    if (w->err)
        return;
    if (w->depth == 0 || w->is_after_key || !(w->is_object & level_bit(w))) {
        fail(w, -OSB_E_INTERNAL);
        return;
    }
    separate(w);
    quoted(w, key);
    osb_buf_append_char(w->out, ':');
    w->is_after_key = true;
}

void osb_json_null(struct osb_json_writer *w)
{
    osb_json_raw(w, OSB_SLICE("null"));
}

void osb_json_bool(struct osb_json_writer *w, bool value)
{
    osb_json_raw(w, value ? OSB_SLICE("true") : OSB_SLICE("false"));
}

void osb_json_i64(struct osb_json_writer *w, int64_t value)
{
    if (begin_value(w))
        osb_buf_appendf(w->out, "%lld", (long long)value);
}

void osb_json_double(struct osb_json_writer *w, double value)
{
    if (begin_value(w))
        json_number_print(w->out, value);
}

void osb_json_string(struct osb_json_writer *w, const char *value)
{
    if (value)
        osb_json_slice(w, osb_slice_str(value));
    else
        osb_json_null(w);
}

void osb_json_slice(struct osb_json_writer *w, struct osb_slice value)
{
    if (begin_value(w))
        quoted(w, value);
}

void osb_json_raw(struct osb_json_writer *w, struct osb_slice json)
{
    if (begin_value(w))
        osb_buf_append_slice(w->out, json);
}

void osb_json_time(struct osb_json_writer *w, int64_t realtime_ns)
{
    char text[OSB_RFC3339_MAX];
    osb_json_string(w, osb_rfc3339_format(text, realtime_ns, 0));
}

void osb_json_kv_string(struct osb_json_writer *w, const char *key, const char *value)
{
    osb_json_key(w, key);
    osb_json_string(w, value);
}

void osb_json_kv_slice(struct osb_json_writer *w, const char *key, struct osb_slice value)
{
    osb_json_key(w, key);
    osb_json_slice(w, value);
}

void osb_json_kv_i64(struct osb_json_writer *w, const char *key, int64_t value)
{
    osb_json_key(w, key);
    osb_json_i64(w, value);
}

void osb_json_kv_bool(struct osb_json_writer *w, const char *key, bool value)
{
    osb_json_key(w, key);
    osb_json_bool(w, value);
}

void osb_json_kv_time(struct osb_json_writer *w, const char *key, int64_t realtime_ns)
{
    osb_json_key(w, key);
    osb_json_time(w, realtime_ns);
}

void osb_json_kv_string_opt(struct osb_json_writer *w, const char *key, const char *value)
{
    if (value && *value)
        osb_json_kv_string(w, key, value);
}

int osb_json_writer_finish(struct osb_json_writer *w, struct osb_err *err)
{
    if (!w->err && (w->depth > 0 || w->is_after_key))
        w->err = -OSB_E_INTERNAL;
    if (w->err)
        return osb_fail(err, w->err, "write JSON: wrong nesting");
    if (w->out->err)
        return osb_fail(err, w->out->err, "write JSON: the buffer is full");
    return 0;
}
