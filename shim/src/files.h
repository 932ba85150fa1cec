// SPDX-License-Identifier: Apache-2.0
/*
 * The folder of files that containers get: FOLDER/<version>/{execd,bootstrap.sh}, where the version
 * is made of what is in them. A file is never changed in place and a version never removed while a
 * container names it, so a new shim disturbs no pod. FOLDER/lock is held: two shims would clean up
 * behind each other.
 */
#ifndef SHIM_FILES_H
#define SHIM_FILES_H

#include <osb/err.h>
#include <osb/slice.h>
#include <stdbool.h>

#include "inject.h"

enum {
    FILES_SIZE_MAX = 64 * 1024 * 1024, /* of one file */
    FILES_VERSION_LEN = 16,            /* hexadecimal digits */
    FILES_OLD_MAX = 1024,              /* versions looked at in one cleaning */
};

struct files {
    char *folder;
    char version[FILES_VERSION_LEN + 1];
    char *execd; /* in the folder of the version */
    char *bootstrap;
    int lock;
};

/*
 * Fills FOLDER with the two files, atomically: they are complete and on disk when this returns 0.
 * What is there already and the same is left as it is. Blocks.
 */
int files_open(const char *folder, const char *execd, const char *bootstrap, struct files **ret,
               struct osb_err *err);
/* NULL is allowed. */
void files_free(struct files *files);
struct inject_files files_paths(const struct files *files);

/* ---- versions of the past ---- */

struct files_versions {
    char (*names)[FILES_VERSION_LEN + 1];
    size_t count;
};

/* The versions beside our own; *RET is cleared with files_versions_done(). */
int files_old(const struct files *files, struct files_versions *ret, struct osb_err *err);
void files_versions_done(struct files_versions *versions);
/* Takes the version that HOST_PATH lies in off the list, if it lies in one. */
void files_versions_keep(struct files_versions *versions, const struct files *files,
                         struct osb_slice host_path);
int files_remove(const struct files *files, const char *version, struct osb_err *err);

#endif
