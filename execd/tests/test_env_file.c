// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "env_file.h"

static const char *lookup(struct osb_slice name, void *arg)
{
    (void)arg;
    return osb_slice_eq_str(name, "BASE") ? "/base" : NULL;
}

static void collect(struct osb_slice name, struct osb_slice value, void *arg)
{
    osb_buf_appendf(arg, "%.*s=<%.*s>;", OSB_SLICE_ARG(name), OSB_SLICE_ARG(value));
}

static void expect(const char *text, size_t bad, const char *want)
{
    _cleanup_buf_ struct osb_buf out = {0};

    assert_int_equal(env_file_parse(osb_slice_str(text), lookup, NULL, collect, &out), bad);
    assert_string_equal(osb_buf_cstr(&out), want);
}

static void plain_lines_are_trimmed_and_expanded(void **state)
{
    (void)state;
    expect("A=1\n  B = two words  \r\n\n# no\nPATH=$BASE/bin:${BASE}\nE=\n", 0,
           "A=<1>;B=<two words>;PATH=</base/bin:/base>;E=<>;");
    expect("U=$NOPE-x", 0, "U=<-x>;");
    expect("A=b=c", 0, "A=<b=c>;");
}

static void lines_without_a_name_are_counted_and_passed_over(void **state)
{
    (void)state;
    expect("what\n=x\nA=1", 2, "A=<1>;");
}

static void single_quotes_are_literal_and_span_lines(void **state)
{
    (void)state;
    expect("A='$BASE \\n'\nB='x\ny' \nC=1", 0, "A=<$BASE \\n>;B=<x\ny>;C=<1>;");
    expect("A='#not'", 0, "A=<#not>;");
}

static void double_quotes_undo_escapes_and_expand(void **state)
{
    (void)state;
    expect("A=\"it's \\\"q\\\" \\\\ \\n\\t\\r \\x $BASE\"", 0,
           "A=<it's \"q\" \\ \n\t\r \\x /base>;");
    expect("A=\"1\n2\"\nB=3", 0, "A=<1\n2>;B=<3>;");
}

static void text_behind_a_quote_or_an_open_one_voids_the_entry(void **state)
{
    (void)state;
    expect("A='x' y\nB=1", 1, "B=<1>;");
    expect("A=\"x\ny\" z\nB=1", 1, "B=<1>;");
    expect("A='open\nB=1", 1, "B=<1>;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines_are_trimmed_and_expanded),
        cmocka_unit_test(lines_without_a_name_are_counted_and_passed_over),
        cmocka_unit_test(single_quotes_are_literal_and_span_lines),
        cmocka_unit_test(double_quotes_undo_escapes_and_expand),
        cmocka_unit_test(text_behind_a_quote_or_an_open_one_voids_the_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
