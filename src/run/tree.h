/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - ending all that belongs to a run, by its shepherd and, when that is gone, without it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "run/state.h"

/* Kills all below this process, which is the subreaper of the task: even what was put in a session
 * of its own. New ones may be made meanwhile, so it is called again until no child is left. */
void tree_kill_children(void);

/* Kills what is left of a run whose shepherd is gone, and says whether nothing is left. Found are
 *
 *   all in its cgroup, if it has one;
 *   its first process, by pid and start time;
 *   those in its session or process group of the same user that began no earlier;
 *   those that carry its mark (environment.h);
 *   and all below these.
 *
 * Never one that carries the mark of another run. After a reboot there is nothing left. */
bool tree_sweep(const struct run_state *state, uint32_t uid, const char *cgroup);
