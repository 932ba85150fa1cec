// SPDX-License-Identifier: Apache-2.0
/*
 * bootstrap.sh: what a sandbox's container starts. The name is the public one; it is a static
 * program, because an image need not have a shell. It starts execd beside itself, then the
 * caller's entrypoint, and ends with the entrypoint's status; with `--install DIR` it only copies
 * both programs (execd/README.md).
 */
#include "entrypoint.h"
#include "handover.h"
#include "install.h"
#include "supervise.h"

#include <fcntl.h>
#include <limits.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char default_env_file[] = "/opt/opensandbox/.env";

/* Our own path: execd is beside us. */
static char *own_path(void)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path));

    return len > 0 && len < (ssize_t)sizeof(path) ? osb_strndup(path, (size_t)len) : NULL;
}

static char *execd_path(const char *self)
{
    const char *wanted = getenv("EXECD");
    const char *slash = self ? strrchr(self, '/') : NULL;

    if (wanted && *wanted)
        return osb_strdup(wanted);
    if (!slash)
        return osb_strdup("/opt/opensandbox/execd");
    return osb_asprintf("%.*s/execd", (int)(slash - self), self);
}

/* The file that clients append variables to; without it that is all that fails. */
static void prepare_env_file(void)
{
    const char *path = getenv("EXECD_ENVS");

    if (!path || !*path) {
        path = default_env_file;
        setenv("EXECD_ENVS", path, 1);
    }
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *folder = osb_strndup(path, slash ? (size_t)(slash - path) : 0);
    if (*folder)
        osb_mkdir_p(folder, 0755, NULL);
    _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0)
        fprintf(stderr, "bootstrap: EXECD_ENVS: %s: %s\n", path, strerror(errno));
}

/*
 * EXECD_BOOTSTRAP_PRE_SCRIPT is sourced, so that what it exports reaches execd and the entrypoint:
 * a shell sources it and then executes us again. Comes back only when there is nothing to source.
 */
static void source_pre_script(const char *self, int token_fd, int argc, char **argv)
{
    const char *script = getenv("EXECD_BOOTSTRAP_PRE_SCRIPT");
    _cleanup_free_ char *shell = entrypoint_shell();
    _cleanup_free_ const char **words = osb_calloc((size_t)argc + 6, sizeof(*words));

    if (!script || !*script)
        return;
    if (access(script, R_OK) < 0 || !shell || !self) {
        fprintf(stderr, "bootstrap: EXECD_BOOTSTRAP_PRE_SCRIPT: %s cannot be sourced\n", script);
        return;
    }
    words[0] = shell;
    words[1] = "-c";
    words[2] = ". \"$0\"; unset EXECD_BOOTSTRAP_PRE_SCRIPT; exec \"$@\"";
    words[3] = script;
    words[4] = self;
    memcpy(words + 5, argv + 1, (size_t)(argc > 0 ? argc - 1 : 0) * sizeof(*words));
    handover_keep(token_fd);
    execv(shell, (char *const *)words);
    fprintf(stderr, "bootstrap: %s: %s\n", shell, strerror(errno));
}

/* In an init container: nothing is started. */
static int install(const char *self, const char *execd, const char *folder)
{
    struct osb_err err = {0};

    if (!self) {
        fprintf(stderr, "bootstrap: --install: /proc does not say which program this is\n");
        return EXIT_FAILURE;
    }
    if (install_files(self, execd, folder, &err) == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "bootstrap: --install: %s\n", err.message);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    _cleanup_free_ char *self = own_path();
    _cleanup_free_ char *execd = execd_path(self);
    struct supervisor supervisor = {.execd = execd};
    const char *const *entrypoint;
    struct osb_err err = {0};

    if (argc == 3 && strcmp(argv[1], "--install") == 0)
        return install(self, execd, argv[2]);

    /* The token is in our memory and descriptors from here on. */
    prctl(PR_SET_DUMPABLE, 0);
    if (handover_take(&supervisor.token_fd, &err) < 0)
        fprintf(stderr, "bootstrap: %s\n", err.message);
    source_pre_script(self, supervisor.token_fd, argc, argv);
    prepare_env_file();
    if (getpid() != 1)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    supervise_block_signals();
    if (entrypoint_argv(argc, argv, &entrypoint, &err) < 0) {
        fprintf(stderr, "bootstrap: %s\n", err.message);
        return EXIT_FAILURE;
    }
    int status = supervise_start_entrypoint(&supervisor, entrypoint);
    if (status != 0)
        return status;
    supervise_start_execd_soon(&supervisor);
    return supervise_run(&supervisor);
}
