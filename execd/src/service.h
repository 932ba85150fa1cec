// SPDX-License-Identifier: Apache-2.0
/* execd as an HTTP service: authentication, routes, listening, draining. */
#ifndef EXECD_SERVICE_H
#define EXECD_SERVICE_H

#include "execd.h"

/* Sets up everything but the listening; EXECD->options and ->token are filled in already. */
int service_start(struct execd *execd, struct osb_err *err);
/* Listens; from here on requests come. */
int service_listen(struct execd *execd, struct osb_err *err);
/* Stops listening, lets running answers end for a while, then stops the loop. */
void service_drain(struct execd *execd);
/* Ends everything that is left and frees. Safe after a failed start. */
void service_stop(struct execd *execd);

#endif
