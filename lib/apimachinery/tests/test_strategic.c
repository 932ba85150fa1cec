// SPDX-License-Identifier: Apache-2.0
#include <osb/api_strategic.h>
#include <osb/yaml.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_json.h"

/* Tests are in YAML's flow style, which needs fewer quotes. */
static struct osb_json *flow(const char *text)
{
    struct osb_json *value = NULL;
    struct osb_err err = {0};
    if (osb_yaml_parse(osb_slice_str(text), &value, &err) < 0)
        fail_msg("bad YAML in the test: %s: %s", err.message, text);
    return value;
}

struct merge_case {
    const char *kind;
    const char *target;
    const char *patch;
    const char *result;
};

static void check(const struct merge_case *c)
{
    struct osb_err err = {0};
    struct osb_buf got = {0};
    struct osb_json *target = flow(c->target);
    _cleanup_json_ struct osb_json *patch = flow(c->patch);
    _cleanup_json_ struct osb_json *expected = flow(c->result);
    if (osb_strategic_merge(&target, patch, c->kind, &err) < 0)
        fail_msg("%s: %s", c->patch, err.message);
    osb_json_print(target, &got);
    if (!osb_json_equal(target, expected))
        fail_msg("%s\nonto %s\ngave %s", c->patch, c->target, osb_buf_cstr(&got));
    osb_buf_done(&got);
    osb_json_free(target);
}

