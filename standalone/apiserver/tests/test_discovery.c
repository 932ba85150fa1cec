// SPDX-License-Identifier: Apache-2.0
#include "discovery.h"
#include "fixture.h"
#include "openapi.h"

static struct osb_json *document(struct world *w, const char *path)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_json *tree = NULL;
    bool is_found = discovery_document(&w->registry, osb_slice_str(path), &text) ||
                    openapi_document(&w->registry, osb_slice_str(path), &text);
    if (is_found)
        assert_int_equal(osb_json_parse(osb_buf_slice(&text), &tree, NULL), 0);
    return tree;
}

static void every_document_of_the_index_is_there(void **state)
{
    struct world *w = *state;
    _cleanup_json_ struct osb_json *index = document(w, "/openapi/v3");
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *entry;
    int count = 0;
    while (osb_json_next_member(osb_json_get(index, "paths"), &cursor, &key, &entry)) {
        _cleanup_json_ struct osb_json *one =
            document(w, osb_json_cstr(osb_json_get(entry, "serverRelativeURL")));
        assert_non_null(osb_json_get_path(one, "components.schemas"));
        count++;
    }
    assert_int_equal(count, 3);
}

static void the_second_version_of_openapi_is_there_and_empty(void **state)
{
    _cleanup_json_ struct osb_json *tree = NULL;
    (void)state;
    assert_int_equal(osb_json_parse(openapi_v2_document(false), &tree, NULL), 0);
    assert_string_equal(osb_json_cstr(osb_json_get(tree, "swagger")), "2.0");
    /* Fields and their lengths add up: 1 (text), 2 (a message), 8 (an empty message). */
    struct osb_slice rest = openapi_v2_document(true);
    static const unsigned char tags[] = {1 << 3 | 2, 2 << 3 | 2, 8 << 3 | 2};
    for (size_t i = 0; i < sizeof(tags); i++) {
        assert_int_equal((unsigned char)rest.data[0], tags[i]);
        rest = osb_slice_from(rest, 2 + (size_t)rest.data[1]);
    }
    assert_int_equal(rest.len, 0);
}

/* Walks a schema document: each $ref must lead somewhere. */
static void check_refs(const struct osb_json *value, const struct osb_json *schemas)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *member;
    static const char prefix[] = "#/components/schemas/";
    for (size_t i = 0; osb_json_type(value) == OSB_JSON_ARRAY && i < osb_json_count(value); i++)
        check_refs(osb_json_at(value, i), schemas);
    if (osb_json_type(value) != OSB_JSON_OBJECT)
        return;
    while (osb_json_next_member(value, &cursor, &key, &member)) {
        if (osb_slice_eq_str(key, "$ref")) {
            const char *target = osb_json_cstr(member);
            assert_memory_equal(target, prefix, sizeof(prefix) - 1);
            assert_non_null(osb_json_get(schemas, target + sizeof(prefix) - 1));
        }
        check_refs(member, schemas);
    }
}

static void references_of_the_schemas_lead_somewhere(void **state)
{
    struct world *w = *state;
    static const char *const paths[] = {"/openapi/v3/api/v1",
                                        "/openapi/v3/apis/sandbox.opensandbox.io/v1alpha1",
                                        "/openapi/v3/apis/coordination.k8s.io/v1"};
    for (int i = 0; i < 3; i++) {
        _cleanup_json_ struct osb_json *one = document(w, paths[i]);
        assert_non_null(one);
        check_refs(one, osb_json_get_path(one, "components.schemas"));
    }
}

static void kubectl_finds_the_options_of_a_patch(void **state)
{
    struct world *w = *state;
    _cleanup_json_ struct osb_json *one =
        document(w, "/openapi/v3/apis/sandbox.opensandbox.io/v1alpha1");
    const struct osb_json *path = osb_json_get(
        osb_json_get(one, "paths"),
        "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/{namespace}/batchsandboxes/{name}");
    const struct osb_json *patch = osb_json_get(path, "patch");
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(patch, &text);
    assert_non_null(strstr(osb_buf_cstr(&text), "\"name\":\"fieldValidation\",\"in\":\"query\""));
    assert_non_null(strstr(osb_buf_cstr(&text), "\"kind\":\"BatchSandbox\""));
    assert_null(strstr(osb_buf_cstr(&text), "strategic-merge-patch"));
}

static void resources_say_their_verbs_and_subresources(void **state)
{
    struct world *w = *state;
    _cleanup_json_ struct osb_json *one = document(w, "/apis/sandbox.opensandbox.io/v1alpha1");
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(one, &text);
    assert_non_null(strstr(osb_buf_cstr(&text), "\"name\":\"batchsandboxes/scale\""));
    assert_non_null(strstr(osb_buf_cstr(&text), "\"shortNames\":[\"bsbx\"]"));
    assert_null(document(w, "/apis/apps/v1"));
    assert_null(document(w, "/apis/none"));
    assert_null(document(w, "/other"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
        T(every_document_of_the_index_is_there),
        T(the_second_version_of_openapi_is_there_and_empty),
        T(references_of_the_schemas_lead_somewhere),
        T(kubectl_finds_the_options_of_a_patch),
        T(resources_say_their_verbs_and_subresources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
