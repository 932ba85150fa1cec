// SPDX-License-Identifier: Apache-2.0
/* Query parameters with the public server's rules. */
#ifndef OPERATOR_REST_QUERY_H
#define OPERATOR_REST_QUERY_H

#include <osb/http_server.h>

#include "rest_errors.h"

/* PLACE is "query.page". A value that is no integer of the range is a problem; RET keeps its. */
void rest_query_integer(struct osb_http_exchange *x, const char *name, const char *place,
                        int64_t min, int64_t max, int64_t *ret, struct rest_problems *problems);
/* true, false, 1, 0, yes, no, on, off in any case. */
void rest_query_bool(struct osb_http_exchange *x, const char *name, const char *place, bool *ret,
                     struct rest_problems *problems);

#endif
