/* SPDX-License-Identifier: Apache-2.0 */
/* rules_books.h - rule 9: the books of queues and classes, worked out anew from jobs and tasks. */
#pragma once

struct core;
struct err;

/* Returns 0, or -EINVAL with the queue or class whose book is wrong. O(queues + jobs + tasks) */
int core_check_books(const struct core *core, struct err *err);
