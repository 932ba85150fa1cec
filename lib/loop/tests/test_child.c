// SPDX-License-Identifier: Apache-2.0
#include "child_cases.h"

/* A supervisor adopts what an earlier one has left: it sees the end, but not the status. */
static void the_end_of_a_process_that_is_not_our_child_is_told_without_a_status(void **state)
{
    struct osb_child child;
    int fds[2];
    pid_t grandchild;
    (void)state;
    assert_int_equal(pipe(fds), 0);
    pid_t between = fork();
    if (between == 0) {
        pid_t pid = make_child(-1);
        _exit(write(fds[1], &pid, sizeof(pid)) == sizeof(pid) ? 0 : 1);
    }
    assert_int_equal(read(fds[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
    assert_int_equal(waitpid(between, NULL, 0), between);
    assert_int_equal(osb_child_watch(&child, the_loop, grandchild, note_end, NULL), 0);
    turn_idle();
    assert_int_equal(ended, 0);
    kill(grandchild, SIGKILL);
    turn_until(ended);
    assert_int_equal(last_status, OSB_CHILD_STATUS_UNKNOWN);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHILD_TESTS,
        CHILD_TEST(the_end_of_a_process_that_is_not_our_child_is_told_without_a_status),
    };
    return RUN_ON_EACH_BACKEND(tests);
}
