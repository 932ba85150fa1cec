// SPDX-License-Identifier: Apache-2.0
/* The text forms of selectors, as they stand in labelSelector= and fieldSelector=. */
#include "api_selector.h"

#include <osb/alloc.h>
#include <osb/buf.h>

enum token {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NOT,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_GREATER,
    TOKEN_LESS,
};

struct parser {
    struct osb_slice text;
    size_t at;             /* behind the current token */
    size_t start;          /* of the current token */
    enum token token;      /* the current token */
    struct osb_slice word; /* when it is a word */
    struct osb_selector *selector;
    struct osb_err *err;
};

static bool is_special(char c)
{
    return c == '=' || c == '!' || c == '(' || c == ')' || c == ',' || c == '>' || c == '<';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool follows_equal(struct parser *p)
{
    if (p->at == p->text.len || p->text.data[p->at] != '=')
        return false;
    p->at++;
    return true;
}

static enum token scan_special(struct parser *p)
{
    switch (p->text.data[p->at++]) {
    case ',':
        return TOKEN_COMMA;
    case '(':
        return TOKEN_OPEN;
    case ')':
        return TOKEN_CLOSE;
    case '>':
        return TOKEN_GREATER;
    case '<':
        return TOKEN_LESS;
    case '!':
        return follows_equal(p) ? TOKEN_NOT_EQUAL : TOKEN_NOT;
    default:
        follows_equal(p); /* "==" is "=" */
        return TOKEN_EQUAL;
    }
}

static void next(struct parser *p)
{
    const char *data = p->text.data;
    while (p->at < p->text.len && is_blank(data[p->at]))
        p->at++;
    p->start = p->at;
    if (p->at == p->text.len) {
        p->token = TOKEN_END;
        return;
    }
    if (is_special(data[p->at])) {
        p->token = scan_special(p);
        return;
    }
    while (p->at < p->text.len && !is_special(data[p->at]) && !is_blank(data[p->at]))
        p->at++;
    p->token = TOKEN_WORD;
    p->word = osb_slice(data + p->start, p->at - p->start);
}

static int unexpected(struct parser *p, const char *expected)
{
    return osb_fail(p->err, -OSB_E_INVALID, "unable to parse the selector at %zu: expected %s",
                    p->start, expected);
}

/* One value behind an operator; nothing is the empty value. */
static int parse_value(struct parser *p, struct selector_requirement *q)
{
    struct osb_slice value = OSB_SLICE_NULL;
    if (p->token == TOKEN_WORD) {
        value = p->word;
        next(p);
    } else if (p->token != TOKEN_END && p->token != TOKEN_COMMA) {
        return unexpected(p, "a value");
    }
    return selector_add_value(p->selector, q, value, p->err);
}

/* "(a,b)"; "(a,,b)" holds the empty value, and so does "()". */
static int parse_set(struct parser *p, struct selector_requirement *q)
{
    if (p->token != TOKEN_OPEN)
        return unexpected(p, "'('");
    do {
        struct osb_slice value = OSB_SLICE_NULL;
        next(p);
        if (p->token == TOKEN_WORD) {
            value = p->word;
            next(p);
        }
        int r = selector_add_value(p->selector, q, value, p->err);
        if (r < 0)
            return r;
    } while (p->token == TOKEN_COMMA);
    if (p->token != TOKEN_CLOSE)
        return unexpected(p, "',' or ')'");
    next(p);
    return 0;
}

static int parse_condition(struct parser *p, struct selector_requirement *q)
{
    enum token token = p->token;
    struct osb_slice word = p->word;
    if (token == TOKEN_END || token == TOKEN_COMMA) {
        q->op = SELECTOR_EXISTS;
        return 0;
    }
    next(p);
    switch (token) {
    case TOKEN_EQUAL:
        q->op = SELECTOR_IN;
        return parse_value(p, q);
    case TOKEN_NOT_EQUAL:
        q->op = SELECTOR_NOT_IN;
        return parse_value(p, q);
    case TOKEN_GREATER:
        q->op = SELECTOR_GREATER;
        return parse_value(p, q);
    case TOKEN_LESS:
        q->op = SELECTOR_LESS;
        return parse_value(p, q);
    default:
        break;
    }
    if (token == TOKEN_WORD && osb_slice_eq_str(word, "in"))
        q->op = SELECTOR_IN;
    else if (token == TOKEN_WORD && osb_slice_eq_str(word, "notin"))
        q->op = SELECTOR_NOT_IN;
    else
        return unexpected(p, "in, notin, =, ==, !=, gt, lt");
    return parse_set(p, q);
}

static int parse_requirement(struct parser *p)
{
    bool is_absent = p->token == TOKEN_NOT;
    if (is_absent)
        next(p);
    if (p->token != TOKEN_WORD)
        return unexpected(p, "!, identifier, or 'end of string'");
    struct selector_requirement *q = selector_add(p->selector, p->word, p->err);
    if (!q)
        return -OSB_E_INVALID;
    next(p);
    int r = 0;
    if (is_absent)
        q->op = SELECTOR_ABSENT;
    else
        r = parse_condition(p, q);
    return r < 0 ? r : selector_check_label(q, p->err);
}

static int parse_labels(struct parser *p)
{
    next(p);
    if (p->token == TOKEN_END)
        return 0;
    for (;;) {
        int r = parse_requirement(p);
        if (r < 0 || p->token == TOKEN_END)
            return r;
        if (p->token != TOKEN_COMMA)
            return unexpected(p, "',' or 'end of string'");
        next(p);
    }
}

/* Takes S: hands it on, or frees it. */
static int finish(struct osb_selector *s, int r, struct osb_selector **ret)
{
    if (r < 0) {
        osb_selector_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

static bool has_nul(struct osb_slice text)
{
    return text.len && memchr(text.data, '\0', text.len);
}

int osb_selector_parse_labels(struct osb_slice text, struct osb_selector **ret, struct osb_err *err)
{
    if (has_nul(text))
        return osb_fail(err, -OSB_E_INVALID, "a selector with U+0000");
    struct parser p = {.text = text, .selector = osb_new(struct osb_selector), .err = err};
    return finish(p.selector, parse_labels(&p), ret);
}

/* Cuts the term up to the next comma that no backslash protects. */
static bool next_term(struct osb_slice *rest, struct osb_slice *ret)
{
    if (rest->len == 0)
        return false;
    size_t i = 0;
    while (i < rest->len && rest->data[i] != ',')
        i += rest->data[i] == '\\' && i + 1 < rest->len ? 2 : 1;
    *ret = osb_slice_first(*rest, i);
    *rest = osb_slice_from(*rest, i + 1);
    return true;
}

/* In a value, "\\", "\," and "\=" stand for their second character; bare ones are refused. */
static int unescape(struct osb_slice raw, struct osb_buf *out, struct osb_err *err)
{
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.data[i];
        if (c == '\\') {
            char escaped = i + 1 < raw.len ? raw.data[++i] : '\0';
            if (escaped != '\\' && escaped != ',' && escaped != '=')
                return osb_fail(err, -OSB_E_INVALID,
                                "invalid field selector: invalid escape sequence");
            c = escaped;
        } else if (c == '=' || c == ',') {
            return osb_fail(err, -OSB_E_INVALID,
                            "invalid field selector: unescaped character in value");
        }
        osb_buf_append_char(out, c);
    }
    return 0;
}

static int parse_term(struct osb_selector *s, struct osb_slice term, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf value = {0};
    ptrdiff_t equal = osb_slice_find(term, '=');
    if (equal <= 0)
        return osb_fail(err, -OSB_E_INVALID, "invalid selector: can't understand a term");
    size_t key_len = (size_t)equal;
    size_t value_at = key_len + 1;
    bool is_not = term.data[key_len - 1] == '!';
    if (is_not)
        key_len--;
    else if (value_at < term.len && term.data[value_at] == '=')
        value_at++;
    if (key_len == 0)
        return osb_fail(err, -OSB_E_INVALID, "invalid selector: a term without a field");
    int r = unescape(osb_slice_from(term, value_at), &value, err);
    if (r < 0)
        return r;
    struct selector_requirement *q = selector_add(s, osb_slice_first(term, key_len), err);
    if (!q)
        return -OSB_E_INVALID;
    q->op = is_not ? SELECTOR_NOT_IN : SELECTOR_IN;
    return selector_add_value(s, q, osb_buf_slice(&value), err);
}

int osb_selector_parse_fields(struct osb_slice text, struct osb_selector **ret, struct osb_err *err)
{
    struct osb_slice rest = text;
    struct osb_slice term;
    int r = 0;
    if (has_nul(text))
        return osb_fail(err, -OSB_E_INVALID, "a selector with U+0000");
    struct osb_selector *s = osb_new(struct osb_selector);
    while (r >= 0 && next_term(&rest, &term))
        if (term.len)
            r = parse_term(s, term, err);
    return finish(s, r, ret);
}
