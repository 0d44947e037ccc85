/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - interned strings: each distinct text gets a dense id, from 0, in order of arrival.
 *
 * Nothing is ever removed. Texts are kept in chunks that do not move, so what names_text returns
 * is valid until names_done. */
#pragma once
#include <stdint.h>

struct tape;

#define NAMES_NONE UINT32_MAX

struct names_chunk {
    char *bytes;
    uint32_t used, cap;
};

struct names_place {
    uint32_t chunk, offset;
};

struct names {
    struct names_chunk *chunks; /* [chunk_count] */
    uint32_t chunk_count, chunk_cap;
    struct names_place *places; /* [count] by id */
    uint32_t count, place_cap;
    uint32_t *slots; /* [slot_count] id + 1, or 0: hash table over the texts */
    uint32_t slot_count;
};

void names_init(struct names *names);
void names_done(struct names *names);

/* Makes dst, which is not initialised before, a copy of src with the same ids. */
void names_copy(struct names *dst, const struct names *src);

/* The id of text, added when it is new. text is borrowed for the call. */
uint32_t names_intern(struct names *names, const char *text);

/* The id of text, or NAMES_NONE (UINT32_MAX). */
uint32_t names_find(const struct names *names, const char *text);

/* id must be one that names_intern returned. */
const char *names_text(const struct names *names, uint32_t id);

uint32_t names_count(const struct names *names);

/* All texts in the order of their ids. Loads into an empty table. */
void names_walk(struct names *names, struct tape *t);
