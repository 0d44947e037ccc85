/* SPDX-License-Identifier: Apache-2.0 */
/* vec.h - growing arrays that stay plain typed pointers.
 *
 * A vector is three fields of its owner: T *items; uint32_t count; uint32_t cap. Memory grows by
 * doubling and new elements are zero. Pointers into the array do not survive a vec_reserve or a
 * vec_push. Free with mem_free, copy with mem_copy(items, cap, sizeof *items). */
#pragma once
#include <stdint.h>

#include "base/check.h"
#include "base/mem.h"

/* The capacity that follows cap when need elements have to fit: doubled, at least 8. */
static inline uint32_t vec_grown(uint32_t cap, uint32_t need)
{
    uint32_t grown = cap < 8 ? 8 : cap;

    check(need <= UINT32_MAX / 2);
    while (grown < need)
        grown *= 2;
    return grown;
}

/* Makes room for need elements in all. ptr and cap are lvalues and are evaluated several times. */
#define vec_reserve(ptr, cap, need)                                                                \
    do {                                                                                           \
        uint32_t vec_need_ = (need);                                                               \
        if (vec_need_ > (cap)) {                                                                   \
            uint32_t vec_cap_ = vec_grown((cap), vec_need_);                                       \
            (ptr) = mem_resize((ptr), (cap), vec_cap_, sizeof *(ptr));                             \
            (cap) = vec_cap_;                                                                      \
        }                                                                                          \
    } while (0)

/* Appends value. value is evaluated once, after the array may have moved. */
#define vec_push(ptr, count, cap, value)                                                           \
    do {                                                                                           \
        vec_reserve(ptr, cap, (count) + 1);                                                        \
        (ptr)[(count)++] = (value);                                                                \
    } while (0)
