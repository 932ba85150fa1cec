// SPDX-License-Identifier: Apache-2.0
#include "process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <osb/alloc.h>
#include <osb/buf.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    STAT_MAX = 4096,              /* bytes of /proc/PID/stat */
    ENVIRON_MAX = 4 * 1024 * 1024 /* bytes of /proc/PID/environ */
};

struct process {
    pid_t pid;
    pid_t parent;
    pid_t group;
    bool is_below;  /* descends from execd */
    bool is_member; /* of the command */
};

struct processes {
    struct process *list;
    size_t count;
    size_t cap;
};

static void processes_done(struct processes *all)
{
    free(all->list);
}

/* Reads one process; false for one that is gone or a zombie. */
static bool read_process(pid_t pid, struct process *ret)
{
    _cleanup_buf_ struct osb_buf text = {0};
    char path[64];
    char state;
    int parent;
    int group;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (osb_read_file(path, STAT_MAX, &text, NULL) < 0)
        return false;
    /* The name in parentheses may hold anything, also parentheses. */
    const char *fields = strrchr(osb_buf_cstr(&text), ')');
    if (!fields || sscanf(fields + 1, " %c %d %d", &state, &parent, &group) != 3 || state == 'Z' ||
        state == 'X')
        return false;
    *ret = (struct process){.pid = pid, .parent = parent, .group = group};
    return true;
}

static int read_processes(struct processes *all)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    if (!dir)
        return -errno;
    while ((entry = readdir(dir))) {
        uint64_t pid;
        if (osb_slice_to_u64(osb_slice_str(entry->d_name), &pid) < 0)
            continue;
        osb_grow(all->list, all->count, all->cap);
        if (read_process((pid_t)pid, &all->list[all->count]))
            all->count++;
    }
    closedir(dir);
    return 0;
}

static bool has_mark(pid_t pid, const char *mark)
{
    _cleanup_buf_ struct osb_buf text = {0};
    _cleanup_free_ char *wanted = osb_asprintf(PROCESS_MARK "=%s", mark);
    struct osb_slice var;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    if (osb_read_file(path, ENVIRON_MAX, &text, NULL) < 0)
        return false;
    struct osb_slice rest = osb_buf_slice(&text);
    while (osb_slice_split(&rest, '\0', &var))
        if (osb_slice_eq_str(var, wanted))
            return true;
    return false;
}

static const struct process *find(const struct processes *all, pid_t pid)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].pid == pid)
            return &all->list[i];
    return NULL;
}

/* Hands both flags down from parents to children until nothing changes. */
static void inherit_flags(struct processes *all)
{
    bool is_changed = true;
    pid_t self = getpid();

    while (is_changed) {
        is_changed = false;
        for (size_t i = 0; i < all->count; i++) {
            struct process *p = &all->list[i];
            const struct process *parent = find(all, p->parent);
            bool is_below = p->is_below || p->parent == self || (parent && parent->is_below);
            bool is_member = p->is_member || (parent && parent->is_member);
            is_changed = is_changed || is_below != p->is_below || is_member != p->is_member;
            p->is_below = is_below;
            p->is_member = is_member;
        }
    }
}

static void find_members(struct processes *all, pid_t leader, const char *mark)
{
    inherit_flags(all);
    for (size_t i = 0; i < all->count; i++) {
        struct process *p = &all->list[i];
        if (p->is_below && leader > 0 && (p->pid == leader || p->group == leader))
            p->is_member = true;
    }
    inherit_flags(all);
    for (size_t i = 0; i < all->count; i++) {
        struct process *p = &all->list[i];
        if (p->is_below && !p->is_member)
            p->is_member = has_mark(p->pid, mark);
    }
    inherit_flags(all);
}

int process_tree_signal(pid_t leader, const char *mark, int signo, int *ret_denied)
{
    __attribute__((cleanup(processes_done))) struct processes all = {0};
    int found = 0;
    int r = read_processes(&all);

    if (r < 0)
        return r;
    find_members(&all, leader, mark);
    for (size_t i = 0; i < all.count; i++) {
        if (!all.list[i].is_member)
            continue;
        int error = kill(all.list[i].pid, signo) < 0 ? errno : 0;
        found += error != ESRCH;
        *ret_denied += error == EPERM;
    }
    return found;
}
