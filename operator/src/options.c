// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <getopt.h>
#include <stdlib.h>

enum { KUBECONFIG = 256, CONFIG, CHECK_CONFIG, LEADER_ELECT, LOG_LEVEL, READY_FD, HELP, VERSION };

static const struct option long_options[] = {
    {"kubeconfig", required_argument, NULL, KUBECONFIG},
    {"config", required_argument, NULL, CONFIG},
    {"check-config", no_argument, NULL, CHECK_CONFIG},
    {"leader-elect", no_argument, NULL, LEADER_ELECT},
    {"log-level", required_argument, NULL, LOG_LEVEL},
    {"ready-fd", required_argument, NULL, READY_FD},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

const char *options_help(void)
{
    return "opensandbox-operator: makes the pods of BatchSandboxes and serves the REST API\n"
           "\n"
           "  --kubeconfig FILE   API server and credentials; default: $KUBECONFIG, the service\n"
           "                      account of the pod, ~/.kube/config\n"
           "  --config FILE       TOML configuration; default: $SANDBOX_CONFIG_PATH\n"
           "  --check-config      only read the configuration and say what is wrong with it\n"
           "  --leader-elect      not built yet: run one operator a cluster\n"
           "  --log-level LEVEL   debug, info, warn or error\n"
           "  --ready-fd N        write a line to this descriptor once the caches are filled\n"
           "  --help, --version\n";
}

static int parse_fd(const char *text, int *ret, struct osb_err *err)
{
    char *end;
    long fd = strtol(text, &end, 10);
    if (!text[0] || *end || fd < 0 || fd > 1 << 20)
        return osb_fail(err, -OSB_E_INVALID, "--ready-fd must be a descriptor");
    *ret = (int)fd;
    return 0;
}

static int take(int option, struct options *options, struct osb_err *err)
{
    switch (option) {
    case KUBECONFIG:
        options->kubeconfig = optarg;
        return 0;
    case CONFIG:
        options->config = optarg;
        return 0;
    case CHECK_CONFIG:
        options->only_checks_config = true;
        return 0;
    case LEADER_ELECT:
        return osb_fail(err, -OSB_E_UNSUPPORTED,
                        "--leader-elect is not built yet: run one operator a cluster");
    case LOG_LEVEL:
        options->has_log_level = true;
        if (osb_log_level_parse(optarg, &options->log_level) < 0)
            return osb_fail(err, -OSB_E_INVALID, "--log-level must be debug, info, warn or error");
        return 0;
    case READY_FD:
        return parse_fd(optarg, &options->ready_fd, err);
    case HELP:
        options->is_help = true;
        return 0;
    case VERSION:
        options->is_version = true;
        return 0;
    default:
        return osb_fail(err, -OSB_E_INVALID, "see --help");
    }
}

int options_parse(int argc, char **argv, struct options *options, struct osb_err *err)
{
    int option;
    *options = (struct options){.ready_fd = -1};
    optind = 1;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        int r = take(option, options, err);
        if (r < 0)
            return r;
    }
    if (optind < argc)
        return osb_fail(err, -OSB_E_INVALID, "unexpected argument %s", argv[optind]);
    return 0;
}
