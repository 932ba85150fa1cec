// SPDX-License-Identifier: Apache-2.0
// The grammar of a head: start line and header lines (RFC 9112 sections 2 to 5). What the headers
// mean for framing is head_framing.c.
#include "chars.h"
#include "head_framing.h"

#include <osb/http.h>

enum { VERSION_LEN = sizeof("HTTP/1.1") - 1 };

struct parser {
    struct osb_slice input;
    size_t pos;
    struct osb_http_head *head;
    struct osb_err *err;
};

static int fail(struct parser *p, int code, int status, const char *message)
{
    osb_fail(p->err, code, "%s", message);
    osb_err_set_http(p->err, status);
    return code;
}

static int bad(struct parser *p, const char *message)
{
    return fail(p, -OSB_E_SYNTAX, 400, message);
}

/* What can already be said about a line whose end has not come yet. */
static int check_partial_line(struct parser *p, struct osb_slice rest, int too_long_status)
{
    ptrdiff_t cr = osb_slice_find(rest, '\r');
    if (cr >= 0 && (size_t)cr + 1 < rest.len)
        return bad(p, "carriage return without line feed");
    if (rest.len > OSB_HTTP_MAX_LINE)
        return fail(p, -OSB_E_TOO_LARGE, too_long_status, "line is too long");
    if (p->input.len >= OSB_HTTP_MAX_HEAD)
        return fail(p, -OSB_E_TOO_LARGE, 431, "head is too large");
    return 0;
}

/*
 * Cuts one CRLF line off the input; 1 when there is one, 0 when its end is missing. A carriage
 * return inside the line is left to the caller's byte checks: no class of bytes has it.
 */
static int next_line(struct parser *p, int too_long_status, struct osb_slice *ret_line)
{
    struct osb_slice rest = osb_slice_from(p->input, p->pos);
    const char *lf = rest.len ? memchr(rest.data, '\n', rest.len) : NULL;
    if (!lf)
        return check_partial_line(p, rest, too_long_status);
    size_t len = (size_t)(lf - rest.data);
    if (len == 0 || rest.data[len - 1] != '\r')
        return bad(p, "line feed without carriage return");
    if (len > OSB_HTTP_MAX_LINE)
        return fail(p, -OSB_E_TOO_LARGE, too_long_status, "line is too long");
    p->pos += len + 1;
    if (p->pos > OSB_HTTP_MAX_HEAD)
        return fail(p, -OSB_E_TOO_LARGE, 431, "head is too large");
    *ret_line = osb_slice_first(rest, len - 1);
    return 1;
}

/* "HTTP/1.0" or "HTTP/1.1"; other versions that look like one are 505. */
static int parse_version(struct parser *p, struct osb_slice version)
{
    if (version.len != VERSION_LEN || !osb_slice_starts(version, OSB_SLICE("HTTP/")) ||
        version.data[5] < '0' || version.data[5] > '9' || version.data[6] != '.' ||
        version.data[7] < '0' || version.data[7] > '9')
        return bad(p, "malformed protocol version");
    if (version.data[5] != '1' || version.data[7] > '1')
        return fail(p, -OSB_E_UNSUPPORTED, 505, "protocol version is not supported");
    p->head->minor_version = version.data[7] - '0';
    return 0;
}

/* The four forms of a target, RFC 9112 section 3.2. */
static int check_target(struct parser *p)
{
    struct osb_slice target = p->head->target;
    bool is_connect = osb_slice_eq_str(p->head->method, "CONNECT");
    if (target.len == 0 || !http_chars_all(HTTP_CHARS_TARGET, target))
        return bad(p, "malformed request target");
    if (is_connect) {
        if (!http_chars_all(HTTP_CHARS_HOST, target) || osb_slice_find(target, ':') <= 0)
            return bad(p, "CONNECT needs host and port");
        return 0;
    }
    if (target.data[0] == '/')
        return 0;
    if (osb_slice_eq_str(target, "*") && osb_slice_eq_str(p->head->method, "OPTIONS"))
        return 0;
    if (http_target_authority(target).len > 0)
        return 0;
    return bad(p, "malformed request target");
}

static int parse_request_line(struct parser *p, struct osb_slice line)
{
    ptrdiff_t first = osb_slice_find(line, ' ');
    if (first <= 0)
        return bad(p, "malformed request line");
    struct osb_slice rest = osb_slice_from(line, (size_t)first + 1);
    ptrdiff_t second = osb_slice_find(rest, ' ');
    if (second <= 0)
        return bad(p, "malformed request line");
    p->head->method = osb_slice_first(line, (size_t)first);
    p->head->target = osb_slice_first(rest, (size_t)second);
    if (!http_is_token(p->head->method))
        return bad(p, "malformed method");
    int r = parse_version(p, osb_slice_from(rest, (size_t)second + 1));
    return r < 0 ? r : check_target(p);
}

