// SPDX-License-Identifier: Apache-2.0
/* Whatever parses as a time must survive being formatted and parsed again; so must a duration. */
#include <osb/clock.h>
#include <osb/err.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t ns, again;
    struct osb_slice text = osb_slice(data, size);
    if (osb_rfc3339_parse(text, &ns) == 0) {
        char buffer[OSB_RFC3339_MAX];
        osb_rfc3339_format(buffer, ns, 9);
        osb_assert(osb_rfc3339_parse(osb_slice_str(buffer), &again) == 0);
        osb_assert(again == ns);
    }
    if (osb_duration_parse(text, &ns) == 0 && size && data[0] != '-')
        osb_assert(ns >= 0);
    return 0;
}
