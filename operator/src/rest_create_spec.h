// SPDX-License-Identifier: Apache-2.0
/* What a create asks for, checked: everything that can be refused without asking anybody is. */
#ifndef OPERATOR_REST_CREATE_SPEC_H
#define OPERATOR_REST_CREATE_SPEC_H

#include "config.h"
#include "rest_errors.h"

enum {
    REST_MIN_RENEW_S = 300,
    REST_MAX_RENEW_S = 86400,
    REST_MAX_TIMEOUT_S = 100 * 365 * 24 * 3600LL, /* where no other limit is configured */
};

/* Borrows from the body. */
struct create_spec {
    const char *image;
    const struct osb_json *entrypoint;
    const struct osb_json *env; /* NULL when absent, as the next four */
    const struct osb_json *metadata;
    const struct osb_json *limits;
    const struct osb_json *requests;
    const struct osb_json *extensions;
    const char *os; /* both or none */
    const char *arch;
    int64_t timeout_s; /* 0: none */
};

/* BODY is an object. 0, or -OSB_E_INVALID with *ERROR, which is zero-filled by the caller. */
int create_spec_read(const struct osb_json *body, const struct config *config,
                     struct create_spec *spec, struct rest_error *error);

#endif
