// SPDX-License-Identifier: Apache-2.0
// The client against a real server of this library and against scripted ones, over sockets.
#include <osb/alloc.h>
#include <osb/http_client.h>
#include <osb/http_server.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_TURNS = 20000 };

static struct osb_loop *loop;
static struct osb_http_client *client;
static struct osb_listener *listener;
static int port;

/* ---- what a call did ---- */

struct result {
    bool is_ended;
    int r;
    int status;
    int code;
    struct osb_buf body;
    struct osb_buf out; /* what a streamed body still has to send */
    bool is_pausing;
    bool is_cancelling;
    struct osb_stream *taken;
    struct osb_buf leftover;
};

static struct result results[8];

static void on_head(struct osb_http_call *call, const struct osb_http_head *head, void *arg)
{
    struct result *result = arg;
    result->status = head->status;
    if (head->status == 101)
        result->taken = osb_http_call_take_stream(call, &result->leftover);
}

static void on_data(struct osb_http_call *call, struct osb_slice data, void *arg)
{
    struct result *result = arg;
    osb_buf_append_slice(&result->body, data);
    if (result->is_pausing)
        osb_http_call_pause(call);
    if (result->is_cancelling)
        osb_http_call_cancel(call);
}

static void on_end(struct osb_http_call *call, int r, const struct osb_err *err, void *arg)
{
    struct result *result = arg;
    assert_false(result->is_ended);
    assert_true((r < 0) == (err != NULL));
    assert_true(r == 0 || err->message[0]);
    result->is_ended = true;
    result->r = r;
    result->status = osb_http_call_status(call);
}

static void on_writable(struct osb_http_call *call, void *arg)
{
    struct result *result = arg;
    while (result->out.len > 0) {
        struct osb_slice piece = osb_slice_first(osb_buf_slice(&result->out), 10 * 1000);
        size_t queued = osb_http_call_write(call, piece);
        osb_buf_consume(&result->out, piece.len);
        if (queued > 64 * 1024)
            return;
    }
    osb_http_call_end_body(call);
}

static const struct osb_http_call_callbacks callbacks = {
    .on_head = on_head,
    .on_data = on_data,
    .on_end = on_end,
    .on_writable = on_writable,
};

static struct osb_http_request request_of(const char *method, const char *target)
{
    return (struct osb_http_request){
        .origin = {.address = "127.0.0.1", .port = port},
        .method = method,
        .target = target,
    };
}

static struct osb_http_call *start(struct result *result, const struct osb_http_request *request)
{
    struct osb_http_call *call = NULL;
    struct osb_err err = {0};
    int r = osb_http_call_start(client, request, &callbacks, result, &call, &err);
    if (r < 0)
        fail_msg("%s", err.message);
    return call;
}

static void turn_until(const bool *flag)
{
    for (int i = 0; i < MAX_TURNS && !*flag; i++)
        osb_loop_turn(loop, 1000);
    assert_true(*flag);
}

static const char *get(const char *target)
{
    static struct result result;
    osb_buf_done(&result.body);
    result = (struct result){0};
    struct osb_http_request request = request_of("GET", target);
    start(&result, &request);
    turn_until(&result.is_ended);
    assert_int_equal(result.r, 0);
    assert_int_equal(result.status, 200);
    return osb_buf_cstr(&result.body);
}

/* ---- a real server ---- */

static struct osb_http_server *server;
static int connections;

static void accept_counted(struct osb_stream *stream, const char *peer, void *arg)
{
    connections++;
    osb_http_server_serve(arg, stream, peer);
}

static void reply_body(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    (void)arg;
    osb_http_reply(x, 200, "text/plain", body);
}

