// SPDX-License-Identifier: Apache-2.0
/*
 * The same cases where the kernel has no pidfd_open and no close_range: a seccomp filter answers
 * ENOSYS, as an old kernel or a container runtime's default profile does.
 */
#include "child_cases.h"
#include <osb/spawn.h>
#include <seccomp.h>
#include <sys/syscall.h>

static void the_kernel_has_no_pidfd_here(void **state)
{
    (void)state;
    assert_int_equal(syscall(SYS_pidfd_open, getpid(), 0), -1);
    assert_int_equal(errno, ENOSYS);
}

static void a_spawned_child_gets_only_the_named_descriptors_without_close_range(void **state)
{
    const char *argv[] = {
        "sh", "-c", "for f in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$f ] && exit 1; done; exit 0",
        NULL};
    struct osb_spawn spawn = {.file = "/bin/sh", .argv = argv, .fds = {-1, -1, -1}, .fd_count = 3};
    struct osb_child child;
    pid_t pid;
    (void)state;
    int leak = dup(STDIN_FILENO);
    assert_int_equal(osb_spawn(&spawn, &pid, NULL), 0);
    assert_int_equal(osb_child_watch(&child, the_loop, pid, note_end, NULL), 0);
    turn_until(ended);
    assert_int_equal(last_status, 0);
    close(leak);
}

static void remove_system_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    assert_non_null(filter);
    assert_int_equal(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(pidfd_open), 0), 0);
    assert_int_equal(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(close_range), 0), 0);
    assert_int_equal(seccomp_load(filter), 0);
    seccomp_release(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHILD_TEST(the_kernel_has_no_pidfd_here),
        CHILD_TESTS,
        CHILD_TEST(a_spawned_child_gets_only_the_named_descriptors_without_close_range),
    };
    remove_system_calls();
    return RUN_ON_EACH_BACKEND(tests);
}
