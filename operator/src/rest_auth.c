// SPDX-License-Identifier: Apache-2.0
#include "rest_auth.h"

#include <osb/log.h>

#define KEY_HEADER "OPEN-SANDBOX-API-KEY"

static bool has_key(const struct config_server *config)
{
    return osb_slice_trim(osb_secret_reveal(&config->api_key)).len > 0;
}

int rest_auth_check_config(const struct config_server *config, struct osb_err *err)
{
    if (has_key(config))
        return 0;
    if (!config->is_insecure)
        return osb_fail(err, -OSB_E_INVALID,
                        "no API key: set server.api_key (or OPENSANDBOX_SERVER_API_KEY), or allow "
                        "everybody with OPENSANDBOX_INSECURE_SERVER=YES");
    osb_log(OSB_LOG_WARN, "no API key: everybody who reaches the port may use the REST API");
    return 0;
}

/* By prefix, as the public server does; what is behind them tells nothing about sandboxes. */
static bool is_open(struct osb_slice path)
{
    static const char *const prefixes[] = {"/health", "/version", "/docs", "/redoc",
                                           "/openapi.json"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (osb_slice_starts(path, osb_slice_str(prefixes[i])))
            return true;
    return false;
}

bool rest_auth_admit(struct rest_request *request)
{
    const struct config_server *config = &request->rest->op->config->server;
    struct osb_slice given = OSB_SLICE_NULL;
    if (!has_key(config) || is_open(osb_http_raw_path(request->x)))
        return true;
    osb_http_header(request->x, KEY_HEADER, &given);
    if (given.len == 0)
        rest_fail(request, 401, "MISSING_API_KEY", "the header " KEY_HEADER " is missing");
    else if (!osb_secret_eq(&config->api_key, given))
        rest_fail(request, 401, "INVALID_API_KEY", "the API key is wrong");
    else
        return true;
    return false;
}

/* ---- browsers: any origin, because the key and no cookie says who asks ---- */

static void add_common(struct osb_http_exchange *x, struct osb_slice origin)
{
    osb_http_reply_header(x, "Access-Control-Allow-Origin", origin);
    osb_http_reply_header(x, "Access-Control-Allow-Credentials", OSB_SLICE("true"));
}

bool rest_cors(struct rest_request *request)
{
    struct osb_http_exchange *x = request->x;
    struct osb_slice origin;
    struct osb_slice asked;
    osb_http_reply_header(x, "Vary", OSB_SLICE("Origin"));
    if (!osb_http_header(x, "Origin", &origin))
        return false;
    add_common(x, origin);
    if (!osb_slice_eq_str(osb_http_method(x), "OPTIONS") ||
        !osb_http_header(x, "Access-Control-Request-Method", NULL)) {
        osb_http_reply_header(x, "Access-Control-Expose-Headers",
                              OSB_SLICE("OPEN-SANDBOX-ORIGIN, X-Request-ID"));
        return false;
    }
    osb_http_reply_header(x, "Access-Control-Allow-Methods",
                          OSB_SLICE("DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"));
    if (osb_http_header(x, "Access-Control-Request-Headers", &asked))
        osb_http_reply_header(x, "Access-Control-Allow-Headers", asked);
    osb_http_reply_header(x, "Access-Control-Max-Age", OSB_SLICE("600"));
    rest_reply_empty(request, 200);
    return true;
}
