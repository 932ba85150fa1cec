// SPDX-License-Identifier: Apache-2.0
/*
 * What a reconcile decided: a list of actions in stages. All actions of a stage may run at the same
 * time; a stage begins when those before it have ended.
 */
#ifndef OPERATOR_PLAN_H
#define OPERATOR_PLAN_H

#include <osb/arena.h>
#include <stdbool.h>
#include <stdint.h>

#include "phase.h"

enum action_type {
    ACTION_DELETE_SANDBOX,    /* it has expired */
    ACTION_CONFIRM_OWNER,     /* asks the API server which object has the name now */
    ACTION_ENSURE_TOKENS,     /* the Secret with the tokens exists */
    ACTION_CREATE_POD,        /* of `index` */
    ACTION_DELETE_POD,        /* `name`, `uid`; an orphan when `owner_uid` is set */
    ACTION_PATCH_ANNOTATIONS, /* merge patch `text` */
    ACTION_PATCH_STATUS,      /* merge patch `text`; the phase moves */
    ACTION_EVENT              /* `reason`, `message` */
};

enum plan_stage { STAGE_FIRST, STAGE_PODS, STAGE_ANNOTATIONS, STAGE_STATUS, STAGE_COUNT };

struct action {
    enum action_type type;
    enum plan_stage stage;
    int index;
    const char *name;
    const char *uid;
    const char *owner_uid;
    const char *text;
    const char *reason;
    const char *message;
    bool is_warning;
    enum phase from; /* of ACTION_PATCH_STATUS */
    enum phase to;
};

struct plan {
    struct osb_arena arena; /* strings of the actions */
    struct action *actions; /* stages in order */
    size_t count;
    size_t cap;
    uint64_t requeue_after_ms; /* 0: only when something changes */
};

/* Appends a zero-filled action; its stage follows from its type (events: from the one before). */
struct action *plan_add(struct plan *plan, enum action_type type);
/* An event; the strings are copied. */
void plan_event(struct plan *plan, bool is_warning, const char *reason, const char *message);
/* The earlier of what is asked already and this. */
void plan_requeue(struct plan *plan, uint64_t delay_ms);
void plan_done(struct plan *plan);
/* "create-pod" and the like, for logs and metrics. */
const char *action_name(enum action_type type);

#endif