static void echo_stream(struct osb_http_exchange *x, struct osb_slice data, bool is_end, void *arg)
{
    (void)arg;
    if (is_end)
        osb_http_reply_end(x);
    else
        osb_http_reply_write(x, data);
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    struct osb_slice path = osb_http_raw_path(x);
    (void)arg;
    if (osb_slice_eq_str(path, "/hello")) {
        osb_http_reply(x, 200, NULL, OSB_SLICE("hello"));
    } else if (osb_slice_eq_str(path, "/host")) {
        struct osb_slice host;
        osb_http_header(x, "Host", &host);
        osb_http_reply(x, 200, NULL, host);
    } else if (osb_slice_eq_str(path, "/collect")) {
        osb_http_collect(x, 64 << 20, reply_body, NULL);
    } else if (osb_slice_eq_str(path, "/stream")) {
        osb_http_reply_start(x, 200, NULL, -1);
        osb_http_on_body(x, echo_stream, NULL);
    } else if (osb_slice_eq_str(path, "/never")) {
        return;
    } else if (osb_slice_eq_str(path, "/half")) {
        osb_http_reply_start(x, 200, NULL, 100);
        osb_http_reply_write(x, OSB_SLICE("half"));
        osb_http_reply_end(x);
    } else if (osb_slice_eq_str(path, "/refuse")) {
        osb_http_reply(x, 413, NULL, OSB_SLICE("too much"));
    } else if (osb_slice_eq_str(path, "/upgrade")) {
        static struct osb_buf leftover;
        struct osb_stream *stream;
        osb_http_reply_header(x, "Upgrade", OSB_SLICE("test"));
        stream = osb_http_upgrade(x, &leftover);
        osb_stream_write(stream, OSB_SLICE("from the server"));
        osb_stream_close(stream);
        osb_buf_done(&leftover);
    }
}

static int set_up_loop(void **state)
{
    (void)state;
    memset(results, 0, sizeof(results));
    connections = 0;
    assert_int_equal(osb_loop_new_epoll(&loop, NULL), 0);
    assert_int_equal(osb_http_client_new(loop, NULL, &client, NULL), 0);
    return 0;
}

static int set_up_server(void **state)
{
    set_up_loop(state);
    assert_int_equal(osb_http_server_new(loop, NULL, handle, NULL, &server, NULL), 0);
    assert_int_equal(
        osb_listener_new_tcp(loop, "127.0.0.1", 0, accept_counted, server, &listener, NULL), 0);
    port = osb_listener_port(listener);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    osb_http_client_free(client);
    osb_listener_free(listener);
    if (server)
        osb_http_server_free(server);
    server = NULL;
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        osb_buf_done(&results[i].body);
        osb_buf_done(&results[i].out);
        osb_buf_done(&results[i].leftover);
        osb_stream_close(results[i].taken);
    }
    osb_loop_free(loop);
    return 0;
}

static void calls_share_a_connection(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        assert_string_equal(get("/hello"), "hello");
    assert_int_equal(connections, 1);
    char host[32];
    snprintf(host, sizeof(host), "127.0.0.1:%d", port);
    assert_string_equal(get("/host"), host);
}

static void calls_at_the_same_time_have_their_own(void **state)
{
    (void)state;
    struct osb_http_request request = request_of("GET", "/hello");
    for (int i = 0; i < 4; i++)
        start(&results[i], &request);
    for (int i = 0; i < 4; i++)
        turn_until(&results[i].is_ended);
    assert_int_equal(connections, 4);
    get("/hello");
    assert_int_equal(connections, 4);
}

static void a_whole_body_is_sent(void **state)
{
    (void)state;
    struct osb_http_request request = request_of("POST", "/collect");
    request.body = OSB_SLICE("some body");
    start(&results[0], &request);
    turn_until(&results[0].is_ended);
    assert_string_equal(osb_buf_cstr(&results[0].body), "some body");
}

static void stream_body(int64_t length, const char *target)
{
    enum { LEN = 3 << 20 };
    struct result *result = &results[0];
    struct osb_http_request request = request_of("POST", target);
    request.body_stream_length = length;
    for (int i = 0; i < LEN / 8; i++)
        osb_buf_append(&result->out, &(uint64_t){(uint64_t)i}, 8);
    struct osb_buf want = {0};
    osb_buf_append_slice(&want, osb_buf_slice(&result->out));
    start(result, &request);
    turn_until(&result->is_ended);
    assert_int_equal(result->r, 0);
    assert_true(osb_slice_eq(osb_buf_slice(&result->body), osb_buf_slice(&want)));
    osb_buf_done(&want);
    get("/hello");
    assert_int_equal(connections, 1);
}

