// SPDX-License-Identifier: Apache-2.0
/*
 * The core of the node runner, free of I/O: what is known of a pod in, the next thing to do out.
 * The worker does it, writes down what came of it, and asks again; so a crash at any point, a lost
 * event or a repeated one all lead to the same end.
 */
#ifndef NODE_POD_CORE_H
#define NODE_POD_CORE_H

#include "pod_spec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    POD_PUT_OFF_MS = 1000,      /* from ErrImagePull to ImagePullBackOff */
    POD_BACKOFF_MIN_MS = 10000, /* as the kubelet: 10 s, doubling, at most 5 min */
    POD_BACKOFF_MAX_MS = 300000,
    POD_BACKOFF_RESET_MS = 600000, /* a container that ran that long starts anew */
    POD_FORCED_GRACE_S = 2,        /* of a pod whose object is gone already */
};

enum container_phase {
    CONTAINER_PHASE_NONE, /* not made */
    CONTAINER_PHASE_CREATED,
    CONTAINER_PHASE_RUNNING,
    CONTAINER_PHASE_EXITED,
    CONTAINER_PHASE_CUT, /* never ran: its start was cut short; to be removed and made again */
};

struct termination {
    char *container_id;
    int exit_code;
    int64_t started_ns;
    int64_t finished_ns;
    char *reason;
    char *message;
};

struct container_state {
    enum container_phase phase;
    char *id;
    bool has_image;
    char *image_id;
    int64_t started_ns;          /* wall clock */
    struct termination end;      /* EXITED */
    struct termination last_end; /* of the run before; container_id NULL for none */
    int restart_count;
    int failures;        /* in a row, for the back-off */
    uint64_t retry_ns;   /* loop clock: not before */
    uint64_t put_off_ns; /* loop clock: when a failed pull is told as put off; 0: it is not one */
    bool is_end_told;    /* containerd said so; CRI may learn it a moment later */
    char *waiting_reason;
    char *waiting_message;
};

enum sandbox_phase {
    SANDBOX_PHASE_NONE,
    SANDBOX_PHASE_UNKNOWN, /* made; its address has still to be asked for */
    SANDBOX_PHASE_READY,
    SANDBOX_PHASE_DEAD, /* exists, but is stopped */
};

struct pod_state {
    enum sandbox_phase sandbox;
    char *sandbox_id;
    uint32_t attempt;
    char *ip;
    bool has_volumes;
    bool is_deleting;    /* deletionTimestamp is set */
    bool is_object_gone; /* deleted from the API without us */
    bool is_rejected;
    bool is_past_deadline; /* activeDeadlineSeconds */
    int64_t deletion_grace_s;
    char *failed_reason; /* of the pod as a whole; with is_rejected or is_past_deadline */
    char *failed_message;
    int sandbox_failures;
    uint64_t sandbox_retry_ns;
    char *sandbox_message; /* why there is none yet */
    struct container_state containers[POD_MAX_CONTAINERS];
};

enum pod_action {
    POD_WAIT, /* nothing to do; *RET_WAKE_NS says until when, 0: until something happens */
    POD_PREPARE_VOLUMES,
    POD_RUN_SANDBOX,
    POD_ASK_SANDBOX, /* whether it lives, and its address */
    POD_PULL,
    POD_CREATE,
    POD_START,
    POD_STOP,
    POD_REMOVE_CONTAINER,
    POD_STOP_SANDBOX,
    POD_REMOVE_SANDBOX,
    POD_CLEAN_UP,      /* volumes, folders, logs */
    POD_DELETE_OBJECT, /* the last word to the API server */
    POD_FORGET,        /* nothing is left anywhere */
};

/* What to do next; *RET_CONTAINER is the container it is about, where it is about one. */
enum pod_action pod_next_action(const struct pod_spec *spec, const struct pod_state *state,
                                uint64_t now_ns, size_t *ret_container, uint64_t *ret_wake_ns);

/* Records a failure of a container's step: reason, message, and when it may be tried again. */
void container_failed(struct container_state *container, const char *reason, const char *message,
                      uint64_t now_ns);
/*
 * A pull that failed is told as ErrImagePull first and as ImagePullBackOff a moment later, each
 * time: who watches counts the failures by it.
 */
void container_pull_failed(struct container_state *container, const char *message, uint64_t now_ns);
/* Tells as put off what is due; true when something was. */
bool pod_put_off(const struct pod_spec *spec, struct pod_state *state, uint64_t now_ns);
/* Takes the reason for waiting away. */
void container_clear_waiting(struct container_state *container);
/* Moves an ended run into last_end and makes room for the next. */
void container_next_run(struct container_state *container);
/* Removed before it has run: as if it had not been made. */
void container_unmake(struct container_state *container);
/* The delay before try FAILURES + 1. */
uint64_t pod_backoff_ms(int failures);
/* True when containers that may ever run again are none. */
bool pod_is_finished(const struct pod_spec *spec, const struct pod_state *state);
/* "Pending", "Running", "Succeeded" or "Failed" (lifecycle of pods, as the kubelet counts). */
const char *pod_phase(const struct pod_spec *spec, const struct pod_state *state);
/* True when the policy starts an ended container again. */
bool container_restarts(const struct pod_spec *spec, const struct container_spec *container,
                        const struct container_state *state);

void termination_done(struct termination *end);
void pod_state_done(struct pod_state *state);

#endif
