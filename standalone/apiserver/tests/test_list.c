// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <osb/alloc.h>

static void put_secret(struct world *w, const char *name, const char *label)
{
    _cleanup_free_ char *body =
        osb_asprintf("{'kind':'Secret','apiVersion':'v1','metadata':{'name':'%s','labels':{'l':"
                     "'%s'}}}",
                     name, label);
    world_ok(w, "POST", SECRETS, body);
}

/* Names of the items of the last reply, joined. */
static const char *names(struct world *w)
{
    const struct osb_json *items = osb_json_get(w->reply, "items");
    osb_buf_clear(&w->text);
    for (size_t i = 0; i < osb_json_count(items); i++)
        osb_buf_appendf(&w->text, "%s%s", i ? " " : "",
                        osb_json_cstr(osb_json_get_path(osb_json_at(items, i), "metadata.name")));
    return osb_buf_cstr(&w->text);
}

static void put_three(struct world *w)
{
    put_secret(w, "c", "odd");
    put_secret(w, "a", "odd");
    put_secret(w, "b", "even");
}

static void a_list_is_sorted_and_names_its_version(void **state)
{
    struct world *w = *state;
    put_three(w);
    world_ok(w, "GET", SECRETS, NULL);
    assert_string_equal(names(w), "a b c");
    assert_string_equal(world_str(w, "kind"), "SecretList");
    assert_int_equal(strtoull(world_str(w, "metadata.resourceVersion"), NULL, 10),
                     w->cache.revision);
}

static void selectors_pick(void **state)
{
    struct world *w = *state;
    put_three(w);
    world_ok(w, "GET", SECRETS "?labelSelector=l%20in%20(odd)", NULL);
    assert_string_equal(names(w), "a c");
    world_ok(w, "GET", SECRETS "?fieldSelector=metadata.name%3Db", NULL);
    assert_string_equal(names(w), "b");
    world_ok(w, "GET", "/api/v1/secrets?labelSelector=l!=odd", NULL);
    assert_string_equal(names(w), "b");
    assert_int_equal(world_call(w, "GET", SECRETS "?fieldSelector=spec.x%3D1", NULL), 400);
    assert_int_equal(world_call(w, "GET", SECRETS "?labelSelector=%3D%3D", NULL), 400);
}

/* "continue=TOKEN" of the last reply, encoded. */
static char *next_page(struct world *w, const char *query)
{
    _cleanup_buf_ struct osb_buf target = {0};
    osb_buf_appendf(&target, SECRETS "?%s&continue=", query);
    for (const char *p = world_str(w, "metadata.continue"); *p; p++)
        if (*p == '+' || *p == '/' || *p == '=')
            osb_buf_appendf(&target, "%%%02X", *p);
        else
            osb_buf_append_char(&target, *p);
    return osb_buf_take(&target);
}

static void pages_are_of_one_snapshot(void **state)
{
    struct world *w = *state;
    put_three(w);
    world_ok(w, "GET", SECRETS "?limit=1", NULL);
    assert_string_equal(names(w), "a");
    assert_int_equal(world_int(w, "metadata.remainingItemCount"), 2);
    _cleanup_free_ char *second = next_page(w, "limit=2");
    char version[32];
    snprintf(version, sizeof(version), "%s", world_str(w, "metadata.resourceVersion"));
    /* What happens between two pages does not show. */
    world_ok(w, "DELETE", SECRETS "/b", NULL);
    put_secret(w, "bb", "new");
    world_ok(w, "MERGE", SECRETS "/c", "{'metadata':{'labels':{'l':'changed'}}}");
    world_ok(w, "GET", second, NULL);
    assert_string_equal(names(w), "b c");
    assert_string_equal(world_str(w, "metadata.resourceVersion"), version);
    assert_string_equal(world_str(w, "metadata.continue"), "");
    assert_null(strstr(world_str(w, "items"), "changed"));
    world_ok(w, "GET", SECRETS, NULL);
    assert_string_equal(names(w), "a bb c");
}

static void an_exact_version_is_read_as_it_was(void **state)
{
    struct world *w = *state;
    put_three(w);
    uint64_t then = w->cache.revision;
    world_ok(w, "DELETE", SECRETS "/a", NULL);
    _cleanup_free_ char *exact = osb_asprintf(
        SECRETS "?resourceVersion=%llu&resourceVersionMatch=Exact", (unsigned long long)then);
    world_ok(w, "GET", exact, NULL);
    assert_string_equal(names(w), "a b c");
    _cleanup_free_ char *not_older =
        osb_asprintf(SECRETS "?resourceVersion=%llu&resourceVersionMatch=NotOlderThan",
                     (unsigned long long)then);
    world_ok(w, "GET", not_older, NULL);
    assert_string_equal(names(w), "b c");
}

