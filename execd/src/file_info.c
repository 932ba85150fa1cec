// SPDX-License-Identifier: Apache-2.0
#include "file_info.h"

#include "account.h"
#include "permission.h"

#include <osb/clock.h>

static const char *type_of(mode_t mode)
{
    if (S_ISREG(mode))
        return "file";
    if (S_ISDIR(mode))
        return "directory";
    return S_ISLNK(mode) ? "symlink" : "other";
}

static void kv_time(struct osb_json_writer *w, const char *key, struct timespec t)
{
    char text[OSB_RFC3339_MAX];

    osb_rfc3339_format(text, (int64_t)t.tv_sec * (int64_t)OSB_NS_PER_S + t.tv_nsec, 9);
    osb_json_kv_string(w, key, text);
}

void file_info_write(struct osb_json_writer *w, const char *path, const struct stat *st)
{
    char name[ACCOUNT_NAME_MAX];

    osb_json_begin_object(w);
    osb_json_kv_string(w, "path", path);
    osb_json_kv_string(w, "type", type_of(st->st_mode));
    osb_json_kv_i64(w, "size", st->st_size);
    kv_time(w, "modified_at", st->st_mtim);
    kv_time(w, "created_at", st->st_ctim);
    osb_json_kv_string(w, "owner", account_user_name(st->st_uid, name));
    osb_json_kv_string(w, "group", account_group_name(st->st_gid, name));
    osb_json_kv_i64(w, "mode", permission_mode_digits(st->st_mode));
    osb_json_end_object(w);
}
