// SPDX-License-Identifier: Apache-2.0
#include "schema.h"

#include <osb/alloc.h>
#include <osb/text.h>
#include <stdarg.h>
#include <stdlib.h>

enum { SHOWN_MAX = 256 }; /* bytes of a value in a message */

size_t schema_push_key(struct schema_walk *walk, struct osb_slice key)
{
    size_t mark = walk->path.len;
    if (mark)
        osb_buf_append_char(&walk->path, '.');
    osb_buf_append_slice(&walk->path, key);
    return mark;
}

size_t schema_push_index(struct schema_walk *walk, size_t index)
{
    size_t mark = walk->path.len;
    osb_buf_appendf(&walk->path, "[%zu]", index);
    return mark;
}

void schema_pop(struct schema_walk *walk, size_t mark)
{
    osb_buf_truncate(&walk->path, mark);
}

void schema_problem(struct schema_walk *walk, const char *reason, const char *format, ...)
{
    struct osb_schema_report *report = walk->report;
    walk->problems++;
    if (!report)
        return;
    if (report->count == OSB_SCHEMA_MAX_PROBLEMS) {
        report->is_truncated = true;
        return;
    }
    struct osb_buf message = {0};
    va_list args;
    va_start(args, format);
    osb_buf_vappendf(&message, format, args);
    va_end(args);
    report->problems[report->count++] = (struct osb_schema_problem){
        .path = osb_strdup(osb_buf_cstr(&walk->path)),
        .reason = reason,
        .message = osb_buf_take(&message),
    };
}

void osb_schema_report_done(struct osb_schema_report *report)
{
    for (int i = 0; i < report->count; i++) {
        free(report->problems[i].path);
        free(report->problems[i].message);
    }
    *report = (struct osb_schema_report){0};
}

const struct osb_json *schema_of_member(const struct osb_json *schema, struct osb_slice key)
{
    const struct osb_json *property = osb_json_get_slice(osb_json_get(schema, "properties"), key);
    if (property)
        return property;
    const struct osb_json *additional = osb_json_get(schema, "additionalProperties");
    return osb_json_type(additional) == OSB_JSON_OBJECT ? additional : NULL;
}

bool schema_flag(const struct osb_json *schema, const char *keyword)
{
    return osb_json_bool_or(osb_json_get(schema, keyword), false);
}

char *schema_show(const struct osb_json *value)
{
    struct osb_buf text = {0};
    osb_json_print(value, &text);
    if (text.len > SHOWN_MAX) {
        osb_buf_truncate(&text, SHOWN_MAX);
        /* Not in the middle of a character. */
        while (text.len && !osb_utf8_is_valid(osb_buf_slice(&text)))
            osb_buf_truncate(&text, text.len - 1);
        osb_buf_append_str(&text, "...");
    }
    return osb_buf_take(&text);
}
