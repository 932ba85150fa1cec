// SPDX-License-Identifier: Apache-2.0
/*
 * Owner, group and mode as clients say them (execd contract 9.2): names (or digits where there is
 * no such name), and a mode that is the octal number written as if it were decimal: 755 is 0755,
 * 4755 sets the set-user-id bit. 0 or absent leaves the mode as it is.
 */
#ifndef EXECD_PERMISSION_H
#define EXECD_PERMISSION_H

#include <osb/arena.h>
#include <osb/err.h>
#include <osb/json_reader.h>
#include <sys/types.h>

struct permission {
    mode_t mode; /* 0: unchanged */
    bool has_owner;
    bool has_group;
    uid_t owner;
    gid_t group;
};

/* DIGITS as above; -OSB_E_INVALID for digits 8 and 9, or more than four digits. */
int permission_parse_mode(int64_t digits, mode_t *ret, struct osb_err *err);
/* The other way: the low nine bits of MODE as a number of octal digits. */
int permission_mode_digits(mode_t mode);

/* Reads an object of owner, group and mode. Bad values are -OSB_E_INVALID or -OSB_E_NOT_FOUND. */
int permission_read(struct osb_json_reader *r, struct osb_arena *arena, struct permission *ret,
                    struct osb_err *err);
/* One member of such an object; false (nothing read) when KEY is none of the three. */
bool permission_read_member(struct osb_json_reader *r, struct osb_slice key,
                            struct osb_arena *arena, struct permission *permission,
                            struct osb_err *err);
/* Applies to an open file, or (FD -1) to PATH, following links. */
int permission_apply(const struct permission *permission, int fd, const char *path,
                     struct osb_err *err);

#endif