static void what_the_history_forgot_has_expired(void **state)
{
    (void)state;
    struct world *w = world_new_bounded(4);
    put_secret(w, "a", "x");
    put_secret(w, "b", "x");
    world_ok(w, "GET", SECRETS "?limit=1", NULL);
    _cleanup_free_ char *second = next_page(w, "limit=1");
    for (int i = 0; i < 6; i++)
        world_ok(w, "MERGE", SECRETS "/a",
                 i % 2 ? "{'metadata':{'labels':{'l':'y'}}}" : "{'metadata':{'labels':{'l':'z'}}}");
    assert_int_equal(world_call(w, "GET", second, NULL), 410);
    assert_string_equal(world_str(w, "reason"), "Expired");
    world_free(w);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    struct world *w = *state;
    assert_int_equal(world_call(w, "GET", SECRETS "?resourceVersion=99999", NULL), 504);
    assert_int_equal(world_call(w, "GET", SECRETS "?resourceVersion=abc", NULL), 400);
    assert_int_equal(world_call(w, "GET", SECRETS "?resourceVersionMatch=Exact", NULL), 422);
    assert_int_equal(world_call(w, "GET", SECRETS "?continue=nonsense", NULL), 400);
    assert_int_equal(world_call(w, "GET", SECRETS "?limit=-1", NULL), 400);
    assert_int_equal(world_call(w, "GET", SECRETS "?sendInitialEvents=true", NULL), 422);
}

static void tables_show_the_columns_of_the_kind(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 3));
    world_ok(w, "TABLE", SANDBOXES, NULL);
    assert_string_equal(world_str(w, "kind"), "Table");
    const struct osb_json *row = osb_json_at(osb_json_get(w->reply, "rows"), 0);
    assert_int_equal(osb_json_count(osb_json_get(row, "cells")),
                     osb_json_count(osb_json_get(w->reply, "columnDefinitions")));
    assert_string_equal(osb_json_cstr(osb_json_at(osb_json_get(row, "cells"), 0)), "a");
    assert_int_equal(osb_json_i64_or(osb_json_at(osb_json_get(row, "cells"), 1), 0), 3);
    assert_string_equal(osb_json_cstr(osb_json_get_path(row, "object.kind")),
                        "PartialObjectMetadata");
    world_ok(w, "TABLE", SANDBOXES "?includeObject=Object", NULL);
    row = osb_json_at(osb_json_get(w->reply, "rows"), 0);
    assert_string_equal(osb_json_cstr(osb_json_get_path(row, "object.kind")), "BatchSandbox");
    assert_int_equal(world_call(w, "TABLE", SANDBOXES "?includeObject=All", NULL), 400);
}

static void a_pod_is_summed_up_in_one_word(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *status, *word;
    } rows[] = {
        {"{'status':{'phase':'Pending'}}", "Pending"},
        {"{'status':{'containerStatuses':[{'name':'c','state':{'waiting':{'reason':"
         "'ErrImagePull'}}}]}}",
         "ErrImagePull"},
        {"{'status':{'phase':'Running','containerStatuses':[{'name':'c','ready':true,'state':{"
         "'running':{}}}]}}",
         "Running"},
        {"{'status':{'phase':'Failed','containerStatuses':[{'name':'c','state':{'terminated':{"
         "'exitCode':3}}}]}}",
         "ExitCode:3"},
        {"{'status':{'containerStatuses':[{'name':'c','state':{'terminated':{'exitCode':137,"
         "'reason':'OOMKilled'}}}]}}",
         "OOMKilled"},
    };
    world_ok(w, "POST", PODS, POD_A);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        world_ok(w, "MERGE", PODS "/a/status", rows[i].status);
        world_ok(w, "TABLE", PODS "/a", NULL);
        const struct osb_json *row = osb_json_at(osb_json_get(w->reply, "rows"), 0);
        assert_string_equal(osb_json_cstr(osb_json_at(osb_json_get(row, "cells"), 2)),
                            rows[i].word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
        T(a_list_is_sorted_and_names_its_version),
        T(selectors_pick),
        T(pages_are_of_one_snapshot),
        T(an_exact_version_is_read_as_it_was),
        cmocka_unit_test(what_the_history_forgot_has_expired),
        T(options_that_make_no_sense_are_refused),
        T(tables_show_the_columns_of_the_kind),
        T(a_pod_is_summed_up_in_one_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
