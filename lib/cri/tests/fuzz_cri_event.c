// SPDX-License-Identifier: Apache-2.0
#include "cri_event.h"

#include <osb/err.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct osb_cri_event *event, void *arg)
{
    (void)arg;
    osb_assert(event->container_id && event->type <= OSB_CRI_EVENT_CONTAINER_DELETED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cri_envelope *envelope =
        containerd__services__events__v1__envelope__unpack(NULL, size, size ? data : NULL);

    if (!envelope)
        return 0;
    cri_event_read(envelope, check, NULL);
    containerd__services__events__v1__envelope__free_unpacked(envelope, NULL);
    return 0;
}
