// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "rest_errors.h"
#include "rest_filter.h"
#include "rest_idempotency.h"

/* ---- pages ---- */

static void assert_page(size_t total, int64_t page, int64_t size, int64_t pages, size_t first,
                        size_t count, bool has_next)
{
    struct rest_page result = rest_page_of(total, page, size);
    assert_int_equal(result.page, page);
    assert_int_equal(result.total, total);
    assert_int_equal(result.pages, pages);
    assert_int_equal(result.first, first);
    assert_int_equal(result.count, count);
    assert_int_equal(result.has_next, has_next);
}

static void pages_are_cut_as_the_public_server_cuts_them(void **state)
{
    (void)state;
    assert_page(0, 1, 20, 0, 0, 0, false);
    assert_page(3, 1, 20, 1, 0, 3, false);
    assert_page(20, 1, 20, 1, 0, 20, false);
    assert_page(21, 1, 20, 2, 0, 20, true);
    assert_page(21, 2, 20, 2, 20, 1, false);
    assert_page(21, 3, 20, 2, 21, 0, false);
    assert_page(5, INT32_MAX, 200, 1, 5, 0, false);
}

/* ---- metadata ---- */

static int parse(const char *text, struct rest_filter *filter, struct osb_arena *arena)
{
    *filter = (struct rest_filter){0};
    return rest_filter_metadata(filter, osb_slice_str(text), arena);
}

static void a_metadata_filter_is_read_as_a_form(void **state)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct rest_filter filter;
    (void)state;
    assert_int_equal(parse("a=b&c%2Fd=e%20f+g&a=z&empty=", &filter, &arena), 0);
    assert_int_equal(filter.pair_count, 3);
    assert_string_equal(filter.pairs[0].key, "a");
    assert_string_equal(filter.pairs[0].value, "z");
    assert_string_equal(filter.pairs[1].key, "c/d");
    assert_string_equal(filter.pairs[1].value, "e f g");
    assert_string_equal(filter.pairs[2].value, "");
    assert_int_equal(parse("a=b=c", &filter, &arena), 0);
    assert_string_equal(filter.pairs[0].value, "b=c");
}

static void a_malformed_metadata_filter_is_refused(void **state)
{
    static const char *const texts[] = {"a", "a=b&", "a=b&c", "&a=b", "a=%zz", "a=%00"};
    _cleanup_arena_ struct osb_arena arena = {0};
    struct rest_filter filter;
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (parse(texts[i], &filter, &arena) >= 0)
            fail_msg("accepted: %s", texts[i]);
}

static void more_pairs_than_the_limit_are_refused(void **state)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    _cleanup_buf_ struct osb_buf text = {0};
    struct rest_filter filter;
    (void)state;
    for (int i = 0; i <= REST_MAX_FILTERS; i++)
        osb_buf_appendf(&text, "%sk%d=v", i ? "&" : "", i);
    assert_int_equal(parse(osb_buf_cstr(&text), &filter, &arena), -OSB_E_TOO_LARGE);
}

static struct batchsandbox sandbox(const char *name, int64_t created_ns, enum phase phase,
                                   struct pair *labels, size_t count)
{
    return (struct batchsandbox){.object.name = (char *)name,
                                 .created_ns = created_ns,
                                 .status.phase = phase,
                                 .labels = {labels, count, count}};
}

static void filters_match_all_pairs_and_any_state(void **state)
{
    struct pair labels[] = {{"team", "x"}, {"opensandbox.io/id", "s"}};
    struct batchsandbox bs = sandbox("s", 1, PHASE_SUCCEED, labels, 2);
    struct rest_filter filter = {0};
    (void)state;
    assert_true(rest_filter_matches(&filter, &bs));
    filter.states[filter.state_count++] = OSB_SLICE("paused");
    assert_false(rest_filter_matches(&filter, &bs));
    filter.states[filter.state_count++] = OSB_SLICE("rUNNING");
    assert_true(rest_filter_matches(&filter, &bs));
    filter.pairs[filter.pair_count].key = "team";
    filter.pairs[filter.pair_count++].value = "x";
    assert_true(rest_filter_matches(&filter, &bs));
    /* What is not shown as metadata cannot be asked for. */
    filter.pairs[filter.pair_count].key = "opensandbox.io/id";
    filter.pairs[filter.pair_count++].value = "s";
    assert_false(rest_filter_matches(&filter, &bs));
}

