// SPDX-License-Identifier: Apache-2.0
/*
 * The event stream of one POST /command: turns a run's output into events, holds the run back while
 * the client does not read, pings, and ends with exactly one terminal event in the same write as
 * the end of the body. When the client goes away the run is left to itself.
 */
#ifndef EXECD_COMMAND_STREAM_H
#define EXECD_COMMAND_STREAM_H

#include "command_run.h"

#include <osb/http_server.h>

enum {
    STREAM_HIGH_WATER = 256 * 1024, /* bytes queued for a client before its command must wait */
    STREAM_PING_MS = 3000,
};

struct command_stream;

/* Sends the head, `init` with ID, and the first ping. The stream frees itself with the exchange. */
struct command_stream *command_stream_start(struct osb_http_exchange *x, const char *id,
                                            bool keeps_ends);
/* What a run of this stream is started with; afterwards the stream must be told the run. */
struct command_listener command_stream_listener(struct command_stream *stream);
void command_stream_attach(struct command_stream *stream, struct command_run *run);
/* Ends a stream without a run: with execution_complete when TEXT is NULL, else with an error. */
void command_stream_end(struct command_stream *stream, const char *value, const char *text);

#endif
