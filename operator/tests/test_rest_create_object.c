// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "rest_create_object.h"

/* The container of what a create with ENTRYPOINT and ENV makes. */
static struct osb_json *make(const char *entrypoint, const char *env, struct osb_json **ret_object)
{
    static const struct create_identity identity = {
        .id = "id", .namespace_ = "default", .request_id = "r"};
    static const struct config config;
    _cleanup_json_ struct osb_json *command = NULL, *variables = NULL;
    assert_int_equal(osb_json_parse(osb_slice_str(entrypoint), &command, NULL), 0);
    assert_int_equal(osb_json_parse(osb_slice_str(env), &variables, NULL), 0);
    struct create_spec spec = {.image = "i", .entrypoint = command, .env = variables};
    *ret_object = create_object(&spec, &identity, &config, 0);
    return osb_json_at(osb_json_get_path(*ret_object, "spec.template.spec.containers"), 0);
}

static void a_dollar_in_the_entrypoint_is_not_kubernetes_to_expand(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *object = NULL;
    const struct osb_json *container =
        make("[\"sh\",\"-c\",\"echo $$ $(date) $HOME $\"]", "{}", &object);
    const struct osb_json *command = osb_json_get(container, "command");
    assert_string_equal(osb_json_cstr(osb_json_at(command, 3)), "echo $$$$ $$(date) $$HOME $$");
    assert_string_equal(osb_json_cstr(osb_json_at(command, 1)), "sh");
}

static void a_dollar_in_a_variable_is_not_kubernetes_to_expand(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *object = NULL;
    const struct osb_json *container = make("[\"a\"]", "{\"A\":\"$(B)\"}", &object);
    const struct osb_json *first = osb_json_at(osb_json_get(container, "env"), 0);
    assert_string_equal(osb_json_cstr(osb_json_get(first, "value")), "$$(B)");
}

static void the_entrypoint_that_is_shown_is_the_callers(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *object = NULL;
    (void)make("[\"echo\",\"$$\"]", "{}", &object);
    const struct osb_json *annotations = osb_json_get_path(object, "metadata.annotations");
    assert_string_equal(osb_json_cstr(osb_json_get(annotations, "opensandbox.io/entrypoint")),
                        "[\"echo\",\"$$\"]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dollar_in_the_entrypoint_is_not_kubernetes_to_expand),
        cmocka_unit_test(a_dollar_in_a_variable_is_not_kubernetes_to_expand),
        cmocka_unit_test(the_entrypoint_that_is_shown_is_the_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
