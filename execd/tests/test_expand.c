// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "expand.h"

static const char *lookup(struct osb_slice name, void *arg)
{
    (void)arg;
    if (osb_slice_eq_str(name, "A"))
        return "alpha";
    if (osb_slice_eq_str(name, "EMPTY"))
        return "";
    return osb_slice_eq_str(name, "HOME") ? "/home/u" : NULL;
}

static const char *no_home(struct osb_slice name, void *arg)
{
    (void)name;
    (void)arg;
    return NULL;
}

static void expect_path(const char *in, const char *want)
{
    _cleanup_buf_ struct osb_buf out = {0};

    assert_int_equal(expand_path(&out, osb_slice_str(in), lookup, NULL, NULL), 0);
    assert_string_equal(osb_buf_cstr(&out), want);
}

static void names_are_replaced_with_and_without_braces(void **state)
{
    (void)state;
    expect_path("/x/$A/y", "/x/alpha/y");
    expect_path("/x/${A}y", "/x/alphay");
    expect_path("$A$A", "alphaalpha");
    expect_path("/$EMPTY/", "//");
    expect_path("", "");
}

static void what_is_no_identifier_stays_as_it_is(void **state)
{
    (void)state;
    expect_path("a$5b", "a$5b");
    expect_path("cost$", "cost$");
    expect_path("$$", "$$");
    expect_path("${}", "${}");
    expect_path("${A", "${A");
    expect_path("${A-x}", "${A-x}");
    expect_path("`id` $(id) *", "`id` $(id) *");
}

static void a_tilde_in_front_is_home(void **state)
{
    (void)state;
    expect_path("~", "/home/u");
    expect_path("~/a", "/home/u/a");
    expect_path("~root/a", "~root/a");
    expect_path("/a/~", "/a/~");
}

static void undefined_names_and_nul_bytes_are_errors(void **state)
{
    _cleanup_buf_ struct osb_buf out = {0};
    struct osb_err err = {0};

    (void)state;
    assert_int_equal(expand_path(&out, OSB_SLICE("/$NOPE"), lookup, NULL, &err), -OSB_E_INVALID);
    assert_non_null(strstr(err.message, "NOPE"));
    assert_int_equal(expand_path(&out, osb_slice("/a\0b", 4), lookup, NULL, NULL), -OSB_E_INVALID);
    assert_int_equal(expand_path(&out, OSB_SLICE("~/x"), no_home, NULL, NULL), -OSB_E_INVALID);
}

static void identifiers_are_told_from_other_words(void **state)
{
    (void)state;
    assert_true(expand_is_identifier(OSB_SLICE("_a1")));
    assert_false(expand_is_identifier(OSB_SLICE("1a")));
    assert_false(expand_is_identifier(OSB_SLICE("a-b")));
    assert_false(expand_is_identifier(OSB_SLICE("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_replaced_with_and_without_braces),
        cmocka_unit_test(what_is_no_identifier_stays_as_it_is),
        cmocka_unit_test(a_tilde_in_front_is_home),
        cmocka_unit_test(undefined_names_and_nul_bytes_are_errors),
        cmocka_unit_test(identifiers_are_told_from_other_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
