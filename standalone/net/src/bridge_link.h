// SPDX-License-Identifier: Apache-2.0
/* The instance's bridge: made by the CNI plugin with the first sandbox, removed here. */
#ifndef NET_BRIDGE_LINK_H
#define NET_BRIDGE_LINK_H

#include <osb/err.h>

/* A missing link is success. */
int bridge_link_remove(const char *bridge, struct osb_err *err);

#endif
