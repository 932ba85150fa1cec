// SPDX-License-Identifier: Apache-2.0
/*
 * Taking back a create that nobody waits for any more: the object is deleted in the background, and
 * again until the API server says that it is gone.
 */
#ifndef OPERATOR_REST_UNDO_H
#define OPERATOR_REST_UNDO_H

#include "rest_server.h"

enum {
    REST_UNDO_TRIES = 20,
    REST_UNDO_FIRST_DELAY_MS = 100,
    REST_UNDO_MAX_DELAY_MS = 10000,
};

/* UID NULL: whatever has this name, which nobody but us can know. WHY is static text for the log.
 */
void rest_undo(struct rest *rest, const char *name, const char *uid, const char *why);
void rest_undos_free(struct rest *rest);

#endif
