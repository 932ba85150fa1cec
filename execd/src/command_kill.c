// SPDX-License-Identifier: Apache-2.0
#include "command_kill.h"

#include "command_run.h"
#include "process_tree.h"
#include "reply.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <signal.h>
#include <stdlib.h>

struct command_kill {
    struct execd *execd;
    struct osb_http_exchange *x; /* NULL once the client is gone: the work goes on */
    char id[OSB_UUID_HEX_MAX];
    struct osb_timer poll;
    uint64_t deadline_ns; /* of the grace */
    int polls_left;       /* after the KILL */
    bool is_killed;
    struct osb_list link;
};

static void kill_free(struct command_kill *op)
{
    osb_timer_stop(&op->poll);
    osb_list_remove(&op->link);
    free(op);
}

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct command_kill *op = arg;

    (void)x;
    (void)is_complete;
    op->x = NULL;
}

/* Answers and frees. */
static void end(struct command_kill *op, const char *problem)
{
    if (op->x) {
        osb_http_on_close(op->x, NULL, NULL);
        if (problem)
            reply_error(op->x, 500, "RUNTIME_ERROR", "%s", problem);
        else
            reply_empty(op->x);
    }
    kill_free(op);
}

/* The number of processes found; what could not be signalled goes to *RET_DENIED. */
static int signal_tree(struct command_kill *op, int signo, int *ret_denied)
{
    struct command_record *record = command_record_find(&op->execd->records, osb_slice_str(op->id));
    pid_t leader = record && record->run ? command_run_leader(record->run) : 0;

    *ret_denied = 0;
    /* Without /proc the group is all that can be reached. */
    int found = process_tree_signal(leader, op->id, signo, ret_denied);
    if (found < 0)
        found = leader > 0 && kill(-leader, signo) == 0;
    return found;
}

static void step(struct command_kill *op)
{
    bool is_late = osb_loop_now_ns(op->execd->loop) >= op->deadline_ns;
    int denied;
    int found = signal_tree(op, is_late ? SIGKILL : 0, &denied);

    if (found == 0) {
        end(op, NULL);
        return;
    }
    if (is_late && op->polls_left-- == 0) {
        end(op, denied > 0 ? "not permitted to kill all of the command's processes"
                           : "the command's processes did not end");
        return;
    }
    osb_timer_set(&op->poll, KILL_POLL_MS);
}

static void on_poll(struct osb_timer *timer)
{
    step(timer->arg);
}

void command_kill(struct execd *execd, struct command_record *record, struct osb_http_exchange *x)
{
    struct command_kill *op = osb_new(struct command_kill);
    int denied;

    op->execd = execd;
    op->x = x;
    memcpy(op->id, record->id, sizeof(op->id));
    op->deadline_ns = osb_loop_now_ns(execd->loop) + KILL_GRACE_MS * OSB_NS_PER_MS;
    op->polls_left = KILL_POLLS_AFTER;
    osb_timer_init(&op->poll, execd->loop, on_poll, op);
    osb_list_append(&execd->kills, &op->link);
    osb_http_on_close(x, on_close, op);
    signal_tree(op, SIGTERM, &denied);
    osb_timer_set(&op->poll, KILL_POLL_MS);
}

void command_kills_done(struct execd *execd)
{
    struct command_kill *op;

    while ((op = osb_list_first(&execd->kills, struct command_kill, link))) {
        if (op->x)
            osb_http_on_close(op->x, NULL, NULL);
        kill_free(op);
    }
}
