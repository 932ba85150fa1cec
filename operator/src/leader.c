// SPDX-License-Identifier: Apache-2.0
#include "leader.h"

#include <osb/alloc.h>
#include <osb/kube_lease.h>
#include <osb/log.h>
#include <osb/metric.h>
#include <osb/text.h>
#include <osb/uuid.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox_controller.h"

enum { MAX_HOST_NAME = 256 };

struct leader {
    struct operator* op;
    struct osb_kube_client *client; /* NULL without election, as is LEASE */
    struct osb_kube_lease *lease;
    char *identity;
    struct osb_defer released; /* without election */
    void (*on_released)(void *arg);
    void *released_arg;
};

static void on_change(bool leads, void *arg)
{
    struct leader *leader = arg;
    osb_log(OSB_LOG_INFO, leads ? "leading" : "not leading any more",
            OSB_KV_STR("name", leader->identity));
    sandbox_controller_lead(leader->op->sandboxes, leads);
}

static void on_note(int r, const char *holder, const struct osb_err *err, void *arg)
{
    (void)arg;
    if (r < 0)
        osb_log(OSB_LOG_WARN, "the lease could not be asked for", OSB_KV_STR("name", LEADER_LEASE),
                OSB_KV_STR("code", osb_err_info(r)->name), OSB_KV_STR("error", err->message));
    else
        osb_log(OSB_LOG_INFO, holder[0] ? "the lease has a holder" : "the lease has no holder",
                OSB_KV_STR("name", holder));
}

/* Unlike any other's, also when a container starts again under the same name. */
static char *make_identity(void)
{
    char uuid[OSB_UUID_TEXT_MAX];
    char host[MAX_HOST_NAME] = "";
    const char *name = getenv("POD_NAME");
    if (!name || !name[0]) {
        gethostname(host, sizeof(host) - 1);
        name = host;
    }
    osb_uuid_format(osb_uuid_v4(), uuid);
    return osb_asprintf("%s_%s", name, uuid);
}

static void on_nothing_released(struct osb_defer *defer)
{
    struct leader *leader = defer->arg;
    leader->on_released(leader->released_arg);
}

int leader_new(struct operator* op, const struct osb_kube_config *kube,
               const struct options_election *election, const char *user_agent, struct leader **ret,
               struct osb_err *err)
{
    struct leader *leader = osb_new(struct leader);
    leader->op = op;
    leader->identity = make_identity();
    osb_defer_init(&leader->released, op->loop, on_nothing_released, leader);
    if (election->is_on) {
        struct osb_kube_transport *transport = NULL;
        int r = osb_kube_transport_new_curl(op->loop, kube, user_agent, &transport, err);
        if (r < 0) {
            leader_free(leader);
            return r;
        }
        const char *namespace_ = getenv("POD_NAMESPACE");
        struct osb_kube_lease_options options = {
            .namespace_ = namespace_ && namespace_[0] ? namespace_ : kube->namespace_,
            .name = LEADER_LEASE,
            .identity = leader->identity,
            .duration_ms = election->lease_ms,
            .renew_deadline_ms = election->renew_deadline_ms,
            .retry_ms = election->retry_ms,
            .on_change = on_change,
            .on_note = on_note,
            .arg = leader,
        };
        leader->client = osb_kube_client_new(op->loop, transport);
        leader->lease = osb_kube_lease_new(op->loop, leader->client, &options);
    }
    *ret = leader;
    return 0;
}

void leader_free(struct leader *leader)
{
    if (!leader)
        return;
    osb_kube_lease_free(leader->lease);
    if (leader->client)
        osb_kube_client_free(leader->client);
    osb_defer_cancel(&leader->released);
    free(leader->identity);
    free(leader);
}

void leader_start(struct leader *leader)
{
    if (leader->lease)
        osb_kube_lease_start(leader->lease);
    else
        sandbox_controller_lead(leader->op->sandboxes, true);
}

void leader_release(struct leader *leader, void (*done)(void *arg), void *arg)
{
    if (leader->lease) {
        osb_kube_lease_release(leader->lease, done, arg);
        return;
    }
    leader->on_released = done;
    leader->released_arg = arg;
    osb_defer_post(&leader->released);
}

void leader_sample_metrics(const struct leader *leader)
{
    struct osb_metric *leads = osb_metric_new(OSB_METRIC_GAUGE, "opensandbox_leads",
                                              "1 while this operator reconciles", NULL);
    struct osb_metric *terms = osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_leader_terms_total",
                                              "How often this operator has begun to lead", NULL);
    osb_metric_set(leads, leader->op->sandboxes->leads);
    osb_metric_set(terms, leader->lease ? (int64_t)osb_kube_lease_terms(leader->lease) : 1);
}
