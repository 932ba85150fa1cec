// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "gc.h"
#include "verb_read.h"
#include "verbs.h"

#include <osb/alloc.h>
#include <stdio.h>

static struct object *put_namespace(struct world *w, const char *name)
{
    _cleanup_free_ char *body = osb_asprintf(
        "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\"}}", name);
    assert_int_equal(world_call(w, "POST", "/api/v1/namespaces", body), 201);
    return cache_get(&w->cache, registry_by_storage(&w->registry, "namespaces"), name);
}

struct world *world_new_bounded(size_t max_events)
{
    struct world *w = osb_new(struct world);
    struct osb_err err = {0};
    w->now_ns = 1800000000LL * 1000000000LL;
    registry_init(&w->registry);
    if (registry_load_crds(&w->registry, OSB_CRDS, &err) < 0)
        fail_msg("%s", err.message);
    w->cache.revision = 1;
    history_init(&w->history, 1, max_events, 0);
    assert_non_null(put_namespace(w, "default"));
    return w;
}

struct world *world_new(void)
{
    return world_new_bounded(0);
}

void world_empty(struct world *w)
{
    cache_done(&w->cache);
    history_done(&w->history);
    w->cache.revision = 1;
    history_init(&w->history, 1, 64, 0);
    assert_non_null(put_namespace(w, "default"));
}

void world_free(struct world *w)
{
    osb_json_free(w->reply);
    osb_buf_done(&w->text);
    history_done(&w->history);
    cache_done(&w->cache);
    registry_done(&w->registry);
    free(w);
}

int world_setup(void **state)
{
    *state = world_new();
    return 0;
}

int world_teardown(void **state)
{
    world_free(*state);
    return 0;
}

/* ---- calls ---- */

/* Everything of one call. */
struct exchange {
    struct world *world;
    struct osb_arena arena;
    struct request request;
    struct output output;
    struct refusal refusal;
    struct outcome outcome;
    struct osb_json *body;
    struct osb_buf reply;
};

static void parse_target(const char *target, struct osb_slice *ret_path,
                         struct osb_slice *ret_query)
{
    struct osb_slice rest = osb_slice_str(target);
    osb_slice_split(&rest, '?', ret_path);
    *ret_query = rest;
}

static int read_it(struct exchange *e)
{
    struct world *w = e->world;
    struct read_context c = {.cache = &w->cache,
                             .history = &w->history,
                             .request = &e->request,
                             .output = &e->output,
                             .arena = &e->arena,
                             .refusal = &e->refusal,
                             .now_ns = w->now_ns};
    if (e->request.sub != SUB_SCALE)
        return e->request.verb == VERB_GET ? verb_get(&c, &e->reply) : verb_list(&c, &e->reply);
    char *key = object_key(&e->arena, e->request.namespace_, e->request.name);
    const struct object *object = cache_get(&w->cache, e->request.resource, key);
    if (!object)
        return refuse_not_found(&e->refusal, &e->request.resource->kind, e->request.name);
    _cleanup_json_ struct osb_json *tree = object_tree(object);
    _cleanup_json_ struct osb_json *scale = scale_of(e->request.resource, tree);
    osb_json_print(scale, &e->reply);
    return 0;
}

static int run_verb(struct exchange *e, struct verb_context *c, const char *method)
{
    int count;
    struct delete_options deletion = e->request.deletion;
    switch (e->request.verb) {
    case VERB_CREATE:
        return verb_create(c, e->body, &e->outcome);
    case VERB_UPDATE:
        return verb_update(c, e->body, &e->outcome);
    case VERB_PATCH:
        return verb_patch(c,
                          !strcmp(method, "JSONPATCH")   ? PATCH_JSON
                          : !strcmp(method, "STRATEGIC") ? PATCH_STRATEGIC
                                                         : PATCH_MERGE,
                          e->body, &e->outcome);
    default:
        if (delete_options_read(e->body, &e->arena, &deletion, &e->request.is_dry_run,
                                &e->refusal) < 0)
            return -1;
        return e->request.verb == VERB_DELETE ? verb_delete(c, &deletion, &e->outcome)
                                              : verb_delete_collection(c, &deletion, &count);
    }
}

static int write_it(struct exchange *e, const char *method)
{
    struct world *w = e->world;
    struct txn txn;
    txn_init(&txn, &w->cache, w->cache.revision, w->now_ns);
    struct verb_context c = {.txn = &txn,
                             .registry = &w->registry,
                             .request = &e->request,
                             .node_name = "node-1",
                             .arena = &e->arena,
                             .refusal = &e->refusal};
    int r = run_verb(e, &c, method);
    assert_true(r >= 0 || txn.count == 0);
    w->warnings = c.warning_count;
    txn_apply(&txn, &w->cache, &w->history);
    if (r >= 0 && e->outcome.is_deleted)
        osb_api_status_print_success("", e->request.resource->kind.plural, e->request.name, NULL,
                                     &e->reply);
    else if (r >= 0 && e->outcome.object)
        output_object(&e->output, e->outcome.object, w->now_ns, &e->reply);
    return r;
}

