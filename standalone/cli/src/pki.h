// SPDX-License-Identifier: Apache-2.0
/*
 * Identity inside an instance: its own CA, a certificate for each part, kubeconfigs, and the key
 * of the REST API. Renewed when due by every call; a call that finds all in order changes nothing.
 */
#ifndef CLI_PKI_H
#define CLI_PKI_H

#include "instance.h"

#include <osb/err.h>
#include <osb/secret.h>

int pki_ensure(const struct instance *instance, struct osb_err *err);
/* The key that clients of the REST API send. */
int pki_api_key(const struct instance *instance, struct osb_secret *ret, struct osb_err *err);

#endif
