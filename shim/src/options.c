// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LISTEN = 256,
    BACKEND,
    FILES,
    EXECD,
    BOOTSTRAP,
    KUBECONFIG,
    HEALTH,
    SLOW_CALL_MS,
    OLD_FILES_S,
    LOG_LEVEL,
    READY_FD,
    HELP,
    VERSION
};

enum { DESCRIPTOR_MAX = 1 << 20, SECONDS_MAX = 7 * 24 * 3600 };

static const struct option long_options[] = {
    {"listen", required_argument, NULL, LISTEN},
    {"backend", required_argument, NULL, BACKEND},
    {"files", required_argument, NULL, FILES},
    {"execd", required_argument, NULL, EXECD},
    {"bootstrap", required_argument, NULL, BOOTSTRAP},
    {"kubeconfig", required_argument, NULL, KUBECONFIG},
    {"health", required_argument, NULL, HEALTH},
    {"slow-call-ms", required_argument, NULL, SLOW_CALL_MS},
    {"old-files-s", required_argument, NULL, OLD_FILES_S},
    {"log-level", required_argument, NULL, LOG_LEVEL},
    {"ready-fd", required_argument, NULL, READY_FD},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

const char *options_help(void)
{
    return "opensandbox-shim: a CRI endpoint between the kubelet and its runtime that puts execd\n"
           "into the containers of sandboxes\n"
           "\n"
           "  --listen unix://PATH    where the kubelet finds it\n"
           "  --backend unix://PATH   the runtime's own endpoint\n"
           "  --execd FILE            what is put into sandboxes, with --bootstrap; without the\n"
           "  --bootstrap FILE        two, containers that ask for them are refused\n"
           "  --files DIR             where the node keeps them for containers;\n"
           "                          default: " OPTIONS_FILES "\n"
           "  --kubeconfig FILE       with it (the kubelet's own will do) the API server is told "
           "a\n"
           "                          sandbox's address when its container is created, up to a\n"
           "                          second before the kubelet does\n"
           "  --health ADDRESS:PORT   /healthz, /readyz, /metrics; default: " OPTIONS_HEALTH "\n"
           "  --slow-call-ms N        calls that took longer are logged; default 1000, 0 none\n"
           "  --old-files-s N         when files of earlier versions that no container uses are\n"
           "                          removed, after the start; default 600\n"
           "  --log-level LEVEL       debug, info, warn or error\n"
           "  --ready-fd N            write a line to this descriptor once it serves\n"
           "  --help, --version\n";
}

static int take_path(const char *name, const char **ret, struct osb_err *err)
{
    static const char scheme[] = "unix://";
    bool is_unix = strncmp(optarg, scheme, strlen(scheme)) == 0;

    if (!is_unix || optarg[strlen(scheme)] != '/')
        return osb_fail(err, -OSB_E_INVALID, "%s must be unix:///PATH", name);
    *ret = optarg + strlen(scheme);
    return 0;
}

static int take_number(const char *name, uint64_t max, uint64_t *ret, struct osb_err *err)
{
    uint64_t number;

    if (osb_slice_to_u64(osb_slice_str(optarg), &number) < 0 || number > max)
        return osb_fail(err, -OSB_E_INVALID, "%s must be a number up to %llu", name,
                        (unsigned long long)max);
    *ret = number;
    return 0;
}

/* "127.0.0.1:80" or "[::1]:80"; the listener looks at the address itself. */
static int take_health(const char *text, struct options *options, struct osb_err *err)
{
    const char *colon = strrchr(text, ':');
    struct osb_slice host = osb_slice(text, colon ? (size_t)(colon - text) : 0);
    uint64_t port;

    if (host.len > 2 && host.data[0] == '[' && host.data[host.len - 1] == ']')
        host = osb_slice(host.data + 1, host.len - 2);
    if (!colon || !host.len || host.len >= OPTIONS_HOST_MAX ||
        osb_slice_to_u64(osb_slice_str(colon + 1), &port) < 0 || port > UINT16_MAX)
        return osb_fail(err, -OSB_E_INVALID, "--health must be ADDRESS:PORT");
    snprintf(options->health_host, sizeof(options->health_host), "%.*s", OSB_SLICE_ARG(host));
    options->health_port = (int)port;
    return 0;
}

static int take_numbers(int option, struct options *options, struct osb_err *err)
{
    uint64_t fd = 0;
    int r;

    switch (option) {
    case SLOW_CALL_MS:
        return take_number("--slow-call-ms", UINT32_MAX, &options->slow_call_ms, err);
    case OLD_FILES_S:
        return take_number("--old-files-s", SECONDS_MAX, &options->old_files_s, err);
    default:
        r = take_number("--ready-fd", DESCRIPTOR_MAX, &fd, err);
        if (r >= 0)
            options->ready_fd = (int)fd;
        return r;
    }
}

static int take(int option, struct options *options, struct osb_err *err)
{
    const char *path;
    int r;

    switch (option) {
    case LISTEN:
        return take_path("--listen", &options->listen, err);
    case BACKEND:
        r = take_path("--backend", &path, err);
        if (r >= 0)
            options->backend = optarg;
        return r;
    case FILES:
        options->files = optarg;
        return 0;
    case EXECD:
        options->execd = optarg;
        return 0;
    case BOOTSTRAP:
        options->bootstrap = optarg;
        return 0;
    case HEALTH:
        return take_health(optarg, options, err);
    case KUBECONFIG:
        options->kubeconfig = optarg;
        return 0;
    case LOG_LEVEL:
        if (osb_log_level_parse(optarg, &options->log_level) < 0)
            return osb_fail(err, -OSB_E_INVALID, "--log-level must be debug, info, warn or error");
        return 0;
    case HELP:
        options->is_help = true;
        return 0;
    case VERSION:
        options->is_version = true;
        return 0;
    case SLOW_CALL_MS:
    case OLD_FILES_S:
    case READY_FD:
        return take_numbers(option, options, err);
    default:
        return osb_fail(err, -OSB_E_INVALID, "see --help");
    }
}

static int check(const struct options *options, struct osb_err *err)
{
    if (!options->listen || !options->backend)
        return osb_fail(err, -OSB_E_INVALID, "--listen and --backend are needed");
    if (strcmp(options->listen, options->backend + strlen("unix://")) == 0)
        return osb_fail(err, -OSB_E_INVALID, "--listen and --backend are the same socket");
    if (!options->execd != !options->bootstrap)
        return osb_fail(err, -OSB_E_INVALID, "--execd and --bootstrap go together");
    if (options->files[0] != '/')
        return osb_fail(err, -OSB_E_INVALID, "--files must be an absolute path");
    return 0;
}

int options_parse(int argc, char **argv, struct options *options, struct osb_err *err)
{
    int option;
    int r;

    *options = (struct options){.files = OPTIONS_FILES,
                                .slow_call_ms = OPTIONS_SLOW_CALL_MS,
                                .old_files_s = OPTIONS_OLD_FILES_S,
                                .log_level = OSB_LOG_INFO,
                                .ready_fd = -1};
    r = take_health(OPTIONS_HEALTH, options, err);
    optind = 1;
    while (r >= 0 && (option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        r = take(option, options, err);
    if (r < 0)
        return r;
    if (optind < argc)
        return osb_fail(err, -OSB_E_INVALID, "unexpected argument %s", argv[optind]);
    return options->is_help || options->is_version ? 0 : check(options, err);
}
