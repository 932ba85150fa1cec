// SPDX-License-Identifier: Apache-2.0
#include "protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_json *tree = NULL;
    if (protobuf_decode(osb_slice(data, size), &tree, NULL) >= 0) {
        struct osb_buf text = {0};
        osb_json_print(tree, &text);
        osb_buf_done(&text);
    }
    osb_json_free(tree);
    return 0;
}
