// SPDX-License-Identifier: Apache-2.0
// A call as its owner sees it: started, written to, paused, cancelled, ended.
#include "client.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <stdlib.h>

/* ---- the end ---- */

void http_call_free(struct osb_http_call *call)
{
    osb_list_remove(&call->list);
    osb_timer_stop(&call->timer);
    osb_defer_cancel(&call->start);
    if (call->connect)
        osb_connect_cancel(call->connect);
    if (call->on_free)
        call->on_free(call->arg);
    osb_buf_done(&call->request);
    osb_buf_done(&call->early);
    free(call->origin);
    free(call->unix_path);
    free(call->address);
    free(call->host);
    free(call);
}

void http_call_finish(struct osb_http_call *call, int r)
{
    osb_assert(!call->link);
    osb_list_remove(&call->list); /* on_end may free the client */
    osb_timer_stop(&call->timer);
    osb_defer_cancel(&call->start);
    if (r < 0 && call->err.code == 0)
        osb_fail(&call->err, r, "%s", r == -OSB_E_CLOSED ? "connection was closed" : strerror(-r));
    if (!call->is_cancelled) {
        call->is_cancelled = true; /* a cancel from inside on_end changes nothing */
        if (call->callbacks.on_end)
            call->callbacks.on_end(call, r, r < 0 ? &call->err : NULL, call->arg);
    }
    http_call_free(call);
}

void osb_http_call_cancel(struct osb_http_call *call)
{
    if (call->is_cancelled)
        return;
    call->is_cancelled = true;
    if (!call->link) {
        http_call_free(call);
        return;
    }
    struct http_link *link = call->link;
    if (link->is_running)
        return; /* the driver sees it when the callback is back */
    link->call = NULL;
    call->link = NULL;
    http_link_free(link);
    http_call_free(call);
}

/* ---- timeouts ---- */

static void arm(struct osb_http_call *call)
{
    uint64_t deadline = call->total_deadline_ns;
    if (!call->has_head && call->head_deadline_ns < deadline)
        deadline = call->head_deadline_ns;
    if (deadline != UINT64_MAX)
        osb_timer_set_at(&call->timer, deadline);
}

static void on_timeout(struct osb_timer *timer)
{
    struct osb_http_call *call = timer->arg;
    uint64_t now = osb_loop_now_ns(call->client->loop);
    bool is_head_late = !call->has_head && now >= call->head_deadline_ns;
    if (!is_head_late && now < call->total_deadline_ns) {
        arm(call);
        return;
    }
    osb_fail(&call->err, -OSB_E_TIMEOUT, "%s",
             is_head_late ? "no answer in time" : "no end in time");
    struct http_link *link = osb_take_ptr(call->link);
    if (link) {
        link->call = NULL;
        http_link_free(link);
    }
    http_call_finish(call, -OSB_E_TIMEOUT);
}

static uint64_t deadline_of(struct osb_http_client *client, uint64_t timeout_ms)
{
    return timeout_ms ? osb_loop_now_ns(client->loop) + timeout_ms * OSB_NS_PER_MS : UINT64_MAX;
}

/* ---- the start ---- */

static char *default_host(const struct osb_http_origin *origin)
{
    if (origin->unix_path)
        return osb_strdup("localhost");
    bool is_v6 = strchr(origin->address, ':') != NULL;
    return osb_asprintf(is_v6 ? "[%s]:%d" : "%s:%d", origin->address, origin->port);
}

static void set_origin(struct osb_http_call *call, const struct osb_http_origin *origin)
{
    call->unix_path = osb_strdup(origin->unix_path);
    call->address = osb_strdup(origin->address);
    call->port = origin->port;
    call->is_tls = origin->is_tls;
    call->host = origin->host ? osb_strdup(origin->host) : default_host(origin);
    /* TLS connections are verified for one name, so they are pooled by name too. */
    call->origin = osb_asprintf("%s|%s|%d|%s", origin->unix_path ? origin->unix_path : "",
                                origin->address ? origin->address : "", origin->port,
                                origin->is_tls ? call->host : "");
}

static void on_start(struct osb_defer *defer)
{
    http_call_connect(defer->arg);
}

