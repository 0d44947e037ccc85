/* SPDX-License-Identifier: Apache-2.0 */
/* tape.h - one walk over the fields of a table, for three purposes: digest, save and load.
 *
 * A walk is a function that names every field once, `tape_u32(t, &row->gang)`. On a tape that
 * digests, fields are fed to a digest; on one that saves they become bytes; on one that loads they
 * are filled. So no field can be in one of the three and be forgotten in another. Only a tape that
 * loads changes what is walked.
 *
 * Saved form: 8 bytes of magic, a version, the fields, 8 bytes of checksum over all before. Numbers
 * are varints of 7 bits, low bits first, in their shortest form; signed ones are folded (zigzag).
 *
 * Loading trusts nothing. The first thing that is wrong makes the tape fail, with the offset in the
 * text; from then on every field reads as 0 and tape_more() says no, so a walk needs no checks of
 * its own but those of meaning. Tables grow as their rows come in, and a count may not be larger
 * than the bytes that are left, so memory is bounded by the size of what is loaded. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/vec.h"

struct err;

enum tape_mode { TAPE_DIGEST, TAPE_SAVE, TAPE_LOAD };

struct tape {
    enum tape_mode mode;
    bool failed; /* LOAD: sticky */
    struct digest digest;
    uint8_t *saved;      /* SAVE: [count] */
    const uint8_t *from; /* LOAD: [count] borrowed, without the checksum */
    size_t count, cap;
    size_t at;  /* LOAD: the next byte */
    char *text; /* LOAD: [text_cap] what tape_text() returned last */
    uint32_t text_cap;
    struct err *err;
};

#define TAPE_MAGIC_BYTES 8

void tape_digest_init(struct tape *t);
void tape_save_init(struct tape *t, const char *magic, uint32_t version);

/* 0, or -EINVAL if that is no whole tape of this magic and version. bytes are borrowed. */
int tape_load_init(struct tape *t, const char *magic, uint32_t version, const void *bytes,
                   size_t count, struct err *err);
void tape_done(struct tape *t);

uint64_t tape_digest(const struct tape *t);
uint8_t *tape_take(struct tape *t, size_t *out_count); /* what was saved; the caller's to free */
void tape_seal(uint8_t *bytes, size_t count);          /* write its last 8, the checksum */
int tape_end(struct tape *t); /* LOAD: 0 if all went well and nothing is left, or -EINVAL */

/* Loaded bytes mean nothing sensible. The first call counts; the text begins with the offset. */
__attribute__((format(printf, 2, 3))) void tape_fail(struct tape *t, const char *fmt, ...);

static inline bool tape_digests(const struct tape *t)
{
    return t->mode == TAPE_DIGEST;
}

static inline bool tape_loads(const struct tape *t)
{
    return t->mode == TAPE_LOAD;
}

/* ---- fields ---- */

uint64_t tape_number(struct tape *t, uint64_t value, uint64_t max); /* saves, or loads up to max */

static inline void tape_u64(struct tape *t, uint64_t *x)
{
    if (t->mode == TAPE_DIGEST)
        digest_u64(&t->digest, *x);
    else if (t->mode == TAPE_SAVE)
        tape_number(t, *x, UINT64_MAX);
    else
        *x = tape_number(t, 0, UINT64_MAX);
}

static inline void tape_u32(struct tape *t, uint32_t *x)
{
    if (t->mode == TAPE_DIGEST)
        digest_u32(&t->digest, *x);
    else if (t->mode == TAPE_SAVE)
        tape_number(t, *x, UINT32_MAX);
    else
        *x = (uint32_t)tape_number(t, 0, UINT32_MAX);
}

void tape_i64(struct tape *t, int64_t *x);
void tape_i32(struct tape *t, int32_t *x);
void tape_bool(struct tape *t, bool *x);

/* The same within bounds; what: the field, for the error. */
void tape_max(struct tape *t, uint32_t *x, uint32_t max, const char *what);
void tape_row(struct tape *t, uint32_t *x, uint32_t rows, const char *what);
void tape_i64_in(struct tape *t, int64_t *x, int64_t min, int64_t max, const char *what);
void tape_i32_in(struct tape *t, int32_t *x, int32_t min, int32_t max, const char *what);

/* An enum, 0..max. */
#define tape_enum(t, field, max, what)                                                             \
    do {                                                                                           \
        uint32_t tape_enum_ = (uint32_t)(field);                                                   \
        tape_max(t, &tape_enum_, max, what);                                                       \
        if (tape_loads(t))                                                                         \
            (field) = tape_enum_;                                                                  \
    } while (0)

/* Feeds or saves text and returns it. A tape that loads ignores it, and returns what it read: never
 * NULL, valid until the next call. */
const char *tape_text(struct tape *t, const char *text);

/* ---- tables ----
 *
 *   uint32_t count = s->row_count;
 *
 *   tape_count(t, &count, "rows");
 *   for (uint32_t i = 0; tape_more(t, i, count); i++) {
 *       tape_grow(t, s->rows, s->row_count, s->row_cap);
 *       row_walk(&s->rows[i], t);
 *   }
 *
 * The table that is loaded is empty before; its count is that of the rows that are there. */
void tape_count(struct tape *t, uint32_t *count, const char *what);

static inline bool tape_more(const struct tape *t, uint32_t i, uint32_t count)
{
    return i < count && !t->failed;
}

/* On a tape that loads, one more row, of zeros. */
#define tape_grow(t, rows, count, cap)                                                             \
    do {                                                                                           \
        if (tape_loads(t)) {                                                                       \
            vec_reserve(rows, cap, (count) + 1);                                                   \
            (count)++;                                                                             \
        }                                                                                          \
    } while (0)
