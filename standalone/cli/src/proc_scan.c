// SPDX-License-Identifier: Apache-2.0
#include "proc_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <osb/buf.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/fd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CMDLINE_MAX = 256 * 1024,
    CGROUP_MAX = 64 * 1024,
    ROUND_WAIT_MS = 200,
    MAX_ANCESTORS = 64,
};

static int read_proc(pid_t pid, const char *name, size_t max, struct osb_buf *out)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return osb_read_file(path, max, out, NULL);
}

/* State letter and parent of a process; false when it is gone. */
static bool read_stat(pid_t pid, char *ret_state, pid_t *ret_parent)
{
    _cleanup_buf_ struct osb_buf stat = {0};
    if (read_proc(pid, "stat", CGROUP_MAX, &stat) < 0)
        return false;
    /* The command may hold blanks and brackets: fields count from the last ')'. */
    const char *after = strrchr(osb_buf_cstr(&stat), ')');
    return after && sscanf(after, ") %c %d", ret_state, ret_parent) == 2;
}

static pid_t parent_of(pid_t pid)
{
    char state;
    pid_t parent = 0;
    return read_stat(pid, &state, &parent) ? parent : 0;
}

/* Ended, and waiting for its parent: nothing of it is left to end. */
static bool is_zombie(pid_t pid)
{
    char state;
    pid_t parent;
    return read_stat(pid, &state, &parent) && state == 'Z';
}

static bool is_own_ancestor(pid_t pid)
{
    pid_t own = getpid();
    for (int i = 0; own > 0 && i < MAX_ANCESTORS; i++, own = parent_of(own)) {
        if (own == pid)
            return true;
    }
    return false;
}

/* True when an argument of the NUL-separated LINE is FOLDER, is below it, or names it after '='
 * or "://". */
static bool names_folder(struct osb_slice line, const char *folder)
{
    struct osb_slice needle = osb_slice_str(folder);
    while (line.len >= needle.len) {
        ptrdiff_t at = osb_slice_find_slice(line, needle);
        if (at < 0)
            return false;
        struct osb_slice rest = osb_slice_from(line, (size_t)at + needle.len);
        char before = at ? line.data[at - 1] : '\0';
        char after = rest.len ? rest.data[0] : '\0';
        bool is_start = before == '\0' || before == '=' || before == '/';
        if (is_start && (after == '\0' || after == '/'))
            return true;
        line = rest;
    }
    return false;
}

static bool classify(const struct instance *instance, pid_t pid, enum proc_kind *ret)
{
    if (is_zombie(pid))
        return false;
    _cleanup_buf_ struct osb_buf cgroup = {0};
    if (read_proc(pid, "cgroup", CGROUP_MAX, &cgroup) >= 0) {
        struct osb_slice rest = osb_buf_slice(&cgroup), line;
        while (osb_slice_split(&rest, '\n', &line)) {
            ptrdiff_t at = osb_slice_find_slice(line, osb_slice_str(instance->cgroup));
            if (at > 0 && line.data[at - 1] == ':') {
                *ret = PROC_CONTAINER;
                return true;
            }
        }
    }
    _cleanup_buf_ struct osb_buf cmdline = {0};
    if (read_proc(pid, "cmdline", CMDLINE_MAX, &cmdline) < 0 || cmdline.len == 0)
        return false;
    struct osb_slice line = osb_buf_slice(&cmdline);
    struct osb_slice program = osb_slice_first(line, strnlen(line.data, line.len));
    ptrdiff_t slash;
    while ((slash = osb_slice_find(program, '/')) >= 0)
        program = osb_slice_from(program, (size_t)slash + 1);
    bool is_shim = osb_slice_starts(program, OSB_SLICE("containerd-shim"));
    /* Of `opensandbox` itself only the supervisor counts: `opensandbox logs` is somebody's. */
    bool is_part = osb_slice_eq_str(program, "containerd") ||
                   osb_slice_starts(program, OSB_SLICE("opensandbox-")) ||
                   (osb_slice_eq_str(program, "opensandbox") &&
                    osb_slice_find_slice(line, osb_slice("\0supervise", 11)) > 0);
    if ((!is_shim && !is_part) ||
        (!names_folder(line, instance->run) && !names_folder(line, instance->state)))
        return false;
    *ret = is_shim ? PROC_SHIM : PROC_PART;
    return true;
}

int proc_scan(const struct instance *instance, proc_scan_fn *fn, void *arg, struct osb_err *err)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return osb_fail(err, -errno, "/proc: %s", strerror(errno));
    for (struct dirent *entry; (entry = readdir(proc));) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        enum proc_kind kind;
        if (classify(instance, pid, &kind) && !is_own_ancestor(pid))
            fn(pid, kind, arg);
    }
    closedir(proc);
    return 0;
}

struct kill_round {
    const struct instance *instance;
    unsigned kinds;
    int count;
};

static void kill_one(pid_t pid, enum proc_kind kind, void *arg)
{
    struct kill_round *round = arg;
    if (!(round->kinds & 1U << kind))
        return;
    /* A pidfd first, then a second look: the number may have gone to another process. */
    _cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    enum proc_kind again;
    if (pidfd < 0 || !classify(round->instance, pid, &again))
        return;
    if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0) {
        struct pollfd wait = {.fd = pidfd, .events = POLLIN};
        round->count++;
        (void)poll(&wait, 1, ROUND_WAIT_MS);
    }
}

int proc_kill(const struct instance *instance, unsigned kinds, int timeout_ms, struct osb_err *err)
{
    uint64_t deadline = osb_monotonic_ns() + (uint64_t)timeout_ms * OSB_NS_PER_MS;
    int total = 0;
    for (;;) {
        struct kill_round round = {.instance = instance, .kinds = kinds};
        int r = proc_scan(instance, kill_one, &round, err);
        if (r < 0)
            return r;
        if (!round.count)
            return total;
        total += round.count;
        if (osb_monotonic_ns() > deadline)
            return osb_fail(err, -OSB_E_TIMEOUT,
                            "processes of instance %s are still there after %d ms", instance->id,
                            timeout_ms);
    }
}

struct find_one {
    enum proc_kind kind;
    pid_t pid;
};

static void find_kind(pid_t pid, enum proc_kind kind, void *arg)
{
    struct find_one *find = arg;
    if (kind == find->kind && !find->pid)
        find->pid = pid;
}

pid_t proc_find(const struct instance *instance, enum proc_kind kind)
{
    struct find_one find = {.kind = kind};
    (void)proc_scan(instance, find_kind, &find, NULL);
    return find.pid;
}
