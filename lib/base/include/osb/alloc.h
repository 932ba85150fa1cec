// SPDX-License-Identifier: Apache-2.0
/*
 * Allocation of small objects of our own size: these calls abort when memory is exhausted, so
 * that callers need no error path for it. Sizes that a peer chooses go through osb_buf limits or
 * plain malloc() with a check instead.
 */
#ifndef OSB_ALLOC_H
#define OSB_ALLOC_H

#include <stddef.h>

/* Zero-filled. */
void *osb_calloc(size_t count, size_t size);
void *osb_realloc(void *p, size_t size);
/* NULL in, NULL out. */
char *osb_strdup(const char *s);
char *osb_strndup(const char *s, size_t len);
char *osb_asprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define osb_new(type) ((type *)osb_calloc(1, sizeof(type)))

/* Grows a plain array so that one more element fits: doubles CAP, keeps the content. */
#define osb_grow(array, len, cap)                                                                  \
    do {                                                                                           \
        if ((len) == (cap)) {                                                                      \
            (cap) = (cap) ? (cap)*2 : 8;                                                           \
            (array) = osb_realloc((array), (size_t)(cap) * sizeof(*(array)));                      \
        }                                                                                          \
    } while (0)

/* Gives back what an array that grows no more has to spare; it may grow again. */
#define osb_shrink(array, len, cap)                                                                \
    do {                                                                                           \
        if ((len) > 0 && (len) < (cap)) {                                                          \
            (cap) = (len);                                                                         \
            (array) = osb_realloc((array), (size_t)(cap) * sizeof(*(array)));                      \
        }                                                                                          \
    } while (0)

#endif
