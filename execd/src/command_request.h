// SPDX-License-Identifier: Apache-2.0
/* The body of POST /command (execd contract 5.1, 16.6). */
#ifndef EXECD_COMMAND_REQUEST_H
#define EXECD_COMMAND_REQUEST_H

#include <osb/arena.h>
#include <osb/err.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

struct command_variable {
    struct osb_slice name;
    struct osb_slice value;
};

struct command_request {
    struct osb_slice content; /* what the status route shows */
    const char *command;      /* for a shell, or NULL */
    const char *const *argv;  /* without a shell, NULL-terminated, or NULL */
    struct osb_slice cwd;     /* not expanded; empty: execd's own */
    bool is_background;
    int64_t timeout_ms; /* 0: none */
    bool has_uid;
    bool has_gid;
    uint32_t uid;
    uint32_t gid;
    struct command_variable *variables;
    size_t variable_count;
};

/* Everything lives in ARENA or BODY. -OSB_E_INVALID, -OSB_E_SYNTAX, -OSB_E_TOO_DEEP. */
int command_request_parse(struct osb_slice body, struct osb_arena *arena,
                          struct command_request *ret, struct osb_err *err);

#endif
