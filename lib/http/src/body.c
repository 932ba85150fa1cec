// SPDX-License-Identifier: Apache-2.0
// Body framing: RFC 9112 section 6 and 7. Chunk lines are read byte by byte by a small automaton,
// content is given as runs of the input.
#include "chars.h"

#include <osb/http.h>

/* Of the chunked framing, in the order of the wire. */
enum {
    SIZE_FIRST, /* a digit must come */
    SIZE,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER_FIRST, /* first byte of a trailer line, or the end */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    END_LF,
};

/* The largest size to which one more digit can be added without leaving int64_t. */
static const uint64_t max_size_before_digit = INT64_MAX >> 4;

static int bad(struct osb_err *err, const char *message)
{
    osb_fail(err, -OSB_E_SYNTAX, "%s", message);
    osb_err_set_http(err, 400);
    return -OSB_E_SYNTAX;
}

static bool has_no_body(int status)
{
    return status < 200 || status == 204 || status == 304;
}

void osb_http_body_init(struct osb_http_body *body, const struct osb_http_head *head)
{
    *body = (struct osb_http_body){.framing = OSB_HTTP_BODY_NONE};
    if (head->is_response && has_no_body(head->status)) {
        body->is_done = true;
    } else if (head->is_chunked) {
        body->framing = OSB_HTTP_BODY_CHUNKED;
        body->state = SIZE_FIRST;
    } else if (head->has_length && head->content_length > 0) {
        body->framing = OSB_HTTP_BODY_LENGTH;
        body->remaining = head->content_length;
    } else if (head->is_response && !head->has_length) {
        body->framing = OSB_HTTP_BODY_UNTIL_CLOSE;
    } else {
        body->is_done = true;
    }
}

static int step_size(struct osb_http_body *body, unsigned char c, struct osb_err *err)
{
    int digit = http_hex_digit(c);
    if (digit >= 0) {
        if (body->remaining > max_size_before_digit)
            return bad(err, "chunk size is out of range");
        body->remaining = body->remaining << 4 | (uint64_t)digit;
        body->state = SIZE;
        return 0;
    }
    if (body->state == SIZE_FIRST)
        return bad(err, "chunk size is missing");
    if (c == '\r')
        body->state = SIZE_LF;
    else if (c == ';')
        body->state = EXTENSION;
    else
        return bad(err, "malformed chunk size");
    return 0;
}

static int step_trailer(struct osb_http_body *body, unsigned char c, struct osb_err *err)
{
    switch (body->state) {
    case TRAILER_FIRST:
        if (c == '\r')
            body->state = END_LF;
        else if (http_char_is(HTTP_CHARS_TOKEN, c))
            body->state = TRAILER_NAME;
        else
            return bad(err, "malformed trailer name");
        return 0;
    case TRAILER_NAME:
        if (c == ':')
            body->state = TRAILER_VALUE;
        else if (!http_char_is(HTTP_CHARS_TOKEN, c))
            return bad(err, "malformed trailer name");
        return 0;
    case TRAILER_VALUE:
        if (c == '\r')
            body->state = TRAILER_LF;
        else if (!http_char_is(HTTP_CHARS_VALUE, c))
            return bad(err, "control byte in a trailer");
        return 0;
    default: /* TRAILER_LF */
        if (c != '\n')
            return bad(err, "carriage return without line feed in a trailer");
        body->state = TRAILER_FIRST;
        return 0;
    }
}

static int step_line_end(struct osb_http_body *body, unsigned char c, struct osb_err *err)
{
    if (c != (body->state == DATA_CR ? '\r' : '\n'))
        return bad(err, "chunk line does not end in CRLF");
    switch (body->state) {
    case SIZE_LF:
        body->state = body->remaining > 0 ? DATA : TRAILER_FIRST;
        break;
    case DATA_CR:
        body->state = DATA_LF;
        break;
    case DATA_LF:
        body->state = SIZE_FIRST;
        break;
    default: /* END_LF */
        body->is_done = true;
        break;
    }
    if (body->state == DATA || body->state == TRAILER_FIRST || body->state == SIZE_FIRST)
        body->line_len = 0;
    return 0;
}

/* One byte of framing. */
static int step(struct osb_http_body *body, unsigned char c, struct osb_err *err)
{
    bool is_trailer = body->state >= TRAILER_FIRST;
    if (++body->line_len > (is_trailer ? OSB_HTTP_MAX_TRAILERS : OSB_HTTP_MAX_CHUNK_LINE))
        return bad(err, is_trailer ? "trailers are too large" : "chunk line is too long");
    switch (body->state) {
    case SIZE_FIRST:
    case SIZE:
        return step_size(body, c, err);
    case EXTENSION:
        if (c == '\r')
            body->state = SIZE_LF;
        else if (!http_char_is(HTTP_CHARS_VALUE, c))
            return bad(err, "control byte in a chunk extension");
        return 0;
    case SIZE_LF:
    case DATA_CR:
    case DATA_LF:
    case END_LF:
        return step_line_end(body, c, err);
    default:
        return step_trailer(body, c, err);
    }
}

/* Takes content of a known number of bytes. */
static size_t take_counted(struct osb_http_body *body, struct osb_slice input,
                           struct osb_slice *ret_content)
{
    size_t len = input.len < body->remaining ? input.len : (size_t)body->remaining;
    *ret_content = osb_slice_first(input, len);
    body->remaining -= len;
    return len;
}

static ptrdiff_t decode_chunked(struct osb_http_body *body, struct osb_slice input,
                                struct osb_slice *ret_content, struct osb_err *err)
{
    size_t pos = 0;
    while (pos < input.len && !body->is_done) {
        if (body->state == DATA) {
            pos += take_counted(body, osb_slice_from(input, pos), ret_content);
            if (body->remaining == 0)
                body->state = DATA_CR;
            return (ptrdiff_t)pos;
        }
        int r = step(body, (unsigned char)input.data[pos], err);
        if (r < 0)
            return r;
        pos++;
    }
    return (ptrdiff_t)pos;
}

ptrdiff_t osb_http_body_decode(struct osb_http_body *body, struct osb_slice input,
                               struct osb_slice *ret_content, struct osb_err *err)
{
    *ret_content = OSB_SLICE_NULL;
    if (body->is_done || input.len == 0)
        return 0;
    switch (body->framing) {
    case OSB_HTTP_BODY_CHUNKED:
        return decode_chunked(body, input, ret_content, err);
    case OSB_HTTP_BODY_LENGTH: {
        size_t len = take_counted(body, input, ret_content);
        body->is_done = body->remaining == 0;
        return (ptrdiff_t)len;
    }
    case OSB_HTTP_BODY_UNTIL_CLOSE:
        *ret_content = input;
        return (ptrdiff_t)input.len;
    default:
        return 0;
    }
}
