// SPDX-License-Identifier: Apache-2.0
/* The pod of one index: template, shard patch, what is ours, and execd where the template asks. */
#ifndef OPERATOR_POD_BUILD_H
#define OPERATOR_POD_BUILD_H

#include <osb/json_tree.h>

#include "batchsandbox.h"
#include "config.h"

/*
 * A new tree in *RET, the caller's. -OSB_E_INVALID with what is wrong when the template or the
 * shard patch cannot give a pod, -OSB_E_UNSUPPORTED when it asks for an execd that CONFIG does not
 * say how to put in.
 */
int pod_build(const struct batchsandbox *bs, int index, const struct config *config,
              struct osb_json **ret, struct osb_err *err);

/* Name of the Secret with the tokens of BS; the caller's. */
char *tokens_name(const struct batchsandbox *bs);
/* The Secret with new random tokens, owned by BS; a new tree. */
struct osb_json *tokens_build(const struct batchsandbox *bs);
/* An owner reference to BS, as its controller. */
struct osb_json *owner_reference(const struct batchsandbox *bs);

#endif
