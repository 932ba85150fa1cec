// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>
#include <osb/cleanup.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void copies_are_owned_and_complete(void **state)
{
    (void)state;
    _cleanup_free_ char *a = osb_strdup("abc");
    _cleanup_free_ char *b = osb_strndup("abcdef", 3);
    _cleanup_free_ char *c = osb_asprintf("%d/%s", 5, a);
    assert_string_equal(a, b);
    assert_string_equal(c, "5/abc");
    assert_null(osb_strdup(NULL));
    assert_null(osb_strndup(NULL, 4));
}

static void arrays_grow_and_keep_their_content(void **state)
{
    (void)state;
    _cleanup_free_ int *array = NULL;
    size_t len = 0, cap = 0;
    for (int i = 0; i < 1000; i++) {
        osb_grow(array, len, cap);
        array[len++] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    assert_true(cap >= len);
}

static void what_an_array_has_to_spare_is_given_back_and_it_grows_again(void **state)
{
    (void)state;
    _cleanup_free_ int *array = NULL;
    size_t len = 0, cap = 0;
    osb_shrink(array, len, cap);
    assert_null(array);
    for (int i = 0; i < 100; i++) {
        osb_grow(array, len, cap);
        array[len++] = i;
        osb_shrink(array, len, cap);
        assert_int_equal(cap, len);
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(array[i], i);
}

static void zero_sized_requests_give_a_pointer(void **state)
{
    (void)state;
    _cleanup_free_ void *a = osb_calloc(0, 8);
    _cleanup_free_ void *b = osb_realloc(NULL, 0);
    assert_non_null(a);
    assert_non_null(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_owned_and_complete),
        cmocka_unit_test(arrays_grow_and_keep_their_content),
        cmocka_unit_test(what_an_array_has_to_spare_is_given_back_and_it_grows_again),
        cmocka_unit_test(zero_sized_requests_give_a_pointer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
