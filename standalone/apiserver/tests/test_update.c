// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <osb/alloc.h>

/* The counters that a status must have. */
#define COUNTERS                                                                                   \
    "{'replicas':1,'allocated':1,'ready':1,'taskRunning':0,'taskSucceed':0,'taskFailed':0,"        \
    "'taskPending':0,'taskUnknown':0}"
#define STATUS "{'status':" COUNTERS "}"

/* Reads TARGET, merges PATCH (single quotes) into what was read, and puts it back. */
static int put_merged(struct world *w, const char *target, const char *read_from, const char *key,
                      const char *value)
{
    world_ok(w, "GET", read_from, NULL);
    _cleanup_json_ struct osb_json *tree = osb_json_copy(w->reply);
    struct osb_json *spec = osb_json_ensure_object(tree, key);
    struct osb_json *parsed = NULL;
    assert_int_equal(osb_json_parse(osb_slice_str(value), &parsed, NULL), 0);
    void *cursor = NULL;
    struct osb_slice name;
    struct osb_json *member;
    while (osb_json_next_member(parsed, &cursor, &name, &member))
        osb_json_set_slice(spec, name, osb_json_copy(member));
    osb_json_free(parsed);
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(tree, &text);
    return world_call(w, "PUT", target, osb_buf_cstr(&text));
}

static void generation_rises_on_a_new_spec_only(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    assert_int_equal(put_merged(w, SANDBOXES "/a", SANDBOXES "/a", "spec", "{\"replicas\":2}"),
                     200);
    assert_int_equal(world_int(w, "metadata.generation"), 2);
    world_ok(w, "MERGE", SANDBOXES "/a", "{'metadata':{'labels':{'x':'y'}}}");
    assert_int_equal(world_int(w, "metadata.generation"), 2);
    world_ok(w, "MERGE", SANDBOXES "/a/status", STATUS);
    assert_int_equal(world_int(w, "metadata.generation"), 2);
}

static void a_stale_version_is_a_conflict(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    _cleanup_buf_ struct osb_buf old = {0};
    osb_json_print(w->reply, &old);
    world_ok(w, "MERGE", SANDBOXES "/a", "{'spec':{'replicas':3}}");
    assert_int_equal(world_call(w, "PUT", SANDBOXES "/a", osb_buf_cstr(&old)), 409);
    assert_string_equal(world_str(w, "reason"), "Conflict");
    assert_non_null(strstr(world_str(w, "message"), "the object has been modified"));
    assert_int_equal(
        world_call(w, "MERGE", SANDBOXES "/a", "{\"metadata\":{\"resourceVersion\":\"1\"}}"), 409);
}

static void a_custom_object_is_put_with_its_version_only(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    assert_int_equal(
        world_call(w, "PUT", SANDBOXES "/a",
                   "{\"kind\":\"BatchSandbox\",\"apiVersion\":\"sandbox.opensandbox.io/v1alpha1\","
                   "\"metadata\":{\"name\":\"a\"},\"spec\":{}}"),
        422);
    assert_non_null(strstr(world_str(w, "message"), "must be specified for an update"));
}

static void a_change_of_nothing_takes_no_revision(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    uint64_t revision = w->cache.revision;
    world_ok(w, "MERGE", SANDBOXES "/a", "{'spec':{'replicas':1}}");
    assert_int_equal(put_merged(w, SANDBOXES "/a", SANDBOXES "/a", "spec", "{}"), 200);
    assert_int_equal(w->cache.revision, revision);
}

static void spec_and_status_are_written_apart(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    world_ok(w, "MERGE", SANDBOXES "/a/status",
             "{'spec':{'replicas':9},'metadata':{'labels':{'no':'no'}},'status':" COUNTERS "}");
    assert_int_equal(world_int(w, "spec.replicas"), 1);
    assert_int_equal(world_int(w, "status.ready"), 1);
    assert_string_equal(world_str(w, "metadata.labels"), "");
    world_ok(w, "MERGE", SANDBOXES "/a", "{'spec':{'replicas':2},'status':{'ready':7}}");
    assert_int_equal(world_int(w, "spec.replicas"), 2);
    assert_int_equal(world_int(w, "status.ready"), 1);
}

