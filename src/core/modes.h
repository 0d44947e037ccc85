/* SPDX-License-Identifier: Apache-2.0 */
/* modes.h - how a GPU is given to those who use it, and who may be beside whom.
 *
 * A GPU is in one mode at a time, which is that of the tasks on it; an empty one is free, and may
 * get any mode that its node allows.
 *
 *   exclusive  the whole device for one task
 *   timeslice  tasks have parts of it and take turns; their memory is on it all the time. Those
 *              that must answer at once have no others beside them
 *   mps        tasks of one user have parts of it and run at once, so many at most. They share a
 *              server: if it dies, all of them end
 *
 * Which of these a task gets on a node follows from its request and what the node allows. Who asks
 * for a part where parts are not allowed gets a whole device.
 *
 * Tasks of one company may share a GPU, others may not. A GPU keeps how many are on it, and the
 * sums of their companies and of the squares of these: that says whether all are of one company, in
 * whatever order they come and go. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum gpu_mode { GPU_EXCLUSIVE, GPU_TIMESLICE, GPU_MPS, GPU_MODES };

#define MODE_BIT(mode) (1u << (mode))
#define MODES_ALL      (MODE_BIT(GPU_MODES) - 1)
/* What a node allows, and a job accepts, that says nothing. Under MPS one task's fault ends all, so
 * that must be asked for. */
#define MODES_DEFAULT (MODE_BIT(GPU_EXCLUSIVE) | MODE_BIT(GPU_TIMESLICE))

#define COMPANY_TURNS   0u         /* timeslice, as most */
#define COMPANY_LATENCY 1u         /* timeslice, of tasks that must answer at once */
#define COMPANY_MPS     2u         /* of nobody; of a user that number more */
#define COMPANY_NONE    UINT32_MAX /* of a whole device */

#define TRUST_MAX ((1u << 24) - 1) /* so that sums of squares stay far below 2^64 */

#define MPS_CLIENTS     48u /* of one device: CUDA up to 13.0 */
#define MPS_CLIENTS_MAX 60u /* CUDA 13.1 and later */

#define COMPUTE_FACTOR_MAX 64000u /* thousandths */

/* "exclusive", "timeslice", "mps". */
const char *gpu_mode_text(enum gpu_mode mode);

/* Those who share a GPU. All zero: nobody. */
struct sharers {
    uint64_t count;
    uint64_t sum, squares; /* of companies */
};

static inline void sharers_add(struct sharers *s, uint32_t company, int sign)
{
    s->count += (uint64_t)sign;
    s->sum += (uint64_t)sign * company;
    s->squares += (uint64_t)sign * company * company;
}

static inline void sharers_join(struct sharers *s, const struct sharers *more, int sign)
{
    s->count += (uint64_t)sign * more->count;
    s->sum += (uint64_t)sign * more->sum;
    s->squares += (uint64_t)sign * more->squares;
}

/* Of the first of them if they are alike; of nobody COMPANY_TURNS. */
static inline uint32_t sharers_company(const struct sharers *s)
{
    return s->sum == 0 ? COMPANY_TURNS : (uint32_t)(s->sum / s->count);
}

/* Are all of one company? The mean of squares is the square of the mean only then. */
static inline bool sharers_agree(const struct sharers *s)
{
    const uint64_t company = sharers_company(s);

    return s->sum == 0 ||
           (company * s->count == s->sum && company * company * s->count == s->squares);
}

static inline bool company_is_mps(uint32_t company)
{
    return company != COMPANY_NONE && company >= COMPANY_MPS;
}
