// SPDX-License-Identifier: Apache-2.0
/*
 * Events. A record stands for one Event object: while it waits, or within the window after, the
 * same words only raise its count.
 */
#include <osb/alloc.h>
#include <osb/buf.h>
#include <osb/clock.h>
#include <osb/json_tree.h>
#include <osb/json_writer.h>
#include <osb/kube_events.h>
#include <osb/map.h>
#include <osb/text.h>
#include <osb/uuid.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "jitter.h"

enum { RETRY_MIN_MS = 500, RETRY_MAX_MS = 10000 };

struct record {
    struct osb_list age;     /* in `records`, longest unused first */
    struct osb_list pending; /* in `queue` while there is something to send */
    char *key;               /* who, reason, message */
    char *namespace_;        /* of the Event */
    char *name;
    char *involved;    /* JSON text of involvedObject */
    char *annotations; /* JSON text, or NULL */
    char *reason;
    char *message;
    bool is_warning;
    bool is_created; /* the API server has it */
    int count;
    int attempts;
    int64_t first_ns; /* wall clock */
    int64_t last_ns;
};

struct osb_kube_events {
    struct osb_loop *loop;
    struct osb_kube_client *client;
    char *component;
    struct osb_map by_key;
    struct osb_list records;
    struct osb_list queue;
    struct record *sending;
    int sent_count; /* of `sending` when it was sent */
    struct osb_kube_call *call;
    struct osb_defer send;
    struct osb_timer retry;
    uint64_t random;
    uint64_t lost;
    void (*on_refusal)(int r, const char *reason, const char *namespace_, const struct osb_err *err,
                       void *arg);
    void *refusal_arg;
};

static void record_free(struct osb_kube_events *events, struct record *record)
{
    osb_map_remove(&events->by_key, osb_slice_str(record->key));
    osb_list_remove(&record->age);
    osb_list_remove(&record->pending);
    free(record->key);
    free(record->namespace_);
    free(record->name);
    free(record->involved);
    free(record->annotations);
    free(record->reason);
    free(record->message);
    free(record);
}

/* ---- sending ---- */

static char *print_event(const struct osb_kube_events *events, const struct record *record)
{
    struct osb_buf text = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &text);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "apiVersion", "v1");
    osb_json_kv_string(&w, "kind", "Event");
    osb_json_key(&w, "metadata");
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "name", record->name);
    osb_json_kv_string(&w, "namespace", record->namespace_);
    if (record->annotations) {
        osb_json_key(&w, "annotations");
        osb_json_raw(&w, osb_slice_str(record->annotations));
    }
    osb_json_end_object(&w);
    osb_json_key(&w, "involvedObject");
    osb_json_raw(&w, osb_slice_str(record->involved));
    osb_json_kv_string(&w, "type", record->is_warning ? "Warning" : "Normal");
    osb_json_kv_string(&w, "reason", record->reason);
    osb_json_kv_string(&w, "message", record->message);
    osb_json_key(&w, "source");
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "component", events->component);
    osb_json_end_object(&w);
    osb_json_kv_string(&w, "reportingComponent", events->component);
    osb_json_kv_string(&w, "reportingInstance", events->component);
    osb_json_kv_time(&w, "firstTimestamp", record->first_ns);
    osb_json_kv_time(&w, "lastTimestamp", record->last_ns);
    osb_json_kv_i64(&w, "count", record->count);
    osb_json_end_object(&w);
    int r = osb_json_writer_finish(&w, NULL);
    osb_assert(r == 0);
    return osb_buf_take(&text);
}

static char *print_patch(const struct record *record)
{
    struct osb_buf text = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &text);
    osb_json_begin_object(&w);
    osb_json_kv_time(&w, "lastTimestamp", record->last_ns);
    osb_json_kv_i64(&w, "count", record->count);
    osb_json_end_object(&w);
    int r = osb_json_writer_finish(&w, NULL);
    osb_assert(r == 0);
    return osb_buf_take(&text);
}

static void new_name(struct record *record, const char *about)
{
    char hex[OSB_UUID_HEX_MAX];
    osb_uuid_format_hex(osb_uuid_v4(), hex);
    free(record->name);
    record->name = osb_asprintf("%.200s.%.16s", about, hex);
}

static void give_up(struct osb_kube_events *events, struct record *record)
{
    events->lost++;
    record_free(events, record);
}

