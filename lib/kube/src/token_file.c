// SPDX-License-Identifier: Apache-2.0
#include "token_file.h"

#include <osb/buf.h>
#include <osb/fd.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_TOKEN = 64 * 1024 };

static bool looks_the_same(const struct token_file *file, const struct stat *st)
{
    return file->token && st->st_ino == file->inode && st->st_mtim.tv_sec == file->mtime.tv_sec &&
           st->st_mtim.tv_nsec == file->mtime.tv_nsec;
}

const char *token_file_read(struct token_file *file, const char *path, bool is_forced)
{
    struct stat st;
    if (stat(path, &st) < 0 || (!is_forced && looks_the_same(file, &st)))
        return file->token;
    _cleanup_buf_ struct osb_buf text = {0};
    if (osb_read_file(path, MAX_TOKEN, &text, NULL) < 0)
        return file->token;
    char *token = osb_buf_take(&text);
    if (token)
        token[strcspn(token, "\r\n")] = '\0';
    if (!token || !token[0]) { /* truncated by a writer that has not finished */
        free(token);
        return file->token;
    }
    token_file_done(file);
    *file = (struct token_file){.token = token, .mtime = st.st_mtim, .inode = st.st_ino};
    return file->token;
}

void token_file_done(struct token_file *file)
{
    if (file->token)
        explicit_bzero(file->token, strlen(file->token));
    free(file->token);
    *file = (struct token_file){0};
}
