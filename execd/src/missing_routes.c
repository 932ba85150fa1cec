// SPDX-License-Identifier: Apache-2.0
/* What the contract has and this build does not: a typed answer instead of a silent one. */
#include "execd.h"
#include "reply.h"

static void not_supported(struct osb_http_exchange *x, const struct osb_http_params *params,
                          void *arg)
{
    (void)params;
    (void)arg;
    reply_error(x, 501, "NOT_SUPPORTED", "this execd does not have that route");
}

static const char *const patterns[] = {
    "/session",
    "/session/{rest...}",
    "/pty",
    "/pty/{rest...}",
    "/code",
    "/code/{rest...}",

    "/proxy/{rest...}",
    "/v1/isolated/{rest...}",
    "/ready",
    "/internal/init",

    "/v1/filesystem/{rest...}",
};

void missing_routes(struct execd *execd)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        osb_http_route(execd->router, "*", patterns[i], not_supported, execd);
}
