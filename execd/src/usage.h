// SPDX-License-Identifier: Apache-2.0
/*
 * What the sandbox uses of CPU and memory: its cgroup's figures (version 2, or 1) where it has any,
 * else the machine's. Nothing waits: a share of CPU is taken between two readings.
 */
#ifndef EXECD_USAGE_H
#define EXECD_USAGE_H

#include <stdint.h>

struct usage {
    double cpu_count;     /* CPUs that may be used: the quota, else those that are there */
    uint64_t cpu_used_ns; /* since an arbitrary point */
    uint64_t memory_total;
    uint64_t memory_used; /* less what the kernel can take back at once */
    uint64_t taken_ns;    /* monotonic */
};

/* ROOT is put before "/sys/fs/cgroup" and "/proc": "" outside tests. */
void usage_read(const char *root, struct usage *ret);
/* Percent, 0 to 100, of all CPUs that may be used. */
double usage_cpu_percent(const struct usage *before, const struct usage *now);

#endif
