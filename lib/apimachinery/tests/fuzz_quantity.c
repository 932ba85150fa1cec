// SPDX-License-Identifier: Apache-2.0
/* Quantities: both scales accept the same texts and agree up to the rounding. */
#include <osb/api_quantity.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t milli;
    int64_t units;
    struct osb_slice text = osb_slice(data, size);
    int milli_r = osb_quantity_milli(text, &milli);
    int units_r = osb_quantity_units(text, &units);
    if ((milli_r == -OSB_E_SYNTAX) != (units_r == -OSB_E_SYNTAX))
        abort();
    if (milli_r < 0)
        return 0;
    /* What fits in thousandths fits in units, and is the same, rounded away from zero. */
    int64_t rounded = milli / 1000 + (milli % 1000 > 0) - (milli % 1000 < 0);
    if (units_r < 0 || units != rounded)
        abort();
    return 0;
}
