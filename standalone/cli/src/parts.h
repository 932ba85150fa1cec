// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of the engine as one table: what starts after what, how it is started, and how it says
 * that it serves. One-shot parts are ready when they have ended with status 0.
 */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "instance.h"

#include <osb/err.h>
#include <stdbool.h>
#include <stddef.h>

enum part_id {
    PART_NET,
    PART_CONTAINERD,
    PART_IMAGES,
    PART_APISERVER,
    PART_NODE,
    PART_OPERATOR,
    PART_COUNT
};

enum { PART_MAX_ARGS = 40, PART_READY_FD = 3 };

enum part_ready {
    READY_BY_FD,     /* writes "ready" to PART_READY_FD */
    READY_BY_SOCKET, /* accepts on its UNIX socket */
    READY_BY_END,    /* one-shot */
};

struct part_command {
    char *argv[PART_MAX_ARGS + 1];
    int count;
    char *socket; /* READY_BY_SOCKET */
};

struct part {
    const char *name;
    const char *title; /* for progress lines */
    unsigned after;    /* bit mask of part ids */
    enum part_ready ready;
    int ready_timeout_s;
    /* Fills the command line; strings are owned by it. */
    void (*command)(const struct instance *instance, struct part_command *command);
};

extern const struct part parts[PART_COUNT];

void part_command_done(struct part_command *command);
/* The part of that name, or NULL. */
const struct part *part_by_name(const char *name);
/* Whether the files that the parts need are there; names the first that is not. */
int parts_check_files(struct osb_err *err);
/* A program beside this one ("opensandbox-node"), or a file of share/. Owned by the caller. */
char *part_program(const char *name);
char *part_share(const char *name);
/* Commands for taking things down. */
void part_net_down(const struct instance *instance, struct part_command *command);
void part_node_purge(const struct instance *instance, struct part_command *command);

#endif
