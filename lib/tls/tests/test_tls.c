// SPDX-License-Identifier: Apache-2.0
#include "cert.h"
#include "handles.h"
#include "pem.h"
#include "support.h"
#include <osb/alloc.h>
#include <osb/loop.h>
#include <osb/tls.h>
#include <sys/socket.h>

/* ---- certificates, made once ---- */

static const char *const names[] = {"server.example", NULL};
static const char *const addresses[] = {"127.0.0.1", NULL};
static const struct osb_leaf server_leaf = {
    .common_name = "server", .dns_names = names, .ip_addresses = addresses, .is_server = true};
static const struct osb_leaf client_leaf = {
    .common_name = "alice", .organization = "system:masters", .is_client = true};

static char server_crt[PATH_BYTES];
static char server_key[PATH_BYTES];
static char client_crt[PATH_BYTES];
static char client_key[PATH_BYTES];
static char ca_crt[PATH_BYTES];
static char other_ca[PATH_BYTES];
static char other_crt[PATH_BYTES];
static char other_key[PATH_BYTES];
static char expired_crt[PATH_BYTES];

static void make_expired(void)
{
    _cleanup_x509_ X509 *ca = NULL;
    _cleanup_x509_ X509 *leaf = NULL;
    _cleanup_pkey_ EVP_PKEY *ca_key = NULL;
    _cleanup_pkey_ EVP_PKEY *key = NULL;
    time_t now = time(NULL);
    must(osb_pem_read_certificate(ca_crt, &ca, &err));
    must(osb_pem_read_key(in_folder("ca.key"), &ca_key, &err));
    must(osb_pem_read_key(server_key, &key, &err));
    must(osb_cert_new_leaf(&server_leaf, key, ca, ca_key,
                           (struct osb_cert_life){now - 1000, now - 10}, &leaf, &err));
    must(osb_pem_write_certificate(expired_crt, leaf, &err));
}

static int make_certificates(void **state)
{
    if (make_folder(state) < 0)
        return -1;
    strcpy(ca_crt, in_folder("ca.crt"));
    strcpy(server_crt, in_folder("server.crt"));
    strcpy(server_key, in_folder("server.key"));
    strcpy(client_crt, in_folder("client.crt"));
    strcpy(client_key, in_folder("client.key"));
    strcpy(other_ca, in_folder("other/ca.crt"));
    strcpy(other_crt, in_folder("other/client.crt"));
    strcpy(other_key, in_folder("other/client.key"));
    strcpy(expired_crt, in_folder("expired.crt"));
    const char *other = in_folder("other");
    mkdir(other, 0700);
    must(osb_ca_ensure(folder, "test CA", &err));
    must(osb_ca_ensure(other, "other CA", &err));
    must(osb_ca_issue(folder, &server_leaf, server_crt, server_key, &err));
    must(osb_ca_issue(folder, &client_leaf, client_crt, client_key, &err));
    must(osb_ca_issue(other, &client_leaf, other_crt, other_key, &err));
    make_expired();
    return 0;
}

/* ---- two peers that send each other a given number of bytes ---- */

struct peer {
    struct osb_stream *stream;
    size_t to_send;
    size_t sent;
    size_t received;
    int end; /* 1 while reading; then what the last read gave */
    int write_error;
    bool shuts_down;
};

static struct osb_loop *loop;
static struct peer client;
static struct peer server;

/* A pattern in which no two places near each other look alike. */
static char byte_at(size_t position)
{
    return (char)(position * 31 + position / 251);
}

static void receive(struct peer *peer)
{
    char buffer[5000];
    ssize_t n = osb_stream_read(peer->stream, buffer, 1 + peer->received % sizeof(buffer));
    if (n == -EAGAIN)
        return;
    if (n <= 0) {
        peer->end = (int)n;
        return;
    }
    for (ssize_t i = 0; i < n; i++)
        if (buffer[i] != byte_at(peer->received + (size_t)i))
            fail_msg("byte %zu is wrong", peer->received + (size_t)i);
    peer->received += (size_t)n;
}

