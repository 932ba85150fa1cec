// SPDX-License-Identifier: Apache-2.0
/* The program's one object: what its routes share. */
#ifndef EXECD_EXECD_H
#define EXECD_EXECD_H

#include "command_record.h"
#include "options.h"
#include "pipe_drain.h"
#include "usage.h"

#include <osb/http_router.h>
#include <osb/http_server.h>
#include <osb/list.h>
#include <osb/loop.h>
#include <osb/secret.h>
#include <osb/stream.h>
#include <sys/resource.h>

struct execd {
    struct execd_options options;
    struct rlimit file_limit; /* as we were started: what commands get */
    struct osb_secret token;  /* empty: no authentication */
    struct osb_loop *loop;
    struct osb_http_server *server;
    struct osb_http_router *router;
    struct osb_listener *listener;
    struct command_records records;
    struct pipe_drains drains;
    struct osb_list kills; /* struct command_kill, running */
    struct osb_defer reap;
    struct usage usage_before; /* what the newest reading is compared with */
    struct usage usage_now;
    struct osb_timer first_usage;
    struct osb_timer drain_timeout;
    bool is_draining;
};

/* Each adds the routes of one subject; ARG of the handlers is the struct execd. */
void command_routes(struct execd *execd);
void file_routes(struct execd *execd);
void directory_routes(struct execd *execd);
void upload_routes(struct execd *execd);
void download_routes(struct execd *execd);
void replace_routes(struct execd *execd);
void metric_routes(struct execd *execd);
/* Routes of the contract that this build does not have: 501 NOT_SUPPORTED. */
void missing_routes(struct execd *execd);

#endif
