// SPDX-License-Identifier: Apache-2.0
/*
 * A bearer token in a file that somebody else replaces: a kubelet swaps the projected token of a
 * service account long before the old one ends. The file is looked at before each use and read
 * only when it is another one.
 */
#ifndef OSB_KUBE_TOKEN_FILE_H
#define OSB_KUBE_TOKEN_FILE_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct token_file {
    char *token; /* the last one that could be read */
    struct timespec mtime;
    ino_t inode;
};

/*
 * The token, borrowed until the next call; NULL when there never was one. A file that cannot be
 * read or is empty leaves the last token. IS_FORCED reads it also when it looks the same: two
 * writes within one tick of the file system's clock do.
 */
const char *token_file_read(struct token_file *file, const char *path, bool is_forced);
void token_file_done(struct token_file *file);

#endif
