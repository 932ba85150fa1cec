// SPDX-License-Identifier: Apache-2.0
#include "toml_value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "toml.h"

/* ---- keys ---- */

/* The table KEY of TABLE, made when absent; NULL when something else has the name. */
static struct osb_json *enter(struct osb_json *table, struct osb_slice key)
{
    struct osb_json *inner = osb_json_get_slice(table, key);
    if (!inner) {
        inner = osb_json_new_object();
        osb_json_set_slice(table, key, inner);
    }
    if (osb_json_type(inner) == OSB_JSON_ARRAY && osb_json_count(inner) > 0)
        inner = osb_json_at(inner, osb_json_count(inner) - 1);
    return osb_json_type(inner) == OSB_JSON_OBJECT ? inner : NULL;
}

int toml_read_key(struct toml_reader *r, struct osb_json *table, struct osb_json **ret_table,
                  struct osb_buf *key)
{
    for (int parts = 0; parts < TOML_MAX_KEY_PARTS; parts++) {
        osb_buf_clear(key);
        toml_skip_blanks(r);
        int result = toml_read_key_part(r, key);
        if (result < 0)
            return result;
        toml_skip_blanks(r);
        if (!toml_take(r, '.')) {
            *ret_table = table;
            return 0;
        }
        table = enter(table, osb_buf_slice(key));
        if (!table)
            return toml_fail(r, "a part of this key is no table");
    }
    return toml_fail(r, "a key has too many parts");
}

int toml_read_pair(struct toml_reader *r, struct osb_json *table)
{
    _cleanup_buf_ struct osb_buf key = {0};
    struct osb_json *value = NULL;
    int result = toml_read_key(r, table, &table, &key);
    if (result < 0)
        return result;
    if (!toml_take(r, '='))
        return toml_fail(r, "= is missing");
    if (osb_json_get_slice(table, osb_buf_slice(&key)))
        return toml_fail(r, "this key is there already");
    toml_skip_blanks(r);
    result = toml_read_value(r, &value);
    if (result < 0)
        return result;
    osb_json_set_slice(table, osb_buf_slice(&key), value);
    return 0;
}

/* ---- numbers, booleans, dates ---- */

static bool is_word_character(char c)
{
    return c && strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-_.:", c);
}

/* Copies digits without their separators; an underscore must stand between digits. */
static bool copy_number(struct osb_slice word, char *out, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < word.len; i++) {
        bool is_between = i > 0 && i + 1 < word.len && word.data[i - 1] != '_';
        if (word.data[i] == '_' && is_between)
            continue;
        if (word.data[i] == '_' || len + 1 >= size)
            return false;
        out[len++] = word.data[i];
    }
    out[len] = '\0';
    return len > 0;
}

static int base_of(const char *text)
{
    if (text[0] != '0')
        return 10;
    return text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : text[1] == 'b' ? 2 : 10;
}

static bool read_integer(const char *text, struct osb_json **ret)
{
    const char *digits = text + (*text == '+' || *text == '-');
    int base = base_of(text);
    char *end;
    if (base != 10)
        text = digits = text + 2;
    else if (digits[0] == '0' && digits[1])
        return false; /* no leading zeros */
    if (!isxdigit((unsigned char)*digits))
        return false;
    errno = 0;
    long long value = strtoll(text, &end, base);
    if (*end || errno)
        return false;
    *ret = osb_json_new_i64(value);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_float(const char *text, struct osb_json **ret)
{
    char *end;
    const char *digits = text + (*text == '+' || *text == '-');
    const char *dot = strchr(text, '.');
    if (strspn(text, "0123456789+-.eE") != strlen(text) || !strpbrk(text, ".eE") ||
        !is_digit(digits[0]) || (digits[0] == '0' && is_digit(digits[1])) ||
        (dot && (!is_digit(dot[-1]) || !is_digit(dot[1]))))
        return false;
    double value = strtod(text, &end);
    if (*end || value > 1e300 || value < -1e300)
        return false;
    *ret = osb_json_new_double(value);
    return true;
}

/* 2026-01-01, 07:32:00 and what is made of them; kept as it is written. */
static bool is_date(struct osb_slice word)
{
    return (word.len >= 10 && word.data[4] == '-' && word.data[7] == '-') ||
           (word.len >= 5 && word.data[2] == ':');
}

static int read_word(struct toml_reader *r, struct osb_json **ret)
{
    char number[64];
    const char *begin = r->p;
    while (is_word_character(toml_peek(r)))
        r->p++;
    struct osb_slice word = osb_slice(begin, (size_t)(r->p - begin));
    if (osb_slice_eq_str(word, "true") || osb_slice_eq_str(word, "false")) {
        *ret = osb_json_new_bool(word.len == 4);
        return 0;
    }
    if (is_date(word)) {
        *ret = osb_json_new_string(word);
        return 0;
    }
    if (copy_number(word, number, sizeof(number)) &&
        (read_integer(number, ret) || read_float(number, ret)))
        return 0;
    return toml_fail(r, "this is no value");
}

/* ---- nested values ---- */

static int read_array(struct toml_reader *r, struct osb_json *array)
{
    for (;;) {
        struct osb_json *item = NULL;
        int result = toml_skip_lines(r);
        if (result < 0)
            return result;
        if (toml_take(r, ']'))
            return 0;
        if ((result = toml_read_value(r, &item)) < 0)
            return result;
        osb_json_append(array, item);
        if ((result = toml_skip_lines(r)) < 0)
            return result;
        if (!toml_take(r, ',') && toml_peek(r) != ']')
            return toml_fail(r, ", or ] is missing");
    }
}

static int read_inline_table(struct toml_reader *r, struct osb_json *table)
{
    toml_skip_blanks(r);
    if (toml_take(r, '}'))
        return 0;
    do {
        int result = toml_read_pair(r, table);
        if (result < 0)
            return result;
        toml_skip_blanks(r);
    } while (toml_take(r, ','));
    return toml_take(r, '}') ? 0 : toml_fail(r, ", or } is missing");
}

static int read_nested(struct toml_reader *r, struct osb_json **ret)
{
    bool is_array = *r->p++ == '[';
    if (r->depth == TOML_MAX_DEPTH)
        return toml_fail(r, "nested too deep");
    struct osb_json *value = is_array ? osb_json_new_array() : osb_json_new_object();
    r->depth++;
    int result = is_array ? read_array(r, value) : read_inline_table(r, value);
    r->depth--;
    if (result < 0)
        osb_json_free(value);
    else
        *ret = value;
    return result;
}

int toml_read_value(struct toml_reader *r, struct osb_json **ret)
{
    char c = toml_peek(r);
    if (c == '[' || c == '{')
        return read_nested(r, ret);
    if (c != '"' && c != '\'')
        return read_word(r, ret);
    _cleanup_buf_ struct osb_buf text = {0};
    int result = toml_read_string(r, &text);
    if (result >= 0)
        *ret = osb_json_new_string(osb_buf_slice(&text));
    return result;
}
