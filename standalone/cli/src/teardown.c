// SPDX-License-Identifier: Apache-2.0
/*
 * Taking the engine down, in steps that each wait for their condition: the operator first, so that
 * it makes nothing new; then the sandboxes, while containerd can still remove them in order; then
 * the rest, and by force whatever is left.
 */
#include "cgroup_tree.h"
#include "proc_scan.h"
#include "supervisor.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <signal.h>
#include <stdlib.h>

enum step {
    STEP_OPERATOR,
    STEP_NODE,
    STEP_SANDBOXES,
    STEP_APISERVER,
    STEP_CONTAINERD,
    STEP_REST,
    STEP_NET,
    STEP_END,
};

enum { KILL_WAIT_MS = 10000 };

struct teardown {
    enum step step;
    bool is_running; /* a command of this step runs */
    bool is_advancing;
    struct osb_child child;
    pid_t pid;
    struct osb_timer timer;
};

static void on_command_end(struct osb_child *child, int wait_status)
{
    struct supervisor *supervisor = child->arg;
    struct teardown *teardown = supervisor->teardown;
    osb_timer_stop(&teardown->timer);
    teardown->is_running = false;
    teardown->pid = 0;
    if (wait_status)
        osb_log(OSB_LOG_WARN, "clean-up command failed", OSB_KV_INT("status", wait_status));
    teardown->step++;
    teardown_advance(supervisor);
}

static void on_command_timeout(struct osb_timer *timer)
{
    struct supervisor *supervisor = timer->arg;
    if (supervisor->teardown->pid)
        (void)kill(supervisor->teardown->pid, SIGKILL);
}

/* Starts a clean-up command; when it cannot be started the next steps do without it. */
static void run_command(struct supervisor *supervisor, const char *log,
                        void (*fill)(const struct instance *, struct part_command *))
{
    struct teardown *teardown = supervisor->teardown;
    struct part_command command = {0};
    struct osb_err err = {0};
    fill(&supervisor->instance, &command);
    int r = supervisor_spawn(supervisor, log, &command, -1, &teardown->pid, &err);
    part_command_done(&command);
    if (r >= 0)
        r = osb_child_watch(&teardown->child, supervisor->loop, teardown->pid, on_command_end,
                            supervisor);
    if (r < 0) {
        osb_log(OSB_LOG_WARN, "clean-up command cannot be started", OSB_KV_ERR(&err));
        teardown->step++;
        return;
    }
    teardown->is_running = true;
    osb_timer_init(&teardown->timer, supervisor->loop, on_command_timeout, supervisor);
    osb_timer_set(&teardown->timer, SUPERVISOR_PURGE_WAIT_MS);
}

/* True when the part is stopped; else asks it to. */
static bool is_stopped(struct supervisor *supervisor, enum part_id id)
{
    struct running *running = &supervisor->running[id];
    supervisor_stop_part(running);
    return running->state == PART_STOPPED;
}

static void kill_rest(struct supervisor *supervisor)
{
    struct osb_err err = {0};
    int n = proc_kill(&supervisor->instance,
                      1U << PROC_PART | 1U << PROC_SHIM | 1U << PROC_CONTAINER, KILL_WAIT_MS, &err);
    if (n < 0)
        osb_log(OSB_LOG_ERROR, "processes are left", OSB_KV_ERR(&err));
    else if (n > 0)
        osb_log(OSB_LOG_WARN, "ended what was left", OSB_KV_INT("count", n));
    if (cgroup_tree_remove(supervisor->instance.cgroup, &err) < 0)
        osb_log(OSB_LOG_WARN, "cgroups are left", OSB_KV_ERR(&err));
}

/* One step; false when it has to wait. */
static bool advance_once(struct supervisor *supervisor)
{
    struct teardown *teardown = supervisor->teardown;
    switch (teardown->step) {
    case STEP_OPERATOR:
        if (!is_stopped(supervisor, PART_OPERATOR))
            return false;
        break;
    case STEP_NODE:
        if (!is_stopped(supervisor, PART_NODE) || !is_stopped(supervisor, PART_IMAGES))
            return false;
        break;
    case STEP_SANDBOXES:
        if (supervisor->running[PART_CONTAINERD].state != PART_READY)
            break;
        supervisor_progress(supervisor, "sandboxes", "removing");
        run_command(supervisor, "node", part_node_purge);
        return false;
    case STEP_APISERVER:
        if (!is_stopped(supervisor, PART_APISERVER))
            return false;
        break;
    case STEP_CONTAINERD:
        if (!is_stopped(supervisor, PART_CONTAINERD) || !is_stopped(supervisor, PART_NET))
            return false;
        break;
    case STEP_REST:
        kill_rest(supervisor);
        break;
    case STEP_NET:
        run_command(supervisor, "net", part_net_down);
        return false;
    case STEP_END:
        osb_loop_stop(supervisor->loop);
        return false;
    }
    teardown->step++;
    return true;
}

void teardown_advance(struct supervisor *supervisor)
{
    struct teardown *teardown = supervisor->teardown;
    if (!teardown || teardown->is_running || teardown->is_advancing)
        return;
    teardown->is_advancing = true; /* stopping a part that never ran reports at once */
    enum step before;
    do {
        before = teardown->step;
    } while (advance_once(supervisor) ||
             (!teardown->is_running && teardown->step != before && teardown->step <= STEP_END));
    teardown->is_advancing = false;
}

void teardown_begin(struct supervisor *supervisor)
{
    supervisor->teardown = osb_new(struct teardown);
    supervisor_progress(supervisor, "", "stopping");
    teardown_advance(supervisor);
}

void teardown_free(struct teardown *teardown)
{
    if (!teardown)
        return;
    osb_child_stop(&teardown->child);
    osb_timer_stop(&teardown->timer);
    free(teardown);
}
