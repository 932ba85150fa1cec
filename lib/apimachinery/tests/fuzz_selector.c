// SPDX-License-Identifier: Apache-2.0
/* Both selector languages, and matching by whatever came out. */
#include <osb/api_selector.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct osb_json *object;
    struct osb_selector *selector;
    struct osb_slice text = osb_slice(data, size);
    if (!object && osb_json_parse(OSB_SLICE("{\"a\":\"b\",\"n\":\"5\",\"metadata\":{\"name\":1}}"),
                                  &object, NULL) < 0)
        return 0;
    if (osb_selector_parse_labels(text, &selector, NULL) == 0) {
        osb_selector_matches_labels(selector, object);
        osb_selector_free(selector);
    }
    if (osb_selector_parse_fields(text, &selector, NULL) == 0) {
        osb_selector_matches_fields(selector, object);
        osb_selector_free(selector);
    }
    return 0;
}
