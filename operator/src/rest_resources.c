// SPDX-License-Identifier: Apache-2.0
#include "rest_resources.h"

#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/api_quantity.h>

#include <stdio.h>

#define GPU          "gpu" /* the clients' word */
#define GPU_RESOURCE "nvidia.com/gpu"

/* ---- checks ---- */

static int check_gpu(struct osb_slice value, struct rest_error *error)
{
    uint64_t count;
    if (osb_slice_to_u64(value, &count) == 0 && count > 0)
        return 0;
    return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                          "gpu must be a number of devices, at least 1");
}

static int check_map(const struct osb_json *map, const char *what, struct rest_error *error)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(map, &cursor, &key, &value)) {
        int64_t milli;
        struct osb_slice text = osb_json_str(value);
        if (osb_slice_eq_str(key, GPU)) {
            if (check_gpu(text, error) < 0)
                return -OSB_E_INVALID;
        } else if (!osb_api_is_qualified_name(key)) {
            return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                                  "%s: a key is no name of a resource", what);
        } else if (osb_quantity_milli(text, &milli) < 0 || milli < 0) {
            return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                                  "%s: a value is no quantity such as 500m, 2 or 4Gi", what);
        }
    }
    return 0;
}

static int check_within(const struct osb_json *limits, const struct osb_json *requests,
                        struct rest_error *error)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(requests, &cursor, &key, &value)) {
        int64_t request = 0;
        int64_t limit = 0;
        const struct osb_json *other = osb_json_get_slice(limits, key);
        if (!other)
            continue;
        if (osb_quantity_milli(osb_json_str(value), &request) == 0 &&
            osb_quantity_milli(osb_json_str(other), &limit) == 0 && request > limit)
            return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                                  "resourceRequests: a request is larger than its limit");
    }
    return 0;
}

int rest_resources_check(const struct osb_json *limits, const struct osb_json *requests,
                         struct rest_error *error)
{
    int r = check_map(limits, "resourceLimits", error);
    if (r >= 0)
        r = check_map(requests, "resourceRequests", error);
    return r < 0 ? r : check_within(limits, requests, error);
}

/* ---- the block of the container ---- */

static void set(struct osb_json *block, struct osb_slice key, struct osb_json *quantity)
{
    if (osb_slice_eq_str(key, GPU))
        osb_json_set(block, GPU_RESOURCE, quantity);
    else
        osb_json_set_slice(block, key, quantity);
}

static struct osb_json *copy_block(const struct osb_json *map)
{
    struct osb_json *block = osb_json_new_object();
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(map, &cursor, &key, &value))
        set(block, key, osb_json_copy(value));
    return block;
}

static int64_t share(int64_t limit, double fraction)
{
    double exact = (double)limit * fraction;
    int64_t rounded = (int64_t)exact;
    return (double)rounded < exact ? rounded + 1 : rounded;
}

/* Only what a node may promise more than once; of devices a pod has what it is limited to. */
static struct osb_json *fraction_of(struct osb_slice key, struct osb_slice limit, double fraction)
{
    int64_t value;
    char text[32];
    if (osb_slice_eq_str(key, "cpu") && osb_quantity_milli(limit, &value) == 0)
        snprintf(text, sizeof(text), "%lldm", (long long)share(value, fraction));
    else if ((osb_slice_eq_str(key, "memory") || osb_slice_eq_str(key, "ephemeral-storage")) &&
             osb_quantity_units(limit, &value) == 0)
        snprintf(text, sizeof(text), "%lld", (long long)share(value, fraction));
    else
        return osb_json_new_string(limit);
    return osb_json_new_str(text);
}

static struct osb_json *fraction_block(const struct osb_json *limits, double fraction)
{
    struct osb_json *block = osb_json_new_object();
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(limits, &cursor, &key, &value))
        set(block, key, fraction_of(key, osb_json_str(value), fraction));
    return block;
}

struct osb_json *rest_resources_build(const struct osb_json *limits,
                                      const struct osb_json *requests, double fraction)
{
    if (osb_json_count(limits) == 0 && osb_json_count(requests) == 0)
        return NULL;
    struct osb_json *resources = osb_json_new_object();
    if (osb_json_count(limits) > 0)
        osb_json_set(resources, "limits", copy_block(limits));
    osb_json_set(resources, "requests",
                 osb_json_count(requests) > 0 ? copy_block(requests)
                                              : fraction_block(limits, fraction));
    return resources;
}
