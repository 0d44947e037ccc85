/* SPDX-License-Identifier: Apache-2.0 */
/* terms.h - lists of names (models, labels) as ascending lists of name ids. */
#pragma once
#include <stdint.h>

struct names;

/* Intern, sort, and drop what is named twice. out: room for `count`. Returns how many. */
uint32_t terms_intern(struct names *names, const char *const *texts, uint32_t count, uint32_t *out);
