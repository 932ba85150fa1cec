// SPDX-License-Identifier: Apache-2.0
// Query parameters in the way of HTML forms: "a=1&b=x+y", both sides percent-encoded.
#include "server.h"

#include <osb/text.h>

/* DECODED is cleared first; false when ENCODED is malformed. */
static bool decode(struct osb_buf *decoded, struct osb_slice encoded)
{
    osb_buf_clear(decoded);
    return osb_percent_decode(decoded, encoded, true) >= 0 && decoded->err == 0;
}

static void cut(struct osb_slice pair, struct osb_slice *ret_name, struct osb_slice *ret_value)
{
    ptrdiff_t equals = osb_slice_find(pair, '=');
    *ret_name = equals < 0 ? pair : osb_slice_first(pair, (size_t)equals);
    *ret_value = equals < 0 ? OSB_SLICE_NULL : osb_slice_from(pair, (size_t)equals + 1);
}

bool osb_http_query_at(struct osb_http_exchange *x, const char *name, size_t index,
                       struct osb_slice *ret)
{
    _cleanup_buf_ struct osb_buf decoded = {0};
    struct osb_slice rest = osb_http_raw_query(x);
    struct osb_slice pair;
    while (osb_slice_split(&rest, '&', &pair)) {
        struct osb_slice key;
        struct osb_slice value;
        cut(pair, &key, &value);
        if (!decode(&decoded, key) || !osb_slice_eq_str(osb_buf_slice(&decoded), name))
            continue;
        if (index-- > 0)
            continue;
        if (!decode(&decoded, value))
            return false;
        if (ret) {
            struct osb_slice plain = osb_buf_slice(&decoded);
            *ret = osb_slice(osb_arena_slice_dup(osb_http_arena(x), plain), plain.len);
        }
        return true;
    }
    return false;
}
