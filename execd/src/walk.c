// SPDX-License-Identifier: Apache-2.0
#include "walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/buf.h>
#include <osb/cleanup.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One folder whose entries are being visited. */
struct level {
    char *path;
    char **names; /* sorted */
    size_t count;
    size_t next;
};

struct walk {
    struct level *levels;
    size_t depth;
    size_t cap;
    uint64_t max_depth;
    walk_fn *fn;
    void *arg;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int read_names(const char *path, struct level *level)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    size_t cap = 0;

    if (!dir) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return -error;
    }
    while ((entry = readdir(dir))) {
        if (is_dots(entry->d_name))
            continue;
        osb_grow(level->names, level->count, cap);
        level->names[level->count++] = osb_strdup(entry->d_name);
    }
    closedir(dir);
    if (level->count > 1)
        qsort(level->names, level->count, sizeof(*level->names), compare);
    return 0;
}

static int enter(struct walk *walk, const char *path)
{
    struct level level = {0};
    int r = read_names(path, &level);

    if (r < 0)
        return r;
    level.path = osb_strdup(path);
    osb_grow(walk->levels, walk->depth, walk->cap);
    walk->levels[walk->depth++] = level;
    return 0;
}

static void leave(struct walk *walk)
{
    struct level *level = &walk->levels[--walk->depth];

    for (size_t i = 0; i < level->count; i++)
        free(level->names[i]);
    free(level->names);
    free(level->path);
}

int walk_new(const char *root, uint64_t depth, walk_fn *fn, void *arg, struct walk **ret,
             struct osb_err *err)
{
    struct walk *walk = osb_new(struct walk);

    walk->max_depth = depth;
    walk->fn = fn;
    walk->arg = arg;
    int r = depth > 0 ? enter(walk, root) : 0;
    if (r < 0) {
        walk_free(walk);
        return osb_fail(err, r, "%s: %s", root, strerror(-r));
    }
    *ret = walk;
    return 0;
}

static void visit(struct walk *walk, struct level *level)
{
    const char *folder = strcmp(level->path, "/") == 0 ? "" : level->path;
    _cleanup_free_ char *path = osb_asprintf("%s/%s", folder, level->names[level->next++]);
    struct stat st;

    if (lstat(path, &st) < 0)
        return;
    walk->fn(path, &st, walk->arg);
    if (S_ISDIR(st.st_mode) && walk->depth < walk->max_depth)
        (void)enter(walk, path);
}

bool walk_step(struct walk *walk, int count)
{
    while (walk->depth > 0) {
        struct level *level = &walk->levels[walk->depth - 1];
        if (level->next >= level->count) {
            leave(walk);
            continue;
        }
        if (count-- == 0)
            return true;
        visit(walk, level);
    }
    return false;
}

void walk_free(struct walk *walk)
{
    if (!walk)
        return;
    while (walk->depth > 0)
        leave(walk);
    free(walk->levels);
    free(walk);
}
