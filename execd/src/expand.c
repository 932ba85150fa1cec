// SPDX-License-Identifier: Apache-2.0
#include "expand.h"

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
    return is_name_start(c) || (c >= '0' && c <= '9');
}

bool expand_is_identifier(struct osb_slice name)
{
    if (name.len == 0 || !is_name_start(name.data[0]))
        return false;
    for (size_t i = 1; i < name.len; i++)
        if (!is_name(name.data[i]))
            return false;
    return true;
}

/* Bytes of the reference at the start of TEXT ("$A", "${A}"), 0 when there is none. */
static size_t parse_reference(struct osb_slice text, struct osb_slice *ret_name)
{
    size_t brace = text.len > 1 && text.data[1] == '{' ? 1 : 0;
    size_t start = 1 + brace;
    size_t end = start;

    while (end < text.len && (end == start ? is_name_start : is_name)(text.data[end]))
        end++;
    if (end == start || (brace && (end == text.len || text.data[end] != '}')))
        return 0;
    *ret_name = osb_slice(text.data + start, end - start);
    return end + brace;
}

/* *RET_UNDEFINED is the first name that LOOKUP does not know. */
static void replace(struct osb_buf *out, struct osb_slice text, expand_lookup_fn *lookup, void *arg,
                    struct osb_slice *ret_undefined)
{
    while (text.len > 0) {
        ptrdiff_t dollar = osb_slice_find(text, '$');
        size_t plain = dollar < 0 ? text.len : (size_t)dollar;
        struct osb_slice name;

        osb_buf_append_slice(out, osb_slice_first(text, plain));
        text = osb_slice_from(text, plain);
        if (text.len == 0)
            break;
        size_t len = parse_reference(text, &name);
        if (len == 0) {
            osb_buf_append_char(out, '$');
            text = osb_slice_from(text, 1);
            continue;
        }
        const char *value = lookup(name, arg);
        osb_buf_append_str(out, value ? value : "");
        if (!value && ret_undefined->len == 0)
            *ret_undefined = name;
        text = osb_slice_from(text, len);
    }
}

void expand_variables(struct osb_buf *out, struct osb_slice text, expand_lookup_fn *lookup,
                      void *arg)
{
    struct osb_slice undefined = OSB_SLICE_NULL;

    replace(out, text, lookup, arg, &undefined);
}

int expand_path(struct osb_buf *out, struct osb_slice path, expand_lookup_fn *lookup, void *arg,
                struct osb_err *err)
{
    struct osb_slice undefined = OSB_SLICE_NULL;

    if (osb_slice_find(path, '\0') >= 0)
        return osb_fail(err, -OSB_E_INVALID, "path holds a NUL byte");
    if (path.len > 0 && path.data[0] == '~' && (path.len == 1 || path.data[1] == '/')) {
        const char *home = lookup(OSB_SLICE("HOME"), arg);
        if (!home || !*home)
            return osb_fail(err, -OSB_E_INVALID, "path starts with ~ but HOME is not set");
        osb_buf_append_str(out, home);
        path = osb_slice_from(path, 1);
    }
    replace(out, path, lookup, arg, &undefined);
    if (undefined.len > 0)
        return osb_fail(err, -OSB_E_INVALID, "path names the undefined variable %.*s",
                        OSB_SLICE_ARG(undefined));
    return 0;
}
