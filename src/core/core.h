/* SPDX-License-Identifier: Apache-2.0 */
/* core.h - the scheduler: facts in, step, decisions out.
 *
 * Pure: no clock, no I/O, no threads, no globals. The same configuration and events give the same
 * decisions and digests, whatever the compiler. A core is used by one thread at a time.
 *
 *   core_apply()  takes one fact; it changes the state and decides nothing.
 *   core_step()   thinks: fills decisions and marks them in flight. What is in flight counts as
 *                 used until an event settles it, so nothing is ever given twice. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "core/decision.h"
#include "core/event.h"
#include "core/policy.h"

struct core;
struct err;

/* How published simulators of preemptive orders decide; for small clusters, since every step places
 * every job. Otherwise waiting jobs start in what is free, and take as their order allows. */
enum repack {
    REPACK_NEVER,
    REPACK_ANEW, /* all jobs in key order from an empty cluster; who is placed elsewhere moves */
    REPACK_KEEP, /* the same says who runs; but who runs already stays where it is */
    REPACK_COUNT,
};

struct core_config {
    const struct placement_policy *placement; /* must outlive the core */
    const struct order_policy *order;         /* must outlive the core */
    const struct order_policy *const *orders; /* [order_count] that queues may name beside it, or
                                               * NULL; must outlive the core */
    uint32_t order_count;
    uint64_t seed;                /* for policies that draw */
    const int64_t *order_options; /* [order_option_count] or NULL; copied by init */
    uint32_t order_option_count;
    const struct group_spec *mix; /* [mix_count] demand known in advance, or NULL; */
    uint32_t mix_count;           /* its `tasks` says how many of each */
    enum repack repack;
    int64_t migrate_wait_us; /* with REPACK_KEEP: a job moves to a faster layout only after running
                                so long; */
    uint32_t migrate_gain_ppm; /* and only if it gets faster by this; 0 = jobs never move */
    uint32_t nodes_max;        /* 0 = NODES_MAX */
    uint32_t jobs_max;         /* jobs not finished yet; 0 = JOBS_MAX */
};

/* NULL with err set if the configuration is out of range. Owns a copy of what it needs. */
struct core *core_new(const struct core_config *config, struct err *err);
void core_free(struct core *core); /* takes NULL */

/* Take one fact. Returns 0, or a negative errno, and then nothing has changed:
 *   -EINVAL  a field is out of range (err names it)
 *   -EEXIST  a job with this id is known
 *   -ENOENT  no such node, job or task
 *   -ENOSPC  a limit of the configuration is reached
 *   -EACCES  the user may not submit to the queue, or not in the class
 *   -ENOTSUP what this version does not do yet (err names it)
 *   -EBUSY   a node description shrinks below what is used on it */
int core_apply(struct core *core, const struct event *event, struct err *err);

/* Decide. `now_us` below the core's clock counts as the clock, and one
 * above TIME_US_MAX as that. `out` is cleared first. A step goes as far as it can: another one at
 * the same time decides nothing, but for policies that ask for a pass at every step (refresh,
 * repacking) and, rarely, where reservations still move after RESERVE_AGAIN rounds, or a plan is
 * found only beside what started after that job's turn.
 * Returns the number of decisions. Cost: see docs/architecture.md, "What a step costs". */
uint32_t core_step(struct core *core, int64_t now_us, struct decisions *out);

/* When the next step is worth taking though nothing happens, or TIME_NONE. */
int64_t core_next_wake_us(const struct core *core);

struct core *core_clone(const struct core *core); /* cost: a copy of every table */

/* Same history, same digest; every field that can change a decision is in it. */
uint64_t core_digest(const struct core *core);

/* A snapshot: everything that core_load() needs to go on just as this core would. *out_count bytes,
 * the caller's to give back with mem_free(). What was just loaded is saved to the same bytes. */
uint8_t *core_save(const struct core *core, size_t *out_count);

/* The core that was saved; NULL with err set if these are no whole snapshot of this version, or one
 * of other policies. config: its placement and order, which the snapshot names and which must be
 * the same, and its orders; everything else comes from the snapshot. Bytes may be hostile: what is
 * loaded obeys the rules below. Memory and time: O(count). */
struct core *core_load(const struct core_config *config, const void *bytes, size_t count,
                       struct err *err);

/* The rules that hold after every apply and step (docs/architecture.md lists them). Returns 0, or
 * -EINVAL with the rule that is broken and on what. Cost: O(nodes + jobs + states). */
int core_check_rules(const struct core *core, struct err *err);

/* The rules that are about one node (1, 2 and 6), for checking what a decision touched. */
int core_check_node(const struct core *core, uint32_t node, struct err *err);
