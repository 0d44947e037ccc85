/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <string.h>

#include "base/rng.h"
#include "unit/test.h"

enum { IDS = 64 };

struct model {
    struct heap_item items[IDS];
    bool present[IDS];
    uint32_t count;
};

static bool is_less(struct heap_item a, struct heap_item b)
{
    if (a.key != b.key)
        return a.key < b.key;
    return a.tie != b.tie ? a.tie < b.tie : a.id < b.id;
}

/* The least id of the model by looking at all of them. The model is not empty. */
static uint32_t least_of(const struct model *model)
{
    uint32_t least = IDS;

    for (uint32_t id = 0; id < IDS; id++) {
        if (model->present[id] && (least == IDS || is_less(model->items[id], model->items[least])))
            least = id;
    }
    return least;
}

static void change_one(struct heap *heap, struct model *model, struct rng *rng)
{
    uint32_t id = (uint32_t)rng_below(rng, IDS);
    struct heap_item item = {.key = (int64_t)rng_below(rng, 9) - 4, .tie = rng_below(rng, 3)};

    item.id = id;
    assert_true(heap_contains(heap, id) == model->present[id]);
    if (!model->present[id]) {
        heap_push(heap, item.key, item.tie, id);
        model->items[id] = item;
        model->present[id] = true;
        model->count++;
    } else if (rng_below(rng, 2)) {
        heap_update(heap, id, item.key);
        model->items[id].key = item.key;
    } else {
        assert_true(heap_remove(heap, id));
        model->present[id] = false;
        model->count--;
    }
}

static void a_heap_agrees_with_looking_at_all(void **state)
{
    struct model model;
    struct heap heap;
    struct rng rng;

    (void)state;
    memset(&model, 0, sizeof model);
    heap_init(&heap);
    rng_init(&rng, 11);
    for (int round = 0; round < 50000; round++) {
        struct heap_item item;

        change_one(&heap, &model, &rng);
        assert_int_equal(heap_count(&heap), model.count);
        if (model.count == 0)
            continue;
        assert_true(heap_peek(&heap, &item));
        assert_int_equal(item.id, least_of(&model));
        if (rng_below(&rng, 8) == 0) {
            assert_true(heap_pop(&heap, &item));
            assert_int_equal(item.id, least_of(&model));
            model.present[item.id] = false;
            model.count--;
        }
    }
    heap_done(&heap);
}

static void equal_keys_leave_by_tie_and_then_by_id(void **state)
{
    static const uint32_t order[4] = {2, 1, 3, 0};
    struct heap_item item;
    struct heap heap;

    (void)state;
    heap_init(&heap);
    heap_push(&heap, 5, 9, 0);
    heap_push(&heap, 5, 1, 3);
    heap_push(&heap, 5, 1, 1);
    heap_push(&heap, 5, 0, 2);
    for (int i = 0; i < 4; i++) {
        assert_true(heap_pop(&heap, &item));
        assert_int_equal(item.id, order[i]);
    }
    assert_false(heap_pop(&heap, &item));
    assert_false(heap_peek(&heap, &item));
    assert_false(heap_remove(&heap, 1));
    heap_done(&heap);
}

static void a_cleared_heap_can_be_used_again(void **state)
{
    struct heap heap;

    (void)state;
    heap_init(&heap);
    heap_push(&heap, 1, 1, 1000);
    heap_clear(&heap);
    assert_int_equal(heap_count(&heap), 0);
    assert_false(heap_contains(&heap, 1000));
    heap_push(&heap, 2, 1, 1000);
    assert_true(heap_contains(&heap, 1000));
    heap_done(&heap);
}

static void a_copy_does_not_follow_its_source(void **state)
{
    struct heap_item item;
    struct heap heap, copy;

    (void)state;
    heap_init(&heap);
    heap_push(&heap, 2, 0, 5);
    heap_push(&heap, 1, 0, 6);
    heap_copy(&copy, &heap);
    heap_update(&heap, 5, 0);
    heap_remove(&heap, 6);
    assert_true(heap_pop(&copy, &item));
    assert_int_equal(item.id, 6);
    assert_true(heap_pop(&copy, &item));
    assert_int_equal(item.key, 2);
    heap_done(&heap);
    heap_done(&copy);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_heap_agrees_with_looking_at_all),
        TEST(equal_keys_leave_by_tie_and_then_by_id),
        TEST(a_cleared_heap_can_be_used_again),
        TEST(a_copy_does_not_follow_its_source),
    };

    return RUN_TESTS(tests);
}
