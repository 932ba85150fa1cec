// SPDX-License-Identifier: Apache-2.0
// Any bytes as a target: path to the router, query to the parameter decoder.
#include "server.h"

#include <osb/http_router.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_params(struct osb_http_exchange *x, const struct osb_http_params *params,
                         void *arg)
{
    (void)x;
    (void)arg;
    for (int i = 0; i < params->count; i++) {
        if (params->names[i][0] == 'r')
            continue; /* a rest is raw */
        osb_assert(params->values[i].len > 0);
        osb_assert(osb_slice_find(params->values[i], '/') < 0);
        osb_assert(osb_slice_find(params->values[i], '\0') < 0);
    }
}

static struct osb_http_router *make_router(void)
{
    struct osb_http_router *router = osb_http_router_new();
    osb_http_route(router, "GET", "/v1/sandboxes/{id}", check_params, NULL);
    osb_http_route(router, "GET", "/v1/sandboxes/{id}/endpoints/{port}", check_params, NULL);
    osb_http_route(router, "POST", "/v1/sandboxes", check_params, NULL);
    osb_http_route(router, "*", "/{a}/{b}/{rest...}", check_params, NULL);
    return router;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct osb_http_exchange x;
    struct osb_slice target = osb_slice(data, size);
    const char *allow = NULL;
    struct osb_slice value;
    memset(&x, 0, offsetof(struct osb_http_exchange, head));
    x.head.method = OSB_SLICE("GET");
    osb_slice_split(&target, '?', &x.path);
    x.query = target;

    struct osb_http_router *router = make_router();
    int r = osb_http_router_dispatch(router, &x, &allow);
    osb_assert((r == -EPERM) == (allow != NULL));
    osb_http_router_free(router);

    for (size_t i = 0; i < 3; i++)
        (void)osb_http_query_at(&x, "path", i, &value);
    osb_arena_done(&x.arena);
    return 0;
}
