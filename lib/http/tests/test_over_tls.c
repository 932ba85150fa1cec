// SPDX-License-Identifier: Apache-2.0
// Server and client with TLS between them: the streams' read-ahead and their unfinished records
// must not lose or stall anything.
#include <osb/alloc.h>
#include <osb/ca.h>
#include <osb/fd.h>
#include <osb/http_client.h>
#include <osb/http_server.h>
#include <osb/tls.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_TURNS = 20000, LARGE = 3 << 20 };

static char folder[] = "/tmp/osb-http-tls-XXXXXX";
static char ca_file[64];
static char cert_file[64];
static char key_file[64];
static struct osb_loop *loop;
static struct osb_tls_context *server_context;
static struct osb_tls_context *client_context;
static struct osb_http_server *server;
static struct osb_http_client *client;
static struct osb_listener *listener;
static int connections;
static char large[LARGE];

static int make_certificates(void **state)
{
    static const char *const names[] = {"sandbox.test", NULL};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(ca_file, sizeof(ca_file), "%s/ca.crt", folder);
    snprintf(cert_file, sizeof(cert_file), "%s/leaf.crt", folder);
    snprintf(key_file, sizeof(key_file), "%s/leaf.key", folder);
    assert_int_equal(osb_ca_ensure(folder, "test", NULL), 0);
    struct osb_leaf leaf = {.common_name = "server", .dns_names = names, .is_server = true};
    assert_int_equal(osb_ca_issue(folder, &leaf, cert_file, key_file, NULL), 0);
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)(i * 7 >> 3);
    return 0;
}

static int remove_certificates(void **state)
{
    (void)state;
    return osb_remove_tree(folder, NULL);
}

static void accept_tls(struct osb_stream *stream, const char *peer, void *arg)
{
    struct osb_stream *outer;
    (void)arg;
    connections++;
    if (osb_tls_server_wrap(server_context, stream, &outer, NULL) == 0)
        osb_http_server_serve(server, outer, peer);
}

static void reply_body(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    (void)arg;
    osb_http_reply(x, 200, NULL, body);
}

static void echo_run(struct osb_http_exchange *x, struct osb_slice data, bool is_end, void *arg)
{
    (void)arg;
    if (is_end)
        osb_http_reply_end(x);
    else
        osb_http_reply_write(x, data);
}

static int file_with(struct osb_slice content)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    int fd = dup(fileno(file));
    fclose(file);
    assert_int_equal(osb_write_all(fd, content.data, content.len), 0);
    return fd;
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    struct osb_slice path = osb_http_raw_path(x);
    (void)arg;
    if (osb_slice_eq_str(path, "/file")) {
        osb_http_reply_file(x, 200, NULL, file_with(osb_slice(large, LARGE)), 0, LARGE);
    } else if (osb_slice_eq_str(path, "/stream")) {
        osb_http_reply_start(x, 200, NULL, -1);
        osb_http_on_body(x, echo_run, NULL);
    } else {
        osb_http_collect(x, LARGE, reply_body, NULL);
    }
}

static int set_up(void **state)
{
    (void)state;
    connections = 0;
    assert_int_equal(osb_loop_new_epoll(&loop, NULL), 0);
    assert_int_equal(osb_tls_server_new(cert_file, key_file, NULL, &server_context, NULL), 0);
    assert_int_equal(osb_tls_client_new(ca_file, NULL, NULL, &client_context, NULL), 0);
    assert_int_equal(osb_http_server_new(loop, NULL, handle, NULL, &server, NULL), 0);
    assert_int_equal(osb_listener_new_tcp(loop, "127.0.0.1", 0, accept_tls, NULL, &listener, NULL),
                     0);
    struct osb_http_client_options options = {.wrap_tls = osb_tls_client_wrap_hook,
                                              .wrap_tls_arg = client_context};
    assert_int_equal(osb_http_client_new(loop, &options, &client, NULL), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    osb_http_client_free(client);
    osb_listener_free(listener);
    osb_http_server_free(server);
    osb_tls_context_free(client_context);
    osb_tls_context_free(server_context);
    osb_loop_free(loop);
    return 0;
}

static struct {
    bool is_done;
    int r;
    int status;
    struct osb_buf body;
} result;

static void on_fetched(int r, int status, struct osb_slice body, const struct osb_err *err,
                       void *arg)
{
    (void)err;
    (void)arg;
    result.is_done = true;
    result.r = r;
    result.status = status;
    osb_buf_append_slice(&result.body, body);
}

static void fetch(const char *method, const char *target, const char *host, struct osb_slice body)
{
    struct osb_http_request request = {
        .origin = {.address = "127.0.0.1",
                   .port = osb_listener_port(listener),
                   .is_tls = true,
                   .host = host},
        .method = method,
        .target = target,
        .body = body,
        .total_timeout_ms = 20 * 1000,
    };
    result.is_done = false;
    osb_buf_clear(&result.body);
    assert_int_equal(osb_http_fetch(client, &request, LARGE, on_fetched, NULL, NULL, NULL), 0);
    for (int i = 0; i < MAX_TURNS && !result.is_done; i++)
        osb_loop_turn(loop, 1000);
    assert_true(result.is_done);
}

static void calls_go_over_one_connection(void **state)
{
    (void)state;
    struct osb_slice all = osb_slice(large, LARGE);
    fetch("GET", "/", "sandbox.test", OSB_SLICE_NULL);
    assert_int_equal(result.r, 0);
    assert_int_equal(result.status, 200);
    fetch("POST", "/", "sandbox.test", all);
    assert_true(osb_slice_eq(osb_buf_slice(&result.body), all));
    fetch("POST", "/stream", "sandbox.test", all);
    assert_true(osb_slice_eq(osb_buf_slice(&result.body), all));
    fetch("GET", "/file", "sandbox.test", OSB_SLICE_NULL);
    assert_true(osb_slice_eq(osb_buf_slice(&result.body), all));
    assert_int_equal(connections, 1);
    osb_buf_done(&result.body);
}

static void the_host_is_the_name_that_is_verified(void **state)
{
    (void)state;
    fetch("GET", "/", "sandbox.test:443", OSB_SLICE_NULL);
    assert_int_equal(result.r, 0);
    fetch("GET", "/", "other.test", OSB_SLICE_NULL);
    assert_true(result.r < 0);
    osb_buf_done(&result.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_go_over_one_connection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_host_is_the_name_that_is_verified, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
