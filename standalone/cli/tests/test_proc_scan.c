// SPDX-License-Identifier: Apache-2.0
#include "proc_scan.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* An instance that this test alone can have processes of. */
static struct instance own = {
    .id = "0badcafe",
    .state = (char[]){"/nonexistent/osb-proc-scan-state"},
    .run = (char[]){"/nonexistent/osb-proc-scan-run"},
    .cgroup = (char[]){"/opensandbox-0badcafe"},
};

/* A process that looks like one of an instance: NAME as its program, ARGUMENT as an argument. */
static pid_t start(const char *name, const char *argument)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        dup2(ends[1], STDOUT_FILENO);
        execl("/bin/sh", name, "-c", "echo; exec >&-; kill -STOP $$", argument, (char *)NULL);
        _exit(127);
    }
    char byte;
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_part_is_found_by_the_folder_in_its_arguments(void **state)
{
    (void)state;
    pid_t pid = start("opensandbox-node", "--root=/nonexistent/osb-proc-scan-state/node");
    assert_int_equal(proc_find(&own, PROC_PART), pid);
    end(pid);
    assert_int_equal(proc_find(&own, PROC_PART), 0);
}

static void a_shim_is_told_from_a_part(void **state)
{
    (void)state;
    pid_t pid =
        start("containerd-shim-runc-v2", "unix:///nonexistent/osb-proc-scan-run/containerd.sock");
    assert_int_equal(proc_find(&own, PROC_SHIM), pid);
    assert_int_equal(proc_find(&own, PROC_PART), 0);
    end(pid);
}

static void another_folder_with_the_same_beginning_is_somebody_elses(void **state)
{
    (void)state;
    pid_t pid = start("opensandbox-node", "/nonexistent/osb-proc-scan-state2/node");
    assert_int_equal(proc_find(&own, PROC_PART), 0);
    end(pid);
}

static void another_program_that_names_the_folder_is_left_alone(void **state)
{
    (void)state;
    pid_t pid = start("tail", "/nonexistent/osb-proc-scan-state/logs/node.log");
    pid_t logs = start("opensandbox", "/nonexistent/osb-proc-scan-state");
    assert_int_equal(proc_find(&own, PROC_PART), 0);
    end(pid);
    end(logs);
}

static void what_has_ended_and_is_not_reaped_yet_is_not_ended_again(void **state)
{
    (void)state;
    pid_t pid = start("opensandbox-node", "/nonexistent/osb-proc-scan-state");
    siginfo_t info;
    assert_int_equal(proc_kill(&own, 1U << PROC_PART, 1000, NULL), 1);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(proc_kill(&own, 1U << PROC_PART, 1000, NULL), 0);
    waitpid(pid, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_found_by_the_folder_in_its_arguments),
        cmocka_unit_test(a_shim_is_told_from_a_part),
        cmocka_unit_test(another_folder_with_the_same_beginning_is_somebody_elses),
        cmocka_unit_test(another_program_that_names_the_folder_is_left_alone),
        cmocka_unit_test(what_has_ended_and_is_not_reaped_yet_is_not_ended_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
