// SPDX-License-Identifier: Apache-2.0
#include <osb/http.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct osb_http_head head;
static struct osb_err err;

/* Parses an exact-size copy, so that a read past the end is seen. */
static ptrdiff_t parse(struct osb_slice text, bool is_response)
{
    static char *copy;
    free(copy);
    copy = malloc(text.len + 1);
    memcpy(copy, text.data, text.len);
    char *exact = realloc(copy, text.len ? text.len : 1);
    copy = exact;
    osb_err_clear(&err);
    ptrdiff_t n = osb_http_head_parse(osb_slice(copy, text.len), is_response, &head, &err);
    if (text.len == 0) {
        free(copy);
        copy = NULL;
    }
    return n;
}

struct refusal {
    const char *what;
    int status;
    struct osb_slice text;
};

#define REQ(what, status, text)                                                                    \
    {                                                                                              \
        what, status, OSB_SLICE(text)                                                              \
    }

/* The vectors of which some packaged parser accepts each, and their neighbours. */
static const struct refusal refused_requests[] = {
    REQ("CR ends a header value", 400,
        "GET / HTTP/1.1\r\nHost: a\r\nX:\rTransfer-Encoding: chunked\r\n\r\n"),
    REQ("bare LF ends the request line", 400, "GET / HTTP/1.1\nHost: a\r\n\r\n"),
    REQ("bare LF ends a header", 400, "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"),
    REQ("bare LF ends the head", 400, "GET / HTTP/1.1\r\nHost: a\r\n\n"),
    REQ("blank before the colon", 400, "GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
    REQ("blank before the colon of a length", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 4\r\n\r\n"),
    REQ("tab before the colon", 400, "GET / HTTP/1.1\r\nHost: a\r\nX\t: y\r\n\r\n"),
    REQ("folded line", 400, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n"),
    REQ("folded line by a tab", 400, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\tz\r\n\r\n"),
    REQ("first header is folded", 400, "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
    REQ("length and chunked", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"),
    REQ("chunked and length", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"),
    REQ("two lengths that differ", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n"),
    REQ("two lengths that agree", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\n"),
    REQ("list of lengths", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\n"),
    REQ("signed length", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\n"),
    REQ("negative length", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -4\r\n\r\n"),
    REQ("hex length", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x4\r\n\r\n"),
    REQ("empty length", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n"),
    REQ("length with a blank inside", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 2\r\n\r\n"),
    REQ("length beyond 63 bits", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n"),
    REQ("length beyond 64 bits", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551620\r\n\r\n"),
    REQ("unknown coding", 501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n"),
    REQ("coding before chunked", 501,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
    REQ("identity coding", 501,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n"),
    REQ("chunked is not last", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"),
    REQ("chunked twice", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n"),
    REQ("two coding lines", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
        "identity\r\n\r\n"),
    REQ("empty coding", 400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n"),
    REQ("quoted coding", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n"),
    REQ("vertical tab in a coding", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \vchunked\r\n\r\n"),
    REQ("coding with a parameter", 400,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n"),
    REQ("chunked in HTTP/1.0", 400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
    REQ("two hosts", 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    REQ("two hosts that agree", 400, "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"),
    REQ("two hosts in HTTP/1.0", 400, "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"),
    REQ("no host", 400, "GET / HTTP/1.1\r\nX: y\r\n\r\n"),
    REQ("host with a path", 400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    REQ("host with a user", 400, "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"),
    REQ("list of hosts", 400, "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"),
    REQ("host differs from the target", 400, "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n"),
    REQ("NUL in a value", 400, "GET / HTTP/1.1\r\nHost: a\r\nX: y\0z\r\n\r\n"),
    REQ("NUL in a name", 400, "GET / HTTP/1.1\r\nHost: a\r\nX\0: y\r\n\r\n"),
    REQ("DEL in a value", 400, "GET / HTTP/1.1\r\nHost: a\r\nX: y\177\r\n\r\n"),
    REQ("no name", 400, "GET / HTTP/1.1\r\nHost: a\r\n: y\r\n\r\n"),
    REQ("no colon", 400, "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"),
    REQ("name with a parenthesis", 400, "GET / HTTP/1.1\r\nHost: a\r\nX(y): z\r\n\r\n"),
    REQ("name beyond ASCII", 400, "GET / HTTP/1.1\r\nHost: a\r\nX\xc3\xa4: z\r\n\r\n"),
    REQ("CR CR LF", 400, "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n"),
    REQ("HTTP/0.9", 400, "GET /\r\n\r\n"),
    REQ("two blanks", 400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("blank in the target", 400, "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("tab for a blank", 400, "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("blank behind the version", 400, "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
    REQ("blank in front", 400, " GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("lower-case version", 400, "GET / http/1.1\r\nHost: a\r\n\r\n"),
    REQ("version with two digits", 400, "GET / HTTP/1.10\r\nHost: a\r\n\r\n"),
    REQ("version without minor", 400, "GET / HTTP/1\r\nHost: a\r\n\r\n"),
    REQ("HTTP/1.2", 505, "GET / HTTP/1.2\r\nHost: a\r\n\r\n"),
    REQ("HTTP/2 preface", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    REQ("fragment in the target", 400, "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("raw UTF-8 in the target", 400, "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("relative target", 400, "GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("asterisk for GET", 400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("foreign scheme", 400, "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("user in the target", 400, "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("CONNECT without port", 400, "CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("method with a colon", 400, "GE:T / HTTP/1.1\r\nHost: a\r\n\r\n"),
    REQ("unknown expectation", 417, "GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n"),
    REQ("TLS hello", 400, "\x16\x03\x01\x02"),
    REQ("two empty lines in front", 400, "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
};

static void hostile_requests_are_refused_with_their_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused_requests) / sizeof(refused_requests[0]); i++) {
        const struct refusal *c = &refused_requests[i];
        ptrdiff_t n = parse(c->text, false);
        if (n >= 0 || err.http_status != c->status || !err.message[0])
            fail_msg("%s: returned %td, status %d (%s)", c->what, n, err.http_status, err.message);
    }
}

static const struct refusal refused_responses[] = {
    REQ("bare LF", 400, "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n"),
    REQ("length and chunked", 400,
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
    REQ("two lengths", 400, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"),
    REQ("two digits", 400, "HTTP/1.1 20 OK\r\n\r\n"),
    REQ("four digits", 400, "HTTP/1.1 2000 OK\r\n\r\n"),
    REQ("status 0", 400, "HTTP/1.1 000 OK\r\n\r\n"),
    REQ("status 600", 400, "HTTP/1.1 600 OK\r\n\r\n"),
    REQ("letters", 400, "HTTP/1.1 2x0 OK\r\n\r\n"),
    REQ("HTTP/2", 505, "HTTP/2.0 200 OK\r\n\r\n"),
    REQ("other protocol", 400, "ICY 200 OK\r\n\r\n"),
    REQ("CR in the reason", 400, "HTTP/1.1 200 O\rK\r\n\r\n"),
    REQ("empty line in front", 400, "\r\nHTTP/1.1 200 OK\r\n\r\n"),
};

static void hostile_responses_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused_responses) / sizeof(refused_responses[0]); i++) {
        const struct refusal *c = &refused_responses[i];
        ptrdiff_t n = parse(c->text, true);
        if (n >= 0 || err.http_status != c->status)
            fail_msg("%s: returned %td, status %d (%s)", c->what, n, err.http_status, err.message);
    }
}

static void a_request_is_taken_apart(void **state)
{
    (void)state;
    struct osb_slice text = OSB_SLICE("POST /a/b?c=d HTTP/1.1\r\nHost: example.org:80\r\n"
                                      "Content-Length: 12\r\nX-Empty:\r\nx-value: \t two words \r\n"
                                      "Expect: 100-continue\r\n\r\nbody");
    assert_int_equal(parse(text, false), text.len - 4);
    assert_true(osb_slice_eq_str(head.method, "POST"));
    assert_true(osb_slice_eq_str(head.target, "/a/b?c=d"));
    assert_int_equal(head.minor_version, 1);
    assert_int_equal(head.header_count, 5);
    assert_true(head.has_length);
    assert_int_equal(head.content_length, 12);
    assert_true(head.is_keep_alive);
    assert_true(head.expects_continue);
    assert_false(head.is_chunked);
    struct osb_slice value;
    assert_true(osb_http_head_get(&head, "X-VALUE", &value));
    assert_true(osb_slice_eq_str(value, "two words"));
    assert_true(osb_http_head_get(&head, "X-Empty", &value));
    assert_int_equal(value.len, 0);
    assert_false(osb_http_head_get(&head, "X", NULL));
}

static void a_response_is_taken_apart(void **state)
{
    (void)state;
    struct osb_slice text =
        OSB_SLICE("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: Chunked\r\n\r\n");
    assert_int_equal(parse(text, true), text.len);
    assert_int_equal(head.status, 404);
    assert_true(osb_slice_eq_str(head.reason, "Not Found"));
    assert_true(head.is_chunked);
    assert_true(parse(OSB_SLICE("HTTP/1.1 204 \r\n\r\n"), true) > 0);
    assert_int_equal(head.reason.len, 0);
    assert_true(parse(OSB_SLICE("HTTP/1.1 204\r\n\r\n"), true) > 0);
}

static void every_prefix_needs_more(void **state)
{
    (void)state;
    struct osb_slice text = OSB_SLICE("\r\nDELETE /x HTTP/1.1\r\nHost: [::1]:80\r\nA: b\r\n\r\n");
    for (size_t len = 0; len < text.len; len++)
        assert_int_equal(parse(osb_slice_first(text, len), false), 0);
    assert_int_equal(parse(text, false), text.len);
}

static void the_four_target_forms_are_known(void **state)
{
    (void)state;
    assert_true(parse(OSB_SLICE("GET http://a:1/b HTTP/1.1\r\nHost: A:1\r\n\r\n"), false) > 0);
    assert_true(parse(OSB_SLICE("GET https://a?q HTTP/1.1\r\nHost: a\r\n\r\n"), false) > 0);
    assert_true(parse(OSB_SLICE("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), false) > 0);
    assert_true(parse(OSB_SLICE("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n"), false) > 0);
}

static void keep_alive_follows_version_and_connection(void **state)
{
    (void)state;
    assert_true(parse(OSB_SLICE("GET / HTTP/1.0\r\n\r\n"), false) > 0);
    assert_false(head.is_keep_alive);
    assert_true(parse(OSB_SLICE("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), false) > 0);
    assert_true(head.is_keep_alive);
    assert_true(parse(OSB_SLICE("GET / HTTP/1.1\r\nHost:\r\nConnection: x, CLOSE\r\n\r\n"), false) >
                0);
    assert_false(head.is_keep_alive);
    assert_true(parse(OSB_SLICE("GET / HTTP/1.1\r\nHost:\r\nConnection: keep-alive\r\n"
                                "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
                      false) > 0);
    assert_true(head.is_keep_alive);
    assert_true(head.has_upgrade);
    assert_true(parse(OSB_SLICE("GET / HTTP/1.1\r\nHost:\r\nUpgrade: websocket\r\n\r\n"), false) >
                0);
    assert_false(head.has_upgrade);
}

static void parse_generated(size_t target_len, size_t value_len, int headers, int want_status)
{
    struct osb_buf text = {0};
    osb_buf_append_str(&text, "GET /");
    for (size_t i = 0; i < target_len; i++)
        osb_buf_append_char(&text, 't');
    osb_buf_append_str(&text, " HTTP/1.1\r\nHost: a\r\n");
    for (int i = 1; i < headers; i++) {
        osb_buf_append_str(&text, "X: ");
        for (size_t k = 0; k < value_len; k++)
            osb_buf_append_char(&text, 'v');
        osb_buf_append_str(&text, "\r\n");
    }
    osb_buf_append_str(&text, "\r\n");
    ptrdiff_t n = parse(osb_buf_slice(&text), false);
    if (want_status == 0)
        assert_int_equal(n, text.len);
    else
        assert_int_equal(n, -OSB_E_TOO_LARGE);
    if (want_status != 0)
        assert_int_equal(err.http_status, want_status);
    osb_buf_done(&text);
}

static void limits_have_their_status(void **state)
{
    (void)state;
    parse_generated(OSB_HTTP_MAX_LINE - 30, 1, 2, 0);
    parse_generated(OSB_HTTP_MAX_LINE, 1, 2, 414);
    parse_generated(1, OSB_HTTP_MAX_LINE - 30, 2, 0);
    parse_generated(1, OSB_HTTP_MAX_LINE, 2, 431);
    parse_generated(1, 1, OSB_HTTP_MAX_HEADERS, 0);
    parse_generated(1, 1, OSB_HTTP_MAX_HEADERS + 1, 431);
    parse_generated(1, 16000, 6, 431);
}

static void an_endless_line_is_refused_before_its_end(void **state)
{
    (void)state;
    struct osb_buf text = {0};
    osb_buf_append_str(&text, "GET /");
    for (int i = 0; i <= OSB_HTTP_MAX_LINE; i++)
        osb_buf_append_char(&text, 'a');
    assert_int_equal(parse(osb_buf_slice(&text), false), -OSB_E_TOO_LARGE);
    assert_int_equal(err.http_status, 414);
    osb_buf_done(&text);
}

static void values_for_headers_are_checked(void **state)
{
    (void)state;
    assert_true(osb_http_value_is_valid(OSB_SLICE("a b\tc \xc3\xa4")));
    assert_true(osb_http_value_is_valid(OSB_SLICE_NULL));
    assert_false(osb_http_value_is_valid(OSB_SLICE("a\r\nX: y")));
    assert_false(osb_http_value_is_valid(OSB_SLICE("a\0b")));
    assert_string_equal(osb_http_reason(404), "Not Found");
    assert_string_equal(osb_http_reason(299), "Unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_requests_are_refused_with_their_status),
        cmocka_unit_test(hostile_responses_are_refused),
        cmocka_unit_test(a_request_is_taken_apart),
        cmocka_unit_test(a_response_is_taken_apart),
        cmocka_unit_test(every_prefix_needs_more),
        cmocka_unit_test(the_four_target_forms_are_known),
        cmocka_unit_test(keep_alive_follows_version_and_connection),
        cmocka_unit_test(limits_have_their_status),
        cmocka_unit_test(an_endless_line_is_refused_before_its_end),
        cmocka_unit_test(values_for_headers_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
