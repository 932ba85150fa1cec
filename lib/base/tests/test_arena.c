// SPDX-License-Identifier: Apache-2.0
#include <osb/arena.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void memory_is_zero_and_aligned(void **state)
{
    (void)state;
    _cleanup_arena_ struct osb_arena arena = {0};
    static const char zero[5000];
    for (size_t size = 0; size < sizeof(zero); size += 37) {
        char *p = osb_arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        assert_memory_equal(p, zero, size);
        memset(p, 0xff, size);
    }
}

static void allocations_do_not_overlap(void **state)
{
    (void)state;
    _cleanup_arena_ struct osb_arena arena = {0};
    char *blocks[600];
    size_t sizes[600];
    for (int i = 0; i < 600; i++) {
        sizes[i] = i % 50 == 49 ? 70000 : (size_t)(1 + i % 97);
        blocks[i] = osb_arena_calloc(&arena, sizes[i], 1);
        memset(blocks[i], i & 0xff, sizes[i]);
    }
    for (int i = 0; i < 600; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal((unsigned char)blocks[i][k], i & 0xff);
    }
}

static void strings_are_copied(void **state)
{
    (void)state;
    _cleanup_arena_ struct osb_arena arena = {0};
    assert_string_equal(osb_arena_strdup(&arena, "abc"), "abc");
    assert_null(osb_arena_strdup(&arena, NULL));
    assert_string_equal(osb_arena_slice_dup(&arena, osb_slice("abc", 2)), "ab");
    assert_string_equal(osb_arena_slice_dup(&arena, OSB_SLICE_NULL), "");
    assert_string_equal(osb_arena_printf(&arena, "%s-%05d", "a", 42), "a-00042");
}

static void a_done_arena_works_again(void **state)
{
    (void)state;
    struct osb_arena arena = {0};
    osb_arena_alloc(&arena, 100);
    assert_true(arena.used >= 100);
    osb_arena_done(&arena);
    assert_int_equal(arena.used, 0);
    assert_non_null(osb_arena_new(&arena, struct osb_arena));
    osb_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zero_and_aligned),
        cmocka_unit_test(allocations_do_not_overlap),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(a_done_arena_works_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
