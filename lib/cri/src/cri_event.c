// SPDX-License-Identifier: Apache-2.0
#include "cri_event.h"

#include <osb/clock.h>
#include <string.h>

typedef Containerd__Services__Events__V1__Timestamp timestamp;
typedef Containerd__Services__Events__V1__TaskStart task_start;
typedef Containerd__Services__Events__V1__TaskExit task_exit;
typedef Containerd__Services__Events__V1__TaskOOM task_oom;
typedef Containerd__Services__Events__V1__TaskDelete task_delete;

static int64_t nanoseconds(const timestamp *time)
{
    return time ? time->seconds * (int64_t)OSB_NS_PER_S + time->nanos : 0;
}

static bool fill_start(struct osb_cri_event *event, const ProtobufCMessage *message)
{
    const task_start *start = (const task_start *)message;

    event->container_id = start->container_id;
    event->pid = start->pid;
    return true;
}

/* Containerd reports the end of every exec, too; only the init process ends the container. */
static bool fill_exit(struct osb_cri_event *event, const ProtobufCMessage *message)
{
    const task_exit *end = (const task_exit *)message;

    event->container_id = end->container_id;
    event->pid = end->pid;
    event->exit_status = end->exit_status;
    if (end->exited_at)
        event->timestamp_ns = nanoseconds(end->exited_at);
    return strcmp(end->id, end->container_id) == 0;
}

static bool fill_oom(struct osb_cri_event *event, const ProtobufCMessage *message)
{
    event->container_id = ((const task_oom *)message)->container_id;
    return true;
}

static bool fill_delete(struct osb_cri_event *event, const ProtobufCMessage *message)
{
    const task_delete *end = (const task_delete *)message;

    event->container_id = end->container_id;
    event->pid = end->pid;
    event->exit_status = end->exit_status;
    /* The id is that of an exec when only this was deleted. */
    return end->id[0] == '\0' || strcmp(end->id, end->container_id) == 0;
}

static const struct kind {
    const char *topic;
    enum osb_cri_event_type type;
    const ProtobufCMessageDescriptor *message;
    bool (*fill)(struct osb_cri_event *event, const ProtobufCMessage *message);
} kinds[] = {
    {"/tasks/start", OSB_CRI_EVENT_CONTAINER_STARTED,
     &containerd__services__events__v1__task_start__descriptor, fill_start},
    {"/tasks/exit", OSB_CRI_EVENT_CONTAINER_EXITED,
     &containerd__services__events__v1__task_exit__descriptor, fill_exit},
    {"/tasks/oom", OSB_CRI_EVENT_CONTAINER_OOM,
     &containerd__services__events__v1__task_oom__descriptor, fill_oom},
    {"/tasks/delete", OSB_CRI_EVENT_CONTAINER_DELETED,
     &containerd__services__events__v1__task_delete__descriptor, fill_delete},
};

static const struct kind *find_kind(const char *topic)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(kinds[i].topic, topic) == 0)
            return &kinds[i];
    return NULL;
}

bool cri_event_read(const cri_envelope *envelope,
                    void (*fn)(const struct osb_cri_event *event, void *arg), void *arg)
{
    const struct kind *kind = find_kind(envelope->topic);
    struct osb_cri_event event = {0};
    ProtobufCMessage *message;
    bool is_known;

    if (!kind || !envelope->event)
        return false;
    message = protobuf_c_message_unpack(kind->message, NULL, envelope->event->value.len,
                                        envelope->event->value.data);
    if (!message)
        return false;
    event.type = kind->type;
    event.timestamp_ns = nanoseconds(envelope->timestamp);
    is_known = kind->fill(&event, message);
    if (is_known)
        fn(&event, arg);
    protobuf_c_message_free_unpacked(message, NULL);
    return is_known;
}
