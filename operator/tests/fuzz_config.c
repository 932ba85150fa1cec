// SPDX-License-Identifier: Apache-2.0
#include <osb/json_tree.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "toml_to_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[256];
    struct osb_json *tree = NULL;
    struct config config = {0};
    char *json = toml_to_json((const char *)data, size, why, sizeof(why));
    if (json && osb_json_parse(osb_slice_str(json), &tree, NULL) == 0) {
        config_read(tree, &config, NULL);
        config_done(&config);
        osb_json_free(tree);
    }
    free(json);
    return 0;
}
