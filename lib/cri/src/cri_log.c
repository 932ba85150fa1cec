// SPDX-License-Identifier: Apache-2.0
#include <osb/clock.h>
#include <osb/cri_log.h>
#include <osb/err.h>

/* Tags are joined by ':'; the first one says whether the line goes on. */
static int parse_tags(struct osb_slice tags, bool *ret_is_partial)
{
    struct osb_slice first;

    osb_slice_split(&tags, ':', &first);
    if (osb_slice_eq_str(first, "P"))
        *ret_is_partial = true;
    else if (osb_slice_eq_str(first, "F"))
        *ret_is_partial = false;
    else
        return -OSB_E_SYNTAX;
    return 0;
}

static int parse_stream(struct osb_slice stream, bool *ret_is_stderr)
{
    if (osb_slice_eq_str(stream, "stderr"))
        *ret_is_stderr = true;
    else if (osb_slice_eq_str(stream, "stdout"))
        *ret_is_stderr = false;
    else
        return -OSB_E_SYNTAX;
    return 0;
}

/* Cuts a field and the blank behind it, which has to be there, off *REST. */
static int cut(struct osb_slice *rest, struct osb_slice *ret)
{
    ptrdiff_t end = osb_slice_find(*rest, ' ');

    if (end < 0)
        return -OSB_E_SYNTAX;
    *ret = osb_slice_first(*rest, (size_t)end);
    *rest = osb_slice_from(*rest, (size_t)end + 1);
    return 0;
}

int osb_cri_log_parse(struct osb_slice line, struct osb_cri_log_line *ret)
{
    struct osb_cri_log_line parsed = {0};
    struct osb_slice stream, tags;

    if (cut(&line, &parsed.timestamp) < 0 || cut(&line, &stream) < 0 || cut(&line, &tags) < 0 ||
        osb_rfc3339_parse(parsed.timestamp, &parsed.realtime_ns) < 0 ||
        parse_stream(stream, &parsed.is_stderr) < 0 || parse_tags(tags, &parsed.is_partial) < 0)
        return -OSB_E_SYNTAX;
    parsed.text = line;
    *ret = parsed;
    return 0;
}
