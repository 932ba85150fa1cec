// SPDX-License-Identifier: Apache-2.0
#include "parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "state_fixture.h"

static void what_a_part_waits_for_comes_before_it_in_the_end(void **state)
{
    unsigned ready = 0;
    (void)state;
    /* Rounds as the supervisor goes: in each, whatever has all that it waits for. */
    for (int round = 0; round < PART_COUNT; round++) {
        unsigned next = ready;
        for (int i = 0; i < PART_COUNT; i++)
            next |= (parts[i].after & ~ready) ? 0 : 1U << i;
        ready = next;
    }
    assert_int_equal(ready, (1U << PART_COUNT) - 1);
}

static void each_part_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < PART_COUNT; i++) {
        assert_ptr_equal(part_by_name(parts[i].name), &parts[i]);
        assert_true(parts[i].title && parts[i].ready_timeout_s > 0);
    }
    assert_null(part_by_name("none"));
    assert_null(part_by_name(""));
}

static const char *value_of(const struct part_command *command, const char *option)
{
    for (int i = 1; i + 1 < command->count; i++) {
        if (!strcmp(command->argv[i], option))
            return command->argv[i + 1];
    }
    return NULL;
}

/* That is how the processes of an instance are found when their supervisor was killed. */
static void each_command_line_names_its_instance(void **state)
{
    const struct instance *instance = *state;
    for (int i = 0; i < PART_COUNT; i++) {
        struct part_command command = {0};
        bool is_named = false;
        parts[i].command(instance, &command);
        for (int a = 0; a < command.count; a++)
            is_named |= strstr(command.argv[a], instance->state) ||
                        strstr(command.argv[a], instance->run) ||
                        strstr(command.argv[a], instance->table);
        assert_true(is_named);
        assert_int_equal(command.socket != NULL, parts[i].ready == READY_BY_SOCKET);
        assert_int_equal(value_of(&command, "--ready-fd") != NULL, parts[i].ready == READY_BY_FD);
        part_command_done(&command);
        assert_int_equal(command.count, 0);
    }
}

static void the_api_server_listens_on_loopback_only(void **state)
{
    struct part_command command = {0};
    parts[PART_APISERVER].command(*state, &command);
    assert_string_equal(value_of(&command, "--listen"), "127.0.0.1:45123");
    part_command_done(&command);
}

static void an_instrumented_build_takes_execd_from_another(void **state)
{
    struct part_command command = {0};
    assert_int_equal(setenv("OPENSANDBOX_EXECD_FOLDER", "/elsewhere", 1), 0);
    parts[PART_NODE].command(*state, &command);
    assert_string_equal(value_of(&command, "--execd"), "/elsewhere/execd");
    assert_string_equal(value_of(&command, "--bootstrap"), "/elsewhere/bootstrap.sh");
    assert_int_equal(unsetenv("OPENSANDBOX_EXECD_FOLDER"), 0);
    part_command_done(&command);
}

/* The test's own folder has none of the programs. */
static void a_missing_program_is_named_with_what_to_do(void **state)
{
    struct osb_err err = {0};
    (void)state;
    assert_true(parts_check_files(&err) < 0);
    assert_non_null(strstr(err.message, "opensandbox-net is missing"));
    assert_non_null(strstr(err.message, "build it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_part_waits_for_comes_before_it_in_the_end),
        cmocka_unit_test(each_part_is_found_by_its_name),
        cmocka_unit_test(each_command_line_names_its_instance),
        cmocka_unit_test(the_api_server_listens_on_loopback_only),
        cmocka_unit_test(an_instrumented_build_takes_execd_from_another),
        cmocka_unit_test(a_missing_program_is_named_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, fixture_make, fixture_remove);
}
