// SPDX-License-Identifier: Apache-2.0
#include "columns.h"

#include <osb/clock.h>
#include <stdio.h>

#define COLUMNS(name, rows) const struct columns name = {rows, sizeof(rows) / sizeof(*(rows))}
#define COLUMN_NAME                                                                                \
    {                                                                                              \
        "Name", "string", "name", "Name of the object", 0, ".metadata.name", NULL                  \
    }
#define COLUMN_AGE                                                                                 \
    {                                                                                              \
        "Age", "date", "", "Time since creation", 0, ".metadata.creationTimestamp", NULL           \
    }

static void write_or_none(const struct osb_json *object, const char *path,
                          struct osb_json_writer *w)
{
    struct osb_slice text = osb_json_str(osb_json_get_path(object, path));
    osb_json_slice(w, text.len ? text : OSB_SLICE("<none>"));
}

/* ---- Secret ---- */

static void secret_data(const struct osb_json *secret, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    osb_json_i64(w, (int64_t)osb_json_count(osb_json_get(secret, "data")));
}

static const struct osb_api_column secret_columns[] = {
    COLUMN_NAME,
    {"Type", "string", "", "Kind of data", 0, ".type", NULL},
    {"Data", "integer", "", "Number of entries", 0, NULL, secret_data},
    COLUMN_AGE,
};
COLUMNS(columns_secret, secret_columns);

/* ---- Namespace ---- */

static const struct osb_api_column namespace_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "Active or Terminating", 0, ".status.phase", NULL},
    COLUMN_AGE,
};
COLUMNS(columns_namespace, namespace_columns);

/* ---- Lease ---- */

static const struct osb_api_column lease_columns[] = {
    COLUMN_NAME,
    {"Holder", "string", "", "Who holds it", 0, ".spec.holderIdentity", NULL},
    COLUMN_AGE,
};
COLUMNS(columns_lease, lease_columns);

/* ---- Node ---- */

static void node_status(const struct osb_json *node, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    const char *word = "Unknown";
    const struct osb_json *list = osb_json_get_path(node, "status.conditions");
    for (size_t i = 0; i < osb_json_count(list); i++) {
        const struct osb_json *condition = osb_json_at(list, i);
        if (osb_slice_eq_str(osb_json_str(osb_json_get(condition, "type")), "Ready"))
            word = osb_slice_eq_str(osb_json_str(osb_json_get(condition, "status")), "True")
                       ? "Ready"
                       : "NotReady";
    }
    osb_json_string(w, word);
}

static void node_roles(const struct osb_json *node, int64_t now_ns, struct osb_json_writer *w)
{
    (void)node;
    (void)now_ns;
    osb_json_string(w, "<none>");
}

static void node_address(const struct osb_json *node, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    const struct osb_json *list = osb_json_get_path(node, "status.addresses");
    struct osb_slice address = OSB_SLICE("<none>");
    for (size_t i = 0; i < osb_json_count(list); i++)
        if (osb_slice_eq_str(osb_json_str(osb_json_get(osb_json_at(list, i), "type")),
                             "InternalIP"))
            address = osb_json_str(osb_json_get(osb_json_at(list, i), "address"));
    osb_json_slice(w, address);
}

static void node_runtime(const struct osb_json *node, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    write_or_none(node, "status.nodeInfo.containerRuntimeVersion", w);
}

static const struct osb_api_column node_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "Ready or not", 0, NULL, node_status},
    {"Roles", "string", "", "Always none here", 0, NULL, node_roles},
    COLUMN_AGE,
    {"Version", "string", "", "Version of the node runner", 0, ".status.nodeInfo.kubeletVersion",
     NULL},
    {"Internal-IP", "string", "", "Address of the node", 1, NULL, node_address},
    {"Container-Runtime", "string", "", "What runs containers", 1, NULL, node_runtime},
};
COLUMNS(columns_node, node_columns);

/* ---- Event ---- */

/* The first of PATHS that holds a time, as an age. */
static void write_age(const struct osb_json *object, const char *const *paths, int64_t now_ns,
                      struct osb_json_writer *w)
{
    char age[24];
    int64_t at;
    for (; *paths; paths++) {
        struct osb_slice text = osb_json_str(osb_json_get_path(object, *paths));
        if (text.len && osb_rfc3339_parse(text, &at) >= 0) {
            osb_json_string(w, osb_api_age(now_ns - at, age));
            return;
        }
    }
    osb_json_string(w, "<unknown>");
}

static void event_last_seen(const struct osb_json *event, int64_t now_ns, struct osb_json_writer *w)
{
    static const char *const paths[] = {"series.lastObservedTime", "lastTimestamp", "eventTime",
                                        "firstTimestamp", NULL};
    write_age(event, paths, now_ns, w);
}

static void event_first_seen(const struct osb_json *event, int64_t now_ns,
                             struct osb_json_writer *w)
{
    static const char *const paths[] = {"firstTimestamp", "eventTime", NULL};
    write_age(event, paths, now_ns, w);
}

static void event_object(const struct osb_json *event, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    struct osb_slice kind = osb_json_str(osb_json_get_path(event, "involvedObject.kind"));
    struct osb_slice name = osb_json_str(osb_json_get_path(event, "involvedObject.name"));
    char text[512], lower[128];
    snprintf(lower, sizeof(lower), "%.*s", OSB_SLICE_ARG(kind));
    for (char *p = lower; *p; p++)
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
    snprintf(text, sizeof(text), "%s/%.*s", lower, OSB_SLICE_ARG(name));
    osb_json_string(w, text);
}

static void event_source(const struct osb_json *event, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    struct osb_slice component = osb_json_str(osb_json_get_path(event, "source.component"));
    struct osb_slice host = osb_json_str(osb_json_get_path(event, "source.host"));
    char text[512];
    if (!component.len)
        component = osb_json_str(osb_json_get(event, "reportingComponent"));
    snprintf(text, sizeof(text), "%.*s%s%.*s", OSB_SLICE_ARG(component), host.len ? ", " : "",
             OSB_SLICE_ARG(host));
    osb_json_string(w, text);
}

static void event_count(const struct osb_json *event, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    int64_t count = osb_json_i64_or(osb_json_get_path(event, "series.count"), 0);
    if (!count)
        count = osb_json_i64_or(osb_json_get(event, "count"), 1);
    osb_json_i64(w, count);
}

static const struct osb_api_column event_columns[] = {
    {"Last Seen", "string", "", "Time since it was last seen", 0, NULL, event_last_seen},
    {"Type", "string", "", "Normal or Warning", 0, ".type", NULL},
    {"Reason", "string", "", "One word", 0, ".reason", NULL},
    {"Object", "string", "", "What it is about", 0, NULL, event_object},
    {"Subobject", "string", "", "Part of the object", 1, ".involvedObject.fieldPath", NULL},
    {"Source", "string", "", "Who saw it", 1, NULL, event_source},
    {"Message", "string", "", "One sentence", 0, ".message", NULL},
    {"First Seen", "string", "", "Time since it was first seen", 1, NULL, event_first_seen},
    {"Count", "integer", "", "Times it was seen", 1, NULL, event_count},
    {"Name", "string", "name", "Name of the object", 1, ".metadata.name", NULL},
};
COLUMNS(columns_event, event_columns);