static void a_chunked_body_is_streamed_both_ways(void **state)
{
    (void)state;
    stream_body(-1, "/stream");
}

static void a_body_of_known_length_is_streamed(void **state)
{
    (void)state;
    stream_body(3 << 20, "/collect");
}

static void an_answer_that_comes_early_ends_the_call(void **state)
{
    (void)state;
    struct osb_http_request request = request_of("POST", "/refuse");
    request.body_stream_length = 2 << 20;
    for (int i = 0; i < 1 << 17; i++)
        osb_buf_append(&results[0].out, "0123456789abcdef", 16);
    start(&results[0], &request);
    turn_until(&results[0].is_ended);
    assert_int_equal(results[0].r, 0);
    assert_int_equal(results[0].status, 413);
    assert_string_equal(osb_buf_cstr(&results[0].body), "too much");
    get("/hello");
    assert_int_equal(connections, 2);
}

static void an_answer_that_is_cut_is_an_error(void **state)
{
    (void)state;
    struct osb_http_request request = request_of("GET", "/half");
    start(&results[0], &request);
    turn_until(&results[0].is_ended);
    assert_int_equal(results[0].r, -OSB_E_CLOSED);
}

static void timeouts_end_a_call(void **state)
{
    (void)state;
    struct osb_http_request request = request_of("GET", "/never");
    request.timeout_ms = 1;
    start(&results[0], &request);
    request.timeout_ms = 0;
    request.total_timeout_ms = 2;
    start(&results[1], &request);
    turn_until(&results[0].is_ended);
    turn_until(&results[1].is_ended);
    assert_int_equal(results[0].r, -OSB_E_TIMEOUT);
    assert_int_equal(results[1].r, -OSB_E_TIMEOUT);
}

static void a_paused_call_waits(void **state)
{
    (void)state;
    struct osb_http_request request = request_of("POST", "/collect");
    static char body[300 * 1000];
    request.body = osb_slice(body, sizeof(body));
    results[0].is_pausing = true;
    struct osb_http_call *call = start(&results[0], &request);
    for (int i = 0; i < MAX_TURNS && results[0].body.len < sizeof(body); i++) {
        size_t before = results[0].body.len;
        osb_loop_turn(loop, before == 0 ? 1000 : 0);
        osb_loop_turn(loop, 0);
        if (results[0].body.len > before)
            osb_http_call_resume(call);
    }
    osb_http_call_resume(call);
    turn_until(&results[0].is_ended);
    assert_int_equal(results[0].body.len, sizeof(body));
}

static void cancelled_calls_say_nothing_more(void **state)
{
    (void)state;
    struct osb_http_request request = request_of("GET", "/hello");
    osb_http_call_cancel(start(&results[0], &request)); /* before it began */
    struct osb_http_call *call = start(&results[1], &request);
    osb_loop_turn(loop, 0); /* connecting */
    osb_http_call_cancel(call);
    results[2].is_cancelling = true; /* inside its callback */
    start(&results[2], &request);
    request.target = "/never";
    call = start(&results[3], &request);
    request.target = "/hello";
    start(&results[4], &request);
    turn_until(&results[4].is_ended);
    for (int i = 0; i < 100 && results[2].body.len == 0; i++)
        osb_loop_turn(loop, 10);
    osb_http_call_cancel(call); /* waiting for the answer */
    for (int i = 0; i < 4; i++)
        assert_false(results[i].is_ended);
}

static void freeing_the_client_ends_its_calls(void **state)
{
    (void)state;
    struct osb_http_request request = request_of("GET", "/never");
    start(&results[0], &request);
    for (int i = 0; i < 10; i++)
        osb_loop_turn(loop, 1);
    start(&results[1], &request);
    osb_http_client_free(client);
    client = NULL;
    assert_int_equal(results[0].r, -ECANCELED);
    assert_int_equal(results[1].r, -ECANCELED);
}

