/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h - stable merge sort, the same on every C library.
 *
 * Elements that compare equal keep their order. An array that is in order already costs count
 * comparisons and no memory. */
#pragma once
#include <stddef.h>

/* Sorts [count] elements of size bytes. compare returns less than, equal to or more than 0 and
 * gets arg as its last argument. Cost: O(count log count) and a copy of the array. */
void sort_stable(void *items, size_t count, size_t size,
                 int (*compare)(const void *, const void *, void *), void *arg);
