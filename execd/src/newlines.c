// SPDX-License-Identifier: Apache-2.0
#include "newlines.h"

/* "1.10.2" is 1 and 10; false when TEXT does not start with two numbers. */
static bool parse_version(struct osb_slice text, uint64_t *ret_major, uint64_t *ret_minor)
{
    uint64_t numbers[2];

    for (int i = 0; i < 2; i++) {
        size_t digits = 0;
        while (digits < text.len && text.data[digits] >= '0' && text.data[digits] <= '9')
            digits++;
        if (osb_slice_to_u64(osb_slice_first(text, digits), &numbers[i]) < 0)
            return false;
        text = osb_slice_from(text, digits);
        if (i == 0 && (text.len == 0 || text.data[0] != '.'))
            return false;
        text = osb_slice_from(text, 1);
    }
    *ret_major = numbers[0];
    *ret_minor = numbers[1];
    return true;
}

bool keeps_newlines_for(struct osb_slice user_agent)
{
    struct osb_slice product = OSB_SLICE("OpenSandbox-Python-SDK/");
    uint64_t major;
    uint64_t minor;

    if (!osb_slice_ieq(osb_slice_first(user_agent, product.len), product) ||
        !parse_version(osb_slice_from(user_agent, product.len), &major, &minor))
        return false;
    return major > 1 || (major == 1 && minor >= 1);
}

bool keeps_newlines(enum output_newlines mode, const struct osb_http_exchange *x)
{
    struct osb_slice user_agent = OSB_SLICE_NULL;

    if (mode != NEWLINES_AUTO)
        return mode == NEWLINES_KEEP;
    return osb_http_header(x, "User-Agent", &user_agent) && keeps_newlines_for(user_agent);
}
