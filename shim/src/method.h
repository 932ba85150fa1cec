// SPDX-License-Identifier: Apache-2.0
/*
 * The methods of CRI (runtime.v1) that we know by name: how each is passed on, and the label that
 * stands for it in metrics. All others share one label and the way that fits every kind of call.
 */
#ifndef SHIM_METHOD_H
#define SHIM_METHOD_H

#include <osb/rpc.h>
#include <osb/slice.h>
#include <stdbool.h>

enum { METHOD_OTHER = 0, METHOD_COUNT = 36 };

/* An index below METHOD_COUNT; METHOD_OTHER for what is not in the table. */
int method_find(struct osb_slice path);
/* "CreateContainer"; "other". */
const char *method_name(int method);
enum osb_rpc_route method_route(int method);
/* Streams last as long as somebody listens, so their duration says nothing. */
bool method_is_stream(int method);

#endif
