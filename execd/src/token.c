// SPDX-License-Identifier: Apache-2.0
#include "token.h"

#include <osb/cleanup.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char token_variable[] = "EXECD_ACCESS_TOKEN";

static int load_from_fd(int fd, struct osb_secret *ret, struct osb_err *err)
{
    _cleanup_close_ int owned = fd;
    char text[TOKEN_MAX + 1];

    /* From the start: the launcher hands the same file to each execd that it starts. */
    ssize_t n = pread(owned, text, sizeof(text), 0);
    if (n < 0 && errno == ESPIPE)
        n = read(owned, text, sizeof(text));
    if (n < 0)
        return osb_fail(err, -errno, "access token: %s", strerror(errno));
    if (n > TOKEN_MAX)
        return osb_fail(err, -OSB_E_TOO_LARGE, "access token: longer than %d bytes", TOKEN_MAX);
    osb_secret_set(ret, osb_slice(text, (size_t)n));
    explicit_bzero(text, sizeof(text));
    return 0;
}

int token_load(int fd, struct osb_secret *ret, struct osb_err *err)
{
    char *value = getenv(token_variable);

    if (value && *value && fd < 0)
        osb_secret_set(ret, osb_slice_str(value));
    /* The block is what /proc/PID/environ shows. */
    if (value)
        explicit_bzero(value, strlen(value));
    unsetenv(token_variable);
    return fd >= 0 ? load_from_fd(fd, ret, err) : 0;
}
