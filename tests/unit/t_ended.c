/* SPDX-License-Identifier: Apache-2.0 */
/* How the last jobs ended. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/tape.h"
#include "core/ended.h"
#include "core/job.h"
#include "core/limits.h"
#include "unit/test.h"

#define MAGIC "testends"

static uint8_t *save(const struct ended *e, size_t *out_count)
{
    struct ended top = *e;
    struct tape t;

    tape_save_init(&t, MAGIC, 1);
    ended_walk(&top, &t);
    return tape_take(&t, out_count);
}

/* Returns what tape_end() says; then *out is initialised. */
static int load(struct ended *out, const uint8_t *bytes, size_t count)
{
    struct err err;
    struct tape t;
    int rc = tape_load_init(&t, MAGIC, 1, bytes, count, &err);

    ended_init(out);
    if (rc == 0) {
        ended_walk(out, &t);
        rc = tape_end(&t);
    }
    tape_done(&t);
    return rc;
}

static void fill(struct ended *e, uint64_t first, uint64_t count)
{
    ended_init(e);
    for (uint64_t id = first; id < first + count; id++)
        ended_add(e, id, id % 2 == 0);
}

static void a_job_that_ended_is_known_by_how_it_did(void **state)
{
    struct ended e;

    (void)state;
    fill(&e, 10, 3);
    assert_int_equal(ended_find(&e, 10), ENDED_WELL);
    assert_int_equal(ended_find(&e, 11), ENDED_BADLY);
    assert_int_equal(ended_find(&e, 9), ENDED_UNKNOWN);
    assert_int_equal(ended_find(&e, 13), ENDED_UNKNOWN);
    ended_done(&e);
}

static void an_id_that_came_again_is_known_by_its_last_end(void **state)
{
    struct ended e;

    (void)state;
    fill(&e, 1, 3);
    ended_add(&e, 1, true);
    ended_add(&e, 2, false);
    assert_int_equal(ended_find(&e, 1), ENDED_WELL);
    assert_int_equal(ended_find(&e, 2), ENDED_BADLY);
    for (uint64_t id = 4; id < ENDED_MAX + 2; id++) /* the first three places are given anew */
        ended_add(&e, id, true);
    assert_int_equal(ended_find(&e, 3), ENDED_TOO_LONG);
    assert_int_equal(ended_find(&e, 1), ENDED_WELL);
    ended_done(&e);
}

static void the_oldest_are_forgotten_and_no_id_above_them_is_taken_for_one(void **state)
{
    struct ended e;

    (void)state;
    fill(&e, 1, ENDED_MAX + 2);
    assert_int_equal(ended_find(&e, 1), ENDED_TOO_LONG);
    assert_int_equal(ended_find(&e, 2), ENDED_TOO_LONG);
    assert_int_equal(ended_find(&e, 3), ENDED_BADLY);
    assert_int_equal(ended_find(&e, ENDED_MAX + 2), ENDED_WELL);
    assert_int_equal(ended_find(&e, ENDED_MAX + 3), ENDED_UNKNOWN);
    assert_int_equal(e.count, ENDED_MAX);
    ended_done(&e);
}

static void assert_goes_on_as(struct ended *e)
{
    struct ended loaded, copy;
    size_t count, again_count;
    uint8_t *bytes = save(e, &count), *again;

    assert_int_equal(load(&loaded, bytes, count), 0);
    ended_copy(&copy, e);
    again = save(&loaded, &again_count);
    assert_int_equal(again_count, count);
    assert_memory_equal(again, bytes, count);
    mem_free(again);
    for (uint64_t id = 200000; id < 200003; id++) {
        ended_add(e, id, true);
        ended_add(&loaded, id, true);
        ended_add(&copy, id, true);
    }
    for (uint64_t id = 0; id < ENDED_MAX + 20; id++) {
        assert_int_equal(ended_find(&loaded, id), ended_find(e, id));
        assert_int_equal(ended_find(&copy, id), ended_find(e, id));
    }
    mem_free(bytes);
    ended_done(&loaded);
    ended_done(&copy);
}

static void what_is_saved_or_copied_goes_on_as_it_would_have(void **state)
{
    static const uint64_t counts[] = {0, 1, 100, ENDED_MAX, ENDED_MAX + 7};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct ended e;

        fill(&e, 1, counts[i]);
        assert_goes_on_as(&e);
        ended_done(&e);
    }
}

static void bytes_that_say_what_cannot_be_are_refused(void **state)
{
    struct ended_job twice[] = {{5, true}, {5, false}};
    struct ended wrong = {.ring = twice, .count = 2}, loaded;
    struct ended_job one = {5, true};
    struct ended forgot = {.ring = &one, .count = 1, .forgotten = 4};
    size_t count;
    uint8_t *bytes = save(&wrong, &count);

    (void)state;
    assert_int_equal(load(&loaded, bytes, count), -EINVAL);
    ended_done(&loaded);
    mem_free(bytes);
    bytes = save(&forgot, &count);
    assert_int_equal(load(&loaded, bytes, count), -EINVAL); /* there was room for it */
    ended_done(&loaded);
    mem_free(bytes);
    wrong = (struct ended){.count = ENDED_MAX + 1};
    wrong.ring = mem_alloc(wrong.count, sizeof *wrong.ring);
    for (uint32_t i = 0; i < wrong.count; i++)
        wrong.ring[i].id = i;
    bytes = save(&wrong, &count);
    assert_int_equal(load(&loaded, bytes, count), -EINVAL);
    assert_int_equal(loaded.count, 0);
    ended_done(&loaded);
    mem_free(bytes);
    mem_free(wrong.ring);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_job_that_ended_is_known_by_how_it_did),
        TEST(an_id_that_came_again_is_known_by_its_last_end),
        TEST(the_oldest_are_forgotten_and_no_id_above_them_is_taken_for_one),
        TEST(what_is_saved_or_copied_goes_on_as_it_would_have),
        TEST(bytes_that_say_what_cannot_be_are_refused),
    };

    return RUN_TESTS(tests);
}
