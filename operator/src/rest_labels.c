// SPDX-License-Identifier: Apache-2.0
#include "rest_labels.h"

#include <osb/api_meta.h>

#include "rest_sandbox.h"

bool rest_label_is_reserved(struct osb_slice key)
{
    return osb_slice_starts(key, OSB_SLICE(SYSTEM_PREFIX "/"));
}

const char *rest_label_problem(struct osb_slice key, struct osb_slice value)
{
    if (rest_label_is_reserved(key))
        return "keys that begin with opensandbox.io/ are the platform's";
    if (!osb_api_is_qualified_name(key))
        return "a key must be a name of at most 63 letters, digits, '-', '_' and '.', with a "
               "letter "
               "or digit at both ends, after an optional DNS prefix and '/'";
    if (!osb_api_is_label_value(value))
        return "a value must be at most 63 letters, digits, '-', '_' and '.', with a letter or "
               "digit at both ends";
    return NULL;
}
