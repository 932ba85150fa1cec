// SPDX-License-Identifier: Apache-2.0
#include "expansion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct resolved_env env[] = {
    {"A", "one"}, {"B", "$(A)"}, {"EMPTY", ""}, {"A_B", "under"}, {"A", "two"},
};

static void references_are_replaced_as_kubernetes_does_it(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"$(A)", "two"}, /* the last value wins */
        {"x$(A)y$(A_B)z", "xtwoyunderz"},
        {"$(EMPTY)", ""},
        {"$(B)", "$(A)"}, /* values are not expanded again */
        {"$(UNKNOWN)", "$(UNKNOWN)"},
        {"$()", "$()"},
        {"$$(A)", "$(A)"},
        {"$$$(A)", "$two"},
        {"$$$$(A)", "$$(A)"},
        {"$$", "$"},
        {"$", "$"},
        {"a$", "a$"},
        {"$A", "$A"},
        {"${A}", "${A}"},
        {"$(A", "$(A"},
        {"$(A$(A)", "$(A$(A)"},
        {"$(A))", "two)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_arena_ struct osb_arena arena = {0};
        assert_string_equal(
            expand_variables(&arena, cases[i].text, env, sizeof(env) / sizeof(env[0])),
            cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_replaced_as_kubernetes_does_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
