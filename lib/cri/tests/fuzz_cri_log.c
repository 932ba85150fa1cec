// SPDX-License-Identifier: Apache-2.0
#include <osb/cri_log.h>
#include <osb/err.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is accepted lies inside the input, and ends where the input ends. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct osb_cri_log_line line;

    if (osb_cri_log_parse(osb_slice(data, size), &line) < 0)
        return 0;
    osb_assert(line.timestamp.data == bytes && line.timestamp.len > 0);
    osb_assert(line.text.data >= bytes + line.timestamp.len);
    osb_assert(line.text.data + line.text.len == bytes + size);
    return 0;
}
