// SPDX-License-Identifier: Apache-2.0
/* What the parts of the REST facade share. */
#ifndef OPERATOR_REST_SERVER_H
#define OPERATOR_REST_SERVER_H

#include <osb/http_router.h>
#include <osb/http_server.h>
#include <osb/list.h>
#include <osb/map.h>
#include <osb/stream.h>

#include "operator.h"
#include "rest.h"

enum {
    REST_MAX_BODY = 1024 * 1024,  /* bytes of a request body; 413 */
    REST_MAX_ID = 253,            /* bytes of a sandbox id: a Kubernetes name */
    REST_MAX_REQUEST_ID = 128,    /* bytes of a caller's X-Request-ID; a longer one is replaced */
    REST_MAX_KEY = 255,           /* bytes of an Idempotency-Key */
    REST_CACHE_WAIT_MS = 2000,    /* for the cache to show our own write */
    REST_MAX_STATUS_METRICS = 24, /* statuses counted apart, a route */
};

struct rest_request;

typedef void rest_handler(struct rest_request *request, const struct osb_http_params *params);

struct rest_route {
    const char *method;
    const char *pattern;
    rest_handler *handler;
    const char *name; /* in metrics */
};

/* A route of a running server: where the router's callback finds both. */
struct rest_binding {
    struct rest *rest;
    const struct rest_route *route;
    struct rest_status_metric {
        int status;
        struct osb_metric *metric;
    } metrics[REST_MAX_STATUS_METRICS];
};

struct rest {
    struct operator* op;
    struct osb_http_server *server;
    struct osb_http_router *router;
    struct osb_listener *listener;
    struct rest_binding *bindings;
    size_t binding_count;
    struct osb_list waits; /* struct rest_wait: nothing new for them */
    struct osb_list due;   /* struct rest_wait: to be looked at */
    struct osb_defer wake;
    struct osb_list creates;    /* struct rest_create */
    struct osb_list undos;      /* struct rest_undo */
    struct osb_json *template_; /* beneath each sandbox; NULL: none */
    struct osb_map tokens;      /* BatchSandbox UID to struct osb_secret of its execd */
    bool is_draining;
    bool is_drained; /* no connection is left */
    void (*drain_done)(void *arg);
    void *drain_arg;
    struct osb_timer drain_timer;
};

/* Tells the drain that something has ended. */
void rest_drain_check(struct rest *rest);

/* ---- handlers, by route ---- */

rest_handler rest_create_handle;
rest_handler rest_get_handle;
rest_handler rest_list_handle;
rest_handler rest_delete_handle;
rest_handler rest_renew_handle;
rest_handler rest_metadata_handle;
rest_handler rest_endpoint_handle;
rest_handler rest_health_handle;
rest_handler rest_version_handle;
rest_handler rest_event_handle;
rest_handler rest_pause_handle;
rest_handler rest_snapshot_handle;
rest_handler rest_pool_handle;
rest_handler rest_proxy_handle;
rest_handler rest_diagnostics_handle;
rest_handler rest_policy_handle;
rest_handler rest_template_handle;

#endif
