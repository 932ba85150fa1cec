// SPDX-License-Identifier: Apache-2.0
/*
 * Where the API server is and how to prove who we are: from a kubeconfig file or, inside a pod,
 * from the service account files. Token and CA files are read again when they change.
 */
#ifndef OSB_KUBE_CONFIG_H
#define OSB_KUBE_CONFIG_H

#include <osb/err.h>
#include <osb/secret.h>

struct osb_kube_config {
    char *server;     /* https://host:port */
    char *namespace_; /* default namespace */
    char *ca_file;    /* PEM path; inline data is written to a private temporary file */
    char *client_certificate_file;
    char *client_key_file;
    char *token_file;        /* re-read */
    struct osb_secret token; /* when given inline */
    bool is_insecure;        /* insecure-skip-tls-verify; logged by the caller */
};

/* PATH NULL: $KUBECONFIG, else in-cluster, else ~/.kube/config. */
int osb_kube_config_load(const char *path, struct osb_kube_config *ret, struct osb_err *err);
void osb_kube_config_done(struct osb_kube_config *config);

#endif
