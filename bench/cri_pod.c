// SPDX-License-Identifier: Apache-2.0
// bench-deps: cri
// bench-sources: lib/cri/tests/cri_sync.c
/*
 * What a pod of one container costs by bare CRI calls: RunPodSandbox, CreateContainer with
 * StartContainer, and the first ExecSync. The floor that a cold create is compared with.
 * bench/cri_pod.sh starts a containerd for it.
 *
 *     build/release/bench/cri_pod ENDPOINT IMAGE [ROUNDS [CGROUP_PARENT]]
 *     build/release/bench/cri_pod ENDPOINT IMAGE cued [CGROUP_PARENT]
 *
 * Cued, the image is there already. It says "ready", makes a pod at each line that it reads, prints
 * its milliseconds, and removes it at the next line: a harness has it take turns with something
 * else, or starts many at once.
 */
#include <cri_sync.h>
#include <osb/clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_ROUNDS = 20, MAX_ROUNDS = 1000, WARM_UP = 2, READY_WAIT_MS = 20000 };

enum step { SANDBOX, CONTAINER, EXEC, ALL, STEPS };

static const char *const step_names[STEPS] = {"run_sandbox", "create_and_start", "first_exec",
                                              "all"};

static double samples[STEPS][MAX_ROUNDS];

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int first_command(struct cri_sync *sync, const struct cri_sync_pod *pod, struct osb_err *err)
{
    static const char *const command[] = {"true"};
    Runtime__V1__ExecSyncResponse *answer;
    int r = cri_sync_exec(sync, pod->container_id, command, 1, 0, &answer, err);

    if (r < 0)
        return r;
    if (answer->exit_code != 0)
        r = osb_fail(err, -OSB_E_INTERNAL, "true ended with status %d", answer->exit_code);
    runtime__v1__exec_sync_response__free_unpacked(answer, NULL);
    return r;
}

/* Makes one pod; MS gets the time of each step. POD is to be removed also after a failure. */
static int make_pod(struct cri_sync *sync, struct cri_sync_pod *pod, const char *image,
                    const char *cgroup, double ms[STEPS], struct osb_err *err)
{
    static const char *const command[] = {"sleep", "600"};
    char name[sizeof("bench-") + 3 * sizeof(pid_t)];
    uint64_t at[STEPS];
    int r;

    snprintf(name, sizeof(name), "bench-%d", (int)getpid());
    at[0] = osb_monotonic_ns();
    r = cri_sync_run_sandbox(sync, pod, name, NULL, cgroup, err);
    at[1] = osb_monotonic_ns();
    if (r >= 0)
        r = cri_sync_run_container(sync, pod, image, command, 2, err);
    at[2] = osb_monotonic_ns();
    if (r >= 0)
        r = first_command(sync, pod, err);
    at[3] = osb_monotonic_ns();
    for (int i = SANDBOX; i < ALL; i++)
        ms[i] = (double)(at[i + 1] - at[i]) / OSB_NS_PER_MS;
    ms[ALL] = (double)(at[3] - at[0]) / OSB_NS_PER_MS;
    return r;
}

static int one_pod(struct cri_sync *sync, const char *image, const char *cgroup, double ms[STEPS],
                   struct osb_err *err)
{
    struct cri_sync_pod pod;
    int r = make_pod(sync, &pod, image, cgroup, ms, err);

    if (r < 0) {
        cri_sync_remove_pod(sync, &pod, NULL);
        return r;
    }
    return cri_sync_remove_pod(sync, &pod, err);
}

static bool read_cue(void)
{
    int c;

    while ((c = getchar()) != EOF && c != '\n')
        ;
    return c == '\n';
}

static int run_cued(struct cri_sync *sync, const char *image, const char *cgroup,
                    struct osb_err *err)
{
    int r = cri_sync_wait_ready(sync, READY_WAIT_MS, err);

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (r >= 0)
        puts("ready");
    while (r >= 0 && read_cue()) {
        struct cri_sync_pod pod;
        double ms[STEPS];
        int removed;

        r = make_pod(sync, &pod, image, cgroup, ms, err);
        if (r >= 0) {
            printf("%.2f\n", ms[ALL]);
            read_cue();
        }
        removed = cri_sync_remove_pod(sync, &pod, r < 0 ? NULL : err);
        r = r < 0 ? r : removed;
        if (r >= 0)
            puts("removed");
    }
    return r;
}

static int run(struct cri_sync *sync, const char *image, int rounds, const char *cgroup,
               struct osb_err *err)
{
    int r = cri_sync_pull(sync, image, err);

    for (int i = -WARM_UP; i < rounds && r >= 0; i++) {
        double ms[STEPS];

        r = one_pod(sync, image, cgroup, ms, err);
        for (int step = 0; step < STEPS && i >= 0; step++)
            samples[step][i] = ms[step];
    }
    return r;
}

static void report(int rounds)
{
    for (int step = 0; step < STEPS; step++) {
        const double *sorted = samples[step];

        qsort(samples[step], (size_t)rounds, sizeof(double), compare);
        printf("cri_pod_%s value=%.1f unit=ms p95=%.1f max=%.1f rounds=%d\n", step_names[step],
               sorted[rounds / 2], sorted[rounds * 95 / 100], sorted[rounds - 1], rounds);
    }
}

int main(int argc, char **argv)
{
    bool is_cued = argc > 3 && strcmp(argv[3], "cued") == 0;
    int rounds = argc > 3 && !is_cued ? atoi(argv[3]) : DEFAULT_ROUNDS;
    const char *cgroup = argc > 4 ? argv[4] : NULL;
    struct osb_err err = {0};
    struct cri_sync sync = {0};
    int r;

    if (argc < 3 || rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "cri_pod ENDPOINT IMAGE [ROUNDS, 1 to %d | cued [CGROUP_PARENT]]\n",
                MAX_ROUNDS);
        return 2;
    }
    r = cri_sync_init(&sync, argv[1], &err);
    if (r >= 0 && is_cued)
        r = run_cued(&sync, argv[2], cgroup, &err);
    else if (r >= 0)
        r = run(&sync, argv[2], rounds, cgroup, &err);
    if (r < 0)
        fprintf(stderr, "cri_pod: %s\n", err.message);
    else if (!is_cued)
        report(rounds);
    cri_sync_done(&sync);
    return r < 0;
}
