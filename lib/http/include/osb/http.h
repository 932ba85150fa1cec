// SPDX-License-Identifier: Apache-2.0
/*
 * What HTTP server and client share: header lists, body framing limits and the strict RFC 9112
 * head parser. Strict means: CRLF line ends only, no folding, token names, no blank before the
 * colon, one Host, one Content-Length of digits, `chunked` last and alone, never both lengths;
 * anything else is refused, because gateways and smuggling live from leniency.
 */
#ifndef OSB_HTTP_H
#define OSB_HTTP_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

/* Named limits; a server or client may set smaller ones. */
enum {
    OSB_HTTP_MAX_LINE = 16 * 1024,        /* request line, one header line; 414 or 431 */
    OSB_HTTP_MAX_HEAD = 64 * 1024,        /* whole head; 431 */
    OSB_HTTP_MAX_HEADERS = 128,           /* header lines; 431 */
    OSB_HTTP_MAX_CHUNK_LINE = 256,        /* chunk size line with extensions; 400 */
    OSB_HTTP_MAX_TRAILERS = 8 * 1024,     /* trailer section; 400 */
    OSB_HTTP_MAX_BODY = 16 * 1024 * 1024, /* collected bodies by default; 413 */
};

struct osb_http_header {
    struct osb_slice name;  /* as received */
    struct osb_slice value; /* trimmed */
};

/* A parsed head; slices point into the bytes that were parsed. */
struct osb_http_head {
    bool is_response;
    struct osb_slice method; /* requests */
    struct osb_slice target; /* requests, as received */
    int status;              /* responses */
    struct osb_slice reason; /* responses */
    int minor_version;       /* HTTP/1.x */
    struct osb_http_header headers[OSB_HTTP_MAX_HEADERS];
    int header_count;
    bool has_length;
    uint64_t content_length;
    bool is_chunked;
    bool is_keep_alive;
    bool has_upgrade; /* Connection: upgrade with an Upgrade header */
    bool expects_continue;
};

/*
 * Parses a head at the start of INPUT. Returns the bytes it takes, 0 when more are needed, or a
 * negative code with a message: -OSB_E_SYNTAX (400), -OSB_E_TOO_LARGE (414, 431: see err's HTTP
 * status), -OSB_E_UNSUPPORTED (501 transfer coding, 505 version, 417 expectation). What is wrong
 * with a line is told as soon as the line has ended. Each call starts over, so a caller that is
 * fed slowly calls again only when another line has ended.
 *
 * A target is visible ASCII without '#', in origin, absolute ("http://a/b", whose authority must
 * be the Host), authority (CONNECT) or asterisk form (OPTIONS).
 */
ptrdiff_t osb_http_head_parse(struct osb_slice input, bool is_response, struct osb_http_head *head,
                              struct osb_err *err);
/* The first header NAME (any case); false when absent. RET may be NULL. */
bool osb_http_head_get(const struct osb_http_head *head, const char *name, struct osb_slice *ret);
/* True when the comma list of NAME holds TOKEN (any case). */
bool osb_http_head_has_token(const struct osb_http_head *head, const char *name, const char *token);

/* A body decoder for either framing; fed bytes, gives content without copying. */
struct osb_http_body {
    enum {
        OSB_HTTP_BODY_NONE,
        OSB_HTTP_BODY_LENGTH,
        OSB_HTTP_BODY_CHUNKED,
        OSB_HTTP_BODY_UNTIL_CLOSE
    } framing;
    uint64_t remaining; /* of the length or of the current chunk */
    int state;          /* private */
    size_t line_len;    /* private */
    bool is_done;
};

void osb_http_body_init(struct osb_http_body *body, const struct osb_http_head *head);
/*
 * Decodes from INPUT: *RET_CONTENT is a run of content inside INPUT (may be empty), the return
 * value the bytes consumed. Call again until nothing is consumed or is_done. Negative on bad
 * framing.
 */
ptrdiff_t osb_http_body_decode(struct osb_http_body *body, struct osb_slice input,
                               struct osb_slice *ret_content, struct osb_err *err);

/* The reason phrase of a status; "Unknown" for others. */
const char *osb_http_reason(int status);
/* True when VALUE has no control bytes and so can stand in a header. */
bool osb_http_value_is_valid(struct osb_slice value);

#endif
