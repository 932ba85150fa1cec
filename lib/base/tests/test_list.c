// SPDX-License-Identifier: Apache-2.0
#include <osb/list.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct item {
    int number;
    struct osb_list link;
};

static void expect_numbers(struct osb_list *list, const int *numbers)
{
    struct item *it;
    osb_list_foreach (it, list, link)
        assert_int_equal(it->number, *numbers++);
    assert_int_equal(*numbers, 0);
}

static void elements_keep_their_order(void **state)
{
    (void)state;
    struct osb_list list;
    struct item a = {1, {0}}, b = {2, {0}}, c = {3, {0}};
    osb_list_init(&list);
    assert_true(osb_list_is_empty(&list));
    assert_null(osb_list_first(&list, struct item, link));
    osb_list_append(&list, &b.link);
    osb_list_append(&list, &c.link);
    osb_list_prepend(&list, &a.link);
    expect_numbers(&list, (const int[]){1, 2, 3, 0});
    assert_ptr_equal(osb_list_first(&list, struct item, link), &a);
}

static void removing_twice_or_a_zero_link_is_harmless(void **state)
{
    (void)state;
    struct osb_list list;
    struct item a = {1, {0}}, b = {2, {0}};
    osb_list_init(&list);
    osb_list_remove(&a.link);
    osb_list_append(&list, &a.link);
    osb_list_append(&list, &b.link);
    osb_list_remove(&a.link);
    osb_list_remove(&a.link);
    assert_true(osb_list_is_empty(&a.link));
    expect_numbers(&list, (const int[]){2, 0});
}

static void the_current_element_may_go_in_the_safe_loop(void **state)
{
    (void)state;
    struct osb_list list;
    struct item items[6] = {{0}};
    osb_list_init(&list);
    for (int i = 0; i < 6; i++) {
        items[i].number = i + 1;
        osb_list_append(&list, &items[i].link);
    }
    struct item *it, *next;
    osb_list_foreach_safe (it, next, &list, link) {
        if (it->number % 2 == 0)
            osb_list_remove(&it->link);
    }
    expect_numbers(&list, (const int[]){1, 3, 5, 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_keep_their_order),
        cmocka_unit_test(removing_twice_or_a_zero_link_is_harmless),
        cmocka_unit_test(the_current_element_may_go_in_the_safe_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
