// SPDX-License-Identifier: Apache-2.0
#include "pod_verdict.h"

#include <stdio.h>
#include <string.h>

#include "inject_verdict.h"

/* Put off once, a pull may have met a hiccup of the registry; twice, it has not. */
enum { PULL_BACKOFFS_FOR_GOOD = 2 };

static bool is_one_of(const char *word, const char *const *words)
{
    for (; word && *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool says_one_of(const char *words, const char *const *signs)
{
    for (; words && *signs; signs++)
        if (strcasestr(words, *signs))
            return true;
    return false;
}

/* Of a node under load, or whose runtime starts again: the kubelet's next try may well succeed. */
static bool is_passing(const char *message)
{
    static const char *const signs[] = {
        "context deadline exceeded", "timed out waiting for the condition",
        "is reserved for",           "transport is closing",
        "error while dialing",       "connection refused",
        "too many requests",         NULL};
    return says_one_of(message, signs);
}

/* Waiting reasons that do not go by waiting. */
static bool is_for_good(const char *reason)
{
    static const char *const reasons[] = {"CrashLoopBackOff",
                                          "CreateContainerConfigError",
                                          "CreateContainerError",
                                          "InvalidImageName",
                                          "ErrImageNeverPull",
                                          "RunContainerError",
                                          "ImageInspectError",
                                          "PreCreateHookError",
                                          "PreStartHookError",
                                          "PostStartHookError",
                                          NULL};
    return is_one_of(reason, reasons);
}

static bool is_pull_failure(const char *reason)
{
    static const char *const reasons[] = {"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable",
                                          NULL};
    return is_one_of(reason, reasons);
}

/* What registries and runtimes say when asking again would get the same answer. */
static bool is_refusal(const char *message)
{
    static const char *const signs[] = {"not found",
                                        "manifest unknown",
                                        "name unknown",
                                        "unauthorized",
                                        "authentication required",
                                        "denied",
                                        "no match for platform",
                                        "exec format error",
                                        "invalid reference",
                                        NULL};
    return says_one_of(message, signs);
}

bool pod_has_pull_backoff(const struct pod *pod)
{
    for (size_t i = 0; i < pod->container_count; i++) {
        const struct container *container = &pod->containers[i];
        if (container->state == CONTAINER_WAITING && container->reason &&
            strcmp(container->reason, "ImagePullBackOff") == 0)
            return true;
    }
    return false;
}

static const struct container *find_failing(const struct pod *pod,
                                            const struct observation *observed)
{
    for (size_t i = 0; i < pod->container_count; i++) {
        const struct container *container = &pod->containers[i];
        if (container->state != CONTAINER_WAITING)
            continue;
        if (is_for_good(container->reason) && !is_passing(container->message))
            return container;
        if (is_pull_failure(container->reason) &&
            (is_refusal(container->message) || observed->pull_backoffs >= PULL_BACKOFFS_FOR_GOOD))
            return container;
    }
    return NULL;
}

/* The container whose end tells why the pod ended: the main one, else the first that failed. */
static const struct container *find_ended(const struct pod *pod)
{
    const struct container *main_container = pod_main_container(pod);
    if (main_container && main_container->state == CONTAINER_TERMINATED)
        return main_container;
    for (size_t i = 0; i < pod->container_count; i++)
        if (pod->containers[i].state == CONTAINER_TERMINATED && pod->containers[i].exit_code != 0)
            return &pod->containers[i];
    return NULL;
}

static bool has_ended(const struct pod *pod)
{
    if (pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED)
        return true;
    const struct container *container = pod_main_container(pod);
    if (!container || container->state != CONTAINER_TERMINATED)
        return false;
    /* Sidecars may run on; the sandbox is what its main container does. */
    return pod->restart_policy == RESTART_NEVER ||
           (pod->restart_policy == RESTART_ON_FAILURE && container->exit_code == 0);
}

static struct verdict ended(const struct pod *pod)
{
    struct verdict verdict = {.class_ = POD_ENDED};
    const struct container *container = find_ended(pod);
    if (container) {
        verdict.container = container->name;
        verdict.has_exit_code = true;
        verdict.exit_code = container->exit_code;
        verdict.reason = container->reason;
        verdict.message = container->message;
        if (!verdict.reason)
            verdict.reason = container->exit_code == 0 ? "Completed" : "Error";
    }
    /* Evicted, NodeLost, OutOfcpu: the node's reason says more than the container's. */
    if (pod->reason && pod->phase == POD_FAILED) {
        verdict.reason = pod->reason;
        verdict.message = pod->message;
    }
    if (!verdict.reason) {
        verdict.reason = pod->phase == POD_SUCCEEDED ? "Completed" : "Error";
        verdict.message = pod->message;
    }
    return verdict;
}

static bool is_ready(const struct pod *pod, const struct observation *observed)
{
    const struct container *container = pod_main_container(pod);
    if (!pod->address || pod->phase == POD_UNKNOWN)
        return false;
    if (!pod->has_execd)
        return pod->phase == POD_RUNNING && pod->is_ready;
    return observed->has_answered && !(container && container->state == CONTAINER_TERMINATED);
}

/* In a crash loop the words of the last end say more than "back-off 10s". */
static struct verdict failing(const struct container *container)
{
    return (struct verdict){
        .class_ = POD_FAILING,
        .reason = container->reason,
        .message = container->last_message ? container->last_message : container->message,
        .container = container->name,
        .last_end = container->last_reason,
        .has_exit_code = container->has_ended_before,
        .exit_code = container->last_exit_code,
    };
}

/*
 * "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: …": no
 * node is of the platform that the caller asked for, and waiting does not change one.
 */
static bool has_no_platform(const struct pod *pod)
{
    int all, refusing;
    if (!pod->unschedulable || !pod->is_platform_bound)
        return false;
    return sscanf(pod->unschedulable,
                  "0/%d nodes are available: %d node(s) didn't match Pod's node affinity", &all,
                  &refusing) == 2 &&
           all == refusing;
}

static struct verdict judge(const struct pod *pod, const struct observation *observed)
{
    if (has_ended(pod))
        return ended(pod);
    const struct container *container = find_failing(pod, observed);
    if (container)
        return failing(container);
    if (has_no_platform(pod))
        return (struct verdict){.class_ = POD_FAILING,
                                .reason = "PodPlatformUnschedulable",
                                .message = pod->unschedulable};
    return (struct verdict){.class_ = is_ready(pod, observed) ? POD_READY : POD_STARTING};
}

struct verdict pod_verdict(const struct pod *pod, const struct observation *observed)
{
    if (!pod)
        return (struct verdict){.class_ = POD_ABSENT};
    if (pod->is_deleting)
        return (struct verdict){.class_ = POD_TERMINATING};
    struct verdict verdict = judge(pod, observed);
    if (pod->has_execd && (verdict.class_ == POD_ENDED || verdict.class_ == POD_FAILING))
        inject_verdict(pod, &verdict);
    return verdict;
}

bool pod_is_to_be_replaced(const struct pod *pod)
{
    if (pod->is_deleting || !has_ended(pod))
        return false;
    if (pod->restart_policy == RESTART_ALWAYS)
        return true;
    return pod->restart_policy == RESTART_ON_FAILURE && pod->phase == POD_FAILED;
}
