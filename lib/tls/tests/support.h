// SPDX-License-Identifier: Apache-2.0
/* A folder with a CA, as the tests of this library need it. */
#ifndef OSB_TLS_TEST_SUPPORT_H
#define OSB_TLS_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <osb/ca.h>
#include <osb/fd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 96 };

static char folder[32];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tls-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    return osb_remove_tree(folder, NULL);
}

/* FOLDER/NAME; a few at a time. */
static inline const char *in_folder(const char *name)
{
    static char paths[8][PATH_BYTES];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

static struct osb_err err __attribute__((unused)); /* of the last call */

#define must(call)                                                                                 \
    do {                                                                                           \
        int must_r = (call);                                                                       \
        if (must_r < 0)                                                                            \
            fail_msg("%s: %d %s", #call, must_r, err.message);                                     \
    } while (0)

#endif
