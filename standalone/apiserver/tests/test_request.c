// SPDX-License-Identifier: Apache-2.0
#include "authz.h"
#include "fixture.h"
#include "request.h"

/* Parses and describes a request in one line: "verb resource ns/name sub", or the status. */
static const char *parse(struct world *w, const char *method, const char *path, const char *query)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    _cleanup_refusal_ struct refusal refusal = {0};
    struct request q;
    int r = request_parse(&w->registry, osb_slice_str(method), osb_slice_str(path),
                          osb_slice_str(query), &arena, &q, &refusal);
    osb_buf_clear(&w->text);
    if (r < 0)
        osb_buf_appendf(&w->text, "%d", refusal.status.code);
    else
        osb_buf_appendf(&w->text, "%s %s %s/%s %s", verb_name(q.verb), q.resource->storage_name,
                        q.namespace_ ? q.namespace_ : "-", q.name ? q.name : "-", q.sub_name);
    request_done(&q);
    return osb_buf_cstr(&w->text);
}

static void paths_and_methods_become_verbs(void **state)
{
    struct world *w = *state;
    static const char *const rows[][4] = {
        {"GET", "/api/v1/pods", "", "list pods -/- "},
        {"GET", "/api/v1/namespaces/n/pods", "", "list pods n/- "},
        {"GET", "/api/v1/namespaces/n/pods/p", "", "get pods n/p "},
        {"GET", "/api/v1/namespaces/n/pods", "watch=true", "watch pods n/- "},
        {"GET", "/api/v1/namespaces/n/pods/p/log", "follow=true", "get pods n/p log"},
        {"POST", "/api/v1/namespaces/n/pods/p/exec", "", "create pods n/p exec"},
        {"POST", "/api/v1/namespaces/n/pods", "", "create pods n/- "},
        {"PUT", "/api/v1/namespaces/n/pods/p/status", "", "update pods n/p status"},
        {"DELETE", "/api/v1/namespaces/n/pods", "", "deletecollection pods n/- "},
        {"GET", "/api/v1/namespaces", "", "list namespaces -/- "},
        {"GET", "/api/v1/namespaces/n", "", "get namespaces -/n "},
        {"PATCH", "/api/v1/namespaces/n/status", "", "patch namespaces -/n status"},
        {"GET", "/api/v1/namespaces/n/pods/a%2Db/", "", "get pods n/a-b "},
        {"PATCH", "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/n/batchsandboxes/b/scale", "",
         "patch batchsandboxes.sandbox.opensandbox.io n/b scale"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_string_equal(parse(w, rows[i][0], rows[i][1], rows[i][2]), rows[i][3]);
}

static void what_is_not_served_is_not_found(void **state)
{
    struct world *w = *state;
    static const char *const paths[] = {"/api/v1/none",
                                        "/api/v2/pods",
                                        "/apis/apps/v1/deployments",
                                        "/api/v1/namespaces/n/pods/p/none",
                                        "/api/v1/namespaces/n/pods/p/scale",
                                        "/api/v1/namespaces/n/nodes",
                                        "/api/v1/pods/p",
                                        "/api/v1/namespaces//pods",
                                        "/api/v1/namespaces/n/pods/a%2Fb",
                                        "/api/v1/namespaces/n/pods/a%00b",
                                        "/api/v1/namespaces/n/pods/%zz",
                                        "/api/v1/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q",
                                        "nothing",
                                        ""};
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        assert_string_equal(parse(w, "GET", paths[i], ""), "404");
}

static void a_method_that_does_not_fit_is_not_allowed(void **state)
{
    struct world *w = *state;
    assert_string_equal(parse(w, "POST", "/api/v1/pods", ""), "405");
    assert_string_equal(parse(w, "POST", "/api/v1/namespaces/n/pods/p", ""), "405");
    assert_string_equal(parse(w, "PUT", "/api/v1/namespaces/n/pods", ""), "405");
    assert_string_equal(parse(w, "DELETE", "/api/v1/namespaces/n/pods/p/status", ""), "405");
    assert_string_equal(parse(w, "POST", "/api/v1/nodes", ""), "405");
    assert_string_equal(parse(w, "DELETE", "/api/v1/nodes/n", ""), "405");
    assert_string_equal(parse(w, "BREW", "/api/v1/pods", ""), "405");
}

static void bad_options_are_bad_requests(void **state)
{
    struct world *w = *state;
    static const char *const queries[] = {"limit=x",
                                          "watch=maybe",
                                          "resourceVersion=-1",
                                          "resourceVersionMatch=Newer",
                                          "dryRun=Some",
                                          "fieldValidation=Lax",
                                          "propagationPolicy=Sideways",
                                          "gracePeriodSeconds=soon",
                                          "labelSelector=%ff%fe",
                                          "limit=%zz"};
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++)
        assert_string_equal(parse(w, "GET", "/api/v1/pods", queries[i]), "400");
    assert_string_equal(parse(w, "GET", "/api/v1/pods", "unknown=1&&limit=5&limit=x"),
                        "list pods -/- ");
}

static bool may(struct world *w, const char *user, const char *group, const char *method,
                const char *path)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    _cleanup_refusal_ struct refusal refusal = {0};
    struct request q;
    const struct identity who = {user, group};
    assert_true(request_parse(&w->registry, osb_slice_str(method), osb_slice_str(path),
                              OSB_SLICE_NULL, &arena, &q, &refusal) >= 0);
    bool is_allowed = authz_allows(&who, &q);
    request_done(&q);
    return is_allowed;
}

static void every_part_may_do_what_it_needs_and_no_more(void **state)
{
    struct world *w = *state;
    assert_true(may(w, "a", "system:masters", "DELETE", SECRETS "/s"));
    assert_false(may(w, NULL, NULL, "GET", PODS));
    assert_false(may(w, "somebody", "else", "GET", PODS));
    assert_true(may(w, "o", "opensandbox:operator", "POST", SECRETS));
    assert_true(may(w, "o", "opensandbox:operator", "PATCH", SANDBOXES "/b/status"));
    assert_false(may(w, "o", "opensandbox:operator", "DELETE", "/api/v1/namespaces/n"));
    assert_true(may(w, "n", "system:nodes", "PATCH", PODS "/p/status"));
    assert_true(may(w, "n", "system:nodes", "DELETE", PODS "/p"));
    assert_true(may(w, "n", "system:nodes", "GET", SECRETS "/s"));
    assert_false(may(w, "n", "system:nodes", "PATCH", PODS "/p"));
    assert_false(may(w, "n", "system:nodes", "DELETE", SECRETS "/s"));
    assert_false(may(w, "n", "system:nodes", "GET", SANDBOXES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
        T(paths_and_methods_become_verbs),
        T(what_is_not_served_is_not_found),
        T(a_method_that_does_not_fit_is_not_allowed),
        T(bad_options_are_bad_requests),
        T(every_part_may_do_what_it_needs_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
