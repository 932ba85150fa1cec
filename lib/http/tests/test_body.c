// SPDX-License-Identifier: Apache-2.0
#include <osb/http.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct osb_err err;

static struct osb_http_body chunked_body(void)
{
    struct osb_http_head head = {.is_chunked = true};
    struct osb_http_body body;
    osb_http_body_init(&body, &head);
    return body;
}

/* Feeds TEXT in pieces of STEP bytes; the bytes consumed, or the error. */
static ptrdiff_t decode(struct osb_http_body *body, struct osb_slice text, size_t step,
                        struct osb_buf *out)
{
    size_t pos = 0;
    osb_err_clear(&err);
    while (pos < text.len && !body->is_done) {
        struct osb_slice piece = osb_slice_first(osb_slice_from(text, pos), step);
        while (piece.len > 0 && !body->is_done) {
            struct osb_slice content;
            ptrdiff_t n = osb_http_body_decode(body, piece, &content, &err);
            if (n < 0)
                return n;
            assert_true(n > 0);
            osb_buf_append_slice(out, content);
            piece = osb_slice_from(piece, (size_t)n);
            pos += (size_t)n;
        }
    }
    return (ptrdiff_t)pos;
}

static void chunks_are_joined_at_any_split(void **state)
{
    (void)state;
    struct osb_slice text = OSB_SLICE("4\r\nWiki\r\n5;a=\"b c\"\r\npedia\r\n00A\r\n0123456789\r\n"
                                      "0\r\nX-Trailer: y\r\nZ:\r\n\r\nGET /next");
    for (size_t step = 1; step <= text.len; step++) {
        struct osb_http_body body = chunked_body();
        struct osb_buf out = {0};
        assert_int_equal(decode(&body, text, step, &out), text.len - 9);
        assert_true(body.is_done);
        assert_true(osb_slice_eq_str(osb_buf_slice(&out), "Wikipedia0123456789"));
        osb_buf_done(&out);
    }
}

static const struct {
    const char *what;
    struct osb_slice text;
} refused[] = {
    {"no size", OSB_SLICE("\r\nabc")},
    {"hex prefix", OSB_SLICE("0x4\r\nabcd\r\n0\r\n\r\n")},
    {"signed size", OSB_SLICE("+4\r\nabcd\r\n")},
    {"negative size", OSB_SLICE("-4\r\nabcd\r\n")},
    {"blank in front of the size", OSB_SLICE(" 4\r\nabcd\r\n")},
    {"blank behind the size", OSB_SLICE("4 \r\nabcd\r\n")},
    {"letters behind the size", OSB_SLICE("4g\r\nabcd\r\n")},
    {"bare LF behind the size", OSB_SLICE("4\nabcd\r\n")},
    {"LF inside an extension", OSB_SLICE("4;a\nbcd\r\n0\r\n\r\n")},
    {"CR inside an extension", OSB_SLICE("4;a\rb\r\nabcd\r\n0\r\n\r\n")},
    {"NUL inside an extension", OSB_SLICE("4;\0\r\nabcd\r\n0\r\n\r\n")},
    {"chunk longer than its size", OSB_SLICE("4\r\nabcde\r\n0\r\n\r\n")},
    {"chunk ends in a bare LF", OSB_SLICE("4\r\nabcd\n0\r\n\r\n")},
    {"chunk ends in a bare CR", OSB_SLICE("4\r\nabcd\r0\r\n\r\n")},
    {"size beyond 63 bits", OSB_SLICE("8000000000000000\r\n")},
    {"size beyond 64 bits", OSB_SLICE("10000000000000000\r\n")},
    {"trailer without a colon", OSB_SLICE("0\r\nabc\r\n\r\n")},
    {"trailer with a blank name", OSB_SLICE("0\r\na b: c\r\n\r\n")},
    {"folded trailer", OSB_SLICE("0\r\na: b\r\n c\r\n\r\n")},
    {"bare LF in a trailer", OSB_SLICE("0\r\na: b\n\r\n")},
    {"bare LF as the end", OSB_SLICE("0\r\n\n")},
};

static void hostile_chunks_are_refused_at_any_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        for (size_t step = 1; step <= refused[i].text.len; step++) {
            struct osb_http_body body = chunked_body();
            struct osb_buf out = {0};
            ptrdiff_t n = decode(&body, refused[i].text, step, &out);
            osb_buf_done(&out);
            if (n != -OSB_E_SYNTAX || err.http_status != 400)
                fail_msg("%s: returned %td with steps of %zu", refused[i].what, n, step);
        }
    }
}

static void long_lines_and_trailers_are_refused(void **state)
{
    (void)state;
    struct osb_buf text = {0};
    struct osb_buf out = {0};
    osb_buf_append_str(&text, "4;");
    for (int i = 0; i < OSB_HTTP_MAX_CHUNK_LINE; i++)
        osb_buf_append_char(&text, 'e');
    struct osb_http_body body = chunked_body();
    assert_int_equal(decode(&body, osb_buf_slice(&text), text.len, &out), -OSB_E_SYNTAX);

    osb_buf_clear(&text);
    for (int i = 0; i <= OSB_HTTP_MAX_CHUNK_LINE; i++)
        osb_buf_append_char(&text, '0');
    body = chunked_body();
    assert_int_equal(decode(&body, osb_buf_slice(&text), text.len, &out), -OSB_E_SYNTAX);

    osb_buf_clear(&text);
    osb_buf_append_str(&text, "0\r\n");
    while (text.len < OSB_HTTP_MAX_TRAILERS + 10)
        osb_buf_append_str(&text, "X: y\r\n");
    body = chunked_body();
    assert_int_equal(decode(&body, osb_buf_slice(&text), text.len, &out), -OSB_E_SYNTAX);
    osb_buf_done(&text);
    osb_buf_done(&out);
}

static void a_length_ends_where_it_says(void **state)
{
    (void)state;
    struct osb_http_head head = {.has_length = true, .content_length = 5};
    struct osb_http_body body;
    struct osb_buf out = {0};
    osb_http_body_init(&body, &head);
    assert_int_equal(decode(&body, OSB_SLICE("helloGET"), 3, &out), 5);
    assert_true(body.is_done);
    assert_true(osb_slice_eq_str(osb_buf_slice(&out), "hello"));
    osb_buf_done(&out);
}

static enum { NONE, LENGTH, CHUNKED, UNTIL_CLOSE } framing_of(struct osb_http_head head)
{
    struct osb_http_body body;
    osb_http_body_init(&body, &head);
    assert_true(body.is_done == (body.framing == OSB_HTTP_BODY_NONE));
    return (int)body.framing;
}

static void framing_follows_the_head(void **state)
{
    (void)state;
    assert_int_equal(framing_of((struct osb_http_head){0}), NONE);
    assert_int_equal(framing_of((struct osb_http_head){.has_length = true}), NONE);
    assert_int_equal(framing_of((struct osb_http_head){.is_chunked = true}), CHUNKED);
    struct osb_http_head response = {.is_response = true, .status = 200};
    assert_int_equal(framing_of(response), UNTIL_CLOSE);
    response.has_length = true;
    response.content_length = 7;
    assert_int_equal(framing_of(response), LENGTH);
    response.status = 304;
    assert_int_equal(framing_of(response), NONE);
    response.status = 100;
    assert_int_equal(framing_of(response), NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_joined_at_any_split),
        cmocka_unit_test(hostile_chunks_are_refused_at_any_split),
        cmocka_unit_test(long_lines_and_trailers_are_refused),
        cmocka_unit_test(a_length_ends_where_it_says),
        cmocka_unit_test(framing_follows_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
