// SPDX-License-Identifier: Apache-2.0
#include "phase.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/err.h>
#include <osb/metric.h>

#include <stddef.h>

static const char *const names[PHASE_COUNT] = {
    [PHASE_NONE] = "",           [PHASE_PENDING] = "Pending", [PHASE_SUCCEED] = "Succeed",
    [PHASE_PAUSING] = "Pausing", [PHASE_PAUSED] = "Paused",   [PHASE_RESUMING] = "Resuming",
    [PHASE_FAILED] = "Failed",
};

#define TO(phase) (1U << PHASE_##phase)

/*
 * The moves of template mode. Those of a pause belong to whoever pauses: until that is built here,
 * an object in one of its phases is left as it is.
 *
 *     (none) ---> Pending <--> Succeed        Failed is left again when the pods recover
 *        |          |  ^         |  ^
 *        |          v  |         v  |
 *        +--------> Failed <-------> Failed
 */
static const unsigned moves[PHASE_COUNT] = {
    [PHASE_NONE] = TO(PENDING) | TO(SUCCEED) | TO(FAILED),
    [PHASE_PENDING] = TO(SUCCEED) | TO(FAILED),
    [PHASE_SUCCEED] = TO(PENDING) | TO(FAILED),
    [PHASE_FAILED] = TO(PENDING) | TO(SUCCEED),
};

const char *phase_name(enum phase phase)
{
    osb_assert(phase < PHASE_COUNT);
    return names[phase];
}

enum phase phase_parse(struct osb_slice name)
{
    for (enum phase phase = PHASE_PENDING; phase < PHASE_COUNT; phase++)
        if (osb_slice_eq_str(name, names[phase]))
            return phase;
    return PHASE_NONE;
}

bool phase_may_move(enum phase from, enum phase to)
{
    return from == to || (moves[from] & (1U << to));
}

void phase_move(enum phase from, enum phase to)
{
    static struct osb_metric *counters[PHASE_COUNT][PHASE_COUNT];
    osb_assert(phase_may_move(from, to));
    if (from == to)
        return;
    if (!counters[from][to]) {
        _cleanup_free_ char *labels = osb_asprintf(
            "from=\"%s\",to=\"%s\"", from == PHASE_NONE ? "None" : names[from], names[to]);
        counters[from][to] =
            osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_sandbox_phase_moves_total",
                           "Moves of BatchSandboxes from one phase to another", labels);
    }
    osb_metric_add(counters[from][to], 1);
}

bool phase_is_pause(enum phase phase)
{
    return phase == PHASE_PAUSING || phase == PHASE_PAUSED || phase == PHASE_RESUMING;
}
