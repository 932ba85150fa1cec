// SPDX-License-Identifier: Apache-2.0
#include "toml_text.h"

#include <string.h>

int toml_fail(struct toml_reader *r, const char *what)
{
    return osb_fail(r->err, -OSB_E_INVALID, "line %d: %s", r->line, what);
}

bool toml_take(struct toml_reader *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

void toml_skip_blanks(struct toml_reader *r)
{
    while (toml_peek(r) == ' ' || toml_peek(r) == '\t')
        r->p++;
}

static bool is_control(char c)
{
    unsigned char byte = (unsigned char)c;
    return (byte < 0x20 && byte != '\t') || byte == 0x7F;
}

static int skip_comment(struct toml_reader *r)
{
    if (!toml_take(r, '#'))
        return 0;
    for (; r->p < r->end && *r->p != '\n' && *r->p != '\r'; r->p++)
        if (is_control(*r->p))
            return toml_fail(r, "control character in a comment");
    return 0;
}

/* True when a line end was taken. */
static bool take_line_end(struct toml_reader *r)
{
    if (r->end - r->p >= 2 && r->p[0] == '\r' && r->p[1] == '\n')
        r->p++;
    if (!toml_take(r, '\n'))
        return false;
    r->line++;
    return true;
}

int toml_skip_lines(struct toml_reader *r)
{
    do {
        toml_skip_blanks(r);
        int result = skip_comment(r);
        if (result < 0)
            return result;
    } while (take_line_end(r));
    return 0;
}

int toml_end_line(struct toml_reader *r)
{
    toml_skip_blanks(r);
    int result = skip_comment(r);
    if (result < 0)
        return result;
    if (r->p < r->end && !take_line_end(r))
        return toml_fail(r, "something follows the value");
    return 0;
}

/* ---- strings ---- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static void append_code_point(struct osb_buf *out, unsigned c)
{
    if (c < 0x80) {
        osb_buf_append_char(out, (char)c);
    } else if (c < 0x800) {
        osb_buf_append_char(out, (char)(0xC0 | c >> 6));
        osb_buf_append_char(out, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        osb_buf_append_char(out, (char)(0xE0 | c >> 12));
        osb_buf_append_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
        osb_buf_append_char(out, (char)(0x80 | (c & 0x3F)));
    } else {
        osb_buf_append_char(out, (char)(0xF0 | c >> 18));
        osb_buf_append_char(out, (char)(0x80 | (c >> 12 & 0x3F)));
        osb_buf_append_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
        osb_buf_append_char(out, (char)(0x80 | (c & 0x3F)));
    }
}

static int read_code_point(struct toml_reader *r, int digits, struct osb_buf *out)
{
    unsigned value = 0;
    for (int i = 0; i < digits; i++) {
        int digit = hex_value(toml_peek(r));
        if (digit < 0)
            return toml_fail(r, "\\u needs 4 hex digits, \\U 8");
        value = value << 4 | (unsigned)digit;
        r->p++;
    }
    if (value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return toml_fail(r, "no such character");
    append_code_point(out, value);
    return 0;
}

static int read_escape(struct toml_reader *r, struct osb_buf *out)
{
    static const char letters[] = "btnfr\"\\";
    static const char meanings[] = "\b\t\n\f\r\"\\";
    char c = toml_peek(r);
    const char *at = c ? strchr(letters, c) : NULL;
    if (r->p < r->end)
        r->p++;
    if (c == 'u' || c == 'U')
        return read_code_point(r, c == 'u' ? 4 : 8, out);
    if (!at)
        return toml_fail(r, "unknown escape");
    osb_buf_append_char(out, meanings[at - letters]);
    return 0;
}

int toml_read_string(struct toml_reader *r, struct osb_buf *out)
{
    char quote = *r->p++;
    if (r->end - r->p >= 2 && r->p[0] == quote && r->p[1] == quote)
        return toml_fail(r, "multi-line strings are not supported");
    while (r->p < r->end && *r->p != quote) {
        if (is_control(*r->p))
            return toml_fail(r, "a string must end on its line");
        if (quote == '"' && toml_take(r, '\\')) {
            int result = read_escape(r, out);
            if (result < 0)
                return result;
        } else {
            osb_buf_append_char(out, *r->p++);
        }
    }
    return toml_take(r, quote) ? 0 : toml_fail(r, "a string must end on its line");
}

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

int toml_read_key_part(struct toml_reader *r, struct osb_buf *out)
{
    if (toml_peek(r) == '"' || toml_peek(r) == '\'')
        return toml_read_string(r, out);
    const char *begin = r->p;
    while (is_bare(toml_peek(r)))
        r->p++;
    if (r->p == begin)
        return toml_fail(r, "a key is missing");
    osb_buf_append(out, begin, (size_t)(r->p - begin));
    return 0;
}
