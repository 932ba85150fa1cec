// SPDX-License-Identifier: Apache-2.0
#include "pem.h"
#include "handles.h"
#include "openssl_err.h"
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <osb/fd.h>

enum { PEM_MAX = 256 * 1024 }; /* bytes of a file */

static int read_pem(const char *path, BIO **ret, struct osb_buf *content, struct osb_err *err)
{
    int r = osb_read_file(path, PEM_MAX, content, err);
    if (r < 0)
        return r;
    struct osb_slice text = osb_buf_slice(content);
    *ret = BIO_new_mem_buf(text.len ? text.data : "", (int)text.len);
    return *ret ? 0 : osb_openssl_fail(err, -ENOMEM, path);
}

/* The copy of a key that we read must not stay behind in freed memory. */
static void wipe(struct osb_buf *content)
{
    if (content->base)
        OPENSSL_cleanse(content->base, content->cap);
    osb_buf_done(content);
}

int osb_pem_read_certificate(const char *path, X509 **ret, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf content = {0};
    _cleanup_bio_ BIO *bio = NULL;
    int r = read_pem(path, &bio, &content, err);
    if (r < 0)
        return r;
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    if (!certificate)
        return osb_openssl_fail(err, -OSB_E_SYNTAX, path);
    *ret = certificate;
    return 0;
}

/* Without a terminal to ask at: an encrypted key is an error. */
static int no_password(char *buffer, int size, int is_writing, void *arg)
{
    (void)buffer;
    (void)size;
    (void)is_writing;
    (void)arg;
    return -1;
}

int osb_pem_read_key(const char *path, EVP_PKEY **ret, struct osb_err *err)
{
    OSB_CLEANUP(wipe) struct osb_buf content = {0};
    _cleanup_bio_ BIO *bio = NULL;
    int r = read_pem(path, &bio, &content, err);
    if (r < 0)
        return r;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    if (!key)
        return osb_openssl_fail(err, -OSB_E_SYNTAX, path);
    *ret = key;
    return 0;
}

static int write_bio(const char *path, BIO *bio, mode_t mode, struct osb_err *err)
{
    char *data;
    long len = BIO_get_mem_data(bio, &data);
    int r = osb_write_file(path, osb_slice(data, (size_t)len), mode, err);
    OPENSSL_cleanse(data, (size_t)len);
    return r;
}

int osb_pem_write_certificate(const char *path, X509 *certificate, struct osb_err *err)
{
    _cleanup_bio_ BIO *bio = BIO_new(BIO_s_mem());
    if (!bio || PEM_write_bio_X509(bio, certificate) != 1)
        return osb_openssl_fail(err, -ENOMEM, path);
    return write_bio(path, bio, 0644, err);
}

int osb_pem_write_key(const char *path, EVP_PKEY *key, struct osb_err *err)
{
    _cleanup_bio_ BIO *bio = BIO_new(BIO_s_secmem());
    if (!bio || PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) != 1)
        return osb_openssl_fail(err, -ENOMEM, path);
    return write_bio(path, bio, 0600, err);
}
