// SPDX-License-Identifier: Apache-2.0
/*
 * YAML (libyaml) read into JSON trees with limits: no aliases or anchors, depth OSB_JSON_MAX_DEPTH,
 * a bound on events, no duplicate keys, string keys only (no merge keys), core schema scalars: only
 * true and false are booleans ("yes" is a string); 0644 is octal, as Kubernetes manifests expect.
 * Infinity, not-a-number and foreign tags are refused. Several documents in one input are allowed
 * by the _all call.
 */
#ifndef OSB_YAML_H
#define OSB_YAML_H

#include <osb/err.h>
#include <osb/json_tree.h>

enum { OSB_YAML_MAX_EVENTS = 250000 };

/* Exactly one document. Errors name line and column. */
int osb_yaml_parse(struct osb_slice text, struct osb_json **ret, struct osb_err *err);
/* All documents as a JSON array; empty ones are left out. */
int osb_yaml_parse_all(struct osb_slice text, struct osb_json **ret_array, struct osb_err *err);

#endif
