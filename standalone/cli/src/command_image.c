// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "instance.h"

#include <errno.h>
#include <osb/cleanup.h>
#include <osb/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const struct osb_err *err)
{
    fprintf(stderr, "opensandbox image: %s\n", err->message);
    return 1;
}

/* Becomes containerd's client, in the namespace of CRI. Returns only on failure. */
static int become_ctr(const char *state, const char *const *arguments, int count)
{
    struct instance instance = {0};
    struct osb_err err = {0};
    if (instance_load(state, &instance, &err) < 0)
        return fail(&err);
    _cleanup_free_ char *socket = instance_run_path(&instance, "containerd.sock");
    instance_done(&instance);
    if (access(socket, F_OK) < 0) {
        fprintf(stderr,
                "opensandbox image: the engine is not up; start it with `opensandbox up`\n");
        return 1;
    }
    const char *argv[16] = {"ctr", "--address", socket, "--namespace", "k8s.io", "images"};
    int n = 6;
    for (int i = 0; i < count; i++)
        argv[n++] = arguments[i];
    argv[n] = NULL;
    execvp("ctr", (char *const *)argv);
    (void)osb_fail(&err, -errno, "ctr: %s (install package containerd)", strerror(errno));
    return fail(&err);
}

int command_image_load(const char *state, const char *file)
{
    if (access(file, R_OK) < 0) {
        fprintf(stderr, "opensandbox image load: %s: %s\n", file, strerror(errno));
        return 1;
    }
    const char *const arguments[] = {"import", file};
    return become_ctr(state, arguments, 2);
}

int command_image_list(const char *state)
{
    const char *const arguments[] = {"list"};
    return become_ctr(state, arguments, 1);
}
