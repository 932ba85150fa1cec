// SPDX-License-Identifier: Apache-2.0
#include "forwarding.h"

#include "nat_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/json_tree.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { UNDO_MAX = 1024 * 1024, SYSCTL_MAX = 256 };

static const char *const ip_forward = "/proc/sys/net/ipv4/ip_forward";
static const char *const conf_folder = "/proc/sys/net/ipv4/conf";

static int read_sysctl(const char *path, struct osb_buf *out)
{
    int r = osb_read_file(path, SYSCTL_MAX, out, NULL);
    if (r >= 0 && out->len && out->base[out->start + out->len - 1] == '\n')
        osb_buf_truncate(out, out->len - 1);
    return r;
}

static int write_sysctl(const char *path, struct osb_slice value, struct osb_err *err)
{
    _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    int r = osb_write_all(fd, value.data, value.len);
    if (r < 0)
        return osb_fail(err, r, "%s: %s", path, strerror(-r));
    return 0;
}

static void remember(struct osb_json *sysctls, const char *path)
{
    _cleanup_buf_ struct osb_buf value = {0};
    if (read_sysctl(path, &value) >= 0)
        osb_json_set(sysctls, path, osb_json_new_string(osb_buf_slice(&value)));
}

/* All that turning ip_forward on or off changes: see inet_forward_change() in the kernel. */
static struct osb_json *remember_all(void)
{
    struct osb_json *sysctls = osb_json_new_object();
    remember(sysctls, ip_forward); /* first: writing it back sets the others, which follow */
    DIR *dir = opendir(conf_folder);
    if (!dir)
        return sysctls;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        _cleanup_free_ char *forwarding =
            osb_asprintf("%s/%s/forwarding", conf_folder, entry->d_name);
        _cleanup_free_ char *redirects =
            osb_asprintf("%s/%s/accept_redirects", conf_folder, entry->d_name);
        remember(sysctls, forwarding);
        remember(sysctls, redirects);
    }
    closedir(dir);
    return sysctls;
}

static int take_back(const struct osb_json *sysctls, struct osb_err *err)
{
    void *cursor = NULL;
    struct osb_slice path;
    struct osb_json *value;
    while (osb_json_next_member(sysctls, &cursor, &path, &value)) {
        _cleanup_free_ char *name = osb_slice_dup(path);
        _cleanup_buf_ struct osb_buf now = {0};
        if (read_sysctl(name, &now) < 0 || osb_slice_eq(osb_buf_slice(&now), osb_json_str(value)))
            continue; /* the link is gone, or nothing changed */
        int r = write_sysctl(name, osb_json_str(value), err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Takes USER and users whose table is gone out of the list. */
static void forget_users(struct osb_json *users, const char *user)
{
    for (size_t i = osb_json_count(users); i-- > 0;) {
        const char *name = osb_json_cstr(osb_json_at(users, i));
        if (!name || !strcmp(name, user) || nat_table_exists(name, NULL) == 0)
            osb_json_remove_at(users, i);
    }
}

static int lock_and_load(const char *file, int *ret_lock, struct osb_json **ret,
                         struct osb_err *err)
{
    _cleanup_close_ int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) < 0)
        return osb_fail(err, -errno, "%s: %s", file, strerror(errno));
    _cleanup_buf_ struct osb_buf text = {0};
    int r = osb_read_file(file, UNDO_MAX, &text, err);
    if (r < 0)
        return r;
    if (text.len) {
        r = osb_json_parse(osb_buf_slice(&text), ret, err);
        if (r < 0)
            return osb_wrap(err, r, "%s", file);
    } else {
        *ret = osb_json_new_object();
    }
    if (osb_json_type(osb_json_get(*ret, "users")) != OSB_JSON_ARRAY)
        osb_json_set(*ret, "users", osb_json_new_array());
    *ret_lock = osb_take_fd(&fd);
    return 0;
}

/* In place: the lock is on this very file. A torn write would be reported, not trusted. */
static int save(int fd, const struct osb_json *undo, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(undo, &text);
    if (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(fd, 0) < 0 ||
        osb_write_all(fd, osb_buf_slice(&text).data, text.len) < 0)
        return osb_fail(err, -errno, "cannot write down the sysctls: %s", strerror(errno));
    return 0;
}

int forwarding_acquire(const char *file, const char *user, struct osb_err *err)
{
    _cleanup_close_ int lock = -1;
    _cleanup_json_ struct osb_json *undo = NULL;
    int r = lock_and_load(file, &lock, &undo, err);
    if (r < 0)
        return r;
    struct osb_json *users = osb_json_get(undo, "users");
    forget_users(users, user);
    if (!osb_json_count(users) && !osb_json_get(undo, "sysctls"))
        osb_json_set(undo, "sysctls", remember_all());
    osb_json_append(users, osb_json_new_str(user));
    r = save(lock, undo, err);
    if (r < 0)
        return r;
    _cleanup_buf_ struct osb_buf now = {0};
    if (read_sysctl(ip_forward, &now) >= 0 && osb_slice_eq_str(osb_buf_slice(&now), "1"))
        return 0;
    return write_sysctl(ip_forward, OSB_SLICE("1"), err);
}

int forwarding_release(const char *file, const char *user, struct osb_err *err)
{
    if (access(file, F_OK) < 0)
        return 0;
    _cleanup_close_ int lock = -1;
    _cleanup_json_ struct osb_json *undo = NULL;
    int r = lock_and_load(file, &lock, &undo, err);
    if (r < 0)
        return r;
    struct osb_json *users = osb_json_get(undo, "users");
    forget_users(users, user);
    if (osb_json_count(users))
        return save(lock, undo, err);
    r = take_back(osb_json_get(undo, "sysctls"), err);
    if (r >= 0 && unlink(file) < 0)
        r = osb_fail(err, -errno, "%s: %s", file, strerror(errno));
    return r;
}
