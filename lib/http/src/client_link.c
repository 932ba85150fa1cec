// SPDX-License-Identifier: Apache-2.0
// A client's connection: the request out, the answer in, then back to the pool.
#include "client.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <stdlib.h>

enum { PAUSE_READ_AHEAD = 64 * 1024 }; /* kept for a paused call before reading stops */

/* ---- the pool ---- */

/* Anything on an idle connection is its end, or a server that speaks unasked. */
static bool is_still_open(struct http_link *link)
{
    char byte;
    return osb_stream_read(link->stream, &byte, 1) == -EAGAIN;
}

struct http_link *http_link_take_idle(struct osb_http_client *client, const char *origin)
{
    struct http_link *link;
    struct http_link *next;
    osb_list_foreach_safe (link, next, &client->idle, list) {
        if (strcmp(link->origin, origin) != 0)
            continue;
        if (is_still_open(link)) {
            osb_list_remove(&link->list);
            osb_timer_stop(&link->idle);
            return link;
        }
        http_link_free(link);
    }
    return NULL;
}

static size_t count_idle(const struct osb_http_client *client, const char *origin)
{
    size_t count = 0;
    struct http_link *link;
    osb_list_foreach (link, &client->idle, list)
        count += strcmp(link->origin, origin) == 0;
    return count;
}

static void pool(struct http_link *link)
{
    struct osb_http_client *client = link->client;
    link->is_used = true;
    link->can_read = false;
    osb_list_prepend(&client->idle, &link->list); /* the freshest is taken first */
    osb_buf_done(&link->out.buf);
    http_input_park(&link->in, &client->spare_in);
    osb_timer_set(&link->idle, client->options.idle_timeout_ms);
    osb_stream_want(link->stream, OSB_READABLE);
}

static void on_idle(struct osb_timer *timer)
{
    http_link_free(timer->arg);
}

/* ---- life ---- */

static void on_stream(struct osb_stream *stream, int events, void *arg)
{
    struct http_link *link = arg;
    (void)stream;
    if (!link->call) {
        if (!is_still_open(link))
            http_link_free(link);
        return;
    }
    if (events & OSB_READABLE)
        link->can_read = true;
    if (events & OSB_WRITABLE)
        link->out.is_blocked = false;
    http_link_run(link);
}

static void on_kick(struct osb_defer *defer)
{
    struct http_link *link = defer->arg;
    if (link->call)
        http_link_run(link);
}

struct http_link *http_link_new(struct osb_http_client *client, const char *origin,
                                struct osb_stream *stream)
{
    struct http_link *link = osb_new(struct http_link);
    link->client = client;
    link->origin = osb_strdup(origin);
    link->stream = stream;
    link->out.stream = stream;
    osb_timer_init(&link->idle, client->loop, on_idle, link);
    osb_defer_init(&link->kick, client->loop, on_kick, link);
    osb_stream_set_callback(stream, on_stream, link);
    return link;
}

void http_link_free(struct http_link *link)
{
    osb_list_remove(&link->list);
    osb_timer_stop(&link->idle);
    osb_defer_cancel(&link->kick);
    osb_stream_close(link->stream);
    osb_buf_done(&link->in);
    osb_buf_done(&link->out.buf);
    free(link->origin);
    free(link);
}

void http_link_kick(struct http_link *link)
{
    if (!link->is_running)
        osb_defer_post(&link->kick);
}

void http_link_break(struct http_link *link, int r)
{
    link->is_broken = true;
    link->failure = r;
    link->can_read = true;
    osb_buf_clear(&link->out.buf);
}

void http_link_attach(struct http_link *link, struct osb_http_call *call)
{
    link->call = call;
    call->link = link;
    link->parsed_len = 0;
    link->body = (struct osb_http_body){0};
    struct iovec pieces[] = {
        http_iov(osb_buf_slice(&call->request)),
        http_iov(osb_buf_slice(&call->early)),
    };
    int r = http_out_send(&link->out, pieces, 2);
    if (r < 0)
        http_link_break(link, r);
    osb_buf_done(&call->early);
    call->is_writable_due = !call->is_body_ended;
    http_link_run(link);
}

/* ---- the answer ---- */

static void fail_call(struct http_link *link, int r)
{
    link->call->failure = r;
}

