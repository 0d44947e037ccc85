/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - memory for the layers that may not call the C allocator themselves.
 *
 * What berth keeps is bounded by stated limits (nodes, jobs, text sizes), which are checked before
 * anything grows. A failed allocation is therefore not a condition to recover from but a machine
 * without memory: one line goes to standard error and the process aborts. A half-applied event
 * would be worse, since its digest would differ from every replay. */
#pragma once
#include <stddef.h>

/* count * size zeroed bytes; NULL when that is 0. Owned by the caller, given back by mem_free. */
void *mem_alloc(size_t count, size_t size);

/* p, [old_count] elements of size bytes, grown or shrunk to [new_count]; new elements are zero.
 * p may be NULL with old_count 0. new_count 0 frees and returns NULL. p is invalid afterwards. */
void *mem_resize(void *p, size_t old_count, size_t new_count, size_t size);

/* A copy of [count] elements; NULL when count is 0. from may be NULL when count is 0. */
void *mem_copy(const void *from, size_t count, size_t size);

/* NULL is allowed. */
void mem_free(void *p);
