// SPDX-License-Identifier: Apache-2.0
/*
 * libcurl's multi interface driven by our loop: curl tells which sockets to watch and when to be
 * called, we call curl_multi_socket_action(), and hand results on when it has returned.
 *
 * curl must not be entered from its own callbacks. So a new transfer only enters a list, and a
 * cancelled one leaves curl from a deferred call when curl is running.
 */
#include <curl/curl.h>
#include <osb/alloc.h>
#include <osb/kube_client.h>
#include <osb/list.h>

#include <stdlib.h>
#include <string.h>

#include "token_file.h"

enum {
    CONNECT_TIMEOUT_MS = 10000,
    KEEPALIVE_IDLE_S = 15,
    KEEPALIVE_INTERVAL_S = 5,
    CA_CACHE_S = 60, /* curl's own default is a day: too long for a rotated CA */
    MAX_IDLE_CONNECTIONS = 16,
    HTTP_UNAUTHORIZED = 401,
};

#define AUTHORIZATION "Authorization:"

struct curl_transport {
    struct osb_kube_transport base;
    struct osb_loop *loop;
    const struct osb_kube_config *config;
    char *user_agent;
    CURLM *multi;
    struct osb_timer timer;
    struct osb_defer settle;   /* adds waiting transfers, removes cancelled ones */
    struct osb_list waiting;   /* not yet in curl */
    struct osb_list running;   /* in curl */
    struct osb_list cancelled; /* in curl, to leave it */
    int depth;                 /* curl is on the stack */
    struct token_file token_file;
};

struct transfer {
    struct curl_transport *transport;
    struct osb_list link;
    CURL *easy;
    struct curl_slist *headers;
    struct osb_kube_transport_callbacks callbacks;
    void *arg;
    char *sent_token; /* of the token file; NULL when no newer one can come */
    bool has_status;
    bool is_outdated; /* refused, and there is a newer token: to be sent again */
    bool is_second;
    bool is_cancelled;
    char error[CURL_ERROR_SIZE];
};

struct socket_watch {
    struct curl_transport *transport;
    struct osb_watch watch;
};

static void wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
}

/* One of them is the token. */
static void free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *line = headers; line; line = line->next)
        wipe(line->data);
    curl_slist_free_all(headers);
}

static void transfer_free(struct transfer *transfer)
{
    osb_list_remove(&transfer->link);
    curl_easy_cleanup(transfer->easy);
    free_headers(transfer->headers);
    wipe(transfer->sent_token);
    free(transfer->sent_token);
    free(transfer);
}

/* ---- credentials ---- */

static void add_header(struct transfer *transfer, const char *name, const char *value)
{
    if (!value || strpbrk(value, "\r\n"))
        return;
    _cleanup_free_ char *line = osb_asprintf("%s: %s", name, value);
    struct curl_slist *headers = curl_slist_append(transfer->headers, line);
    osb_assert(headers);
    transfer->headers = headers;
}

static bool has_token_file(const struct osb_kube_config *config)
{
    return config->token_file && osb_secret_is_empty(&config->token);
}

static void add_authorization(struct transfer *transfer)
{
    struct curl_transport *t = transfer->transport;
    const char *token = t->config->token.bytes;
    if (has_token_file(t->config)) {
        token = token_file_read(&t->token_file, t->config->token_file, false);
        transfer->sent_token = osb_strdup(token);
    }
    if (!token || !token[0])
        return;
    _cleanup_free_ char *bearer = osb_asprintf("Bearer %s", token);
    add_header(transfer, "Authorization", bearer);
    wipe(bearer);
}

/*
 * The token may have been replaced between our look at its file and the server's look at it. Only
 * then is it worth another request; and it is safe for each verb: a 401 has done nothing.
 */
static bool has_newer_token(struct transfer *transfer)
{
    struct curl_transport *t = transfer->transport;
    if (transfer->is_second || !transfer->sent_token)
        return false;
    const char *token = token_file_read(&t->token_file, t->config->token_file, true);
    return token && strcmp(token, transfer->sent_token) != 0;
}

/* The same request with the token of now; its easy handle has left the multi handle. */
static void send_again(struct transfer *transfer)
{
    struct curl_transport *t = transfer->transport;
    struct curl_slist *old = transfer->headers;
    transfer->headers = NULL;
    wipe(transfer->sent_token);
    free(osb_take_ptr(transfer->sent_token));
    add_authorization(transfer);
    for (struct curl_slist *line = old; line; line = line->next) {
        if (strncmp(line->data, AUTHORIZATION, sizeof(AUTHORIZATION) - 1) == 0)
            continue;
        struct curl_slist *headers = curl_slist_append(transfer->headers, line->data);
        osb_assert(headers);
        transfer->headers = headers;
    }
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
    free_headers(old);
    transfer->is_outdated = false;
    transfer->is_second = true;
    osb_list_remove(&transfer->link);
    osb_list_append(&t->waiting, &transfer->link);
    osb_defer_post(&t->settle);
}