/* A final head, or one that says to wait on. */
static void take_head(struct http_link *link, const struct osb_http_head *head, size_t len)
{
    struct osb_http_call *call = link->call;
    if (head->status < 200 && head->status != 101) {
        osb_buf_consume(&link->in, len);
        return;
    }
    call->status = head->status;
    call->has_head = true;
    call->is_keep_alive = head->is_keep_alive && head->status != 101;
    osb_http_body_init(&link->body, head);
    if (call->is_head_request)
        link->body = (struct osb_http_body){.is_done = true};
    osb_buf_consume(&link->in, len);
    if (call->callbacks.on_head)
        call->callbacks.on_head(call, head, call->arg);
    if (head->status == 101 && !call->is_taken && !call->is_cancelled)
        fail_call(link, osb_fail(&call->err, -OSB_E_INTERNAL, "unexpected switch of protocols"));
}

static bool parse_head(struct http_link *link)
{
    struct osb_http_call *call = link->call;
    struct osb_slice in = osb_buf_slice(&link->in);
    if (in.len == link->parsed_len)
        return false;
    struct osb_http_head *head = &link->client->head;
    ptrdiff_t n = osb_http_head_parse(in, true, head, &call->err);
    link->parsed_len = n > 0 ? 0 : in.len;
    if (n < 0)
        fail_call(link, (int)n);
    else if (n > 0)
        take_head(link, head, (size_t)n);
    return n != 0;
}

static bool take_body(struct http_link *link)
{
    struct osb_http_call *call = link->call;
    struct osb_slice content;
    ptrdiff_t n = osb_http_body_decode(&link->body, osb_buf_slice(&link->in), &content, &call->err);
    if (n < 0) {
        fail_call(link, (int)n);
        return true;
    }
    osb_buf_consume(&link->in, (size_t)n);
    if (content.len > 0 && call->callbacks.on_data)
        call->callbacks.on_data(call, content, call->arg);
    return n > 0;
}

/* The end of the stream completes one kind of body and breaks all others. */
static bool take_eof(struct http_link *link)
{
    struct osb_http_call *call = link->call;
    if (!link->is_eof)
        return false;
    if (call->has_head && link->body.framing == OSB_HTTP_BODY_UNTIL_CLOSE) {
        link->body.is_done = true;
        return true;
    }
    fail_call(link, osb_fail(&call->err, -OSB_E_CLOSED, "the server closed the connection"));
    return true;
}

static bool read_some(struct http_link *link)
{
    struct osb_http_call *call = link->call;
    if (!link->can_read || link->is_eof)
        return false;
    if (call->is_paused && link->in.len >= PAUSE_READ_AHEAD)
        return false;
    link->can_read = false;
    ssize_t n = http_input_read(&link->in, &link->client->spare_in, link->stream);
    if (n == -EAGAIN)
        return true;
    link->is_eof = n == 0;
    call->has_answer |= n > 0;
    if (n < 0)
        fail_call(link, osb_fail(&call->err, (int)n, "read the answer: %s", strerror(-(int)n)));
    return true;
}

/* ---- the driver ---- */

static bool step(struct http_link *link)
{
    struct osb_http_call *call = link->call;
    if (call->is_writable_due && !call->is_body_ended && link->out.buf.len == 0) {
        call->is_writable_due = false;
        if (call->callbacks.on_writable)
            call->callbacks.on_writable(call, call->arg);
        return true;
    }
    if (!call->has_head) {
        if (parse_head(link))
            return true;
    } else if (link->body.is_done) {
        if (call->is_paused)
            return false;
        call->is_end_due = true;
        return false;
    } else if (!call->is_paused && take_body(link)) {
        return true;
    }
    if (read_some(link))
        return true;
    if (call->is_paused)
        return false;
    if (link->is_broken && !link->is_eof)
        fail_call(link, osb_fail(&call->err, link->failure, "send the request: %s",
                                 strerror(-link->failure)));
    return take_eof(link);
}

static void flush(struct http_link *link)
{
    if (link->is_broken || link->out.buf.len == 0)
        return;
    int r = http_out_flush(&link->out);
    if (r < 0)
        http_link_break(link, r);
    else if (link->out.buf.len == 0)
        link->call->is_writable_due = true;
}

static bool is_over(const struct osb_http_call *call)
{
    return call->is_cancelled || call->is_end_due || call->failure < 0 || call->is_taken;
}

/*
 * A server may close a pooled connection while the request is on its way. Without a byte of an
 * answer, an idempotent request without a body can be sent again (RFC 9112 section 9.3.1).
 */
