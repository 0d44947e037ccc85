/* SPDX-License-Identifier: Apache-2.0 */
/* without.h - would a waiting job fit if all those had left that it has a right over (rights.h)?
 *
 * Each victim is judged alone, by the books as they stand: what a plan could take is never more,
 * and less where several victims together would bring a queue below what it is entitled to. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;

/* Who is taken as having left besides. */
struct leaving {
    bool services; /* also the tasks that services keep */
    bool young;    /* also jobs that have not run for their min-run */
};

/* It would have a right over the victim if that had run for long enough. */
bool without_is_too_young(struct core *core, uint32_t job, uint32_t victim);

/* Needs victims_refresh() in the same step; all that is taken off is put back. O(victims), and a
 * search for the gang. */
bool without_fits(struct core *core, uint32_t job, const struct leaving *leaving);
