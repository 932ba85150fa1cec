// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/osb-test-fd-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return osb_remove_tree(folder, NULL);
}

/* A path below the folder, good until the call after next. */
static const char *at(const char *name)
{
    static char paths[2][256];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof(paths[turn]), "%s/%s", folder, name);
    return paths[turn];
}

static void a_file_is_written_and_read(void **state)
{
    (void)state;
    struct osb_err err = {0};
    _cleanup_buf_ struct osb_buf buf = {0};
    mode_t mask = umask(077);
    assert_int_equal(osb_write_file(at("f"), OSB_SLICE("hello"), 0644, &err), 0);
    umask(mask);
    assert_int_equal(osb_write_file(at("f"), OSB_SLICE("hello\0x"), 0664, &err), 0);
    struct stat st;
    assert_int_equal(stat(at("f"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0664);
    osb_buf_append_str(&buf, "> ");
    assert_int_equal(osb_read_file(at("f"), 7, &buf, &err), 0);
    assert_true(osb_slice_eq(osb_buf_slice(&buf), OSB_SLICE("> hello\0x")));
}

static void nothing_is_left_beside_a_file_that_failed(void **state)
{
    (void)state;
    struct osb_err err = {0};
    assert_int_equal(mkdir(at("d"), 0755), 0);
    assert_int_equal(osb_write_file(at("d"), OSB_SLICE("x"), 0644, &err), -EISDIR);
    assert_int_equal(err.code, -EISDIR);
    assert_int_equal(rmdir(at("d")), 0);
    assert_int_equal(osb_write_file(at("none/f"), OSB_SLICE("x"), 0644, &err), -ENOENT);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
}

static void a_file_above_the_limit_is_refused(void **state)
{
    (void)state;
    struct osb_err err = {0};
    _cleanup_buf_ struct osb_buf buf = {0};
    _cleanup_free_ char *big = osb_calloc(100000, 1);
    assert_int_equal(osb_write_file(at("f"), osb_slice(big, 100000), 0600, &err), 0);
    assert_int_equal(osb_read_file(at("f"), 99999, &buf, &err), -OSB_E_TOO_LARGE);
    assert_int_equal(err.http_status, 413);
    assert_int_equal(buf.len, 0);
    assert_int_equal(osb_read_file(at("f"), 100000, &buf, &err), 0);
    assert_int_equal(buf.len, 100000);
    assert_int_equal(osb_read_file(at("missing"), 10, &buf, &err), -ENOENT);
    assert_non_null(strstr(err.message, "missing"));
}

static void the_limit_of_the_buffer_holds_too(void **state)
{
    (void)state;
    _cleanup_buf_ struct osb_buf buf;
    osb_buf_init(&buf, 5);
    assert_int_equal(osb_write_file(at("f"), OSB_SLICE("12345"), 0600, NULL), 0);
    assert_int_equal(osb_read_file(at("f"), 100, &buf, NULL), 0);
    assert_string_equal(osb_buf_cstr(&buf), "12345");
    osb_buf_clear(&buf);
    assert_int_equal(osb_write_file(at("f"), OSB_SLICE("123456"), 0600, NULL), 0);
    assert_int_equal(osb_read_file(at("f"), 100, &buf, NULL), -OSB_E_TOO_LARGE);
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    struct osb_err err = {0};
    assert_int_equal(osb_mkdir_p(at("a/b//c/"), 0755, &err), 0);
    assert_int_equal(osb_mkdir_p(at("a/b/c"), 0755, &err), 0);
    struct stat st;
    assert_int_equal(stat(at("a/b/c"), &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(osb_write_file(at("a/f"), OSB_SLICE(""), 0600, &err), 0);
    assert_int_equal(osb_mkdir_p(at("a/f"), 0755, &err), -ENOTDIR);
    assert_int_equal(osb_mkdir_p(at("a/f/g"), 0755, &err), -ENOTDIR);
    assert_int_equal(osb_mkdir_p("/", 0755, &err), 0);
}

static void flags_are_set_and_cleared(void **state)
{
    (void)state;
    _cleanup_close_ int fd = open("/dev/null", O_RDONLY);
    assert_int_equal(osb_set_cloexec(fd, true), 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(osb_set_cloexec(fd, false), 0);
    assert_int_equal(fcntl(fd, F_GETFD), 0);
    assert_int_equal(osb_set_nonblocking(fd, true), 0);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_int_equal(osb_set_nonblocking(fd, false), 0);
    assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_int_equal(osb_set_nonblocking(-1, true), -EBADF);
}

static void joined(const char *a, const char *b, const char *expected)
{
    _cleanup_free_ char *path = osb_path_join(a, b);
    assert_string_equal(path, expected);
}

static void paths_join_with_one_slash(void **state)
{
    (void)state;
    joined("a", "b", "a/b");
    joined("a/", "/b", "a/b");
    joined("/", "b", "/b");
    joined("", "b", "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_written_and_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(nothing_is_left_beside_a_file_that_failed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_file_above_the_limit_is_refused, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_limit_of_the_buffer_holds_too, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(folders_are_made_with_their_parents, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(flags_are_set_and_cleared, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(paths_join_with_one_slash, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
