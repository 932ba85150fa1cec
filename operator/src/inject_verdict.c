// SPDX-License-Identifier: Apache-2.0
#include "inject_verdict.h"

#include <string.h>

#include "operator.h"
#include "pod_inject.h"

/* How shims begin what they refuse (docs/interfaces.md). */
#define SHIM_WORDS "opensandbox-shim: "

/*
 * runc    exec: "/opt/opensandbox/bootstrap.sh": stat /opt/opensandbox/bootstrap.sh: no such file
 * or directory crun    executable file `/opt/opensandbox/bootstrap.sh` not found: No such file or
 * directory runsc   failed to load /opt/opensandbox/bootstrap.sh: no such file or directory
 */
static bool misses_launcher(const char *words)
{
    return words && strstr(words, LAUNCHER) &&
           (strcasestr(words, "no such file") || strcasestr(words, "not found"));
}

static bool has_installer(const struct pod *pod)
{
    for (size_t i = 0; i < pod->container_count; i++)
        if (pod->containers[i].is_init && strcmp(pod->containers[i].name, INJECT_CONTAINER) == 0)
            return true;
    return false;
}

static bool is_installer(const struct verdict *verdict)
{
    return verdict->container && strcmp(verdict->container, INJECT_CONTAINER) == 0;
}

static void set(struct verdict *verdict, const char *reason, const char *advice)
{
    if (reason)
        verdict->reason = reason;
    verdict->advice = advice;
}

void inject_verdict(const struct pod *pod, struct verdict *verdict)
{
    bool is_missing = misses_launcher(verdict->message);
    if (is_installer(verdict))
        set(verdict, is_missing ? REASON_INJECTION : NULL,
            is_missing
                ? "runtime.execd_image of the operator has no launcher in it: it is no execd image"
                : "this init container brings execd: its image is runtime.execd_image of the "
                  "operator");
    else if (verdict->message && strstr(verdict->message, SHIM_WORDS))
        set(verdict, REASON_INJECTION,
            "the shim of this node cannot put execd in: bring it to the operator's version");
    else if (is_missing && !has_installer(pod))
        set(verdict, REASON_INJECTION,
            "nobody on this node puts execd into sandboxes: run opensandbox-shim there and point "
            "the kubelet at it, or set kubernetes.execd_injection = \"init-container\"");
}
