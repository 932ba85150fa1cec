// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "rest_create_object.h"
#include "rest_resources.h"

#define GOOD                                                                                       \
    "\"image\":{\"uri\":\"base:1\"},\"entrypoint\":[\"sleep\",\"9\"],"                             \
    "\"resourceLimits\":{\"cpu\":\"1\",\"memory\":\"2Gi\"}"

static struct rest_error refuse(const char *text)
{
    struct config config = {.server.max_sandbox_timeout_s = 3600};
    struct create_spec spec;
    struct rest_error error = {0};
    _cleanup_json_ struct osb_json *body = NULL;
    assert_int_equal(osb_json_parse(osb_slice_str(text), &body, NULL), 0);
    create_spec_read(body, &config, &spec, &error);
    return error;
}

static void assert_refused(const char *text, int status, const char *code)
{
    struct rest_error error = refuse(text);
    if (error.status != status || strcmp(error.code, code) != 0)
        fail_msg("%s: %d %s %s", text, error.status, error.code ? error.code : "", error.message);
    assert_true(error.message[0] != '\0');
}

static void the_body_of_the_published_clients_is_accepted(void **state)
{
    (void)state;
    struct rest_error error =
        refuse("{" GOOD ",\"timeout\":600,\"secureAccess\":false,\"env\":{\"A\":\"b\",\"N\":null},"
               "\"metadata\":{\"team\":\"x\",\"a.b/c\":\"\"},\"extensions\":{},\"platform\":null,"
               "\"snapshotId\":null,\"volumes\":[],\"unknown\":{\"field\":1}}");
    if (error.status)
        fail_msg("%s", error.message);
    assert_int_equal(refuse("{" GOOD ",\"timeout\":null}").status, 0);
}

