// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <dirent.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lock_file.h"

enum { FOLDER_MODE = 0755, FILE_MODE = 0555 };

/* FNV-1a, 64 bits: a name, no proof. What is in a folder of that name is compared byte by byte. */
#define FNV_OFFSET 0xcbf29ce484222325ULL
#define FNV_PRIME  0x100000001b3ULL

static uint64_t hash(uint64_t h, struct osb_slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        h = (h ^ (uint8_t)bytes.data[i]) * FNV_PRIME;
    return h;
}

static bool is_same(const char *path, struct osb_slice content)
{
    _cleanup_buf_ struct osb_buf there = {0};
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == FILE_MODE &&
           osb_read_file(path, FILES_SIZE_MAX, &there, NULL) == 0 &&
           osb_slice_eq(osb_buf_slice(&there), content);
}

static int put(const char *path, struct osb_slice content, struct osb_err *err)
{
    return is_same(path, content) ? 0 : osb_write_file(path, content, FILE_MODE, err);
}

static int read_source(const char *path, struct osb_buf *out, struct osb_err *err)
{
    int r = osb_read_file(path, FILES_SIZE_MAX, out, err);

    if (r >= 0 && osb_buf_slice(out).len == 0)
        r = osb_fail(err, -OSB_E_INVALID, "%s is empty", path);
    return r;
}

/* Containers run what lies here: better told now than by each of them. */
static int check_folder(const char *folder, struct osb_err *err)
{
    struct statvfs fs;
    struct stat st;

    if (stat(folder, &st) < 0)
        return osb_fail(err, -errno, "%s: %s", folder, strerror(errno));
    if (st.st_uid != geteuid())
        return osb_fail(err, -OSB_E_PRECONDITION,
                        "%s belongs to user %u, who could change what "
                        "containers run",
                        folder, (unsigned)st.st_uid);
    if (statvfs(folder, &fs) == 0 && (fs.f_flag & ST_NOEXEC))
        return osb_fail(err, -OSB_E_PRECONDITION, "%s is on a file system mounted noexec", folder);
    return 0;
}

static int fill(struct files *files, struct osb_slice execd, struct osb_slice bootstrap,
                struct osb_err *err)
{
    _cleanup_free_ char *folder = NULL;
    int r;

    snprintf(files->version, sizeof(files->version), "%016llx",
             (unsigned long long)hash(hash(FNV_OFFSET, execd), bootstrap));
    folder = osb_path_join(files->folder, files->version);
    files->execd = osb_path_join(folder, "execd");
    files->bootstrap = osb_path_join(folder, "bootstrap.sh");
    r = osb_mkdir_p(folder, FOLDER_MODE, err);
    if (r < 0)
        return r;
    /* Whatever the umask: any user of a container is to find it. */
    if (chmod(files->folder, FOLDER_MODE) < 0 || chmod(folder, FOLDER_MODE) < 0)
        return osb_fail(err, -errno, "open %s to all: %s", folder, strerror(errno));
    r = put(files->execd, execd, err);
    return r < 0 ? r : put(files->bootstrap, bootstrap, err);
}

static int open_and_fill(struct files *files, const char *execd_path, const char *bootstrap_path,
                         struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf execd = {0};
    _cleanup_buf_ struct osb_buf bootstrap = {0};
    _cleanup_free_ char *lock = osb_path_join(files->folder, "lock");
    int r = read_source(execd_path, &execd, err);

    if (r >= 0)
        r = read_source(bootstrap_path, &bootstrap, err);
    if (r >= 0)
        r = osb_mkdir_p(files->folder, FOLDER_MODE, err);
    if (r >= 0)
        r = check_folder(files->folder, err);
    if (r >= 0)
        r = lock_file_take(lock, &files->lock, err);
    return r < 0 ? r : fill(files, osb_buf_slice(&execd), osb_buf_slice(&bootstrap), err);
}

/* "/x/" is "/x": paths of mounts are compared with it. */
static struct osb_slice without_end(struct osb_slice path)
{
    while (path.len > 1 && path.data[path.len - 1] == '/')
        path.len--;
    return path;
}

int files_open(const char *folder, const char *execd, const char *bootstrap, struct files **ret,
               struct osb_err *err)
{
    struct files *files = osb_new(struct files);
    int r;

    files->folder = osb_slice_dup(without_end(osb_slice_str(folder)));
    files->lock = -1;
    r = open_and_fill(files, execd, bootstrap, err);
    if (r < 0) {
        files_free(files);
        return osb_wrap(err, r, "files for containers");
    }
    *ret = files;
    return 0;
}

void files_free(struct files *files)
{
    if (!files)
        return;
    if (files->lock >= 0)
        close(files->lock);
    free(files->folder);
    free(files->execd);
    free(files->bootstrap);
    free(files);
}

struct inject_files files_paths(const struct files *files)
{
    return files ? (struct inject_files){files->execd, files->bootstrap} : (struct inject_files){0};
}

/* ---- versions of the past ---- */

static bool is_version(const char *name)
{
    return strlen(name) == FILES_VERSION_LEN &&
           strspn(name, "0123456789abcdef") == FILES_VERSION_LEN;
}

int files_old(const struct files *files, struct files_versions *ret, struct osb_err *err)
{
    struct files_versions found = {0};
    size_t cap = 0;
    DIR *folder = opendir(files->folder);
    const struct dirent *entry;

    if (!folder)
        return osb_fail(err, -errno, "read %s: %s", files->folder, strerror(errno));
    while (found.count < FILES_OLD_MAX && (entry = readdir(folder))) {
        if (!is_version(entry->d_name) || strcmp(entry->d_name, files->version) == 0)
            continue;
        osb_grow(found.names, found.count, cap);
        memcpy(found.names[found.count++], entry->d_name, FILES_VERSION_LEN + 1);
    }
    closedir(folder);
    *ret = found;
    return 0;
}

void files_versions_done(struct files_versions *versions)
{
    free(versions->names);
    *versions = (struct files_versions){0};
}

static bool is_inside(struct osb_slice path, const struct files *files, const char *version)
{
    struct osb_slice folder = osb_slice_str(files->folder);
    struct osb_slice rest = osb_slice_from(path, folder.len);

    return osb_slice_starts(path, folder) && osb_slice_starts(rest, OSB_SLICE("/")) &&
           osb_slice_starts(osb_slice_from(rest, 1), osb_slice(version, FILES_VERSION_LEN));
}

void files_versions_keep(struct files_versions *versions, const struct files *files,
                         struct osb_slice host_path)
{
    for (size_t i = 0; i < versions->count; i++) {
        if (!is_inside(host_path, files, versions->names[i]))
            continue;
        versions->count--;
        memmove(versions->names[i], versions->names[versions->count], FILES_VERSION_LEN + 1);
        return;
    }
}

int files_remove(const struct files *files, const char *version, struct osb_err *err)
{
    _cleanup_free_ char *folder = NULL;

    osb_assert(is_version(version) && strcmp(version, files->version) != 0);
    folder = osb_path_join(files->folder, version);
    return osb_remove_tree(folder, err);
}
