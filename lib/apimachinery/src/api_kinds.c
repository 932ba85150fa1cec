// SPDX-License-Identifier: Apache-2.0
#include <osb/api_kinds.h>

#include <osb/buf.h>
#include <osb/text.h>
#include <stdio.h>

static const char *const pod_short[] = {"po", NULL};
static const char *const event_short[] = {"ev", NULL};
static const char *const namespace_short[] = {"ns", NULL};
static const char *const node_short[] = {"no", NULL};
static const char *const batchsandbox_short[] = {"bsbx", NULL};
static const char *const sandboxsnapshot_short[] = {"sbxsnap", NULL};

const struct osb_api_kind osb_kind_pod = {
    "", "v1", "Pod", "PodList", "pods", "pod", pod_short, true,
};
const struct osb_api_kind osb_kind_secret = {
    "", "v1", "Secret", "SecretList", "secrets", "secret", NULL, true,
};
const struct osb_api_kind osb_kind_event = {
    "", "v1", "Event", "EventList", "events", "event", event_short, true,
};
const struct osb_api_kind osb_kind_namespace = {
    "", "v1", "Namespace", "NamespaceList", "namespaces", "namespace", namespace_short, false,
};
const struct osb_api_kind osb_kind_node = {
    "", "v1", "Node", "NodeList", "nodes", "node", node_short, false,
};
const struct osb_api_kind osb_kind_lease = {
    "coordination.k8s.io", "v1", "Lease", "LeaseList", "leases", "lease", NULL, true,
};
const struct osb_api_kind osb_kind_batchsandbox = {
    OSB_SANDBOX_GROUP, OSB_SANDBOX_VERSION, "BatchSandbox",     "BatchSandboxList",
    "batchsandboxes",  "batchsandbox",      batchsandbox_short, true,
};
const struct osb_api_kind osb_kind_pool = {
    OSB_SANDBOX_GROUP, OSB_SANDBOX_VERSION, "Pool", "PoolList", "pools", "pool", NULL, true,
};
const struct osb_api_kind osb_kind_sandboxsnapshot = {
    OSB_SANDBOX_GROUP,  OSB_SANDBOX_VERSION, "SandboxSnapshot",     "SandboxSnapshotList",
    "sandboxsnapshots", "sandboxsnapshot",   sandboxsnapshot_short, true,
};

const char *osb_api_kind_version(const struct osb_api_kind *kind, char buffer[static 128])
{
    snprintf(buffer, 128, "%s%s%s", kind->group, *kind->group ? "/" : "", kind->version);
    return buffer;
}

static void append_step(struct osb_buf *path, const char *step)
{
    osb_buf_append_char(path, '/');
    osb_percent_encode(path, osb_slice_str(step));
}

char *osb_api_path(const struct osb_api_kind *kind, const char *namespace_, const char *name,
                   const char *subresource)
{
    struct osb_buf path = {0};
    osb_buf_append_str(&path, *kind->group ? "/apis" : "/api");
    if (*kind->group)
        append_step(&path, kind->group);
    append_step(&path, kind->version);
    if (kind->is_namespaced && namespace_) {
        append_step(&path, "namespaces");
        append_step(&path, namespace_);
    }
    append_step(&path, kind->plural);
    if (name)
        append_step(&path, name);
    if (name && subresource)
        append_step(&path, subresource);
    return osb_buf_take(&path);
}
