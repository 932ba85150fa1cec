// SPDX-License-Identifier: Apache-2.0
/* Carries out the plan of one reconcile, stage by stage, and ends the queue's work on its key. */
#ifndef OPERATOR_SANDBOX_WORK_H
#define OPERATOR_SANDBOX_WORK_H

#include "plan.h"
#include "sandbox_controller.h"

struct sandbox_work {
    struct osb_list link; /* in the controller's `works` */
    struct sandbox_controller *controller;
    char *key;
    char *namespace_;
    char *name;
    char *uid;         /* of the object; NULL when it is gone */
    char *request_id;  /* of the object's creation; may be NULL */
    char *traceparent; /* likewise */
    int64_t generation;
    char *left_uid; /* of a Secret that an earlier object of this name left */
    char *live_uid; /* what ACTION_CONFIRM_OWNER found; NULL: no object */
    struct plan plan;
    size_t next;           /* action to start */
    struct osb_list steps; /* actions that run */
    int running;
    enum plan_stage stage;
    int r;                    /* the first error */
    int stage_r[STAGE_COUNT]; /* the first error of each stage */
    int retry_after_s;
    uint64_t requeue_after_ms;
    uint64_t began_ns;
};

/* One action that runs. */
struct sandbox_step {
    struct osb_list link;
    struct sandbox_work *work;
    const struct action *action;
    struct osb_kube_call *call;
};

/* Takes PLAN's content. BS is NULL when the object is gone; it is not kept. */
void sandbox_work_start(struct sandbox_controller *controller, const char *key,
                        const char *namespace_, const char *name, const struct batchsandbox *bs,
                        struct plan *plan);
void sandbox_work_cancel_all(struct sandbox_controller *controller);

/* The object as the cache has it now; NULL when it is not the one of the plan any more. */
const struct batchsandbox *sandbox_work_object(const struct sandbox_work *work);
/* Begins the action of STEP; 0 when its end will come by sandbox_step_end(). */
int sandbox_action_start(struct sandbox_step *step, struct osb_err *err);
/* An event about the object. */
void sandbox_work_event(const struct sandbox_work *work, bool is_warning, const char *reason,
                        const char *message);
/* The action of STEP has ended; frees STEP and goes on. */
void sandbox_step_end(struct sandbox_step *step, int r, const struct osb_err *err);

#endif
