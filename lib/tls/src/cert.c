// SPDX-License-Identifier: Apache-2.0
#include "cert.h"
#include "handles.h"
#include "openssl_err.h"
#include <openssl/ec.h>
#include <openssl/x509v3.h>
#include <osb/uuid.h>

enum {
    SKEW_S = 300, /* how far a peer's clock may be behind */
    DAY_S = 24 * 60 * 60,
    SERIAL_BYTES = 16, /* random: no counter to keep (RFC 5280 section 4.1.2.2 allows 20) */
};

struct osb_cert_life osb_cert_life(int days)
{
    time_t now = time(NULL);
    return (struct osb_cert_life){now - SKEW_S, now + (time_t)days * DAY_S};
}

int osb_cert_new_key(EVP_PKEY **ret, struct osb_err *err)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    if (!key)
        return osb_openssl_fail(err, -OSB_E_INTERNAL, "make an EC key");
    *ret = key;
    return 0;
}

/* ---- the parts ---- */

static bool set_serial(X509 *certificate)
{
    unsigned char bytes[SERIAL_BYTES];
    osb_random_bytes(bytes, sizeof(bytes));
    bytes[0] = (bytes[0] & 0x7f) | 0x40; /* positive, and always of the same length */
    BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    bool is_set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return is_set;
}

static bool set_life(X509 *certificate, struct osb_cert_life life)
{
    return ASN1_TIME_adj(X509_getm_notBefore(certificate), life.not_before, 0, 0) &&
           ASN1_TIME_adj(X509_getm_notAfter(certificate), life.not_after, 0, 0);
}

static bool add_name(X509_NAME *name, int nid, const char *text)
{
    return !text || X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8,
                                               (const unsigned char *)text, -1, -1, 0) == 1;
}

static bool add_extension(X509 *certificate, int nid, void *value, bool is_critical)
{
    return X509_add1_ext_i2d(certificate, nid, value, is_critical, X509V3_ADD_DEFAULT) == 1;
}

static bool add_constraints(X509 *certificate, bool is_ca)
{
    BASIC_CONSTRAINTS *constraints = BASIC_CONSTRAINTS_new();
    if (!constraints)
        return false;
    constraints->ca = is_ca ? 0xff : 0;
    if (is_ca) { /* it signs leaves only */
        constraints->pathlen = ASN1_INTEGER_new();
        ASN1_INTEGER_set(constraints->pathlen, 0);
    }
    bool is_added = add_extension(certificate, NID_basic_constraints, constraints, true);
    BASIC_CONSTRAINTS_free(constraints);
    return is_added;
}

static bool add_key_usage(X509 *certificate, bool is_ca)
{
    enum { DIGITAL_SIGNATURE = 0, KEY_CERT_SIGN = 5, CRL_SIGN = 6 }; /* RFC 5280 4.2.1.3 */
    ASN1_BIT_STRING *usage = ASN1_BIT_STRING_new();
    bool is_added = usage && ASN1_BIT_STRING_set_bit(usage, DIGITAL_SIGNATURE, !is_ca) &&
                    ASN1_BIT_STRING_set_bit(usage, KEY_CERT_SIGN, is_ca) &&
                    ASN1_BIT_STRING_set_bit(usage, CRL_SIGN, is_ca) &&
                    add_extension(certificate, NID_key_usage, usage, true);
    ASN1_BIT_STRING_free(usage);
    return is_added;
}

static bool add_extended_usage(X509 *certificate, const struct osb_leaf *leaf)
{
    EXTENDED_KEY_USAGE *uses = EXTENDED_KEY_USAGE_new();
    if (leaf->is_server)
        sk_ASN1_OBJECT_push(uses, OBJ_nid2obj(NID_server_auth));
    if (leaf->is_client)
        sk_ASN1_OBJECT_push(uses, OBJ_nid2obj(NID_client_auth));
    bool is_added =
        sk_ASN1_OBJECT_num(uses) <= 0 || add_extension(certificate, NID_ext_key_usage, uses, false);
    EXTENDED_KEY_USAGE_free(uses);
    return is_added;
}

static bool push_name(GENERAL_NAMES *names, int type, ASN1_STRING *value)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    if (!value || !name) {
        ASN1_STRING_free(value);
        GENERAL_NAME_free(name);
        return false;
    }
    GENERAL_NAME_set0_value(name, type, value);
    return sk_GENERAL_NAME_push(names, name) > 0;
}

static ASN1_STRING *ia5(const char *text)
{
    ASN1_STRING *string = ASN1_IA5STRING_new();
    if (string)
        ASN1_STRING_set(string, text, -1);
    return string;
}

static bool add_alternative_names(X509 *certificate, const struct osb_leaf *leaf)
{
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    bool is_good = names;
    for (const char *const *name = leaf->dns_names; is_good && name && *name; name++)
        is_good = push_name(names, GEN_DNS, ia5(*name));
    for (const char *const *name = leaf->ip_addresses; is_good && name && *name; name++)
        is_good = push_name(names, GEN_IPADD, a2i_IPADDRESS(*name));
    if (is_good && sk_GENERAL_NAME_num(names) > 0)
        is_good = add_extension(certificate, NID_subject_alt_name, names, false);
    GENERAL_NAMES_free(names);
    return is_good;
}

