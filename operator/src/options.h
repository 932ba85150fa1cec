// SPDX-License-Identifier: Apache-2.0
/* The command line of opensandbox-operator. */
#ifndef OPERATOR_OPTIONS_H
#define OPERATOR_OPTIONS_H

#include <osb/err.h>
#include <osb/log.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the Lease; 0 takes the default of osb/kube_lease.h. */
struct options_election {
    bool is_on;
    uint64_t lease_ms;
    uint64_t renew_deadline_ms;
    uint64_t retry_ms;
};

struct options {
    const char *kubeconfig; /* NULL when absent; all borrowed from argv */
    const char *config;
    bool only_checks_config;
    struct options_election election;
    bool is_help;
    bool is_version;
    bool has_log_level;
    enum osb_log_level log_level;
    int ready_fd; /* -1 when absent */
};

int options_parse(int argc, char **argv, struct options *options, struct osb_err *err);
const char *options_help(void);

#endif
