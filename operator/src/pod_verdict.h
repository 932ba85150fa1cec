// SPDX-License-Identifier: Apache-2.0
/* What a pod's status means for the sandbox that it is. */
#ifndef OPERATOR_POD_VERDICT_H
#define OPERATOR_POD_VERDICT_H

#include "pod.h"

enum pod_class {
    POD_ABSENT,
    POD_TERMINATING,
    POD_ENDED,    /* will not run again by itself */
    POD_FAILING,  /* cannot start; may yet recover */
    POD_STARTING, /* on its way */
    POD_READY     /* can be used */
};

/* What the operator learned of a pod beside its status. */
struct observation {
    bool has_answered; /* its execd, as it runs now */
    bool is_unknown;   /* its execd is being asked for the first time */
    int pull_backoffs; /* times that a pull of an image was put off */
};

struct verdict {
    enum pod_class class_;
    const char *reason;    /* of ended and failing; borrowed from the pod or static */
    const char *message;   /* the node's own words; NULL for none */
    const char *container; /* whose; NULL: the pod's */
    const char *advice;    /* what to do about it; static, NULL for none */
    const char *last_end;  /* reason of the end before a restart; NULL for none */
    bool has_exit_code;
    int64_t exit_code;
};

/* POD NULL gives POD_ABSENT. */
struct verdict pod_verdict(const struct pod *pod, const struct observation *observed);
/* True when a pod that has ended is to be made again. */
bool pod_is_to_be_replaced(const struct pod *pod);
/* A container of the pod waits because a pull was put off. */
bool pod_has_pull_backoff(const struct pod *pod);

#endif
