// SPDX-License-Identifier: Apache-2.0
#include "watch.h"

void watcher_init(struct watcher *w, const struct read_context *c, const struct watch_start *start)
{
    *w = (struct watcher){.history = c->history,
                          .cache = c->cache,
                          .resource = c->request->resource,
                          .filter = request_filter(c->request),
                          .output = *c->output,
                          .start = *start,
                          .is_mark_due = start->has_initial_mark,
                          .sent_revision = start->revision};
    bool is_known = history_seek(c->history, start->revision, &w->sequence);
    osb_assert(is_known);
    if (start->has_initial)
        history_snapshot(c->history, c->cache, w->resource, start->revision, NULL, &w->initial);
}

void watcher_done(struct watcher *w)
{
    snapshot_done(&w->initial);
}

static void line_begin(struct osb_buf *out, const char *type)
{
    osb_buf_appendf(out, "{\"type\":\"%s\",\"object\":", type);
}

static void line_end(struct osb_buf *out)
{
    osb_buf_append_str(out, "}\n");
}

static void write_object(struct watcher *w, const char *type, const struct object *object,
                         int64_t now_ns, struct osb_buf *out)
{
    line_begin(out, type);
    output_object(&w->output, object, now_ns, out);
    line_end(out);
}

static void write_mark(struct watcher *w, bool is_initial_end, struct osb_buf *out)
{
    line_begin(out, "BOOKMARK");
    output_bookmark(&w->output, w->resource, w->sent_revision, is_initial_end, out);
    line_end(out);
}

static bool next_initial(struct watcher *w, int64_t now_ns, struct osb_buf *out)
{
    while (w->initial_sent < w->initial.count) {
        const struct object *object = w->initial.items[w->initial_sent++];
        if (!object_matches(object, &w->filter))
            continue;
        write_object(w, "ADDED", object, now_ns, out);
        return true;
    }
    snapshot_done(&w->initial);
    w->initial_sent = 0;
    if (!w->is_mark_due)
        return false;
    w->is_mark_due = false;
    write_mark(w, true, out);
    return true;
}

/* The type of EVENT as this watcher sees it; NULL when it does not concern it. */
static const char *event_word(const struct watcher *w, const struct event *event)
{
    if (event->object->resource != w->resource || event->revision <= w->start.revision)
        return NULL;
    bool was = event->previous && object_matches(event->previous, &w->filter);
    bool is = event->type != EVENT_DELETED && object_matches(event->object, &w->filter);
    if (is)
        return was ? "MODIFIED" : "ADDED";
    return was ? "DELETED" : NULL;
}

/* An object that no longer matches is shown as it last matched, at the revision of the change. */
static void write_leaving(struct watcher *w, const struct event *event, int64_t now_ns,
                          struct osb_buf *out)
{
    _cleanup_json_ struct osb_json *tree = object_tree(event->previous);
    _cleanup_object_ struct object *last = object_new(w->resource, tree, event->revision);
    write_object(w, "DELETED", last, now_ns, out);
}

static void write_expired(struct watcher *w, struct osb_buf *out)
{
    _cleanup_refusal_ struct refusal refusal = {0};
    refuse(&refusal, 410, "Expired", "too old resource version: %llu",
           (unsigned long long)w->sent_revision);
    line_begin(out, "ERROR");
    refusal_print(&refusal, out);
    line_end(out);
    w->is_ended = true;
}

bool watcher_next(struct watcher *w, int64_t now_ns, struct osb_buf *out)
{
    if (w->is_ended)
        return false;
    if (next_initial(w, now_ns, out))
        return true;
    if (w->sequence < w->history->first) {
        write_expired(w, out);
        return true;
    }
    const struct event *event;
    while ((event = history_at(w->history, w->sequence))) {
        const char *word = event_word(w, event);
        w->sequence++;
        if (!word)
            continue;
        w->sent_revision = event->revision;
        if (event->type != EVENT_DELETED && !strcmp(word, "DELETED"))
            write_leaving(w, event, now_ns, out);
        else
            write_object(w, word, event->object, now_ns, out);
        return true;
    }
    return false;
}

bool watcher_bookmark(struct watcher *w, struct osb_buf *out)
{
    bool is_behind = w->initial.count || w->is_mark_due || w->sequence < w->history->next;
    if (w->is_ended || is_behind || w->sent_revision >= w->cache->revision)
        return false;
    w->sent_revision = w->cache->revision;
    write_mark(w, false, out);
    return true;
}
