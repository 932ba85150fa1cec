// SPDX-License-Identifier: Apache-2.0
#include "lenient.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>

#include <stdlib.h>

/* True when the next value has TYPE; else passes over it. */
static bool is_next(struct osb_json_reader *r, enum osb_json_type type)
{
    if (osb_json_peek(r) == type)
        return true;
    osb_json_skip(r);
    return false;
}

bool lenient_enter_object(struct osb_json_reader *r)
{
    if (!is_next(r, OSB_JSON_OBJECT))
        return false;
    osb_json_enter_object(r);
    return true;
}

bool lenient_enter_array(struct osb_json_reader *r)
{
    if (!is_next(r, OSB_JSON_ARRAY))
        return false;
    osb_json_enter_array(r);
    return true;
}

bool lenient_string(struct osb_json_reader *r, char **ret)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct osb_slice value = OSB_SLICE_NULL;
    if (!is_next(r, OSB_JSON_STRING))
        return false;
    osb_json_read_string(r, &arena, &value);
    if (r->err || (value.len > 0 && memchr(value.data, '\0', value.len)))
        return false;
    free(*ret);
    *ret = osb_strndup(value.data ? value.data : "", value.len);
    return true;
}

bool lenient_bool(struct osb_json_reader *r, bool *ret)
{
    if (!is_next(r, OSB_JSON_BOOL))
        return false;
    osb_json_read_bool(r, ret);
    return r->err == 0;
}

/* By hand: a fraction or an exponent must not fail the reader. */
bool lenient_i64(struct osb_json_reader *r, int64_t *ret)
{
    struct osb_slice text = OSB_SLICE_NULL;
    if (!is_next(r, OSB_JSON_NUMBER))
        return false;
    osb_json_read_raw(r, &text);
    if (r->err)
        return false;
    struct osb_json_reader number;
    int64_t value = 0;
    osb_json_reader_init(&number, text);
    osb_json_read_i64(&number, &value);
    if (number.err)
        return false;
    *ret = value;
    return true;
}

bool lenient_raw(struct osb_json_reader *r, enum osb_json_type type, char **ret)
{
    struct osb_slice text = OSB_SLICE_NULL;
    if (!is_next(r, type))
        return false;
    osb_json_read_raw(r, &text);
    if (r->err)
        return false;
    free(*ret);
    *ret = osb_strndup(text.data, text.len);
    return true;
}

bool lenient_time(struct osb_json_reader *r, int64_t *ret_ns)
{
    _cleanup_free_ char *text = NULL;
    return lenient_string(r, &text) && osb_rfc3339_parse(osb_slice_str(text), ret_ns) == 0;
}
