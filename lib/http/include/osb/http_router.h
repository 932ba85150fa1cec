// SPDX-License-Identifier: Apache-2.0
/*
 * Routes by method and path pattern: "/v1/sandboxes/{id}/endpoints/{port}", and a trailing
 * "{rest...}" that takes the remaining path raw. Segments are percent-decoded after splitting; a
 * segment that decodes to something with '/' or NUL matches no route.
 */
#ifndef OSB_HTTP_ROUTER_H
#define OSB_HTTP_ROUTER_H

#include <osb/http_server.h>

enum { OSB_ROUTE_MAX_PARAMS = 8 };

struct osb_http_router;

/* Filled for the handler; slices live in the exchange's arena. */
struct osb_http_params {
    int count;
    const char *names[OSB_ROUTE_MAX_PARAMS];
    struct osb_slice values[OSB_ROUTE_MAX_PARAMS];
};

typedef void osb_http_route_fn(struct osb_http_exchange *x, const struct osb_http_params *params,
                               void *arg);

struct osb_http_router *osb_http_router_new(void);
void osb_http_router_free(struct osb_http_router *router);
/* METHOD "*" takes any. PATTERN is borrowed (a literal). Literals win over parameters. */
void osb_http_route(struct osb_http_router *router, const char *method, const char *pattern,
                    osb_http_route_fn *fn, void *arg);
/*
 * Finds and calls the handler. Returns 0; -OSB_E_NOT_FOUND when no pattern matches; -EPERM when
 * one matches for another method (*RET_ALLOW is then the Allow list in the exchange's arena). In
 * the failing cases nothing was answered.
 */
int osb_http_router_dispatch(struct osb_http_router *router, struct osb_http_exchange *x,
                             const char **ret_allow);
/* Whether PATH, raw, has a route, by whatever method; X lends its arena. */
bool osb_http_router_knows(const struct osb_http_router *router, struct osb_http_exchange *x,
                           struct osb_slice path);
/* The value of parameter NAME; the empty slice when there is none. */
struct osb_slice osb_http_param(const struct osb_http_params *params, const char *name);

#endif
