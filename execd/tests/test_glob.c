// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "glob.h"

static void wildcards_and_classes_match(void **state)
{
    (void)state;
    assert_true(glob_match("*", "anything"));
    assert_true(glob_match("*", ".hidden"));
    assert_true(glob_match("**", "anything"));
    assert_true(glob_match("*.txt", "a.txt"));
    assert_false(glob_match("*.txt", "a.txt.gz"));
    assert_true(glob_match("**/*.txt", "a.txt"));
    assert_true(glob_match("a?c", "abc"));
    assert_false(glob_match("a?c", "ac"));
    assert_true(glob_match("[a-c]x", "bx"));
    assert_false(glob_match("[!a-c]x", "bx"));
    assert_true(glob_match("[^a-c]x", "dx"));
    assert_true(glob_match("[]]", "]"));
    assert_true(glob_match("[", "["));
    assert_true(glob_match("\\*", "*"));
    assert_false(glob_match("\\*", "a"));
}

static void braces_are_alternatives_also_nested(void **state)
{
    (void)state;
    assert_true(glob_match("*.{c,h}", "a.h"));
    assert_false(glob_match("*.{c,h}", "a.o"));
    assert_true(glob_match("{a,b{1,2}}", "b2"));
    assert_false(glob_match("{a,b{1,2}}", "b3"));
    assert_true(glob_match("{a", "{a"));
    assert_true(glob_match("x{,y}", "x"));
    assert_true(glob_match("{a,b}{1,2}", "b1"));
}

static void a_pattern_made_to_be_slow_is_not(void **state)
{
    char name[2001];
    char braces[2000] = "";

    (void)state;
    memset(name, 'a', 2000);
    name[2000] = '\0';
    assert_false(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
    for (int i = 0; i < 200; i++)
        strcat(braces, "{a,b}");
    assert_false(glob_match(braces, "no"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wildcards_and_classes_match),
        cmocka_unit_test(braces_are_alternatives_also_nested),
        cmocka_unit_test(a_pattern_made_to_be_slow_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
