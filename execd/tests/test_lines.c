// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "lines.h"

#include <osb/alloc.h>
#include <osb/text.h>

/* The texts, each behind a '|'. */
static void collect(struct osb_slice text, void *arg)
{
    osb_buf_append_char(arg, '|');
    osb_buf_append_slice(arg, text);
}

/* Feeds IN in pieces of STEP bytes. */
static char *split(struct osb_slice in, size_t step, bool keeps_ends)
{
    struct osb_buf out = {0};
    struct lines lines;

    lines_init(&lines, keeps_ends);
    for (; in.len > 0; in = osb_slice_from(in, step))
        lines_feed(&lines, osb_slice_first(in, step), collect, &out);
    lines_end(&lines, collect, &out);
    lines_done(&lines);
    return osb_buf_take(&out);
}

static void expect(const char *in, bool keeps_ends, const char *want)
{
    for (size_t step = 1; step <= strlen(in) + 1; step++) {
        char *got = split(osb_slice_str(in), step, keeps_ends);
        assert_string_equal(got, want);
        free(got);
    }
}

static void an_empty_line_is_a_newline_and_the_rest_goes_without_end(void **state)
{
    (void)state;
    expect("a\n\nb", false, "|a|\n|b");
    expect("a\n\nb\n", false, "|a|\n|b");
    expect("\n", false, "|\n");
    expect("", false, "");
}

static void cr_ends_a_line_and_crlf_counts_once_wherever_it_is_cut(void **state)
{
    (void)state;
    expect("10%\r20%\rdone\n", false, "|10%|20%|done");
    expect("a\r\nb\r\n", false, "|a|b");
    expect("a\r\r\nb", false, "|a|\n|b");
    expect("\r\n\r\n", false, "|\n|\n");
    expect("a\n\rb", false, "|a|\n|b");
}

static void kept_ends_rebuild_the_output_exactly(void **state)
{
    const char *in = "a\r\nb\n\n\rc\r\r\n\r\nlast";

    (void)state;
    for (size_t step = 1; step < strlen(in) + 1; step++) {
        char *got = split(osb_slice_str(in), step, true);
        size_t len = 0;
        for (char *p = got; *p; p++)
            if (*p != '|')
                got[len++] = *p;
        got[len] = '\0';
        assert_string_equal(got, in);
        free(got);
    }
    char *whole = split(OSB_SLICE("a\r\nb\n\nc"), 64, true);
    assert_string_equal(whole, "|a\r\n|b\n|\n|c");
    free(whole);
}

struct longest {
    size_t count;
    size_t longest;
    size_t total;
    bool is_valid;
};

static void measure(struct osb_slice text, void *arg)
{
    struct longest *all = arg;

    all->count++;
    all->total += text.len;
    if (text.len > all->longest)
        all->longest = text.len;
    all->is_valid = all->is_valid && osb_utf8_is_valid(text);
}

/* LEN bytes of three-byte characters, behind one byte that puts the cut inside a character. */
static char *euros(size_t len)
{
    char *text = osb_calloc(1, len + 1);

    memset(text, 'x', len);
    for (size_t i = 1; i + 3 <= len; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    return text;
}

static void a_long_line_leaves_in_bounded_pieces_of_whole_characters(void **state)
{
    size_t len = 3 * (size_t)LINE_MAX_TEXT + 17;
    char *text = euros(len);
    size_t steps[] = {len, 65536, 1000003};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct longest all = {.is_valid = true};
        struct lines lines;
        lines_init(&lines, false);
        for (struct osb_slice in = osb_slice(text, len); in.len > 0;
             in = osb_slice_from(in, steps[i]))
            lines_feed(&lines, osb_slice_first(in, steps[i]), measure, &all);
        lines_feed(&lines, OSB_SLICE("\n"), measure, &all);
        lines_end(&lines, measure, &all);
        lines_done(&lines);
        assert_int_equal(all.total, len);
        assert_true(all.longest <= LINE_MAX_TEXT);
        assert_true(all.is_valid);
        assert_int_equal(all.count, 4);
    }
    free(text);
}

static void the_end_of_a_line_that_was_cut_exactly_is_no_empty_line(void **state)
{
    char *text = osb_calloc(1, LINE_MAX_TEXT + 1);
    struct longest all = {.is_valid = true};
    struct lines lines;

    (void)state;
    memset(text, 'y', LINE_MAX_TEXT);
    lines_init(&lines, false);
    lines_feed(&lines, osb_slice(text, LINE_MAX_TEXT), measure, &all);
    lines_feed(&lines, OSB_SLICE("\n"), measure, &all);
    lines_done(&lines);
    assert_int_equal(all.count, 1);
    free(text);
}

static void a_line_that_an_end_completes_beyond_the_bound_is_cut_too(void **state)
{
    size_t len = 2 * (size_t)LINE_MAX_TEXT;
    char *text = osb_calloc(1, len);
    struct longest all = {.is_valid = true};
    struct lines lines;

    (void)state;
    memset(text, 'z', len);
    text[len - 1] = '\n';
    lines_init(&lines, false);
    lines_feed(&lines, osb_slice(text, len), measure, &all);
    lines_done(&lines);
    assert_int_equal(all.total, len - 1);
    assert_int_equal(all.count, 2);
    assert_true(all.longest <= LINE_MAX_TEXT);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_line_is_a_newline_and_the_rest_goes_without_end),
        cmocka_unit_test(cr_ends_a_line_and_crlf_counts_once_wherever_it_is_cut),
        cmocka_unit_test(kept_ends_rebuild_the_output_exactly),
        cmocka_unit_test(a_long_line_leaves_in_bounded_pieces_of_whole_characters),
        cmocka_unit_test(the_end_of_a_line_that_was_cut_exactly_is_no_empty_line),
        cmocka_unit_test(a_line_that_an_end_completes_beyond_the_bound_is_cut_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
