// SPDX-License-Identifier: Apache-2.0
#include <osb/buf.h>
#include <osb/multipart.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct osb_buf seen;
static struct osb_err err;

static int on_part(struct osb_slice name, bool has_filename, struct osb_slice filename,
                   struct osb_slice content_type, void *arg)
{
    (void)arg;
    osb_buf_appendf(&seen, "[%.*s", OSB_SLICE_ARG(name));
    if (has_filename)
        osb_buf_appendf(&seen, "|%.*s", OSB_SLICE_ARG(filename));
    osb_buf_appendf(&seen, "|%.*s:", OSB_SLICE_ARG(content_type));
    return 0;
}

static int on_data(struct osb_slice data, void *arg)
{
    (void)arg;
    assert_true(data.len > 0);
    osb_buf_append_slice(&seen, data);
    return 0;
}

static int on_part_end(void *arg)
{
    (void)arg;
    osb_buf_append_char(&seen, ']');
    return 0;
}

static const struct osb_multipart_callbacks callbacks = {
    .on_part = on_part,
    .on_data = on_data,
    .on_part_end = on_part_end,
};

/* Feeds BODY in steps; 0 or the first error. What came out is in `seen`. */
static int read_all(const char *content_type, struct osb_slice body, size_t step)
{
    struct osb_multipart *multipart;
    osb_buf_clear(&seen);
    osb_err_clear(&err);
    int r = osb_multipart_new(osb_slice_str(content_type), &callbacks, NULL, &multipart, &err);
    if (r < 0)
        return r;
    while (r >= 0 && body.len > 0) {
        /* An exact-size copy, so that a read past a run is seen. */
        struct osb_slice run = osb_slice_first(body, step);
        char *copy = malloc(run.len);
        memcpy(copy, run.data, run.len);
        r = osb_multipart_feed(multipart, osb_slice(copy, run.len), &err);
        free(copy);
        body = osb_slice_from(body, run.len);
    }
    if (r >= 0)
        r = osb_multipart_finish(multipart, &err);
    osb_multipart_free(multipart);
    return r;
}

#define TYPE "multipart/form-data; boundary=b"
#define PART "Content-Disposition: form-data; name=\"n\"\r\n\r\n"

static const struct {
    const char *what;
    const char *type;
    struct osb_slice body;
    const char *seen;
} good[] = {
    {"two parts", TYPE,
     OSB_SLICE("--b\r\nContent-Disposition: form-data; name=\"metadata\"\r\n"
               "Content-Type: application/json\r\n\r\n{}\r\n--b\r\n"
               "content-disposition: form-data; name=file; filename=\"a b.txt\"\r\n\r\n"
               "line\r\nline\r\n\r\n--b--\r\n"),
     "[metadata|application/json:{}][file|a b.txt|:line\r\nline\r\n]"},
    {"preamble and epilogue", TYPE,
     OSB_SLICE("ignore\r\n--bb\r\n--b \t\r\n" PART "x\r\n--b--rest\r\n--b\r\n"), NULL},
    {"preamble", TYPE, OSB_SLICE("ignore\r\nme\r\n--b \t\r\n" PART "x\r\n--b-- tail\r\n--b\r\n"),
     "[n|:x]"},
    {"empty content", TYPE, OSB_SLICE("--b\r\n" PART "\r\n--b--"), "[n|:]"},
    {"no line of content", TYPE, OSB_SLICE("--b\r\n" PART "--b--"), "[n|:]"},
    {"no part", TYPE, OSB_SLICE("--b--\r\n"), ""},
    {"content starts with dashes", TYPE, OSB_SLICE("--b\r\n" PART "--a\r\n--\r\n--b--"),
     "[n|:--a\r\n--]"},
    {"nearly boundaries", TYPE,
     OSB_SLICE("--b\r\n" PART "\r\r\n\r\n-\r\n--\r\n--a\r--b\n--b\r\r\n--b--"),
     "[n|:\r\r\n\r\n-\r\n--\r\n--a\r--b\n--b\r]"},
    {"quoted boundary", "Multipart/Form-Data; charset=x; boundary=\"b c\"",
     OSB_SLICE("--b c\r\n" PART "x\r\n--b c--"), "[n|:x]"},
    {"escapes", TYPE,
     OSB_SLICE("--b\r\nContent-Disposition: form-data; name=\"a\\\"b\"; "
               "filename=\"C:\\dir\\\\f\"\r\n\r\nx\r\n--b--"),
     "[a\"b|C:\\dir\\f|:x]"},
    {"empty filename", TYPE,
     OSB_SLICE("--b\r\nContent-Disposition: form-data; name=\"\"; filename=\"\";\r\n\r\n"
               "x\r\n--b--"),
     "[||:x]"},
    {"other headers", TYPE,
     OSB_SLICE("--b\r\nX-Y: z\r\nContent-Disposition: form-data; name=n; filename*=utf-8''x\r\n"
               "Content-Length: 1\r\n\r\nx\r\n--b--"),
     "[n|:x]"},
};

