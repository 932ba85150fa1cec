// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "folder.h"

static void write_source(void **state, const char *name, const char *content)
{
    assert_int_equal(osb_write_file(folder_path(state, name), osb_slice_str(content), 0644, NULL),
                     0);
}

static int open_files(void **state, struct files **ret, struct osb_err *err)
{
    return files_open(folder_path(state, "files/"), folder_path(state, "execd"),
                      folder_path(state, "bootstrap"), ret, err);
}

static struct files *open_with(void **state, const char *execd)
{
    struct files *files = NULL;

    write_source(state, "execd", execd);
    write_source(state, "bootstrap", "launcher");
    assert_int_equal(open_files(state, &files, NULL), 0);
    return files;
}

static void assert_content(const char *path, const char *content)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct stat st;

    assert_int_equal(osb_read_file(path, 1024, &text, NULL), 0);
    assert_true(osb_slice_eq_str(osb_buf_slice(&text), content));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0555);
}

static ino_t inode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static void both_files_lie_executable_in_a_folder_of_their_version(void **state)
{
    struct files *files = open_with(state, "one");
    struct inject_files paths = files_paths(files);

    assert_int_equal(strlen(files->version), FILES_VERSION_LEN);
    assert_non_null(strstr(paths.execd, files->version));
    assert_non_null(strstr(paths.bootstrap, files->version));
    assert_content(paths.execd, "one");
    assert_content(paths.bootstrap, "launcher");
    files_free(files);
}

static void what_is_there_and_the_same_is_not_touched(void **state)
{
    struct files *files = open_with(state, "one");
    ino_t inode = inode_of(files->execd);

    files_free(files);
    files = open_with(state, "one");
    assert_int_equal(inode_of(files->execd), inode);
    files_free(files);
}

static void a_damaged_file_is_replaced_not_mended_in_place(void **state)
{
    struct files *files = open_with(state, "one");
    _cleanup_free_ char *path = osb_strdup(files->execd);
    _cleanup_close_ int damaged = -1;
    struct stat st;

    files_free(files);
    assert_int_equal(osb_write_file(path, OSB_SLICE("on"), 0555, NULL), 0);
    damaged = open(path, O_RDONLY | O_CLOEXEC); /* or the number of its inode would be free again */
    assert_true(damaged >= 0);
    files = open_with(state, "one");
    assert_content(files->execd, "one");
    assert_int_equal(fstat(damaged, &st), 0);
    assert_int_equal(st.st_size, 2);
    assert_int_equal(st.st_nlink, 0);
    files_free(files);
}

static void another_content_is_another_version_beside_the_first(void **state)
{
    struct files *files = open_with(state, "one");
    _cleanup_free_ char *first = osb_strdup(files->execd);
    struct files_versions old;

    files_free(files);
    files = open_with(state, "two");
    assert_content(first, "one");
    assert_content(files->execd, "two");
    assert_int_equal(files_old(files, &old, NULL), 0);
    assert_int_equal(old.count, 1);
    assert_non_null(strstr(first, old.names[0]));
    files_versions_done(&old);
    files_free(files);
}

static void a_version_that_a_mount_names_is_kept_and_the_others_go(void **state)
{
    struct files *files = open_with(state, "one");
    _cleanup_free_ char *one = osb_strdup(files->execd);
    _cleanup_free_ char *two = NULL;
    struct files_versions old;

    files_free(files);
    files = open_with(state, "two");
    two = osb_strdup(files->bootstrap);
    files_free(files);
    files = open_with(state, "three");
    assert_int_equal(files_old(files, &old, NULL), 0);
    assert_int_equal(old.count, 2);
    files_versions_keep(&old, files, osb_slice_str("/elsewhere/execd"));
    files_versions_keep(&old, files, osb_slice_str(files->folder));
    files_versions_keep(&old, files, osb_slice_str(files->execd));
    assert_int_equal(old.count, 2);
    files_versions_keep(&old, files, osb_slice_str(two));
    assert_int_equal(old.count, 1);
    assert_int_equal(files_remove(files, old.names[0], NULL), 0);
    assert_int_equal(access(one, F_OK), -1);
    assert_content(two, "launcher");
    files_versions_done(&old);
    files_free(files);
}

static void what_is_no_version_is_no_old_one(void **state)
{
    struct files *files = open_with(state, "one");
    struct files_versions old;

    assert_int_equal(osb_mkdir_p(folder_path(state, "files/0123456789ABCDEF"), 0755, NULL), 0);
    assert_int_equal(osb_mkdir_p(folder_path(state, "files/0123"), 0755, NULL), 0);
    assert_int_equal(files_old(files, &old, NULL), 0);
    assert_int_equal(old.count, 0);
    files_versions_done(&old);
    files_free(files);
}

static void the_folder_has_one_owner(void **state)
{
    struct files *files = open_with(state, "one");
    struct files *second = NULL;
    struct osb_err err = {0};

    assert_int_equal(open_files(state, &second, &err), -EADDRINUSE);
    assert_null(second);
    files_free(files);
    assert_int_equal(open_files(state, &second, &err), 0);
    files_free(second);
}

static void sources_that_are_not_there_or_empty_are_told(void **state)
{
    struct files *files = NULL;
    struct osb_err err = {0};

    assert_int_equal(open_files(state, &files, &err), -ENOENT);
    write_source(state, "execd", "x");
    write_source(state, "bootstrap", "");
    assert_int_equal(open_files(state, &files, &err), -OSB_E_INVALID);
    assert_non_null(strstr(err.message, "is empty"));
}

static void without_files_there_are_no_paths(void **state)
{
    (void)state;
    assert_null(files_paths(NULL).execd);
    assert_null(files_paths(NULL).bootstrap);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(both_files_lie_executable_in_a_folder_of_their_version),
        IN_FOLDER(what_is_there_and_the_same_is_not_touched),
        IN_FOLDER(a_damaged_file_is_replaced_not_mended_in_place),
        IN_FOLDER(another_content_is_another_version_beside_the_first),
        IN_FOLDER(a_version_that_a_mount_names_is_kept_and_the_others_go),
        IN_FOLDER(what_is_no_version_is_no_old_one),
        IN_FOLDER(the_folder_has_one_owner),
        IN_FOLDER(sources_that_are_not_there_or_empty_are_told),
        cmocka_unit_test(without_files_there_are_no_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
