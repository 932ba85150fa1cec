// SPDX-License-Identifier: Apache-2.0
/* Escaped text is valid UTF-8 without controls and line splitters, and does not depend on cuts. */
#include <osb/err.h>
#include <osb/text.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_buf_ struct osb_buf whole = {0}, pieces = {0};
    struct osb_slice text = osb_slice(data, size);
    osb_json_escape(&whole, text);
    struct osb_slice out = osb_buf_slice(&whole);
    osb_assert(osb_utf8_is_valid(out));
    osb_assert(out.len >= size);
    for (size_t i = 0; i < out.len; i++)
        osb_assert((unsigned char)out.data[i] >= 0x20);
    osb_assert(osb_slice_find_slice(out, OSB_SLICE("\xc2\x85")) < 0);
    osb_assert(osb_slice_find_slice(out, OSB_SLICE("\xe2\x80\xa8")) < 0);
    osb_assert(osb_slice_find_slice(out, OSB_SLICE("\xe2\x80\xa9")) < 0);

    while (text.len) {
        int length = osb_utf8_sequence(text);
        struct osb_slice piece = osb_slice_first(text, length > 0 ? (size_t)length : 1);
        osb_json_escape(&pieces, piece);
        text = osb_slice_from(text, piece.len);
    }
    osb_assert(osb_slice_eq(out, osb_buf_slice(&pieces)));
    return 0;
}
