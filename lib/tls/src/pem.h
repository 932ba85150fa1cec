// SPDX-License-Identifier: Apache-2.0
/* Certificates and keys in PEM files. */
#ifndef OSB_TLS_PEM_H
#define OSB_TLS_PEM_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <osb/err.h>

/* The first certificate of PATH; -ENOENT, another -errno, or -OSB_E_SYNTAX. */
int osb_pem_read_certificate(const char *path, X509 **ret, struct osb_err *err);
int osb_pem_read_key(const char *path, EVP_PKEY **ret, struct osb_err *err);
/* Mode 0644. */
int osb_pem_write_certificate(const char *path, X509 *certificate, struct osb_err *err);
/* PKCS #8, mode 0600. */
int osb_pem_write_key(const char *path, EVP_PKEY *key, struct osb_err *err);

#endif
