// SPDX-License-Identifier: Apache-2.0
#include "cri_build.h"
#include "step.h"

#include <osb/alloc.h>
#include <stdlib.h>
#include <string.h>

static void image_there(struct pod *pod, const char *image_id)
{
    struct container_state *state = pod_step_container(pod);
    state->has_image = true;
    free(state->image_id);
    state->image_id = osb_strdup(image_id);
    state->failures = 0;
    container_clear_waiting(state);
    pod_step_end(pod);
}

static void on_pulled(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                      void *arg)
{
    struct pod *pod = arg;
    struct container_state *state = pod_step_container(pod);
    pod->cri_call = NULL;
    pod->is_pulling = false;
    if (r < 0) {
        if (state->failures > 0)
            pod_event(pod, (int)pod->index, false, "BackOff", "Back-off pulling image \"%s\"",
                      pod_step_spec(pod)->image);
        container_pull_failed(state, err->message, osb_loop_now_ns(pod->node->loop));
        pod_tell_failure(pod, "ErrImagePull", err);
        return;
    }
    uint64_t ms = (osb_loop_now_ns(pod->node->loop) - pod->step_ns) / 1000000;
    pod_event(pod, (int)pod->index, false, "Pulled", "Successfully pulled image \"%s\" in %llums",
              pod_step_spec(pod)->image, (unsigned long long)ms);
    image_there(pod, ((const Runtime__V1__PullImageResponse *)response)->image_ref);
}

static void pull(struct pod *pod)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    Runtime__V1__PullImageRequest request = RUNTIME__V1__PULL_IMAGE_REQUEST__INIT;
    request.image = cri_build_image(&arena, pod_step_spec(pod)->image);
    request.sandbox_config = cri_build_sandbox(&arena, pod->node, pod->spec, pod->state.attempt);
    pod->is_pulling = true;
    pod_event(pod, (int)pod->index, false, "Pulling", "Pulling image \"%s\"",
              pod_step_spec(pod)->image);
    pod_step_call(pod, OSB_CRI_PULL_IMAGE, &request.base, 0, on_pulled);
}

static void on_image_status(int r, const struct ProtobufCMessage *response,
                            const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    const char *policy = pod_step_spec(pod)->pull_policy;
    pod->cri_call = NULL;
    if (r < 0) {
        pod_container_failed(pod, "ImageInspectError", err);
        return;
    }
    const Runtime__V1__Image *image = ((const Runtime__V1__ImageStatusResponse *)response)->image;
    if (image && strcmp(policy, "Always") != 0) {
        pod_event(pod, (int)pod->index, false, "Pulled",
                  "Container image \"%s\" already present on machine", pod_step_spec(pod)->image);
        image_there(pod, image->id);
    } else if (!strcmp(policy, "Never")) {
        struct osb_err absent = {0};
        (void)osb_fail(&absent, -OSB_E_NOT_FOUND,
                       "Container image \"%s\" is not present with pull policy of Never",
                       pod_step_spec(pod)->image);
        pod_container_failed(pod, "ErrImageNeverPull", &absent);
    } else {
        pull(pod);
    }
}

void pod_pull(struct pod *pod)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    Runtime__V1__ImageStatusRequest request = RUNTIME__V1__IMAGE_STATUS_REQUEST__INIT;
    request.image = cri_build_image(&arena, pod_step_spec(pod)->image);
    pod_step_call(pod, OSB_CRI_IMAGE_STATUS, &request.base, 0, on_image_status);
}
