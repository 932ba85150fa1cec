// SPDX-License-Identifier: Apache-2.0
/*
 * Reads request bodies in the Kubernetes protobuf encoding into trees. kubectl's typed commands
 * (create namespace, create secret) and typed clients send it without asking first; answers may be
 * JSON. Only the kinds that such clients send are known, in a table; others are refused.
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <osb/err.h>
#include <osb/json_tree.h>
#include <osb/slice.h>

enum {
    PROTOBUF_MAX_DEPTH = 16,     /* nested messages */
    PROTOBUF_MAX_ITEMS = 100000, /* fields of one body in all */
};

/*
 * BODY is the envelope ("k8s\0", then runtime.Unknown) around one object. -OSB_E_SYNTAX for bytes
 * that are not of this form, -OSB_E_UNSUPPORTED for a kind that is not in the table.
 */
int protobuf_decode(struct osb_slice body, struct osb_json **ret, struct osb_err *err);

#endif
