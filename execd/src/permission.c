// SPDX-License-Identifier: Apache-2.0
#include "permission.h"

#include "account.h"
#include "json_input.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int permission_parse_mode(int64_t digits, mode_t *ret, struct osb_err *err)
{
    mode_t mode = 0;

    if (digits < 0 || digits > 7777)
        return osb_fail(err, -OSB_E_INVALID, "mode out of range");
    for (int shift = 0; digits > 0; digits /= 10, shift += 3) {
        if (digits % 10 > 7)
            return osb_fail(err, -OSB_E_INVALID, "mode holds a digit that is not octal");
        mode |= (mode_t)(digits % 10) << shift;
    }
    *ret = mode;
    return 0;
}

int permission_mode_digits(mode_t mode)
{
    return (int)(mode >> 6 & 7) * 100 + (int)(mode >> 3 & 7) * 10 + (int)(mode & 7);
}

/* Errors of values are kept in ERR; the reader fails so that the caller stops. */
static void fail(struct osb_json_reader *r, int code)
{
    osb_json_reader_fail(r, code, "bad permission");
}

static void read_owner(struct osb_json_reader *r, struct osb_arena *arena,
                       struct permission *permission, struct osb_err *err)
{
    struct osb_slice name = OSB_SLICE_NULL;

    osb_json_read_string(r, arena, &name);
    if (name.len == 0)
        return;
    int code = account_find_user(name, &permission->owner, err);
    permission->has_owner = code == 0;
    if (code < 0)
        fail(r, code);
}

static void read_group(struct osb_json_reader *r, struct osb_arena *arena,
                       struct permission *permission, struct osb_err *err)
{
    struct osb_slice name = OSB_SLICE_NULL;

    osb_json_read_string(r, arena, &name);
    if (name.len == 0)
        return;
    int code = account_find_group(name, &permission->group, err);
    permission->has_group = code == 0;
    if (code < 0)
        fail(r, code);
}

static void read_mode(struct osb_json_reader *r, struct permission *permission, struct osb_err *err)
{
    int64_t digits = 0;

    osb_json_read_i64(r, &digits);
    int code = permission_parse_mode(digits, &permission->mode, err);
    if (code < 0)
        fail(r, code);
}

bool permission_read_member(struct osb_json_reader *r, struct osb_slice key,
                            struct osb_arena *arena, struct permission *permission,
                            struct osb_err *err)
{
    if (osb_slice_ieq_str(key, "owner"))
        read_owner(r, arena, permission, err);
    else if (osb_slice_ieq_str(key, "group"))
        read_group(r, arena, permission, err);
    else if (osb_slice_ieq_str(key, "mode"))
        read_mode(r, permission, err);
    else
        return false;
    return true;
}

int permission_read(struct osb_json_reader *r, struct osb_arena *arena, struct permission *ret,
                    struct osb_err *err)
{
    struct osb_slice key;

    *ret = (struct permission){0};
    if (osb_json_read_null(r))
        return 0;
    osb_json_enter_object(r);
    while (json_input_next_key(r, arena, &key))
        if (!permission_read_member(r, key, arena, ret, err))
            osb_json_skip(r);
    return err && err->code < 0 ? err->code : osb_json_reader_check(r, err);
}

int permission_apply(const struct permission *permission, int fd, const char *path,
                     struct osb_err *err)
{
    uid_t owner = permission->has_owner ? permission->owner : (uid_t)-1;
    gid_t group = permission->has_group ? permission->group : (gid_t)-1;

    /* The owner first: a change of owner takes the set-user-id bit away. */
    if (permission->has_owner || permission->has_group) {
        int r = fd >= 0 ? fchown(fd, owner, group) : chown(path, owner, group);
        if (r < 0)
            return osb_fail(err, -errno, "chown: %s", strerror(errno));
    }
    if (permission->mode != 0) {
        int r = fd >= 0 ? fchmod(fd, permission->mode) : chmod(path, permission->mode);
        if (r < 0)
            return osb_fail(err, -errno, "chmod: %s", strerror(errno));
    }
    return 0;
}
