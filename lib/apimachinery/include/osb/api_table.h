// SPDX-License-Identifier: Apache-2.0
/*
 * Table output (meta/v1 Table) as kubectl asks for it: columns by JSON path from a CRD's
 * additionalPrinterColumns, or by function for core kinds.
 */
#ifndef OSB_API_TABLE_H
#define OSB_API_TABLE_H

#include <osb/json_tree.h>
#include <osb/json_writer.h>
#include <stdbool.h>
#include <stdint.h>

struct osb_api_column {
    const char *name;
    const char *type;        /* string, integer, number, boolean, date */
    const char *format;      /* "name" for the name column, else "" */
    const char *description; /* may be "" */
    int priority;            /* 0 shown always, 1 with -o wide */
    const char *json_path;   /* ".spec.replicas", or NULL with CELL set */
    /* Writes one cell value. NOW for ages. */
    void (*cell)(const struct osb_json *object, int64_t now_ns, struct osb_json_writer *w);
};

/* Writes "columnDefinitions": […] (key included) into an open object. */
void osb_api_table_columns(const struct osb_api_column *columns, int count,
                           struct osb_json_writer *w);
/* Writes the "cells" array of one row (value only): date columns become ages ("5m12s"). */
void osb_api_table_cells(const struct osb_api_column *columns, int count,
                         const struct osb_json *object, int64_t now_ns, struct osb_json_writer *w);
/* An age as kubectl prints it ("12s", "5m3s", "4d2h"). BUFFER holds 24 bytes. */
const char *osb_api_age(int64_t age_ns, char buffer[static 24]);
/* The value at a simple JSON path (".a.b[0].c", ".a['x.y']"); NULL when absent. */
const struct osb_json *osb_api_json_path(const struct osb_json *object, const char *path);

#endif
