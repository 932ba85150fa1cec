// SPDX-License-Identifier: Apache-2.0
#include <osb/map.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct osb_slice key_of(int i)
{
    static char text[16];
    return osb_slice(text, (size_t)snprintf(text, sizeof(text), "key-%d", i));
}

static void values_are_set_replaced_and_removed(void **state)
{
    (void)state;
    struct osb_map map = {0};
    int a, b;
    assert_null(osb_map_get(&map, OSB_SLICE("k")));
    assert_null(osb_map_remove(&map, OSB_SLICE("k")));
    assert_null(osb_map_set(&map, OSB_SLICE("k"), &a));
    assert_ptr_equal(osb_map_set(&map, OSB_SLICE("k"), &b), &a);
    assert_ptr_equal(osb_map_get(&map, OSB_SLICE("k")), &b);
    assert_int_equal(map.count, 1);
    assert_ptr_equal(osb_map_remove(&map, OSB_SLICE("k")), &b);
    assert_int_equal(map.count, 0);
    assert_false(osb_map_has(&map, OSB_SLICE("k")));
    osb_map_done(&map, NULL);
}

static void keys_are_bytes_and_values_may_be_null(void **state)
{
    (void)state;
    struct osb_map map = {0};
    int a, b;
    osb_map_set(&map, osb_slice("a\0b", 3), &a);
    osb_map_set(&map, osb_slice("a\0c", 3), &b);
    osb_map_set(&map, OSB_SLICE_NULL, NULL);
    assert_ptr_equal(osb_map_get(&map, osb_slice("a\0b", 3)), &a);
    assert_true(osb_map_has(&map, OSB_SLICE("")));
    assert_null(osb_map_get(&map, OSB_SLICE("")));
    osb_map_done(&map, NULL);
}

static void many_keys_are_found_in_insertion_order(void **state)
{
    (void)state;
    struct osb_map map = {0};
    static int values[5000];
    for (int i = 0; i < 5000; i++)
        osb_map_set(&map, key_of(i), &values[i]);
    assert_true(map.count * 4 <= map.bucket_count * 3);
    for (int i = 0; i < 5000; i += 3)
        assert_ptr_equal(osb_map_remove(&map, key_of(i)), &values[i]);

    struct osb_map_entry *cursor = NULL;
    struct osb_slice key;
    void *value;
    int expected = 1;
    while (osb_map_next(&map, &cursor, &key, &value)) {
        assert_ptr_equal(value, &values[expected]);
        assert_true(osb_slice_eq(key, key_of(expected)));
        expected += expected % 3 == 1 ? 1 : 2;
    }
    assert_true(expected >= 5000);
    assert_false(osb_map_next(&map, &cursor, &key, &value));
    for (int i = 0; i < 5000; i++)
        assert_ptr_equal(osb_map_get(&map, key_of(i)), i % 3 ? &values[i] : NULL);
    osb_map_done(&map, NULL);
}

static void the_current_entry_may_be_removed(void **state)
{
    (void)state;
    struct osb_map map = {0};
    static int values[100];
    for (int i = 0; i < 100; i++)
        osb_map_set(&map, key_of(i), &values[i]);
    struct osb_map_entry *cursor = NULL;
    void *value;
    int seen = 0;
    struct osb_slice key;
    while (osb_map_next(&map, &cursor, &key, &value)) {
        assert_ptr_equal(value, &values[seen]);
        if (seen % 2 == 0 || seen == 99)
            assert_ptr_equal(osb_map_remove(&map, key), value);
        seen++;
    }
    assert_int_equal(seen, 100);
    assert_int_equal(map.count, 49);
    osb_map_done(&map, NULL);
}

static void an_empty_map_has_nothing_to_iterate(void **state)
{
    (void)state;
    struct osb_map map = {0};
    struct osb_map_entry *cursor = NULL;
    assert_false(osb_map_next(&map, &cursor, NULL, NULL));
    int a;
    osb_map_set(&map, OSB_SLICE("k"), &a);
    osb_map_remove(&map, OSB_SLICE("k"));
    assert_false(osb_map_next(&map, &cursor, NULL, NULL));
    osb_map_done(&map, NULL);
}

static void done_frees_values_and_the_map_works_again(void **state)
{
    (void)state;
    struct osb_map map = {0};
    osb_map_set(&map, OSB_SLICE("a"), malloc(8));
    osb_map_set(&map, OSB_SLICE("b"), malloc(8));
    osb_map_done(&map, free);
    osb_map_set(&map, OSB_SLICE("a"), malloc(8));
    assert_int_equal(map.count, 1);
    osb_map_done(&map, free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_set_replaced_and_removed),
        cmocka_unit_test(keys_are_bytes_and_values_may_be_null),
        cmocka_unit_test(many_keys_are_found_in_insertion_order),
        cmocka_unit_test(the_current_entry_may_be_removed),
        cmocka_unit_test(an_empty_map_has_nothing_to_iterate),
        cmocka_unit_test(done_frees_values_and_the_map_works_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
