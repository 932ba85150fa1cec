// SPDX-License-Identifier: Apache-2.0
/* An operator in memory: the controller on the fake API server. Killing it loses all it knew. */
#ifndef OPERATOR_TEST_PROCESS_H
#define OPERATOR_TEST_PROCESS_H

#include "fake_api.h"
#include "operator.h"

struct process {
    struct operator op;
    struct config config;
    bool is_execd_up; /* what the fake execds answer */
    int asked;
};

struct process *process_start(struct fake_api *api, uint64_t seed);
void process_kill(struct process *process);

#endif
