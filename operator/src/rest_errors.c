// SPDX-License-Identifier: Apache-2.0
#include "rest_errors.h"

#include <osb/json_writer.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rest_problem_add(struct rest_problems *problems, const char *type, const char *place,
                      const char *message)
{
    if (problems->count < REST_MAX_PROBLEMS)
        problems->items[problems->count++] = (struct rest_problem){type, place, message};
}

int rest_error_set(struct rest_error *error, int status, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof(error->message), format, args);
    va_end(args);
    error->status = status;
    error->code = code;
    return -OSB_E_INVALID;
}

int rest_error_from_problems(struct rest_error *error)
{
    const struct rest_problem *first = &error->problems.items[0];
    int more = error->problems.count - 1;
    if (more < 0)
        return 0;
    if (more == 0)
        return rest_error_set(error, 400, REST_INVALID_PARAMETER, "%s: %s", first->place,
                              first->message);
    return rest_error_set(error, 400, REST_INVALID_PARAMETER, "%s: %s (and %d more)", first->place,
                          first->message, more);
}

/* The public server gives the place as a list: "body.timeout" is ["body","timeout"]. */
static void print_place(struct osb_json_writer *w, const char *place)
{
    struct osb_slice rest = osb_slice_str(place);
    struct osb_slice piece;
    osb_json_key(w, "loc");
    osb_json_begin_array(w);
    while (osb_slice_split(&rest, '.', &piece))
        osb_json_slice(w, piece);
    osb_json_end_array(w);
}

static void print_problems(struct osb_json_writer *w, const struct rest_problems *problems)
{
    osb_json_key(w, "detail");
    osb_json_begin_array(w);
    for (int i = 0; i < problems->count; i++) {
        osb_json_begin_object(w);
        osb_json_kv_string(w, "type", problems->items[i].type);
        print_place(w, problems->items[i].place);
        osb_json_kv_string(w, "msg", problems->items[i].message);
        osb_json_end_object(w);
    }
    osb_json_end_array(w);
}

static void print_message(struct osb_json_writer *w, const char *message)
{
    char text[REST_MAX_MESSAGE];
    snprintf(text, sizeof(text), "%s", message);
    for (char *p = text; *p; p++)
        *p = *p == '[' ? '(' : *p == ']' ? ')' : *p;
    osb_json_kv_string(w, "message", text);
}

void rest_error_print(struct osb_buf *out, const char *code, const char *message,
                      const struct rest_problems *problems)
{
    struct osb_json_writer w;
    osb_json_writer_init(&w, out);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "code", code);
    print_message(&w, message);
    if (problems && problems->count > 0)
        print_problems(&w, problems);
    osb_json_end_object(&w);
    osb_assert(osb_json_writer_finish(&w, NULL) == 0);
}

void rest_error_body(int status, const char *message, struct osb_buf *out)
{
    const char *code = status == 413   ? "GENERAL::BODY_TOO_LARGE"
                       : status == 503 ? "GENERAL::OVERLOADED"
                                       : "GENERAL::BAD_REQUEST";
    rest_error_print(out, code, message, NULL);
}
