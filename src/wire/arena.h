/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory that is given back all at once: what one file, trace or line was read into.
 *
 * Blocks do not move, so pointers are valid until arena_clear or arena_done. Allocation is a bump
 * of an offset; chunks double from 1 KiB to 1 MiB. Texts can be interned: equal texts are then one
 * pointer. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    struct names names;
};

void arena_init(struct arena *arena);
void arena_done(struct arena *arena); /* a zeroed arena is fine */

/* Empty again; the largest chunk is kept. Interned texts are given back too. */
void arena_clear(struct arena *arena);

/* count * size zeroed bytes, aligned for any type; NULL when that is 0. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* A NUL-terminated copy of [count] bytes. */
char *arena_text(struct arena *arena, const char *bytes, size_t count);

/* The one copy of text that this arena keeps. */
const char *arena_intern(struct arena *arena, const char *text);
