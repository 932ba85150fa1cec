// SPDX-License-Identifier: Apache-2.0
/* Merge patch: [from, to]; the diff of the two, applied to the first, gives the second. */
#include <osb/json_patch.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_json_ struct osb_json *pair = NULL;
    if (osb_json_parse(osb_slice(data, size), &pair, NULL) < 0 || osb_json_count(pair) != 2 ||
        osb_json_type(pair) != OSB_JSON_ARRAY)
        return 0;
    _cleanup_json_ struct osb_json *from = osb_json_copy(osb_json_at(pair, 0));
    _cleanup_json_ struct osb_json *to = osb_json_copy(osb_json_at(pair, 0));
    /* Members that are null cannot be reached by a merge patch; a patched tree is reachable. */
    osb_json_merge_patch(&to, osb_json_at(pair, 1));
    _cleanup_json_ struct osb_json *diff = osb_json_merge_diff(from, to);
    osb_json_merge_patch(&from, diff);
    if (!osb_json_equal(from, to))
        abort();
    return 0;
}
