// SPDX-License-Identifier: Apache-2.0
/*
 * One answer to a request for logs: reads CRI log files, writes the text of their lines, and
 * follows the file while the container runs.
 */
#ifndef NODE_LOG_STREAM_H
#define NODE_LOG_STREAM_H

#include "node.h"

#include <osb/http_server.h>
#include <stdbool.h>
#include <stdint.h>

struct log_query {
    bool is_follow;
    bool has_timestamps;
    bool is_previous;
    int64_t tail_lines;  /* -1: all */
    int64_t since_ns;    /* wall clock; 0: all */
    int64_t limit_bytes; /* -1: no limit */
};

/*
 * Answers X with the log of a container. PATH is the current file; "<PATH>.old" is read before it.
 * UID and INDEX find the pod again: following ends when its container has ended.
 */
void log_stream_start(struct node *node, struct osb_http_exchange *x, const char *path,
                      const char *namespace_, const char *pod, int index,
                      const struct log_query *query);

#endif
