// SPDX-License-Identifier: Apache-2.0
/* The columns that kubectl shows for core kinds. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <osb/api_table.h>

struct columns {
    const struct osb_api_column *items;
    int count;
};

extern const struct columns columns_pod;
extern const struct columns columns_secret;
extern const struct columns columns_event;
extern const struct columns columns_namespace;
extern const struct columns columns_node;
extern const struct columns columns_lease;

#endif
