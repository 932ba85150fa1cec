// SPDX-License-Identifier: Apache-2.0
/* Strategic merge: [target, patch] as a Pod; a failure leaves the target, a success a sane tree. */
#include <osb/api_strategic.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_json_ struct osb_json *pair = NULL;
    _cleanup_json_ struct osb_json *again = NULL;
    _cleanup_buf_ struct osb_buf text = {0};
    if (osb_json_parse(osb_slice(data, size), &pair, NULL) < 0 || osb_json_count(pair) != 2 ||
        osb_json_type(pair) != OSB_JSON_ARRAY)
        return 0;
    _cleanup_json_ struct osb_json *target = osb_json_copy(osb_json_at(pair, 0));
    int r = osb_strategic_merge(&target, osb_json_at(pair, 1), "Pod", NULL);
    if (r < 0 && !osb_json_equal(target, osb_json_at(pair, 0)))
        abort();
    osb_json_print(target, &text);
    if (osb_json_parse(osb_buf_slice(&text), &again, NULL) < 0 || !osb_json_equal(target, again))
        abort();
    return 0;
}