static void after_failure(struct osb_kube_events *events, struct record *record, int r,
                          const struct osb_err *err)
{
    if (r == -OSB_E_NOT_FOUND && record->is_created) {
        record->is_created = false; /* aged out on the server: begin a new one */
        record->count = 1;
        osb_list_prepend(&events->queue, &record->pending);
        osb_defer_post(&events->send);
        return;
    }
    if (!osb_err_info(r)->is_retriable || ++record->attempts >= OSB_EVENTS_MAX_ATTEMPTS) {
        if (events->on_refusal)
            events->on_refusal(r, record->reason, record->namespace_, err, events->refusal_arg);
        give_up(events, record);
        osb_defer_post(&events->send);
        return;
    }
    osb_list_prepend(&events->queue, &record->pending);
    osb_timer_set(&events->retry,
                  jitter_backoff_ms(&events->random, record->attempts, RETRY_MIN_MS, RETRY_MAX_MS));
}

static void on_sent(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct osb_kube_events *events = arg;
    struct record *record = osb_take_ptr(events->sending);
    (void)body;
    events->call = NULL;
    /* Already there: an earlier answer was lost. */
    if (r < 0 && !(r == -OSB_E_EXISTS && !record->is_created)) {
        after_failure(events, record, r, err);
        return;
    }
    record->is_created = true;
    record->attempts = 0;
    if (record->count != events->sent_count)
        osb_list_append(&events->queue, &record->pending);
    osb_defer_post(&events->send);
}

static int send_record(struct osb_kube_events *events, struct record *record, struct osb_err *err)
{
    if (record->is_created) {
        _cleanup_free_ char *patch = print_patch(record);
        return osb_kube_patch(events->client, &osb_kind_event, record->namespace_, record->name,
                              NULL, OSB_KUBE_PATCH_MERGE, osb_slice_str(patch), on_sent, events,
                              &events->call, err);
    }
    _cleanup_free_ char *text = print_event(events, record);
    _cleanup_free_ char *path = osb_api_path(&osb_kind_event, record->namespace_, NULL, NULL);
    struct osb_kube_http_request request = {
        .method = "POST",
        .path = path,
        .content_type = "application/json",
        .body = osb_slice_str(text),
        .timeout_ms = OSB_KUBE_REQUEST_TIMEOUT_MS,
    };
    return osb_kube_raw(events->client, &request, 0, on_sent, events, &events->call, err);
}

static void send_next(struct osb_defer *defer)
{
    struct osb_kube_events *events = defer->arg;
    if (events->sending || osb_timer_is_set(&events->retry))
        return;
    struct record *record = osb_list_first(&events->queue, struct record, pending);
    if (!record)
        return;
    osb_list_remove(&record->pending);
    events->sending = record;
    events->sent_count = record->count;
    struct osb_err err = {0};
    int r = send_record(events, record, &err);
    if (r < 0) {
        events->sending = NULL;
        after_failure(events, record, r, &err);
    }
}

static void on_retry(struct osb_timer *timer)
{
    struct osb_kube_events *events = timer->arg;
    osb_defer_post(&events->send);
}

/* ---- taking ---- */

/* Forgets records whose window is over, and the oldest when there are too many. */
static void make_room(struct osb_kube_events *events, int64_t now_ns)
{
    struct record *record, *next;
    osb_list_foreach_safe (record, next, &events->records, age) {
        bool is_waiting = !osb_list_is_empty(&record->pending);
        bool is_old = now_ns - record->last_ns > OSB_EVENTS_WINDOW_S * 1000000000LL;
        bool is_too_many = events->by_key.count >= OSB_EVENTS_MAX_QUEUED;
        if (record == events->sending)
            continue;
        if (is_too_many && is_waiting)
            give_up(events, record);
        else if (is_too_many || (is_old && !is_waiting))
            record_free(events, record);
        else
            return;
    }
}

static char *print_involved(const struct osb_kube_ref *about)
{
    char version[128];
    struct osb_buf text = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &text);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "kind", about->kind->kind);
    osb_json_kv_string(&w, "apiVersion", osb_api_kind_version(about->kind, version));
    osb_json_kv_string_opt(&w, "namespace", about->namespace_);
    osb_json_kv_string(&w, "name", about->name);
    osb_json_kv_string_opt(&w, "uid", about->uid);
    osb_json_kv_string_opt(&w, "fieldPath", about->field_path);
    osb_json_end_object(&w);
    int r = osb_json_writer_finish(&w, NULL);
    osb_assert(r == 0);
    return osb_buf_take(&text);
}

