// SPDX-License-Identifier: Apache-2.0
/*
 * An arena: many small allocations, one free. One per request, reconcile or connection. Small
 * allocations abort on memory exhaustion; what a peer can size goes through a limit first.
 */
#ifndef OSB_ARENA_H
#define OSB_ARENA_H

#include <osb/slice.h>
#include <stddef.h>

struct osb_arena_chunk;

struct osb_arena {
    struct osb_arena_chunk *chunks;
    size_t used; /* bytes handed out */
};

/* Zero-filled, aligned for any type; never NULL. */
void *osb_arena_alloc(struct osb_arena *arena, size_t size);
void *osb_arena_calloc(struct osb_arena *arena, size_t count, size_t size);
/* NUL-terminated copies inside the arena. */
char *osb_arena_strdup(struct osb_arena *arena, const char *s);
char *osb_arena_slice_dup(struct osb_arena *arena, struct osb_slice s);
char *osb_arena_printf(struct osb_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Frees everything; the arena may be used again. */
void osb_arena_done(struct osb_arena *arena);

#define osb_arena_new(arena, type) ((type *)osb_arena_alloc((arena), sizeof(type)))
#define _cleanup_arena_            __attribute__((cleanup(osb_arena_done)))

#endif
