// SPDX-License-Identifier: Apache-2.0
#include <osb/cleanup.h>

#include <errno.h>
#include <unistd.h>

/* Both keep errno, so that a cleanup does not hide the error that ended the scope. */
void osb_cleanup_close(int *fd)
{
    if (*fd < 0)
        return;
    int saved = errno;
    close(*fd);
    errno = saved;
}

void osb_cleanup_fclose(FILE **file)
{
    if (!*file)
        return;
    int saved = errno;
    fclose(*file);
    errno = saved;
}
