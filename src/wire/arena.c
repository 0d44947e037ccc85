/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/arena.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { CHUNK_BYTES_MIN = 1 << 10, CHUNK_BYTES_MAX = 1 << 20, ALIGNMENT = 16 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t used, cap; /* of bytes */
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
    names_init(&arena->names);
}

static void free_chunks(struct arena_chunk *chunk)
{
    while (chunk) {
        struct arena_chunk *older = chunk->older;

        mem_free(chunk);
        chunk = older;
    }
}

void arena_done(struct arena *arena)
{
    free_chunks(arena->chunks);
    names_done(&arena->names);
    arena->chunks = NULL;
}

void arena_clear(struct arena *arena)
{
    struct arena_chunk *newest = arena->chunks;

    if (newest) {
        free_chunks(newest->older);
        newest->older = NULL;
        newest->used = 0;
    }
    if (names_count(&arena->names) > 0)
        names_done(&arena->names);
}

static void add_chunk(struct arena *arena, size_t need)
{
    size_t cap = arena->chunks ? arena->chunks->cap * 2 : CHUNK_BYTES_MIN;
    struct arena_chunk *chunk;

    if (cap > CHUNK_BYTES_MAX)
        cap = CHUNK_BYTES_MAX;
    if (cap < need)
        cap = need;
    check(cap < SIZE_MAX / 2);
    chunk = mem_alloc(1, sizeof *chunk + cap);
    chunk->cap = cap;
    chunk->older = arena->chunks;
    arena->chunks = chunk;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    void *p;

    check(!__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX / 4);
    if (bytes == 0)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!arena->chunks || bytes > arena->chunks->cap - arena->chunks->used)
        add_chunk(arena, bytes);
    p = arena->chunks->bytes + arena->chunks->used;
    arena->chunks->used += bytes;
    return memset(p, 0, bytes);
}

char *arena_text(struct arena *arena, const char *bytes, size_t count)
{
    char *text = arena_alloc(arena, count + 1, 1);

    if (count > 0)
        memcpy(text, bytes, count);
    return text;
}

const char *arena_intern(struct arena *arena, const char *text)
{
    return names_text(&arena->names, names_intern(&arena->names, text));
}
