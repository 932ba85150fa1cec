// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

/* POSTs a pod whose spec is SPEC (single quotes) and returns the status. */
static int post_pod(struct world *w, const char *spec)
{
    _cleanup_buf_ struct osb_buf body = {0};
    osb_buf_appendf(&body, "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p'},'spec':%s}",
                    spec);
    char *text = (char *)(uintptr_t)osb_buf_cstr(&body);
    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    return world_call(w, "POST", PODS "?dryRun=All", text);
}

static const struct osb_json *container(struct world *w, const char *member)
{
    return osb_json_get(osb_json_at(osb_json_get_path(w->reply, "spec.containers"), 0), member);
}

static void a_pod_gets_its_defaults_and_its_node(void **state)
{
    struct world *w = *state;
    assert_int_equal(post_pod(w, "{'containers':[{'name':'c','image':'base'}]}"), 201);
    assert_string_equal(world_str(w, "spec.nodeName"), "node-1");
    assert_string_equal(world_str(w, "spec.restartPolicy"), "Always");
    assert_string_equal(world_str(w, "spec.dnsPolicy"), "ClusterFirst");
    assert_int_equal(world_int(w, "spec.terminationGracePeriodSeconds"), 30);
    assert_string_equal(world_str(w, "status.phase"), "Pending");
    assert_string_equal(world_str(w, "status.qosClass"), "BestEffort");
    assert_string_equal(osb_json_cstr(container(w, "terminationMessagePath")),
                        "/dev/termination-log");
}

static void the_pull_policy_follows_the_tag(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *image, *policy;
    } rows[] = {
        {"base", "Always"},
        {"base:latest", "Always"},
        {"base:1", "IfNotPresent"},
        {"localhost:5000/base", "Always"},
        {"localhost:5000/base:1.2", "IfNotPresent"},
        {"base@sha256:00", "IfNotPresent"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char spec[160];
        snprintf(spec, sizeof(spec), "{'containers':[{'name':'c','image':'%s'}]}", rows[i].image);
        assert_int_equal(post_pod(w, spec), 201);
        assert_string_equal(osb_json_cstr(container(w, "imagePullPolicy")), rows[i].policy);
    }
}

static void limits_become_requests_and_decide_the_class(void **state)
{
    struct world *w = *state;
    assert_int_equal(post_pod(w, "{'containers':[{'name':'c','image':'i','resources':{'limits':{"
                                 "'cpu':1,'memory':'64Mi'}}}]}"),
                     201);
    assert_string_equal(world_str(w, "status.qosClass"), "Guaranteed");
    const struct osb_json *resources = container(w, "resources");
    assert_string_equal(osb_json_cstr(osb_json_get_path(resources, "requests.cpu")), "1");
    assert_string_equal(osb_json_cstr(osb_json_get_path(resources, "requests.memory")), "64Mi");
    assert_int_equal(post_pod(w, "{'containers':[{'name':'c','image':'i','resources':{'requests':{"
                                 "'cpu':'10m'}}}]}"),
                     201);
    assert_string_equal(world_str(w, "status.qosClass"), "Burstable");
}

