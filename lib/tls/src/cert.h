// SPDX-License-Identifier: Apache-2.0
/* Building X.509 certificates (RFC 5280). */
#ifndef OSB_TLS_CERT_H
#define OSB_TLS_CERT_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <osb/ca.h>
#include <time.h>

struct osb_cert_life {
    time_t not_before; /* seconds since 1970 */
    time_t not_after;
};

/* From a little before now, for clocks that are behind, for DAYS. */
struct osb_cert_life osb_cert_life(int days);
/* A new ECDSA P-256 key. */
int osb_cert_new_key(EVP_PKEY **ret, struct osb_err *err);
/* A self-signed CA. */
int osb_cert_new_ca(const char *common_name, EVP_PKEY *key, struct osb_cert_life life, X509 **ret,
                    struct osb_err *err);
/* A leaf for KEY signed by the CA; all of what LEAF says but its days. */
int osb_cert_new_leaf(const struct osb_leaf *leaf, EVP_PKEY *key, X509 *ca, EVP_PKEY *ca_key,
                      struct osb_cert_life life, X509 **ret, struct osb_err *err);
/* True when both name the same subject, alternative names and uses. */
bool osb_cert_says_the_same(X509 *a, X509 *b);
/* Seconds since 1970; false when the field cannot be read. */
bool osb_cert_get_life(const X509 *certificate, struct osb_cert_life *ret);

#endif
