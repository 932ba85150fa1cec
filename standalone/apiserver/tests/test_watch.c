// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <osb/alloc.h>

#define NEXT(expected) assert_string_equal(world_watch_next(w, &watch), expected)

static void put_secret(struct world *w, const char *name)
{
    _cleanup_free_ char *body = osb_asprintf(
        "{'kind':'Secret','apiVersion':'v1','metadata':{'name':'%s','labels':{'l':'1'}}}", name);
    world_ok(w, "POST", SECRETS, body);
}

static void from_nowhere_it_shows_what_is_and_what_comes(void **state)
{
    struct world *w = *state;
    struct world_watch watch;
    put_secret(w, "a");
    world_watch(w, SECRETS "?watch=true", &watch);
    NEXT("ADDED a");
    NEXT("");
    put_secret(w, "b");
    world_ok(w, "MERGE", SECRETS "/a", "{'data':{'k':'eA=='}}");
    world_ok(w, "DELETE", SECRETS "/b", NULL);
    NEXT("ADDED b");
    NEXT("MODIFIED a");
    NEXT("DELETED b");
    NEXT("");
    world_watch_end(&watch);
}

static void from_a_version_it_shows_what_came_after(void **state)
{
    struct world *w = *state;
    struct world_watch watch;
    put_secret(w, "a");
    _cleanup_free_ char *target = osb_asprintf(SECRETS "?watch=true&resourceVersion=%llu",
                                               (unsigned long long)w->cache.revision);
    put_secret(w, "b");
    world_watch(w, target, &watch);
    NEXT("ADDED b");
    NEXT("");
    world_watch_end(&watch);
}

static void an_object_that_starts_or_stops_to_match_is_added_or_deleted(void **state)
{
    struct world *w = *state;
    struct world_watch watch;
    put_secret(w, "a");
    put_secret(w, "other");
    world_watch(w, SECRETS "?watch=1&labelSelector=l%3D2", &watch);
    NEXT("");
    world_ok(w, "MERGE", SECRETS "/a", "{'metadata':{'labels':{'l':'2'}}}");
    NEXT("ADDED a");
    world_ok(w, "MERGE", SECRETS "/a", "{'data':{'k':'eA=='}}");
    NEXT("MODIFIED a");
    world_ok(w, "MERGE", SECRETS "/a", "{'metadata':{'labels':{'l':'3'}}}");
    NEXT("DELETED a");
    world_ok(w, "DELETE", SECRETS "/a", NULL); /* it was gone for this watcher already */
    NEXT("");
    world_watch_end(&watch);
}

static void initial_events_end_with_a_marked_bookmark(void **state)
{
    struct world *w = *state;
    struct world_watch watch;
    put_secret(w, "a");
    _cleanup_free_ char *mark =
        osb_asprintf("BOOKMARK %llu end", (unsigned long long)w->cache.revision);
    world_watch(w,
                SECRETS "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                        "&allowWatchBookmarks=true",
                &watch);
    NEXT("ADDED a");
    NEXT(mark);
    NEXT("");
    put_secret(w, "b");
    NEXT("ADDED b");
    world_watch_end(&watch);
}

static void a_bookmark_tells_of_changes_that_do_not_concern_it(void **state)
{
    struct world *w = *state;
    struct world_watch watch;
    _cleanup_buf_ struct osb_buf line = {0};
    world_watch(w, SECRETS "?watch=true&allowWatchBookmarks=true", &watch);
    assert_false(watcher_bookmark(&watch.watcher, &line));
    world_ok(w, "POST", PODS, POD_A);
    NEXT("");
    assert_true(watcher_bookmark(&watch.watcher, &line));
    assert_non_null(strstr(osb_buf_cstr(&line), "\"type\":\"BOOKMARK\""));
    assert_false(watcher_bookmark(&watch.watcher, &line));
    world_watch_end(&watch);
}

static void a_version_that_is_too_old_is_expired(void **state)
{
    (void)state;
    struct world *w = world_new_bounded(3);
    struct world_watch watch;
    for (int i = 0; i < 8; i++) {
        char name[] = {'s', (char)('0' + i), 0};
        put_secret(w, name);
    }
    world_watch(w, SECRETS "?watch=true&resourceVersion=2", &watch);
    assert_int_equal(watch.status, 410);
    world_watch_end(&watch);
    world_free(w);
}

static void a_watcher_that_falls_behind_is_cut(void **state)
{
    (void)state;
    struct world *w = world_new_bounded(3);
    struct world_watch watch;
    world_watch(w, SECRETS "?watch=true", &watch);
    NEXT("");
    for (int i = 0; i < 8; i++) {
        char name[] = {'s', (char)('0' + i), 0};
        put_secret(w, name);
    }
    NEXT("ERROR Expired");
    assert_true(watch.watcher.is_ended);
    NEXT("");
    world_watch_end(&watch);
    world_free(w);
}

static void one_object_is_watched_by_its_name(void **state)
{
    struct world *w = *state;
    struct world_watch watch;
    world_watch(w, SECRETS "?watch=true&fieldSelector=metadata.name%3Db", &watch);
    put_secret(w, "a");
    put_secret(w, "b");
    NEXT("ADDED b");
    NEXT("");
    world_watch_end(&watch);
}

static void options_that_do_not_go_together_are_refused(void **state)
{
    struct world *w = *state;
    struct world_watch watch;
    world_watch(w, SECRETS "?watch=true&sendInitialEvents=true", &watch);
    assert_int_equal(watch.status, 422);
    world_watch_end(&watch);
    world_watch(w, SECRETS "?watch=true&resourceVersionMatch=Exact&resourceVersion=1", &watch);
    assert_int_equal(watch.status, 422);
    world_watch_end(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
        T(from_nowhere_it_shows_what_is_and_what_comes),
        T(from_a_version_it_shows_what_came_after),
        T(an_object_that_starts_or_stops_to_match_is_added_or_deleted),
        T(initial_events_end_with_a_marked_bookmark),
        T(a_bookmark_tells_of_changes_that_do_not_concern_it),
        cmocka_unit_test(a_version_that_is_too_old_is_expired),
        cmocka_unit_test(a_watcher_that_falls_behind_is_cut),
        T(one_object_is_watched_by_its_name),
        T(options_that_do_not_go_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
