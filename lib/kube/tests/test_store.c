// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/kube_store.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "thing.h"

struct log {
    struct osb_buf text;
};

static void note(enum osb_kube_change change, const struct osb_kube_object *old,
                 const struct osb_kube_object *current, void *arg)
{
    struct log *log = arg;
    static const char letters[] = "AMD";
    osb_buf_appendf(&log->text, "%c%s:%s>%s ", letters[change], current ? current->name : old->name,
                    old ? thing_of(old)->color : "", current ? thing_of(current)->color : "");
}

struct fixture {
    struct osb_kube_store *store;
    struct log log;
};

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    f->store = osb_kube_store_new(&thing_projection);
    osb_kube_store_subscribe(f->store, note, &f->log);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    osb_kube_store_free(f->store);
    osb_buf_done(&f->log.text);
    free(f);
    return 0;
}

static int put(struct fixture *f, const char *namespace_, const char *name, int version,
               const char *color)
{
    _cleanup_free_ char *text = thing_text(namespace_, name, version, color);
    return osb_kube_store_apply(f->store, osb_slice_str(text), NULL);
}

/* The names in the order of iteration. */
static char *names(const struct fixture *f, const char *color)
{
    struct osb_buf text = {0};
    const struct osb_kube_object *object = NULL;
    while ((object = color ? osb_kube_store_next_indexed(f->store, 0, color, object)
                           : osb_kube_store_next(f->store, object)))
        osb_buf_appendf(&text, "%s/%s ", object->namespace_, object->name);
    return osb_buf_take(&text);
}

#define assert_names(f, color, expected)                                                           \
    do {                                                                                           \
        _cleanup_free_ char *names_ = names((f), (color));                                         \
        assert_string_equal(names_, (expected));                                                   \
    } while (0)

static void test_objects_come_in_key_order_whatever_the_order_they_came_in(void **state)
{
    struct fixture *f = *state;
    put(f, "b", "x", 1, "red");
    put(f, "a", "z", 2, "red");
    put(f, "a", "y", 3, "blue");
    put(f, "", "cluster", 4, "red");
    assert_names(f, NULL, "/cluster a/y a/z b/x ");
    assert_names(f, "red", "/cluster a/z b/x ");
    assert_int_equal(osb_kube_store_count(f->store), 4);
    assert_non_null(osb_kube_store_get(f->store, "a", "y"));
    assert_null(osb_kube_store_get(f->store, "a", "x"));
}

static void test_an_index_follows_its_objects(void **state)
{
    struct fixture *f = *state;
    put(f, "n", "a", 1, "red");
    put(f, "n", "b", 2, "red");
    put(f, "n", "a", 3, "blue");
    assert_names(f, "red", "n/b ");
    assert_names(f, "blue", "n/a ");
    osb_kube_store_remove(f->store, "n", "b");
    assert_names(f, "red", "");
    assert_string_equal(osb_buf_cstr(&f->log.text), "Aa:>red Ab:>red Ma:red>blue Db:red> ");
}

static void test_the_same_and_an_older_version_change_nothing(void **state)
{
    struct fixture *f = *state;
    put(f, "n", "a", 5, "red");
    put(f, "n", "a", 5, "green");
    put(f, "n", "a", 4, "blue");
    assert_string_equal(osb_buf_cstr(&f->log.text), "Aa:>red ");
}

static void test_a_new_list_removes_what_it_does_not_show(void **state)
{
    struct fixture *f = *state;
    put(f, "n", "a", 5, "red");
    put(f, "n", "b", 6, "red");
    put(f, "n", "c", 7, "red");
    osb_kube_store_mark(f->store);
    put(f, "n", "a", 5, "red");
    put(f, "n", "c", 8, "blue");
    osb_kube_store_sweep(f->store);
    assert_names(f, NULL, "n/a n/c ");
    assert_string_equal(osb_buf_cstr(&f->log.text), "Aa:>red Ab:>red Ac:>red Mc:red>blue Db:red> ");
}

static void test_a_list_of_a_restored_backup_wins_over_newer_versions(void **state)
{
    struct fixture *f = *state;
    put(f, "n", "a", 50, "red");
    osb_kube_store_mark(f->store);
    put(f, "n", "a", 7, "blue");
    osb_kube_store_sweep(f->store);
    assert_string_equal(thing_of(osb_kube_store_get(f->store, "n", "a"))->color, "blue");
}

static void test_an_object_that_cannot_be_decoded_is_counted_and_disturbs_nobody(void **state)
{
    struct fixture *f = *state;
    put(f, "n", "a", 1, "red");
    osb_kube_store_mark(f->store);
    assert_int_equal(put(f, "n", "a", 2, "refused"), -OSB_E_INVALID);
    put(f, "n", "b", 3, "red");
    osb_kube_store_sweep(f->store);
    assert_names(f, NULL, "n/a n/b ");
    assert_int_equal(osb_kube_store_skipped(f->store), 1);

    static const char *const bad[] = {"",
                                      "[]",
                                      "{\"metadata\":{}}",
                                      "{\"metadata\":{\"name\":1}}",
                                      "{\"metadata\":{\"name\":\"x\"",
                                      "{\"metadata\":null}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(osb_kube_store_apply(f->store, osb_slice_str(bad[i]), NULL) < 0);
    assert_int_equal(osb_kube_store_count(f->store), 2);
}

static void test_a_thousand_objects_in_random_order_stay_sorted(void **state)
{
    struct fixture *f = *state;
    unsigned x = 12345;
    for (int i = 0; i < 1000; i++) {
        char name[16];
        x = x * 1103515245U + 12345U;
        snprintf(name, sizeof(name), "n%03u", (x >> 16) % 1000);
        if (x & 1)
            put(f, "n", name, i + 1, (x & 2) ? "red" : "blue");
        else
            osb_kube_store_remove(f->store, "n", name);
    }
    size_t seen = 0, red = 0, blue = 0;
    const struct osb_kube_object *object = NULL, *last = NULL;
    while ((object = osb_kube_store_next(f->store, object))) {
        assert_true(!last || strcmp(last->name, object->name) < 0);
        last = object;
        seen++;
    }
    object = NULL;
    while ((object = osb_kube_store_next_indexed(f->store, 0, "red", object)))
        red++;
    object = NULL;
    while ((object = osb_kube_store_next_indexed(f->store, 0, "blue", object)))
        blue++;
    assert_int_equal(seen, osb_kube_store_count(f->store));
    assert_int_equal(seen, red + blue);
    assert_true(seen > 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_objects_come_in_key_order_whatever_the_order_they_came_in),
        TEST(test_an_index_follows_its_objects),
        TEST(test_the_same_and_an_older_version_change_nothing),
        TEST(test_a_new_list_removes_what_it_does_not_show),
        TEST(test_a_list_of_a_restored_backup_wins_over_newer_versions),
        TEST(test_an_object_that_cannot_be_decoded_is_counted_and_disturbs_nobody),
        TEST(test_a_thousand_objects_in_random_order_stay_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
