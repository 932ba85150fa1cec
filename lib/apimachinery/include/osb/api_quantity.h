// SPDX-License-Identifier: Apache-2.0
/* Resource quantities ("100m", "2Gi", "1.5", "1e3"; apimachinery resource.Quantity). */
#ifndef OSB_API_QUANTITY_H
#define OSB_API_QUANTITY_H

#include <osb/err.h>
#include <osb/slice.h>
#include <stdint.h>

/* In thousandths, rounded up ("100m" is 100, "1" is 1000). -OSB_E_SYNTAX or -ERANGE. */
int osb_quantity_milli(struct osb_slice text, int64_t *ret_milli);
/* In units, rounded up ("2Gi" is 2147483648, "100m" is 1). */
int osb_quantity_units(struct osb_slice text, int64_t *ret_units);

#endif
