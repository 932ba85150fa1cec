// SPDX-License-Identifier: Apache-2.0
/* Bytes of a list and of a watch, as a hostile API server might send them. */
#include <stddef.h>
#include <stdint.h>

#include "reflector_core.h"
#include "watch_lines.h"

static const struct osb_kube_projection heads_only = {.size = sizeof(struct osb_kube_object)};

struct run {
    struct reflector_core core;
    struct osb_kube_store *store;
};

static int on_line(struct osb_slice line, void *arg)
{
    struct run *run = arg;
    return reflector_core_line(&run->core, run->store, line, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char list[] = "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}";
    struct osb_kube_reflector_options options = {.kind = &osb_kind_pod, .seed = 1};
    struct run run = {.store = osb_kube_store_new(&heads_only)};
    struct watch_lines lines;
    reflector_core_init(&run.core, &options);
    watch_lines_init(&lines, 4096);
    reflector_core_start(&run.core, 0);
    struct osb_slice input = osb_slice(data, size);
    if (reflector_core_page(&run.core, run.store, input, 0, NULL)->what == REFLECTOR_DO_WAIT) {
        reflector_core_waited(&run.core, 0);
        reflector_core_page(&run.core, run.store, osb_slice_str(list), 0, NULL);
    }
    if (run.core.state == REFLECTOR_WATCHING)
        watch_lines_feed(&lines, input, on_line, &run);
    watch_lines_done(&lines);
    reflector_core_done(&run.core);
    osb_kube_store_free(run.store);
    return 0;
}
