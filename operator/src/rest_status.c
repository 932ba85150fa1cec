// SPDX-License-Identifier: Apache-2.0
#include "rest_status.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A word begins where a capital follows a small letter, or is followed by one. */
static bool begins_word(const char *text, size_t i)
{
    if (i == 0 || !isupper((unsigned char)text[i]))
        return false;
    return islower((unsigned char)text[i - 1]) || islower((unsigned char)text[i + 1]);
}

void rest_reason_format(const char *reason, char buffer[static REST_MAX_REASON])
{
    size_t len = 0;
    for (size_t i = 0; reason[i] && len + 2 < REST_MAX_REASON; i++) {
        if (begins_word(reason, i))
            buffer[len++] = '_';
        buffer[len++] =
            isalnum((unsigned char)reason[i]) ? (char)toupper((unsigned char)reason[i]) : '_';
    }
    buffer[len] = '\0';
}

static const struct {
    enum phase phase;
    const char *state;
    const char *reason;
    const char *message;
    const char *condition; /* whose words are better, while it is true */
} states[] = {
    {PHASE_NONE, "Pending", "BATCHSANDBOX_PENDING", "Sandbox is pending", "Progressing"},
    {PHASE_PENDING, "Pending", "CREATING", "Sandbox is being created", "Progressing"},
    {PHASE_SUCCEED, "Running", "RUNNING", "Sandbox is running", "Ready"},
    {PHASE_PAUSING, "Pausing", "PAUSING", "Sandbox is being paused", NULL},
    {PHASE_PAUSED, "Paused", "PAUSED", "Sandbox is paused", "Paused"},
    {PHASE_RESUMING, "Resuming", "RESUMING", "Sandbox is being resumed", NULL},
    {PHASE_FAILED, "Failed", "FAILED", "Sandbox has failed", "PodFailed"},
};

/* Conditions whose reasons say no more than the state. */
static bool is_plain(const char *reason)
{
    return !reason || strcmp(reason, "PodsReady") == 0 || strcmp(reason, "Creating") == 0;
}

static void take_words(struct rest_status *status, const struct condition *condition)
{
    if (!condition)
        return;
    if (condition->last_transition_ns)
        status->transition_ns = condition->last_transition_ns;
    if (is_plain(condition->reason))
        return;
    rest_reason_format(condition->reason, status->reason);
    if (condition->message && condition->message[0])
        status->message = condition->message;
}

/* A main process that ended with 0 has not failed. */
static bool has_completed(const struct batchsandbox *bs)
{
    const struct condition *failed = batchsandbox_condition(bs, "PodFailed");
    return failed && failed->reason && strcmp(failed->reason, "Completed") == 0;
}

struct rest_status rest_status_of(const struct batchsandbox *bs)
{
    struct rest_status status = {.transition_ns = bs->created_ns};
    if (bs->is_deleting) {
        status.state = "Stopping";
        status.message = "Sandbox is being deleted";
        snprintf(status.reason, sizeof(status.reason), "DELETING");
        return status;
    }
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (states[i].phase != bs->status.phase)
            continue;
        status.state = states[i].state;
        status.message = states[i].message;
        snprintf(status.reason, sizeof(status.reason), "%s", states[i].reason);
        if (states[i].condition)
            take_words(&status, batchsandbox_condition(bs, states[i].condition));
    }
    osb_assert(status.state);
    /* A pause that failed leaves the sandbox running; its caller must hear of it. */
    if (bs->status.phase == PHASE_SUCCEED)
        take_words(&status, batchsandbox_condition(bs, "PauseFailed"));
    if (bs->status.phase == PHASE_FAILED && has_completed(bs))
        status.state = "Terminated";
    return status;
}
