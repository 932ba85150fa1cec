// SPDX-License-Identifier: Apache-2.0
/*
 * Whether output texts keep their line ends (design 8.14). Clients of 1.1 and newer of the Python
 * SDK rebuild the output from texts that keep them; all others print one text a line.
 */
#ifndef EXECD_NEWLINES_H
#define EXECD_NEWLINES_H

#include "options.h"

#include <osb/http_server.h>
#include <osb/slice.h>

/* MODE decides; NEWLINES_AUTO asks the User-Agent of X. */
bool keeps_newlines(enum output_newlines mode, const struct osb_http_exchange *x);
/* The rule for NEWLINES_AUTO. */
bool keeps_newlines_for(struct osb_slice user_agent);

#endif
