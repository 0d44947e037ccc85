/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - what policies, explain and the drivers may read of a core. Reads only, O(1) each. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"
#include "core/node.h"
#include "core/policy.h"
#include "core/shape.h"

struct core;

int64_t core_now_us(const struct core *core);
const struct placement_policy *core_placement(const struct core *core);
const struct order_policy *core_order(const struct core *core);
const char *core_name(const struct core *core, uint32_t name); /* text of a name id */

const struct job *core_job(const struct core *core, uint32_t job); /* row of a live job */
uint32_t core_job_rows(const struct core *core);                   /* rows, free ones included */
uint32_t core_find_job(const struct core *core, uint64_t job_id);  /* ROW_NONE if unknown */
/* Why it waits; REASON_NONE unless PENDING. Of the last step. */
enum reason core_job_reason(const struct core *core, uint32_t job);
/* Checkpoints that were said to be of a time that had not come yet: a clock is wrong. */
uint64_t core_marks_ahead(const struct core *core);
const struct gang *core_gang(const struct core *core, uint32_t gang);
const struct layout *core_layout(const struct core *core, uint32_t layout);
const struct group *core_group(const struct core *core, uint32_t group);
const struct task *core_task(const struct core *core, uint32_t task);

uint32_t core_selector_count(const struct core *core);
uint32_t core_shape_count(const struct core *core);
const struct shape *core_shape(const struct core *core, uint32_t shape);

uint32_t core_class_count(const struct core *core);
const struct node_class *core_class(const struct core *core, uint32_t class_id);
uint32_t core_class_nodes(const struct core *core, uint32_t class_id); /* nodes of it in use */
/* May a task of this shape use nodes of this class (selector and capacity of an empty node)? */
bool core_shape_fits_class(const struct core *core, uint32_t shape, uint32_t class_id);

/* Distinct node states: rows 0..core_state_rows()-1; those of 0 nodes are not in use. */
uint32_t core_state_rows(const struct core *core);
uint32_t core_state_count(const struct core *core);                 /* states in use */
uint32_t core_state_nodes(const struct core *core, uint32_t state); /* nodes in it */
void core_state_view(const struct core *core, uint32_t state, struct state_view *out);

/* Nodes by row, and the tasks on each: first task row, then core_task(t)->node_next. */
uint32_t core_node_rows(const struct core *core);
uint32_t core_find_node(const struct core *core, const char *name); /* ROW_NONE if unknown */
bool core_node_in_use(const struct core *core, uint32_t node);
uint32_t core_node_name(const struct core *core, uint32_t node); /* its id, see core_name() */
uint32_t core_node_class(const struct core *core, uint32_t node);
uint32_t core_node_state(const struct core *core, uint32_t node); /* ROW_NONE if it is out */
/* Why it gets no new work: bits, 0 if it does. What runs there runs on, except where it is lost. */
#define NODE_OUT_DRAINED  1u  /* by an admin */
#define NODE_OUT_SILENT   2u  /* it is not heard */
#define NODE_OUT_LOST     4u  /* not for so long that its tasks were given up; silent as well */
#define NODE_OUT_FLAPPING 8u  /* it was silent too often, and must be calm for a while */
#define NODE_OUT_STUCK    16u /* tasks on it should be long gone: an attend decision said so */
#define NODE_OUT_UNLISTED                                                                          \
    32u /* it was lost, and has not listed yet that nothing of then is there */
uint32_t core_node_out(const struct core *core, uint32_t node);
/* GPUs that are not usable, bit i: GPU i; and which of these because nothing started there. */
uint64_t core_node_lost_gpus(const struct core *core, uint32_t node);
uint64_t core_node_quarantined_gpus(const struct core *core, uint32_t node);
/* The instances that stand on a GPU that may be split, and slices of some that are not ours; false
 * if it may not. *out_leaving: layout of those of them that are being taken away. */
bool core_gpu_instances(const struct core *core, uint32_t node, uint32_t gpu, struct mig_gpu *out,
                        uint64_t *out_leaving);
uint32_t core_node_first_task(const struct core *core, uint32_t node);

/* How long the job is expected to run in all, knowing that it ran for so long (core/expect.h): as
 * a mean, and a bound that nine of ten such jobs keep. */
int64_t core_expected_us(const struct core *core, uint32_t job);
int64_t core_expected_long_us(const struct core *core, uint32_t job);

/* When the waiting job starts at the latest, if running jobs end by their bounds; TIME_NONE: it has
 * no reservation. Of the last step. */
int64_t core_reservation(const struct core *core, uint32_t job);

/* What listings of nodes repaired, since the core was made: tasks of which nobody had said that
 * they started, left (told to stop) or were lost; and tasks that were listed and are none of ours.
 */
struct drift {
    uint64_t started, left, lost, stray;
};
const struct drift *core_drift(const struct core *core);

/* Does the job stand in the order that has this state? Queues may name other orders than the core's
 * own, and each knows its own jobs only. */
bool core_order_has(const struct core *core, const void *state, uint32_t job);

/* Queues by row; those of users and classes too, by the name of the user. Row 0 is the root. */
uint32_t core_queue_rows(const struct core *core);
const char *core_queue_name(const struct core *core, uint32_t queue);
/* Does a job wait in this queue, itself, with which it and all above it that share with others
 * would hold no more than they are entitled to? Of the last step; O(buckets with waiting jobs). */
bool core_queue_is_owed(const struct core *core, uint32_t queue);
/* Would a job by which this queue is owed fit, if all running jobs had left that it has a right
 * over? If not, no plan can place it: what else there is runs on what it is entitled to. Of the
 * last step; costs a clone, and O(victims) for each bucket by which it is owed. */
bool core_queue_could_have(const struct core *core, uint32_t queue);
/* Whose row of the queues it is: name of the queue, or of the class; *out_user NULL unless it is of
 * one user of that. */
const char *core_queue_label(const struct core *core, uint32_t queue, const char **out_user);
bool core_queue_is_class(const struct core *core, uint32_t queue);

uint32_t core_pending_count(const struct core *core);
uint32_t core_running_count(const struct core *core);
