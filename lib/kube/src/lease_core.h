// SPDX-License-Identifier: Apache-2.0
/*
 * The rules of a lease without I/O: what was seen of it and when, may we take it, do we lead.
 * All times are of one monotonic clock, in nanoseconds.
 */
#ifndef OSB_KUBE_LEASE_CORE_H
#define OSB_KUBE_LEASE_CORE_H

#include <stdbool.h>
#include <stdint.h>

struct lease_core {
    char *identity; /* owned */
    uint64_t duration_ns;
    uint64_t renew_deadline_ns;
    char *holder;           /* owned; "" for none */
    char *version;          /* owned; resourceVersion, NULL before the first sight */
    uint64_t held_for_ns;   /* how long the holder asked for */
    uint64_t changed_at_ns; /* when we first saw this version */
    uint64_t leads_until_ns;
};

void lease_core_init(struct lease_core *core, const char *identity, uint64_t duration_ns,
                     uint64_t renew_deadline_ns);
void lease_core_done(struct lease_core *core);
/* The object as it was read or written, at NOW. DURATION_S as it says; below 1: ours. */
void lease_core_see(struct lease_core *core, const char *holder, const char *version,
                    int64_t duration_s, uint64_t now);
/* We hold it by an answer to what was asked at ASKED. */
void lease_core_held(struct lease_core *core, uint64_t asked);
void lease_core_yield(struct lease_core *core);
bool lease_core_leads(const struct lease_core *core, uint64_t now);
bool lease_core_is_ours(const struct lease_core *core);
/* Nobody holds it, we do, or its holder has not moved for as long as it asked for. */
bool lease_core_may_take(const struct lease_core *core, uint64_t now);

#endif
