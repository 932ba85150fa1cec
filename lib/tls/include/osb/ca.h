// SPDX-License-Identifier: Apache-2.0
/*
 * A private certificate authority in PEM files: ECDSA P-256, own CA for 10 years, leaves for one
 * year by default. Files with keys are 0600, certificates 0644; each is replaced as a whole, and a
 * pair that a crash left half written does not match and is made anew. All calls block.
 */
#ifndef OSB_CA_H
#define OSB_CA_H

#include <osb/err.h>
#include <stdbool.h>
#include <stdint.h>

enum { OSB_CA_DAYS = 3650, OSB_LEAF_DAYS = 365 };

/* What a leaf says. */
struct osb_leaf {
    const char *common_name;
    const char *organization;        /* may be NULL; Kubernetes reads it as a group */
    const char *const *dns_names;    /* NULL-terminated, or NULL */
    const char *const *ip_addresses; /* NULL-terminated, or NULL */
    bool is_server;                  /* extended key usage serverAuth */
    bool is_client;                  /* extended key usage clientAuth */
    int days;                        /* 0 for OSB_LEAF_DAYS */
};

/*
 * Makes ca.crt and ca.key in FOLDER unless both are there, match and have not ended. A file that
 * cannot be read is an error: it may be somebody's only copy.
 */
int osb_ca_ensure(const char *folder, const char *common_name, struct osb_err *err);
/*
 * Makes CERTIFICATE and KEY (PEM paths) signed by the CA of FOLDER, unless they are there, say the
 * same names and uses, come from this CA, and have more than a third of their life left. The
 * common name may have 64 characters (RFC 5280).
 */
int osb_ca_issue(const char *folder, const struct osb_leaf *leaf, const char *certificate,
                 const char *key, struct osb_err *err);
/* Seconds since 1970 at which a PEM certificate ends; negative on error. */
int64_t osb_certificate_not_after(const char *certificate, struct osb_err *err);

#endif
