// SPDX-License-Identifier: Apache-2.0
#include "event_expiry.h"
#include "fixture.h"

#include <osb/alloc.h>

#define OWNED(name, owner_uid, extra)                                                              \
    "{'kind':'Secret','apiVersion':'v1','metadata':{'name':'" name                                 \
    "','ownerReferences':[{'apiVersion':'sandbox.opensandbox.io/v1alpha1','kind':"                 \
    "'BatchSandbox','name':'a','uid':'%s'" extra "}]}}"

/* A sandbox `a` and its secret `s`. */
static void make_owned(struct world *w, const char *format)
{
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    const char *placed = strstr(format, "%s");
    _cleanup_free_ char *body = osb_asprintf("%.*s%s%s", (int)(placed - format), format,
                                             world_str(w, "metadata.uid"), placed + 2);
    world_ok(w, "POST", SECRETS, body);
}

static int status_of(struct world *w, const char *target)
{
    return world_call(w, "GET", target, NULL);
}

static void an_object_that_nothing_holds_goes_at_once(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    world_ok(w, "DELETE", SANDBOXES "/a", NULL);
    assert_string_equal(world_str(w, "status"), "Success");
    assert_int_equal(status_of(w, SANDBOXES "/a"), 404);
    assert_int_equal(world_call(w, "DELETE", SANDBOXES "/a", NULL), 404);
}

static void finalizers_hold_an_object_until_they_are_gone(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    world_ok(w, "MERGE", SANDBOXES "/a", "{'metadata':{'finalizers':['x.io/hold']}}");
    world_ok(w, "DELETE", SANDBOXES "/a", NULL);
    assert_string_equal(world_str(w, "metadata.deletionTimestamp"), "2027-01-15T08:00:00Z");
    assert_int_equal(world_int(w, "metadata.generation"), 2);
    assert_int_equal(
        world_call(w, "MERGE", SANDBOXES "/a", "{\"metadata\":{\"finalizers\":[\"y.io/new\"]}}"),
        422);
    world_ok(w, "MERGE", SANDBOXES "/a", "{'metadata':{'finalizers':null}}");
    assert_int_equal(status_of(w, SANDBOXES "/a"), 404);
}

static void preconditions_are_checked(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    assert_int_equal(
        world_call(w, "DELETE", SANDBOXES "/a", "{\"preconditions\":{\"uid\":\"other\"}}"), 409);
    assert_int_equal(
        world_call(w, "DELETE", SANDBOXES "/a", "{\"preconditions\":{\"resourceVersion\":\"1\"}}"),
        409);
    assert_int_equal(status_of(w, SANDBOXES "/a"), 200);
}

static void a_pod_waits_for_its_grace_and_goes_with_zero(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", PODS, POD_A);
    world_ok(w, "DELETE", PODS "/a", NULL);
    assert_int_equal(world_int(w, "metadata.deletionGracePeriodSeconds"), 30);
    assert_string_equal(world_str(w, "metadata.deletionTimestamp"), "2027-01-15T08:00:30Z");
    world_ok(w, "DELETE", PODS "/a?gracePeriodSeconds=60", NULL); /* never longer */
    assert_int_equal(world_int(w, "metadata.deletionGracePeriodSeconds"), 30);
    world_ok(w, "DELETE", PODS "/a", "{'gracePeriodSeconds':5}");
    assert_int_equal(world_int(w, "metadata.deletionGracePeriodSeconds"), 5);
    world_ok(w, "DELETE", PODS "/a", "{'gracePeriodSeconds':0}");
    assert_int_equal(status_of(w, PODS "/a"), 404);
}

static void a_pod_that_has_ended_needs_no_grace(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", PODS, POD_A);
    world_ok(w, "MERGE", PODS "/a/status", "{'status':{'phase':'Failed'}}");
    world_ok(w, "DELETE", PODS "/a", NULL);
    assert_int_equal(status_of(w, PODS "/a"), 404);
}

