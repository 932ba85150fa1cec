// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>

#include <stdlib.h>
#include <string.h>

#include "rest_filter.h"
#include "rest_find.h"
#include "rest_query.h"
#include "rest_sandbox.h"

struct list {
    struct rest_filter filter;
    int64_t page;
    int64_t page_size;
    const struct batchsandbox **items;
    size_t count;
};

static void read_states(struct rest_request *request, struct list *list, struct rest_error *error)
{
    struct osb_slice state;
    for (size_t i = 0; osb_http_query_at(request->x, "state", i, &state); i++) {
        if (i == REST_MAX_FILTERS) {
            rest_problem_add(&error->problems, "too_long", "query.state", "has too many values");
            return;
        }
        list->filter.states[list->filter.state_count++] = state;
    }
}

static int read_query(struct rest_request *request, struct list *list, struct rest_error *error)
{
    struct osb_slice metadata = OSB_SLICE_NULL;
    rest_query_integer(request->x, "page", "query.page", 1, INT32_MAX, &list->page,
                       &error->problems);
    rest_query_integer(request->x, "pageSize", "query.pageSize", 1, REST_MAX_PAGE_SIZE,
                       &list->page_size, &error->problems);
    read_states(request, list, error);
    int r = rest_error_from_problems(error);
    if (r < 0)
        return r;
    if (osb_http_query(request->x, "metadata", &metadata) && metadata.len > 0 &&
        rest_filter_metadata(&list->filter, metadata, request->arena) < 0)
        return rest_error_set(error, 400, "INVALID_METADATA_FORMAT",
                              "metadata must be key=value pairs joined by &");
    return 0;
}

static void collect(const struct operator* op, struct list *list)
{
    size_t cap = 0;
    const struct osb_kube_object *object = NULL;
    while ((object = osb_kube_store_next(op->batchsandboxes, object))) {
        const struct batchsandbox *bs = batchsandbox_of(object);
        if (strcmp(object->namespace_, op->namespace_) != 0 || !rest_is_sandbox(bs) ||
            !rest_filter_matches(&list->filter, bs))
            continue;
        osb_grow(list->items, list->count, cap);
        list->items[list->count++] = bs;
    }
    rest_filter_sort(list->items, list->count);
}

static void print_page(struct osb_json_writer *w, const struct rest_page *page)
{
    osb_json_key(w, "pagination");
    osb_json_begin_object(w);
    osb_json_kv_i64(w, "page", page->page);
    osb_json_kv_i64(w, "pageSize", page->size);
    osb_json_kv_i64(w, "totalItems", page->total);
    osb_json_kv_i64(w, "totalPages", page->pages);
    osb_json_kv_bool(w, "hasNextPage", page->has_next);
    osb_json_end_object(w);
}

static void reply(struct rest_request *request, const struct list *list)
{
    _cleanup_buf_ struct osb_buf body = {0};
    struct osb_json_writer w;
    struct rest_page page = rest_page_of(list->count, list->page, list->page_size);
    osb_json_writer_init(&w, &body);
    osb_json_begin_object(&w);
    osb_json_key(&w, "items");
    osb_json_begin_array(&w);
    for (size_t i = 0; i < page.count; i++)
        rest_sandbox_print(&w, list->items[page.first + i], REST_FULL);
    osb_json_end_array(&w);
    print_page(&w, &page);
    osb_json_end_object(&w);
    osb_assert(osb_json_writer_finish(&w, NULL) == 0);
    rest_reply(request, 200, osb_buf_slice(&body));
}

void rest_list_handle(struct rest_request *request, const struct osb_http_params *params)
{
    const struct operator* op = request->rest->op;
    struct list *list = osb_arena_new(request->arena, struct list);
    struct rest_error error = {0};
    (void)params;
    list->page = 1;
    list->page_size = REST_DEFAULT_PAGE_SIZE;
    if (read_query(request, list, &error) < 0) {
        rest_fail_with(request, &error);
        return;
    }
    if (!operator_is_synced(op)) {
        osb_http_reply_header(request->x, "Retry-After", OSB_SLICE("1"));
        rest_fail(request, 503, "SANDBOX_LIST_UNAVAILABLE",
                  "the first list of the API server is not here yet");
        return;
    }
    collect(op, list);
    const struct batchsandbox **items = list->items;
    reply(request, list);
    free(items);
}
