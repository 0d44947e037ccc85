/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn static void out_of_memory(size_t count, size_t size)
{
    fprintf(stderr, "berth: out of memory: wanted %zu elements of %zu bytes\n", count, size);
    abort();
}

static size_t bytes_of(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory(count, size);
    return bytes;
}

void *mem_alloc(size_t count, size_t size)
{
    void *p;

    if (bytes_of(count, size) == 0)
        return NULL;
    p = calloc(count, size);
    if (!p)
        out_of_memory(count, size);
    return p;
}

void *mem_resize(void *p, size_t old_count, size_t new_count, size_t size)
{
    size_t old_bytes = bytes_of(old_count, size), new_bytes = bytes_of(new_count, size);
    char *grown;

    if (new_bytes == 0) {
        free(p);
        return NULL;
    }
    grown = realloc(p, new_bytes);
    if (!grown)
        out_of_memory(new_count, size);
    if (new_bytes > old_bytes)
        memset(grown + old_bytes, 0, new_bytes - old_bytes);
    return grown;
}

void *mem_copy(const void *from, size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    void *p;

    if (bytes == 0)
        return NULL;
    p = malloc(bytes);
    if (!p)
        out_of_memory(count, size);
    return memcpy(p, from, bytes);
}

void mem_free(void *p)
{
    free(p);
}
