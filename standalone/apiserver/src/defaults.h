// SPDX-License-Identifier: Apache-2.0
/* Filling what is absent in a tree. */
#ifndef DEFAULTS_H
#define DEFAULTS_H

#include <osb/json_tree.h>

void default_str(struct osb_json *object, const char *key, const char *value);
void default_i64(struct osb_json *object, const char *key, int64_t value);
void default_bool(struct osb_json *object, const char *key, bool value);
void default_object(struct osb_json *object, const char *key);

#endif
