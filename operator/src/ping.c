// SPDX-License-Identifier: Apache-2.0
#include "ping.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/log.h>
#include <osb/map.h>
#include <osb/metric.h>

#include <stdlib.h>
#include <string.h>

#include "pod_inject.h"

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
    int progress;          /* how far the pod was seen to be */
    bool is_early;         /* the init container that brings execd was not seen to have ended */
    bool is_ready;         /* the kubelet called it so */
    bool has_answered;     /* and nothing has happened since that makes its answer void */
    bool is_told;          /* the first question has had its answer, or none */
    int asked_count;
    uint64_t began_ns;
    uint64_t moved_ns; /* when it last got on */
};

struct ping {
    struct osb_loop *loop;
    struct ping_asker asker;
    void (*told)(const char *namespace_, const char *owner_name, void *arg);
    void *arg;
    struct osb_map entries; /* by pod UID */
    struct osb_list due;
    int asking_count;
    int waiting_count; /* entries that have not answered */
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
    entry->ping->waiting_count -= !entry->has_answered;
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

static uint64_t clamp(uint64_t value, uint64_t min, uint64_t max)
{
    return value < min ? min : value > max ? max : value;
}

static uint64_t since_moved_ms(const struct entry *entry)
{
    return (osb_loop_now_ns(entry->ping->loop) - entry->moved_ns) / OSB_NS_PER_MS;
}

static void back_off(struct entry *entry)
{
    uint64_t share_ms = (uint64_t)entry->ping->waiting_count * PING_GAP_MS;
    uint64_t min_ms = entry->is_early ? PING_PAUSE_EARLY_MS : PING_PAUSE_MIN_MS;
    if (share_ms > min_ms)
        min_ms = clamp(share_ms, min_ms, PING_PAUSE_MAX_MS);
    entry->state = BACKING_OFF;
    osb_timer_set(&entry->timer,
                  clamp(since_moved_ms(entry) / PING_PAUSE_SHARE, min_ms, PING_PAUSE_MAX_MS));
}

static void set_answered(struct entry *entry, bool has_answered)
{
    entry->ping->waiting_count += entry->has_answered - has_answered;
    entry->has_answered = has_answered;
}

/* What a slow start is looked into by: the address came, execd answered, and how long that took. */
static void note_answer(const struct entry *entry)
{
    uint64_t took_ns = osb_loop_now_ns(entry->ping->loop) - entry->began_ns;
    osb_metric_observe_ns(entry->ping->waited, took_ns);
    osb_log(OSB_LOG_INFO, "execd answered", OSB_KV_STR("namespace", entry->namespace_),
            OSB_KV_STR("sandbox", entry->owner_name), OSB_KV_STR("uid", entry->uid),
            OSB_KV_INT("duration_ms", took_ns / OSB_NS_PER_MS),
            OSB_KV_INT("attempt", entry->asked_count));
}

static void on_answer(int r, void *arg)
{
    struct entry *entry = arg;
    struct ping *ping = entry->ping;
    bool is_news = !entry->is_told || entry->has_answered != (r >= 0);
    ping->asking_count--;
    if (r >= 0 && !entry->has_answered)
        note_answer(entry);
    entry->is_told = true;
    set_answered(entry, r >= 0);
    if (r < 0)
        back_off(entry);
    else
        entry->state = ANSWERED;
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
        entry->asked_count++;
        uint64_t timeout_ms =
            clamp(since_moved_ms(entry) / 2, PING_TIMEOUT_MIN_MS, PING_TIMEOUT_MAX_MS);
        entry->handle =
            ping->asker.ask(entry->address, timeout_ms, on_answer, entry, ping->asker.context);
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

static bool is_early(const struct pod *pod)
{
    for (size_t i = 0; i < pod->container_count; i++) {
        const struct container *container = &pod->containers[i];
        if (container->is_init && strcmp(container->name, INJECT_CONTAINER) == 0)
            return container->state != CONTAINER_TERMINATED;
    }
    return false;
}

/* Init containers that have ended, then one more for a main container that runs. */
static int progress_of(const struct pod *pod)
{
    const struct container *main_container = pod_main_container(pod);
    int progress = 0;
    if (main_container && main_container->state == CONTAINER_RUNNING)
        return POD_MAX_CONTAINERS + 1;
    for (size_t i = 0; i < pod->container_count; i++)
        if (pod->containers[i].is_init && pod->containers[i].state == CONTAINER_TERMINATED)
            progress++;
    return progress;
}

static void look_at(struct entry *entry, const struct pod *pod)
{
    entry->progress = progress_of(pod);
    entry->is_early = is_early(pod);
    entry->is_ready = pod->is_ready;
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
    entry->began_ns = osb_loop_now_ns(ping->loop);
    entry->moved_ns = entry->began_ns;
    ping->waiting_count++;
    look_at(entry, pod);
    osb_timer_init(&entry->timer, ping->loop, on_backed_off, entry);
    osb_map_set(&ping->entries, osb_slice_str(entry->uid), entry);
    make_due(entry);
}

/* What was waited for may be there now; or what was there may be gone. */
static void hurry(struct entry *entry)
{
    entry->moved_ns = osb_loop_now_ns(entry->ping->loop);
    if (entry->state != BACKING_OFF && entry->state != ANSWERED)
        return;
    osb_timer_stop(&entry->timer);
    make_due(entry);
}

static void entry_update(struct entry *entry, const struct pod *pod)
{
    bool has_moved = progress_of(pod) > entry->progress;
    bool is_lost = entry->is_ready && !pod->is_ready;
    if (entry->has_answered ? is_lost : has_moved)
        hurry(entry);
    look_at(entry, pod);
}

void ping_observe(struct ping *ping, const struct pod *pod)
{
    struct entry *entry = osb_map_get(&ping->entries, osb_slice_str(pod->object.uid));
    if (entry && (!is_askable(pod) || !is_same(entry, pod))) {
        ping_forget(ping, pod->object.uid);
        entry = NULL;
    }
    if (entry)
        entry_update(entry, pod);
    else if (is_askable(pod))
        entry_add(ping, pod);
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
    return entry && entry->has_answered && is_askable(pod) && is_same(entry, pod);
}

bool ping_is_first(const struct ping *ping, const struct pod *pod)
{
    const struct entry *entry = osb_map_get(&ping->entries, osb_slice_str(pod->object.uid));
    return entry && !entry->is_told;
}
