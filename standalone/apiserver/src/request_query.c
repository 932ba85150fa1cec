// SPDX-License-Identifier: Apache-2.0
/* The options in a query string (meta/v1 ListOptions, CreateOptions, DeleteOptions and so on). */
#include "request.h"

#include <osb/text.h>

/* One option being read: the parsers below fill REQUEST. */
struct option {
    struct osb_slice value;
    struct osb_arena *arena;
    struct request *request;
    struct refusal *refusal;
    const char *name;
};

static int bad_option(const struct option *o, const char *why)
{
    return refuse_bad_request(o->refusal, "%s: Invalid value: \"%.*s\": %s", o->name,
                              OSB_SLICE_ARG(o->value), why);
}

static int read_i64(const struct option *o, int64_t *ret)
{
    if (!o->value.len)
        return 0;
    return osb_slice_to_i64(o->value, ret) < 0 ? bad_option(o, "must be an integer") : 0;
}

/* As Go's ParseBool, with which clients are written. */
static int read_bool(const struct option *o, bool *ret)
{
    static const char *const yes[] = {"true", "True", "TRUE", "1", "t", "T", NULL};
    static const char *const no[] = {"false", "False", "FALSE", "0", "f", "F", NULL};
    for (int i = 0; yes[i]; i++) {
        if (osb_slice_eq_str(o->value, yes[i]) || osb_slice_eq_str(o->value, no[i])) {
            *ret = osb_slice_eq_str(o->value, yes[i]);
            return 0;
        }
    }
    if (!o->value.len) {
        *ret = false;
        return 0;
    }
    return bad_option(o, "must be a boolean");
}

static int set_labels(const struct option *o)
{
    struct osb_err err = {0};
    if (osb_selector_parse_labels(o->value, &o->request->labels, &err) < 0)
        return refuse_bad_request(o->refusal, "unable to parse requirement: %s", err.message);
    return 0;
}

struct field_check {
    const struct resource *resource;
    const char *unknown;
    struct osb_arena *arena;
};

static void check_field(const char *key, void *arg)
{
    struct field_check *check = arg;
    for (int i = 0; check->resource->fields[i]; i++)
        if (!strcmp(check->resource->fields[i], key))
            return;
    check->unknown = osb_arena_strdup(check->arena, key);
}

static int set_fields(const struct option *o)
{
    struct osb_err err = {0};
    if (osb_selector_parse_fields(o->value, &o->request->fields, &err) < 0)
        return refuse_bad_request(o->refusal, "invalid field selector: %s", err.message);
    struct field_check check = {o->request->resource, NULL, o->arena};
    osb_selector_each_key(o->request->fields, check_field, &check);
    if (check.unknown)
        return refuse_bad_request(o->refusal, "field label not supported: %s", check.unknown);
    return 0;
}

static int set_version(const struct option *o)
{
    if (!o->value.len)
        return 0;
    o->request->has_version = true;
    if (osb_slice_to_u64(o->value, &o->request->version) < 0)
        return bad_option(o, "must be a number that this server gave out");
    return 0;
}

static int set_match(const struct option *o)
{
    if (osb_slice_eq_str(o->value, "Exact"))
        o->request->match = MATCH_EXACT;
    else if (osb_slice_eq_str(o->value, "NotOlderThan"))
        o->request->match = MATCH_NOT_OLDER;
    else if (o->value.len)
        return bad_option(o, "supported values: \"Exact\", \"NotOlderThan\"");
    return 0;
}

static int set_continue(const struct option *o)
{
    if (o->value.len)
        o->request->continue_ = osb_arena_slice_dup(o->arena, o->value);
    return 0;
}

static int set_limit(const struct option *o)
{
    int r = read_i64(o, &o->request->limit);
    return r >= 0 && o->request->limit < 0 ? bad_option(o, "must not be negative") : r;
}

static int set_timeout(const struct option *o)
{
    return read_i64(o, &o->request->timeout_s);
}

static int set_watch(const struct option *o)
{
    return read_bool(o, &o->request->is_watch);
}

static int set_bookmarks(const struct option *o)
{
    return read_bool(o, &o->request->allows_bookmarks);
}

static int set_initial(const struct option *o)
{
    o->request->has_initial = true;
    return read_bool(o, &o->request->wants_initial);
}

static int set_dry_run(const struct option *o)
{
    if (!o->value.len)
        return 0;
    if (!osb_slice_eq_str(o->value, "All"))
        return bad_option(o, "supported values: \"All\"");
    o->request->is_dry_run = true;
    return 0;
}