/* ---- the end of transfers ---- */

static int code_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return 0;
    case CURLE_OPERATION_TIMEDOUT:
        return -OSB_E_TIMEOUT;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2_STREAM:
        return -OSB_E_CLOSED;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
        return -OSB_E_UNAUTHENTICATED;
    default:
        return -OSB_E_UNAVAILABLE;
    }
}

static void report_status(struct transfer *transfer)
{
    long status = 0;
    curl_off_t retry_after_s = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (transfer->has_status || transfer->is_outdated || status < 200)
        return;
    if (status == HTTP_UNAUTHORIZED && has_newer_token(transfer)) {
        transfer->is_outdated = true;
        return;
    }
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    transfer->has_status = true;
    transfer->callbacks.on_status((int)status, (int)retry_after_s, transfer->arg);
}

static void end_transfer(struct transfer *transfer, CURLcode code)
{
    struct osb_err err = {0};
    int r = code_of(code);
    if (r == 0 && !transfer->has_status)
        r = -OSB_E_CLOSED;
    if (r < 0)
        osb_fail(&err, r, "%s", transfer->error[0] ? transfer->error : curl_easy_strerror(code));
    void (*on_end)(int, const struct osb_err *, void *) = transfer->callbacks.on_end;
    void *arg = transfer->arg;
    transfer_free(transfer);
    on_end(r, r < 0 ? &err : NULL, arg);
}

/* Hands on what has ended. A callback may free nothing but its own transfers. */
static void collect_ended(struct curl_transport *t)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(t->multi, &left))) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        struct transfer *transfer = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
        curl_multi_remove_handle(t->multi, easy); /* MESSAGE is gone after this */
        if (transfer->is_cancelled)
            transfer_free(transfer);
        else if (transfer->is_outdated)
            send_again(transfer);
        else
            end_transfer(transfer, code);
    }
}

static void run_curl(struct curl_transport *t, curl_socket_t socket, int events)
{
    int running;
    t->depth++;
    curl_multi_socket_action(t->multi, socket, events, &running);
    t->depth--;
    collect_ended(t);
}

/* ---- what curl asks of the loop ---- */

static void on_socket_event(struct osb_watch *watch, int events)
{
    struct socket_watch *socket = watch->arg;
    int bits = ((events & OSB_READABLE) ? CURL_CSELECT_IN : 0) |
               ((events & OSB_WRITABLE) ? CURL_CSELECT_OUT : 0);
    run_curl(socket->transport, watch->fd, bits);
}

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    (void)easy;
    struct curl_transport *t = arg;
    struct socket_watch *socket = socket_arg;
    if (what == CURL_POLL_REMOVE) {
        if (socket) {
            osb_watch_stop(&socket->watch);
            free(socket);
            curl_multi_assign(t->multi, fd, NULL);
        }
        return 0;
    }
    if (!socket) {
        socket = osb_new(struct socket_watch);
        socket->transport = t;
        osb_watch_init(&socket->watch, t->loop, fd, on_socket_event, socket);
        curl_multi_assign(t->multi, fd, socket);
    }
    int events =
        (what != CURL_POLL_OUT ? OSB_READABLE : 0) | (what != CURL_POLL_IN ? OSB_WRITABLE : 0);
    return osb_watch_set(&socket->watch, events) < 0 ? -1 : 0;
}

static void on_timer(struct osb_timer *timer)
{
    run_curl(timer->arg, CURL_SOCKET_TIMEOUT, 0);
}

static int on_curl_timer(CURLM *multi, long timeout_ms, void *arg)
{
    (void)multi;
    struct curl_transport *t = arg;
    if (timeout_ms < 0)
        osb_timer_stop(&t->timer);
    else
        osb_timer_set(&t->timer, (uint64_t)timeout_ms);
    return 0;
}

static size_t on_curl_header(char *data, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    size_t len = size * count;
    bool is_end = len <= 2 && (data[0] == '\r' || data[0] == '\n');
    if (is_end && !transfer->is_cancelled)
        report_status(transfer);
    return len;
}

static size_t on_curl_data(char *data, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    size_t len = size * count;
    if (!transfer->is_cancelled)
        report_status(transfer);
    if (!transfer->is_cancelled && !transfer->is_outdated)
        transfer->callbacks.on_data(osb_slice(data, len), transfer->arg);
    return transfer->is_cancelled ? 0 : len; /* 0 of LEN makes curl end it */
}

/* ---- starting ---- */

static void set_headers(struct transfer *transfer, const struct osb_kube_http_request *request)
{
    add_authorization(transfer);
    add_header(transfer, "Accept", request->accept);
    add_header(transfer, "Content-Type", request->content_type);
    add_header(transfer, "X-Request-ID", request->request_id);
    add_header(transfer, "Expect", ""); /* curl drops the header: no 100-continue round trip */
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
}

