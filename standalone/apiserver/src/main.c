// SPDX-License-Identifier: Apache-2.0
/* opensandbox-apiserver: parses the command line, builds, runs, tears down. */
#include "server.h"

#include <getopt.h>
#include <osb/fd.h>
#include <osb/log.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

static const char usage_text[] =
    "usage: opensandbox-apiserver --listen ADDRESS:PORT --database FILE --crds DIR\n"
    "           --tls-cert FILE --tls-key FILE --client-ca FILE\n"
    "           --node-socket PATH --node-name NAME\n"
    "           [--ready-fd N] [--log-level debug|info|warn|error] [--insecure]\n"
    "\n"
    "Serves the Kubernetes API for the kinds of DIR and the core kinds that sandboxes need.\n"
    "--insecure serves plain HTTP on a loopback address to everybody, as administrator.\n";

struct arguments {
    char *listen;
    const char *database;
    const char *crds;
    const char *node_name;
    int ready_fd;
    enum osb_log_level level;
    struct server_options server;
};

/* Everything that main() owns. */
struct program {
    struct osb_loop *loop;
    struct cluster cluster;
    struct server server;
    struct osb_timer deadline;
    bool is_draining;
};

enum {
    OPT_LISTEN = 256,
    OPT_DATABASE,
    OPT_CRDS,
    OPT_TLS_CERT,
    OPT_TLS_KEY,
    OPT_CLIENT_CA,
    OPT_NODE_SOCKET,
    OPT_NODE_NAME,
    OPT_READY_FD,
    OPT_LOG_LEVEL,
    OPT_INSECURE,
    OPT_HELP,
    OPT_VERSION,
};

static const struct option options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"database", required_argument, NULL, OPT_DATABASE},
    {"crds", required_argument, NULL, OPT_CRDS},
    {"tls-cert", required_argument, NULL, OPT_TLS_CERT},
    {"tls-key", required_argument, NULL, OPT_TLS_KEY},
    {"client-ca", required_argument, NULL, OPT_CLIENT_CA},
    {"node-socket", required_argument, NULL, OPT_NODE_SOCKET},
    {"node-name", required_argument, NULL, OPT_NODE_NAME},
    {"ready-fd", required_argument, NULL, OPT_READY_FD},
    {"log-level", required_argument, NULL, OPT_LOG_LEVEL},
    {"insecure", no_argument, NULL, OPT_INSECURE},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static int wrong_use(const char *why)
{
    fprintf(stderr, "opensandbox-apiserver: %s\n\n%s", why, usage_text);
    return -OSB_E_INVALID;
}

/* 0: go on, 1: done with success, negative: wrong use. */
static int take_option(int option, struct arguments *a)
{
    switch (option) {
    case OPT_LISTEN:
        a->listen = optarg;
        return 0;
    case OPT_DATABASE:
        a->database = optarg;
        return 0;
    case OPT_CRDS:
        a->crds = optarg;
        return 0;
    case OPT_TLS_CERT:
        a->server.tls_cert = optarg;
        return 0;
    case OPT_TLS_KEY:
        a->server.tls_key = optarg;
        return 0;
    case OPT_CLIENT_CA:
        a->server.client_ca = optarg;
        return 0;
    case OPT_NODE_SOCKET:
        a->server.node_socket = optarg;
        return 0;
    case OPT_NODE_NAME:
        a->node_name = optarg;
        return 0;
    case OPT_READY_FD:
        a->ready_fd = atoi(optarg);
        return 0;
    case OPT_INSECURE:
        a->server.is_insecure = true;
        return 0;
    case OPT_LOG_LEVEL:
        return osb_log_level_parse(optarg, &a->level) < 0 ? wrong_use("unknown log level") : 0;
    case OPT_HELP:
        fputs(usage_text, stdout);
        return 1;
    case OPT_VERSION:
        puts(OSB_PROGRAM " " OSB_VERSION " (" OSB_COMMIT ")");
        return 1;
    default:
        return wrong_use("unknown option");
    }
}

/* "127.0.0.1:6443" or "[::1]:6443". */
static int parse_listen(struct arguments *a)
{
    char *colon = a->listen ? strrchr(a->listen, ':') : NULL;
    uint64_t port;
    if (!colon || osb_slice_to_u64(osb_slice_str(colon + 1), &port) < 0 || port > 65535)
        return wrong_use("--listen ADDRESS:PORT is needed");
    *colon = 0;
    char *address = a->listen;
    size_t len = strlen(address);
    if (len > 2 && address[0] == '[' && address[len - 1] == ']') {
        address[len - 1] = 0;
        address++;
    }
    a->server.address = address;
    a->server.port = (int)port;
    return 0;
}

