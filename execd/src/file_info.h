// SPDX-License-Identifier: Apache-2.0
/* The FileInfo object (execd contract 9.1). */
#ifndef EXECD_FILE_INFO_H
#define EXECD_FILE_INFO_H

#include <osb/json_writer.h>
#include <sys/stat.h>

/* PATH is absolute; ST comes from lstat(2). */
void file_info_write(struct osb_json_writer *w, const char *path, const struct stat *st);

#endif
