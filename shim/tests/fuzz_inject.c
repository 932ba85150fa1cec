// SPDX-License-Identifier: Apache-2.0
#include <osb/err.h>

#include "inject.h"
#include "runtime_v1.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Runtime__V1__CreateContainerRequest *read_request(struct osb_slice bytes)
{
    return runtime__v1__create_container_request__unpack(
        NULL, bytes.len, (const uint8_t *)(bytes.data ? bytes.data : ""));
}

/* What we made of it is readable, has what came in front, and two mounts more. */
static void check(struct osb_slice before, struct osb_slice after)
{
    Runtime__V1__CreateContainerRequest *a = read_request(before);
    Runtime__V1__CreateContainerRequest *b = read_request(after);

    osb_assert(osb_slice_starts(after, before));
    osb_assert(a && b && b->config->n_mounts == a->config->n_mounts + 2);
    runtime__v1__create_container_request__free_unpacked(a, NULL);
    runtime__v1__create_container_request__free_unpacked(b, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct inject_files files = {"/f/execd", "/f/bootstrap.sh"};
    _cleanup_buf_ struct osb_buf out = {0};
    enum inject_outcome outcome;
    struct inject_subject subject;
    struct osb_slice request = osb_slice(data, size);
    int r = inject_create_container(request, &files, &out, &outcome, &subject, NULL);

    osb_assert((r == -OSB_E_PRECONDITION) == (outcome == INJECT_NO_VERSION));
    if (outcome == INJECT_DONE)
        check(request, osb_buf_slice(&out));
    else
        osb_assert(osb_buf_slice(&out).len == 0);
    return 0;
}