static int serve(struct exchange *e, const char *method, const char *target)
{
    struct osb_slice path, query;
    parse_target(target, &path, &query);
    bool is_patch =
        !strcmp(method, "MERGE") || !strcmp(method, "JSONPATCH") || !strcmp(method, "STRATEGIC");
    bool is_table = !strcmp(method, "TABLE");
    const char *http = is_patch ? "PATCH" : is_table ? "GET" : method;
    const char *accept = is_table ? "application/json;as=Table;v=v1;g=meta.k8s.io" : "";
    int r = request_parse(&e->world->registry, osb_slice_str(http), path, query, &e->arena,
                          &e->request, &e->refusal);
    if (r >= 0)
        r = output_negotiate(osb_slice_str(accept), &e->arena, &e->request, &e->output,
                             &e->refusal);
    if (r < 0)
        return r;
    bool is_stream =
        e->request.verb == VERB_WATCH || e->request.sub == SUB_LOG || e->request.sub == SUB_STREAM;
    if (is_stream)
        return refuse(&e->refusal, 501, "NotImplemented", "no streams in this world");
    bool needs_body = e->request.verb >= VERB_CREATE && e->request.verb <= VERB_PATCH;
    if (needs_body && !e->body) /* the edge does not get this far with an empty body */
        return refuse_bad_request(&e->refusal, "no body");
    return e->request.verb <= VERB_LIST ? read_it(e) : write_it(e, method);
}

static void exchange_done(struct exchange *e)
{
    outcome_done(&e->outcome);
    refusal_done(&e->refusal);
    request_done(&e->request);
    osb_arena_done(&e->arena);
    osb_json_free(e->body);
    osb_buf_done(&e->reply);
}

int world_call(struct world *w, const char *method, const char *target, const char *body)
{
    struct exchange e = {.world = w};
    w->warnings = 0;
    if (body)
        assert_int_equal(osb_json_parse(osb_slice_str(body), &e.body, NULL), 0);
    int r = serve(&e, method, target);
    int status = r < 0 ? e.refusal.status.code : e.request.verb == VERB_CREATE ? 201 : 200;
    if (r < 0)
        refusal_print(&e.refusal, &e.reply);
    osb_json_free(osb_take_ptr(w->reply));
    if (e.reply.len)
        assert_int_equal(osb_json_parse(osb_buf_slice(&e.reply), &w->reply, NULL), 0);
    exchange_done(&e);
    return status;
}

void world_ok(struct world *w, const char *method, const char *target, const char *body)
{
    _cleanup_free_ char *text = osb_strdup(body);
    for (char *p = text; p && *p; p++)
        if (*p == '\'')
            *p = '"';
    int status = world_call(w, method, target, text);
    if (status / 100 != 2)
        fail_msg("%s %s: %d %s", method, target, status, world_str(w, "message"));
}

const char *world_str(struct world *w, const char *path)
{
    const struct osb_json *value = osb_json_get_path(w->reply, path);
    osb_buf_clear(&w->text);
    if (osb_json_type(value) == OSB_JSON_STRING)
        osb_buf_append_slice(&w->text, osb_json_str(value));
    else if (value)
        osb_json_print(value, &w->text);
    return osb_buf_cstr(&w->text);
}

int64_t world_int(struct world *w, const char *path)
{
    return osb_json_i64_or(osb_json_get_path(w->reply, path), -1);
}

/* ---- collectors ---- */

static bool collect_once(struct world *w)
{
    struct txn txn;
    txn_init(&txn, &w->cache, w->cache.revision, w->now_ns);
    for (int i = 0; i < w->registry.count; i++) {
        const struct collection *all = cache_list(&w->cache, w->registry.items[i]);
        for (size_t k = 0; k < all->count; k++)
            gc_step(&txn, &w->registry, all->items[k]->uid);
    }
    bool has_changed = txn.count > 0;
    txn_apply(&txn, &w->cache, &w->history);
    return has_changed;
}

void world_collect(struct world *w)
{
    int rounds = 0;
    while (collect_once(w))
        assert_true(++rounds < 32); /* it must come to an end */
}

/* ---- watches ---- */

void world_watch(struct world *w, const char *target, struct world_watch *ret)
{
    struct osb_slice path, query;
    parse_target(target, &path, &query);
    *ret = (struct world_watch){.status = 200};
    struct read_context c = {.cache = &w->cache,
                             .history = &w->history,
                             .request = &ret->request,
                             .output = &ret->output,
                             .arena = &ret->arena,
                             .refusal = &ret->refusal};
    struct watch_start start;
    int r = request_parse(&w->registry, OSB_SLICE("GET"), path, query, &ret->arena, &ret->request,
                          &ret->refusal);
    assert_true(r >= 0);
    if (watch_begin(&c, &start) < 0)
        ret->status = ret->refusal.status.code;
    else
        watcher_init(&ret->watcher, &c, &start);
}

const char *world_watch_next(struct world *w, struct world_watch *watch)
{
    _cleanup_buf_ struct osb_buf line = {0};
    _cleanup_json_ struct osb_json *tree = NULL;
    osb_buf_clear(&w->text);
    if (watcher_next(&watch->watcher, w->now_ns, &line)) {
        assert_int_equal(osb_json_parse(osb_buf_slice(&line), &tree, NULL), 0);
        const char *type = osb_json_cstr(osb_json_get(tree, "type"));
        bool is_mark = !strcmp(type, "BOOKMARK");
        const char *what = osb_json_cstr(
            osb_json_get_path(tree, is_mark                  ? "object.metadata.resourceVersion"
                                    : !strcmp(type, "ERROR") ? "object.reason"
                                                             : "object.metadata.name"));
        osb_buf_appendf(&w->text, "%s %s", type, what);
        if (is_mark && osb_json_get_path(tree, "object.metadata.annotations"))
            osb_buf_append_str(&w->text, " end");
    }
    return osb_buf_cstr(&w->text);
}

void world_watch_end(struct world_watch *watch)
{
    watcher_done(&watch->watcher);
    request_done(&watch->request);
    refusal_done(&watch->refusal);
    osb_arena_done(&watch->arena);
}
