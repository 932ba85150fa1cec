// SPDX-License-Identifier: Apache-2.0
#include "token_file.h"

#include <osb/alloc.h>
#include <osb/fd.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// cmocka needs the ones above first
#include <cmocka.h>

struct fixture {
    char folder[64];
    char path[96];
    struct token_file file;
};

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    strcpy(f->folder, "/tmp/token-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof(f->path), "%s/token", f->folder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    token_file_done(&f->file);
    assert_int_equal(osb_remove_tree(f->folder, NULL), 0);
    free(f);
    return 0;
}

static void put(const char *path, const char *text)
{
    assert_int_equal(osb_write_file(path, osb_slice_str(text), 0600, NULL), 0);
}

/* As a kubelet does it: token -> ..data/token, ..data -> a folder; only ..data moves. */
static void project(struct fixture *f, const char *version, const char *token)
{
    char path[192], data[96], new_data[96];
    snprintf(path, sizeof(path), "%s/%s", f->folder, version);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/%s/token", f->folder, version);
    put(path, token);
    snprintf(data, sizeof(data), "%s/..data", f->folder);
    snprintf(new_data, sizeof(new_data), "%s/..data_tmp", f->folder);
    assert_int_equal(symlink(version, new_data), 0);
    assert_int_equal(rename(new_data, data), 0);
}

static void test_a_token_that_a_kubelet_swaps_is_read_again(void **state)
{
    struct fixture *f = *state;
    project(f, "..v1", "first\n");
    assert_int_equal(symlink("..data/token", f->path), 0);
    assert_string_equal(token_file_read(&f->file, f->path, false), "first");
    project(f, "..v2", "second\n");
    assert_string_equal(token_file_read(&f->file, f->path, false), "second");
}

static void test_a_file_that_is_gone_or_empty_leaves_the_last_token(void **state)
{
    struct fixture *f = *state;
    assert_null(token_file_read(&f->file, f->path, false));
    put(f->path, "first");
    assert_string_equal(token_file_read(&f->file, f->path, false), "first");
    assert_int_equal(unlink(f->path), 0);
    assert_string_equal(token_file_read(&f->file, f->path, true), "first");
    put(f->path, "");
    assert_string_equal(token_file_read(&f->file, f->path, true), "first");
    put(f->path, "second");
    assert_string_equal(token_file_read(&f->file, f->path, true), "second");
}

static void test_a_change_that_does_not_show_is_found_when_forced(void **state)
{
    struct fixture *f = *state;
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    for (int i = 0; i < 2; i++) { /* in place: the same inode, and the same time */
        int fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        assert_int_equal(osb_write_all(fd, i ? "new" : "old", 3), 0);
        assert_int_equal(futimens(fd, times), 0);
        close(fd);
        assert_string_equal(token_file_read(&f->file, f->path, false), "old");
    }
    assert_string_equal(token_file_read(&f->file, f->path, true), "new");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_token_that_a_kubelet_swaps_is_read_again),
        TEST(test_a_file_that_is_gone_or_empty_leaves_the_last_token),
        TEST(test_a_change_that_does_not_show_is_found_when_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