/* The blank before an empty reason may be missing: widely sent, and nothing hangs on it. */
static int parse_status_line(struct parser *p, struct osb_slice line)
{
    int r = parse_version(p, osb_slice_first(line, VERSION_LEN));
    if (r < 0)
        return r;
    struct osb_slice rest = osb_slice_from(line, VERSION_LEN);
    if (rest.len < 4 || rest.data[0] != ' ' || (rest.len > 4 && rest.data[4] != ' '))
        return bad(p, "malformed status line");
    int status = 0;
    for (int i = 1; i < 4; i++) {
        if (rest.data[i] < '0' || rest.data[i] > '9')
            return bad(p, "malformed status code");
        status = status * 10 + rest.data[i] - '0';
    }
    if (status < 100 || status > 599)
        return bad(p, "status code out of range");
    p->head->status = status;
    p->head->reason = osb_slice_from(rest, 5);
    if (!http_chars_all(HTTP_CHARS_VALUE, p->head->reason))
        return bad(p, "malformed reason phrase");
    return 0;
}

/* Tells a TLS hello or other noise from a head at its first byte instead of by a timeout. */
static int check_first_byte(struct parser *p)
{
    if (p->pos < p->input.len && !http_char_is(HTTP_CHARS_TOKEN, (uint8_t)p->input.data[p->pos]))
        return bad(p, "this is not HTTP");
    return 0;
}

static int parse_start_line(struct parser *p)
{
    /* One empty line before a request: RFC 9112 section 2.2, sent by old clients after a body. */
    if (!p->head->is_response && osb_slice_starts(p->input, OSB_SLICE("\r\n")))
        p->pos = 2;
    else if (!p->head->is_response && osb_slice_eq_str(p->input, "\r"))
        return 0;
    int r = check_first_byte(p);
    if (r < 0)
        return r;
    struct osb_slice line;
    r = next_line(p, p->head->is_response ? 431 : 414, &line);
    if (r <= 0)
        return r;
    r = p->head->is_response ? parse_status_line(p, line) : parse_request_line(p, line);
    return r < 0 ? r : 1;
}

static int parse_header_line(struct parser *p, struct osb_slice line)
{
    struct osb_http_head *head = p->head;
    if (line.data[0] == ' ' || line.data[0] == '\t')
        return bad(p, "folded header line");
    ptrdiff_t colon = osb_slice_find(line, ':');
    if (colon < 0)
        return bad(p, "header line without a colon");
    if (!http_is_token(osb_slice_first(line, (size_t)colon)))
        return bad(p, "malformed header name");
    struct osb_slice value = osb_slice_trim(osb_slice_from(line, (size_t)colon + 1));
    if (!http_chars_all(HTTP_CHARS_VALUE, value))
        return bad(p, "control byte in a header value");
    if (head->header_count == OSB_HTTP_MAX_HEADERS)
        return fail(p, -OSB_E_TOO_LARGE, 431, "too many header lines");
    head->headers[head->header_count++] = (struct osb_http_header){
        .name = osb_slice_first(line, (size_t)colon),
        .value = value,
    };
    return 0;
}

/* All but the array of headers, which is only valid up to header_count. */
static void reset(struct osb_http_head *head, bool is_response)
{
    memset(head, 0, offsetof(struct osb_http_head, headers));
    head->header_count = 0;
    head->has_length = false;
    head->content_length = 0;
    head->is_chunked = false;
    head->is_keep_alive = false;
    head->has_upgrade = false;
    head->expects_continue = false;
    head->is_response = is_response;
}

ptrdiff_t osb_http_head_parse(struct osb_slice input, bool is_response, struct osb_http_head *head,
                              struct osb_err *err)
{
    reset(head, is_response);
    struct parser p = {.input = input, .head = head, .err = err};
    int r = parse_start_line(&p);
    while (r > 0) {
        struct osb_slice line;
        r = next_line(&p, 431, &line);
        if (r <= 0)
            break;
        if (line.len == 0) {
            r = http_head_framing(head, err);
            return r < 0 ? r : (ptrdiff_t)p.pos;
        }
        r = parse_header_line(&p, line);
        r = r < 0 ? r : 1;
    }
    return r;
}

bool osb_http_head_get(const struct osb_http_head *head, const char *name, struct osb_slice *ret)
{
    for (int i = 0; i < head->header_count; i++) {
        if (osb_slice_ieq_str(head->headers[i].name, name)) {
            if (ret)
                *ret = head->headers[i].value;
            return true;
        }
    }
    return false;
}

bool osb_http_head_has_token(const struct osb_http_head *head, const char *name, const char *token)
{
    for (int i = 0; i < head->header_count; i++) {
        if (!osb_slice_ieq_str(head->headers[i].name, name))
            continue;
        struct osb_slice rest = head->headers[i].value;
        struct osb_slice piece;
        while (osb_slice_split(&rest, ',', &piece)) {
            if (osb_slice_ieq_str(osb_slice_trim(piece), token))
                return true;
        }
    }
    return false;
}

bool osb_http_value_is_valid(struct osb_slice value)
{
    return http_chars_all(HTTP_CHARS_VALUE, value);
}
