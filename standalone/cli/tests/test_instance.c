// SPDX-License-Identifier: Apache-2.0
#include "instance.h"

#include <netinet/in.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int make_folder(void **state)
{
    char template[] = "/tmp/osb-instance-XXXXXX";
    *state = strdup(mkdtemp(template));
    return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
    int r = osb_remove_tree(*state, NULL);
    free(*state);
    return r;
}

static void an_instance_reads_back_as_it_was_made(void **state)
{
    struct instance made = {0}, read = {0};
    assert_int_equal(instance_create(*state, &made, NULL), 0);
    assert_int_equal(instance_load(*state, &read, NULL), 0);
    assert_string_equal(made.id, read.id);
    assert_string_equal(made.subnet, read.subnet);
    assert_string_equal(made.run, read.run);
    assert_int_equal(made.rest_port, read.rest_port);
    assert_int_equal(made.api_port, read.api_port);
    assert_true(strlen(made.bridge) < 16); /* IFNAMSIZ */
    instance_done(&made);
    instance_done(&read);
}

static void an_empty_folder_holds_no_instance(void **state)
{
    struct instance instance = {0};
    assert_int_equal(instance_load(*state, &instance, NULL), -OSB_E_NOT_FOUND);
}

static void a_damaged_file_is_named(void **state)
{
    static const char *const damaged[] = {
        "",
        "{",
        "{\"id\":\"../../etc\",\"version\":1}",
        "{\"id\":\"0123456\",\"version\":1}",
        "{\"id\":\"01234567\",\"version\":2}",
        "{\"id\":\"01234567\",\"version\":1,\"rest\":{\"address\":\"127.0.0.1\",\"port\":70000}}",
    };
    _cleanup_free_ char *file = osb_path_join(*state, "instance.json");
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        struct instance instance = {0};
        struct osb_err err = {0};
        assert_int_equal(osb_write_file(file, osb_slice_str(damaged[i]), 0600, NULL), 0);
        int r = instance_load(*state, &instance, &err);
        assert_true(r < 0 && r != -OSB_E_NOT_FOUND);
        assert_non_null(strstr(err.message, "instance.json"));
        assert_null(instance.state);
    }
}

static void a_port_that_was_taken_meanwhile_is_replaced_and_written_down(void **state)
{
    struct instance made = {0}, read = {0};
    int port = 0;
    assert_int_equal(instance_create(*state, &made, NULL), 0);
    int rest_port = made.rest_port, api_port = made.api_port;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)api_port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(instance_ensure_ports(&made, NULL), 0);
    assert_int_not_equal(made.api_port, api_port);
    assert_int_equal(made.rest_port, rest_port);
    assert_int_equal(instance_load(*state, &read, NULL), 0);
    assert_int_equal(read.api_port, made.api_port);
    port = made.api_port;
    assert_int_equal(instance_ensure_ports(&made, NULL), 0); /* now nothing is to be changed */
    assert_int_equal(made.api_port, port);
    assert_int_equal(close(fd), 0);
    instance_done(&made);
    instance_done(&read);
}

static void a_state_folder_is_absolute_and_has_one_name(void **state)
{
    char cwd[4096];
    (void)state;
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    _cleanup_free_ char *absolute = NULL, *relative = NULL, *expected = osb_path_join(cwd, "x y");
    assert_int_equal(instance_state_folder("/a/b//", &absolute, NULL), 0);
    assert_string_equal(absolute, "/a/b");
    assert_int_equal(instance_state_folder("x y", &relative, NULL), 0);
    assert_string_equal(relative, expected);
}

static void a_state_folder_that_would_break_a_file_is_refused(void **state)
{
    static const char *const folders[] = {"/a\"b", "/a'b",  "/a\\b", "/a:b",
                                          "/a,b",  "/a\nb", "/\x7f"};
    (void)state;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char *absolute = NULL;
        assert_int_equal(instance_state_folder(folders[i], &absolute, NULL), -OSB_E_INVALID);
        assert_null(absolute);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_instance_reads_back_as_it_was_made, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(an_empty_folder_holds_no_instance, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(
            a_port_that_was_taken_meanwhile_is_replaced_and_written_down, make_folder,
            remove_folder),
        cmocka_unit_test(a_state_folder_is_absolute_and_has_one_name),
        cmocka_unit_test(a_state_folder_that_would_break_a_file_is_refused),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_named, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
