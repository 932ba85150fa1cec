// SPDX-License-Identifier: Apache-2.0
/* GET /command/{id}/logs?cursor= (execd contract 5.8): the kept output, raw, from a byte offset. */
#ifndef EXECD_COMMAND_LOGS_H
#define EXECD_COMMAND_LOGS_H

#include "execd.h"

/*
 * Sends what RECORD keeps from CURSOR to the present end, streamed. Where older bytes are gone a
 * line in brackets says how many.
 */
void command_logs(struct osb_http_exchange *x, struct execd *execd, struct command_record *record,
                  uint64_t cursor);

#endif
