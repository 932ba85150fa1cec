// SPDX-License-Identifier: Apache-2.0
/* Input: method, path, query and Accept header, a line each. */
#include "output.h"
#include "request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct registry registry;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_slice rest = osb_slice(data, size), method, path, query, accept;
    osb_slice_split(&rest, '\n', &method);
    if (!osb_slice_split(&rest, '\n', &path))
        return 0;
    if (!osb_slice_split(&rest, '\n', &query))
        query = OSB_SLICE_NULL;
    if (!osb_slice_split(&rest, '\n', &accept))
        accept = OSB_SLICE_NULL;
    if (!registry.count)
        registry_init(&registry);
    _cleanup_arena_ struct osb_arena arena = {0};
    _cleanup_refusal_ struct refusal refusal = {0};
    struct request request;
    struct output output;
    int r = request_parse(&registry, method, path, query, &arena, &request, &refusal);
    osb_assert(r >= 0 || refusal.status.code >= 400);
    if (r >= 0)
        output_negotiate(accept, &arena, &request, &output, &refusal);
    request_done(&request);
    return 0;
}