static void an_upgrade_hands_the_stream_over(void **state)
{
    (void)state;
    struct osb_http_header headers[] = {
        {OSB_SLICE("Connection"), OSB_SLICE("Upgrade")},
        {OSB_SLICE("Upgrade"), OSB_SLICE("test")},
    };
    struct osb_http_request request = request_of("GET", "/upgrade");
    request.headers = headers;
    request.header_count = 2;
    start(&results[0], &request);
    turn_until(&results[0].is_ended);
    assert_int_equal(results[0].r, 0);
    assert_int_equal(results[0].status, 101);
    assert_non_null(results[0].taken);
    char buffer[100] = {0};
    size_t len = results[0].leftover.len;
    memcpy(buffer, osb_buf_cstr(&results[0].leftover), len);
    ssize_t n = osb_stream_read(results[0].taken, buffer + len, sizeof(buffer) - len - 1);
    assert_true(n >= 0);
    assert_string_equal(buffer, "from the server");
}

static void wrong_requests_are_refused_at_once(void **state)
{
    (void)state;
    struct osb_http_header header = {OSB_SLICE("X"), OSB_SLICE("a\r\nY: b")};
    struct osb_http_request request = request_of("GET", "/a b");
    struct osb_http_call *call;
    assert_int_equal(osb_http_call_start(client, &request, &callbacks, NULL, &call, NULL),
                     -OSB_E_INVALID);
    request = request_of("GE T", "/");
    assert_int_equal(osb_http_call_start(client, &request, &callbacks, NULL, &call, NULL),
                     -OSB_E_INVALID);
    request = request_of("GET", "/");
    request.headers = &header;
    request.header_count = 1;
    assert_int_equal(osb_http_call_start(client, &request, &callbacks, NULL, &call, NULL),
                     -OSB_E_INVALID);
    header = (struct osb_http_header){OSB_SLICE("content-length"), OSB_SLICE("7")};
    assert_int_equal(osb_http_call_start(client, &request, &callbacks, NULL, &call, NULL),
                     -OSB_E_INVALID);
    request = request_of("GET", "/");
    request.origin.is_tls = true;
    assert_int_equal(osb_http_call_start(client, &request, &callbacks, NULL, &call, NULL),
                     -OSB_E_UNSUPPORTED);
    request.origin = (struct osb_http_origin){0};
    assert_int_equal(osb_http_call_start(client, &request, &callbacks, NULL, &call, NULL),
                     -OSB_E_INVALID);
}

/* ---- fetch ---- */

static struct {
    bool is_called;
    int r;
    int status;
    char body[100];
} fetched;

static void on_fetched(int r, int status, struct osb_slice body, const struct osb_err *err,
                       void *arg)
{
    (void)err;
    (void)arg;
    fetched.is_called = true;
    fetched.r = r;
    fetched.status = status;
    snprintf(fetched.body, sizeof(fetched.body), "%.*s", OSB_SLICE_ARG(body));
}

static void fetch_collects_within_its_limit(void **state)
{
    (void)state;
    struct osb_http_request request = request_of("GET", "/hello");
    memset(&fetched, 0, sizeof(fetched));
    assert_int_equal(osb_http_fetch(client, &request, 5, on_fetched, NULL, NULL, NULL), 0);
    turn_until(&fetched.is_called);
    assert_int_equal(fetched.r, 0);
    assert_int_equal(fetched.status, 200);
    assert_string_equal(fetched.body, "hello");
    memset(&fetched, 0, sizeof(fetched));
    assert_int_equal(osb_http_fetch(client, &request, 4, on_fetched, NULL, NULL, NULL), 0);
    turn_until(&fetched.is_called);
    assert_int_equal(fetched.r, -OSB_E_TOO_LARGE);
    struct osb_http_call *call;
    memset(&fetched, 0, sizeof(fetched));
    assert_int_equal(osb_http_fetch(client, &request, 4, on_fetched, NULL, &call, NULL), 0);
    osb_http_call_cancel(call);
    assert_string_equal(get("/hello"), "hello");
    assert_false(fetched.is_called);
}

/* ---- scripted servers ---- */

/* What a scripted server does with the Nth request over all connections. */
struct act {
    const char *answer; /* NULL: only close */
    bool is_closing;
};

