// SPDX-License-Identifier: Apache-2.0
/* What OpenSSL's error queue of this thread says, as errors of ours. */
#ifndef OSB_TLS_OPENSSL_ERR_H
#define OSB_TLS_OPENSSL_ERR_H

#include <osb/err.h>

/* Raises CODE with "WHAT: reason of OpenSSL" and empties the queue. Returns CODE. */
int osb_openssl_fail(struct osb_err *err, int code, const char *what);
/* The last reason, never NULL; valid for ever. Does not empty the queue. */
const char *osb_openssl_reason(void);

#endif
