/* SPDX-License-Identifier: Apache-2.0 */
/* orderers.h - the queue orders in use, each with its state. One state for each policy, however
 * many queues use it, so that what one queue's jobs teach serves all. Row 0 is the core's own. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/policy.h"

struct core;
struct core_config;
struct tape;

struct orderer {
    const struct order_policy *policy;
    void *state; /* [policy->state_size] */
};

/* The policy of this name among those that the core was given, or NULL. */
const struct order_policy *orderers_find(const struct core *core, const char *name);

/* The row of this policy, made if it is new. */
uint32_t orderers_want(struct core *core, const struct order_policy *policy);
void orderers_done(struct core *core);
void orderers_copy(struct core *dst, const struct core *src);
void orderers_walk(struct core *core, struct tape *t);       /* which there are */
void orderers_state_walk(struct core *core, struct tape *t); /* what they know */

/* The order that the job stands in. */
struct orderer *orderer_of(const struct core *core, uint32_t job);
int64_t orderer_key(struct core *core, uint32_t job);

/* Tell the job's order. */
void orderer_submitted(struct core *core, uint32_t job);
void orderer_started(struct core *core, uint32_t job);
void orderer_stopped(struct core *core, uint32_t job);
void orderer_finished(struct core *core, uint32_t job);

/* Tell all orders that a step begins, and re-key what they name; and that it is over. */
void orderers_step(struct core *core);
void orderers_stepped(struct core *core);

/* When the next step is worth taking because keys of running jobs change, or TIME_NONE. */
int64_t orderers_wake_us(const struct core *core);

/* Does any order take from running jobs? */
bool orderers_take(const struct core *core);
