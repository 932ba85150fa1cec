// SPDX-License-Identifier: Apache-2.0
#include "lease_core.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/kube_lease.h>

#include <stdlib.h>
#include <string.h>

void lease_core_init(struct lease_core *core, const char *identity, uint64_t duration_ns,
                     uint64_t renew_deadline_ns)
{
    *core = (struct lease_core){
        .identity = osb_strdup(identity),
        .duration_ns = duration_ns,
        .renew_deadline_ns = renew_deadline_ns,
        .holder = osb_strdup(""),
    };
}

void lease_core_done(struct lease_core *core)
{
    free(core->identity);
    free(core->holder);
    free(core->version);
}

static void replace(char **text, const char *with)
{
    char *copy = osb_strdup(with);
    free(*text);
    *text = copy;
}

void lease_core_see(struct lease_core *core, const char *holder, const char *version,
                    int64_t duration_s, uint64_t now)
{
    if (core->version && strcmp(core->version, version) == 0)
        return; /* the clock of this version runs already */
    replace(&core->holder, holder);
    replace(&core->version, version);
    core->changed_at_ns = now;
    core->held_for_ns = core->duration_ns;
    if (duration_s >= 1)
        core->held_for_ns = (uint64_t)duration_s < OSB_LEASE_MAX_DURATION_MS / 1000
                                ? (uint64_t)duration_s * OSB_NS_PER_S
                                : OSB_LEASE_MAX_DURATION_MS * OSB_NS_PER_MS;
    if (!lease_core_is_ours(core))
        lease_core_yield(core);
}

void lease_core_held(struct lease_core *core, uint64_t asked)
{
    core->leads_until_ns = asked + core->renew_deadline_ns;
}

void lease_core_yield(struct lease_core *core)
{
    core->leads_until_ns = 0;
}

bool lease_core_leads(const struct lease_core *core, uint64_t now)
{
    return now < core->leads_until_ns;
}

bool lease_core_is_ours(const struct lease_core *core)
{
    return strcmp(core->holder, core->identity) == 0;
}

bool lease_core_may_take(const struct lease_core *core, uint64_t now)
{
    return !core->holder[0] || lease_core_is_ours(core) ||
           now >= core->changed_at_ns + core->held_for_ns;
}
