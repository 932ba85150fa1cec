// SPDX-License-Identifier: Apache-2.0
/*
 * Own code: Debian has no C library for TOML, and its C++ one (toml++ 3.3) ends the process at some
 * malformed files, as fuzzing shows.
 */
#include "toml.h"

#include <osb/text.h>

#include "toml_text.h"
#include "toml_value.h"

/* `[a.b]` and `[[a.b]]`; *RET_TABLE is where the lines below it go. */
static int read_header(struct toml_reader *r, struct osb_json *root, struct osb_json **ret_table)
{
    _cleanup_buf_ struct osb_buf key = {0};
    struct osb_json *table = NULL;
    bool is_array = toml_take(r, '[');
    int result = toml_read_key(r, root, &table, &key);
    if (result < 0)
        return result;
    if (!toml_take(r, ']') || (is_array && !toml_take(r, ']')))
        return toml_fail(r, "] is missing");
    struct osb_json *there = osb_json_get_slice(table, osb_buf_slice(&key));
    struct osb_json *made = osb_json_new_object();
    if (!is_array && !there) {
        osb_json_set_slice(table, osb_buf_slice(&key), made);
        *ret_table = made;
    } else if (is_array && (!there || osb_json_type(there) == OSB_JSON_ARRAY)) {
        if (!there) {
            there = osb_json_new_array();
            osb_json_set_slice(table, osb_buf_slice(&key), there);
        }
        osb_json_append(there, made);
        *ret_table = made;
    } else {
        osb_json_free(made);
        if (is_array || osb_json_type(there) != OSB_JSON_OBJECT)
            return toml_fail(r, "this table is there already, as something else");
        *ret_table = there; /* it was made by the header of a table in it, or goes on */
    }
    return toml_end_line(r);
}

static int read_lines(struct toml_reader *r, struct osb_json *root)
{
    struct osb_json *table = root;
    for (;;) {
        int result = toml_skip_lines(r);
        if (result < 0 || r->p == r->end)
            return result;
        if (toml_take(r, '['))
            result = read_header(r, root, &table);
        else if ((result = toml_read_pair(r, table)) >= 0)
            result = toml_end_line(r);
        if (result < 0)
            return result;
    }
}

int toml_parse(struct osb_slice text, struct osb_json **ret, struct osb_err *err)
{
    if (osb_slice_starts(text, OSB_SLICE("\xEF\xBB\xBF")))
        text = osb_slice_from(text, 3);
    if (!osb_utf8_is_valid(text))
        return osb_fail(err, -OSB_E_INVALID, "the file is not UTF-8");
    struct toml_reader r = {.p = text.data, .end = text.data + text.len, .line = 1, .err = err};
    struct osb_json *root = osb_json_new_object();
    int result = read_lines(&r, root);
    if (result < 0)
        osb_json_free(root);
    else
        *ret = root;
    return result;
}
