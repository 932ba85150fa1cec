// SPDX-License-Identifier: Apache-2.0
#include "reflector_core.h"

#include <osb/alloc.h>
#include <osb/api_status.h>
#include <osb/arena.h>
#include <osb/buf.h>
#include <osb/json_reader.h>
#include <osb/text.h>

#include <stdlib.h>
#include <string.h>

#include "jitter.h"

#define BIT(state) (1U << (state))

/* From each state, the states that may follow. */
static const unsigned moves[REFLECTOR_STATE_COUNT] = {
    [REFLECTOR_IDLE] = BIT(REFLECTOR_LISTING),
    [REFLECTOR_LISTING] = BIT(REFLECTOR_LISTING) | BIT(REFLECTOR_WATCHING) | BIT(REFLECTOR_WAITING),
    [REFLECTOR_WATCHING] =
        BIT(REFLECTOR_WATCHING) | BIT(REFLECTOR_LISTING) | BIT(REFLECTOR_WAITING),
    [REFLECTOR_WAITING] = BIT(REFLECTOR_LISTING) | BIT(REFLECTOR_WATCHING),
};

static void move(struct reflector_core *core, enum reflector_state state)
{
    osb_assert(moves[core->state] & BIT(state));
    core->state = state;
}

void reflector_core_init(struct reflector_core *core,
                         const struct osb_kube_reflector_options *options)
{
    *core = (struct reflector_core){0};
    core->base_path = osb_api_path(options->kind, options->namespace_, NULL, NULL);
    core->page_size = options->page_size > 0 ? options->page_size : REFLECTOR_PAGE_SIZE;
    core->random = jitter_seed(options->seed);
    if (options->label_selector) {
        struct osb_buf encoded = {0};
        osb_percent_encode(&encoded, osb_slice_str(options->label_selector));
        core->selector = osb_buf_take(&encoded);
    }
}

void reflector_core_done(struct reflector_core *core)
{
    free(core->base_path);
    free(core->selector);
    free(core->continue_token);
    free(core->resource_version);
    free(core->step.path);
    *core = (struct reflector_core){0};
}

/* ---- steps ---- */

static const struct reflector_step *step_path(struct reflector_core *core, struct osb_buf *path)
{
    if (core->selector)
        osb_buf_appendf(path, "&labelSelector=%s", core->selector);
    free(core->step.path);
    core->step.path = osb_buf_take(path);
    return &core->step;
}

static const struct reflector_step *list_page(struct reflector_core *core)
{
    struct osb_buf path = {0};
    move(core, REFLECTOR_LISTING);
    osb_buf_appendf(&path, "%s?limit=%d", core->base_path, core->page_size);
    if (core->continue_token) {
        osb_buf_append_str(&path, "&continue=");
        osb_percent_encode(&path, osb_slice_str(core->continue_token));
    }
    core->step.what = REFLECTOR_DO_LIST;
    core->step.timeout_ms = OSB_KUBE_REQUEST_TIMEOUT_MS;
    return step_path(core, &path);
}

/* From the first page on; what was read of an unfinished list stays marked until the new one ends.
 */
static const struct reflector_step *list(struct reflector_core *core)
{
    free(core->continue_token);
    core->continue_token = NULL;
    free(core->resource_version);
    core->resource_version = NULL;
    if (core->is_synced)
        core->relists++;
    return list_page(core);
}

static const struct reflector_step *watch(struct reflector_core *core, uint64_t now_ns)
{
    struct osb_buf path = {0};
    uint64_t timeout_s = REFLECTOR_WATCH_MIN_S + jitter_next(&core->random) % REFLECTOR_WATCH_MIN_S;
    move(core, REFLECTOR_WATCHING);
    core->watch_began_ns = now_ns;
    osb_buf_appendf(&path, "%s?watch=true&allowWatchBookmarks=true&timeoutSeconds=%u",
                    core->base_path, (unsigned)timeout_s);
    osb_buf_append_str(&path, "&resourceVersion=");
    osb_percent_encode(&path, osb_slice_str(core->resource_version));
    core->step.what = REFLECTOR_DO_WATCH;
    core->step.timeout_ms = (timeout_s + REFLECTOR_WATCH_SLACK_S) * 1000;
    return step_path(core, &path);
}

