// SPDX-License-Identifier: Apache-2.0
#include "defaults.h"

void default_str(struct osb_json *object, const char *key, const char *value)
{
    if (!osb_json_str(osb_json_get(object, key)).len)
        osb_json_set(object, key, osb_json_new_str(value));
}

void default_i64(struct osb_json *object, const char *key, int64_t value)
{
    if (!osb_json_get(object, key))
        osb_json_set(object, key, osb_json_new_i64(value));
}

void default_bool(struct osb_json *object, const char *key, bool value)
{
    if (!osb_json_get(object, key))
        osb_json_set(object, key, osb_json_new_bool(value));
}

void default_object(struct osb_json *object, const char *key)
{
    if (!osb_json_get(object, key))
        osb_json_set(object, key, osb_json_new_object());
}