static void set_body(CURL *easy, const struct osb_kube_http_request *request)
{
    if (request->body.len > 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request->body.data);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static void set_connection(CURL *easy, const struct osb_kube_config *config)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_IDLE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_INTERVAL_S);
    curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, (long)CA_CACHE_S);
    curl_easy_setopt(easy, CURLOPT_CAINFO, config->ca_file);
    curl_easy_setopt(easy, CURLOPT_SSLCERT, config->client_certificate_file);
    curl_easy_setopt(easy, CURLOPT_SSLKEY, config->client_key_file);
    if (config->is_insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_callbacks(struct transfer *transfer)
{
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_curl_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_curl_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
}

static int transport_start(struct osb_kube_transport *transport,
                           const struct osb_kube_http_request *request,
                           const struct osb_kube_transport_callbacks *callbacks, void *arg,
                           void **ret_handle, struct osb_err *err)
{
    struct curl_transport *t = osb_container_of(transport, struct curl_transport, base);
    CURL *easy = curl_easy_init();
    if (!easy)
        return osb_fail(err, -ENOMEM, "curl");
    struct transfer *transfer = osb_new(struct transfer);
    transfer->transport = t;
    transfer->easy = easy;
    transfer->callbacks = *callbacks;
    transfer->arg = arg;
    _cleanup_free_ char *url = osb_asprintf("%s%s", t->config->server, request->path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, t->user_agent);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    set_connection(easy, t->config);
    set_body(easy, request);
    set_headers(transfer, request);
    set_callbacks(transfer);
    osb_list_append(&t->waiting, &transfer->link);
    osb_defer_post(&t->settle);
    *ret_handle = transfer;
    return 0;
}

static void remove_cancelled(struct curl_transport *t)
{
    struct transfer *transfer, *next;
    osb_list_foreach_safe (transfer, next, &t->cancelled, link) {
        curl_multi_remove_handle(t->multi, transfer->easy);
        transfer_free(transfer);
    }
}

static void settle(struct osb_defer *defer)
{
    struct curl_transport *t = defer->arg;
    struct transfer *transfer;
    remove_cancelled(t);
    while ((transfer = osb_list_first(&t->waiting, struct transfer, link))) {
        osb_list_remove(&transfer->link);
        osb_list_append(&t->running, &transfer->link);
        if (curl_multi_add_handle(t->multi, transfer->easy) != CURLM_OK)
            end_transfer(transfer, CURLE_OUT_OF_MEMORY);
    }
}

static void transport_cancel(struct osb_kube_transport *transport, void *handle)
{
    struct curl_transport *t = osb_container_of(transport, struct curl_transport, base);
    struct transfer *transfer = handle;
    transfer->is_cancelled = true;
    osb_list_remove(&transfer->link);
    osb_list_append(&t->cancelled, &transfer->link);
    if (t->depth == 0)
        remove_cancelled(t);
    else
        osb_defer_post(&t->settle);
}

static void transport_free(struct osb_kube_transport *transport)
{
    struct curl_transport *t = osb_container_of(transport, struct curl_transport, base);
    osb_assert(t->depth == 0);
    osb_assert(osb_list_is_empty(&t->waiting) && osb_list_is_empty(&t->running));
    remove_cancelled(t);
    curl_multi_cleanup(t->multi);
    osb_timer_stop(&t->timer);
    osb_defer_cancel(&t->settle);
    token_file_done(&t->token_file);
    free(t->user_agent);
    free(t);
}

static const struct osb_kube_transport_ops curl_ops = {transport_start, transport_cancel,
                                                       transport_free};

int osb_kube_transport_new_curl(struct osb_loop *loop, const struct osb_kube_config *config,
                                const char *user_agent, struct osb_kube_transport **ret,
                                struct osb_err *err)
{
    static bool is_initialised;
    if (!is_initialised && curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return osb_fail(err, -OSB_E_INTERNAL, "curl_global_init");
    is_initialised = true;
    CURLM *multi = curl_multi_init();
    if (!multi)
        return osb_fail(err, -ENOMEM, "curl");
    struct curl_transport *t = osb_new(struct curl_transport);
    t->base.ops = &curl_ops;
    t->loop = loop;
    t->config = config;
    t->user_agent = osb_strdup(user_agent);
    t->multi = multi;
    osb_list_init(&t->waiting);
    osb_list_init(&t->running);
    osb_list_init(&t->cancelled);
    osb_timer_init(&t->timer, loop, on_timer, t);
    osb_defer_init(&t->settle, loop, settle, t);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, t);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, t);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)MAX_IDLE_CONNECTIONS);
    *ret = &t->base;
    return 0;
}
