// SPDX-License-Identifier: Apache-2.0
/* The transport of libcurl against a server of a few lines on the loopback. */
#include <osb/alloc.h>
#include <osb/fd.h>
#include <osb/kube_client.h>

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
// cmocka needs the ones above first
#include <cmocka.h>

enum { MAX_TURNS = 2000, TURN_MS = 5 };

struct fixture {
    struct osb_loop *loop;
    struct osb_kube_config config;
    struct osb_kube_client *client;
    char folder[64];
    int listener;
    char request[4096]; /* the last one */
    int done;
    int r;
    struct osb_buf body;
};

static void on_done(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    (void)err;
    struct fixture *f = arg;
    f->done++;
    f->r = r;
    osb_buf_clear(&f->body);
    osb_buf_append_slice(&f->body, body);
}

static void put_token(struct fixture *f, const char *token)
{
    assert_int_equal(osb_write_file(f->config.token_file, osb_slice_str(token), 0600, NULL), 0);
}

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    struct osb_kube_transport *transport;
    f->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(f->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(f->listener, 8), 0);
    assert_int_equal(getsockname(f->listener, (struct sockaddr *)&address, &len), 0);
    strcpy(f->folder, "/tmp/transport-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->config.server = osb_asprintf("http://127.0.0.1:%d", ntohs(address.sin_port));
    f->config.token_file = osb_path_join(f->folder, "token");
    put_token(f, "old");
    assert_int_equal(osb_loop_new_epoll(&f->loop, NULL), 0);
    assert_int_equal(osb_kube_transport_new_curl(f->loop, &f->config, "test", &transport, NULL), 0);
    f->client = osb_kube_client_new(f->loop, transport);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    osb_kube_client_free(f->client);
    osb_kube_config_done(&f->config);
    osb_loop_free(f->loop);
    close(f->listener);
    osb_buf_done(&f->body);
    assert_int_equal(osb_remove_tree(f->folder, NULL), 0);
    free(f);
    return 0;
}

static void send_create(struct fixture *f)
{
    _cleanup_json_ struct osb_json *object = osb_json_new_object();
    assert_int_equal(osb_kube_create(f->client, &osb_kind_pod, "n", object, on_done, f, NULL, NULL),
                     0);
}

/* Waits for a request with an empty object as its body; returns the connection. */
static int next_request(struct fixture *f)
{
    int fd = -1;
    size_t len = 0;
    for (int i = 0; i < MAX_TURNS; i++) {
        assert_true(osb_loop_turn(f->loop, TURN_MS) >= 0);
        if (fd < 0)
            fd = accept4(f->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        ssize_t n = read(fd, f->request + len, sizeof(f->request) - 1 - len);
        len += n > 0 ? (size_t)n : 0;
        f->request[len] = '\0';
        if (strstr(f->request, "\r\n\r\n{}"))
            return fd;
    }
    fail_msg("no request");
    return -1;
}

static void answer(int fd, const char *status, const char *body)
{
    _cleanup_free_ char *text =
        osb_asprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n%s",
                     status, strlen(body), body);
    assert_int_equal(osb_write_all(fd, text, strlen(text)), 0);
    close(fd);
}

static void wait_done(struct fixture *f)
{
    for (int i = 0; i < MAX_TURNS && !f->done; i++)
        assert_true(osb_loop_turn(f->loop, TURN_MS) >= 0);
    assert_int_equal(f->done, 1);
}

static void expect_no_request(struct fixture *f)
{
    assert_int_equal(accept4(f->listener, NULL, NULL, SOCK_CLOEXEC), -1);
    assert_int_equal(errno, EAGAIN);
}

static void test_a_token_that_was_replaced_meanwhile_is_tried_once(void **state)
{
    struct fixture *f = *state;
    send_create(f);
    int fd = next_request(f);
    assert_non_null(strstr(f->request, "Authorization: Bearer old\r\n"));
    put_token(f, "new");
    answer(fd, "401 Unauthorized", "{\"kind\":\"Status\",\"code\":401}");
    fd = next_request(f);
    assert_int_equal(f->done, 0);
    assert_memory_equal(f->request, "POST /api/v1/namespaces/n/pods ", 31);
    assert_non_null(strstr(f->request, "Authorization: Bearer new\r\n"));
    assert_null(strstr(f->request, "Bearer old"));
    assert_non_null(strstr(f->request, "Content-Type: application/json\r\n"));
    answer(fd, "201 Created", "{\"made\":true}");
    wait_done(f);
    assert_int_equal(f->r, 0);
    assert_string_equal(osb_buf_cstr(&f->body), "{\"made\":true}");
}

static void test_a_second_401_is_the_answer(void **state)
{
    struct fixture *f = *state;
    send_create(f);
    int fd = next_request(f);
    put_token(f, "new");
    answer(fd, "401 Unauthorized", "{}");
    fd = next_request(f);
    put_token(f, "newer");
    answer(fd, "401 Unauthorized", "{}");
    wait_done(f);
    assert_int_equal(f->r, -OSB_E_UNAUTHENTICATED);
    expect_no_request(f);
}

static void test_a_401_without_a_newer_token_is_not_sent_again(void **state)
{
    struct fixture *f = *state;
    send_create(f);
    answer(next_request(f), "401 Unauthorized", "{}");
    wait_done(f);
    assert_int_equal(f->r, -OSB_E_UNAUTHENTICATED);
    expect_no_request(f);
}

static void test_a_client_that_is_freed_between_the_two_calls_nobody(void **state)
{
    struct fixture *f = *state;
    send_create(f);
    int fd = next_request(f);
    put_token(f, "new");
    answer(fd, "401 Unauthorized", "{}");
    fd = next_request(f);
    osb_kube_client_free(f->client);
    f->client = NULL;
    close(fd);
    assert_int_equal(f->done, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_token_that_was_replaced_meanwhile_is_tried_once),
        TEST(test_a_second_401_is_the_answer),
        TEST(test_a_401_without_a_newer_token_is_not_sent_again),
        TEST(test_a_client_that_is_freed_between_the_two_calls_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