static void test_maps_merge_and_null_deletes(void **state)
{
    static const struct merge_case CASES[] = {
        {"Pod", "{metadata: {labels: {a: x, b: y}}}", "{metadata: {labels: {a: null, c: z}}}",
         "{metadata: {labels: {b: y, c: z}}}"},
        {"Pod", "{spec: {a: 1}}", "{spec: {a: {b: 2}}}", "{spec: {a: {b: 2}}}"},
        {"Pod", "{}", "{spec: {nodeSelector: {a: null, b: c}}}", "{spec: {nodeSelector: {b: c}}}"},
        {"Unknown", "{l: [{name: a}], m: {x: 1}}", "{l: [{name: b}], m: {y: 2}}",
         "{l: [{name: b}], m: {x: 1, y: 2}}"},
        {NULL, "{l: [1]}", "{l: []}", "{l: []}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check(&CASES[i]);
}

static void test_lists_merge_by_their_key(void **state)
{
    static const struct merge_case CASES[] = {
        {"Pod", "{spec: {containers: [{name: a, image: i, env: [{name: X, value: '1'}]}]}}",
         "{spec: {containers: [{name: a, env: [{name: Y, value: '2'}, {name: X, value: '3'}]}]}}",
         "{spec: {containers: [{name: a, image: i, env: [{name: Y, value: '2'}, {name: X, value: "
         "'3'}]}]}}"},
        {"Pod", "{spec: {containers: [{name: a, args: [x, y]}]}}",
         "{spec: {containers: [{name: a, args: [z]}]}}",
         "{spec: {containers: [{name: a, args: [z]}]}}"},
        {"PodTemplateSpec",
         "{spec: {containers: [{name: a, ports: [{containerPort: 80, name: x}]}]}}",
         "{spec: {containers: [{name: a, ports: [{containerPort: 80, protocol: UDP}]}]}}",
         "{spec: {containers: [{name: a, ports: [{containerPort: 80, name: x, protocol: UDP}]}]}}"},
        {"PodSpec", "{volumes: [{name: v, emptyDir: {}}], tolerations: [{key: a}]}",
         "{volumes: [{name: w, secret: {secretName: s}}], tolerations: [{key: b}]}",
         "{volumes: [{name: w, secret: {secretName: s}}, {name: v, emptyDir: {}}], tolerations: "
         "[{key: b}]}"},
        {"Pod", "{spec: {containers: [{name: a, volumeMounts: [{mountPath: /m, name: v}]}]}}",
         "{spec: {containers: [{name: a, volumeMounts: [{mountPath: /m, readOnly: true}]}]}}",
         "{spec: {containers: [{name: a, volumeMounts: [{mountPath: /m, name: v, readOnly: "
         "true}]}]}}"},
        {"Pod", "{metadata: {ownerReferences: [{uid: u1, name: a}]}}",
         "{metadata: {ownerReferences: [{uid: u1, controller: true}]}}",
         "{metadata: {ownerReferences: [{uid: u1, name: a, controller: true}]}}"},
        {"Pod", "{status: {conditions: [{type: Ready, status: 'False'}]}}",
         "{status: {conditions: [{type: Ready, status: 'True'}, {type: X}]}}",
         "{status: {conditions: [{type: Ready, status: 'True'}, {type: X}]}}"},
        {"Node", "{status: {addresses: [{type: InternalIP, address: '1'}]}}",
         "{status: {addresses: [{type: Hostname, address: h}]}}",
         "{status: {addresses: [{type: Hostname, address: h}, {type: InternalIP, address: '1'}]}}"},
        {"TaskTemplateSpec", "{spec: {process: {command: [a], env: [{name: X, value: '1'}]}}}",
         "{spec: {process: {command: [b], env: [{name: Y, value: '2'}]}}}",
         "{spec: {process: {command: [b], env: [{name: Y, value: '2'}, {name: X, value: '1'}]}}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check(&CASES[i]);
}

static void test_an_absent_list_is_taken_as_it_is(void **state)
{
    static const struct merge_case c = {
        "Container", "{}",
        "{ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}], env: "
        "[{name: X, $patch: delete}]}",
        "{ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}], env: "
        "[]}"};
    (void)state;
    check(&c);
}

static void test_sets_of_scalars_grow_and_shrink(void **state)
{
    static const struct merge_case CASES[] = {
        {"Pod", "{metadata: {finalizers: [a, b]}}", "{metadata: {finalizers: [b, c]}}",
         "{metadata: {finalizers: [a, b, c]}}"},
        {"Pod", "{metadata: {finalizers: [a, b, c]}}",
         "{metadata: {$deleteFromPrimitiveList/finalizers: [b, x]}}",
         "{metadata: {finalizers: [a, c]}}"},
        {"Pod", "{metadata: {}}", "{metadata: {$deleteFromPrimitiveList/finalizers: [b]}}",
         "{metadata: {}}"},
        {"Secret", "{metadata: {finalizers: [a, b]}}", "{metadata: {finalizers: null}}",
         "{metadata: {}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check(&CASES[i]);
}

static void test_directives_replace_and_delete(void **state)
{
    static const struct merge_case CASES[] = {
        {"Pod", "{spec: {securityContext: {a: 1}, x: 2}}",
         "{spec: {securityContext: {$patch: replace, b: 3}}}",
         "{spec: {securityContext: {b: 3}, x: 2}}"},
        {"Pod", "{spec: {securityContext: {a: 1}}}", "{spec: {securityContext: {$patch: delete}}}",
         "{spec: {securityContext: {}}}"},
        {"Pod", "{spec: {}}", "{spec: {securityContext: {$patch: delete}}}", "{spec: {}}"},
        {"Pod", "{spec: {s: {a: 1}}}", "{spec: {s: {$patch: merge, b: 2}}}",
         "{spec: {s: {a: 1, b: 2}}}"},
        {"Pod", "{spec: {containers: [{name: a}, {name: b}]}}",
         "{spec: {containers: [{name: a, $patch: delete}]}}", "{spec: {containers: [{name: b}]}}"},
        {"Pod", "{spec: {containers: [{name: a}, {name: b}]}}",
         "{spec: {containers: [{name: c}, {$patch: replace}]}}",
         "{spec: {containers: [{name: c}]}}"},
        {"Pod", "{spec: {volumes: [{name: v, emptyDir: {}, x: 1}]}}",
         "{spec: {volumes: [{name: v, $retainKeys: [name, hostPath], hostPath: {path: /p}}]}}",
         "{spec: {volumes: [{name: v, hostPath: {path: /p}}]}}"},
        {"Pod", "{a: 1}", "{$patch: replace, b: 2}", "{b: 2}"},
        {"Pod", "{a: 1}", "{b: {$retainKeys: [c], c: {d: null, e: 1}}}", "{a: 1, b: {c: {e: 1}}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check(&CASES[i]);
}

static void test_the_order_follows_patch_directive_and_live_list(void **state)
{
    static const struct merge_case CASES[] = {
        /* New items come in front of the others, known ones keep their places among them. */
        {"Pod", "{spec: {containers: [{name: a}, {name: b}]}}", "{spec: {containers: [{name: c}]}}",
         "{spec: {containers: [{name: c}, {name: a}, {name: b}]}}"},
        {"Pod", "{spec: {containers: [{name: a}, {name: b}, {name: c}]}}",
         "{spec: {containers: [{name: b, x: 1}]}}",
         "{spec: {containers: [{name: a}, {name: b, x: 1}, {name: c}]}}"},
        {"Pod", "{spec: {containers: [{name: a}, {name: b}, {name: c}]}}",
         "{spec: {$setElementOrder/containers: [{name: c}, {name: a}]}}",
         "{spec: {containers: [{name: b}, {name: c}, {name: a}]}}"},
        {"Pod", "{spec: {containers: [{name: a}, {name: b}]}}",
         "{spec: {$setElementOrder/containers: [{name: a}, {name: n}, {name: b}], containers: "
         "[{name: n}]}}",
         "{spec: {containers: [{name: a}, {name: n}, {name: b}]}}"},
        {"Pod", "{metadata: {finalizers: [a, b]}}",
         "{metadata: {$setElementOrder/finalizers: [c, b, a], finalizers: [c]}}",
         "{metadata: {finalizers: [c, b, a]}}"},
        {"Pod", "{spec: {}}",
         "{spec: {$setElementOrder/containers: [{name: x}], containers: [{name: x}]}}",
         "{spec: {containers: [{name: x}]}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check(&CASES[i]);
}

static void test_a_bad_patch_changes_nothing(void **state)
{
    static const char *const BAD[] = {
        "{a: 2, spec: {containers: [{image: x}]}}",
        "{a: 2, spec: {containers: [x]}}",
        "{a: 2, spec: {containers: [{name: c, $patch: merge}]}}",
        "{a: 2, spec: {containers: [{$patch: delete}]}}",
        "{a: 2, spec: {$patch: remove}}",
        "{a: 2, spec: {$patch: 1}}",
        "{a: 2, spec: {$retainKeys: x}}",
        "{a: 2, spec: {$retainKeys: [a], b: 1}}",
        "{a: 2, metadata: {finalizers: [{x: 1}]}}",
        "{a: 2, metadata: {$deleteFromPrimitiveList/finalizers: x}}",
        "{a: 2, spec: {$setElementOrder/containers: [{name: b}, {name: a}], containers: [{name: "
        "a}, "
        "{name: b}]}}",
        "{a: 2, spec: {$setElementOrder/containers: x, containers: [{name: a}]}}",
        "[1]",
        "x",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct osb_json *target =
            flow("{a: 1, spec: {containers: [{name: c}]}, metadata: {finalizers: [f]}}");
        _cleanup_json_ struct osb_json *before = osb_json_copy(target);
        _cleanup_json_ struct osb_json *patch = flow(BAD[i]);
        if (osb_strategic_merge(&target, patch, "Pod", NULL) != -OSB_E_INVALID)
            fail_msg("accepted: %s", BAD[i]);
        assert_true(osb_json_equal(before, target));
        osb_json_free(target);
    }
}

static void test_the_error_names_the_place(void **state)
{
    struct osb_err err = {0};
    (void)state;
    struct osb_json *target = flow("{spec: {containers: [{name: c}]}}");
    _cleanup_json_ struct osb_json *patch = flow("{spec: {containers: [{image: x}]}}");
    osb_strategic_merge(&target, patch, "Pod", &err);
    assert_string_equal(err.message,
                        "spec: containers: an item does not contain the declared merge key: name");
    osb_json_free(target);
}

static void test_the_size_of_a_merging_list_is_bounded(void **state)
{
    (void)state;
    struct osb_json *target = flow("{metadata: {finalizers: [x]}}");
    _cleanup_json_ struct osb_json *patch = flow("{metadata: {finalizers: []}}");
    struct osb_json *list = osb_json_get_path(patch, "metadata.finalizers");
    for (int i = 0; i <= OSB_STRATEGIC_MAX_ITEMS; i++)
        osb_json_append(list, osb_json_new_i64(i));
    assert_int_equal(osb_strategic_merge(&target, patch, "Pod", NULL), -OSB_E_TOO_LARGE);
    osb_json_remove_at(list, 0);
    osb_json_remove_at(list, 0);
    assert_int_equal(osb_strategic_merge(&target, patch, "Pod", NULL), 0);
    assert_int_equal(osb_json_count(osb_json_get_path(target, "metadata.finalizers")),
                     OSB_STRATEGIC_MAX_ITEMS);
    osb_json_free(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps_merge_and_null_deletes),
        cmocka_unit_test(test_lists_merge_by_their_key),
        cmocka_unit_test(test_an_absent_list_is_taken_as_it_is),
        cmocka_unit_test(test_sets_of_scalars_grow_and_shrink),
        cmocka_unit_test(test_directives_replace_and_delete),
        cmocka_unit_test(test_the_order_follows_patch_directive_and_live_list),
        cmocka_unit_test(test_a_bad_patch_changes_nothing),
        cmocka_unit_test(test_the_error_names_the_place),
        cmocka_unit_test(test_the_size_of_a_merging_list_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
