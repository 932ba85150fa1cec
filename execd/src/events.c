// SPDX-License-Identifier: Apache-2.0
#include "events.h"

#include <osb/text.h>

static void append_number(struct osb_buf *out, int64_t number)
{
    char digits[24];
    char *p = digits + sizeof(digits);
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        *--p = '-';
    osb_buf_append(out, p, (size_t)(digits + sizeof(digits) - p));
}

static void end_event(struct osb_buf *out, int64_t now_ms)
{
    osb_buf_append_slice(out, OSB_SLICE(",\"timestamp\":"));
    append_number(out, now_ms);
    osb_buf_append_slice(out, OSB_SLICE("}\n\n"));
}

static void append_quoted(struct osb_buf *out, struct osb_slice text)
{
    osb_buf_append_char(out, '"');
    osb_json_escape(out, text);
    osb_buf_append_char(out, '"');
}

void event_text(struct osb_buf *out, const char *type, struct osb_slice text, int64_t now_ms)
{
    osb_buf_append_slice(out, OSB_SLICE("{\"type\":\""));
    osb_buf_append_str(out, type);
    osb_buf_append_slice(out, OSB_SLICE("\",\"text\":"));
    append_quoted(out, text);
    end_event(out, now_ms);
}

void event_complete(struct osb_buf *out, int64_t execution_ms, int64_t now_ms)
{
    osb_buf_append_str(out, "{\"type\":\"execution_complete\"");
    if (execution_ms != 0) {
        osb_buf_append_str(out, ",\"execution_time\":");
        append_number(out, execution_ms);
    }
    end_event(out, now_ms);
}

void event_error(struct osb_buf *out, const char *name, struct osb_slice value,
                 struct osb_slice traceback, int64_t now_ms)
{
    osb_buf_append_str(out, "{\"type\":\"error\",\"error\":{\"ename\":\"");
    osb_buf_append_str(out, name);
    osb_buf_append_str(out, "\",\"evalue\":");
    append_quoted(out, value);
    osb_buf_append_str(out, ",\"traceback\":[");
    append_quoted(out, traceback);
    osb_buf_append_str(out, "]}");
    end_event(out, now_ms);
}
