// SPDX-License-Identifier: Apache-2.0
/* YAML: whatever is accepted is a tree that JSON can say. */
#include <osb/yaml.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_json_ struct osb_json *documents = NULL;
    if (osb_yaml_parse_all(osb_slice(data, size), &documents, NULL) < 0)
        return 0;
    for (size_t i = 0; i < osb_json_count(documents); i++) {
        _cleanup_json_ struct osb_json *again = NULL;
        _cleanup_buf_ struct osb_buf text = {0};
        osb_json_print(osb_json_at(documents, i), &text);
        if (osb_json_parse(osb_buf_slice(&text), &again, NULL) < 0 ||
            !osb_json_equal(osb_json_at(documents, i), again))
            abort();
    }
    return 0;
}
