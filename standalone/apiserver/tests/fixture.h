// SPDX-License-Identifier: Apache-2.0
/*
 * An API server without sockets, disks and clocks: requests are texts, writes are applied at once,
 * collectors run when they are told to. Every test has a world of its own.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "history.h"
#include "resource.h"
#include "watch.h"

#include <osb/json_tree.h>

struct world {
    struct registry registry;
    struct cache cache;
    struct history history;
    int64_t now_ns;
    struct osb_json *reply; /* of the last call */
    int warnings;           /* of the last call */
    struct osb_buf text;    /* scratch for world_str() */
};

struct world *world_new(void);
/* With bounds for the history. */
struct world *world_new_bounded(size_t max_events);
void world_free(struct world *world);
/* As new, with the registry that is there. */
void world_empty(struct world *world);
int world_setup(void **state);
int world_teardown(void **state);

/*
 * Runs METHOD on TARGET ("/path?query") with BODY (JSON, NULL for none) and returns the HTTP
 * status. METHOD "MERGE", "JSONPATCH" and "STRATEGIC" are PATCHes of that type; "TABLE" is a GET
 * that wants a Table.
 */
int world_call(struct world *world, const char *method, const char *target, const char *body);
/* As world_call() with 'single quotes' for "double" ones, which must succeed. */
void world_ok(struct world *world, const char *method, const char *target, const char *body);
/* The text (or printed value) at a dotted path of the last reply; "" when absent. */
const char *world_str(struct world *world, const char *path);
int64_t world_int(struct world *world, const char *path);
/* Runs the collectors until they have nothing to do. */
void world_collect(struct world *world);

/* A watch of TARGET; free with world_watch_end(). */
struct world_watch {
    struct osb_arena arena;
    struct request request;
    struct output output;
    struct refusal refusal;
    struct watcher watcher;
    int status; /* 200, or that of the refusal */
};

void world_watch(struct world *world, const char *target, struct world_watch *ret);
/* "TYPE name" of the next line, "" when there is none; a bookmark is "BOOKMARK version". */
const char *world_watch_next(struct world *world, struct world_watch *watch);
void world_watch_end(struct world_watch *watch);

#define POD_A                                                                                      \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a','labels':{'app':'x'}},'spec':{"        \
    "'containers':[{'name':'c','image':'base'}]}}"
#define PODS      "/api/v1/namespaces/default/pods"
#define SANDBOXES "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/default/batchsandboxes"
#define SECRETS   "/api/v1/namespaces/default/secrets"
#define SANDBOX(name, replicas)                                                                    \
    "{'kind':'BatchSandbox','apiVersion':'sandbox.opensandbox.io/"                                 \
    "v1alpha1','metadata':{'name':'" name "'},'spec':{'replicas':" #replicas "}}"

#endif
