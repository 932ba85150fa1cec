// SPDX-License-Identifier: Apache-2.0
#include "service.h"
#include "token.h"

#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/log.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
};

/* Other programs of the same user must not read our memory, and with it the token. */
static void hide_memory(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

/*
 * A command that runs takes four descriptors, a thousand of them more than the usual soft limit.
 * Commands get the old one back: programs that use select(2) break beyond it.
 */
static void raise_file_limit(struct execd *execd)
{
    if (getrlimit(RLIMIT_NOFILE, &execd->file_limit) < 0)
        return;
    struct rlimit raised = execd->file_limit;
    raised.rlim_cur = raised.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &raised);
}

static void setup_log(const struct execd_options *options)
{
    const char *path = getenv("EXECD_LOG_FILE");
    int fd = STDERR_FILENO;

    if (path && *path) {
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0) {
            fprintf(stderr, "execd: EXECD_LOG_FILE: cannot open %s\n", path);
            exit(EXIT_FAILURE);
        }
    }
    osb_log_setup("execd", options->log_level, fd);
}

static void on_stop(int signo, void *arg)
{
    osb_log(OSB_LOG_INFO, "draining", OSB_KV_INT("signal", signo));
    service_drain(arg);
}

static int serve(struct execd *execd, struct osb_err *err)
{
    int r = service_start(execd, err);

    if (r == 0)
        r = osb_loop_on_signal(execd->loop, SIGTERM, on_stop, execd, err);
    if (r == 0)
        r = osb_loop_on_signal(execd->loop, SIGINT, on_stop, execd, err);
    if (r == 0)
        r = service_listen(execd, err);
    if (r < 0)
        return r;
    osb_log(OSB_LOG_INFO, "listening", OSB_KV_INT("port", osb_listener_port(execd->listener)));
    return osb_loop_run(execd->loop);
}

int main(int argc, char **argv)
{
    struct execd execd = {0};
    struct osb_err err = {0};

    if (options_parse(argc, argv, &execd.options, &err) < 0) {
        fprintf(stderr, "execd: %s\n", err.message);
        return EXIT_USAGE;
    }
    if (execd.options.is_help) {
        fputs(options_help(), stdout);
        return EXIT_SUCCESS;
    }
    if (execd.options.is_version) {
        printf("execd " OSB_VERSION " " OSB_COMMIT "\n");
        return EXIT_SUCCESS;
    }
    hide_memory();
    raise_file_limit(&execd);
    setup_log(&execd.options);
    int r = token_load(execd.options.token_fd, &execd.token, &err);
    if (r == 0)
        r = serve(&execd, &err);
    if (r < 0)
        osb_log(OSB_LOG_ERROR, "cannot serve", OSB_KV_ERR(&err));
    service_stop(&execd);
    osb_secret_done(&execd.token);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