/* Offers what is left in odd pieces, another way each time, as callers may. */
static void transmit(struct peer *peer)
{
    static char block[40000];
    static unsigned turn;
    size_t len = peer->to_send - peer->sent;
    if (len > sizeof(block))
        len = sizeof(block);
    for (size_t i = 0; i < len; i++)
        block[i] = byte_at(peer->sent + i);
    size_t cut = len * (turn++ % 5) / 5;
    struct iovec iov[] = {{block, cut}, {block + cut, 0}, {block + cut, len - cut}};
    ssize_t n = turn % 7 == 0 && cut > 0 ? osb_stream_write(peer->stream, osb_slice(block, cut))
                                         : osb_stream_writev(peer->stream, iov, 3);
    if (n >= 0)
        peer->sent += (size_t)n;
    else if (n != -EAGAIN)
        peer->write_error = (int)n;
}

static void on_event(struct osb_stream *stream, int events, void *arg)
{
    struct peer *peer = arg;
    if (events & OSB_READABLE)
        receive(peer);
    if ((events & OSB_WRITABLE) && peer->sent < peer->to_send)
        transmit(peer);
    if (peer->sent == peer->to_send && peer->shuts_down) {
        peer->shuts_down = false;
        osb_stream_shutdown(stream);
    }
    int wanted = peer->end == 1 ? OSB_READABLE : 0;
    if (peer->sent < peer->to_send && peer->write_error == 0)
        wanted |= OSB_WRITABLE;
    assert_int_equal(osb_stream_want(stream, wanted), 0);
}

static void start_peer(struct peer *peer, size_t to_send)
{
    int events = OSB_READABLE | (to_send ? OSB_WRITABLE : 0);
    peer->to_send = to_send;
    peer->end = 1;
    osb_stream_set_callback(peer->stream, on_event, peer);
    assert_int_equal(osb_stream_want(peer->stream, events), 0);
}

static void wrap(struct osb_stream *a, struct osb_stream *b, struct osb_tls_context *for_client,
                 struct osb_tls_context *for_server, const char *name)
{
    client = server = (struct peer){0};
    must(osb_tls_client_wrap(for_client, a, name, &client.stream, &err));
    must(osb_tls_server_wrap(for_server, b, &server.stream, &err));
}

static void connect_peers(size_t capacity, struct osb_tls_context *for_client,
                          struct osb_tls_context *for_server, const char *name)
{
    struct osb_stream *a;
    struct osb_stream *b;
    must(osb_loop_new_sim(&loop, &err));
    osb_stream_pair(loop, capacity, &a, &b);
    wrap(a, b, for_client, for_server, name);
}

static void disconnect(void)
{
    osb_stream_close(client.stream);
    osb_stream_close(server.stream);
    osb_loop_free(loop);
}

static struct osb_tls_context *new_server(const char *certificate, const char *client_ca)
{
    struct osb_tls_context *context = NULL;
    must(osb_tls_server_new(certificate, server_key, client_ca, &context, &err));
    return context;
}

static struct osb_tls_context *new_client(const char *ca, const char *certificate, const char *key)
{
    struct osb_tls_context *context = NULL;
    must(osb_tls_client_new(ca, certificate, key, &context, &err));
    return context;
}

/* Sends both ways until all has arrived. */
static void exchange(size_t from_client, size_t from_server)
{
    start_peer(&client, from_client);
    start_peer(&server, from_server);
    osb_loop_sim_settle(loop);
    assert_int_equal(server.received, from_client);
    assert_int_equal(client.received, from_server);
    assert_int_equal(client.end, 1);
    assert_int_equal(server.end, 1);
}

/* ---- cases ---- */

static void bytes_pass_both_ways_whatever_fits_below(void **state)
{
    static const size_t capacities[] = {1, 64, 1000, 16000, 17000, 100000};
    struct osb_tls_context *for_client = new_client(ca_crt, NULL, NULL);
    struct osb_tls_context *for_server = new_server(server_crt, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        connect_peers(capacities[i], for_client, for_server, "server.example");
        exchange(capacities[i] < 1000 ? 2000 : 100000, capacities[i] < 1000 ? 3000 : 70000);
        disconnect();
    }
    osb_tls_context_free(for_client);
    osb_tls_context_free(for_server);
}

