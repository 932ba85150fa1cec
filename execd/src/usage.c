// SPDX-License-Identifier: Apache-2.0
#include "usage.h"

#include <osb/alloc.h>
#include <osb/buf.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/fd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { USAGE_FILE_MAX = 256 * 1024 }; /* bytes of one kernel file */

static bool read_text(const char *root, const char *path, struct osb_buf *out)
{
    _cleanup_free_ char *full = osb_asprintf("%s%s", root, path);

    return osb_read_file(full, USAGE_FILE_MAX, out, NULL) == 0;
}

/* The number at the start of a file; false for none, "max" included. */
static bool read_number(const char *root, const char *path, uint64_t *ret)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_slice line = OSB_SLICE_NULL;

    if (!read_text(root, path, &text))
        return false;
    struct osb_slice rest = osb_buf_slice(&text);
    osb_slice_split(&rest, '\n', &line);
    return osb_slice_to_u64(osb_slice_trim(line), ret) == 0;
}

/* The number behind NAME in a file of "name number" lines; a colon and a unit may be there. */
static bool read_field(const char *root, const char *path, const char *name, uint64_t *ret)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_slice line;
    struct osb_slice word;

    if (!read_text(root, path, &text))
        return false;
    struct osb_slice rest = osb_buf_slice(&text);
    while (osb_slice_split(&rest, '\n', &line)) {
        struct osb_slice words = line;
        if (!osb_slice_split(&words, ' ', &word) || !osb_slice_eq_str(word, name))
            continue;
        while (osb_slice_split(&words, ' ', &word))
            if (word.len > 0)
                return osb_slice_to_u64(word, ret) == 0;
    }
    return false;
}

static double cpus_there(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return CPU_COUNT(&set);
    return (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The quota as a number of CPUs, 0 for none. */
static double read_quota(const char *root)
{
    _cleanup_buf_ struct osb_buf text = {0};
    uint64_t quota = 0;
    uint64_t period = 0;

    if (read_text(root, "/sys/fs/cgroup/cpu.max", &text)) {
        unsigned long long a = 0;
        unsigned long long b = 0;
        if (sscanf(osb_buf_cstr(&text), "%llu %llu", &a, &b) == 2 && b > 0)
            return (double)a / (double)b;
        return 0;
    }
    if (read_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota) &&
        read_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period) && period > 0)
        return (double)quota / (double)period;
    return 0;
}

/* Ticks of all CPUs that were neither idle nor waiting for a disk. */
static uint64_t read_machine_cpu(const char *root)
{
    _cleanup_buf_ struct osb_buf text = {0};
    unsigned long long t[8] = {0};

    if (!read_text(root, "/proc/stat", &text) ||
        sscanf(osb_buf_cstr(&text), "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1],
               &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) < 8)
        return 0;
    uint64_t busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
    return busy * (OSB_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void read_cpu(const char *root, struct usage *usage)
{
    double quota = read_quota(root);
    uint64_t us;

    usage->cpu_count = cpus_there();
    if (quota > 0 && quota < usage->cpu_count)
        usage->cpu_count = quota;
    if (read_field(root, "/sys/fs/cgroup/cpu.stat", "usage_usec", &us))
        usage->cpu_used_ns = us * 1000;
    else if (!read_number(root, "/sys/fs/cgroup/cpuacct/cpuacct.usage", &usage->cpu_used_ns))
        usage->cpu_used_ns = read_machine_cpu(root);
}

static void read_machine_memory(const char *root, struct usage *usage)
{
    uint64_t total = 0;
    uint64_t available = 0;

    read_field(root, "/proc/meminfo", "MemTotal:", &total);
    read_field(root, "/proc/meminfo", "MemAvailable:", &available);
    usage->memory_total = total * 1024;
    usage->memory_used = (total - (available < total ? available : total)) * 1024;
}

static void use_group_memory(struct usage *usage, uint64_t limit, uint64_t used,
                             uint64_t reclaimable)
{
    usage->memory_used = used > reclaimable ? used - reclaimable : 0;
    /* Version 1 says "no limit" with a very large number. */
    if (limit > 0 && limit < usage->memory_total)
        usage->memory_total = limit;
    if (usage->memory_used > usage->memory_total)
        usage->memory_used = usage->memory_total;
}

static void read_memory(const char *root, struct usage *usage)
{
    uint64_t limit = 0;
    uint64_t used = 0;
    uint64_t reclaimable = 0;

    read_machine_memory(root, usage);
    if (read_number(root, "/sys/fs/cgroup/memory.current", &used)) {
        read_number(root, "/sys/fs/cgroup/memory.max", &limit);
        read_field(root, "/sys/fs/cgroup/memory.stat", "inactive_file", &reclaimable);
        use_group_memory(usage, limit, used, reclaimable);
    } else if (read_number(root, "/sys/fs/cgroup/memory/memory.usage_in_bytes", &used)) {
        read_number(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", &limit);
        read_field(root, "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file", &reclaimable);
        use_group_memory(usage, limit, used, reclaimable);
    }
}

void usage_read(const char *root, struct usage *ret)
{
    *ret = (struct usage){.taken_ns = osb_monotonic_ns()};
    read_cpu(root, ret);
    read_memory(root, ret);
}

double usage_cpu_percent(const struct usage *before, const struct usage *now)
{
    if (now->taken_ns <= before->taken_ns || now->cpu_used_ns <= before->cpu_used_ns ||
        now->cpu_count <= 0)
        return 0;
    double used = (double)(now->cpu_used_ns - before->cpu_used_ns);
    double could = (double)(now->taken_ns - before->taken_ns) * now->cpu_count;
    return used >= could ? 100 : used / could * 100;
}
