// SPDX-License-Identifier: Apache-2.0
// bench-deps: cri
// bench-sources: lib/cri/tests/cri_sync.c
/*
 * What the shim adds to calls of a real runtime, and the memory that it takes. Calls go direct and
 * through the shim by turns, so that a busy machine slows both; both clients are ours, and their
 * own time is in both figures. bench/shim.sh starts a containerd and a shim for it.
 *
 *     build/release/bench/shim_calls DIRECT THROUGH SHIM_PID IMAGE CGROUP_PARENT [CALLS]
 */
#include <cri_sync.h>
#include <osb/alloc.h>
#include <osb/clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEFAULT_CALLS = 3000, /* of a method, on each way */
    MAX_CALLS = 100000,
    BLOCK = 100, /* calls on one way before it is the other's turn */
    WARM_UP = 200,
    PODS = 10, /* in the lists, and each with a container */
    READY_WAIT_MS = 20000,
};

static const double target_p50_us = 120, target_p99_us = 300, target_rss_mb = 12;

enum way { DIRECT, THROUGH, WAYS };

struct bench {
    struct cri_sync ways[WAYS];
    struct cri_sync_pod pods[PODS];
    int calls;
};

struct measured {
    const char *name;
    enum osb_cri_method method;
    const ProtobufCMessage *request;
};

static double samples_us[WAYS][MAX_CALLS];

static void must(int r, const struct osb_err *err)
{
    if (r >= 0)
        return;
    fprintf(stderr, "shim_calls: %s\n", err->message);
    exit(1);
}

/* ---- pods ---- */

static void make_pods(struct bench *bench, const char *image, const char *cgroup)
{
    static const char *const command[] = {"sleep", "600"};
    struct osb_err err = {0};

    must(cri_sync_pull(&bench->ways[DIRECT], image, &err), &err);
    for (int i = 0; i < PODS; i++) {
        char name[32];

        snprintf(name, sizeof(name), "shim-bench-%d", i);
        must(cri_sync_run_sandbox(&bench->ways[THROUGH], &bench->pods[i], name, NULL, cgroup, &err),
             &err);
        must(
            cri_sync_run_container(&bench->ways[THROUGH], &bench->pods[i], image, command, 2, &err),
            &err);
    }
}

static void remove_pods(struct bench *bench)
{
    struct osb_err err = {0};

    for (int i = 0; i < PODS; i++)
        must(cri_sync_remove_pod(&bench->ways[DIRECT], &bench->pods[i], &err), &err);
}

/* ---- times ---- */

static double call_us(struct cri_sync *sync, const struct measured *measured)
{
    struct osb_err err = {0};
    uint64_t begin = osb_monotonic_ns();

    must(cri_sync_call(sync, measured->method, measured->request, NULL, &err), &err);
    return (double)(osb_monotonic_ns() - begin) / 1000;
}

static void measure(struct bench *bench, const struct measured *measured)
{
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < WARM_UP; i++)
            call_us(&bench->ways[way], measured);
    for (int begin = 0; begin < bench->calls; begin += BLOCK)
        for (int way = 0; way < WAYS; way++)
            for (int i = begin; i < begin + BLOCK; i++)
                samples_us[way][i] = call_us(&bench->ways[way], measured);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double percentile(const double *sorted, int count, int percent)
{
    int rank = (count * percent + 99) / 100;

    return sorted[rank > 0 ? rank - 1 : 0];
}

static const char *met(double value, double target)
{
    return value <= target ? "met" : "missed";
}

static void say_added(const struct bench *bench, const char *name, int percent, double target)
{
    double direct = percentile(samples_us[DIRECT], bench->calls, percent);
    double through = percentile(samples_us[THROUGH], bench->calls, percent);

    printf("shim.%s.added_p%d value=%.1f unit=us target=%.0f %s peer=direct peer_value=%.1f "
           "through=%.1f ratio=%.2f max=%.1f n=%d\n",
           name, percent, through - direct, target, met(through - direct, target), direct, through,
           through / direct, samples_us[THROUGH][bench->calls - 1], bench->calls);
}

static void report(struct bench *bench, const struct measured *measured)
{
    measure(bench, measured);
    for (int way = 0; way < WAYS; way++)
        qsort(samples_us[way], (size_t)bench->calls, sizeof(double), compare);
    say_added(bench, measured->name, 50, target_p50_us);
    say_added(bench, measured->name, 99, target_p99_us);
}

/* ---- memory ---- */

static void say_rss(const char *when, const char *pid)
{
    char path[64], line[256];
    double kb = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%s/status", pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "VmRSS: %lf kB", &kb) == 1)
            break;
    if (file)
        fclose(file);
    printf("shim.rss_%s value=%.1f unit=MB target=%.0f %s\n", when, kb / 1024, target_rss_mb,
           met(kb / 1024, target_rss_mb));
}

static void run(struct bench *bench)
{
    Runtime__V1__VersionRequest version = RUNTIME__V1__VERSION_REQUEST__INIT;
    Runtime__V1__ListContainersRequest list = RUNTIME__V1__LIST_CONTAINERS_REQUEST__INIT;
    Runtime__V1__ContainerStatusRequest status = RUNTIME__V1__CONTAINER_STATUS_REQUEST__INIT;
    const struct measured all[] = {
        {"version", OSB_CRI_VERSION, &version.base},
        {"list_containers", OSB_CRI_LIST_CONTAINERS, &list.base},
        {"container_status", OSB_CRI_CONTAINER_STATUS, &status.base},
    };

    status.container_id = bench->pods[0].container_id;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        report(bench, &all[i]);
}

int main(int argc, char **argv)
{
    struct bench *bench = osb_new(struct bench);
    struct osb_err err = {0};

    bench->calls = argc > 6 ? atoi(argv[6]) : DEFAULT_CALLS;
    if (argc < 6 || bench->calls < BLOCK || bench->calls > MAX_CALLS || bench->calls % BLOCK) {
        fprintf(stderr, "usage: %s DIRECT THROUGH SHIM_PID IMAGE CGROUP_PARENT [CALLS]\n", argv[0]);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int way = 0; way < WAYS; way++) {
        must(cri_sync_init(&bench->ways[way], argv[1 + way], &err), &err);
        must(cri_sync_wait_ready(&bench->ways[way], READY_WAIT_MS, &err), &err);
    }
    say_rss("idle", argv[3]);
    make_pods(bench, argv[4], argv[5]);
    run(bench);
    say_rss("after_calls", argv[3]);
    remove_pods(bench);
    for (int way = 0; way < WAYS; way++)
        cri_sync_done(&bench->ways[way]);
    free(bench);
    return 0;
}
