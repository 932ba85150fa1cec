// SPDX-License-Identifier: Apache-2.0
#include "folder.h"

#include <osb/alloc.h>
#include <osb/fd.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATHS = 4, PATH_LEN = 256 };

int folder_setup(void **state)
{
    char *path = osb_strdup("/tmp/osb-shim-XXXXXX");

    *state = path;
    return mkdtemp(path) ? 0 : -1;
}

int folder_teardown(void **state)
{
    int r = osb_remove_tree(*state, NULL);

    free(*state);
    return r;
}

const char *folder_path(void **state, const char *name)
{
    static char paths[PATHS][PATH_LEN];
    static unsigned next;
    char *path = paths[next++ % PATHS];

    snprintf(path, PATH_LEN, "%s/%s", (const char *)*state, name);
    return path;
}