int osb_http_call_start(struct osb_http_client *client, const struct osb_http_request *request,
                        const struct osb_http_call_callbacks *callbacks, void *arg,
                        struct osb_http_call **ret, struct osb_err *err)
{
    const struct osb_http_origin *origin = &request->origin;
    if (!origin->unix_path == !origin->address)
        return osb_fail(err, -OSB_E_INVALID, "request: one of path and address is needed");
    if (origin->is_tls && !client->options.wrap_tls)
        return osb_fail(err, -OSB_E_UNSUPPORTED, "request: this client has no TLS");
    struct osb_http_call *call = osb_new(struct osb_http_call);
    call->client = client;
    call->callbacks = *callbacks;
    call->arg = arg;
    osb_timer_init(&call->timer, client->loop, on_timeout, call);
    osb_defer_init(&call->start, client->loop, on_start, call);
    osb_list_append(&client->calls, &call->list);
    set_origin(call, origin);
    int r = http_request_write(call, request, err);
    if (r < 0) {
        http_call_free(call);
        return r;
    }
    call->head_deadline_ns = deadline_of(client, request->timeout_ms);
    call->total_deadline_ns = deadline_of(client, request->total_timeout_ms);
    arm(call);
    osb_defer_post(&call->start);
    if (ret)
        *ret = call;
    return 0;
}

/* ---- a streamed body ---- */

static void send_or_keep(struct osb_http_call *call, const struct iovec *pieces, int count)
{
    struct http_link *link = call->link;
    if (!link) {
        for (int i = 0; i < count; i++)
            osb_buf_append(&call->early, pieces[i].iov_base, pieces[i].iov_len);
        return;
    }
    int r = http_out_send(&link->out, pieces, count);
    if (r < 0)
        http_link_break(link, r);
    http_link_kick(link);
}

static size_t queued(const struct osb_http_call *call)
{
    return call->link ? call->link->out.buf.len : call->early.len;
}

size_t osb_http_call_write(struct osb_http_call *call, struct osb_slice data)
{
    if (call->is_cancelled || call->is_end_due)
        return 0;
    osb_assert(call->mode != HTTP_SEND_WHOLE && !call->is_body_ended);
    if (call->mode == HTTP_SEND_LENGTH) {
        data =
            osb_slice_first(data, call->body_left < data.len ? (size_t)call->body_left : data.len);
        call->body_left -= data.len;
    }
    if (data.len == 0)
        return queued(call);
    call->has_streamed = true;
    char line[HTTP_CHUNK_LINE_MAX];
    struct iovec pieces[] = {
        http_iov(http_chunk_line(line, data.len)),
        http_iov(data),
        http_iov(OSB_SLICE("\r\n")),
    };
    if (call->mode == HTTP_SEND_CHUNKED)
        send_or_keep(call, pieces, 3);
    else
        send_or_keep(call, pieces + 1, 1);
    return queued(call);
}

void osb_http_call_end_body(struct osb_http_call *call)
{
    if (call->is_cancelled || call->is_body_ended || call->is_end_due)
        return;
    call->is_body_ended = true;
    if (call->mode == HTTP_SEND_LENGTH && call->body_left > 0) {
        call->failure = osb_fail(&call->err, -OSB_E_INVALID, "body is shorter than announced");
        if (call->link)
            http_link_kick(call->link);
        return;
    }
    struct iovec last = http_iov(OSB_SLICE("0\r\n\r\n"));
    send_or_keep(call, &last, call->mode == HTTP_SEND_CHUNKED ? 1 : 0);
}

/* ---- what the owner asks ---- */

void osb_http_call_pause(struct osb_http_call *call)
{
    call->is_paused = true;
}

void osb_http_call_resume(struct osb_http_call *call)
{
    call->is_paused = false;
    if (call->link)
        http_link_kick(call->link);
}

int osb_http_call_status(const struct osb_http_call *call)
{
    return call->status;
}

struct osb_stream *osb_http_call_take_stream(struct osb_http_call *call, struct osb_buf *leftover)
{
    struct http_link *link = call->link;
    osb_assert(link && call->status == 101 && !call->is_taken);
    call->is_taken = true;
    osb_buf_append_slice(leftover, osb_buf_slice(&link->in));
    osb_buf_clear(&link->in);
    osb_stream_want(link->stream, 0);
    osb_stream_set_callback(link->stream, NULL, NULL);
    return osb_take_ptr(link->stream);
}
