// SPDX-License-Identifier: Apache-2.0
/*
 * Removal of a tree whose content nobody vouches for: it may be changed meanwhile, hold links out
 * of it, mounts of other trees, and folders nested deeper than there are descriptors. So every
 * step starts at the descriptor of an opened folder, and nothing is found by a path twice.
 */
#include <osb/fd.h>

#include <dirent.h>
#include <fcntl.h>
#include <osb/cleanup.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders open at a time. Deeper ones are moved up to the top and wait there for their turn. */
enum { REMOVE_DEPTH_MAX = 32 };

struct removal {
    int top_fd; /* -1 until the top folder is open */
    uint64_t moved;
};

OSB_DEFINE_CLEANUP(DIR, close_dir, closedir);

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A folder on which something is mounted looks like the mount, not like our folder. */
static int refuse_mount(int fd)
{
    struct statx stx;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &stx) < 0)
        return -errno;
    return stx.stx_attributes & STATX_ATTR_MOUNT_ROOT ? -EBUSY : 0;
}

static int open_folder(int at, const char *name, DIR **ret_dir)
{
    _cleanup_close_ int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = refuse_mount(fd);
    if (r < 0)
        return r;
    DIR *dir = fdopendir(fd);
    if (!dir)
        return -errno;
    osb_take_fd(&fd);
    *ret_dir = dir;
    return 0;
}

static int move_to_top(struct removal *removal, int at, const char *name)
{
    char target[64];
    for (;;) {
        snprintf(target, sizeof(target), ".osb-removed-%llu", (unsigned long long)removal->moved++);
        if (renameat2(at, name, removal->top_fd, target, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EEXIST)
            return -errno;
    }
}

static int remove_entry(struct removal *removal, int at, const char *name, int depth);

/* Removes what DIR lists; the number of entries that it found, or an error. */
static int empty_once(struct removal *removal, DIR *dir, int depth)
{
    int found = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            return errno ? -errno : found;
        if (is_dots(entry->d_name))
            continue;
        int r = remove_entry(removal, dirfd(dir), entry->d_name, depth);
        if (r < 0)
            return r;
        found = 1;
    }
}

static int remove_folder(struct removal *removal, int at, const char *name, int depth)
{
    OSB_CLEANUP(close_dir) DIR *dir = NULL;
    int r = open_folder(at, name, &dir);
    if (r < 0)
        return r;
    if (removal->top_fd < 0)
        removal->top_fd = dirfd(dir);
    /* A listing may skip names while others go away, and the top one gains some: until empty. */
    do {
        rewinddir(dir);
        r = empty_once(removal, dir, depth);
    } while (r > 0);
    if (r < 0)
        return r;
    return unlinkat(at, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* Something that went away by itself is as good as removed. */
static int remove_entry(struct removal *removal, int at, const char *name, int depth)
{
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
        return 0;
    /* POSIX says EPERM for a folder, Linux says EISDIR; EPERM may also be a real refusal. */
    int refused = -errno;
    if (refused != -EISDIR && refused != -EPERM)
        return refused;
    struct stat st;
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISDIR(st.st_mode))
        return refused;
    int r = depth == REMOVE_DEPTH_MAX ? move_to_top(removal, at, name)
                                      : remove_folder(removal, at, name, depth + 1);
    return r == -ENOENT ? 0 : r;
}

int osb_remove_tree(const char *path, struct osb_err *err)
{
    struct removal removal = {.top_fd = -1};
    int r = remove_entry(&removal, AT_FDCWD, path, 0);
    if (r < 0)
        return osb_fail(err, r, "remove %s: %s", path, strerror(-r));
    return 0;
}
