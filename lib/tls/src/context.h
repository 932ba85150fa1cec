// SPDX-License-Identifier: Apache-2.0
#ifndef OSB_TLS_CONTEXT_H
#define OSB_TLS_CONTEXT_H

#include <openssl/ssl.h>
#include <osb/tls.h>

struct osb_tls_context {
    SSL_CTX *ctx; /* swapped as a whole by a reload; streams hold their own reference */
    char *certificate;
    char *key;
    char *ca;
    bool requires_client;
};

#endif
