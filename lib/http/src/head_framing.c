// SPDX-License-Identifier: Apache-2.0
// Host, Content-Length, Transfer-Encoding, Connection and Expect: RFC 9112 sections 3.2, 6 and 9.
// Whatever two parsers could read in two ways is refused here.
#include "head_framing.h"

#include "chars.h"

/* A length that int64_t and off_t can hold has at most this many digits. */
enum { MAX_LENGTH_DIGITS = 19 };

/* The headers that matter here; each may come once, Connection as often as it likes. */
struct seen {
    const struct osb_slice *host;
    const struct osb_slice *content_length;
    const struct osb_slice *transfer_encoding;
    const struct osb_slice *expect;
    bool has_upgrade;
    bool has_connection;
};

static int refuse(struct osb_err *err, int code, int status, const char *message)
{
    osb_fail(err, code, "%s", message);
    osb_err_set_http(err, status);
    return code;
}

static int bad(struct osb_err *err, const char *message)
{
    return refuse(err, -OSB_E_SYNTAX, 400, message);
}

static int once(const struct osb_slice **slot, const struct osb_slice *value, const char *message,
                struct osb_err *err)
{
    if (*slot)
        return bad(err, message);
    *slot = value;
    return 0;
}

/* One pass; the length of a name sorts out nearly all of them without a comparison. */
static int collect(const struct osb_http_head *head, struct seen *seen, struct osb_err *err)
{
    for (int i = 0; i < head->header_count; i++) {
        const struct osb_http_header *header = &head->headers[i];
        int r = 0;
        switch (header->name.len) {
        case sizeof("Host") - 1:
            if (osb_slice_ieq_str(header->name, "Host"))
                r = once(&seen->host, &header->value, "more than one Host", err);
            break;
        case sizeof("Expect") - 1:
            if (osb_slice_ieq_str(header->name, "Expect"))
                r = once(&seen->expect, &header->value, "more than one Expect", err);
            break;
        case sizeof("Upgrade") - 1:
            seen->has_upgrade |= osb_slice_ieq_str(header->name, "Upgrade");
            break;
        case sizeof("Connection") - 1:
            seen->has_connection |= osb_slice_ieq_str(header->name, "Connection");
            break;
        case sizeof("Content-Length") - 1:
            if (osb_slice_ieq_str(header->name, "Content-Length"))
                r = once(&seen->content_length, &header->value, "more than one Content-Length",
                         err);
            break;
        case sizeof("Transfer-Encoding") - 1:
            if (osb_slice_ieq_str(header->name, "Transfer-Encoding"))
                r = once(&seen->transfer_encoding, &header->value,
                         "more than one Transfer-Encoding", err);
            break;
        default:
            break;
        }
        if (r < 0)
            return r;
    }
    return 0;
}

struct osb_slice http_target_authority(struct osb_slice target)
{
    static const struct osb_slice schemes[] = {{"http://", 7}, {"https://", 8}};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (!osb_slice_ieq(osb_slice_first(target, schemes[i].len), schemes[i]))
            continue;
        struct osb_slice rest = osb_slice_from(target, schemes[i].len);
        size_t len = 0;
        while (len < rest.len && rest.data[len] != '/' && rest.data[len] != '?')
            len++;
        struct osb_slice authority = osb_slice_first(rest, len);
        return http_chars_all(HTTP_CHARS_HOST, authority) ? authority : OSB_SLICE_NULL;
    }
    return OSB_SLICE_NULL;
}

/*
 * Exactly one Host for HTTP/1.1 (RFC 9112 section 3.2), and no other one than an absolute target
 * names: two parties that route by different ones can be played against each other.
 */
static int check_host(const struct osb_http_head *head, const struct seen *seen,
                      struct osb_err *err)
{
    if (!seen->host) {
        if (head->minor_version >= 1)
            return bad(err, "Host is missing");
        return 0;
    }
    if (!http_chars_all(HTTP_CHARS_HOST, *seen->host))
        return bad(err, "malformed Host");
    struct osb_slice authority = http_target_authority(head->target);
    if (authority.len > 0 && !osb_slice_ieq(authority, *seen->host))
        return bad(err, "Host differs from the request target");
    return 0;
}

/* Anything but `chunked` alone: 400 where its place is wrong, 501 for codings not built. */
static int refuse_coding(struct osb_slice value, struct osb_err *err)
{
    int count = 0;
    int chunked_at = -1;
    struct osb_slice piece;
    while (osb_slice_split(&value, ',', &piece)) {
        piece = osb_slice_trim(piece);
        if (!http_is_token(piece))
            return bad(err, "malformed Transfer-Encoding");
        if (osb_slice_ieq_str(piece, "chunked") && chunked_at >= 0)
            return bad(err, "chunked is applied twice");
        if (osb_slice_ieq_str(piece, "chunked"))
            chunked_at = count;
        count++;
    }
    if (count == 0)
        return bad(err, "empty Transfer-Encoding");
    if (chunked_at >= 0 && chunked_at != count - 1)
        return bad(err, "chunked is not the last transfer coding");
    return refuse(err, -OSB_E_UNSUPPORTED, 501, "transfer coding is not supported");
}

static int read_lengths(struct osb_http_head *head, const struct seen *seen, struct osb_err *err)
{
    if (seen->transfer_encoding) {
        if (seen->content_length)
            return bad(err, "Content-Length beside Transfer-Encoding");
        if (head->minor_version == 0)
            return bad(err, "Transfer-Encoding in HTTP/1.0");
        if (!osb_slice_ieq_str(*seen->transfer_encoding, "chunked"))
            return refuse_coding(*seen->transfer_encoding, err);
        head->is_chunked = true;
    }
    if (seen->content_length) {
        if (seen->content_length->len > MAX_LENGTH_DIGITS ||
            osb_slice_to_u64(*seen->content_length, &head->content_length) < 0 ||
            head->content_length > INT64_MAX)
            return bad(err, "malformed Content-Length");
        head->has_length = true;
    }
    return 0;
}

static int read_expectation(struct osb_http_head *head, const struct seen *seen,
                            struct osb_err *err)
{
    if (!seen->expect || head->is_response || head->minor_version == 0)
        return 0;
    if (!osb_slice_ieq_str(*seen->expect, "100-continue"))
        return refuse(err, -OSB_E_UNSUPPORTED, 417, "expectation is not supported");
    head->expects_continue = true;
    return 0;
}

int http_head_framing(struct osb_http_head *head, struct osb_err *err)
{
    struct seen seen = {0};
    int r = collect(head, &seen, err);
    if (r >= 0 && !head->is_response)
        r = check_host(head, &seen, err);
    if (r >= 0)
        r = read_lengths(head, &seen, err);
    if (r >= 0)
        r = read_expectation(head, &seen, err);
    if (r < 0)
        return r;
    head->is_keep_alive = head->minor_version >= 1;
    if (seen.has_connection) {
        bool says_close = osb_http_head_has_token(head, "Connection", "close");
        if (head->minor_version == 0)
            head->is_keep_alive = osb_http_head_has_token(head, "Connection", "keep-alive");
        head->is_keep_alive = head->is_keep_alive && !says_close;
        head->has_upgrade = seen.has_upgrade && head->minor_version >= 1 &&
                            osb_http_head_has_token(head, "Connection", "upgrade");
    }
    return 0;
}
