// SPDX-License-Identifier: Apache-2.0
// Any bytes as a request head and as a response head.
#include <osb/http.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_slice(struct osb_slice s, struct osb_slice input)
{
    osb_assert(s.len == 0 || (s.data >= input.data && s.data + s.len <= input.data + input.len));
}

static void check_head(const struct osb_http_head *head, struct osb_slice input)
{
    check_slice(head->method, input);
    check_slice(head->target, input);
    check_slice(head->reason, input);
    osb_assert(head->header_count <= OSB_HTTP_MAX_HEADERS);
    for (int i = 0; i < head->header_count; i++) {
        check_slice(head->headers[i].name, input);
        check_slice(head->headers[i].value, input);
        osb_assert(osb_http_value_is_valid(head->headers[i].value));
    }
    osb_assert(!(head->has_length && head->is_chunked));
    osb_assert(!head->is_chunked || head->minor_version == 1);
}

static void check(struct osb_slice input, bool is_response)
{
    static struct osb_http_head head;
    struct osb_err err = {0};
    ptrdiff_t n = osb_http_head_parse(input, is_response, &head, &err);
    if (n < 0) {
        osb_assert(err.code == n && err.http_status >= 400 && err.message[0]);
        return;
    }
    osb_assert((size_t)n <= input.len);
    if (n == 0)
        return;
    check_head(&head, input);
    /* What is accepted needs its last byte, and nothing behind it. */
    osb_assert(osb_http_head_parse(osb_slice_first(input, (size_t)n), is_response, &head, NULL) ==
               n);
    osb_assert(
        osb_http_head_parse(osb_slice_first(input, (size_t)n - 1), is_response, &head, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(osb_slice(data, size), false);
    check(osb_slice(data, size), true);
    return 0;
}
