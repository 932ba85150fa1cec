// SPDX-License-Identifier: Apache-2.0
/* The commands of `opensandbox`; each returns the exit code. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stdbool.h>

int command_up(const char *state);
int command_down(const char *state, bool is_purge);
int command_status(const char *state, bool is_json);
int command_env(const char *state);
/* PART NULL: all of them. */
int command_logs(const char *state, const char *part, bool is_follow);
int command_image_load(const char *state, const char *file);
int command_image_list(const char *state);

#endif
