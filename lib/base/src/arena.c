// SPDX-License-Identifier: Apache-2.0
#include <osb/arena.h>

#include <osb/alloc.h>
#include <osb/err.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chunks double between these, so that a small request costs one malloc() and a big one few. */
enum { ARENA_CHUNK_MIN = 2048, ARENA_CHUNK_MAX = 64 * 1024 };

struct osb_arena_chunk {
    struct osb_arena_chunk *next;
    size_t used;
    size_t size;
    alignas(max_align_t) char bytes[];
};

static struct osb_arena_chunk *new_chunk(size_t size)
{
    osb_assert(size <= PTRDIFF_MAX - sizeof(struct osb_arena_chunk));
    struct osb_arena_chunk *chunk = osb_realloc(NULL, sizeof(*chunk) + size);
    chunk->next = NULL;
    chunk->used = 0;
    chunk->size = size;
    return chunk;
}

/* A chunk with room for SIZE bytes. The first in the list is the one that small ones fill. */
static struct osb_arena_chunk *chunk_for(struct osb_arena *arena, size_t size)
{
    struct osb_arena_chunk *head = arena->chunks;
    if (head && head->size - head->used >= size)
        return head;

    size_t wanted = head ? head->size * 2 : ARENA_CHUNK_MIN;
    if (wanted > ARENA_CHUNK_MAX)
        wanted = ARENA_CHUNK_MAX;
    if (head && size > wanted / 4) {
        /* A big one gets its own chunk behind the head, which keeps its free space in use. */
        struct osb_arena_chunk *own = new_chunk(size);
        own->next = head->next;
        head->next = own;
        return own;
    }
    struct osb_arena_chunk *chunk = new_chunk(size > wanted ? size : wanted);
    chunk->next = head;
    arena->chunks = chunk;
    return chunk;
}

static void *take(struct osb_arena *arena, size_t size)
{
    const size_t mask = alignof(max_align_t) - 1;
    osb_assert(size <= PTRDIFF_MAX);
    size_t rounded = ((size ? size : 1) + mask) & ~mask;
    struct osb_arena_chunk *chunk = chunk_for(arena, rounded);
    void *p = chunk->bytes + chunk->used;
    chunk->used += rounded;
    arena->used += rounded;
    return p;
}

void *osb_arena_alloc(struct osb_arena *arena, size_t size)
{
    return memset(take(arena, size), 0, size);
}

void *osb_arena_calloc(struct osb_arena *arena, size_t count, size_t size)
{
    size_t total;
    osb_assert(!__builtin_mul_overflow(count, size, &total));
    return osb_arena_alloc(arena, total);
}

char *osb_arena_slice_dup(struct osb_arena *arena, struct osb_slice s)
{
    osb_assert(s.len < SIZE_MAX);
    char *copy = take(arena, s.len + 1);
    if (s.len)
        memcpy(copy, s.data, s.len);
    copy[s.len] = '\0';
    return copy;
}

char *osb_arena_strdup(struct osb_arena *arena, const char *s)
{
    return s ? osb_arena_slice_dup(arena, osb_slice_str(s)) : NULL;
}

char *osb_arena_printf(struct osb_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    osb_assert(n >= 0);

    char *text = take(arena, (size_t)n + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

void osb_arena_done(struct osb_arena *arena)
{
    for (struct osb_arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *arena = (struct osb_arena){0};
}
