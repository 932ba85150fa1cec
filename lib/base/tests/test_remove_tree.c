// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
    strcpy(folder, "/tmp/osb-test-rm-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return osb_remove_tree(folder, NULL);
}

static const char *at(const char *name)
{
    static char paths[2][256];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof(paths[turn]), "%s/%s", folder, name);
    return paths[turn];
}

static void touch(const char *name)
{
    assert_int_equal(osb_write_file(at(name), OSB_SLICE("x"), 0600, NULL), 0);
}

static bool exists(const char *name)
{
    struct stat st;
    return lstat(at(name), &st) == 0;
}

static void a_tree_goes_and_a_missing_one_is_success(void **state)
{
    (void)state;
    assert_int_equal(osb_mkdir_p(at("t/a/b"), 0755, NULL), 0);
    touch("t/a/b/f");
    touch("t/f");
    assert_int_equal(osb_remove_tree(at("t"), NULL), 0);
    assert_false(exists("t"));
    assert_int_equal(osb_remove_tree(at("t"), NULL), 0);
    touch("f");
    assert_int_equal(osb_remove_tree(at("f"), NULL), 0);
    assert_false(exists("f"));
}

static void links_are_removed_not_followed(void **state)
{
    (void)state;
    assert_int_equal(osb_mkdir_p(at("kept"), 0755, NULL), 0);
    assert_int_equal(osb_mkdir_p(at("t"), 0755, NULL), 0);
    touch("kept/f");
    assert_int_equal(symlink("../kept", at("t/link")), 0);
    assert_int_equal(symlink("nowhere", at("t/dangling")), 0);
    assert_int_equal(osb_remove_tree(at("t"), NULL), 0);
    assert_false(exists("t"));
    assert_int_equal(symlink("kept", at("link")), 0);
    assert_int_equal(osb_remove_tree(at("link"), NULL), 0);
    assert_false(exists("link"));
    assert_true(exists("kept/f"));
}

static void many_entries_go(void **state)
{
    (void)state;
    assert_int_equal(osb_mkdir_p(at("t"), 0755, NULL), 0);
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "t/%d", i);
        assert_int_equal(mkdir(at(name), 0755), 0);
    }
    assert_int_equal(osb_remove_tree(at("t"), NULL), 0);
    assert_false(exists("t"));
}

/* Deeper than PATH_MAX can say and than descriptors are allowed. */
static void a_very_deep_tree_goes(void **state)
{
    (void)state;
    assert_int_equal(mkdir(at("t"), 0755), 0);
    _cleanup_close_ int fd = open(at("t"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 1500; i++) {
        assert_int_equal(mkdirat(fd, "deeper", 0755), 0);
        int next = openat(fd, "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        close(fd);
        fd = next;
        if (i % 7 == 0)
            close(openat(fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    assert_int_equal(osb_remove_tree(at("t"), NULL), 0);
    assert_false(exists("t"));
}

/* A bind mount is of the same device, so that only the mount itself tells. */
static int mount_and_remove(void)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 && unshare(CLONE_NEWNS) < 0)
        return 77;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return 77;
    if (mount(at("kept"), at("t/mounted"), NULL, MS_BIND, NULL) < 0)
        return 77;
    struct osb_err err = {0};
    if (osb_remove_tree(at("t"), &err) != -EBUSY)
        return 1;
    return osb_remove_tree(at("t/mounted"), &err) == -EBUSY ? 0 : 2;
}

static void mounts_are_not_crossed(void **state)
{
    (void)state;
    assert_int_equal(osb_mkdir_p(at("kept"), 0755, NULL), 0);
    assert_int_equal(osb_mkdir_p(at("t/mounted"), 0755, NULL), 0);
    touch("kept/f");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(mount_and_remove());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* neither root nor user namespaces */
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(exists("kept/f"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tree_goes_and_a_missing_one_is_success, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(links_are_removed_not_followed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(many_entries_go, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_very_deep_tree_goes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(mounts_are_not_crossed, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
