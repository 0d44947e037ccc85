/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include <string.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/tape.h"
#include "base/vec.h"

enum { CHUNK_BYTES = 4096 };

static uint32_t home_of(const struct names *names, const char *text)
{
    struct digest digest;

    digest_init(&digest);
    digest_text(&digest, text);
    return (uint32_t)digest_value(&digest) & (names->slot_count - 1);
}

/* The slot that holds text, or the free one where it would go. The table is never full. */
static uint32_t slot_of(const struct names *names, const char *text)
{
    uint32_t slot = home_of(names, text);

    while (names->slots[slot] && strcmp(names_text(names, names->slots[slot] - 1), text) != 0)
        slot = (slot + 1) & (names->slot_count - 1);
    return slot;
}

static void grow_slots(struct names *names)
{
    check(names->slot_count <= UINT32_MAX / 4);
    mem_free(names->slots);
    names->slot_count = names->slot_count ? names->slot_count * 2 : 16;
    names->slots = mem_alloc(names->slot_count, sizeof *names->slots);
    for (uint32_t id = 0; id < names->count; id++)
        names->slots[slot_of(names, names_text(names, id))] = id + 1;
}

/* Copies text behind the last chunk's texts, or into a new chunk when it does not fit there. */
static struct names_place keep(struct names *names, const char *text)
{
    size_t len = strlen(text) + 1;
    struct names_chunk *last = names->chunk_count ? &names->chunks[names->chunk_count - 1] : NULL;
    struct names_place place;

    check(len <= UINT32_MAX / 2);
    if (!last || len > last->cap - last->used) {
        uint32_t cap = len > CHUNK_BYTES ? (uint32_t)len : CHUNK_BYTES;
        struct names_chunk chunk = {.bytes = mem_alloc(cap, 1), .used = 0, .cap = cap};

        vec_push(names->chunks, names->chunk_count, names->chunk_cap, chunk);
        last = &names->chunks[names->chunk_count - 1];
    }
    place = (struct names_place){.chunk = names->chunk_count - 1, .offset = last->used};
    memcpy(last->bytes + last->used, text, len);
    last->used += (uint32_t)len;
    return place;
}

void names_init(struct names *names)
{
    *names = (struct names){0};
}

void names_done(struct names *names)
{
    for (uint32_t i = 0; i < names->chunk_count; i++)
        mem_free(names->chunks[i].bytes);
    mem_free(names->chunks);
    mem_free(names->places);
    mem_free(names->slots);
    *names = (struct names){0};
}

void names_copy(struct names *dst, const struct names *src)
{
    *dst = *src;
    dst->chunks = mem_copy(src->chunks, src->chunk_cap, sizeof *src->chunks);
    for (uint32_t i = 0; i < src->chunk_count; i++)
        dst->chunks[i].bytes = mem_copy(src->chunks[i].bytes, src->chunks[i].cap, 1);
    dst->places = mem_copy(src->places, src->place_cap, sizeof *src->places);
    dst->slots = mem_copy(src->slots, src->slot_count, sizeof *src->slots);
}

uint32_t names_intern(struct names *names, const char *text)
{
    uint32_t id = names_find(names, text);
    struct names_place place;

    if (id != NAMES_NONE)
        return id;
    if (names->count >= names->slot_count / 4 * 3)
        grow_slots(names);
    names->slots[slot_of(names, text)] = names->count + 1;
    place = keep(names, text);
    vec_push(names->places, names->count, names->place_cap, place);
    return names->count - 1;
}

uint32_t names_find(const struct names *names, const char *text)
{
    uint32_t slot;

    if (names->count == 0)
        return NAMES_NONE;
    slot = names->slots[slot_of(names, text)];
    return slot ? slot - 1 : NAMES_NONE;
}

const char *names_text(const struct names *names, uint32_t id)
{
    check(id < names->count);
    return names->chunks[names->places[id].chunk].bytes + names->places[id].offset;
}

uint32_t names_count(const struct names *names)
{
    return names->count;
}

void names_walk(struct names *names, struct tape *t)
{
    uint32_t count = names->count;

    tape_count(t, &count, "names");
    for (uint32_t id = 0; tape_more(t, id, count); id++) {
        const char *text = tape_text(t, tape_loads(t) ? "" : names_text(names, id));

        if (tape_loads(t) && !t->failed && names_intern(names, text) != id)
            tape_fail(t, "names: '%s' is there twice", text);
    }
}
