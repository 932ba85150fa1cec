// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the processes of an instance without trusting memory: those whose cgroup is the instance's
 * (containers), whose command line names its run folder (containerd, its shims) or its state folder
 * (our own parts). Used to end what a killed supervisor left, and to prove that nothing is left.
 */
#ifndef CLI_PROC_SCAN_H
#define CLI_PROC_SCAN_H

#include "instance.h"

#include <osb/err.h>
#include <sys/types.h>

enum proc_kind {
    PROC_PART,      /* a part of ours, or containerd */
    PROC_SHIM,      /* containerd-shim: keeps a sandbox alive when containerd is gone */
    PROC_CONTAINER, /* inside a container */
};

typedef void proc_scan_fn(pid_t pid, enum proc_kind kind, void *arg);

/* Calls FN for each process found, except this one and its ancestors. */
int proc_scan(const struct instance *instance, proc_scan_fn *fn, void *arg, struct osb_err *err);
/*
 * Kills processes of the given kinds (bit mask of 1 << kind) and waits until they are gone; rounds
 * go on while new ones turn up, for at most TIMEOUT_MS. Returns the number ended.
 */
int proc_kill(const struct instance *instance, unsigned kinds, int timeout_ms, struct osb_err *err);
/* The first process of KIND, or 0. */
pid_t proc_find(const struct instance *instance, enum proc_kind kind);

#endif
