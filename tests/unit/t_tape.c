/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tape.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "unit/test.h"

#define MAGIC "testtape"

enum colour { RED, GREEN, BLUE };

struct thing {
    uint64_t big;
    int64_t side;
    int32_t small_side;
    uint32_t plain, row;
    bool yes;
    enum colour colour;
    const char *text;
    uint32_t *rows;
    uint32_t count, cap;
};

static void thing_walk(struct thing *thing, struct tape *t)
{
    uint32_t count = thing->count;

    tape_u64(t, &thing->big);
    tape_i64(t, &thing->side);
    tape_i32(t, &thing->small_side);
    tape_u32(t, &thing->plain);
    tape_row(t, &thing->row, 10, "row");
    tape_bool(t, &thing->yes);
    tape_enum(t, thing->colour, BLUE, "colour");
    tape_count(t, &count, "rows");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, thing->rows, thing->count, thing->cap);
        tape_u32(t, &thing->rows[i]);
    }
    thing->text = tape_text(t, thing->text); /* the last one, so that it stays valid */
}

static uint32_t three[] = {0, UINT32_MAX, 127};

static struct thing a_thing(void)
{
    return (struct thing){.big = UINT64_MAX,
                          .side = INT64_MIN,
                          .small_side = INT32_MIN,
                          .plain = 128,
                          .row = 9,
                          .yes = true,
                          .colour = BLUE,
                          .text = "K\xc3\xa4se",
                          .rows = three,
                          .count = 3};
}

static uint8_t *save(struct thing *thing, size_t *count)
{
    struct tape t;
    uint8_t *bytes;

    tape_save_init(&t, MAGIC, 3);
    thing_walk(thing, &t);
    bytes = tape_take(&t, count);
    tape_done(&t);
    return bytes;
}

/* Returns what tape_end() says. */
static int load(const uint8_t *bytes, size_t count, struct thing *out, struct err *err)
{
    uint8_t *copy = mem_copy(bytes, count, 1); /* of exactly so many, for the sanitizer */
    struct tape t;
    int rc = tape_load_init(&t, MAGIC, 3, copy, count, err);

    *out = (struct thing){0};
    if (rc == 0) {
        thing_walk(out, &t);
        rc = tape_end(&t);
        out->text = mem_copy(out->text, strlen(out->text) + 1, 1);
    }
    tape_done(&t);
    mem_free(copy);
    return rc;
}

static void thing_done(struct thing *thing)
{
    mem_free(thing->rows);
    mem_free((void *)(uintptr_t)thing->text);
}

static void what_is_loaded_is_what_was_saved(void **state)
{
    struct thing thing = a_thing(), again;
    struct err err;
    size_t count;
    uint8_t *bytes = save(&thing, &count);

    (void)state;
    assert_int_equal(load(bytes, count, &again, &err), 0);
    assert_true(again.big == thing.big && again.side == thing.side);
    assert_int_equal(again.small_side, thing.small_side);
    assert_true(again.plain == 128 && again.row == 9 && again.yes && again.colour == BLUE);
    assert_string_equal(again.text, thing.text);
    assert_int_equal(again.count, 3);
    assert_memory_equal(again.rows, three, sizeof three);
    thing_done(&again);
    mem_free(bytes);
}

static void numbers_of_every_length_come_back(void **state)
{
    (void)state;
    for (uint32_t bit = 0; bit < 64; bit++)
        for (int add = -1; add <= 1; add++) {
            struct thing thing = a_thing(), again;
            struct err err;
            size_t count;
            uint8_t *bytes;

            thing.big = (UINT64_C(1) << bit) + (uint64_t)add;
            thing.side = (int64_t)((UINT64_C(1) << bit) + (uint64_t)add);
            bytes = save(&thing, &count);
            assert_int_equal(load(bytes, count, &again, &err), 0);
            assert_true(again.big == thing.big && again.side == thing.side);
            thing_done(&again);
            mem_free(bytes);
        }
}

static uint64_t digest_of(struct thing *thing)
{
    struct tape t;
    uint64_t digest;

    tape_digest_init(&t);
    thing_walk(thing, &t);
    digest = tape_digest(&t);
    tape_done(&t);
    return digest;
}

static void a_digest_sees_every_field_and_changes_none(void **state)
{
    struct thing thing = a_thing(), other;

    (void)state;
    assert_true(digest_of(&thing) == digest_of(&thing));
    other = thing;
    other.yes = false;
    assert_true(digest_of(&other) != digest_of(&thing));
    other = thing;
    other.colour = RED;
    assert_true(digest_of(&other) != digest_of(&thing));
    other = thing;
    other.text = "";
    assert_true(digest_of(&other) != digest_of(&thing));
    other = thing;
    other.count = 2;
    assert_true(digest_of(&other) != digest_of(&thing));
    assert_true(other.rows == three);
}

