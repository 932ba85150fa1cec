// SPDX-License-Identifier: Apache-2.0
/*
 * What a reflector decides, free of I/O: answers come in, the next step comes out. The driver
 * (reflector.c) carries the steps out.
 *
 *            start            last page               cut, error: after a back-off
 *     IDLE ---------> LISTING ---------> WATCHING ------------------------------+
 *                      ^  ^ |              |  ^                                  |
 *                      |  | +-- error -+   |  +------- watch again <-- WAITING <-+
 *                      |  |            v   |                             ^  |
 *                      |  +--- 410 ----|---+                             |  |
 *                      |               +---------------------------------+  |
 *                      +--------------------- list again -------------------+
 */
#ifndef OSB_KUBE_REFLECTOR_CORE_H
#define OSB_KUBE_REFLECTOR_CORE_H

#include <osb/api_kinds.h>
#include <osb/kube_reflector.h>
#include <osb/kube_store.h>

enum reflector_state {
    REFLECTOR_IDLE,
    REFLECTOR_LISTING,
    REFLECTOR_WATCHING,
    REFLECTOR_WAITING,
    REFLECTOR_STATE_COUNT
};

enum {
    REFLECTOR_PAGE_SIZE = 500,
    REFLECTOR_WATCH_MIN_S = 300,  /* a watch is asked to last between this and its double */
    REFLECTOR_WATCH_SLACK_S = 30, /* then the server is late: cut it ourselves */
    REFLECTOR_BACKOFF_MIN_MS = 200,
    REFLECTOR_BACKOFF_MAX_MS = 30000,
    REFLECTOR_SHORT_WATCH_MS = 1000, /* one that ends sooner counts as a failure */
};

/* What the driver is to do next. */
struct reflector_step {
    enum { REFLECTOR_DO_LIST, REFLECTOR_DO_WATCH, REFLECTOR_DO_WAIT } what;
    char *path;          /* of LIST and WATCH, with query; owned by the core */
    uint64_t timeout_ms; /* of LIST and WATCH */
    uint64_t delay_ms;   /* of WAIT */
};

struct reflector_core {
    enum reflector_state state;
    char *base_path; /* of the collection */
    char *selector;  /* percent-encoded; NULL for all */
    int page_size;
    char *continue_token;   /* NULL on the first page */
    char *resource_version; /* where the next watch begins; NULL: list first */
    int failures;           /* in a row */
    uint64_t random;
    uint64_t watch_began_ns;
    bool is_synced;
    uint64_t relists; /* lists after the first */
    struct reflector_step step;
};

void reflector_core_init(struct reflector_core *core,
                         const struct osb_kube_reflector_options *options);
void reflector_core_done(struct reflector_core *core);

/* Each returns the next step, valid until the next call. */
const struct reflector_step *reflector_core_start(struct reflector_core *core, uint64_t now_ns);
/* A page of the list: its items go to STORE. A malformed page counts as a failure. */
const struct reflector_step *reflector_core_page(struct reflector_core *core,
                                                 struct osb_kube_store *store,
                                                 struct osb_slice body, uint64_t now_ns,
                                                 struct osb_err *err);
/* A list or a watch ended with R (0: the watch's own end). */
const struct reflector_step *reflector_core_ended(struct reflector_core *core, int r,
                                                  int retry_after_s, uint64_t now_ns);
const struct reflector_step *reflector_core_waited(struct reflector_core *core, uint64_t now_ns);

/*
 * A line of the watch. Negative when the watch is to be ended with that code (the server says 410,
 * or the line is no event); an object that the projection refuses is passed over.
 */
int reflector_core_line(struct reflector_core *core, struct osb_kube_store *store,
                        struct osb_slice line, struct osb_err *err);

#endif