struct peer {
    struct osb_stream *stream;
    struct osb_buf in;
    struct peer *next;
};

static const struct act *script;
static int requests;
static struct peer *peers;

static void on_peer(struct osb_stream *stream, int events, void *arg)
{
    struct peer *peer = arg;
    char buffer[4096];
    (void)events;
    ssize_t n = osb_stream_read(stream, buffer, sizeof(buffer));
    if (n == -EAGAIN)
        return;
    if (n <= 0) {
        osb_stream_want(stream, 0);
        return;
    }
    osb_buf_append(&peer->in, buffer, (size_t)n);
    if (osb_slice_find_slice(osb_buf_slice(&peer->in), OSB_SLICE("\r\n\r\n")) < 0)
        return;
    osb_buf_clear(&peer->in);
    const struct act *act = &script[requests++];
    if (act->answer)
        osb_stream_write(stream, osb_slice_str(act->answer));
    if (act->is_closing)
        osb_stream_close(osb_take_ptr(peer->stream));
}

static void on_accept(struct osb_stream *stream, const char *name, void *arg)
{
    (void)name;
    (void)arg;
    struct peer *peer = osb_new(struct peer);
    peer->stream = stream;
    peer->next = peers;
    peers = peer;
    connections++;
    osb_stream_set_callback(stream, on_peer, peer);
    osb_stream_want(stream, OSB_READABLE);
}

static void listen_scripted(const struct act *acts)
{
    script = acts;
    requests = 0;
    assert_int_equal(osb_listener_new_tcp(loop, "127.0.0.1", 0, on_accept, NULL, &listener, NULL),
                     0);
    port = osb_listener_port(listener);
}

static int tear_down_scripted(void **state)
{
    while (peers) {
        struct peer *peer = peers;
        peers = peer->next;
        osb_stream_close(peer->stream);
        osb_buf_done(&peer->in);
        free(peer);
    }
    return tear_down(state);
}

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static void a_stale_connection_is_tried_once_more(void **state)
{
    (void)state;
    static const struct act acts[] = {{OK, false}, {NULL, true}, {OK, false}};
    listen_scripted(acts);
    assert_string_equal(get("/1"), "ok");
    assert_string_equal(get("/2"), "ok");
    assert_int_equal(requests, 3);
    assert_int_equal(connections, 2);
}

static void a_call_with_effects_is_not_repeated(void **state)
{
    (void)state;
    static const struct act acts[] = {{OK, false}, {NULL, true}, {OK, false}};
    listen_scripted(acts);
    assert_string_equal(get("/1"), "ok");
    struct osb_http_request request = request_of("POST", "/2");
    start(&results[0], &request);
    turn_until(&results[0].is_ended);
    assert_int_equal(results[0].r, -OSB_E_CLOSED);
    assert_int_equal(requests, 2);
}

static void a_fresh_connection_is_not_retried(void **state)
{
    (void)state;
    static const struct act acts[] = {{NULL, true}, {OK, false}};
    listen_scripted(acts);
    struct osb_http_request request = request_of("GET", "/1");
    start(&results[0], &request);
    turn_until(&results[0].is_ended);
    assert_int_equal(results[0].r, -OSB_E_CLOSED);
    assert_int_equal(requests, 1);
}

static void a_connection_closed_while_idle_is_not_used(void **state)
{
    (void)state;
    static const struct act acts[] = {{OK, true}, {OK, false}};
    listen_scripted(acts);
    assert_string_equal(get("/1"), "ok");
    struct osb_http_request request = request_of("POST", "/2");
    start(&results[0], &request);
    turn_until(&results[0].is_ended);
    assert_int_equal(results[0].r, 0);
    assert_int_equal(connections, 2);
}

static void answers_are_read_in_every_framing(void **state)
{
    (void)state;
    static const struct act acts[] = {
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" OK, false},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\n\r\nok", true},
        {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false},
        {OK "HTTP/1.1 200 unasked\r\n", false},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false},
    };
    listen_scripted(acts);
    for (int i = 0; i < 6; i++)
        assert_string_equal(get("/"), "ok");
    assert_int_equal(connections, 4); /* new behind 3, 4 and 5 */
}

