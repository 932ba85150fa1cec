// SPDX-License-Identifier: Apache-2.0
#include "operator_process.h"

#include <osb/alloc.h>

#include <stdlib.h>

#include "sandbox_controller.h"

/* ---- execd ---- */

struct question {
    struct osb_timer timer;
    struct process *process;
    void (*done)(int r, void *arg);
    void *arg;
};

static void on_answer(struct osb_timer *timer)
{
    struct question *question = timer->arg;
    void (*done)(int r, void *arg) = question->done;
    void *arg = question->arg;
    int r = question->process->is_execd_up ? 0 : -OSB_E_UNAVAILABLE;
    free(question);
    done(r, arg);
}

static void *ask(const char *address, uint64_t timeout_ms, void (*done)(int r, void *arg),
                 void *arg, void *context)
{
    struct process *process = context;
    struct question *question = osb_new(struct question);
    osb_assert(address[0] && timeout_ms > 0);
    question->process = process;
    question->done = done;
    question->arg = arg;
    process->asked++;
    osb_timer_init(&question->timer, process->op.loop, on_answer, question);
    osb_timer_set(&question->timer, 1);
    return question;
}

static void cancel(void *handle, void *context)
{
    struct question *question = handle;
    (void)context;
    osb_timer_stop(&question->timer);
    free(question);
}

static void on_execd(const char *namespace_, const char *owner_name, void *arg)
{
    struct process *process = arg;
    sandbox_controller_told(namespace_, owner_name, process->op.sandboxes);
}

/* ---- life ---- */

static struct osb_kube_reflector *start_reflector(struct process *process,
                                                  const struct osb_api_kind *kind,
                                                  struct osb_kube_store *store, uint64_t seed)
{
    struct osb_kube_reflector_options options = {.kind = kind, .seed = seed};
    struct osb_kube_reflector *reflector =
        osb_kube_reflector_new(process->op.loop, process->op.client, store, &options);
    osb_kube_reflector_start(reflector);
    return reflector;
}

static void on_synced(void *arg)
{
    struct process *process = arg;
    if (operator_is_synced(&process->op) && !process->op.sandboxes->leads)
        sandbox_controller_lead(process->op.sandboxes, true);
}

struct process *process_start(struct fake_api *api, uint64_t seed)
{
    struct process *process = osb_new(struct process);
    struct operator* op = & process->op;
    struct ping_asker asker = {ask, cancel, process};
    process->config.concurrency = 8;
    process->config.kubernetes.is_injected_by_node = true;
    process->is_execd_up = true;
    op->config = &process->config;
    op->loop = api->loop;
    op->client = osb_kube_client_new(op->loop, fake_api_transport(api));
    op->batchsandboxes = osb_kube_store_new(&batchsandbox_projection);
    op->pods = osb_kube_store_new(&pod_projection);
    op->events = osb_kube_events_new(op->loop, op->client, "test");
    op->ping = ping_new(op->loop, &asker, on_execd, process);
    op->sandboxes = sandbox_controller_new(op, seed);
    op->batchsandbox_reflector =
        start_reflector(process, &osb_kind_batchsandbox, op->batchsandboxes, seed);
    op->pod_reflector = start_reflector(process, &osb_kind_pod, op->pods, seed);
    osb_kube_reflector_on_sync(op->batchsandbox_reflector, on_synced, process);
    osb_kube_reflector_on_sync(op->pod_reflector, on_synced, process);
    return process;
}

void process_kill(struct process *process)
{
    struct operator* op = & process->op;
    osb_kube_reflector_free(op->batchsandbox_reflector);
    osb_kube_reflector_free(op->pod_reflector);
    sandbox_controller_free(op->sandboxes);
    ping_free(op->ping);
    osb_kube_events_free(op->events);
    osb_kube_store_free(op->batchsandboxes);
    osb_kube_store_free(op->pods);
    osb_kube_client_free(op->client);
    free(process);
}