static void pods_that_cannot_run_are_refused_with_the_field(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *spec, *field;
    } rows[] = {
        {"{}", "spec.containers: Required value"},
        {"{'containers':[{'name':'c'}]}", "spec.containers[0].image: Required value"},
        {"{'containers':[{'image':'i'}]}", "spec.containers[0].name: Required value"},
        {"{'containers':[{'name':'C','image':'i'}]}", "spec.containers[0].name"},
        {"{'containers':[{'name':'c','image':'i'},{'name':'c','image':'i'}]}",
         "spec.containers[1].name: Duplicate value"},
        {"{'containers':[{'name':'c','image':'i','volumeMounts':[{'name':'v','mountPath':'/v'}]}]}",
         "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
        {"{'restartPolicy':'Sometimes','containers':[{'name':'c','image':'i'}]}",
         "spec.restartPolicy: Unsupported value"},
        {"{'containers':[{'name':'c','image':'i','ports':[{'containerPort':70000}]}]}",
         "spec.containers[0].ports[0].containerPort"},
        {"{'containers':[{'name':'c','image':'i','resources':{'limits':{'cpu':'1'},'requests':{"
         "'cpu':'2'}}}]}",
         "must be less than or equal to cpu limit"},
        {"{'containers':[{'name':'c','image':'i','resources':{'limits':{'cpu':'one'}}}]}",
         "spec.containers[0].resources.limits.cpu"},
        {"{'terminationGracePeriodSeconds':-1,'containers':[{'name':'c','image':'i'}]}",
         "spec.terminationGracePeriodSeconds"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(post_pod(w, rows[i].spec), 422);
        if (!strstr(world_str(w, "message"), rows[i].field))
            fail_msg("%s: %s", rows[i].spec, world_str(w, "message"));
    }
}

static void a_field_of_the_wrong_type_is_a_bad_request(void **state)
{
    struct world *w = *state;
    assert_int_equal(post_pod(w, "{'containers':[{'name':'c','image':5}]}"), 400);
    assert_non_null(strstr(world_str(w, "message"), "cannot be handled as a Pod"));
    assert_int_equal(post_pod(w, "{'containers':{}}"), 400);
}

static void what_the_node_does_not_support_is_kept(void **state)
{
    struct world *w = *state;
    assert_int_equal(post_pod(w, "{'runtimeClassName':'gvisor','affinity':{'nodeAffinity':{}},"
                                 "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'k',"
                                 "'whenUnsatisfiable':'DoNotSchedule'}],'hostPID':true,"
                                 "'containers':[{'name':'c','image':'i','stdin':true}]}"),
                     201);
    assert_int_equal(w->warnings, 0);
    assert_string_equal(world_str(w, "spec.runtimeClassName"), "gvisor");
    assert_string_equal(world_str(w, "spec.hostPID"), "true");
    assert_int_equal(osb_json_count(osb_json_get_path(w->reply, "spec.topologySpreadConstraints")),
                     1);
}

static void a_running_pod_changes_only_where_it_may(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", PODS, POD_A);
    assert_int_equal(world_call(w, "MERGE", PODS "/a", "{\"spec\":{\"hostNetwork\":true}}"), 422);
    assert_non_null(strstr(world_str(w, "message"), "pod updates may not change fields"));
    world_ok(w, "MERGE", PODS "/a", "{'spec':{'activeDeadlineSeconds':5}}");
}

static void string_data_becomes_data_and_is_not_kept(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SECRETS,
             "{'kind':'Secret','apiVersion':'v1','metadata':{'name':'s'},'data':{'a':'eA=='},"
             "'stringData':{'b':'hello'}}");
    assert_string_equal(world_str(w, "data.a"), "eA==");
    assert_string_equal(world_str(w, "data.b"), "aGVsbG8=");
    assert_string_equal(world_str(w, "stringData"), "");
    assert_string_equal(world_str(w, "type"), "Opaque");
    assert_int_equal(world_call(w, "MERGE", SECRETS "/s", "{\"type\":\"other\"}"), 422);
    assert_int_equal(world_call(w, "MERGE", SECRETS "/s", "{\"data\":{\"c\":\"secret!\"}}"), 422);
    assert_null(strstr(world_str(w, "message"), "secret!")); /* values are not shown */
    assert_int_equal(world_call(w, "MERGE", SECRETS "/s", "{\"data\":{\"a/b\":\"eA==\"}}"), 422);
}

static void an_immutable_secret_stays_as_it_is(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SECRETS,
             "{'kind':'Secret','apiVersion':'v1','metadata':{'name':'s'},'immutable':true,'data':{"
             "'a':'eA=='}}");
    assert_int_equal(world_call(w, "MERGE", SECRETS "/s", "{\"data\":{\"a\":\"eQ==\"}}"), 422);
    assert_int_equal(world_call(w, "MERGE", SECRETS "/s", "{\"immutable\":false}"), 422);
    world_ok(w, "MERGE", SECRETS "/s", "{'metadata':{'labels':{'l':'1'}}}");
}

static void an_event_is_about_its_own_namespace(void **state)
{
    struct world *w = *state;
    assert_int_equal(
        world_call(w, "POST", "/api/v1/namespaces/default/events",
                   "{\"kind\":\"Event\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"e\"},"
                   "\"involvedObject\":{\"namespace\":\"other\",\"name\":\"x\"}}"),
        422);
    world_ok(w, "POST", "/api/v1/namespaces/default/events",
             "{'kind':'Event','apiVersion':'v1','metadata':{'name':'e'},'involvedObject':{"
             "'namespace':'default','name':'x'},'reason':'R','source':{'component':'me'}}");
    world_ok(w, "GET",
             "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dx,reason%3DR,"
             "source%3Dme",
             NULL);
    assert_int_equal(osb_json_count(osb_json_get(w->reply, "items")), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
        T(a_pod_gets_its_defaults_and_its_node),
        T(the_pull_policy_follows_the_tag),
        T(limits_become_requests_and_decide_the_class),
        T(pods_that_cannot_run_are_refused_with_the_field),
        T(a_field_of_the_wrong_type_is_a_bad_request),
        T(what_the_node_does_not_support_is_kept),
        T(a_running_pod_changes_only_where_it_may),
        T(string_data_becomes_data_and_is_not_kept),
        T(an_immutable_secret_stays_as_it_is),
        T(an_event_is_about_its_own_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
