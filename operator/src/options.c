// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <osb/clock.h>
#include <osb/kube_lease.h>

#include <getopt.h>
#include <stdlib.h>

enum {
    KUBECONFIG = 256,
    CONFIG,
    CHECK_CONFIG,
    LEADER_ELECT,
    LEASE_DURATION,
    RENEW_DEADLINE,
    RETRY_PERIOD,
    LOG_LEVEL,
    READY_FD,
    HELP,
    VERSION
};

enum { MAX_PERIOD_S = 3600 };

static const struct option long_options[] = {
    {"kubeconfig", required_argument, NULL, KUBECONFIG},
    {"config", required_argument, NULL, CONFIG},
    {"check-config", no_argument, NULL, CHECK_CONFIG},
    {"leader-elect", no_argument, NULL, LEADER_ELECT},
    {"leader-elect-lease-duration", required_argument, NULL, LEASE_DURATION},
    {"leader-elect-renew-deadline", required_argument, NULL, RENEW_DEADLINE},
    {"leader-elect-retry-period", required_argument, NULL, RETRY_PERIOD},
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
           "  --leader-elect      of several operators the holder of a Lease reconciles; the "
           "others\n"
           "                      serve REST\n"
           "  --leader-elect-lease-duration, --leader-elect-renew-deadline,\n"
           "  --leader-elect-retry-period DURATION\n"
           "                      15s, 10s and 2s\n"
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

static int parse_duration(const char *what, uint64_t *ret_ms, struct osb_err *err)
{
    int64_t ns;
    if (osb_duration_parse(osb_slice_str(optarg), &ns) < 0 || ns < (int64_t)OSB_NS_PER_MS ||
        ns > MAX_PERIOD_S * (int64_t)OSB_NS_PER_S)
        return osb_fail(err, -OSB_E_INVALID,
                        "--leader-elect-%s must be a duration such as 15s, at most %d s", what,
                        MAX_PERIOD_S);
    *ret_ms = (uint64_t)ns / OSB_NS_PER_MS;
    return 0;
}

static uint64_t or_default(uint64_t given_ms, uint64_t default_ms)
{
    return given_ms ? given_ms : default_ms;
}

static int check_election(const struct options_election *e, struct osb_err *err)
{
    uint64_t lease_ms = or_default(e->lease_ms, OSB_LEASE_DURATION_MS);
    uint64_t renew_ms = or_default(e->renew_deadline_ms, OSB_LEASE_RENEW_DEADLINE_MS);
    uint64_t retry_ms = or_default(e->retry_ms, OSB_LEASE_RETRY_MS);
    if (renew_ms >= lease_ms || retry_ms >= renew_ms || lease_ms < OSB_LEASE_MIN_DURATION_MS)
        return osb_fail(
            err, -OSB_E_INVALID,
            "the lease's duration must be at least 1s and more than its renew deadline, "
            "and that more than the retry period");
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
        options->election.is_on = true;
        return 0;
    case LEASE_DURATION:
        return parse_duration("lease-duration", &options->election.lease_ms, err);
    case RENEW_DEADLINE:
        return parse_duration("renew-deadline", &options->election.renew_deadline_ms, err);
    case RETRY_PERIOD:
        return parse_duration("retry-period", &options->election.retry_ms, err);
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
    return check_election(&options->election, err);
}