/* The identifier that chains are built by (RFC 5280 section 4.2.1.2, method 1). */
static bool add_key_identifier(X509 *certificate)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len;
    ASN1_OCTET_STRING *identifier = ASN1_OCTET_STRING_new();
    bool is_added = identifier && X509_pubkey_digest(certificate, EVP_sha1(), digest, &len) == 1 &&
                    ASN1_OCTET_STRING_set(identifier, digest, (int)len) == 1 &&
                    add_extension(certificate, NID_subject_key_identifier, identifier, false);
    ASN1_OCTET_STRING_free(identifier);
    return is_added;
}

static bool add_authority(X509 *certificate, X509 *ca)
{
    AUTHORITY_KEYID *authority = AUTHORITY_KEYID_new();
    const ASN1_OCTET_STRING *identifier = X509_get0_subject_key_id(ca);
    bool is_added = authority && identifier;
    if (is_added) {
        authority->keyid = ASN1_OCTET_STRING_dup(identifier);
        is_added = authority->keyid &&
                   add_extension(certificate, NID_authority_key_identifier, authority, false);
    }
    AUTHORITY_KEYID_free(authority);
    return is_added;
}

/* ---- the whole ---- */

static bool fill_common(X509 *certificate, EVP_PKEY *key, struct osb_cert_life life)
{
    return certificate && X509_set_version(certificate, X509_VERSION_3) == 1 &&
           set_serial(certificate) && set_life(certificate, life) &&
           X509_set_pubkey(certificate, key) == 1 && add_key_identifier(certificate);
}

int osb_cert_new_ca(const char *common_name, EVP_PKEY *key, struct osb_cert_life life, X509 **ret,
                    struct osb_err *err)
{
    _cleanup_x509_ X509 *ca = X509_new();
    if (!fill_common(ca, key, life) ||
        !add_name(X509_get_subject_name(ca), NID_commonName, common_name) ||
        X509_set_issuer_name(ca, X509_get_subject_name(ca)) != 1 || !add_constraints(ca, true) ||
        !add_key_usage(ca, true) || X509_sign(ca, key, EVP_sha256()) == 0)
        return osb_openssl_fail(err, -OSB_E_INVALID, "make a CA certificate");
    *ret = osb_take_ptr(ca);
    return 0;
}

int osb_cert_new_leaf(const struct osb_leaf *leaf, EVP_PKEY *key, X509 *ca, EVP_PKEY *ca_key,
                      struct osb_cert_life life, X509 **ret, struct osb_err *err)
{
    _cleanup_x509_ X509 *certificate = X509_new();
    if (!fill_common(certificate, key, life) ||
        !add_name(X509_get_subject_name(certificate), NID_organizationName, leaf->organization) ||
        !add_name(X509_get_subject_name(certificate), NID_commonName, leaf->common_name) ||
        X509_set_issuer_name(certificate, X509_get_subject_name(ca)) != 1 ||
        !add_constraints(certificate, false) || !add_key_usage(certificate, false) ||
        !add_extended_usage(certificate, leaf) || !add_alternative_names(certificate, leaf) ||
        !add_authority(certificate, ca) || X509_sign(certificate, ca_key, EVP_sha256()) == 0)
        return osb_openssl_fail(err, -OSB_E_INVALID, "make a certificate");
    *ret = osb_take_ptr(certificate);
    return 0;
}

/* ---- looking at one ---- */

static const ASN1_OCTET_STRING *extension_of(const X509 *certificate, int nid)
{
    int at = X509_get_ext_by_NID(certificate, nid, -1);
    return at < 0 ? NULL : X509_EXTENSION_get_data(X509_get_ext(certificate, at));
}

static bool has_same_extension(const X509 *a, const X509 *b, int nid)
{
    const ASN1_OCTET_STRING *in_a = extension_of(a, nid);
    const ASN1_OCTET_STRING *in_b = extension_of(b, nid);
    return in_a && in_b ? ASN1_OCTET_STRING_cmp(in_a, in_b) == 0 : in_a == in_b;
}

bool osb_cert_says_the_same(X509 *a, X509 *b)
{
    return X509_NAME_cmp(X509_get_subject_name(a), X509_get_subject_name(b)) == 0 &&
           has_same_extension(a, b, NID_subject_alt_name) &&
           has_same_extension(a, b, NID_ext_key_usage);
}

static bool to_seconds(const ASN1_TIME *value, time_t *ret)
{
    struct tm parts;
    if (ASN1_TIME_to_tm(value, &parts) != 1)
        return false;
    *ret = timegm(&parts);
    return true;
}

bool osb_cert_get_life(const X509 *certificate, struct osb_cert_life *ret)
{
    return to_seconds(X509_get0_notBefore(certificate), &ret->not_before) &&
           to_seconds(X509_get0_notAfter(certificate), &ret->not_after);
}
