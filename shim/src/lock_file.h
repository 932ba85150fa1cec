// SPDX-License-Identifier: Apache-2.0
/* One holder a file, as long as its process lives (flock). The file itself is never removed. */
#ifndef SHIM_LOCK_FILE_H
#define SHIM_LOCK_FILE_H

#include <osb/err.h>

/* Holds PATH until *RET_FD is closed; -EADDRINUSE, naming the holder, when another process does. */
int lock_file_take(const char *path, int *ret_fd, struct osb_err *err);

#endif
