// SPDX-License-Identifier: Apache-2.0
#include "reaper.h"

#include "command_run.h"

#include <osb/log.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static bool is_leader(const struct execd *execd, pid_t pid)
{
    const struct command_record *record;

    osb_list_foreach (record, &execd->records.running, link)
        if (record->run && command_run_leader(record->run) == pid)
            return true;
    return false;
}

/*
 * Looks before it reaps. A leader that has ended hides the orphans behind it until its run has
 * waited for it: then we look again.
 */
static void reap(struct osb_defer *defer)
{
    struct execd *execd = defer->arg;
    siginfo_t info = {0};

    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        if (is_leader(execd, info.si_pid)) {
            osb_defer_post(defer);
            return;
        }
        waitpid(info.si_pid, NULL, WNOHANG);
        info.si_pid = 0;
    }
}

static void on_child(int signo, void *arg)
{
    struct execd *execd = arg;

    (void)signo;
    osb_defer_post(&execd->reap);
}

int reaper_start(struct execd *execd, struct osb_err *err)
{
    /* Some emulated kernels cannot: then orphans go to process 1, and only groups can be killed. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        osb_log(OSB_LOG_WARN, "no subreaper", OSB_KV_STR("error", strerror(errno)));
    osb_defer_init(&execd->reap, execd->loop, reap, execd);
    return osb_loop_on_signal(execd->loop, SIGCHLD, on_child, execd, err);
}

void reaper_stop(struct execd *execd)
{
    osb_defer_cancel(&execd->reap);
    osb_loop_on_signal(execd->loop, SIGCHLD, NULL, NULL, NULL);
}
