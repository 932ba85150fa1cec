// SPDX-License-Identifier: Apache-2.0
/*
 * `bootstrap.sh --install DIR`: puts execd and the launcher into a folder, as the init container of
 * a pod does on nodes that inject nothing themselves. The image needs neither shell nor cp.
 */
#ifndef LAUNCHER_INSTALL_H
#define LAUNCHER_INSTALL_H

#include <osb/err.h>

/*
 * Copies SELF to FOLDER/bootstrap.sh and EXECD to FOLDER/execd, mode 0755; FOLDER is made when it
 * is missing. Each takes its place by rename, so that a container that runs the one before keeps
 * it, and links that lie in the way are replaced, not followed. Not synced: the folder lives as
 * long as its pod.
 */
int install_files(const char *self, const char *execd, const char *folder, struct osb_err *err);

#endif
