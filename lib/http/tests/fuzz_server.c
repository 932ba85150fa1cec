// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as what a client sends to a whole server, in two pieces: no crash, no leak, each
 * exchange closed once, and nothing left when the client is gone.
 */
#include <osb/http_server.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CAPACITY = 1 << 20 };

static int opened;

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    (void)x;
    (void)is_complete;
    (void)arg;
    opened--;
}

static void reply(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    (void)arg;
    osb_http_reply(x, 200, "text/plain", body);
}

static void echo(struct osb_http_exchange *x, struct osb_slice data, bool is_end, void *arg)
{
    (void)arg;
    if (is_end)
        osb_http_reply_end(x);
    else
        osb_http_reply_write(x, data);
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    (void)arg;
    opened++;
    osb_http_on_close(x, on_close, NULL);
    (void)osb_http_query(x, "path", NULL);
    if (osb_slice_starts(osb_http_raw_path(x), OSB_SLICE("/collect"))) {
        osb_http_collect(x, 1000, reply, NULL);
    } else if (osb_slice_starts(osb_http_raw_path(x), OSB_SLICE("/stream"))) {
        osb_http_reply_start(x, 200, "text/plain", -1);
        osb_http_on_body(x, echo, NULL);
    } else {
        osb_http_reply(x, 404, NULL, OSB_SLICE("no"));
    }
}

static void drop(struct osb_stream *stream, int events, void *arg)
{
    char buffer[16 * 1024];
    (void)events;
    (void)arg;
    ssize_t n = osb_stream_read(stream, buffer, sizeof(buffer));
    if (n <= 0 && n != -EAGAIN)
        osb_stream_want(stream, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_loop *loop;
    struct osb_http_server *server;
    struct osb_stream *client;
    struct osb_stream *served;
    struct osb_slice input = osb_slice(data, size);
    size_t cut = size ? data[size / 2] % size : 0;
    if (size > CAPACITY)
        return 0;
    osb_assert(osb_loop_new_sim(&loop, NULL) == 0);
    osb_assert(osb_http_server_new(loop, NULL, handle, NULL, &server, NULL) == 0);
    osb_assert(osb_stream_pair(loop, CAPACITY, &client, &served) == 0);
    osb_stream_set_callback(client, drop, NULL);
    osb_stream_want(client, OSB_READABLE);
    osb_http_server_serve(server, served, "fuzz");

    (void)osb_stream_write(client, osb_slice_first(input, cut));
    osb_loop_sim_settle(loop);
    (void)osb_stream_write(client, osb_slice_from(input, cut));
    osb_loop_sim_settle(loop);
    osb_assert(opened == 0 || osb_http_server_connections(server) == 1);
    osb_stream_close(client);
    osb_loop_sim_settle(loop);
    osb_assert(opened == 0 && osb_http_server_connections(server) == 0);

    osb_http_server_free(server);
    osb_loop_free(loop);
    return 0;
}
