// SPDX-License-Identifier: Apache-2.0
/*
 * Scope-bound clean-up. A local that owns something carries one of these attributes, starts at
 * NULL or -1, and is handed on with osb_take_ptr() or osb_take_fd(). Each type defines its own
 * attribute beside its destructor by OSB_DEFINE_CLEANUP().
 */
#ifndef OSB_CLEANUP_H
#define OSB_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>

#define OSB_CLEANUP(fn) __attribute__((cleanup(fn)))

/* Defines NAME, a cleanup function for `TYPE *` locals that calls FN on a non-NULL pointer. */
#define OSB_DEFINE_CLEANUP(type, name, fn)                                                         \
    static inline __attribute__((unused)) void name(type **p)                                      \
    {                                                                                              \
        if (*p)                                                                                    \
            fn(*p);                                                                                \
    }                                                                                              \
    struct osb_cleanup_semicolon

static inline __attribute__((unused)) void osb_cleanup_free(void *p)
{
    free(*(void **)p);
}

void osb_cleanup_close(int *fd);
void osb_cleanup_fclose(FILE **file);

#define _cleanup_free_   OSB_CLEANUP(osb_cleanup_free)
#define _cleanup_close_  OSB_CLEANUP(osb_cleanup_close)
#define _cleanup_fclose_ OSB_CLEANUP(osb_cleanup_fclose)

/* Moves a pointer out of a cleanup variable, leaving NULL. */
#define osb_take_ptr(p)                                                                            \
    ({                                                                                             \
        __typeof__(p) *osb_take_ = &(p);                                                           \
        __typeof__(p) osb_taken_ = *osb_take_;                                                     \
        *osb_take_ = NULL;                                                                         \
        osb_taken_;                                                                                \
    })

/* Moves a descriptor out of a cleanup variable, leaving -1. */
static inline int osb_take_fd(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#endif
