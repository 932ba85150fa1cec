// SPDX-License-Identifier: Apache-2.0
/* Clean-up attributes for OpenSSL's types. Each of its free functions takes NULL. */
#ifndef OSB_TLS_HANDLES_H
#define OSB_TLS_HANDLES_H

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <osb/cleanup.h>

OSB_DEFINE_CLEANUP(X509, osb_cleanup_x509, X509_free);
OSB_DEFINE_CLEANUP(EVP_PKEY, osb_cleanup_pkey, EVP_PKEY_free);
OSB_DEFINE_CLEANUP(BIO, osb_cleanup_bio, BIO_free_all);
OSB_DEFINE_CLEANUP(SSL_CTX, osb_cleanup_ssl_ctx, SSL_CTX_free);

#define _cleanup_x509_    OSB_CLEANUP(osb_cleanup_x509)
#define _cleanup_pkey_    OSB_CLEANUP(osb_cleanup_pkey)
#define _cleanup_bio_     OSB_CLEANUP(osb_cleanup_bio)
#define _cleanup_ssl_ctx_ OSB_CLEANUP(osb_cleanup_ssl_ctx)

#endif
