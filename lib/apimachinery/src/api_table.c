// SPDX-License-Identifier: Apache-2.0
#include <osb/api_table.h>

#include <osb/clock.h>
#include <string.h>

void osb_api_table_columns(const struct osb_api_column *columns, int count,
                           struct osb_json_writer *w)
{
    osb_json_key(w, "columnDefinitions");
    osb_json_begin_array(w);
    for (int i = 0; i < count; i++) {
        osb_json_begin_object(w);
        osb_json_kv_string(w, "name", columns[i].name);
        osb_json_kv_string(w, "type", columns[i].type);
        osb_json_kv_string(w, "format", columns[i].format ? columns[i].format : "");
        osb_json_kv_string(w, "description", columns[i].description ? columns[i].description : "");
        osb_json_kv_i64(w, "priority", columns[i].priority);
        osb_json_end_object(w);
    }
    osb_json_end_array(w);
}

static void date_cell(const struct osb_json *value, int64_t now_ns, struct osb_json_writer *w)
{
    char age[24];
    int64_t then_ns;
    struct osb_slice text = osb_json_str(value);
    if (text.len == 0)
        osb_json_string(w, "<unknown>");
    else if (osb_rfc3339_parse(text, &then_ns) < 0)
        osb_json_string(w, "<invalid>");
    else
        osb_json_string(w, osb_api_age(now_ns - then_ns, age));
}

/* Anything but a scalar shows as its JSON text in a string column. */
static void string_cell(const struct osb_json *value, struct osb_json_writer *w)
{
    _cleanup_buf_ struct osb_buf text = {0};
    if (osb_json_type(value) == OSB_JSON_STRING) {
        osb_json_slice(w, osb_json_str(value));
        return;
    }
    osb_json_print(value, &text);
    osb_json_slice(w, osb_buf_slice(&text));
}

/* A value that does not fit the column's type is an empty cell, as an absent one is. */
static void typed_cell(const struct osb_json *value, const char *type, struct osb_json_writer *w)
{
    enum osb_json_type found = osb_json_type(value);
    if (found == OSB_JSON_NONE || found == OSB_JSON_NULL)
        osb_json_null(w);
    else if (strcmp(type, "string") == 0)
        string_cell(value, w);
    else if (strcmp(type, "boolean") == 0 && found == OSB_JSON_BOOL)
        osb_json_bool(w, osb_json_bool_or(value, false));
    else if (strcmp(type, "integer") == 0 && osb_json_is_i64(value))
        osb_json_i64(w, osb_json_i64_or(value, 0));
    else if (strcmp(type, "number") == 0 && found == OSB_JSON_NUMBER)
        osb_json_double(w, osb_json_double_or(value, 0));
    else
        osb_json_null(w);
}

void osb_api_table_cells(const struct osb_api_column *columns, int count,
                         const struct osb_json *object, int64_t now_ns, struct osb_json_writer *w)
{
    osb_json_begin_array(w);
    for (int i = 0; i < count; i++) {
        const struct osb_api_column *column = &columns[i];
        if (column->cell) {
            column->cell(object, now_ns, w);
            continue;
        }
        const struct osb_json *value = osb_api_json_path(object, column->json_path);
        if (strcmp(column->type, "date") == 0)
            date_cell(value, now_ns, w);
        else
            typed_cell(value, column->type, w);
    }
    osb_json_end_array(w);
}