static int set_validation(const struct option *o)
{
    if (osb_slice_eq_str(o->value, "Strict"))
        o->request->validation = VALIDATION_STRICT;
    else if (osb_slice_eq_str(o->value, "Ignore"))
        o->request->validation = VALIDATION_IGNORE;
    else if (o->value.len && !osb_slice_eq_str(o->value, "Warn"))
        return bad_option(o, "supported values: \"Ignore\", \"Strict\", \"Warn\"");
    return 0;
}

static int set_grace(const struct option *o)
{
    o->request->deletion.has_grace = true;
    return read_i64(o, &o->request->deletion.grace_s);
}

int propagation_parse(struct osb_slice text, enum propagation *ret, struct refusal *refusal)
{
    if (osb_slice_eq_str(text, "Orphan"))
        *ret = PROPAGATE_ORPHAN;
    else if (osb_slice_eq_str(text, "Background"))
        *ret = PROPAGATE_BACKGROUND;
    else if (osb_slice_eq_str(text, "Foreground"))
        *ret = PROPAGATE_FOREGROUND;
    else
        return refuse_bad_request(refusal, "propagationPolicy: supported values: \"Foreground\", "
                                           "\"Background\", \"Orphan\"");
    return 0;
}

static int set_propagation(const struct option *o)
{
    return propagation_parse(o->value, &o->request->deletion.propagation, o->refusal);
}

static const struct {
    const char *name;
    int (*set)(const struct option *o);
} options[] = {
    {"labelSelector", set_labels},
    {"fieldSelector", set_fields},
    {"resourceVersion", set_version},
    {"resourceVersionMatch", set_match},
    {"continue", set_continue},
    {"limit", set_limit},
    {"timeoutSeconds", set_timeout},
    {"watch", set_watch},
    {"allowWatchBookmarks", set_bookmarks},
    {"sendInitialEvents", set_initial},
    {"dryRun", set_dry_run},
    {"fieldValidation", set_validation},
    {"gracePeriodSeconds", set_grace},
    {"propagationPolicy", set_propagation},
};

enum { OPTION_COUNT = sizeof(options) / sizeof(*options) };

/* Decodes "name=value"; false at the end. */
static bool next_pair(struct osb_slice *rest, struct osb_arena *arena, const char **ret_name,
                      struct osb_slice *ret_value, int *ret_error)
{
    struct osb_slice pair;
    do {
        if (!osb_slice_split(rest, '&', &pair))
            return false;
    } while (!pair.len);
    ptrdiff_t equals = osb_slice_find(pair, '=');
    struct osb_slice name = equals < 0 ? pair : osb_slice_first(pair, (size_t)equals);
    struct osb_slice value = equals < 0 ? OSB_SLICE_NULL : osb_slice_from(pair, (size_t)equals + 1);
    _cleanup_buf_ struct osb_buf n = {0}, v = {0};
    *ret_error = osb_percent_decode(&n, name, true) < 0 || osb_percent_decode(&v, value, true) < 0;
    *ret_name = osb_arena_slice_dup(arena, osb_buf_slice(&n));
    *ret_value = osb_slice(osb_arena_slice_dup(arena, osb_buf_slice(&v)), v.len);
    return true;
}

int request_query_parse(struct osb_slice query, struct osb_arena *arena, struct request *request,
                        struct refusal *refusal)
{
    struct option o = {.arena = arena, .request = request, .refusal = refusal};
    bool is_seen[OPTION_COUNT] = {0}; /* the first value counts */
    int error = 0, r = 0;
    for (int n = 0; r >= 0 && next_pair(&query, arena, &o.name, &o.value, &error); n++) {
        if (error || n == REQUEST_MAX_QUERY)
            return refuse_bad_request(refusal, "malformed query");
        for (int i = 0; i < OPTION_COUNT; i++) {
            if (is_seen[i] || strcmp(o.name, options[i].name) != 0)
                continue;
            is_seen[i] = true;
            r = options[i].set(&o);
        }
    }
    return r;
}

const char *query_get(struct osb_slice query, const char *name, struct osb_arena *arena)
{
    const char *key;
    struct osb_slice value;
    int error;
    while (next_pair(&query, arena, &key, &value, &error))
        if (!error && !strcmp(key, name))
            return value.data;
    return NULL;
}