static void cut_or_changed_bytes_are_refused(void **state)
{
    struct thing thing = a_thing(), again;
    struct err err;
    size_t count;
    uint8_t *bytes = save(&thing, &count);

    (void)state;
    for (size_t cut = 0; cut < count; cut++) {
        assert_true(load(bytes, cut, &again, &err) < 0);
        assert_non_null(strstr(err.text, "byte "));
        thing_done(&again);
    }
    for (size_t at = 0; at < count; at++)
        for (uint32_t bit = 0; bit < 8; bit++) {
            bytes[at] ^= (uint8_t)(1u << bit);
            assert_true(load(bytes, count, &again, &err) < 0);
            bytes[at] ^= (uint8_t)(1u << bit);
            thing_done(&again);
        }
    mem_free(bytes);
}

/* With a checksum that matches, anything may come; what is accepted is saved to the same bytes. */
static void sealed_nonsense_is_refused_or_means_something(void **state)
{
    struct rng rng;
    uint32_t accepted = 0;

    (void)state;
    rng_init(&rng, 4);
    for (uint32_t i = 0; i < 20000; i++) {
        struct thing thing = a_thing(), loaded;
        struct err err;
        size_t count, cut;
        uint8_t *bytes = save(&thing, &count);

        for (uint32_t edits = 1 + (uint32_t)rng_below(&rng, 3); edits > 0; edits--)
            bytes[8 + rng_below(&rng, count - 8)] = (uint8_t)rng_next(&rng);
        cut = rng_below(&rng, 4) == 0 ? 16 + rng_below(&rng, count - 16) : count;
        tape_seal(bytes, cut);
        if (load(bytes, cut, &loaded, &err) == 0) {
            size_t again_count;
            uint8_t *again = save(&loaded, &again_count);

            assert_int_equal(again_count, cut);
            assert_memory_equal(again, bytes, cut);
            mem_free(again);
            accepted++;
        }
        thing_done(&loaded);
        mem_free(bytes);
    }
    assert_true(accepted > 100);
}

static void other_kinds_and_versions_are_told_apart(void **state)
{
    struct thing thing = a_thing();
    struct err err;
    struct tape t;
    size_t count;
    uint8_t *bytes = save(&thing, &count);

    (void)state;
    assert_true(tape_load_init(&t, "testtapf", 3, bytes, count, &err) < 0);
    assert_non_null(strstr(err.text, "is not a 'testtapf'"));
    assert_true(tape_load_init(&t, MAGIC, 4, bytes, count, &err) < 0);
    assert_string_equal(err.text, "byte 9: is of version 3, only 4 is known");
    mem_free(bytes);
}

static void the_first_error_stays_and_names_its_place(void **state)
{
    struct tape t;
    struct err err;
    uint32_t row = 0;
    size_t count;
    uint8_t *bytes;

    (void)state;
    tape_save_init(&t, MAGIC, 1);
    tape_u32(&t, &(uint32_t){77});
    tape_u32(&t, &(uint32_t){5});
    bytes = tape_take(&t, &count);
    assert_int_equal(tape_load_init(&t, MAGIC, 1, bytes, count, &err), 0);
    tape_row(&t, &row, 7, "gang of a job");
    assert_int_equal(row, 0);
    tape_u32(&t, &row);
    assert_int_equal(row, 0); /* nothing is read any more */
    tape_fail(&t, "again");
    assert_true(tape_end(&t) < 0);
    assert_string_equal(err.text, "byte 10: gang of a job: row 77 of a table of 7");
    mem_free(bytes);
}

static void a_count_is_at_most_the_bytes_that_are_left(void **state)
{
    struct tape t;
    struct err err;
    uint32_t rows = 0;
    size_t count;
    uint8_t *bytes;

    (void)state;
    tape_save_init(&t, MAGIC, 1);
    tape_u32(&t, &(uint32_t){1000000000});
    tape_u32(&t, &(uint32_t){5});
    bytes = tape_take(&t, &count);
    assert_int_equal(tape_load_init(&t, MAGIC, 1, bytes, count, &err), 0);
    tape_count(&t, &rows, "jobs");
    assert_int_equal(rows, 0);
    assert_false(tape_more(&t, 0, 1));
    assert_non_null(strstr(err.text, "jobs: 1000000000 of them, but 1 bytes are left"));
    mem_free(bytes);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_is_loaded_is_what_was_saved),
        TEST(numbers_of_every_length_come_back),
        TEST(a_digest_sees_every_field_and_changes_none),
        TEST(cut_or_changed_bytes_are_refused),
        TEST(sealed_nonsense_is_refused_or_means_something),
        TEST(other_kinds_and_versions_are_told_apart),
        TEST(the_first_error_stays_and_names_its_place),
        TEST(a_count_is_at_most_the_bytes_that_are_left),
    };

    return RUN_TESTS(tests);
}
