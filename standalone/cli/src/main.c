// SPDX-License-Identifier: Apache-2.0
/* opensandbox: the command line of the embedded engine. Parses, and calls one command. */
#include "commands.h"
#include "instance.h"
#include "supervisor.h"

#include <getopt.h>
#include <osb/cleanup.h>
#include <osb/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage_text[] =
    "usage: opensandbox COMMAND [--state DIR] [OPTION…]\n"
    "\n"
    "  up                   start the engine; returns when it serves; again is harmless\n"
    "  down [--purge]       stop it with all sandboxes; --purge removes its state too\n"
    "  status [-o json]     what runs\n"
    "  env                  shell lines for kubectl and the clients: eval \"$(opensandbox env)\"\n"
    "  logs [PART] [-f]     logs of supervisor, net, containerd, images, apiserver, node, "
    "operator\n"
    "  image load FILE      load an OCI or Docker image archive\n"
    "  image ls             images that sandboxes can use\n"
    "\n"
    "  --state DIR          folder of the instance; default $OPENSANDBOX_STATE, else\n"
    "                       /var/lib/opensandbox. Several instances run side by side.\n"
    "  --version, --help\n";

struct options {
    const char *state;
    const char *output;
    bool is_purge;
    bool is_follow;
    int progress_fd;
};

static int wrong_use(const char *problem, const char *what)
{
    fprintf(stderr, "opensandbox: %s%s%s\n%s", problem, what ? " " : "", what ? what : "",
            usage_text);
    return 2;
}

/* 0: go on; else the exit code plus one. */
static int parse(int argc, char **argv, struct options *options)
{
    static const struct option longs[] = {
        {"state", required_argument, NULL, 's'},
        {"purge", no_argument, NULL, 'p'},
        {"follow", no_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'},
        {"progress-fd", required_argument, NULL, 'P'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "s:fo:h", longs, NULL)) >= 0;) {
        switch (c) {
        case 's':
            options->state = optarg;
            break;
        case 'p':
            options->is_purge = true;
            break;
        case 'f':
            options->is_follow = true;
            break;
        case 'o':
            options->output = optarg;
            break;
        case 'P':
            options->progress_fd = atoi(optarg);
            break;
        case 'h':
            printf("%s", usage_text);
            return 1;
        case 'V':
            printf("opensandbox %s (%s)\n", OSB_VERSION, OSB_COMMIT);
            return 1;
        default:
            fprintf(stderr, "%s", usage_text);
            return 3;
        }
    }
    return 0;
}

static int run(const char *state, const struct options *options, int argc, char **argv)
{
    const char *command = argv[0];
    const char *argument = argc > 1 ? argv[1] : NULL;
    int most = !strcmp(command, "image") ? 3 : !strcmp(command, "logs") ? 2 : 1;
    if (argc > most)
        return wrong_use("too many arguments:", argv[most]);
    if (options->output && strcmp(options->output, "json") != 0)
        return wrong_use("the only output format is json, not", options->output);
    if (!strcmp(command, "up"))
        return command_up(state);
    if (!strcmp(command, "down"))
        return command_down(state, options->is_purge);
    if (!strcmp(command, "status"))
        return command_status(state, options->output);
    if (!strcmp(command, "env"))
        return command_env(state);
    if (!strcmp(command, "logs"))
        return command_logs(state, argument, options->is_follow);
    if (!strcmp(command, "supervise"))
        return supervise(state, options->progress_fd);
    if (!strcmp(command, "image") && argument && !strcmp(argument, "load") && argc == 3)
        return command_image_load(state, argv[2]);
    if (!strcmp(command, "image") && argument && !strcmp(argument, "ls") && argc == 2)
        return command_image_list(state);
    return wrong_use("unknown command", command);
}

int main(int argc, char **argv)
{
    struct options options = {.progress_fd = -1};
    struct osb_err err = {0};
    osb_log_setup("opensandbox", OSB_LOG_INFO, STDERR_FILENO);
    int stop = parse(argc, argv, &options);
    if (stop)
        return stop - 1;
    if (optind == argc)
        return wrong_use("a command is missing", NULL);
    _cleanup_free_ char *state = NULL;
    if (instance_state_folder(options.state, &state, &err) < 0) {
        fprintf(stderr, "opensandbox: %s\n", err.message);
        return 1;
    }
    return run(state, &options, argc - optind, argv + optind);
}