static void the_newest_come_first_and_ids_break_ties(void **state)
{
    struct batchsandbox a = sandbox("a", 5, PHASE_NONE, NULL, 0);
    struct batchsandbox b = sandbox("b", 9, PHASE_NONE, NULL, 0);
    struct batchsandbox c = sandbox("c", 5, PHASE_NONE, NULL, 0);
    const struct batchsandbox *items[] = {&c, &a, &b};
    (void)state;
    rest_filter_sort(items, 3);
    assert_ptr_equal(items[0], &b);
    assert_ptr_equal(items[1], &a);
    assert_ptr_equal(items[2], &c);
}

/* ---- idempotency ---- */

static void a_key_means_one_name_in_a_namespace(void **state)
{
    char name[OSB_UUID_TEXT_MAX];
    char other[OSB_UUID_TEXT_MAX];
    (void)state;
    /* Computed by another implementation of RFC 9562. */
    assert_string_equal(rest_idempotent_name("default", OSB_SLICE("key-1"), name),
                        "5f7d3157-2ba5-5c22-9fba-f2a1872f5d09");
    assert_string_not_equal(rest_idempotent_name("other", OSB_SLICE("key-1"), other), name);
    assert_string_not_equal(rest_idempotent_name("default", OSB_SLICE("key-2"), other), name);
}

static void digest(const char *text, char buffer[static REST_DIGEST_MAX])
{
    _cleanup_json_ struct osb_json *body = NULL;
    assert_int_equal(osb_json_parse(osb_slice_str(text), &body, NULL), 0);
    rest_body_digest(body, buffer);
}

static void bodies_that_mean_the_same_have_one_digest(void **state)
{
    char first[REST_DIGEST_MAX];
    char second[REST_DIGEST_MAX];
    (void)state;
    digest("{\"b\":1.5,\"a\":[1,{\"y\":3,\"x\":2}],\"n\":null}", first);
    assert_string_equal(first, "bf19e908e2c54d013a3382e582a590d22d9c03606dd7191b87834fd75bc163fc");
    digest(" { \"a\" : [ 1 , { \"x\" : 2, \"y\" : 3 } ] , \"b\" : 1.5 } ", second);
    assert_string_equal(first, second);
    digest("{\"b\":1.5,\"a\":[{\"y\":3,\"x\":2},1]}", second);
    assert_string_not_equal(first, second);
}

/* ---- errors ---- */

static void an_error_is_an_envelope(void **state)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct rest_error error = {0};
    (void)state;
    assert_int_equal(rest_error_from_problems(&error), 0);
    rest_problem_add(&error.problems, "missing", "body.image.uri", "is required");
    rest_problem_add(&error.problems, "string_type", "body.x", "must be a string");
    assert_int_equal(rest_error_from_problems(&error), -OSB_E_INVALID);
    rest_error_print(&text, error.code, error.message, &error.problems);
    assert_string_equal(
        osb_buf_cstr(&text),
        "{\"code\":\"SANDBOX::INVALID_PARAMETER\",\"message\":\"body.image.uri: is required (and 1 "
        "more)\",\"detail\":[{\"type\":\"missing\",\"loc\":[\"body\",\"image\",\"uri\"],\"msg\":"
        "\"is required\"},{\"type\":\"string_type\",\"loc\":[\"body\",\"x\"],\"msg\":\"must be a "
        "string\"}]}");
}

static void square_brackets_of_others_do_not_reach_the_client(void **state)
{
    _cleanup_buf_ struct osb_buf text = {0};
    (void)state;
    rest_error_print(&text, "C", "exec [/bin/x]: no", NULL);
    assert_string_equal(osb_buf_cstr(&text), "{\"code\":\"C\",\"message\":\"exec (/bin/x): no\"}");
}

static void more_problems_than_the_limit_are_dropped(void **state)
{
    struct rest_problems problems = {0};
    (void)state;
    for (int i = 0; i < REST_MAX_PROBLEMS + 5; i++)
        rest_problem_add(&problems, "t", "p", "m");
    assert_int_equal(problems.count, REST_MAX_PROBLEMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_cut_as_the_public_server_cuts_them),
        cmocka_unit_test(a_metadata_filter_is_read_as_a_form),
        cmocka_unit_test(a_malformed_metadata_filter_is_refused),
        cmocka_unit_test(more_pairs_than_the_limit_are_refused),
        cmocka_unit_test(filters_match_all_pairs_and_any_state),
        cmocka_unit_test(the_newest_come_first_and_ids_break_ties),
        cmocka_unit_test(a_key_means_one_name_in_a_namespace),
        cmocka_unit_test(bodies_that_mean_the_same_have_one_digest),
        cmocka_unit_test(an_error_is_an_envelope),
        cmocka_unit_test(square_brackets_of_others_do_not_reach_the_client),
        cmocka_unit_test(more_problems_than_the_limit_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
