// SPDX-License-Identifier: Apache-2.0
/* `bootstrap.sh --install`: what is in the folder afterwards, and what is said when it cannot be.
 */
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "install.h"

static int set_up(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/osb-install-XXXXXX");
    *state = mkdtemp(folder);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    return osb_remove_tree(*state, NULL);
}

static char *at(void **state, const char *name)
{
    return osb_asprintf("%s/%s", (const char *)*state, name);
}

static void put(void **state, const char *name, const char *content, mode_t mode)
{
    _cleanup_free_ char *path = at(state, name);
    assert_int_equal(osb_write_file(path, osb_slice_str(content), mode, NULL), 0);
}

static int install(void **state, struct osb_err *err)
{
    _cleanup_free_ char *self = at(state, "self");
    _cleanup_free_ char *execd = at(state, "program");
    _cleanup_free_ char *folder = at(state, "to");
    return install_files(self, execd, folder, err);
}

static void assert_file(void **state, const char *name, const char *content)
{
    _cleanup_free_ char *path = at(state, name);
    _cleanup_buf_ struct osb_buf text = {0};
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(osb_read_file(path, 1024 * 1024, &text, NULL), 0);
    assert_string_equal(osb_buf_cstr(&text), content);
}

static void assert_absent(void **state, const char *name)
{
    _cleanup_free_ char *path = at(state, name);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_both_programs_are_there_and_executable_whatever_the_umask(void **state)
{
    put(state, "self", "launcher", 0700);
    put(state, "program", "execd", 0600);
    mode_t before = umask(0077);
    int r = install(state, NULL);
    umask(before);
    assert_int_equal(r, 0);
    assert_file(state, "to/bootstrap.sh", "launcher");
    assert_file(state, "to/execd", "execd");
    assert_absent(state, "to/.execd.new");
    assert_absent(state, "to/.bootstrap.sh.new");
}

static void test_what_lies_there_is_replaced_and_links_are_not_followed(void **state)
{
    _cleanup_free_ char *victim = at(state, "victim");
    _cleanup_free_ char *link = at(state, "to/execd");
    _cleanup_free_ char *temporary_link = at(state, "to/.bootstrap.sh.new");
    put(state, "self", "launcher", 0700);
    put(state, "program", "execd", 0700);
    put(state, "victim", "untouched", 0755);
    assert_int_equal(install(state, NULL), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(victim, link), 0);
    assert_int_equal(symlink(victim, temporary_link), 0);
    assert_int_equal(install(state, NULL), 0);
    assert_file(state, "to/execd", "execd");
    assert_file(state, "to/bootstrap.sh", "launcher");
    assert_file(state, "victim", "untouched");
}

static void test_a_program_that_runs_keeps_its_bytes(void **state)
{
    _cleanup_free_ char *path = at(state, "to/execd");
    char text[16] = "";
    put(state, "self", "launcher", 0700);
    put(state, "program", "old one", 0700);
    assert_int_equal(install(state, NULL), 0);
    _cleanup_close_ int running = open(path, O_RDONLY | O_CLOEXEC);
    put(state, "program", "new one", 0700);
    assert_int_equal(install(state, NULL), 0);
    assert_int_equal(read(running, text, sizeof(text)), 7);
    assert_string_equal(text, "old one");
    assert_file(state, "to/execd", "new one");
}

static void test_what_cannot_be_installed_is_named_and_no_launcher_without_execd(void **state)
{
    struct osb_err err = {0};
    put(state, "self", "launcher", 0700);
    assert_int_equal(install(state, &err), -ENOENT);
    assert_non_null(strstr(err.message, "/program: No such file"));
    assert_absent(state, "to/bootstrap.sh");

    put(state, "program", "", 0700);
    assert_int_equal(install(state, &err), -OSB_E_INVALID);
    assert_non_null(strstr(err.message, "/program is no program"));
    assert_absent(state, "to/bootstrap.sh");
}

static void test_a_folder_in_the_way_is_an_error_that_names_it(void **state)
{
    _cleanup_free_ char *folder = at(state, "to/.execd.new/x");
    struct osb_err err = {0};
    put(state, "self", "launcher", 0700);
    put(state, "program", "execd", 0700);
    assert_int_equal(osb_mkdir_p(folder, 0755, NULL), 0);
    assert_true(install(state, &err) < 0);
    assert_non_null(strstr(err.message, "to/.execd.new"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_both_programs_are_there_and_executable_whatever_the_umask),
        TEST(test_what_lies_there_is_replaced_and_links_are_not_followed),
        TEST(test_a_program_that_runs_keeps_its_bytes),
        TEST(test_what_cannot_be_installed_is_named_and_no_launcher_without_execd),
        TEST(test_a_folder_in_the_way_is_an_error_that_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
