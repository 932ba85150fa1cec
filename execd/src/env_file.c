// SPDX-License-Identifier: Apache-2.0
#include "env_file.h"

struct parser {
    struct osb_slice rest;
    expand_lookup_fn *lookup;
    void *lookup_arg;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct osb_slice trim(struct osb_slice s)
{
    while (s.len > 0 && is_blank(s.data[0]))
        s = osb_slice_from(s, 1);
    while (s.len > 0 && is_blank(s.data[s.len - 1]))
        s.len--;
    return s;
}

static struct osb_slice take_line(struct parser *p)
{
    struct osb_slice line = OSB_SLICE_NULL;

    osb_slice_split(&p->rest, '\n', &line);
    return line;
}

static void append_escape(struct osb_buf *out, char c)
{
    switch (c) {
    case 'n':
        osb_buf_append_char(out, '\n');
        break;
    case 'r':
        osb_buf_append_char(out, '\r');
        break;
    case 't':
        osb_buf_append_char(out, '\t');
        break;
    case '\\':
    case '"':
        osb_buf_append_char(out, c);
        break;
    default: /* unknown escapes stay as they are */
        osb_buf_append_char(out, '\\');
        osb_buf_append_char(out, c);
    }
}

/*
 * Reads from the opening quote at the start of TEXT; returns the bytes up to and with the closing
 * one, 0 when it never closes.
 */
static size_t read_quoted(struct osb_slice text, struct osb_buf *out)
{
    char quote = text.data[0];

    for (size_t i = 1; i < text.len; i++) {
        char c = text.data[i];
        if (c == quote)
            return i + 1;
        if (quote == '"' && c == '\\' && i + 1 < text.len)
            append_escape(out, text.data[++i]);
        else
            osb_buf_append_char(out, c);
    }
    return 0;
}

/* VALUE starts with a quote inside P's text: it may go on past this line. */
static bool parse_quoted(struct parser *p, struct osb_slice value, const char *text_end,
                         struct osb_buf *out)
{
    _cleanup_buf_ struct osb_buf raw = {0};
    struct osb_slice whole = osb_slice(value.data, (size_t)(text_end - value.data));
    size_t used = read_quoted(whole, &raw);

    if (used == 0)
        return false;
    if (used > value.len)
        p->rest = osb_slice_from(whole, used);
    struct osb_slice behind = used > value.len ? take_line(p) : osb_slice_from(value, used);
    if (trim(behind).len > 0)
        return false;
    if (value.data[0] == '"')
        expand_variables(out, osb_buf_slice(&raw), p->lookup, p->lookup_arg);
    else
        osb_buf_append_slice(out, osb_buf_slice(&raw));
    return true;
}

size_t env_file_parse(struct osb_slice text, expand_lookup_fn *lookup, void *lookup_arg,
                      env_file_fn *fn, void *arg)
{
    struct parser p = {text, lookup, lookup_arg};
    const char *text_end = text.data + text.len;
    size_t bad = 0;

    while (p.rest.len > 0) {
        _cleanup_buf_ struct osb_buf value = {0};
        struct osb_slice line = trim(take_line(&p));
        if (line.len == 0 || line.data[0] == '#')
            continue;
        ptrdiff_t equals = osb_slice_find(line, '=');
        if (equals <= 0) {
            bad++;
            continue;
        }
        struct osb_slice name = trim(osb_slice_first(line, (size_t)equals));
        struct osb_slice raw = trim(osb_slice_from(line, (size_t)equals + 1));
        if (raw.len > 0 && (raw.data[0] == '\'' || raw.data[0] == '"')) {
            if (!parse_quoted(&p, raw, text_end, &value)) {
                bad++;
                continue;
            }
        } else {
            expand_variables(&value, raw, lookup, lookup_arg);
        }
        if (osb_slice_find(osb_buf_slice(&value), '\0') < 0 && osb_slice_find(name, '\0') < 0)
            fn(name, osb_buf_slice(&value), arg);
    }
    return bad;
}
