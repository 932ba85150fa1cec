// SPDX-License-Identifier: Apache-2.0
/*
 * A BatchSandbox and a pod as anybody may have written them, two lines of JSON, through
 * projections, core and pod building.
 */
#include <osb/json_tree.h>
#include <osb/kube_store.h>

#include <stddef.h>
#include <stdint.h>

#include "pod_build.h"
#include "sandbox_reconcile.h"

static void reconcile(const struct batchsandbox *bs, const struct pod *pod)
{
    const struct pod *pods[1] = {pod};
    const struct observation observed[1] = {{.has_answered = true}};
    struct plan plan = {0};
    struct reconcile_input in = {
        .bs = bs, .pods = pods, .observed = observed, .pod_count = pod ? 1 : 0, .may_scale = true};
    sandbox_reconcile(&in, &plan);
    plan_done(&plan);
    in.now_ns = INT64_C(1) << 62; /* long after any expiry */
    sandbox_reconcile(&in, &plan);
    plan_done(&plan);
}

static void build(const struct batchsandbox *bs)
{
    static const struct config configs[] = {{.kubernetes = {.is_injected_by_node = true}},
                                            {.runtime = {.execd_image = "i"}}};
    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
        struct osb_json *pod = NULL;
        if (pod_build(bs, 0, &configs[i], &pod, NULL) == 0)
            osb_json_free(pod);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_slice input = osb_slice(data, size);
    ptrdiff_t end = osb_slice_find(input, '\n');
    struct osb_slice first = osb_slice(data, end < 0 ? size : (size_t)end);
    struct osb_slice second = end < 0 ? OSB_SLICE_NULL : osb_slice_from(input, (size_t)end + 1);
    struct osb_kube_store *sandboxes = osb_kube_store_new(&batchsandbox_projection);
    struct osb_kube_store *pods = osb_kube_store_new(&pod_projection);
    osb_kube_store_apply(sandboxes, first, NULL);
    osb_kube_store_apply(pods, second, NULL);
    const struct batchsandbox *bs = batchsandbox_of(osb_kube_store_next(sandboxes, NULL));
    if (bs) {
        reconcile(bs, pod_of(osb_kube_store_next(pods, NULL)));
        build(bs);
    }
    osb_kube_store_free(sandboxes);
    osb_kube_store_free(pods);
    return 0;
}
