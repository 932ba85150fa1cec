// SPDX-License-Identifier: Apache-2.0
/* The command line of opensandbox-shim. */
#ifndef SHIM_OPTIONS_H
#define SHIM_OPTIONS_H

#include <osb/err.h>
#include <osb/log.h>
#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_FILES  "/opt/opensandbox-shim"
#define OPTIONS_HEALTH "127.0.0.1:10270"

enum {
    OPTIONS_SLOW_CALL_MS = 1000,
    /* Longer than any CreateContainer that a predecessor may have passed on (kubelet: 2 min). */
    OPTIONS_OLD_FILES_S = 600,
    OPTIONS_HOST_MAX = 64,
};

struct options {
    const char *listen;  /* "/path"; all strings are borrowed from argv */
    const char *backend; /* "unix:///path" */
    const char *files;   /* folder on the node, absolute */
    const char *execd;   /* NULL, with bootstrap: nothing can be injected */
    const char *bootstrap;
    const char *kubeconfig; /* NULL: addresses are left to the kubelet to tell */
    char health_host[OPTIONS_HOST_MAX];
    int health_port;
    uint64_t slow_call_ms; /* 0: none is slow */
    uint64_t old_files_s;
    enum osb_log_level log_level;
    int ready_fd; /* -1 when absent */
    bool is_help;
    bool is_version;
};

/* 0, or -OSB_E_INVALID with what is wrong. */
int options_parse(int argc, char **argv, struct options *options, struct osb_err *err);
const char *options_help(void);

#endif