static void identity_cannot_be_changed(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    char created[64];
    snprintf(created, sizeof(created), "%s", world_str(w, "metadata.creationTimestamp"));
    w->now_ns += 60 * 1000000000LL;
    world_ok(w, "MERGE", SANDBOXES "/a",
             "{'metadata':{'creationTimestamp':'2001-01-01T00:00:00Z','generation':55,"
             "'deletionTimestamp':'2001-01-01T00:00:00Z'},'spec':{'replicas':4}}");
    assert_string_equal(world_str(w, "metadata.creationTimestamp"), created);
    assert_string_equal(world_str(w, "metadata.deletionTimestamp"), "");
    assert_int_equal(world_int(w, "metadata.generation"), 2);
    assert_int_equal(world_call(w, "MERGE", SANDBOXES "/a", "{\"metadata\":{\"uid\":\"x\"}}"), 409);
    assert_int_equal(world_call(w, "MERGE", SANDBOXES "/a", "{\"metadata\":{\"name\":\"b\"}}"),
                     400);
}

static void patches_of_all_types_are_applied(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", PODS, POD_A);
    world_ok(w, "STRATEGIC", PODS "/a",
             "{'metadata':{'annotations':{'k':'v'}},'spec':{'containers':[{'name':'c','image':"
             "'other:2'}]}}");
    assert_non_null(strstr(world_str(w, "spec.containers"), "other:2"));
    assert_non_null(strstr(world_str(w, "spec.containers"), "terminationMessagePath"));
    world_ok(w, "JSONPATCH", PODS "/a",
             "[{'op':'test','path':'/metadata/annotations/k','value':'v'},"
             "{'op':'replace','path':'/metadata/annotations/k','value':'w'}]");
    assert_string_equal(world_str(w, "metadata.annotations.k"), "w");
    assert_int_equal(
        world_call(w, "JSONPATCH", PODS "/a", "[{\"op\":\"remove\",\"path\":\"/metadata/none\"}]"),
        422);
    assert_int_equal(world_call(w, "MERGE", PODS "/none", "{}"), 404);
    assert_int_equal(world_call(w, "MERGE", PODS "/a", "[]"), 400);
}

static void scale_reads_and_writes_replicas(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 2));
    world_ok(w, "GET", SANDBOXES "/a/scale", NULL);
    assert_string_equal(world_str(w, "kind"), "Scale");
    assert_int_equal(world_int(w, "spec.replicas"), 2);
    assert_int_equal(world_int(w, "status.replicas"), 0);
    world_ok(w, "MERGE", SANDBOXES "/a/scale", "{'spec':{'replicas':5}}");
    assert_int_equal(world_int(w, "metadata.generation"), 2);
    world_ok(w, "GET", SANDBOXES "/a", NULL);
    assert_int_equal(world_int(w, "spec.replicas"), 5);
    assert_int_equal(world_call(w, "MERGE", SANDBOXES "/a/scale", "{\"spec\":{\"replicas\":-1}}"),
                     422);
    assert_int_equal(
        world_call(w, "MERGE", SANDBOXES "/a/scale", "{\"metadata\":{\"resourceVersion\":\"2\"}}"),
        409);
    assert_int_equal(world_call(w, "GET",
                                "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/default"
                                "/pools/a/scale",
                                NULL),
                     404);
}

static void strict_validation_holds_for_patches_too(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    assert_int_equal(world_call(w, "MERGE", SANDBOXES "/a?fieldValidation=Strict",
                                "{\"spec\":{\"replicass\":1}}"),
                     400);
}

static void a_patch_cannot_make_an_object_too_large(void **state)
{
    struct world *w = *state;
    enum { PART = 1024 * 1024 };
    _cleanup_free_ char *text = osb_calloc(1, PART + 1);
    memset(text, 'x', PART);
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    for (int i = 0; i < 4; i++) {
        _cleanup_free_ char *patch =
            osb_asprintf("{\"spec\":{\"template\":{\"p%d\":\"%s\"}}}", i, text);
        assert_int_equal(world_call(w, "MERGE", SANDBOXES "/a", patch), i < 2 ? 200 : 413);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
        T(generation_rises_on_a_new_spec_only),
        T(a_stale_version_is_a_conflict),
        T(a_custom_object_is_put_with_its_version_only),
        T(a_change_of_nothing_takes_no_revision),
        T(spec_and_status_are_written_apart),
        T(identity_cannot_be_changed),
        T(patches_of_all_types_are_applied),
        T(scale_reads_and_writes_replicas),
        T(strict_validation_holds_for_patches_too),
        T(a_patch_cannot_make_an_object_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
