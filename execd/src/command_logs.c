// SPDX-License-Identifier: Apache-2.0
#include "command_logs.h"

#include <inttypes.h>
#include <osb/alloc.h>
#include <stdlib.h>

enum {
    LOGS_PIECE = 64 * 1024,
    LOGS_HIGH_WATER = 128 * 1024, /* bytes queued for a client before reading goes on */
    LOGS_STEPS = 16,              /* pieces in one go: others want a turn too */
};

struct logs {
    struct execd *execd;
    struct osb_http_exchange *x;
    char id[OSB_UUID_HEX_MAX]; /* the record may go while a slow client reads */
    uint64_t offset;
    uint64_t end;
    struct osb_defer again;
};

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct logs *logs = arg;

    (void)x;
    (void)is_complete;
    osb_defer_cancel(&logs->again);
    free(logs);
}

/* Bytes between OFFSET and what is still kept: the ring has gone past this reader. */
static void say_gap(struct logs *logs, const struct spool *spool)
{
    _cleanup_buf_ struct osb_buf line = {0};

    if (logs->offset >= spool->begin)
        return;
    osb_buf_appendf(&line, "[%" PRIu64 " bytes of older output were dropped]\n",
                    spool->begin - logs->offset);
    osb_http_reply_write(logs->x, osb_buf_slice(&line));
    logs->offset = spool->begin;
}

/* Reads and queues one piece; negative when the output cannot be read. */
static int send_piece(struct logs *logs, const struct spool *spool, size_t *ret_queued)
{
    static char piece[LOGS_PIECE];

    say_gap(logs, spool);
    if (logs->offset >= logs->end)
        return 0;
    uint64_t left = logs->end - logs->offset;
    ssize_t n =
        spool_read(spool, logs->offset, piece, left < LOGS_PIECE ? (size_t)left : LOGS_PIECE);
    if (n <= 0)
        return -EIO;
    logs->offset += (uint64_t)n;
    *ret_queued = osb_http_reply_write(logs->x, osb_slice(piece, (size_t)n));
    return 0;
}

static void send_some(struct osb_http_exchange *x, void *arg)
{
    struct logs *logs = arg;
    struct command_record *record =
        command_record_find(&logs->execd->records, osb_slice_str(logs->id));
    size_t queued = 0;

    for (int i = 0; i < LOGS_STEPS && queued < LOGS_HIGH_WATER && logs->offset < logs->end; i++) {
        if (!record || send_piece(logs, &record->spool, &queued) < 0) {
            osb_http_abort(x);
            return;
        }
    }
    if (logs->offset >= logs->end)
        osb_http_reply_end(x);
    else if (queued == 0)
        osb_defer_post(&logs->again); /* nothing to drain: nobody would call again */
}

static void on_again(struct osb_defer *defer)
{
    struct logs *logs = defer->arg;

    send_some(logs->x, logs);
}

void command_logs(struct osb_http_exchange *x, struct execd *execd, struct command_record *record,
                  uint64_t cursor)
{
    struct logs *logs = osb_new(struct logs);

    logs->execd = execd;
    logs->x = x;
    memcpy(logs->id, record->id, sizeof(logs->id));
    logs->end = record->spool.end;
    logs->offset = cursor < logs->end ? cursor : logs->end;
    osb_defer_init(&logs->again, execd->loop, on_again, logs);
    osb_http_on_close(x, on_close, logs);
    osb_http_on_drain(x, send_some, logs);
    osb_http_reply_headerf(x, "EXECD-COMMANDS-TAIL-CURSOR", "%" PRIu64, logs->end);
    osb_http_reply_start(x, 200, "text/plain; charset=utf-8", -1);
    send_some(x, logs);
}
