// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>
#include <osb/json_tree.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"

/* What a caller of the REST API asks for, but for execd: the pod's own Ready counts. */
#define TEMPLATE                                                                                   \
    "{\"containers\":[{\"name\":\"sandbox\",\"image\":\"registry.example/code:1\","                \
    "\"command\":[\"tail\",\"-f\",\"/dev/null\"],"                                                 \
    "\"env\":[{\"name\":\"LANG\",\"value\":\"C.UTF-8\"}],"                                         \
    "\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"128Mi\"},"                         \
    "\"limits\":{\"cpu\":\"1\",\"memory\":\"512Mi\"}}}],\"restartPolicy\":\"Never\"}"

static struct osb_json *parsed(char *text)
{
    struct osb_json *object = NULL;
    int r = osb_json_parse(osb_slice_str(text), &object, NULL);
    osb_assert(r >= 0);
    free(text);
    return object;
}

void scale_name(char name[static SCALE_NAME_MAX], size_t index)
{
    snprintf(name, SCALE_NAME_MAX, "s%zu", index);
}

bool scale_index(const char *name, size_t count, size_t *ret)
{
    char *end;
    if (name[0] != 's')
        return false;
    unsigned long index = strtoul(name + 1, &end, 10);
    if (end == name + 1 || (*end && *end != '-') || index >= count)
        return false;
    *ret = index;
    return true;
}

struct osb_json *scale_sandbox(const char *name)
{
    return parsed(osb_asprintf("{\"apiVersion\":\"sandbox.opensandbox.io/v1alpha1\","
                               "\"kind\":\"BatchSandbox\",\"metadata\":{\"name\":\"%s\","
                               "\"labels\":{\"opensandbox.io/id\":\"%s\"}},"
                               "\"spec\":{\"replicas\":1,\"template\":{\"spec\":%s}}}",
                               name, name, TEMPLATE));
}

struct osb_json *scale_pod(const char *name)
{
    return parsed(osb_asprintf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
                               "\"metadata\":{\"name\":\"%s\"},\"spec\":%s}",
                               name, TEMPLATE));
}

void scale_pod_status(struct osb_buf *out, size_t index)
{
    char address[sizeof("10.255.255.255")];
    snprintf(address, sizeof(address), "10.%zu.%zu.%zu", index >> 16 & 255, index >> 8 & 255,
             index & 255);
    osb_buf_appendf(out,
                    "{\"status\":{\"phase\":\"Running\",\"podIP\":\"%s\","
                    "\"podIPs\":[{\"ip\":\"%s\"}],\"conditions\":["
                    "{\"type\":\"Ready\",\"status\":\"True\"},"
                    "{\"type\":\"ContainersReady\",\"status\":\"True\"},"
                    "{\"type\":\"Initialized\",\"status\":\"True\"},"
                    "{\"type\":\"PodScheduled\",\"status\":\"True\"}],"
                    "\"containerStatuses\":[{\"name\":\"sandbox\",\"ready\":true,"
                    "\"restartCount\":0,\"image\":\"registry.example/code:1\","
                    "\"imageID\":\"registry.example/code@sha256:0\","
                    "\"state\":{\"running\":{\"startedAt\":\"2026-01-01T00:00:00Z\"}}}]}}",
                    address, address);
}
