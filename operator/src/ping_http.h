// SPDX-License-Identifier: Apache-2.0
/* Asks execd by HTTP: GET /ping on the pod's address. */
#ifndef OPERATOR_PING_HTTP_H
#define OPERATOR_PING_HTTP_H

#include <osb/http_client.h>

#include "ping.h"

/* CLIENT is borrowed and outlives the asker. */
struct ping_asker ping_http_asker(struct osb_http_client *client);

#endif
