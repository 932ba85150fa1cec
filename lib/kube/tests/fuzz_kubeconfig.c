// SPDX-License-Identifier: Apache-2.0
#include <osb/kube_config.h>

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_kube_config config = {0};
    osb_kube_config_parse(osb_slice(data, size), "/", &config, NULL);
    osb_kube_config_done(&config);
    return 0;
}
