// SPDX-License-Identifier: Apache-2.0
#include "entrypoint.h"

#include <osb/alloc.h>
#include <osb/buf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *find_in_path(const char *name)
{
    const char *path = getenv("PATH");
    struct osb_slice rest =
        osb_slice_str(path ? path : "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    struct osb_slice dir;

    while (osb_slice_split(&rest, ':', &dir)) {
        if (dir.len == 0)
            continue;
        char *file = osb_asprintf("%.*s/%s", OSB_SLICE_ARG(dir), name);
        if (access(file, X_OK) == 0)
            return file;
        free(file);
    }
    return NULL;
}

char *entrypoint_shell(void)
{
    const char *wanted = getenv("BOOTSTRAP_SHELL");

    if (wanted && *wanted)
        return strchr(wanted, '/') ? osb_strdup(wanted) : find_in_path(wanted);
    char *bash = find_in_path("bash");
    return bash ? bash : find_in_path("sh");
}

static char *join(char **words)
{
    struct osb_buf text = {0};

    for (; *words; words++) {
        if (text.len > 0)
            osb_buf_append_char(&text, ' ');
        osb_buf_append_str(&text, *words);
    }
    return osb_buf_take(&text);
}

/* COMMAND NULL: a bare shell. */
static int shell_argv(char *command, const char *const **ret, struct osb_err *err)
{
    const char **list = osb_calloc(4, sizeof(*list));

    list[0] = entrypoint_shell();
    if (!list[0]) {
        free(list);
        return osb_fail(err, -OSB_E_UNSUPPORTED,
                        "no shell in this image (bash or sh): name a program instead");
    }
    list[1] = command ? "-c" : NULL;
    list[2] = command;
    *ret = list;
    return 0;
}

int entrypoint_argv(int argc, char **argv, const char *const **ret, struct osb_err *err)
{
    char *command = getenv("BOOTSTRAP_CMD");

    if (command && *command)
        return shell_argv(command, ret, err);
    if (argc < 2)
        return shell_argv(NULL, ret, err);
    if (strcmp(argv[1], "-c") == 0)
        return shell_argv(join(argv + 2), ret, err);
    *ret = (const char *const *)argv + 1;
    return 0;
}
