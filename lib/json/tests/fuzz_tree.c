// SPDX-License-Identifier: Apache-2.0
/* Trees: what was parsed prints as text that parses to an equal tree and prints the same. */
#include <osb/json_tree.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_json_ struct osb_json *first = NULL;
    _cleanup_json_ struct osb_json *second = NULL;
    _cleanup_buf_ struct osb_buf text = {0};
    _cleanup_buf_ struct osb_buf again = {0};
    if (osb_json_parse(osb_slice(data, size), &first, NULL) < 0)
        return 0;
    osb_json_print(first, &text);
    if (osb_json_parse(osb_buf_slice(&text), &second, NULL) < 0 || !osb_json_equal(first, second))
        abort();
    osb_json_print(second, &again);
    if (!osb_slice_eq(osb_buf_slice(&text), osb_buf_slice(&again)))
        abort();
    return 0;
}
