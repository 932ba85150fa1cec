// SPDX-License-Identifier: Apache-2.0
/* Health, version, the clients' own measurements, and the routes that are known but not built. */
#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/metric.h>

#include "rest_request.h"
#include "rest_schema.h"

void rest_health_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_reply(request, 200, OSB_SLICE("{\"status\":\"healthy\"}"));
}

void rest_version_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_reply(request, 200, OSB_SLICE("{\"version\":\"" OPERATOR_VERSION "\"}"));
}

/* ---- events ---- */

static void check_event(const struct osb_json *body, struct rest_problems *problems)
{
    const struct osb_json *type = rest_field(body, "eventType");
    const struct osb_json *duration = rest_field(body, "createDurationMs");
    const struct osb_json *success = rest_field(body, "success");
    if (!osb_slice_eq_str(osb_json_str(type), "sandbox.create"))
        rest_problem_add(problems, "literal_error", "body.eventType", "must be sandbox.create");
    if (!osb_json_is_i64(duration))
        rest_problem_add(problems, "int_parsing", "body.createDurationMs", "must be an integer");
    else if (osb_json_i64_or(duration, 0) < 0)
        rest_problem_add(problems, "greater_than_equal", "body.createDurationMs",
                         "must not be negative");
    if (osb_json_type(success) != OSB_JSON_BOOL)
        rest_problem_add(problems, "bool_parsing", "body.success", "must be true or false");
}

/* One of a few words, since a label's values must be bounded. */
static const char *language_of(struct osb_http_exchange *x)
{
    static const char *const languages[] = {"Python", "JavaScript", "Kotlin", "CSharp", "Go"};
    struct osb_slice agent = OSB_SLICE_NULL;
    struct osb_slice prefix = OSB_SLICE("OpenSandbox-");
    osb_http_header(x, "User-Agent", &agent);
    if (!osb_slice_starts(agent, prefix))
        return "other";
    agent = osb_slice_from(agent, prefix.len);
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
        if (osb_slice_starts(agent, osb_slice_str(languages[i])))
            return languages[i];
    return "other";
}

static void on_event(struct rest_request *request, struct osb_json *body)
{
    enum { MAX_DURATION_MS = 24 * 3600 * 1000 };
    struct rest_error error = {0};
    check_event(body, &error.problems);
    if (rest_error_from_problems(&error) < 0) {
        rest_fail_with(request, &error);
        return;
    }
    int64_t duration_ms = osb_json_i64_or(osb_json_get(body, "createDurationMs"), 0);
    bool is_success = osb_json_bool_or(osb_json_get(body, "success"), false);
    _cleanup_free_ char *labels = osb_asprintf(
        "language=\"%s\",success=\"%s\"", language_of(request->x), is_success ? "true" : "false");
    struct osb_metric *metric =
        osb_metric_new(OSB_METRIC_HISTOGRAM, "opensandbox_client_create_seconds",
                       "Creates as the published clients measured them", labels);
    if (duration_ms > MAX_DURATION_MS)
        duration_ms = MAX_DURATION_MS;
    osb_metric_observe_ns(metric, (uint64_t)duration_ms * OSB_NS_PER_MS);
    rest_reply_empty(request, 204);
}

void rest_event_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_read_body(request, on_event);
}

/* ---- known, not built ---- */

void rest_pause_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_fail(request, 501, REST_NOT_SUPPORTED,
              "pausing and resuming are not built into this server");
}

void rest_snapshot_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_fail(request, 501, "SNAPSHOT::NOT_IMPLEMENTED",
              "snapshots are not built into this server");
}

void rest_pool_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_fail(request, 501, "KUBERNETES::POOL_NOT_SUPPORTED",
              "pools are not built into this server");
}

void rest_proxy_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_fail(request, 501, REST_NOT_SUPPORTED,
              "the server proxy is not built into this server; connect to the sandbox directly");
}

void rest_diagnostics_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_fail(request, 501, REST_NOT_SUPPORTED, "diagnostics are not built into this server");
}

void rest_policy_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_fail(request, 501, REST_NOT_SUPPORTED, "network policy is not built into this server");
}

void rest_template_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_fail(request, 501, "FSB::API_NOT_SUPPORTED", "templates are not built into this server");
}