static void bytes_pass_in_one_direction_only(void **state)
{
    struct osb_tls_context *for_client = new_client(ca_crt, NULL, NULL);
    struct osb_tls_context *for_server = new_server(server_crt, NULL);
    (void)state;
    connect_peers(5000, for_client, for_server, "server.example");
    exchange(100000, 0);
    disconnect();
    connect_peers(5000, for_client, for_server, "127.0.0.1");
    exchange(0, 100000);
    disconnect();
    osb_tls_context_free(for_client);
    osb_tls_context_free(for_server);
}

static void bytes_pass_over_real_sockets(void **state)
{
    struct osb_tls_context *for_client = new_client(ca_crt, NULL, NULL);
    struct osb_tls_context *for_server = new_server(server_crt, NULL);
    struct osb_stream *a;
    struct osb_stream *b;
    int fds[2];
    (void)state;
    must(osb_loop_new_epoll(&loop, &err));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    must(osb_stream_from_fd(loop, fds[0], &a, &err));
    must(osb_stream_from_fd(loop, fds[1], &b, &err));
    wrap(a, b, for_client, for_server, "server.example");
    start_peer(&client, 1000000);
    start_peer(&server, 2000000);
    while (server.received < 1000000 || client.received < 2000000)
        assert_true(osb_loop_turn(loop, -1) >= 0);
    disconnect();
    osb_tls_context_free(for_client);
    osb_tls_context_free(for_server);
}

static void close_notify_is_the_end_of_file_and_the_other_side_goes_on(void **state)
{
    struct osb_tls_context *for_client = new_client(ca_crt, NULL, NULL);
    struct osb_tls_context *for_server = new_server(server_crt, NULL);
    (void)state;
    connect_peers(1, for_client, for_server, "server.example"); /* close_notify has to wait */
    client.shuts_down = true;
    start_peer(&client, 500);
    start_peer(&server, 0);
    osb_loop_sim_settle(loop);
    assert_int_equal(server.received, 500);
    assert_int_equal(server.end, 0);
    assert_int_equal(osb_stream_write(client.stream, OSB_SLICE("x")), -EPIPE);
    start_peer(&server, 7000);
    server.end = 0;
    osb_loop_sim_settle(loop);
    assert_int_equal(client.received, 7000);
    disconnect();
    osb_tls_context_free(for_client);
    osb_tls_context_free(for_server);
}

static void an_end_without_close_notify_is_told_from_one_with_it(void **state)
{
    struct osb_tls_context *for_client = new_client(ca_crt, NULL, NULL);
    struct osb_tls_context *for_server = new_server(server_crt, NULL);
    struct osb_stream *a;
    struct osb_stream *b;
    (void)state;
    must(osb_loop_new_sim(&loop, &err));
    osb_stream_pair(loop, 10000, &a, &b);
    wrap(a, b, for_client, for_server, "server.example");
    exchange(10, 10);
    osb_stream_shutdown(a); /* below TLS, as somebody who cuts the wire */
    osb_loop_sim_settle(loop);
    assert_int_equal(server.end, -OSB_E_CLOSED);
    assert_string_equal(osb_tls_failure(server.stream), "the peer closed without saying so");
    disconnect();

    connect_peers(10000, for_client, for_server, "server.example");
    exchange(10, 10);
    osb_stream_close(client.stream);
    client.stream = NULL;
    osb_loop_sim_settle(loop);
    assert_int_equal(server.end, 0);
    disconnect();
    osb_tls_context_free(for_client);
    osb_tls_context_free(for_server);
}

/* What the client says when the handshake fails. */
static void fail_handshake(struct osb_tls_context *for_client, struct osb_tls_context *for_server,
                           const char *name, const char *reason)
{
    connect_peers(1000, for_client, for_server, name);
    start_peer(&client, 10);
    start_peer(&server, 10);
    osb_loop_sim_settle(loop);
    assert_int_equal(client.end, -EPROTO);
    assert_int_equal(client.received, 0);
    assert_int_equal(server.received, 0);
    assert_int_equal(server.end, -EPROTO);
    assert_string_equal(osb_tls_failure(client.stream), reason);
    disconnect();
    osb_tls_context_free(for_client);
    osb_tls_context_free(for_server);
}

