// SPDX-License-Identifier: Apache-2.0
#include "handover.h"

#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/slice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char token_variable[] = "EXECD_ACCESS_TOKEN";
/* Says between two passes of ourselves which descriptor holds the token. */
static const char fd_variable[] = "OPENSANDBOX_LAUNCHER_FD";

static int take_kept(const char *number, int *ret_fd)
{
    uint64_t fd;

    if (osb_slice_to_u64(osb_slice_str(number), &fd) < 0 || fd > INT32_MAX ||
        osb_set_cloexec((int)fd, true) < 0)
        return -EBADF;
    unsetenv(fd_variable);
    *ret_fd = (int)fd;
    return 0;
}

int handover_take(int *ret_fd, struct osb_err *err)
{
    const char *kept = getenv(fd_variable);
    char *token = getenv(token_variable);

    *ret_fd = -1;
    if (kept && take_kept(kept, ret_fd) == 0)
        return 0;
    if (!token)
        return 0;
    _cleanup_close_ int fd = memfd_create("execd-access-token", MFD_CLOEXEC);
    int r = fd < 0 ? -errno : osb_write_all(fd, token, strlen(token));
    bool is_empty = *token == '\0';
    /* The block itself: it is what /proc/PID/environ shows. */
    explicit_bzero(token, strlen(token));
    unsetenv(token_variable);
    if (r < 0)
        return osb_fail(err, r, "access token: %s", strerror(-r));
    if (!is_empty)
        *ret_fd = osb_take_fd(&fd);
    return 0;
}

void handover_keep(int fd)
{
    char number[16];

    if (fd < 0)
        return;
    snprintf(number, sizeof(number), "%d", fd);
    setenv(fd_variable, number, 1);
    osb_set_cloexec(fd, false);
}