static void what_has_the_wrong_shape_is_a_400_that_names_the_place(void **state)
{
    static const char *const bodies[][2] = {
        {"{}", "body.image"},
        {"{\"image\":\"base\"}", "body.image"},
        {"{\"image\":{},\"entrypoint\":[\"a\"],\"resourceLimits\":{}}", "body.image.uri"},
        {"{\"image\":{\"uri\":\"a\"},\"resourceLimits\":{}}", "body.entrypoint"},
        {"{\"image\":{\"uri\":\"a\"},\"entrypoint\":[\"a\"]}", "body.resourceLimits"},
        {"{\"image\":{\"uri\":\"a\"},\"entrypoint\":[],\"resourceLimits\":{}}", "body.entrypoint"},
        {"{\"image\":{\"uri\":\"a\"},\"entrypoint\":[\"\"],\"resourceLimits\":{}}",
         "body.entrypoint"},
        {"{\"image\":{\"uri\":\"a\"},\"entrypoint\":[1],\"resourceLimits\":{}}", "body.entrypoint"},
        {"{\"image\":{\"uri\":\"a\"},\"entrypoint\":[\"a\"],\"resourceLimits\":{\"cpu\":1}}",
         "body.resourceLimits"},
        {"{" GOOD ",\"timeout\":59}", "body.timeout"},
        {"{" GOOD ",\"timeout\":\"60\"}", "body.timeout"},
        {"{" GOOD ",\"timeout\":1.5}", "body.timeout"},
        {"{" GOOD ",\"env\":{\"A\":1}}", "body.env"},
        {"{" GOOD ",\"env\":{\"A=B\":\"1\"}}", "body.env"},
        {"{" GOOD ",\"env\":{\"\":\"1\"}}", "body.env"},
        {"{" GOOD ",\"env\":{\"OPENSANDBOX_LIFECYCLE\":\"1\"}}", "body.env"},
        {"{" GOOD ",\"env\":{\"A\":\"a\\u0000b\"}}", "body"},
        {"{" GOOD ",\"metadata\":{\"a\":null}}", "body.metadata"},
        {"{" GOOD ",\"secureAccess\":\"yes\"}", "body.secureAccess"},
        {"{" GOOD ",\"platform\":{\"os\":\"linux\"}}", "body.platform.arch"},
        {"{" GOOD ",\"credentialProxy\":{\"enabled\":true}}", "body.credentialProxy"},
        {"{" GOOD ",\"snapshotId\":\"s\"}", "body.image"},
        {"{\"image\":{\"uri\":\"a\",\"auth\":{\"username\":\"u\"}}}", "body.image.auth.password"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct rest_error error = refuse(bodies[i][0]);
        if (error.status != 400 || strcmp(error.code, "SANDBOX::INVALID_PARAMETER") != 0 ||
            error.problems.count == 0 || strcmp(error.problems.items[0].place, bodies[i][1]) != 0)
            fail_msg("%s: %d %s", bodies[i][0], error.status, error.message);
    }
}

static void what_has_the_right_shape_and_a_wrong_value_has_its_own_code(void **state)
{
    (void)state;
    assert_refused("{" GOOD ",\"metadata\":{\"opensandbox.io/id\":\"x\"}}", 400,
                   "SANDBOX::INVALID_METADATA_LABEL");
    assert_refused("{" GOOD ",\"metadata\":{\"name\":\"two words\"}}", 400,
                   "SANDBOX::INVALID_METADATA_LABEL");
    assert_refused("{" GOOD ",\"timeout\":3601}", 400, "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"timeout\":9223372036854775807}", 400, "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"platform\":{\"os\":\"plan9\",\"arch\":\"amd64\"}}", 400,
                   "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"extensions\":{\"access.renew.extend.seconds\":\"299\"}}", 400,
                   "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"extensions\":{\"opensandbox.extensions.a/b\":\"1\"}}", 400,
                   "SANDBOX::INVALID_PARAMETER");
    assert_refused("{\"image\":{\"uri\":\"a\"},\"entrypoint\":[\"a\"],"
                   "\"resourceLimits\":{\"cpu\":\"much\"}}",
                   400, "SANDBOX::INVALID_PARAMETER");
    assert_refused("{\"image\":{\"uri\":\"a\"},\"entrypoint\":[\"a\"],"
                   "\"resourceLimits\":{\"gpu\":\"all\"}}",
                   400, "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"resourceRequests\":{\"cpu\":\"2\"}}", 400,
                   "SANDBOX::INVALID_PARAMETER");
}

static void what_is_not_built_says_so(void **state)
{
    (void)state;
    assert_refused("{\"snapshotId\":\"s\",\"resourceLimits\":{}}", 501,
                   "SNAPSHOT::NOT_IMPLEMENTED");
    assert_refused("{\"extensions\":{\"poolRef\":\"p\"}}", 501, "KUBERNETES::POOL_NOT_SUPPORTED");
    assert_refused("{\"templateId\":\"t\"}", 501, "FSB::API_NOT_SUPPORTED");
    assert_refused("{" GOOD ",\"networkPolicy\":{}}", 400, "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"secureAccess\":true}", 400, "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"lifecycle\":{}}", 400, "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"extensions\":{\"bootstrap.execd.isolation\":\"enable\"}}", 400,
                   "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"platform\":{\"os\":\"windows\",\"arch\":\"amd64\"}}", 400,
                   "SANDBOX::INVALID_PARAMETER");
    assert_refused("{\"image\":{\"uri\":\"a\",\"auth\":{\"username\":\"u\",\"password\":\"p\"}},"
                   "\"entrypoint\":[\"a\"],\"resourceLimits\":{}}",
                   400, "SANDBOX::INVALID_PARAMETER");
    assert_refused("{" GOOD ",\"volumes\":[{\"name\":\"v\",\"host\":{\"path\":\"/\"}}]}", 400,
                   "VOLUME::HOST_PATH_NOT_ALLOWED");
    assert_refused("{" GOOD ",\"volumes\":[{\"name\":\"v\",\"pvc\":{}}]}", 400,
                   "VOLUME::UNSUPPORTED_BACKEND");
}

static void an_error_never_repeats_what_was_sent(void **state)
{
    static const char *const bodies[] = {
        "{" GOOD ",\"metadata\":{\"hunter2\":\"hunter2 hunter2\"}}",
        "{" GOOD ",\"env\":{\"hunter2=\":\"hunter2\"}}",
        "{" GOOD ",\"resourceRequests\":{\"cpu\":\"hunter2\"}}",
        "{" GOOD ",\"timeout\":\"hunter2\"}",
        "{\"image\":{\"uri\":\"hunter2\",\"auth\":{\"username\":\"hunter2\"}}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct rest_error error = refuse(bodies[i]);
        _cleanup_buf_ struct osb_buf text = {0};
        assert_int_equal(error.status, 400);
        rest_error_print(&text, error.code, error.message, &error.problems);
        assert_null(strstr(osb_buf_cstr(&text), "hunter2"));
    }
}

/* ---- the object ---- */

static struct osb_json *build(const char *text, const struct config *config)
{
    struct create_spec spec;
    struct rest_error error = {0};
    _cleanup_json_ struct osb_json *body = NULL;
    struct create_identity identity = {.id = "0a0b", .namespace_ = "default", .request_id = "r1"};
    assert_int_equal(osb_json_parse(osb_slice_str(text), &body, NULL), 0);
    if (create_spec_read(body, config, &spec, &error) < 0)
        fail_msg("%s", error.message);
    return create_object(&spec, &identity, config, 1764560640000000000LL);
}

static const char *text_at(const struct osb_json *object, const char *path, const char *key)
{
    return osb_json_cstr(osb_json_get(osb_json_get_path(object, path), key));
}

static void the_object_carries_what_was_asked(void **state)
{
    struct config config = {.kubernetes.request_fraction = 0.1};
    (void)state;
    _cleanup_json_ struct osb_json *object =
        build("{" GOOD ",\"timeout\":90,\"metadata\":{\"team\":\"x\"},"
              "\"extensions\":{\"opensandbox.extensions.c\":\"b\",\"other\":\"1\"},"
              "\"env\":{\"A\":\"b\",\"OPENSANDBOX_ID\":\"mine\",\"OPENSANDBOX_EGRESS_X\":\"1\"}}",
              &config);
    assert_string_equal(text_at(object, "metadata", "name"), "0a0b");
    assert_string_equal(text_at(object, "metadata.labels", "opensandbox.io/id"), "0a0b");
    assert_string_equal(text_at(object, "metadata.labels", "team"), "x");
    assert_null(text_at(object, "metadata.labels", "opensandbox.io/manual-cleanup"));
    assert_string_equal(text_at(object, "metadata.annotations", "opensandbox.io/extensions.c"),
                        "b");
    assert_string_equal(text_at(object, "metadata.annotations", "opensandbox.io/entrypoint"),
                        "[\"sleep\",\"9\"]");
    assert_string_equal(text_at(object, "spec", "expireTime"), "2025-12-01T03:45:30.000000Z");
    assert_string_equal(text_at(object, "spec.template.spec", "restartPolicy"), "Never");
    assert_string_equal(
        text_at(object, "spec.template.metadata.annotations", "opensandbox.io/inject"), "execd");
    const struct osb_json *container =
        osb_json_at(osb_json_get_path(object, "spec.template.spec.containers"), 0);
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(container, &text);
    assert_string_equal(
        osb_buf_cstr(&text),
        "{\"name\":\"sandbox\",\"image\":\"base:1\",\"command\":[\"/opt/opensandbox/bootstrap.sh\","
        "\"sleep\",\"9\"],\"env\":[{\"name\":\"A\",\"value\":\"b\"},{\"name\":\"OPENSANDBOX_ID\","
        "\"value\":\"0a0b\"},{\"name\":\"EXECD\",\"value\":\"/opt/opensandbox/execd\"}],"
        "\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"2Gi\"},\"requests\":{\"cpu\":\"100m"
        "\",\"memory\":\"214748365\"}}}");
}

static void a_sandbox_without_timeout_never_expires(void **state)
{
    struct config config = {0};
    (void)state;
    _cleanup_json_ struct osb_json *object = build("{" GOOD ",\"timeout\":null}", &config);
    assert_null(osb_json_get_path(object, "spec.expireTime"));
    assert_string_equal(text_at(object, "metadata.labels", "opensandbox.io/manual-cleanup"),
                        "true");
}

static void requests_of_the_caller_win_over_the_fraction(void **state)
{
    struct config config = {.kubernetes.request_fraction = 0.5};
    (void)state;
    _cleanup_json_ struct osb_json *object =
        build("{" GOOD ",\"resourceRequests\":{\"cpu\":\"300m\"}}", &config);
    const struct osb_json *container =
        osb_json_at(osb_json_get_path(object, "spec.template.spec.containers"), 0);
    const struct osb_json *requests = osb_json_get_path(container, "resources.requests");
    assert_int_equal(osb_json_count(requests), 1);
    assert_string_equal(text_at(container, "resources.requests", "cpu"), "300m");
}

static void devices_are_requested_in_full_under_their_resource_name(void **state)
{
    _cleanup_json_ struct osb_json *limits = NULL;
    (void)state;
    assert_int_equal(osb_json_parse(OSB_SLICE("{\"gpu\":\"2\",\"cpu\":\"1m\"}"), &limits, NULL), 0);
    _cleanup_json_ struct osb_json *resources = rest_resources_build(limits, NULL, 0.1);
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(resources, &text);
    assert_string_equal(osb_buf_cstr(&text),
                        "{\"limits\":{\"nvidia.com/gpu\":\"2\",\"cpu\":\"1m\"},"
                        "\"requests\":{\"nvidia.com/gpu\":\"2\",\"cpu\":\"1m\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_body_of_the_published_clients_is_accepted),
        cmocka_unit_test(what_has_the_wrong_shape_is_a_400_that_names_the_place),
        cmocka_unit_test(what_has_the_right_shape_and_a_wrong_value_has_its_own_code),
        cmocka_unit_test(what_is_not_built_says_so),
        cmocka_unit_test(an_error_never_repeats_what_was_sent),
        cmocka_unit_test(the_object_carries_what_was_asked),
        cmocka_unit_test(a_sandbox_without_timeout_never_expires),
        cmocka_unit_test(requests_of_the_caller_win_over_the_fraction),
        cmocka_unit_test(devices_are_requested_in_full_under_their_resource_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