static void a_server_of_another_ca_is_refused(void **state)
{
    (void)state;
    fail_handshake(new_client(other_ca, NULL, NULL), new_server(server_crt, NULL), "server.example",
                   "certificate verify failed: unable to get local issuer certificate");
}

static void a_server_of_another_name_is_refused(void **state)
{
    (void)state;
    fail_handshake(new_client(ca_crt, NULL, NULL), new_server(server_crt, NULL), "evil.example",
                   "certificate verify failed: hostname mismatch");
    fail_handshake(new_client(ca_crt, NULL, NULL), new_server(server_crt, NULL), "127.0.0.2",
                   "certificate verify failed: IP address mismatch");
}

static void an_expired_certificate_is_refused(void **state)
{
    (void)state;
    fail_handshake(new_client(ca_crt, NULL, NULL), new_server(expired_crt, NULL), "server.example",
                   "certificate verify failed: certificate has expired");
}

static void a_client_certificate_names_the_peer_and_its_organisation(void **state)
{
    struct osb_tls_context *for_client = new_client(ca_crt, client_crt, client_key);
    struct osb_tls_context *for_server = new_server(server_crt, ca_crt);
    (void)state;
    connect_peers(1000, for_client, for_server, "server.example");
    assert_null(osb_tls_peer_name(server.stream));
    exchange(10, 10);
    char *name = osb_tls_peer_name(server.stream);
    char *organization = osb_tls_peer_organization(server.stream);
    assert_string_equal(name, "alice");
    assert_string_equal(organization, "system:masters");
    assert_null(osb_tls_peer_organization_at(server.stream, 1));
    free(name);
    free(organization);
    disconnect();
    osb_tls_context_free(for_client);
    osb_tls_context_free(for_server);
}

static void a_client_without_a_certificate_is_nobody_unless_one_is_required(void **state)
{
    struct osb_tls_context *for_client = new_client(ca_crt, NULL, NULL);
    struct osb_tls_context *for_server = new_server(server_crt, ca_crt);
    (void)state;
    connect_peers(1000, for_client, for_server, "server.example");
    exchange(10, 10);
    assert_null(osb_tls_peer_name(server.stream));
    assert_null(osb_tls_peer_organization(server.stream));
    disconnect();

    osb_tls_server_require_client(for_server);
    connect_peers(1000, for_client, for_server, "server.example");
    start_peer(&client, 10);
    start_peer(&server, 10);
    osb_loop_sim_settle(loop);
    assert_int_equal(server.end, -EPROTO);
    assert_int_equal(client.end, -EPROTO);
    assert_int_equal(server.received, 0);
    assert_string_equal(osb_tls_failure(server.stream), "peer did not return a certificate");
    disconnect();
    osb_tls_context_free(for_client);
    osb_tls_context_free(for_server);
}

static void a_client_certificate_of_another_ca_or_for_servers_is_refused(void **state)
{
    struct osb_tls_context *clients[] = {new_client(ca_crt, other_crt, other_key),
                                         new_client(ca_crt, server_crt, server_key)};
    struct osb_tls_context *for_server = new_server(server_crt, ca_crt);
    (void)state;
    for (int i = 0; i < 2; i++) {
        connect_peers(1000, clients[i], for_server, "server.example");
        start_peer(&client, 10);
        start_peer(&server, 10);
        osb_loop_sim_settle(loop);
        assert_int_equal(server.end, -EPROTO);
        assert_int_equal(client.end, -EPROTO);
        assert_int_equal(server.received, 0);
        assert_null(osb_tls_peer_name(server.stream));
        disconnect();
        osb_tls_context_free(clients[i]);
    }
    osb_tls_context_free(for_server);
}

static void bytes_that_are_not_tls_fail_the_stream_for_good(void **state)
{
    struct osb_tls_context *for_server = new_server(server_crt, NULL);
    struct osb_stream *a;
    struct osb_stream *b;
    (void)state;
    must(osb_loop_new_sim(&loop, &err));
    osb_stream_pair(loop, 1000, &a, &b);
    client = server = (struct peer){0};
    must(osb_tls_server_wrap(for_server, b, &server.stream, &err));
    assert_true(osb_stream_write(a, OSB_SLICE("GET / HTTP/1.1\r\n\r\n")) > 0);
    start_peer(&server, 100);
    osb_loop_sim_settle(loop);
    assert_int_equal(server.end, -EPROTO);
    assert_int_equal(osb_stream_write(server.stream, OSB_SLICE("x")), -EPROTO);
    assert_string_equal(osb_tls_failure(server.stream), "http request");
    osb_stream_close(a);
    disconnect();
    osb_tls_context_free(for_server);
}

