// SPDX-License-Identifier: Apache-2.0
/*
 * What a request asks for, from its method, path and query: verb, resource, names, options. Pure:
 * nothing here knows of connections or objects.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "refusal.h"
#include "resource.h"

#include <osb/api_selector.h>
#include <osb/arena.h>
#include <osb/slice.h>
#include <stdint.h>

enum {
    REQUEST_MAX_SEGMENTS = 16,
    REQUEST_MAX_QUERY = 64, /* parameters that are looked at */
};

enum verb {
    VERB_GET,
    VERB_LIST,
    VERB_WATCH,
    VERB_CREATE,
    VERB_UPDATE,
    VERB_PATCH,
    VERB_DELETE,
    VERB_DELETE_COLLECTION,
};

enum subresource {
    SUB_NONE,
    SUB_STATUS,
    SUB_SCALE,
    SUB_LOG,
    SUB_STREAM, /* exec, attach, portforward: known, not built */
};

enum version_match { MATCH_UNSET, MATCH_EXACT, MATCH_NOT_OLDER };
enum field_validation { VALIDATION_WARN, VALIDATION_STRICT, VALIDATION_IGNORE };
enum propagation { PROPAGATE_UNSET, PROPAGATE_ORPHAN, PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND };

struct delete_options {
    bool has_grace;
    int64_t grace_s;
    enum propagation propagation;
    const char *uid; /* preconditions; NULL for none */
    const char *resource_version;
};

struct request {
    enum verb verb;
    const struct resource *resource;
    const char *namespace_; /* NULL: all of them, or cluster-scoped */
    const char *name;       /* NULL for a collection */
    enum subresource sub;
    const char *sub_name; /* "exec", as in the path; "" for none */

    struct osb_selector *labels; /* NULL picks all */
    struct osb_selector *fields;
    int64_t limit;
    const char *continue_; /* NULL or a token */
    bool has_version;      /* resourceVersion was given and is not empty */
    uint64_t version;
    enum version_match match;
    bool is_watch;
    bool allows_bookmarks;
    bool has_initial; /* sendInitialEvents was given */
    bool wants_initial;
    int64_t timeout_s; /* 0: the server's own */
    bool is_dry_run;
    enum field_validation validation;
    struct delete_options deletion; /* of the query; a body adds to it */
    struct osb_slice raw_query;
};

/*
 * PATH and QUERY are raw. Strings go into ARENA; call request_done() also after a failure.
 * An unknown path is 404, a method that the path does not take is 405.
 */
int request_parse(const struct registry *registry, struct osb_slice method, struct osb_slice path,
                  struct osb_slice query, struct osb_arena *arena, struct request *ret,
                  struct refusal *refusal);
void request_done(struct request *request);
/* "get", "list", …, as authorisation rules say it. */
const char *verb_name(enum verb verb);

/* Reads a DeleteOptions body into OPTIONS; TREE NULL is none. */
int delete_options_read(const struct osb_json *tree, struct osb_arena *arena,
                        struct delete_options *options, bool *ret_dry_run, struct refusal *refusal);

/* In request_query.c: reads the options; NAME is decoded into ARENA. */
int request_query_parse(struct osb_slice query, struct osb_arena *arena, struct request *request,
                        struct refusal *refusal);
/* The first value of NAME in a raw query, decoded; NULL when absent or malformed. */
const char *query_get(struct osb_slice query, const char *name, struct osb_arena *arena);
int propagation_parse(struct osb_slice text, enum propagation *ret, struct refusal *refusal);

#endif
