// SPDX-License-Identifier: Apache-2.0
/*
 * Where the API server is and how to prove who we are: from a kubeconfig file or, inside a pod,
 * from the service account files. Token and CA files are read again when they change.
 */
#ifndef OSB_KUBE_CONFIG_H
#define OSB_KUBE_CONFIG_H

#include <osb/err.h>
#include <osb/secret.h>
#include <stdbool.h>
#include <stddef.h>

struct osb_kube_config {
    char *server;     /* https://host:port */
    char *namespace_; /* default namespace */
    char *ca_file;    /* PEM path; inline data is a file in memory: /proc/self/fd/N */
    char *client_certificate_file;
    char *client_key_file;
    char *token_file;        /* re-read */
    struct osb_secret token; /* when given inline */
    bool is_insecure;        /* insecure-skip-tls-verify; logged by the caller */
    int *memory_fds;         /* private: behind /proc/self/fd/N paths */
    size_t memory_fd_count;  /* private */
    size_t memory_fd_cap;    /* private */
};

/*
 * PATH NULL: $KUBECONFIG (one file), else in-cluster, else ~/.kube/config. Only the current context
 * is read; relative paths are relative to the file. What we do not do (exec and auth plugins, basic
 * auth, proxy-url) is -OSB_E_UNSUPPORTED, not ignored. RET is zero-filled by the caller and to be
 * freed by osb_kube_config_done() also after a failure. Blocks (small local files).
 */
int osb_kube_config_load(const char *path, struct osb_kube_config *ret, struct osb_err *err);
/* The same from the text of a kubeconfig; FOLDER is the base of relative paths. */
int osb_kube_config_parse(struct osb_slice text, const char *folder, struct osb_kube_config *ret,
                          struct osb_err *err);
void osb_kube_config_done(struct osb_kube_config *config);

#define _cleanup_kube_config_ __attribute__((cleanup(osb_kube_config_done)))

#endif
