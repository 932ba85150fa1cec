// SPDX-License-Identifier: Apache-2.0
#include "cert.h"
#include "handles.h"
#include "pem.h"
#include <openssl/err.h>
#include <osb/ca.h>
#include <osb/fd.h>

/* A certificate and its key. */
struct pair {
    X509 *certificate;
    EVP_PKEY *key;
};

static void pair_done(struct pair *pair)
{
    X509_free(pair->certificate);
    EVP_PKEY_free(pair->key);
}

#define _cleanup_pair_ OSB_CLEANUP(pair_done)

/* -ENOENT when a file is missing, -OSB_E_SYNTAX when one is broken or they do not match. */
static int read_pair(const char *certificate, const char *key, struct pair *ret,
                     struct osb_err *err)
{
    int r = osb_pem_read_certificate(certificate, &ret->certificate, err);
    if (r == 0)
        r = osb_pem_read_key(key, &ret->key, err);
    if (r < 0)
        return r;
    if (X509_check_private_key(ret->certificate, ret->key) == 1)
        return 0;
    ERR_clear_error();
    return osb_fail(err, -OSB_E_SYNTAX, "%s and %s do not belong together", certificate, key);
}

/* The key first: a crash in between leaves a pair that does not match, and is made anew. */
static int write_pair(const char *certificate, const char *key, const struct pair *pair,
                      struct osb_err *err)
{
    int r = osb_pem_write_key(key, pair->key, err);
    return r < 0 ? r : osb_pem_write_certificate(certificate, pair->certificate, err);
}

static bool is_replaceable(int r)
{
    return r == -ENOENT || r == -OSB_E_SYNTAX;
}

/* ---- the CA ---- */

struct ca_paths {
    char *certificate;
    char *key;
};

static void ca_paths_done(struct ca_paths *paths)
{
    free(paths->certificate);
    free(paths->key);
}

#define _cleanup_paths_ OSB_CLEANUP(ca_paths_done)

static struct ca_paths paths_in(const char *folder)
{
    return (struct ca_paths){osb_path_join(folder, "ca.crt"), osb_path_join(folder, "ca.key")};
}

static bool has_ended(const X509 *certificate)
{
    struct osb_cert_life life;
    return !osb_cert_get_life(certificate, &life) || life.not_after <= time(NULL);
}

int osb_ca_ensure(const char *folder, const char *common_name, struct osb_err *err)
{
    _cleanup_paths_ struct ca_paths paths = paths_in(folder);
    _cleanup_pair_ struct pair old = {0};
    _cleanup_pair_ struct pair made = {0};
    int r = read_pair(paths.certificate, paths.key, &old, err);
    if (r < 0 && !is_replaceable(r))
        return osb_wrap(err, r, "read the CA");
    if (r == 0 && !has_ended(old.certificate))
        return 0;
    osb_err_clear(err);
    r = osb_cert_new_key(&made.key, err);
    if (r == 0)
        r = osb_cert_new_ca(common_name, made.key, osb_cert_life(OSB_CA_DAYS), &made.certificate,
                            err);
    if (r == 0)
        r = write_pair(paths.certificate, paths.key, &made, err);
    return osb_wrap(err, r, "make a CA in %s", folder);
}

/* ---- leaves ---- */

/* OLD as good as WANTED: says the same, is of this CA, and more than a third of its life is left.
 */
static bool is_still_good(const struct pair *old, X509 *wanted, const struct pair *ca)
{
    struct osb_cert_life life;
    if (!osb_cert_says_the_same(old->certificate, wanted) ||
        !osb_cert_get_life(old->certificate, &life))
        return false;
    if (X509_verify(old->certificate, ca->key) != 1) {
        ERR_clear_error();
        return false;
    }
    time_t left = life.not_after - time(NULL);
    return left * 3 > life.not_after - life.not_before;
}

static int make_leaf(const struct osb_leaf *leaf, const struct pair *ca, struct pair *ret,
                     struct osb_err *err)
{
    int r = osb_cert_new_key(&ret->key, err);
    if (r < 0)
        return r;
    struct osb_cert_life life = osb_cert_life(leaf->days ? leaf->days : OSB_LEAF_DAYS);
    return osb_cert_new_leaf(leaf, ret->key, ca->certificate, ca->key, life, &ret->certificate,
                             err);
}

int osb_ca_issue(const char *folder, const struct osb_leaf *leaf, const char *certificate,
                 const char *key, struct osb_err *err)
{
    _cleanup_paths_ struct ca_paths paths = paths_in(folder);
    _cleanup_pair_ struct pair ca = {0};
    _cleanup_pair_ struct pair old = {0};
    _cleanup_pair_ struct pair made = {0};
    int r = read_pair(paths.certificate, paths.key, &ca, err);
    if (r < 0)
        return osb_wrap(err, r, "read the CA");
    r = make_leaf(leaf, &ca, &made, err); /* cheap, and what an old one is compared with */
    if (r < 0)
        return osb_wrap(err, r, "certificate for %s", leaf->common_name);
    r = read_pair(certificate, key, &old, err);
    if (r < 0 && !is_replaceable(r))
        return r;
    if (r == 0 && is_still_good(&old, made.certificate, &ca))
        return 0;
    osb_err_clear(err);
    return write_pair(certificate, key, &made, err);
}

int64_t osb_certificate_not_after(const char *certificate, struct osb_err *err)
{
    _cleanup_x509_ X509 *parsed = NULL;
    struct osb_cert_life life;
    int r = osb_pem_read_certificate(certificate, &parsed, err);
    if (r < 0)
        return r;
    if (!osb_cert_get_life(parsed, &life))
        return osb_fail(err, -OSB_E_SYNTAX, "%s: its end cannot be read", certificate);
    return life.not_after;
}
