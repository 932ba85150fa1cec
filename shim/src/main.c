// SPDX-License-Identifier: Apache-2.0
#include <osb/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon.h"
#include "options.h"

enum { EXIT_USAGE = 2 };

int main(int argc, char **argv)
{
    struct options options;
    struct osb_err err = {0};

    if (options_parse(argc, argv, &options, &err) < 0) {
        fprintf(stderr, OSB_PROGRAM ": %s\n", err.message);
        return EXIT_USAGE;
    }
    if (options.is_help) {
        fputs(options_help(), stdout);
        return EXIT_SUCCESS;
    }
    if (options.is_version) {
        puts(OSB_PROGRAM " " OSB_VERSION " " OSB_COMMIT);
        return EXIT_SUCCESS;
    }
    osb_log_setup(OSB_PROGRAM, options.log_level, STDERR_FILENO);
    if (daemon_run(&options, &err) < 0) {
        osb_log(OSB_LOG_ERROR, "cannot serve", OSB_KV_ERR(&err));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