static char *print_annotations(const char *const *annotations)
{
    struct osb_buf text = {0};
    struct osb_json_writer w;
    if (!annotations)
        return NULL;
    osb_json_writer_init(&w, &text);
    osb_json_begin_object(&w);
    for (; annotations[0]; annotations += 2)
        osb_json_kv_string_opt(&w, annotations[0], annotations[1]);
    osb_json_end_object(&w);
    int r = osb_json_writer_finish(&w, NULL);
    osb_assert(r == 0);
    return osb_buf_take(&text);
}

/* Cuts TEXT to what an Event may hold, not inside a character. */
static void limit_message(char *text)
{
    size_t len = strlen(text);
    if (len <= OSB_EVENTS_MAX_MESSAGE)
        return;
    len = OSB_EVENTS_MAX_MESSAGE;
    while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80)
        len--;
    text[len] = '\0';
}

static struct record *record_new(struct osb_kube_events *events, const struct osb_kube_ref *about,
                                 char *key, char *message, int64_t now_ns)
{
    struct record *record = osb_new(struct record);
    record->key = key;
    record->message = message;
    record->namespace_ =
        osb_strdup(about->namespace_ && about->namespace_[0] ? about->namespace_ : "default");
    record->involved = print_involved(about);
    record->annotations = print_annotations(about->annotations);
    record->first_ns = now_ns;
    new_name(record, about->name);
    osb_list_append(&events->records, &record->age);
    osb_map_set(&events->by_key, osb_slice_str(key), record);
    return record;
}

void osb_kube_event(struct osb_kube_events *events, const struct osb_kube_ref *about,
                    bool is_warning, const char *reason, const char *format, ...)
{
    struct osb_buf text = {0};
    va_list args;
    va_start(args, format);
    osb_buf_vappendf(&text, format, args);
    va_end(args);
    char *message = osb_buf_take(&text);
    limit_message(message);

    int64_t now_ns = osb_loop_realtime_ns(events->loop);
    make_room(events, now_ns);
    char *key = osb_asprintf("%s/%s/%s/%s/%s/%s", about->kind->kind,
                             about->namespace_ ? about->namespace_ : "", about->name,
                             about->uid ? about->uid : "", reason, message);
    struct record *record = osb_map_get(&events->by_key, osb_slice_str(key));
    if (record) {
        free(key);
        free(message);
    } else {
        record = record_new(events, about, key, message, now_ns);
        record->reason = osb_strdup(reason);
        record->is_warning = is_warning;
    }
    record->count++;
    record->last_ns = now_ns;
    osb_list_remove(&record->age);
    osb_list_append(&events->records, &record->age);
    if (record != events->sending && osb_list_is_empty(&record->pending))
        osb_list_append(&events->queue, &record->pending);
    osb_defer_post(&events->send);
}

void osb_kube_events_on_refusal(struct osb_kube_events *events,
                                void (*fn)(int r, const char *reason, const char *namespace_,
                                           const struct osb_err *err, void *arg),
                                void *arg)
{
    events->on_refusal = fn;
    events->refusal_arg = arg;
}

uint64_t osb_kube_events_lost(const struct osb_kube_events *events)
{
    return events->lost;
}

struct osb_kube_events *osb_kube_events_new(struct osb_loop *loop, struct osb_kube_client *client,
                                            const char *component)
{
    struct osb_kube_events *events = osb_new(struct osb_kube_events);
    events->loop = loop;
    events->client = client;
    events->component = osb_strdup(component);
    events->random = jitter_seed(0);
    osb_list_init(&events->records);
    osb_list_init(&events->queue);
    osb_defer_init(&events->send, loop, send_next, events);
    osb_timer_init(&events->retry, loop, on_retry, events);
    return events;
}

void osb_kube_events_free(struct osb_kube_events *events)
{
    if (!events)
        return;
    struct record *record, *next;
    osb_kube_cancel(events->call);
    osb_defer_cancel(&events->send);
    osb_timer_stop(&events->retry);
    osb_list_foreach_safe (record, next, &events->records, age)
        record_free(events, record);
    osb_map_done(&events->by_key, NULL);
    free(events->component);
    free(events);
}
