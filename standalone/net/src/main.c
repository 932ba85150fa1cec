// SPDX-License-Identifier: Apache-2.0
/* opensandbox-net: NAT and forwarding for one instance's bridge, made and taken back. One-shot. */
#include "bridge_link.h"
#include "cidr.h"
#include "forwarding.h"
#include "nat_table.h"

#include <getopt.h>
#include <net/if.h>
#include <osb/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage_text[] =
    "usage: opensandbox-net up   --table NAME --bridge NAME --subnet CIDR --undo FILE\n"
    "       opensandbox-net down --table NAME --bridge NAME --undo FILE\n"
    "\n"
    "up makes the nft table NAME (masquerading for CIDR) and turns IPv4 forwarding on; FILE keeps\n"
    "the sysctls as they were and is shared by all instances of a machine. down takes it all back\n"
    "and removes the bridge. Doing either twice is harmless.\n";

struct options {
    const char *table;
    const char *bridge;
    const char *subnet;
    const char *undo;
};

static int up(const struct options *options, struct osb_err *err)
{
    uint32_t network = 0;
    int prefix_len = 0;
    int r = cidr_parse(options->subnet, &network, &prefix_len);
    if (r < 0)
        return osb_fail(err, r, "--subnet %s is not like 10.1.2.0/24", options->subnet);
    r = nat_table_make(options->table, options->bridge, network, prefix_len, err);
    if (r >= 0)
        r = forwarding_acquire(options->undo, options->table, err);
    return r;
}

/* Goes on after a failure, so that as much as possible is taken back; the first error is told. */
static int down(const struct options *options, struct osb_err *err)
{
    struct osb_err other = {0};
    int first = bridge_link_remove(options->bridge, err);
    int r = nat_table_remove(options->table, first < 0 ? &other : err);
    if (first >= 0)
        first = r;
    r = forwarding_release(options->undo, options->table, first < 0 ? &other : err);
    return first < 0 ? first : r;
}

static int wrong_use(const char *problem)
{
    fprintf(stderr, "opensandbox-net: %s\n%s", problem, usage_text);
    return 2;
}

/* 0: go on; else the exit code plus one. */
static int parse(int argc, char **argv, struct options *options)
{
    static const struct option longs[] = {
        {"table", required_argument, NULL, 't'},     {"bridge", required_argument, NULL, 'b'},
        {"subnet", required_argument, NULL, 's'},    {"undo", required_argument, NULL, 'u'},
        {"log-level", required_argument, NULL, 'l'}, {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},         {NULL, 0, NULL, 0},
    };
    enum osb_log_level level;
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) >= 0;) {
        switch (c) {
        case 't':
            options->table = optarg;
            break;
        case 'b':
            options->bridge = optarg;
            break;
        case 's':
            options->subnet = optarg;
            break;
        case 'u':
            options->undo = optarg;
            break;
        case 'l':
            if (osb_log_level_parse(optarg, &level) < 0)
                return 1 + wrong_use("--log-level is debug, info, warn or error");
            osb_log_setup("opensandbox-net", level, STDERR_FILENO);
            break;
        case 'h':
            printf("%s", usage_text);
            return 1;
        case 'V':
            printf("opensandbox-net %s (%s)\n", OSB_VERSION, OSB_COMMIT);
            return 1;
        default:
            return 1 + wrong_use("unknown option");
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct osb_err err = {0};
    osb_log_setup("opensandbox-net", OSB_LOG_INFO, STDERR_FILENO);
    int stop = parse(argc, argv, &options);
    if (stop)
        return stop - 1;
    if (optind != argc - 1)
        return wrong_use("up or down, exactly one");
    bool is_up = !strcmp(argv[optind], "up");
    if (!is_up && strcmp(argv[optind], "down") != 0)
        return wrong_use("up or down, nothing else");
    if (!options.table || !options.bridge || !options.undo || (is_up && !options.subnet))
        return wrong_use("an option is missing");
    if (!*options.bridge || strlen(options.bridge) >= IFNAMSIZ)
        return wrong_use("--bridge is a link name of 1 to 15 characters");
    int r = is_up ? up(&options, &err) : down(&options, &err);
    if (r < 0) {
        osb_log(OSB_LOG_ERROR, is_up ? "network is not up" : "network is not down",
                OSB_KV_ERR(&err));
        return 1;
    }
    return 0;
}
