// SPDX-License-Identifier: Apache-2.0
/*
 *     scale alone  --count N --at-a-time N                 sandboxes a second without an operator
 *     scale run    --count N --rate R                      makes them, plays the kubelet
 *     scale delete --at-a-time N                           deletes all
 *
 * and --kubeconfig FILE, --namespace NAME, --timeout SECONDS. bench/scale/run drives it.
 */
#include <osb/clock.h>
#include <osb/kube_config.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"

enum { EXIT_USAGE = 2, DEFAULT_AT_A_TIME = 32, DEFAULT_TIMEOUT_S = 600 };

static const struct verb {
    const char *name;
    int (*run)(struct scale *scale);
} verbs[] = {{"alone", scale_alone}, {"run", scale_run}, {"delete", scale_delete}};

void scale_fail(struct scale *scale, const char *what, int r, const struct osb_err *err)
{
    osb_loop_stop(scale->loop);
    if (scale->r < 0)
        return;
    scale->r = r;
    fprintf(stderr, "scale: %s: %s\n", what, err ? err->message : osb_err_info(r)->name);
}

static void on_timeout(struct osb_timer *timer)
{
    scale_fail(timer->arg, "not done in time", -OSB_E_TIMEOUT, NULL);
}

static bool set_option(struct scale_options *options, int option, const char *value)
{
    switch (option) {
    case 'k':
        options->kubeconfig = value;
        return true;
    case 'n':
        options->namespace_ = value;
        return true;
    case 'c':
        options->count = strtoul(value, NULL, 10);
        return options->count > 0 && options->count <= SCALE_MAX_COUNT;
    case 'r':
        options->rate = strtod(value, NULL);
        return options->rate > 0;
    case 'a':
        options->at_a_time = strtoul(value, NULL, 10);
        return options->at_a_time > 0;
    case 't':
        options->timeout_s = strtoul(value, NULL, 10);
        return options->timeout_s > 0;
    default:
        return false;
    }
}

static bool parse(int argc, char **argv, struct scale_options *options)
{
    static const struct option known[] = {
        {"kubeconfig", required_argument, NULL, 'k'},
        {"namespace", required_argument, NULL, 'n'},
        {"count", required_argument, NULL, 'c'},
        {"rate", required_argument, NULL, 'r'},
        {"at-a-time", required_argument, NULL, 'a'},
        {"timeout", required_argument, NULL, 't'},
        {0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
        if (!set_option(options, option, optarg))
            return false;
    return optind == argc - 1;
}

static int connect_to(struct scale *scale, struct osb_kube_config *config, struct osb_err *err)
{
    struct osb_kube_transport *transport = NULL;
    int r = osb_kube_config_load(scale->options->kubeconfig, config, err);
    if (r < 0 || (r = osb_loop_new_uv(&scale->loop, err)) < 0)
        return r;
    r = osb_kube_transport_new_curl(scale->loop, config, "opensandbox-scale", &transport, err);
    if (r >= 0)
        scale->client = osb_kube_client_new(scale->loop, transport);
    return r;
}

static int run(const struct verb *verb, const struct scale_options *options)
{
    _cleanup_kube_config_ struct osb_kube_config config = {0};
    struct scale scale = {.options = options};
    struct osb_timer timer;
    struct osb_err err = {0};
    int r = connect_to(&scale, &config, &err);
    if (r < 0) {
        fprintf(stderr, "scale: %s\n", err.message);
    } else {
        osb_timer_init(&timer, scale.loop, on_timeout, &scale);
        osb_timer_set(&timer, options->timeout_s * 1000);
        r = verb->run(&scale);
        osb_timer_stop(&timer);
    }
    osb_kube_client_free(scale.client);
    osb_loop_free(scale.loop);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct scale_options options = {
        .namespace_ = "default",
        .count = 1,
        .rate = 1,
        .at_a_time = DEFAULT_AT_A_TIME,
        .timeout_s = DEFAULT_TIMEOUT_S,
    };
    if (parse(argc, argv, &options))
        for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
            if (strcmp(argv[optind], verbs[i].name) == 0)
                return run(&verbs[i], &options);
    fputs("scale alone|run|delete [--kubeconfig FILE] [--namespace NAME] [--count N] [--rate R] "
          "[--at-a-time N] [--timeout SECONDS]\n",
          stderr);
    return EXIT_USAGE;
}