static int check(struct arguments *a)
{
    if (parse_listen(a) < 0)
        return -OSB_E_INVALID;
    if (!a->database || !a->crds || !a->node_name || !a->server.node_socket)
        return wrong_use("--database, --crds, --node-name and --node-socket are needed");
    bool is_loopback = !strncmp(a->server.address, "127.", 4) || !strcmp(a->server.address, "::1");
    if (a->server.is_insecure)
        return is_loopback ? 0 : wrong_use("--insecure is for loopback addresses only");
    if (!a->server.tls_cert || !a->server.tls_key || !a->server.client_ca)
        return wrong_use("--tls-cert, --tls-key and --client-ca are needed");
    return 0;
}

static int parse_arguments(int argc, char **argv, struct arguments *a)
{
    int option, r = 0;
    *a = (struct arguments){.ready_fd = -1, .level = OSB_LOG_INFO};
    while (r == 0 && (option = getopt_long(argc, argv, "", options, NULL)) != -1)
        r = take_option(option, a);
    if (r != 0)
        return r;
    return optind < argc ? wrong_use("no arguments are taken") : check(a);
}

/* ---- running ---- */

static void stop(void *arg)
{
    struct program *p = arg;
    osb_loop_stop(p->loop);
}

static void on_deadline(struct osb_timer *timer)
{
    stop(timer->arg);
}

static void on_signal(int signo, void *arg)
{
    struct program *p = arg;
    (void)signo;
    if (p->is_draining)
        return;
    p->is_draining = true;
    osb_log(OSB_LOG_INFO, "stopping");
    osb_timer_set(&p->deadline, DRAIN_MS);
    server_drain(&p->server, stop, p);
}

static int tell_ready(int fd)
{
    static const char word[] = "ready\n";
    if (fd < 0)
        return 0;
    int r = osb_write_all(fd, word, sizeof(word) - 1);
    close(fd);
    return r;
}

static int start(struct program *p, const struct arguments *a, struct osb_err *err)
{
    signal(SIGPIPE, SIG_IGN);
    int r = osb_loop_new_uv(&p->loop, err);
    if (r >= 0)
        r = osb_loop_on_signal(p->loop, SIGTERM, on_signal, p, err);
    if (r >= 0)
        r = osb_loop_on_signal(p->loop, SIGINT, on_signal, p, err);
    if (r >= 0)
        r = cluster_open(&p->cluster, p->loop, a->database, a->crds, a->node_name, err);
    if (r < 0)
        return r;
    osb_timer_init(&p->deadline, p->loop, on_deadline, p);
    return server_start(&p->server, p->loop, &p->cluster, &a->server, err);
}

static int run(struct program *p, const struct arguments *a)
{
    struct osb_err err = {0};
    int r = start(p, a, &err);
    if (r < 0) {
        osb_log(OSB_LOG_ERROR, "start failed", OSB_KV_ERR(&err));
        return r;
    }
    osb_log(OSB_LOG_INFO, "serving", OSB_KV_STR("address", a->server.address),
            OSB_KV_INT("port", server_port(&p->server)), OSB_KV_STR("version", OSB_VERSION));
    if (a->server.is_insecure)
        osb_log(OSB_LOG_WARN, "serving without TLS: every local user is administrator");
    tell_ready(a->ready_fd);
    return osb_loop_run(p->loop);
}

static void tear_down(struct program *p)
{
    if (p->server.cluster)
        server_stop(&p->server);
    osb_timer_stop(&p->deadline);
    if (p->cluster.loop)
        cluster_close(&p->cluster);
    if (p->loop) {
        osb_loop_on_signal(p->loop, SIGTERM, NULL, NULL, NULL);
        osb_loop_on_signal(p->loop, SIGINT, NULL, NULL, NULL);
    }
    osb_loop_free(p->loop);
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct program program = {0};
    int r = parse_arguments(argc, argv, &arguments);
    if (r != 0)
        return r > 0 ? EXIT_SUCCESS : EXIT_USAGE;
    osb_log_setup(OSB_PROGRAM, arguments.level, STDERR_FILENO);
    r = run(&program, &arguments);
    tear_down(&program);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
