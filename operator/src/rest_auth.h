// SPDX-License-Identifier: Apache-2.0
/* Who may ask: one API key, and what browsers ask before they ask. */
#ifndef OPERATOR_REST_AUTH_H
#define OPERATOR_REST_AUTH_H

#include "rest_request.h"

/* -OSB_E_INVALID when neither a key is configured nor its absence allowed. */
int rest_auth_check_config(const struct config_server *config, struct osb_err *err);
/* False when the request was answered with 401. */
bool rest_auth_admit(struct rest_request *request);
/* Adds the CORS headers; true when the request was a preflight, which is then answered. */
bool rest_cors(struct rest_request *request);

#endif
