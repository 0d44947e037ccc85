/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.h - running jobs move to a faster layout when there is room for one. */
#pragma once

struct core;
struct decisions;

/* Each running job, in the order of submission, that has run for migrate_wait_us and would be
 * faster by migrate_gain_ppm elsewhere is stopped, and becomes a claimant: it starts again first.
 * Cost: O(running jobs that are not in their best layout), each a placement. */
void migrate(struct core *core, struct decisions *out);

/* Start those that were stopped to move, as soon as they have left. */
void restart_movers(struct core *core, struct decisions *out);
