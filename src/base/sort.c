/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

struct order {
    size_t size;
    int (*compare)(const void *, const void *, void *);
    void *arg;
};

static bool is_sorted(const struct order *order, const char *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const char *at = items + i * order->size;

        if (order->compare(at - order->size, at, order->arg) > 0)
            return false;
    }
    return true;
}

/* Merges the sorted runs from[left..mid) and from[mid..end), byte positions, into to[left..end). */
static void merge(const struct order *order, const char *from, char *to, size_t left, size_t mid,
                  size_t end)
{
    size_t a = left, b = mid;

    if (mid == end || order->compare(from + mid - order->size, from + mid, order->arg) <= 0) {
        memcpy(to + left, from + left, end - left);
        return;
    }
    for (size_t at = left; at < end; at += order->size) {
        bool take_a = b == end || (a < mid && order->compare(from + a, from + b, order->arg) <= 0);
        size_t *taken = take_a ? &a : &b;

        memcpy(to + at, from + *taken, order->size);
        *taken += order->size;
    }
}

void sort_stable(void *items, size_t count, size_t size,
                 int (*compare)(const void *, const void *, void *), void *arg)
{
    struct order order = {.size = size, .compare = compare, .arg = arg};
    size_t bytes = count * size;
    char *from = items, *spare, *to;

    if (count < 2 || is_sorted(&order, items, count))
        return;
    spare = mem_alloc(count, size);
    to = spare;
    for (size_t run = size; run < bytes; run *= 2) {
        char *swapped = from;

        for (size_t left = 0; left < bytes; left += 2 * run) {
            size_t mid = bytes - left < run ? bytes : left + run;
            size_t end = bytes - mid < run ? bytes : mid + run;

            merge(&order, from, to, left, mid, end);
        }
        from = to;
        to = swapped;
    }
    if (from != items)
        memcpy(items, from, bytes);
    mem_free(spare);
}
