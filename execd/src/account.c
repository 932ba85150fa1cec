// SPDX-License-Identifier: Apache-2.0
#include "account.h"

#include <osb/buf.h>
#include <osb/fd.h>
#include <stdio.h>

static const char passwd_path[] = "/etc/passwd";
static const char group_path[] = "/etc/group";

enum {
    ACCOUNT_FILE_MAX = 1024 * 1024, /* bytes of passwd or group */
    ACCOUNT_FIELDS = 4,             /* name, password, id, and gid or members */
};

struct row {
    struct osb_slice field[ACCOUNT_FIELDS];
    uint64_t id;
};

/* Cuts the next well-formed row off *REST. */
static bool next_row(struct osb_slice *rest, struct row *ret)
{
    struct osb_slice line;

    while (osb_slice_split(rest, '\n', &line)) {
        int count = 0;
        while (count < ACCOUNT_FIELDS && osb_slice_split(&line, ':', &ret->field[count]))
            count++;
        if (count == 3) /* "group:x:0" without members */
            ret->field[count++] = OSB_SLICE_NULL;
        if (count == ACCOUNT_FIELDS && osb_slice_to_u64(ret->field[2], &ret->id) == 0 &&
            ret->id < UINT32_MAX)
            return true;
    }
    return false;
}

static bool find_name(const char *path, struct osb_slice name, uint64_t *ret)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct row row;

    if (osb_read_file(path, ACCOUNT_FILE_MAX, &text, NULL) < 0)
        return false;
    struct osb_slice rest = osb_buf_slice(&text);
    while (next_row(&rest, &row)) {
        if (osb_slice_eq(row.field[0], name)) {
            *ret = row.id;
            return true;
        }
    }
    return false;
}

static const char *name_of(const char *path, uint64_t id, char *buffer)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct row row;

    if (osb_read_file(path, ACCOUNT_FILE_MAX, &text, NULL) == 0) {
        struct osb_slice rest = osb_buf_slice(&text);
        while (next_row(&rest, &row)) {
            if (row.id == id && row.field[0].len > 0 && row.field[0].len < ACCOUNT_NAME_MAX) {
                snprintf(buffer, ACCOUNT_NAME_MAX, "%.*s", OSB_SLICE_ARG(row.field[0]));
                return buffer;
            }
        }
    }
    snprintf(buffer, ACCOUNT_NAME_MAX, "%llu", (unsigned long long)id);
    return buffer;
}

static int find_id(const char *path, const char *what, struct osb_slice name, uint64_t *ret,
                   struct osb_err *err)
{
    if (find_name(path, name, ret))
        return 0;
    if (osb_slice_to_u64(name, ret) == 0 && *ret < UINT32_MAX)
        return 0;
    return osb_fail(err, -OSB_E_NOT_FOUND, "no %s of that name", what);
}

int account_find_user(struct osb_slice name, uid_t *ret, struct osb_err *err)
{
    uint64_t id;
    int r = find_id(passwd_path, "user", name, &id, err);

    if (r == 0)
        *ret = (uid_t)id;
    return r;
}

int account_find_group(struct osb_slice name, gid_t *ret, struct osb_err *err)
{
    uint64_t id;
    int r = find_id(group_path, "group", name, &id, err);

    if (r == 0)
        *ret = (gid_t)id;
    return r;
}

const char *account_user_name(uid_t uid, char buffer[static ACCOUNT_NAME_MAX])
{
    return name_of(passwd_path, uid, buffer);
}

const char *account_group_name(gid_t gid, char buffer[static ACCOUNT_NAME_MAX])
{
    return name_of(group_path, gid, buffer);
}

static bool is_member(struct osb_slice members, struct osb_slice name)
{
    struct osb_slice member;

    while (osb_slice_split(&members, ',', &member))
        if (osb_slice_eq(osb_slice_trim(member), name))
            return true;
    return false;
}

static void load_groups(struct osb_slice name, struct account *account)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct row row;

    if (osb_read_file(group_path, ACCOUNT_FILE_MAX, &text, NULL) < 0)
        return;
    struct osb_slice rest = osb_buf_slice(&text);
    while (account->group_count < ACCOUNT_MAX_GROUPS && next_row(&rest, &row))
        if (row.id != account->gid && is_member(row.field[3], name))
            account->groups[account->group_count++] = (gid_t)row.id;
}

void account_load(uid_t uid, struct account *ret)
{
    _cleanup_buf_ struct osb_buf text = {0};
    uint64_t gid;
    struct row row;

    *ret = (struct account){.uid = uid, .gid = uid};
    if (osb_read_file(passwd_path, ACCOUNT_FILE_MAX, &text, NULL) == 0) {
        struct osb_slice rest = osb_buf_slice(&text);
        while (next_row(&rest, &row)) {
            if (row.id != uid || osb_slice_to_u64(row.field[3], &gid) < 0)
                continue;
            ret->gid = (gid_t)gid;
            ret->groups[ret->group_count++] = ret->gid;
            load_groups(row.field[0], ret);
            return;
        }
    }
    ret->groups[ret->group_count++] = ret->gid;
}
