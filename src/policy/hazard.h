/* SPDX-License-Identifier: Apache-2.0 */
/* hazard.h - how long a job of some age still runs: hazard tables and the Gittins index, in
 * integers.
 *
 * Age is run time, cut into bins that grow by half: bin 0 is 0..10 s, bin b ends at 10 * 1.5^b s,
 * the last one never ends. The hazard of a bin is the part of the jobs that reach it and end in
 * it, in units of 1/HAZARD_ONE. It is estimated from jobs that ended and from jobs that are still
 * unfinished at their age; leaving the latter out would make every job look short.
 *
 * The Gittins index of a job (Gittins 1979; for service times that are not known: Aalto, Ayesta and
 * Righter 2009) is the best, over all bounds, of the chance to end within the bound per run time
 * spent on trying. Running jobs of the largest index first gives the least mean completion time
 * on one server. Here it is kept upside down, as the run time that one completion costs. */
#pragma once
#include <stdint.h>

#define HAZARD_BINS  40u
#define HAZARD_ONE   (1 << 24)
#define HAZARD_PARTS 4u /* a count of 1 job is 4 parts, so that a job can be spread over bins */

/* The bins; the same for everybody. */
struct hazard_scale {
    int64_t end_us[HAZARD_BINS];
    int64_t end_ms[HAZARD_BINS];    /* the last is a number too: what an endless bin counts as */
    int64_t middle_ms[HAZARD_BINS]; /* geometric */
};

void hazard_scale_init(struct hazard_scale *scale);

/* The bin of that age, looked for from bin `from` upwards. */
uint32_t hazard_bin(const struct hazard_scale *scale, uint32_t from, int64_t age_us);

/* Hazards from counts, smoothed towards the parent's as if `weight` more jobs had behaved like it.
 *
 * ended, active: [HAZARD_BINS] parts of jobs that ended in a bin, and that are unfinished in it.
 * parent:        [HAZARD_BINS] or NULL: ends are equally likely in all bins that are left.
 * out_hazard:    [HAZARD_BINS] 0..HAZARD_ONE; HAZARD_ONE in the last. */
void hazard_estimate(const uint32_t *ended, const uint32_t *active, const int32_t *parent,
                     uint32_t weight, int32_t *out_hazard);

/* Run time per completion for a job at the start of that bin: 1..HAZARD_COST_MS_MAX.
 * Cost: up to HAZARD_BINS steps, 0.1 us. */
#define HAZARD_COST_MS_MAX (1LL << 46)
int64_t hazard_cost_ms(const struct hazard_scale *scale, const int32_t *hazard, uint32_t bin);
