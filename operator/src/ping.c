// SPDX-License-Identifier: Apache-2.0
#include "ping.h"

#include <osb/alloc.h>
#include <osb/map.h>
#include <osb/metric.h>

#include <stdlib.h>
#include <string.h>

enum state { DUE, ASKING, BACKING_OFF, ANSWERED };

struct entry {
    struct ping *ping;
    struct osb_list link; /* in `due` */
    struct osb_timer timer;
    enum state state;
    void *handle; /* of the asker, while ASKING */
    char *uid;
    char *namespace_;
    char *owner_name;
    char *address;
    int64_t restart_count; /* of the main container: a restart is a new execd */
    bool is_running;       /* the main container was seen running */
    bool is_told;          /* the first question has had its answer, or none */
    int failures;
    uint64_t began_ns;
};

struct ping {
    struct osb_loop *loop;
    struct ping_asker asker;
    void (*told)(const char *namespace_, const char *owner_name, void *arg);
    void *arg;
    struct osb_map entries; /* by pod UID */
    struct osb_list due;
    int asking_count;
    struct osb_metric *asked;
    struct osb_metric *waited;
};

static void ask_due(struct ping *ping);

struct ping *ping_new(struct osb_loop *loop, const struct ping_asker *asker,
                      void (*told)(const char *namespace_, const char *owner_name, void *arg),
                      void *arg)
{
    struct ping *ping = osb_new(struct ping);
    ping->loop = loop;
    ping->asker = *asker;
    ping->told = told;
    ping->arg = arg;
    osb_list_init(&ping->due);
    ping->asked = osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_execd_pings_total",
                                 "Questions to execd whether it is there", NULL);
    ping->waited = osb_metric_new(OSB_METRIC_HISTOGRAM, "opensandbox_execd_answer_seconds",
                                  "From a pod's address to the first answer of its execd", NULL);
    return ping;
}

/* Takes an entry out of whatever it is in. */
static void stop(struct entry *entry)
{
    osb_list_remove(&entry->link);
    osb_timer_stop(&entry->timer);
    if (entry->state == ASKING) {
        entry->ping->asker.cancel(entry->handle, entry->ping->asker.context);
        entry->ping->asking_count--;
    }
}

static void entry_free(void *value)
{
    struct entry *entry = value;
    stop(entry);
    free(entry->uid);
    free(entry->namespace_);
    free(entry->owner_name);
    free(entry->address);
    free(entry);
}

void ping_free(struct ping *ping)
{
    if (!ping)
        return;
    osb_map_done(&ping->entries, entry_free);
    free(ping);
}

/* ---- asking ---- */

static void make_due(struct entry *entry)
{
    entry->state = DUE;
    osb_list_append(&entry->ping->due, &entry->link);
}

static void on_backed_off(struct osb_timer *timer)
{
    struct entry *entry = timer->arg;
    make_due(entry);
    ask_due(entry->ping);
}

static void back_off(struct entry *entry)
{
    uint64_t delay_ms = PING_BACKOFF_MIN_MS;
    for (int i = 0; i < entry->failures && delay_ms < PING_BACKOFF_MAX_MS; i++)
        delay_ms *= 2;
    if (delay_ms > PING_BACKOFF_MAX_MS)
        delay_ms = PING_BACKOFF_MAX_MS;
    entry->failures++;
    entry->state = BACKING_OFF;
    osb_timer_set(&entry->timer, delay_ms);
}

static void on_answer(int r, void *arg)
{
    struct entry *entry = arg;
    struct ping *ping = entry->ping;
    bool is_news = r >= 0 || !entry->is_told;
    ping->asking_count--;
    entry->is_told = true;
    if (r < 0) {
        back_off(entry);
    } else {
        entry->state = ANSWERED;
        osb_metric_observe_ns(ping->waited, osb_loop_now_ns(ping->loop) - entry->began_ns);
    }
    if (is_news)
        ping->told(entry->namespace_, entry->owner_name, ping->arg);
    ask_due(ping);
}

static void ask_due(struct ping *ping)
{
    while (ping->asking_count < PING_CONCURRENCY) {
        struct entry *entry = osb_list_first(&ping->due, struct entry, link);
        if (!entry)
            return;
        osb_list_remove(&entry->link);
        osb_metric_add(ping->asked, 1);
        entry->handle = ping->asker.ask(entry->address, on_answer, entry, ping->asker.context);
        if (!entry->handle) {
            back_off(entry);
            continue;
        }
        entry->state = ASKING;
        ping->asking_count++;
    }
}

/* ---- watching pods ---- */

/* An execd can be there: the pod has an address and its main container has not ended. */
static bool is_askable(const struct pod *pod)
{
    const struct container *container = pod_main_container(pod);
    if (!pod->has_execd || !pod->address || !pod->owner_name || pod->is_deleting ||
        pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED)
        return false;
    return !container || !(container->state == CONTAINER_TERMINATED ||
                           (container->state == CONTAINER_WAITING && container->has_ended_before));
}

static bool is_same(const struct entry *entry, const struct pod *pod)
{
    const struct container *container = pod_main_container(pod);
    return strcmp(entry->address, pod->address) == 0 &&
           entry->restart_count == (container ? container->restart_count : 0);
}

static void entry_add(struct ping *ping, const struct pod *pod)
{
    const struct container *container = pod_main_container(pod);
    struct entry *entry = osb_new(struct entry);
    entry->ping = ping;
    entry->uid = osb_strdup(pod->object.uid);
    entry->namespace_ = osb_strdup(pod->object.namespace_);
    entry->owner_name = osb_strdup(pod->owner_name);
    entry->address = osb_strdup(pod->address);
    entry->restart_count = container ? container->restart_count : 0;
    entry->is_running = container && container->state == CONTAINER_RUNNING;
    entry->began_ns = osb_loop_now_ns(ping->loop);
    osb_timer_init(&entry->timer, ping->loop, on_backed_off, entry);
    osb_map_set(&ping->entries, osb_slice_str(entry->uid), entry);
    make_due(entry);
}

/* The container has just started: what was waited for may be there now. */
static void hurry(struct entry *entry)
{
    entry->failures = 0;
    if (entry->state != BACKING_OFF)
        return;
    osb_timer_stop(&entry->timer);
    make_due(entry);
}

void ping_observe(struct ping *ping, const struct pod *pod)
{
    struct entry *entry = osb_map_get(&ping->entries, osb_slice_str(pod->object.uid));
    if (entry && (!is_askable(pod) || !is_same(entry, pod))) {
        ping_forget(ping, pod->object.uid);
        entry = NULL;
    }
    if (!entry) {
        if (is_askable(pod))
            entry_add(ping, pod);
    } else {
        const struct container *container = pod_main_container(pod);
        bool is_running = container && container->state == CONTAINER_RUNNING;
        if (is_running && !entry->is_running)
            hurry(entry);
        entry->is_running = is_running;
    }
    ask_due(ping);
}

void ping_forget(struct ping *ping, const char *pod_uid)
{
    struct entry *entry = osb_map_remove(&ping->entries, osb_slice_str(pod_uid));
    if (entry)
        entry_free(entry);
    ask_due(ping);
}

bool ping_has_answered(const struct ping *ping, const struct pod *pod)
{
    const struct entry *entry = osb_map_get(&ping->entries, osb_slice_str(pod->object.uid));
    return entry && entry->state == ANSWERED && is_askable(pod) && is_same(entry, pod);
}

bool ping_is_first(const struct ping *ping, const struct pod *pod)
{
    const struct entry *entry = osb_map_get(&ping->entries, osb_slice_str(pod->object.uid));
    return entry && !entry->is_told;
}
