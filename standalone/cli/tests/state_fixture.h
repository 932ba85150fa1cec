// SPDX-License-Identifier: Apache-2.0
/* An instance with fixed values in a state folder of the test's own. */
#ifndef CLI_STATE_FIXTURE_H
#define CLI_STATE_FIXTURE_H

#include "instance.h"

#include <osb/alloc.h>
#include <osb/fd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIXTURE_API_PORT = 45123, FIXTURE_FILE_MAX = 64 * 1024 };

static inline int fixture_make(void **state)
{
    static const char *const folders[] = {"pki", "containerd", "cni/net.d"};
    char folder[] = "/tmp/osb-cli-XXXXXX";
    if (!mkdtemp(folder))
        return -1;
    struct instance *instance = osb_new(struct instance);
    *instance = (struct instance){
        .id = "0123abcd",
        .state = osb_strdup(folder),
        .run = osb_strdup("/run/opensandbox/0123abcd"),
        .rest_address = osb_strdup("127.0.0.1"),
        .rest_port = 8123,
        .api_port = FIXTURE_API_PORT,
        .bridge = osb_strdup("osb-0123abcd"),
        .subnet = osb_strdup("10.1.2.0/24"),
        .table = osb_strdup("opensandbox_0123abcd"),
        .cgroup = osb_strdup("/opensandbox-0123abcd"),
        .node = osb_strdup("embedded"),
    };
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char *path = instance_state_path(instance, folders[i]);
        int r = osb_mkdir_p(path, 0700, NULL);
        free(path);
        if (r < 0)
            return r;
    }
    *state = instance;
    return 0;
}

static inline int fixture_remove(void **state)
{
    struct instance *instance = *state;
    int r = osb_remove_tree(instance->state, NULL);
    instance_done(instance);
    free(instance);
    return r;
}

/* A file of the state folder; owned by the caller. */
static inline char *fixture_read(const struct instance *instance, const char *name)
{
    struct osb_buf text = {0};
    char *path = instance_state_path(instance, name);
    int r = osb_read_file(path, FIXTURE_FILE_MAX, &text, NULL);
    free(path);
    if (r < 0) {
        osb_buf_done(&text);
        return NULL;
    }
    return osb_buf_take(&text);
}

#endif
