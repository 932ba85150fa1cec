// SPDX-License-Identifier: Apache-2.0
/*
 * The configuration of the operator and its REST facade: the TOML keys of the public server, so
 * that its files and charts work here. Keys that we know and do not need are accepted in silence,
 * unknown ones are warned about, wrong values end the start.
 */
#ifndef OPERATOR_CONFIG_H
#define OPERATOR_CONFIG_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/json_tree.h>
#include <osb/log.h>
#include <osb/secret.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    CONFIG_MAX_FILE = 1024 * 1024,
    CONFIG_MAX_WARNINGS = 32,
};

struct config_server {
    char *host;                /* server.host, an IP literal; default 0.0.0.0 */
    int port;                  /* server.port; default 8080; 0 picks a free one */
    struct osb_secret api_key; /* server.api_key; OPENSANDBOX_SERVER_API_KEY wins */
    bool is_insecure;          /* OPENSANDBOX_INSECURE_SERVER: start without a key */
    bool is_proxy_open;        /* server.proxy_open (ours): proxy without a key; default false */
    char *eip;                 /* server.eip; NULL when absent */
    int64_t max_sandbox_timeout_s; /* server.max_sandbox_timeout_seconds; 0: none */
    int keep_alive_s;              /* server.timeout_keep_alive; default 30 */
    int max_connections;           /* server.limit_concurrency; default 1024; 0: none */
    int drain_s;                   /* server.timeout_graceful_shutdown; default 5 */
};

struct config_kubernetes {
    char *kubeconfig;        /* kubernetes.kubeconfig_path; --kubeconfig wins */
    char *namespace_;        /* kubernetes.namespace; NULL: that of the kubeconfig */
    char *image_pull_policy; /* kubernetes.image_pull_policy; default IfNotPresent */
    char *template_file;     /* kubernetes.batchsandbox_template_file; NULL when absent */
    /*
     * kubernetes.execd_injection (ours): false for "init-container", the default, which needs
     * runtime.execd_image; true for "shim".
     */
    bool is_injected_by_node;
    struct osb_json
        *execd_init_resources; /* kubernetes.execd_init_resources; NULL: see pod_inject.c */
    int create_wait_ms;        /* kubernetes.create_wait_seconds (ours); default 20 s */
    int endpoint_wait_ms;      /* kubernetes.endpoint_wait_seconds (ours); default 20 s */
    /*
     * kubernetes.request_fraction_of_limits (ours): requests a pod asks for are its limits times
     * this, where the caller gave no requests of its own; 0 to 1, default 0.1.
     */
    double request_fraction;
};

struct config_runtime {
    char *execd_image;       /* runtime.execd_image; NULL when absent */
    bool runs_execd_as_init; /* runtime.execd_run_as_init */
};

struct config_health {
    char *host; /* health.host (ours), an IP literal; default 127.0.0.1 */
    int port;   /* health.port (ours); default 0: a free one, which is logged */
};

struct config {
    struct config_server server;
    struct config_kubernetes kubernetes;
    struct config_runtime runtime;
    struct config_health health;
    enum osb_log_level log_level; /* log.level; --log-level wins */
    int concurrency; /* operator.concurrency (ours): reconciles at a time; default 32 */
    char *warnings[CONFIG_MAX_WARNINGS]; /* unknown keys and the like, for the log */
    int warning_count;
};

/*
 * Fills CONFIG with defaults, PATH (NULL: $SANDBOX_CONFIG_PATH, else no file) and the environment.
 * -OSB_E_INVALID names the key. Free with config_done() also after a failure.
 */
int config_load(const char *path, struct config *config, struct osb_err *err);
/* The same from a tree, without environment; for tests. */
int config_read(const struct osb_json *tree, struct config *config, struct osb_err *err);
void config_done(struct config *config);

#endif
