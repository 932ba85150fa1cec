// SPDX-License-Identifier: Apache-2.0
#include <osb/json_tree.h>

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_json *tree = NULL;
    struct config config = {0};
    if (toml_parse(osb_slice(data, size), &tree, NULL) < 0)
        return 0;
    config_read(tree, &config, NULL);
    config_done(&config);
    osb_json_free(tree);
    return 0;
}