static void dependents_follow_their_owner(void **state)
{
    struct world *w = *state;
    make_owned(w, OWNED("s", "%s", ""));
    world_collect(w);
    assert_int_equal(status_of(w, SECRETS "/s"), 200);
    world_ok(w, "DELETE", SANDBOXES "/a", NULL);
    assert_int_equal(status_of(w, SECRETS "/s"), 200);
    world_collect(w);
    assert_int_equal(status_of(w, SECRETS "/s"), 404);
}

static void in_the_foreground_the_owner_goes_last(void **state)
{
    struct world *w = *state;
    make_owned(w, OWNED("s", "%s", ",'blockOwnerDeletion':true"));
    world_ok(w, "MERGE", SECRETS "/s", "{'metadata':{'finalizers':['x.io/hold']}}");
    world_ok(w, "DELETE", SANDBOXES "/a?propagationPolicy=Foreground", NULL);
    assert_string_equal(world_str(w, "metadata.finalizers"), "[\"foregroundDeletion\"]");
    world_collect(w);
    assert_int_equal(status_of(w, SECRETS "/s"), 200);
    assert_string_not_equal(world_str(w, "metadata.deletionTimestamp"), "");
    assert_int_equal(status_of(w, SANDBOXES "/a"), 200);
    world_ok(w, "MERGE", SECRETS "/s", "{'metadata':{'finalizers':[]}}");
    world_collect(w);
    assert_int_equal(status_of(w, SANDBOXES "/a"), 404);
}

static void orphans_lose_their_reference_and_stay(void **state)
{
    struct world *w = *state;
    make_owned(w, OWNED("s", "%s", ""));
    world_ok(w, "DELETE", SANDBOXES "/a", "{'propagationPolicy':'Orphan'}");
    world_collect(w);
    assert_int_equal(status_of(w, SANDBOXES "/a"), 404);
    assert_int_equal(status_of(w, SECRETS "/s"), 200);
    assert_string_equal(world_str(w, "metadata.ownerReferences"), "");
}

static void an_owner_that_is_not_there_takes_the_new_object(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SECRETS, OWNED("s", "", ""));
    world_collect(w);
    assert_int_equal(status_of(w, SECRETS "/s"), 404);
}

static void an_owner_of_an_unknown_kind_takes_nothing(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SECRETS,
             "{'kind':'Secret','apiVersion':'v1','metadata':{'name':'s','ownerReferences':[{"
             "'apiVersion':'apps/v1','kind':'Deployment','name':'d','uid':'u'}]}}");
    world_collect(w);
    assert_int_equal(status_of(w, SECRETS "/s"), 200);
}

static void one_owner_left_keeps_the_object(void **state)
{
    struct world *w = *state;
    make_owned(w, OWNED("s", "%s", ""));
    world_ok(w, "POST", SANDBOXES, SANDBOX("b", 1));
    _cleanup_free_ char *patch =
        osb_asprintf("[{'op':'add','path':'/metadata/ownerReferences/-','value':{'apiVersion':"
                     "'sandbox.opensandbox.io/v1alpha1','kind':'BatchSandbox','name':'b','uid':"
                     "'%s'}}]",
                     world_str(w, "metadata.uid"));
    world_ok(w, "JSONPATCH", SECRETS "/s", patch);
    world_ok(w, "DELETE", SANDBOXES "/a", NULL);
    world_collect(w);
    assert_int_equal(status_of(w, SECRETS "/s"), 200);
    assert_int_equal(osb_json_count(osb_json_get_path(w->reply, "metadata.ownerReferences")), 1);
    world_ok(w, "DELETE", SANDBOXES "/b", NULL);
    world_collect(w);
    assert_int_equal(status_of(w, SECRETS "/s"), 404);
}

