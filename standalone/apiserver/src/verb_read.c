// SPDX-License-Identifier: Apache-2.0
#include "verb_read.h"
#include "txn.h"

#include <osb/json_tree.h>
#include <osb/text.h>
#include <stdio.h>

struct filter request_filter(const struct request *request)
{
    return (struct filter){request->namespace_, request->name, request->labels, request->fields};
}

static int expired(struct read_context *c, const char *what)
{
    return refuse(c->refusal, 410, "Expired", "%s", what);
}

/* A version of the future: this server has not given it out. */
static int too_large(struct read_context *c, uint64_t version)
{
    field_error(c->refusal, "ResourceVersionTooLarge", "", "Too large resource version");
    c->refusal->status.retry_after_s = 1;
    return refuse(c->refusal, 504, "Timeout", "Too large resource version: %llu, current: %llu",
                  (unsigned long long)version, (unsigned long long)c->cache->revision);
}

int verb_get(struct read_context *c, struct osb_buf *out)
{
    const struct request *q = c->request;
    char *key = object_key(c->arena, q->namespace_, q->name);
    const struct object *object = cache_get(c->cache, q->resource, key);
    if (!object)
        return refuse_not_found(c->refusal, &q->resource->kind, q->name);
    if (q->has_version && q->version > c->cache->revision)
        return too_large(c, q->version);
    output_object(c->output, object, c->now_ns, out);
    return 0;
}

/* ---- the place in a list that goes on ---- */

struct place {
    uint64_t revision;     /* of the snapshot; 0: the current one */
    const char *after_key; /* exclusive; NULL: from the start */
};

static char *make_token(struct osb_arena *arena, uint64_t revision, const char *key)
{
    _cleanup_json_ struct osb_json *token = osb_json_new_object();
    osb_json_set(token, "v", osb_json_new_str("meta.k8s.io/v1"));
    osb_json_set(token, "rv", osb_json_new_i64((int64_t)revision));
    osb_json_set(token, "start", osb_json_new_str(key));
    _cleanup_buf_ struct osb_buf text = {0}, encoded = {0};
    osb_json_print(token, &text);
    osb_base64_encode(&encoded, osb_buf_slice(&text));
    return osb_arena_slice_dup(arena, osb_buf_slice(&encoded));
}

static int read_token(struct read_context *c, struct place *ret)
{
    _cleanup_buf_ struct osb_buf text = {0};
    _cleanup_json_ struct osb_json *token = NULL;
    int r = osb_base64_decode(&text, osb_slice_str(c->request->continue_));
    if (r >= 0)
        r = osb_json_parse(osb_buf_slice(&text), &token, NULL);
    int64_t revision = osb_json_i64_or(osb_json_get(token, "rv"), 0);
    struct osb_slice start = osb_json_str(osb_json_get(token, "start"));
    if (r < 0 || revision <= 0 || !start.len)
        return refuse_bad_request(c->refusal, "continue key is not valid");
    ret->revision = (uint64_t)revision;
    ret->after_key = osb_arena_slice_dup(c->arena, start);
    return 0;
}

static int option_forbidden(struct read_context *c, const char *field, const char *why)
{
    field_error(c->refusal, "FieldValueForbidden", field, "Forbidden: %s", why);
    static const struct osb_api_kind options = {"meta.k8s.io", "v1", "ListOptions", "", "", "",
                                                NULL,          false};
    return refuse_invalid(c->refusal, &options, "");
}

static int choose_place(struct read_context *c, struct place *ret)
{
    const struct request *q = c->request;
    *ret = (struct place){0};
    if (q->has_initial)
        return option_forbidden(c, "sendInitialEvents", "sendInitialEvents is forbidden for list");
    if (q->match != MATCH_UNSET && !q->has_version)
        return option_forbidden(
            c, "resourceVersionMatch",
            "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (q->match == MATCH_EXACT && q->version == 0)
        return option_forbidden(
            c, "resourceVersionMatch",
            "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"");
    if (q->continue_) {
        if (q->has_version && q->version)
            return refuse_bad_request(
                c->refusal, "specifying resource version is not allowed when using continue");
        return read_token(c, ret);
    }
    if (q->version > c->cache->revision)
        return too_large(c, q->version);
    /* A limit with a version and no match is exact, as it always was. */
    if (q->match == MATCH_EXACT || (q->match == MATCH_UNSET && q->limit && q->version))
        ret->revision = q->version;
    return 0;
}

/* Picks at most LIMIT (0: all) items in place; the rest is counted. */
static size_t pick(struct collection *all, const struct filter *filter, int64_t limit,
                   int64_t *ret_left)
{
    size_t kept = 0;
    *ret_left = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct object *object = all->items[i];
        bool is_wanted = object_matches(object, filter);
        if (is_wanted && limit && (int64_t)kept == limit) {
            ++*ret_left;
            is_wanted = false;
        }
        if (is_wanted) {
            all->items[i] = all->items[kept]; /* swap, so that all stay referenced */
            all->items[kept++] = object;
        }
    }
    return kept;
}

int verb_list(struct read_context *c, struct osb_buf *out)
{
    const struct request *q = c->request;
    struct place place;
    int r = choose_place(c, &place);
    if (r < 0)
        return r;
    struct list_meta meta = {.revision = place.revision ? place.revision : c->cache->revision,
                             .remaining = -1};
    if (meta.revision > c->cache->revision)
        return refuse_bad_request(c->refusal, "continue key is not valid");
    struct collection all = {0};
    if (!history_snapshot(c->history, c->cache, q->resource, meta.revision, place.after_key, &all))
        return expired(c, q->continue_
                              ? "The provided continue parameter is too old to display a "
                                "consistent list result. You must start a new list without the "
                                "continue parameter."
                              : "The resourceVersion for the provided list is too old.");
    const struct filter filter = request_filter(q);
    int64_t left;
    size_t count = pick(&all, &filter, q->limit, &left);
    if (left) {
        meta.continue_ = make_token(c->arena, meta.revision, all.items[count - 1]->key);
        if (!q->labels && !q->fields)
            meta.remaining = left;
    }
    output_list(c->output, q->resource, all.items, count, &meta, c->now_ns, out);
    snapshot_done(&all);
    return 0;
}

int watch_begin(struct read_context *c, struct watch_start *ret)
{
    const struct request *q = c->request;
    if (q->has_initial && q->match != MATCH_NOT_OLDER)
        return option_forbidden(
            c, "resourceVersionMatch",
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (!q->has_initial && q->match != MATCH_UNSET)
        return option_forbidden(c, "resourceVersionMatch",
                                "resourceVersionMatch is forbidden for watch unless "
                                "sendInitialEvents is provided");
    if (q->continue_)
        return option_forbidden(c, "continue", "continue is forbidden for watch");
    uint64_t sequence, now = c->cache->revision;
    if (q->has_initial && q->wants_initial) {
        if (q->version > now)
            return too_large(c, q->version);
        *ret = (struct watch_start){true, q->allows_bookmarks, now};
    } else if (q->version == 0) {
        *ret = (struct watch_start){!q->has_initial, false, now};
    } else {
        *ret = (struct watch_start){false, false, q->version};
    }
    if (!history_seek(c->history, ret->revision, &sequence))
        return expired(c, "too old resource version");
    return 0;
}
