// SPDX-License-Identifier: Apache-2.0
// Any bytes as a chunked body: the same content, end and verdict at once and byte by byte.
#include <osb/http.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ptrdiff_t decode(struct osb_slice input, size_t step, struct osb_buf *out)
{
    struct osb_http_head head = {.is_chunked = true};
    struct osb_http_body body;
    size_t pos = 0;
    osb_http_body_init(&body, &head);
    while (pos < input.len && !body.is_done) {
        struct osb_slice content;
        struct osb_slice piece = osb_slice_first(osb_slice_from(input, pos), step);
        ptrdiff_t n = osb_http_body_decode(&body, piece, &content, NULL);
        if (n < 0)
            return n;
        osb_assert(n > 0 && (size_t)n <= piece.len);
        osb_buf_append_slice(out, content);
        pos += (size_t)n;
    }
    return (ptrdiff_t)pos;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_buf whole = {0};
    struct osb_buf bytes = {0};
    ptrdiff_t a = decode(osb_slice(data, size), SIZE_MAX, &whole);
    ptrdiff_t b = decode(osb_slice(data, size), 1, &bytes);
    osb_assert(a == b);
    osb_assert(osb_slice_eq(osb_buf_slice(&whole), osb_buf_slice(&bytes)));
    osb_buf_done(&whole);
    osb_buf_done(&bytes);
    return 0;
}