static const struct reflector_step *wait_and_retry(struct reflector_core *core, int retry_after_s)
{
    move(core, REFLECTOR_WAITING);
    core->step.what = REFLECTOR_DO_WAIT;
    core->step.delay_ms = jitter_backoff_ms(&core->random, core->failures++,
                                            REFLECTOR_BACKOFF_MIN_MS, REFLECTOR_BACKOFF_MAX_MS);
    uint64_t asked_ms = retry_after_s > 0 ? (uint64_t)retry_after_s * 1000 : 0;
    if (core->step.delay_ms < asked_ms)
        core->step.delay_ms = asked_ms;
    return &core->step;
}

const struct reflector_step *reflector_core_start(struct reflector_core *core, uint64_t now_ns)
{
    (void)now_ns;
    return list(core);
}

const struct reflector_step *reflector_core_waited(struct reflector_core *core, uint64_t now_ns)
{
    return core->resource_version ? watch(core, now_ns) : list(core);
}

const struct reflector_step *reflector_core_ended(struct reflector_core *core, int r,
                                                  int retry_after_s, uint64_t now_ns)
{
    if (r == -OSB_E_EXPIRED) {
        /* Twice in a row is a server that cannot keep its promise: slow down. */
        free(core->resource_version);
        core->resource_version = NULL;
        if (core->failures > 0)
            return wait_and_retry(core, retry_after_s);
        core->failures++;
        return list(core);
    }
    if (core->state == REFLECTOR_LISTING) /* the pages so far are of no use without the rest */
        return wait_and_retry(core, retry_after_s);
    if (r < 0 && !osb_err_info(r)->is_retriable) {
        /* An event that we cannot read would come again: only a new list leads past it. */
        free(core->resource_version);
        core->resource_version = NULL;
    }
    bool was_short = now_ns - core->watch_began_ns < REFLECTOR_SHORT_WATCH_MS * 1000000ULL;
    if (r < 0 || was_short)
        return wait_and_retry(core, retry_after_s);
    core->failures = 0;
    return watch(core, now_ns);
}

/* ---- lists ---- */

struct page {
    struct osb_slice items; /* raw array */
    char *resource_version;
    char *continue_token;
};

static void read_list_metadata(struct osb_json_reader *r, struct osb_arena *arena,
                               struct page *page)
{
    struct osb_slice key;
    osb_json_enter_object(r);
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "resourceVersion"))
            osb_json_read_cstr(r, arena, &page->resource_version);
        else if (osb_slice_eq_str(key, "continue"))
            osb_json_read_cstr(r, arena, &page->continue_token);
        else
            osb_json_skip(r);
    }
}

/* Checks the whole text before anything of it is used: half a page is no page. */
static int read_page(struct osb_slice body, struct osb_arena *arena, struct page *page,
                     struct osb_err *err)
{
    struct osb_json_reader r;
    struct osb_slice key;
    osb_json_reader_init(&r, body);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "metadata"))
            read_list_metadata(&r, arena, page);
        else if (osb_slice_eq_str(key, "items") && !osb_json_read_null(&r))
            osb_json_read_raw(&r, &page->items);
        else if (!osb_slice_eq_str(key, "items"))
            osb_json_skip(&r);
    }
    int result = osb_json_reader_finish(&r, err);
    if (result < 0)
        return osb_wrap(err, result, "list");
    if (!page->resource_version || !page->resource_version[0])
        return osb_fail(err, -OSB_E_INVALID, "list without a resourceVersion");
    return 0;
}

static void apply_items(struct osb_kube_store *store, struct osb_slice items)
{
    struct osb_json_reader r;
    osb_json_reader_init(&r, items);
    osb_json_enter_array(&r);
    while (osb_json_next_item(&r)) {
        struct osb_slice raw = OSB_SLICE_NULL;
        osb_json_read_raw(&r, &raw);
        osb_kube_store_apply(store, raw, NULL); /* refused objects are counted there */
    }
}

