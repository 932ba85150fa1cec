// SPDX-License-Identifier: Apache-2.0
#include "byte_range.h"

#include <errno.h>

/* Digits; a number beyond 64 bits is a very large one (it gets cut to the file anyway). */
static int parse_position(struct osb_slice text, uint64_t *ret)
{
    int r = osb_slice_to_u64(text, ret);

    if (r == -ERANGE) {
        *ret = UINT64_MAX;
        return 0;
    }
    return r;
}

static enum byte_range_result parse_suffix(struct osb_slice text, uint64_t size,
                                           struct byte_range *ret)
{
    uint64_t count;

    if (parse_position(text, &count) < 0)
        return RANGE_MALFORMED;
    if (count == 0 || size == 0)
        return RANGE_UNSATISFIABLE;
    if (count > size)
        count = size;
    *ret = (struct byte_range){(int64_t)(size - count), (int64_t)count};
    return RANGE_OK;
}

static enum byte_range_result parse_one(struct osb_slice spec, uint64_t size,
                                        struct byte_range *ret)
{
    ptrdiff_t dash = osb_slice_find(spec, '-');
    uint64_t first;
    uint64_t last = UINT64_MAX;

    if (dash < 0)
        return RANGE_MALFORMED;
    struct osb_slice tail = osb_slice_from(spec, (size_t)dash + 1);
    if (dash == 0)
        return parse_suffix(tail, size, ret);
    if (parse_position(osb_slice_first(spec, (size_t)dash), &first) < 0 ||
        (tail.len > 0 && parse_position(tail, &last) < 0) || last < first)
        return RANGE_MALFORMED;
    if (first >= size)
        return RANGE_UNSATISFIABLE;
    if (last >= size)
        last = size - 1;
    *ret = (struct byte_range){(int64_t)first, (int64_t)(last - first + 1)};
    return RANGE_OK;
}

enum byte_range_result byte_range_parse(struct osb_slice value, int64_t size,
                                        struct byte_range *ret)
{
    struct osb_slice unit = OSB_SLICE("bytes=");
    enum byte_range_result result = RANGE_MALFORMED;
    struct byte_range found;
    struct osb_slice spec;

    if (!osb_slice_ieq(osb_slice_first(value, unit.len), unit))
        return RANGE_MALFORMED;
    struct osb_slice rest = osb_slice_from(value, unit.len);
    while (osb_slice_split(&rest, ',', &spec)) {
        struct byte_range one;
        spec = osb_slice_trim(spec);
        if (spec.len == 0)
            continue;
        enum byte_range_result r = parse_one(spec, (uint64_t)size, &one);
        if (r == RANGE_MALFORMED)
            return r;
        if (result == RANGE_OK)
            continue;
        result = r;
        if (r == RANGE_OK)
            found = one;
    }
    if (result == RANGE_OK)
        *ret = found;
    return result;
}
