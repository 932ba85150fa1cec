// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

static void the_server_sets_identity_and_ignores_what_clients_say_of_it(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES,
             "{'kind':'BatchSandbox','apiVersion':'sandbox.opensandbox.io/v1alpha1',"
             "'metadata':{'name':'a','uid':'mine','generation':7,'creationTimestamp':null,"
             "'managedFields':[{}]},'spec':{},'status':{'ready':3}}");
    assert_string_not_equal(world_str(w, "metadata.uid"), "mine");
    assert_int_equal(strlen(world_str(w, "metadata.uid")), 36);
    assert_int_equal(world_int(w, "metadata.generation"), 1);
    assert_string_equal(world_str(w, "metadata.namespace"), "default");
    assert_string_equal(world_str(w, "metadata.creationTimestamp"), "2027-01-15T08:00:00Z");
    assert_string_equal(world_str(w, "metadata.managedFields"), "");
    assert_string_equal(world_str(w, "status"), ""); /* status is not written here */
    assert_int_equal(world_int(w, "spec.replicas"), 1);
}

static void a_second_object_of_a_name_is_refused(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", SANDBOXES, SANDBOX("a", 1));
    assert_int_equal(
        world_call(w, "POST", SANDBOXES,
                   "{\"kind\":\"BatchSandbox\",\"apiVersion\":\"sandbox.opensandbox.io/v1alpha1\","
                   "\"metadata\":{\"name\":\"a\"},\"spec\":{}}"),
        409);
    assert_string_equal(world_str(w, "reason"), "AlreadyExists");
    assert_string_equal(world_str(w, "details.name"), "a");
}

static void generate_name_makes_names_that_differ(void **state)
{
    struct world *w = *state;
    static const char body[] = "{'kind':'Secret','apiVersion':'v1','metadata':{'generateName':"
                               "'key-'}}";
    world_ok(w, "POST", SECRETS, body);
    char first[64];
    snprintf(first, sizeof(first), "%s", world_str(w, "metadata.name"));
    assert_int_equal(strlen(first), 9);
    assert_memory_equal(first, "key-", 4);
    world_ok(w, "POST", SECRETS, body);
    assert_string_not_equal(world_str(w, "metadata.name"), first);
}

static void an_object_without_a_name_is_invalid(void **state)
{
    struct world *w = *state;
    assert_int_equal(world_call(w, "POST", SECRETS, "{\"kind\":\"Secret\",\"apiVersion\":\"v1\"}"),
                     422);
    assert_non_null(strstr(world_str(w, "message"), "metadata.name: Required value"));
}

static void an_unknown_namespace_is_not_found(void **state)
{
    struct world *w = *state;
    assert_int_equal(world_call(w, "POST", "/api/v1/namespaces/none/secrets",
                                "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{"
                                "\"name\":\"s\"}}"),
                     404);
    assert_string_equal(world_str(w, "message"), "namespaces \"none\" not found");
}

static void kind_and_namespace_must_be_those_of_the_path(void **state)
{
    struct world *w = *state;
    assert_int_equal(world_call(w, "POST", SECRETS,
                                "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
                                "\"name\":\"s\"}}"),
                     400);
    assert_int_equal(world_call(w, "POST", SECRETS,
                                "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{"
                                "\"name\":\"s\",\"namespace\":\"other\"}}"),
                     400);
    assert_int_equal(world_call(w, "POST", SECRETS, "[]"), 400);
    assert_int_equal(world_call(w, "POST", SECRETS,
                                "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{"
                                "\"name\":\"s\",\"resourceVersion\":\"4\"}}"),
                     400);
}

#define UNKNOWN_FIELDS                                                                             \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"u\",\"colour\":1},"          \
    "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:1\",\"imgae\":\"i\"}]}}"

static void unknown_fields_are_refused_warned_of_or_dropped_as_asked(void **state)
{
    struct world *w = *state;
    assert_int_equal(world_call(w, "POST", PODS "?fieldValidation=Strict", UNKNOWN_FIELDS), 400);
    assert_non_null(strstr(world_str(w, "message"), "unknown field \"spec.containers[0].imgae\""));
    assert_non_null(strstr(world_str(w, "message"), "unknown field \"metadata.colour\""));
    assert_int_equal(world_call(w, "POST", PODS "?dryRun=All", UNKNOWN_FIELDS), 201);
    assert_int_equal(w->warnings, 2);
    assert_int_equal(world_call(w, "POST", PODS "?fieldValidation=Ignore", UNKNOWN_FIELDS), 201);
    assert_int_equal(w->warnings, 0);
    assert_null(strstr(world_str(w, "spec"), "imgae"));
    assert_string_equal(world_str(w, "metadata.colour"), "");
}

static void a_dry_run_answers_and_keeps_nothing(void **state)
{
    struct world *w = *state;
    uint64_t revision = w->cache.revision;
    world_ok(w, "POST", SANDBOXES "?dryRun=All", SANDBOX("a", 2));
    assert_int_equal(world_int(w, "spec.replicas"), 2);
    assert_int_equal(w->cache.revision, revision);
    assert_int_equal(world_call(w, "GET", SANDBOXES "/a", NULL), 404);
}

static void violations_of_the_schema_come_all_at_once(void **state)
{
    struct world *w = *state;
    assert_int_equal(
        world_call(w, "POST", SANDBOXES,
                   "{\"kind\":\"BatchSandbox\",\"apiVersion\":\"sandbox.opensandbox.io/v1alpha1\","
                   "\"metadata\":{\"name\":\"A\"},\"spec\":{\"replicas\":-1,\"pause\":\"yes\"}}"),
        422);
    assert_string_equal(world_str(w, "reason"), "Invalid");
    const char *message = world_str(w, "message");
    assert_non_null(strstr(message, "metadata.name"));
    assert_non_null(strstr(message, "spec.replicas"));
    assert_non_null(strstr(message, "spec.pause"));
}

static void nulls_in_core_objects_are_absent(void **state)
{
    struct world *w = *state;
    world_ok(w, "POST", PODS,
             "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'n','creationTimestamp':null},"
             "'spec':{'nodeSelector':null,'containers':[{'name':'c','image':'i','env':null}]},"
             "'status':{}}");
    assert_null(strstr(world_str(w, "spec"), "null"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
        T(the_server_sets_identity_and_ignores_what_clients_say_of_it),
        T(a_second_object_of_a_name_is_refused),
        T(generate_name_makes_names_that_differ),
        T(an_object_without_a_name_is_invalid),
        T(an_unknown_namespace_is_not_found),
        T(kind_and_namespace_must_be_those_of_the_path),
        T(unknown_fields_are_refused_warned_of_or_dropped_as_asked),
        T(a_dry_run_answers_and_keeps_nothing),
        T(violations_of_the_schema_come_all_at_once),
        T(nulls_in_core_objects_are_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