static void parts_are_read_at_any_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        for (size_t step = 1; step <= good[i].body.len; step++) {
            int r = read_all(good[i].type, good[i].body, step);
            if (!good[i].seen) {
                assert_true(r < 0);
                continue;
            }
            if (r < 0 || !osb_slice_eq_str(osb_buf_slice(&seen), good[i].seen))
                fail_msg("%s, steps of %zu: %d %s: %s", good[i].what, step, r, err.message,
                         osb_buf_cstr(&seen));
        }
    }
    osb_buf_done(&seen);
}

static const struct {
    const char *what;
    const char *type;
    struct osb_slice body;
} bad[] = {
    {"other type", "multipart/mixed; boundary=b", OSB_SLICE("")},
    {"no boundary", "multipart/form-data", OSB_SLICE("")},
    {"empty boundary", "multipart/form-data; boundary=\"\"", OSB_SLICE("")},
    {"boundary with CRLF", "multipart/form-data; boundary=\"a\r\n\"", OSB_SLICE("")},
    {"open quote", "multipart/form-data; boundary=\"b", OSB_SLICE("")},
    {"boundary ends in a blank", "multipart/form-data; boundary=\"b \"", OSB_SLICE("")},
    {"71 bytes of boundary",
     "multipart/form-data; "
     "boundary=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     OSB_SLICE("")},
    {"nothing", TYPE, OSB_SLICE("")},
    {"cut in the content", TYPE, OSB_SLICE("--b\r\n" PART "x")},
    {"cut in the boundary", TYPE, OSB_SLICE("--b\r\n" PART "x\r\n--b")},
    {"half a closing boundary", TYPE, OSB_SLICE("--b\r\n" PART "x\r\n--b-\r\n")},
    {"boundary goes on", TYPE, OSB_SLICE("--bx\r\n" PART "x\r\n--b--")},
    {"bare LF behind the boundary", TYPE, OSB_SLICE("--b\n" PART "x\r\n--b--")},
    {"bare LF in the head", TYPE,
     OSB_SLICE("--b\r\nContent-Disposition: form-data; name=n\n\r\n\r\nx\r\n--b--")},
    {"no disposition", TYPE, OSB_SLICE("--b\r\nX: y\r\n\r\nx\r\n--b--")},
    {"no head", TYPE, OSB_SLICE("--b\r\n\r\nx\r\n--b--")},
    {"no name", TYPE, OSB_SLICE("--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--")},
    {"two names", TYPE,
     OSB_SLICE("--b\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\nx\r\n--b--")},
    {"two dispositions", TYPE,
     OSB_SLICE("--b\r\nContent-Disposition: form-data; name=a\r\n"
               "Content-Disposition: form-data; name=b\r\n\r\nx\r\n--b--")},
    {"attachment", TYPE, OSB_SLICE("--b\r\nContent-Disposition: attachment; name=a\r\n\r\n")},
    {"blank before the colon", TYPE,
     OSB_SLICE("--b\r\nContent-Disposition : form-data; name=a\r\n\r\n")},
    {"NUL in the head", TYPE,
     OSB_SLICE("--b\r\nContent-Disposition: form-data; name=\"a\0b\"\r\n\r\nx\r\n--b--")},
};

static void malformed_bodies_are_refused_at_any_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        for (size_t step = 1; step <= bad[i].body.len + 1; step++) {
            if (read_all(bad[i].type, bad[i].body, step) >= 0 || !err.message[0])
                fail_msg("%s, steps of %zu: accepted", bad[i].what, step);
        }
    }
    osb_buf_done(&seen);
}

static void a_long_head_is_refused(void **state)
{
    (void)state;
    struct osb_buf body = {0};
    osb_buf_append_str(&body, "--b\r\nContent-Disposition: form-data; name=\"");
    for (int i = 0; i < OSB_MULTIPART_MAX_HEAD; i++)
        osb_buf_append_char(&body, 'n');
    assert_int_equal(read_all(TYPE, osb_buf_slice(&body), 100), -OSB_E_TOO_LARGE);
    osb_buf_done(&body);
    osb_buf_done(&seen);
}

static int refuse(struct osb_slice data, void *arg)
{
    (void)data;
    (void)arg;
    return -ENOSPC;
}

static void an_error_of_the_reader_comes_back_and_sticks(void **state)
{
    (void)state;
    struct osb_multipart_callbacks own = {.on_data = refuse};
    struct osb_multipart *multipart;
    assert_int_equal(osb_multipart_new(OSB_SLICE(TYPE), &own, NULL, &multipart, NULL), 0);
    assert_int_equal(osb_multipart_feed(multipart, OSB_SLICE("--b\r\n" PART "x"), NULL), -ENOSPC);
    assert_int_equal(osb_multipart_feed(multipart, OSB_SLICE("\r\n--b--"), &err), -ENOSPC);
    assert_int_equal(osb_multipart_finish(multipart, &err), -ENOSPC);
    osb_multipart_free(multipart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_read_at_any_split),
        cmocka_unit_test(malformed_bodies_are_refused_at_any_split),
        cmocka_unit_test(a_long_head_is_refused),
        cmocka_unit_test(an_error_of_the_reader_comes_back_and_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
