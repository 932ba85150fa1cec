// SPDX-License-Identifier: Apache-2.0
/* Output cut anywhere: kept line ends rebuild it, and each event is one line of valid JSON. */
#include "events.h"
#include "lines.h"

#include <osb/err.h>
#include <osb/json_reader.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_event(struct osb_slice text)
{
    _cleanup_buf_ struct osb_buf event = {0};
    struct osb_json_reader r;

    event_text(&event, "stdout", text, 1);
    struct osb_slice line = osb_buf_slice(&event);
    osb_assert(osb_slice_find(line, '\n') == (ptrdiff_t)line.len - 2);
    osb_json_reader_init(&r, line);
    osb_json_skip(&r);
    osb_assert(osb_json_reader_finish(&r, NULL) == 0);
}

static void on_line(struct osb_slice text, void *arg)
{
    osb_assert(text.len > 0 && text.len <= LINE_MAX_TEXT);
    check_event(text);
    osb_buf_append_slice(arg, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t step = (size_t)data[0] % 17 + 1;
    struct osb_slice whole = osb_slice(data + 1, size - 1);
    for (int keeps = 0; keeps < 2; keeps++) {
        _cleanup_buf_ struct osb_buf joined = {0};
        struct lines lines;
        lines_init(&lines, keeps);
        for (struct osb_slice rest = whole; rest.len > 0; rest = osb_slice_from(rest, step))
            lines_feed(&lines, osb_slice_first(rest, step), on_line, &joined);
        lines_end(&lines, on_line, &joined);
        lines_done(&lines);
        osb_assert(!keeps || osb_slice_eq(osb_buf_slice(&joined), whole));
    }
    return 0;
}