const struct reflector_step *reflector_core_page(struct reflector_core *core,
                                                 struct osb_kube_store *store,
                                                 struct osb_slice body, uint64_t now_ns,
                                                 struct osb_err *err)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct page page = {0};
    osb_assert(core->state == REFLECTOR_LISTING);
    if (read_page(body, &arena, &page, err) < 0)
        return wait_and_retry(core, 0);
    if (!core->continue_token)
        osb_kube_store_mark(store);
    if (page.items.len > 0)
        apply_items(store, page.items);
    free(core->continue_token);
    core->continue_token = NULL;
    if (page.continue_token && page.continue_token[0]) {
        core->continue_token = osb_strdup(page.continue_token);
        return list_page(core);
    }
    osb_kube_store_sweep(store);
    core->resource_version = osb_strdup(page.resource_version);
    core->failures = 0;
    core->is_synced = true;
    return watch(core, now_ns);
}

/* ---- watches ---- */

struct event {
    struct osb_slice type;
    struct osb_slice object; /* raw */
    char *namespace_;
    char *name;
    char *resource_version;
};

static int read_event(struct osb_slice line, struct osb_arena *arena, struct event *event,
                      struct osb_err *err)
{
    struct osb_json_reader r;
    struct osb_slice key;
    osb_json_reader_init(&r, line);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "type"))
            osb_json_read_string(&r, arena, &event->type);
        else if (osb_slice_eq_str(key, "object"))
            osb_json_read_raw(&r, &event->object);
        else
            osb_json_skip(&r);
    }
    int result = osb_json_reader_finish(&r, err);
    if (result < 0)
        return osb_wrap(err, result, "watch event");
    if (event->type.len == 0 || event->object.len == 0)
        return osb_fail(err, -OSB_E_SYNTAX, "watch event without type or object");
    return 0;
}

static int read_event_metadata(struct osb_arena *arena, struct event *event, struct osb_err *err)
{
    struct osb_json_reader r;
    struct osb_slice key;
    osb_json_reader_init(&r, event->object);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (!osb_slice_eq_str(key, "metadata")) {
            osb_json_skip(&r);
            continue;
        }
        osb_json_enter_object(&r);
        while (osb_json_next_key(&r, &key)) {
            if (osb_slice_eq_str(key, "name"))
                osb_json_read_cstr(&r, arena, &event->name);
            else if (osb_slice_eq_str(key, "namespace"))
                osb_json_read_cstr(&r, arena, &event->namespace_);
            else if (osb_slice_eq_str(key, "resourceVersion"))
                osb_json_read_cstr(&r, arena, &event->resource_version);
            else
                osb_json_skip(&r);
        }
    }
    return osb_json_reader_finish(&r, err);
}

/* An ERROR event holds a Status; its code decides what follows. */
static int error_event(struct osb_slice status, struct osb_err *err)
{
    struct osb_json_reader r;
    struct osb_slice key;
    int64_t code = 500;
    osb_json_reader_init(&r, status);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "code"))
            osb_json_read_i64(&r, &code);
        else
            osb_json_skip(&r);
    }
    if (code < 300 || code > 599)
        code = 500;
    return osb_api_status_to_err((int)code, status, err);
}

int reflector_core_line(struct reflector_core *core, struct osb_kube_store *store,
                        struct osb_slice line, struct osb_err *err)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct event event = {0};
    osb_assert(core->state == REFLECTOR_WATCHING);
    int r = read_event(line, &arena, &event, err);
    if (r < 0)
        return r;
    if (osb_slice_eq_str(event.type, "ERROR"))
        return error_event(event.object, err);
    r = read_event_metadata(&arena, &event, err);
    if (r < 0)
        return osb_wrap(err, r, "watch event");
    if (osb_slice_eq_str(event.type, "ADDED") || osb_slice_eq_str(event.type, "MODIFIED"))
        osb_kube_store_apply(store, event.object, NULL); /* a refused object is counted there */
    else if (osb_slice_eq_str(event.type, "DELETED") && event.name)
        osb_kube_store_remove(store, event.namespace_ ? event.namespace_ : "", event.name);
    else if (!osb_slice_eq_str(event.type, "BOOKMARK"))
        return osb_fail(err, -OSB_E_SYNTAX, "watch event of an unknown type");
    if (event.resource_version && event.resource_version[0]) {
        free(core->resource_version);
        core->resource_version = osb_strdup(event.resource_version);
    }
    core->failures = 0;
    return 0;
}
