// SPDX-License-Identifier: Apache-2.0
/*
 * Removes the versions of files that no container names any more. Once after the start, and late:
 * a container that a predecessor was just creating when it ended must be in the runtime's list.
 * Asks over a connection of its own, one call at a time; whatever fails ends it, and the next start
 * tries again.
 */
#ifndef SHIM_OLD_FILES_H
#define SHIM_OLD_FILES_H

#include <osb/loop.h>
#include <stdint.h>

#include "files.h"

struct old_files;

/* FILES and BACKEND are borrowed; nothing is asked when there are no old versions. */
struct old_files *old_files_new(struct osb_loop *loop, const struct files *files,
                                const char *backend, uint64_t delay_ms);
/* NULL is allowed. */
void old_files_free(struct old_files *old);

#endif
