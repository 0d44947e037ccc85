/* SPDX-License-Identifier: Apache-2.0 */
/* slowdown.h - how much slower a gang communicates where it is than where it could best be.
 *
 * The alpha-beta model of collectives: sending n bytes takes alpha + n * beta. For the large
 * messages of training the beta term decides, and alpha is left out, so times are bytes divided by
 * the bandwidth of the narrowest link. N tasks; the gang is in the domain c, the lowest that holds
 * all of it.
 *
 *   all-reduce   a ring in the order of task numbers, which follows the tree: it goes into each
 *                domain once and out of it once. Each link carries 2 (N-1)/N of the data, so
 *                the time goes as the largest of 1/b, b the bandwidth of a node inside c, and
 *                (1+g)/u for each domain below c with tasks in it, u its uplink, g the other
 *                gangs that cross it.
 *                (Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of
 *                workstations, J. Parallel Distrib. Comput. 69 (2009) 117-124.)
 *   all-to-all   each task sends 1/N of its data to each: with k tasks behind a link,
 *                k (N-k)/N parts go through it. The largest of these divided by the link's
 *                bandwidth, shared as above.
 *                (Thakur, Rabenseifner, Gropp: Optimization of collective communication operations
 *                in MPICH, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.)
 *
 * A link whose bandwidth is not configured is no bottleneck. What is inside a node is not in the
 * model: a gang on one node counts as one on two halves of a domain of the finest level.
 *
 * The best is the placement that spread.h finds for the same gang if all nodes are empty and nobody
 * else runs, with tasks that are all like those of the first group that is placed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct core;
struct layout;

/* Time against the best placement, 1000000 = as fast; 0 = no bandwidth is known. */
struct slowdown {
    uint32_t all_reduce_ppm, all_to_all_ppm;
};

/* Of what the trial's log took from `mark` on, beside the gangs that run. O(tasks * levels), and
 * O(nodes) the first time for a layout after nodes have changed. */
void slowdown_of_trial(struct core *core, const struct layout *layout, uint32_t mark,
                       struct slowdown *out);

/* Is that of all-reduce no worse than the layout accepts? */
bool slowdown_within(struct core *core, const struct layout *layout, uint32_t mark);

/* Of the tasks that the job has now. It is STARTING or RUNNING. */
void slowdown_of_job(struct core *core, uint32_t job, struct slowdown *out);

/* Does the job, which has a claim, accept how slow it would be there now? */
bool slowdown_accepted(struct core *core, uint32_t job);