static void a_namespace_is_emptied_before_it_goes(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", "/api/v1/namespaces",
             "{'kind':'Namespace','apiVersion':'v1','metadata':{'name':'n'}}");
    world_ok(w, "POST", "/api/v1/namespaces/n/secrets",
             "{'kind':'Secret','apiVersion':'v1','metadata':{'name':'s'}}");
    world_ok(w, "POST", "/api/v1/namespaces/n/pods", POD_A);
    world_ok(w, "DELETE", "/api/v1/namespaces/n", NULL);
    assert_string_equal(world_str(w, "status.phase"), "Terminating");
    assert_int_equal(world_call(w, "POST", "/api/v1/namespaces/n/secrets",
                                "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{"
                                "\"name\":\"t\"}}"),
                     403);
    world_collect(w);
    assert_int_equal(status_of(w, "/api/v1/namespaces/n/secrets/s"), 404);
    assert_int_equal(status_of(w, "/api/v1/namespaces/n"), 200); /* the pod has its grace */
    world_ok(w, "DELETE", "/api/v1/namespaces/n/pods/a?gracePeriodSeconds=0", NULL);
    world_collect(w);
    assert_int_equal(status_of(w, "/api/v1/namespaces/n"), 404);
    assert_int_equal(world_call(w, "DELETE", "/api/v1/namespaces/default", NULL), 403);
}

static void a_collection_is_deleted_by_its_selector(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SECRETS,
             "{'kind':'Secret','apiVersion':'v1','metadata':{'name':'x','labels':{'a':'1'}}}");
    world_ok(w, "POST", SECRETS,
             "{'kind':'Secret','apiVersion':'v1','metadata':{'name':'y','labels':{'a':'2'}}}");
    assert_int_equal(world_call(w, "DELETE", SECRETS "?labelSelector=a%3D1", NULL), 200);
    assert_int_equal(status_of(w, SECRETS "/x"), 404);
    assert_int_equal(status_of(w, SECRETS "/y"), 200);
}

static int expire(struct world *w)
{
    struct txn txn;
    txn_init(&txn, &w->cache, w->cache.revision, w->now_ns);
    int count = events_expire(&txn, &w->registry);
    txn_apply(&txn, &w->cache, &w->history);
    return count;
}

static void events_are_removed_an_hour_after_they_were_last_seen(void **state)
{
    struct world *w = *state;
    static const char *const bodies[] = {
        "{'kind':'Event','apiVersion':'v1','metadata':{'name':'old'},'involvedObject':{"
        "'namespace':'default'},'lastTimestamp':'2020-01-01T00:00:00Z'}",
        "{'kind':'Event','apiVersion':'v1','metadata':{'name':'seen'},'involvedObject':{"
        "'namespace':'default'},'lastTimestamp':'2027-01-15T08:30:00Z'}"};
    world_ok(w, "POST", "/api/v1/namespaces/default/events", bodies[0]);
    world_ok(w, "POST", "/api/v1/namespaces/default/events", bodies[1]);
    assert_int_equal(expire(w), 0); /* both are new here */
    w->now_ns += 3601LL * 1000000000LL;
    assert_int_equal(expire(w), 1);
    assert_int_equal(status_of(w, "/api/v1/namespaces/default/events/old"), 404);
    assert_int_equal(status_of(w, "/api/v1/namespaces/default/events/seen"), 200);
}

static void a_grace_that_no_clock_can_hold_is_shortened(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", PODS, POD_A);
    world_ok(w, "DELETE", PODS "/a?gracePeriodSeconds=9223372036854775807", NULL);
    assert_string_not_equal(world_str(w, "metadata.deletionTimestamp"), "");
    assert_true(world_int(w, "metadata.deletionGracePeriodSeconds") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
        T(an_object_that_nothing_holds_goes_at_once),
        T(finalizers_hold_an_object_until_they_are_gone),
        T(preconditions_are_checked),
        T(a_pod_waits_for_its_grace_and_goes_with_zero),
        T(a_pod_that_has_ended_needs_no_grace),
        T(dependents_follow_their_owner),
        T(in_the_foreground_the_owner_goes_last),
        T(orphans_lose_their_reference_and_stay),
        T(an_owner_that_is_not_there_takes_the_new_object),
        T(an_owner_of_an_unknown_kind_takes_nothing),
        T(one_owner_left_keeps_the_object),
        T(a_namespace_is_emptied_before_it_goes),
        T(a_collection_is_deleted_by_its_selector),
        T(events_are_removed_an_hour_after_they_were_last_seen),
        T(a_grace_that_no_clock_can_hold_is_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
