// SPDX-License-Identifier: Apache-2.0
/* The routes of commands (execd contract 3, rows 2 to 5). */
#include "command_kill.h"
#include "command_logs.h"
#include "command_run.h"
#include "command_stream.h"
#include "execd.h"
#include "newlines.h"
#include "path.h"
#include "reply.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/json_writer.h>

enum { COMMAND_BODY_MAX = 16 * 1024 * 1024 }; /* bytes of a request */

static void apply_variables(struct environment *env, const struct command_request *request)
{
    for (size_t i = 0; i < request->variable_count; i++)
        environment_set(env, request->variables[i].name, request->variables[i].value);
}

/* A background command: the answer ends at once, the command lives on in its record. */
static void run_in_background(struct execd *execd, struct command_record *record,
                              struct command_stream *stream, const struct command_spawn *spawn)
{
    struct command_listener nobody = {0};
    struct osb_err err = {0};

    if (command_run_start(&execd->drains, &execd->records, record, spawn, &nobody, &err) == 0) {
        command_stream_end(stream, NULL, NULL);
        return;
    }
    command_stream_end(stream, err.message, err.message);
    command_record_finish(&execd->records, record, RECORD_EXIT_START_FAILED,
                          osb_strdup(err.message));
}

static void run_in_foreground(struct execd *execd, struct command_record *record,
                              struct command_stream *stream, const struct command_spawn *spawn)
{
    struct command_listener listener = command_stream_listener(stream);
    struct osb_err err = {0};

    if (command_run_start(&execd->drains, &execd->records, record, spawn, &listener, &err) == 0) {
        command_stream_attach(stream, record->run);
        return;
    }
    command_stream_end(stream, err.message, err.message);
    command_record_drop(&execd->records, record);
}

static void start(struct execd *execd, struct osb_http_exchange *x,
                  const struct command_spawn *spawn)
{
    struct command_record *record = command_record_new(&execd->records, spawn->request->content);
    struct command_stream *stream =
        command_stream_start(x, record->id, keeps_newlines(execd->options.newlines, x));

    if (spawn->request->is_background)
        run_in_background(execd, record, stream, spawn);
    else
        run_in_foreground(execd, record, stream, spawn);
}

static void on_command(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    _cleanup_environment_ struct environment env = {0};
    struct command_request request;
    struct osb_err err = {0};
    char *cwd = NULL;

    int r = command_request_parse(body, osb_http_arena(x), &request, &err);
    if (r == 0) {
        environment_load(&env);
        apply_variables(&env, &request);
        if (request.cwd.len > 0)
            r = path_directory(osb_http_arena(x), request.cwd, environment_lookup, &env, &cwd,
                               &err);
    }
    if (r < 0) {
        reply_bad_request(x, &err);
        return;
    }
    struct execd *execd = arg;
    struct command_spawn spawn = {
        .cwd = cwd, .env = &env, .request = &request, .file_limit = &execd->file_limit};
    start(execd, x, &spawn);
}

static void post_command(struct osb_http_exchange *x, const struct osb_http_params *params,
                         void *arg)
{
    (void)params;
    osb_http_collect(x, COMMAND_BODY_MAX, on_command, arg);
}

static void kv_time(struct osb_json_writer *w, const char *key, int64_t time_ns)
{
    char text[OSB_RFC3339_MAX];

    osb_json_kv_string(w, key, osb_rfc3339_format(text, time_ns, 9));
}

static void get_status(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct execd *execd = arg;
    _cleanup_buf_ struct osb_buf body = {0};
    struct osb_json_writer w;
    struct command_record *record =
        command_record_find(&execd->records, osb_http_param(params, "id"));

    if (!record) {
        reply_error(x, 404, "INVALID_REQUEST_BODY", "there is no such command");
        return;
    }
    osb_json_writer_init(&w, &body);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "id", record->id);
    osb_json_kv_string_opt(&w, "content", record->content);
    osb_json_kv_bool(&w, "running", record->run != NULL);
    if (!record->run) {
        osb_json_kv_i64(&w, "exit_code", record->exit_code);
        osb_json_kv_string_opt(&w, "error", record->error);
    }
    kv_time(&w, "started_at", record->started_ns);
    if (!record->run)
        kv_time(&w, "finished_at", record->finished_ns);
    osb_json_end_object(&w);
    reply_json(x, osb_buf_slice(&body));
}

static void get_logs(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct execd *execd = arg;
    struct osb_slice text = OSB_SLICE_NULL;
    int64_t cursor = 0;
    struct command_record *record =
        command_record_find(&execd->records, osb_http_param(params, "id"));

    if (!record) {
        reply_error(x, 400, "INVALID_REQUEST_BODY", "there is no such command");
        return;
    }
    if (osb_http_query(x, "cursor", &text) && osb_slice_to_i64(text, &cursor) == -ERANGE)
        cursor = text.data[0] == '-' ? -1 : INT64_MAX;
    if (cursor < 0) {
        reply_error(x, 400, "INVALID_REQUEST_BODY", "cursor must not be negative");
        return;
    }
    command_logs(x, execd, record, (uint64_t)cursor);
}

static void delete_command(struct osb_http_exchange *x, const struct osb_http_params *params,
                           void *arg)
{
    struct execd *execd = arg;
    struct osb_slice id = OSB_SLICE_NULL;

    (void)params;
    if (!osb_http_query(x, "id", &id) || id.len == 0) {
        reply_error(x, 400, "MISSING_QUERY", "the query parameter id is missing");
        return;
    }
    struct command_record *record = command_record_find(&execd->records, id);
    if (!record || !record->run || command_run_leader(record->run) == 0) {
        reply_error(x, 500, "RUNTIME_ERROR", "there is no running command of that id");
        return;
    }
    command_kill(execd, record, x);
}

void command_routes(struct execd *execd)
{
    osb_http_route(execd->router, "POST", "/command", post_command, execd);
    osb_http_route(execd->router, "DELETE", "/command", delete_command, execd);
    osb_http_route(execd->router, "GET", "/command/status/{id}", get_status, execd);
    osb_http_route(execd->router, "GET", "/command/{id}/logs", get_logs, execd);
}
