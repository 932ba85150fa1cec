// SPDX-License-Identifier: Apache-2.0
#include <osb/log.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config.h"
#include "daemon.h"
#include "options.h"

enum { EXIT_USAGE = 2 };

static void warn_of(const struct config *config)
{
    for (int i = 0; i < config->warning_count; i++)
        osb_log(OSB_LOG_WARN, config->warnings[i]);
}

static int run(const struct options *options)
{
    struct config config = {0};
    struct osb_err err = {0};
    osb_log_setup(OSB_PROGRAM, options->has_log_level ? options->log_level : OSB_LOG_INFO,
                  STDERR_FILENO);
    int status = EXIT_SUCCESS;
    if (config_load(options->config, &config, &err) < 0) {
        osb_log(OSB_LOG_ERROR, "configuration", OSB_KV_ERR(&err));
        status = EXIT_USAGE;
    } else {
        if (!options->has_log_level)
            osb_log_setup(OSB_PROGRAM, config.log_level, STDERR_FILENO);
        warn_of(&config);
        if (!options->only_checks_config && daemon_run(options, &config, &err) < 0) {
            osb_log(OSB_LOG_ERROR, "cannot serve", OSB_KV_ERR(&err));
            status = EXIT_FAILURE;
        }
    }
    config_done(&config);
    return status;
}

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
    return run(&options);
}
