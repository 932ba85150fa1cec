// SPDX-License-Identifier: Apache-2.0
/* Pods for tests, written as YAML or JSON would be: spec fields in, a parsed pod out. */
#ifndef NODE_POD_FIXTURE_H
#define NODE_POD_FIXTURE_H

#include "pod_spec.h"

#include <stdio.h>
#include <stdlib.h>

/* Parses {"metadata":{…},"spec":{SPEC}}; the result of pod_spec_parse(). */
static inline int fixture_parse(const char *metadata, const char *spec, struct pod_spec **ret,
                                struct osb_err *err)
{
    struct osb_json *object = NULL;
    char *text = NULL;
    if (asprintf(&text,
                 "{\"metadata\":{\"uid\":\"u-1\",\"name\":\"web\",\"namespace\":\"default\"%s},"
                 "\"spec\":{%s}}",
                 metadata, spec) < 0)
        abort();
    int r = osb_json_parse(osb_slice_str(text), &object, err);
    free(text);
    return r < 0 ? r : pod_spec_parse(object, ret, err);
}

static inline struct pod_spec *fixture_pod(const char *spec)
{
    struct pod_spec *pod = NULL;
    if (fixture_parse("", spec, &pod, NULL) < 0)
        abort();
    return pod;
}

#endif
