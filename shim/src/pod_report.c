// SPDX-License-Identifier: Apache-2.0
#include "pod_report.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/cri.h>
#include <osb/json_writer.h>
#include <osb/kube_client.h>
#include <osb/list.h>
#include <osb/log.h>
#include <osb/metric.h>
#include <stdlib.h>
#include <string.h>

#define USER_AGENT "opensandbox-shim"

typedef Runtime__V1__PodSandboxStatusResponse status_response;

struct pod_report {
    struct osb_loop *loop;
    char *kubeconfig;
    struct osb_kube_config config;
    struct osb_kube_client *client; /* NULL while the kubeconfig cannot be read */
    uint64_t try_again_ns;
    struct osb_cri_client *runtime;
    struct osb_list pending;
    int count;
    struct osb_metric *told;
    struct osb_metric *dropped;
};

struct pending {
    struct osb_list link;
    struct pod_report *report;
    struct osb_cri_call *asking;
    struct osb_kube_call *telling;
    char *namespace_;
    char *pod;
};

/* ---- what is told ---- */

static void write_addresses(struct osb_json_writer *w,
                            const Runtime__V1__PodSandboxNetworkStatus *n)
{
    osb_json_kv_string(w, "podIP", n->ip);
    osb_json_key(w, "podIPs");
    osb_json_begin_array(w);
    osb_json_begin_object(w);
    osb_json_kv_string(w, "ip", n->ip);
    osb_json_end_object(w);
    for (size_t i = 0; i < n->n_additional_ips; i++) {
        osb_json_begin_object(w);
        osb_json_kv_string(w, "ip", n->additional_ips[i]->ip);
        osb_json_end_object(w);
    }
    osb_json_end_array(w);
}

bool pod_report_patch(const status_response *answer, struct osb_buf *out)
{
    const Runtime__V1__PodSandboxStatus *status = answer->status;
    struct osb_json_writer w;

    if (!status || !status->metadata || !status->metadata->uid[0] || !status->network ||
        !status->network->ip[0])
        return false;
    osb_json_writer_init(&w, out);
    osb_json_begin_object(&w);
    osb_json_key(&w, "metadata"); /* a precondition: not for a later pod of this name */
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "uid", status->metadata->uid);
    osb_json_end_object(&w);
    osb_json_key(&w, "status");
    osb_json_begin_object(&w);
    write_addresses(&w, status->network);
    osb_json_end_object(&w);
    osb_json_end_object(&w);
    return osb_json_writer_finish(&w, NULL) == 0;
}

/* ---- whom it is told ---- */

/* A new node's kubelet makes its kubeconfig when it has joined, which it cannot without us. */
static bool has_client(struct pod_report *report)
{
    struct osb_kube_transport *transport = NULL;
    struct osb_err err = {0};
    uint64_t now_ns = osb_loop_now_ns(report->loop);

    if (report->client || now_ns < report->try_again_ns)
        return report->client != NULL;
    int r = osb_kube_config_load(report->kubeconfig, &report->config, &err);
    if (r >= 0)
        r = osb_kube_transport_new_curl(report->loop, &report->config, USER_AGENT, &transport,
                                        &err);
    if (r >= 0) {
        report->client = osb_kube_client_new(report->loop, transport);
        return true;
    }
    osb_kube_config_done(&report->config);
    report->config = (struct osb_kube_config){0};
    report->try_again_ns = now_ns + POD_REPORT_RETRY_MS * OSB_NS_PER_MS;
    osb_log(OSB_LOG_WARN, "addresses are left to the kubelet to tell",
            OSB_KV_STR("file", report->kubeconfig), OSB_KV_ERR(&err));
    return false;
}

/* ---- one report ---- */

static void end(struct pending *pending, int r, const struct osb_err *err)
{
    struct pod_report *report = pending->report;

    osb_metric_add(r < 0 ? report->dropped : report->told, 1);
    if (r < 0)
        osb_log(OSB_LOG_DEBUG, "an address was not told",
                OSB_KV_STR("namespace", pending->namespace_), OSB_KV_STR("pod", pending->pod),
                OSB_KV_STR("error", err ? err->message : ""));
    osb_list_remove(&pending->link);
    report->count--;
    free(pending->namespace_);
    free(pending->pod);
    free(pending);
}

static void on_told(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    (void)body;
    end(arg, r, err);
}

static void on_status(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                      void *arg)
{
    struct pending *pending = arg;
    _cleanup_buf_ struct osb_buf patch = {0};
    struct osb_err own = {0};

    pending->asking = NULL;
    if (r >= 0 && !pod_report_patch((const status_response *)response, &patch)) {
        r = osb_fail(&own, -OSB_E_NOT_FOUND, "the pod sandbox has no address");
        err = &own;
    }
    if (r >= 0) {
        r = osb_kube_patch(pending->report->client, &osb_kind_pod, pending->namespace_,
                           pending->pod, "status", OSB_KUBE_PATCH_MERGE, osb_buf_slice(&patch),
                           on_told, pending, &pending->telling, &own);
        err = &own;
    }
    if (r < 0)
        end(pending, r, err);
}

void pod_report_send(struct pod_report *report, const char *namespace_, const char *pod,
                     const char *sandbox_id)
{
    Runtime__V1__PodSandboxStatusRequest request = RUNTIME__V1__POD_SANDBOX_STATUS_REQUEST__INIT;
    struct osb_err err = {0};

    if (report->count >= POD_REPORTS_MAX || !has_client(report)) {
        osb_metric_add(report->dropped, 1);
        return;
    }
    struct pending *pending = osb_new(struct pending);
    pending->report = report;
    pending->namespace_ = osb_strdup(namespace_);
    pending->pod = osb_strdup(pod);
    osb_list_append(&report->pending, &pending->link);
    report->count++;
    request.pod_sandbox_id = (char *)sandbox_id;
    int r = osb_cri_call(report->runtime, OSB_CRI_POD_SANDBOX_STATUS, &request.base,
                         POD_REPORT_TIMEOUT_MS, on_status, pending, &pending->asking, &err);
    if (r < 0)
        end(pending, r, &err);
}

/* ---- life ---- */

int pod_report_new(struct osb_loop *loop, const char *kubeconfig, const char *backend,
                   struct pod_report **ret, struct osb_err *err)
{
    struct pod_report *report = osb_new(struct pod_report);

    report->loop = loop;
    osb_list_init(&report->pending);
    report->told = osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_shim_addresses_total",
                                  "Addresses of pods for the API server", "result=\"told\"");
    report->dropped = osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_shim_addresses_total",
                                     "Addresses of pods for the API server", "result=\"dropped\"");
    report->kubeconfig = osb_strdup(kubeconfig);
    has_client(report);
    int r = osb_cri_client_new(loop, backend, &report->runtime, err);
    if (r < 0) {
        pod_report_free(report);
        return r;
    }
    *ret = report;
    return 0;
}

void pod_report_free(struct pod_report *report)
{
    struct pending *pending, *next;

    if (!report)
        return;
    osb_cri_client_free(report->runtime); /* calls are cancelled by both */
    osb_kube_client_free(report->client);
    osb_list_foreach_safe (pending, next, &report->pending, link) {
        free(pending->namespace_);
        free(pending->pod);
        free(pending);
    }
    osb_kube_config_done(&report->config);
    free(report->kubeconfig);
    free(report);
}
