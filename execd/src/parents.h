// SPDX-License-Identifier: Apache-2.0
/* Folders that a request needs and that are not there yet. */
#ifndef EXECD_PARENTS_H
#define EXECD_PARENTS_H

#include "permission.h"

/* Makes PATH and its missing parents with MODE less the umask; new ones get owner and group. */
int folders_make(const char *path, mode_t mode, const struct permission *permission,
                 struct osb_err *err);
/* The same for the folder that PATH is in. PERMISSION may be NULL. */
int parents_make(const char *path, mode_t mode, const struct permission *permission,
                 struct osb_err *err);

#endif
