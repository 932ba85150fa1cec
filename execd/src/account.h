// SPDX-License-Identifier: Apache-2.0
/*
 * The sandbox's passwd and group files, read by ourselves: a static program cannot load the C
 * library's name service, and these two files are all that an image has.
 */
#ifndef EXECD_ACCOUNT_H
#define EXECD_ACCOUNT_H

#include <osb/err.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <sys/types.h>

enum { ACCOUNT_MAX_GROUPS = 64 }; /* supplementary groups of one user that are looked at */

struct account {
    uid_t uid;
    gid_t gid; /* primary */
    gid_t groups[ACCOUNT_MAX_GROUPS];
    int group_count;
};

/* The account of UID; one that passwd does not know has the group of the same number. */
void account_load(uid_t uid, struct account *ret);

/* A name, or digits when there is no such name; 0 or -OSB_E_NOT_FOUND. */
int account_find_user(struct osb_slice name, uid_t *ret, struct osb_err *err);
int account_find_group(struct osb_slice name, gid_t *ret, struct osb_err *err);

/* The name, or decimal digits; written to BUFFER. */
enum { ACCOUNT_NAME_MAX = 64 };
const char *account_user_name(uid_t uid, char buffer[static ACCOUNT_NAME_MAX]);
const char *account_group_name(gid_t gid, char buffer[static ACCOUNT_NAME_MAX]);

#endif
