// SPDX-License-Identifier: Apache-2.0
/* opensandbox-node: runs the pods of this machine over CRI. Parses, builds, runs, tears down. */
#include "log_server.h"
#include "node.h"
#include "pod_table.h"
#include "purge.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/log.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage_text[] =
    "usage: opensandbox-node --kubeconfig FILE --node-name NAME --cri unix://PATH --root DIR\n"
    "                        --socket PATH --execd FILE --bootstrap FILE [OPTION…]\n"
    "       opensandbox-node purge --cri unix://PATH\n"
    "\n"
    "Runs the pods that are bound to this node. purge stops and removes every pod sandbox.\n"
    "\n"
    "  --runtime-handler NAME  of CRI, for pods that name no runtime class\n"
    "  --cgroup-parent PATH    parent of all pods' cgroups\n"
    "  --ready-fd N            descriptor that gets \"ready\" once pods are taken in\n"
    "  --log-level LEVEL       debug, info (default), warn, error\n"
    "  --version, --help\n";

static int wrong_use(const char *problem)
{
    fprintf(stderr, "opensandbox-node: %s\n%s", problem, usage_text);
    return 2;
}

/* 0: go on; else the exit code plus one. */
static int parse(int argc, char **argv, struct node_options *options)
{
    enum {
        KUBECONFIG = 256,
        NODE_NAME,
        CRI,
        ROOT,
        SOCKET,
        EXECD,
        BOOTSTRAP,
        HANDLER,
        CGROUP,
        READY,
        LEVEL,
        VERSION
    };
    static const struct option longs[] = {
        {"kubeconfig", required_argument, NULL, KUBECONFIG},
        {"node-name", required_argument, NULL, NODE_NAME},
        {"cri", required_argument, NULL, CRI},
        {"root", required_argument, NULL, ROOT},
        {"socket", required_argument, NULL, SOCKET},
        {"execd", required_argument, NULL, EXECD},
        {"bootstrap", required_argument, NULL, BOOTSTRAP},
        {"runtime-handler", required_argument, NULL, HANDLER},
        {"cgroup-parent", required_argument, NULL, CGROUP},
        {"ready-fd", required_argument, NULL, READY},
        {"log-level", required_argument, NULL, LEVEL},
        {"version", no_argument, NULL, VERSION},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char **texts[] = {
        &options->kubeconfig, &options->node_name,       &options->cri,
        &options->root,       &options->socket,          &options->execd,
        &options->bootstrap,  &options->runtime_handler, &options->cgroup_parent};
    enum osb_log_level level;
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) >= 0;) {
        if (c >= KUBECONFIG && c <= CGROUP) {
            *texts[c - KUBECONFIG] = optarg;
        } else if (c == READY) {
            options->ready_fd = atoi(optarg);
        } else if (c == LEVEL) {
            if (osb_log_level_parse(optarg, &level) < 0)
                return 1 + wrong_use("--log-level is debug, info, warn or error");
            osb_log_setup("opensandbox-node", level, STDERR_FILENO);
        } else if (c == VERSION) {
            printf("opensandbox-node %s (%s)\n", OSB_VERSION, OSB_COMMIT);
            return 1;
        } else if (c == 'h') {
            printf("%s", usage_text);
            return 1;
        } else {
            return 1 + wrong_use("unknown option");
        }
    }
    return 0;
}

/* The first IPv4 address that is not loopback's; loopback's when there is none. */
static char *find_host_ip(void)
{
    struct ifaddrs *list = NULL;
    char text[INET_ADDRSTRLEN] = "127.0.0.1";
    if (getifaddrs(&list) < 0)
        return osb_strdup(text);
    for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
        if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || a->ifa_flags & IFF_LOOPBACK)
            continue;
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)a->ifa_addr;
        (void)inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
        break;
    }
    freeifaddrs(list);
    return osb_strdup(text);
}

static void on_ready(void *arg)
{
    struct node *node = arg;
    osb_log(OSB_LOG_INFO, "ready", OSB_KV_STR("node", node->options.node_name));
    if (node->options.ready_fd < 0)
        return;
    (void)osb_write_all(node->options.ready_fd, "ready\n", 6);
    close(node->options.ready_fd);
    node->options.ready_fd = -1;
}

static void on_signal(int signo, void *arg)
{
    struct node *node = arg;
    osb_log(OSB_LOG_INFO, "ending; sandboxes live on", OSB_KV_INT("signal", signo));
    osb_loop_stop(node->loop);
}

static int connect_api(struct node *node, struct osb_err *err)
{
    struct osb_kube_transport *transport = NULL;
    int r = osb_kube_config_load(node->options.kubeconfig, &node->config, err);
    if (r >= 0)
        r = osb_kube_transport_new_curl(node->loop, &node->config, "opensandbox-node/" OSB_VERSION,
                                        &transport, err);
    if (r < 0)
        return r;
    node->kube = osb_kube_client_new(node->loop, transport);
    node->events = osb_kube_events_new(node->loop, node->kube, "opensandbox-node");
    return 0;
}

static int run(struct node *node, struct osb_err *err)
{
    struct log_server *logs = NULL;
    int r = osb_loop_new_epoll(&node->loop, err);
    if (r < 0)
        return r;
    (void)((r = osb_loop_on_signal(node->loop, SIGTERM, on_signal, node, err)) < 0 ||
           (r = osb_loop_on_signal(node->loop, SIGINT, on_signal, node, err)) < 0 ||
           (r = osb_mkdir_p(node->options.root, 0700, err)) < 0 ||
           (r = connect_api(node, err)) < 0 ||
           (r = osb_cri_client_new(node->loop, node->options.cri, &node->cri, err)) < 0 ||
           (r = log_server_new(node, &logs, err)) < 0 ||
           (r = pod_table_new(node, on_ready, node, &node->pods, err)) < 0);
    if (r >= 0)
        r = osb_loop_run(node->loop);
    log_server_free(logs);
    pod_table_free(node->pods);
    if (node->events)
        osb_kube_events_free(node->events);
    if (node->kube)
        osb_kube_client_free(node->kube);
    osb_kube_config_done(&node->config);
    if (node->cri)
        osb_cri_client_free(node->cri);
    osb_loop_free(node->loop);
    return r;
}

int main(int argc, char **argv)
{
    struct node node = {.options = {.ready_fd = -1}};
    const struct node_options *options = &node.options;
    struct osb_err err = {0};
    osb_log_setup("opensandbox-node", OSB_LOG_INFO, STDERR_FILENO);
    int stop = parse(argc, argv, &node.options);
    if (stop)
        return stop - 1;
    if (optind < argc && !strcmp(argv[optind], "purge"))
        return options->cri ? purge(options->cri) : wrong_use("purge needs --cri");
    if (optind < argc)
        return wrong_use("unknown argument");
    if (!options->kubeconfig || !options->node_name || !options->cri || !options->root ||
        !options->socket || !options->execd || !options->bootstrap)
        return wrong_use("an option is missing");
    node.host_ip = find_host_ip();
    int r = run(&node, &err);
    free(node.host_ip);
    if (r < 0) {
        osb_log(OSB_LOG_ERROR, "the node runner cannot run", OSB_KV_ERR(&err));
        return 1;
    }
    return 0;
}