static void half_a_record_does_not_keep_the_loop_busy(void **state)
{
    struct osb_tls_context *for_server = new_server(server_crt, NULL);
    struct osb_stream *a;
    struct osb_stream *b;
    (void)state;
    must(osb_loop_new_sim(&loop, &err));
    osb_stream_pair(loop, 1000, &a, &b);
    client = server = (struct peer){0};
    must(osb_tls_server_wrap(for_server, b, &server.stream, &err));
    start_peer(&server, 0);
    /* One of the 512 bytes that the record's header announces. */
    assert_int_equal(osb_stream_write(a, OSB_SLICE("\x16\x03\x01\x02\x00\x01")), 6);
    assert_true(osb_loop_sim_settle(loop) < 100);
    assert_int_equal(server.end, 1);
    osb_stream_close(a);
    disconnect();
    osb_tls_context_free(for_server);
}

static void a_reload_is_for_later_connections_and_a_failed_one_changes_nothing(void **state)
{
    struct osb_tls_context *for_client = new_client(ca_crt, NULL, NULL);
    struct osb_tls_context *for_server = new_server(server_crt, NULL);
    (void)state;
    const char *moved = in_folder("moved.crt");
    assert_int_equal(rename(server_crt, moved), 0);
    assert_int_equal(osb_tls_server_reload(for_server, &err), -OSB_E_INVALID);
    connect_peers(1000, for_client, for_server, "server.example");
    exchange(10, 10);
    assert_int_equal(rename(moved, server_crt), 0);
    must(osb_tls_server_reload(for_server, &err));
    exchange(20, 20); /* the peers count on */
    disconnect();
    connect_peers(1000, for_client, for_server, "server.example");
    exchange(10, 10);
    disconnect();
    osb_tls_context_free(for_client);
    osb_tls_context_free(for_server);
}

static void files_that_do_not_fit_are_told(void **state)
{
    struct osb_tls_context *context;
    (void)state;
    assert_int_equal(osb_tls_server_new("/no/such.crt", server_key, NULL, &context, &err),
                     -OSB_E_INVALID);
    assert_non_null(strstr(err.message, "/no/such.crt"));
    assert_int_equal(osb_tls_server_new(server_crt, client_key, NULL, &context, &err),
                     -OSB_E_INVALID);
    assert_int_equal(osb_tls_client_new("/no/such.crt", NULL, NULL, &context, &err),
                     -OSB_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_pass_both_ways_whatever_fits_below),
        cmocka_unit_test(bytes_pass_in_one_direction_only),
        cmocka_unit_test(bytes_pass_over_real_sockets),
        cmocka_unit_test(close_notify_is_the_end_of_file_and_the_other_side_goes_on),
        cmocka_unit_test(an_end_without_close_notify_is_told_from_one_with_it),
        cmocka_unit_test(a_server_of_another_ca_is_refused),
        cmocka_unit_test(a_server_of_another_name_is_refused),
        cmocka_unit_test(an_expired_certificate_is_refused),
        cmocka_unit_test(a_client_certificate_names_the_peer_and_its_organisation),
        cmocka_unit_test(a_client_without_a_certificate_is_nobody_unless_one_is_required),
        cmocka_unit_test(a_client_certificate_of_another_ca_or_for_servers_is_refused),
        cmocka_unit_test(bytes_that_are_not_tls_fail_the_stream_for_good),
        cmocka_unit_test(half_a_record_does_not_keep_the_loop_busy),
        cmocka_unit_test(a_reload_is_for_later_connections_and_a_failed_one_changes_nothing),
        cmocka_unit_test(files_that_do_not_fit_are_told),
    };
    return cmocka_run_group_tests(tests, make_certificates, remove_folder);
}
