// SPDX-License-Identifier: Apache-2.0
/*
 * Kubernetes Events (core/v1) about an object: the same reason and message within ten minutes
 * become one Event with a higher count. A bounded queue drops the oldest and counts the loss.
 */
#ifndef OSB_KUBE_EVENTS_H
#define OSB_KUBE_EVENTS_H

#include <osb/kube_client.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    OSB_EVENTS_MAX_QUEUED = 1000,  /* events kept: waiting, or sent within the last ten minutes */
    OSB_EVENTS_MAX_MESSAGE = 1024, /* bytes; the API server refuses more */
    OSB_EVENTS_WINDOW_S = 600,
    OSB_EVENTS_MAX_ATTEMPTS = 5,
};

struct osb_kube_events;

struct osb_kube_ref {
    const struct osb_api_kind *kind;
    const char *namespace_;
    const char *name;
    const char *uid;
    const char *field_path; /* "spec.containers{main}"; may be NULL */
    /* Annotations of the Event: key, value, …, NULL; a NULL value leaves its key out. May be NULL.
     */
    const char *const *annotations;
};

/*
 * COMPONENT is the reporting component ("opensandbox-operator"); copied. CLIENT is borrowed; at
 * most one request runs at a time, so that events never crowd out work.
 */
struct osb_kube_events *osb_kube_events_new(struct osb_loop *loop, struct osb_kube_client *client,
                                            const char *component);
void osb_kube_events_free(struct osb_kube_events *events);
/* REASON is CamelCase. Never fails: an event is a courtesy. */
void osb_kube_event(struct osb_kube_events *events, const struct osb_kube_ref *about,
                    bool is_warning, const char *reason, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* FN is told of each event that the API server refused or would not take in time. */
void osb_kube_events_on_refusal(struct osb_kube_events *events,
                                void (*fn)(int r, const char *reason, const char *namespace_,
                                           const struct osb_err *err, void *arg),
                                void *arg);
/* Events that were never told: pushed out of the queue, or refused. */
uint64_t osb_kube_events_lost(const struct osb_kube_events *events);

#endif
