/* SPDX-License-Identifier: Apache-2.0 */
/* overdue.h - what is done about what is due (due.h): jobs beyond their time limit are told to
 * stop, a person is asked to look at tasks that were told to and should be long gone, and nodes
 * that were silent for too long are lost (health.h). */
#pragma once

struct core;
struct decisions;

/* All that is due by now, in order of time. O(what is due). */
void settle_overdue(struct core *core, struct decisions *out);