static bool may_retry(const struct http_link *link, const struct osb_http_call *call)
{
    return link->is_used && call->failure < 0 && !call->has_answer && call->is_idempotent &&
           !call->has_streamed && !call->is_retried && call->mode == HTTP_SEND_WHOLE;
}

static void part(struct http_link *link)
{
    struct osb_http_call *call = osb_take_ptr(link->call);
    call->link = NULL;
    bool is_retry = may_retry(link, call);
    bool is_reusable = call->is_end_due && call->is_keep_alive && !call->is_cancelled &&
                       call->failure == 0 && !link->is_eof && !link->is_broken &&
                       call->is_body_ended && link->out.buf.len == 0 && link->in.len == 0 &&
                       link->body.framing != OSB_HTTP_BODY_UNTIL_CLOSE && link->stream;
    if (is_reusable &&
        count_idle(link->client, link->origin) < link->client->options.max_idle_per_origin)
        pool(link);
    else
        http_link_free(link);
    if (is_retry && !call->is_cancelled) {
        call->is_retried = true;
        call->failure = 0;
        osb_err_clear(&call->err);
        osb_defer_post(&call->start);
        return;
    }
    if (call->is_cancelled)
        http_call_free(call);
    else
        http_call_finish(call, call->is_end_due || call->is_taken ? 0 : call->failure);
}

static void wait_for_events(struct http_link *link)
{
    struct osb_http_call *call = link->call;
    bool wants_read = !link->is_eof && !(call->is_paused && link->in.len >= PAUSE_READ_AHEAD);
    int events = (wants_read ? OSB_READABLE : 0) | (link->out.is_blocked ? OSB_WRITABLE : 0);
    if (events != link->stream->events && osb_stream_want(link->stream, events) < 0)
        fail_call(link, osb_fail(&call->err, -EIO, "wait for the connection"));
}

void http_link_run(struct http_link *link)
{
    osb_defer_cancel(&link->kick);
    link->is_running = true;
    do {
        if (!is_over(link->call))
            flush(link);
    } while (!is_over(link->call) && step(link));
    link->is_running = false;
    if (!is_over(link->call)) {
        http_input_park(&link->in, &link->client->spare_in);
        wait_for_events(link);
    }
    if (is_over(link->call))
        part(link);
}

/* ---- connecting ---- */

/* The host without its port and brackets; owned by the caller. */
static char *server_name(const char *host)
{
    struct osb_slice s = osb_slice_str(host);
    if (s.len > 0 && s.data[0] == '[') {
        ptrdiff_t end = osb_slice_find(s, ']');
        return osb_slice_dup(end < 0 ? s : osb_slice(s.data + 1, (size_t)end - 1));
    }
    ptrdiff_t colon = osb_slice_find(s, ':');
    return osb_slice_dup(colon < 0 ? s : osb_slice_first(s, (size_t)colon));
}

static struct osb_stream *wrap(struct osb_http_call *call, struct osb_stream *stream)
{
    const struct osb_http_client_options *options = &call->client->options;
    if (!call->is_tls)
        return stream;
    _cleanup_free_ char *name = server_name(call->host);
    struct osb_stream *outer = options->wrap_tls(stream, name, options->wrap_tls_arg);
    if (!outer)
        osb_fail(&call->err, -OSB_E_INTERNAL, "TLS could not be set up");
    return outer;
}

static void on_connected(struct osb_stream *stream, int r, void *arg)
{
    struct osb_http_call *call = arg;
    call->connect = NULL;
    if (r < 0) {
        osb_fail(&call->err, r, "connect: %s", r == -OSB_E_TIMEOUT ? "timeout" : strerror(-r));
        http_call_finish(call, r);
        return;
    }
    stream = wrap(call, stream);
    if (!stream) {
        http_call_finish(call, call->err.code);
        return;
    }
    http_link_attach(http_link_new(call->client, call->origin, stream), call);
}

void http_call_connect(struct osb_http_call *call)
{
    struct osb_http_client *client = call->client;
    struct http_link *link = call->is_retried ? NULL : http_link_take_idle(client, call->origin);
    if (link) {
        http_link_attach(link, call);
        return;
    }
    uint64_t timeout_ms = client->options.connect_timeout_ms;
    int r = call->unix_path ? osb_connect_unix(client->loop, call->unix_path, timeout_ms,
                                               on_connected, call, &call->connect, &call->err)
                            : osb_connect_tcp(client->loop, call->address, call->port, timeout_ms,
                                              on_connected, call, &call->connect, &call->err);
    if (r < 0)
        http_call_finish(call, r);
}