static void a_head_request_has_no_body_to_wait_for(void **state)
{
    (void)state;
    static const struct act acts[] = {{"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", false},
                                      {OK, false}};
    listen_scripted(acts);
    struct osb_http_request request = request_of("HEAD", "/");
    start(&results[0], &request);
    turn_until(&results[0].is_ended);
    assert_int_equal(results[0].r, 0);
    assert_string_equal(get("/"), "ok");
    assert_int_equal(connections, 1);
}

static void malformed_answers_are_errors(void **state)
{
    (void)state;
    static const struct act acts[] = {
        {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok", false},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", false},
        {"HTTP/1.1 101 Switching Protocols\r\n\r\n", false},
        {"SSH-2.0-OpenSSH\r\n", false},
    };
    listen_scripted(acts);
    for (int i = 0; i < 5; i++) {
        struct osb_http_request request = request_of("GET", "/");
        start(&results[i], &request);
        turn_until(&results[i].is_ended);
        /* The unasked switch is taken by on_head in this suite; all others fail. */
        if (i == 3)
            assert_int_equal(results[i].r, 0);
        else
            assert_true(results[i].r < 0);
    }
}

static void unix_sockets_are_origins_too(void **state)
{
    (void)state;
    char path[] = "/tmp/osb-http-client-XXXXXX";
    assert_non_null(mkdtemp(path));
    char *socket_path = osb_asprintf("%s/s", path);
    struct osb_listener *other;
    assert_int_equal(
        osb_listener_new_unix(loop, socket_path, 0600, accept_counted, server, &other, NULL), 0);
    struct osb_http_request request = request_of("GET", "/host");
    request.origin = (struct osb_http_origin){.unix_path = socket_path};
    start(&results[0], &request);
    turn_until(&results[0].is_ended);
    assert_string_equal(osb_buf_cstr(&results[0].body), "localhost");
    osb_listener_free(other);
    request.origin.host = "named";
    start(&results[1], &request); /* the pooled connection lives on */
    turn_until(&results[1].is_ended);
    assert_string_equal(osb_buf_cstr(&results[1].body), "named");
    request.origin.unix_path = "/nonexistent/socket";
    start(&results[2], &request);
    turn_until(&results[2].is_ended);
    assert_int_equal(results[2].r, -ENOENT);
    rmdir(path);
    free(socket_path);
}

#define WITH_SERVER(f) cmocka_unit_test_setup_teardown(f, set_up_server, tear_down)
#define WITH_SCRIPT(f) cmocka_unit_test_setup_teardown(f, set_up_loop, tear_down_scripted)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(calls_share_a_connection),
        WITH_SERVER(calls_at_the_same_time_have_their_own),
        WITH_SERVER(a_whole_body_is_sent),
        WITH_SERVER(a_chunked_body_is_streamed_both_ways),
        WITH_SERVER(a_body_of_known_length_is_streamed),
        WITH_SERVER(an_answer_that_comes_early_ends_the_call),
        WITH_SERVER(an_answer_that_is_cut_is_an_error),
        WITH_SERVER(timeouts_end_a_call),
        WITH_SERVER(a_paused_call_waits),
        WITH_SERVER(cancelled_calls_say_nothing_more),
        WITH_SERVER(freeing_the_client_ends_its_calls),
        WITH_SERVER(an_upgrade_hands_the_stream_over),
        WITH_SERVER(wrong_requests_are_refused_at_once),
        WITH_SERVER(fetch_collects_within_its_limit),
        WITH_SERVER(unix_sockets_are_origins_too),
        WITH_SCRIPT(a_stale_connection_is_tried_once_more),
        WITH_SCRIPT(a_call_with_effects_is_not_repeated),
        WITH_SCRIPT(a_fresh_connection_is_not_retried),
        WITH_SCRIPT(a_connection_closed_while_idle_is_not_used),
        WITH_SCRIPT(answers_are_read_in_every_framing),
        WITH_SCRIPT(a_head_request_has_no_body_to_wait_for),
        WITH_SCRIPT(malformed_answers_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
