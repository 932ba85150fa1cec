// SPDX-License-Identifier: Apache-2.0
#include "listing.h"

#include "file_info.h"
#include "reply.h"

#include <osb/alloc.h>
#include <osb/buf.h>
#include <stdlib.h>

enum {
    LISTING_STEP = 256,              /* entries visited in one turn of the loop */
    LISTING_HIGH_WATER = 256 * 1024, /* bytes queued for a client before the walk goes on */
};

struct listing {
    struct osb_http_exchange *x;
    struct walk *walk;
    listing_filter_fn *filter;
    char *pattern;
    struct osb_buf out;
    bool has_items;
    struct osb_defer again;
};

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct listing *listing = arg;

    (void)x;
    (void)is_complete;
    osb_defer_cancel(&listing->again);
    walk_free(listing->walk);
    osb_buf_done(&listing->out);
    free(listing->pattern);
    free(listing);
}

static void on_entry(const char *path, const struct stat *st, void *arg)
{
    struct listing *listing = arg;
    struct osb_json_writer w;

    if (listing->filter && !listing->filter(path, st, listing->pattern))
        return;
    if (listing->has_items)
        osb_buf_append_char(&listing->out, ',');
    listing->has_items = true;
    osb_json_writer_init(&w, &listing->out);
    file_info_write(&w, path, st);
}

static void send_some(struct osb_http_exchange *x, void *arg)
{
    struct listing *listing = arg;
    bool has_more = walk_step(listing->walk, LISTING_STEP);

    if (!has_more)
        osb_buf_append_char(&listing->out, ']');
    size_t queued = osb_http_reply_write(x, osb_buf_slice(&listing->out));
    osb_buf_clear(&listing->out);
    if (!has_more)
        osb_http_reply_end(x);
    else if (queued < LISTING_HIGH_WATER)
        osb_defer_post(&listing->again);
}

static void on_again(struct osb_defer *defer)
{
    struct listing *listing = defer->arg;

    send_some(listing->x, listing);
}

/* The client has taken all that was queued; a walk that goes on by itself needs no push. */
static void on_drain(struct osb_http_exchange *x, void *arg)
{
    struct listing *listing = arg;

    (void)x;
    osb_defer_post(&listing->again);
}

void listing_start(struct osb_http_exchange *x, const char *root, uint64_t depth,
                   listing_filter_fn *filter, const char *pattern)
{
    struct listing *listing = osb_new(struct listing);
    struct osb_err err = {0};

    int r = walk_new(root, depth, on_entry, listing, &listing->walk, &err);
    if (r < 0) {
        free(listing);
        reply_file_error(x, r, err.message);
        return;
    }
    listing->x = x;
    listing->filter = filter;
    listing->pattern = pattern ? osb_strdup(pattern) : NULL;
    osb_defer_init(&listing->again, osb_http_loop(x), on_again, listing);
    osb_http_on_close(x, on_close, listing);
    osb_http_on_drain(x, on_drain, listing);
    osb_http_reply_start(x, 200, "application/json; charset=utf-8", -1);
    osb_buf_append_char(&listing->out, '[');
    send_some(x, listing);
}
