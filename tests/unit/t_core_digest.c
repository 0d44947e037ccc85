/* SPDX-License-Identifier: Apache-2.0 */
/* Every field that can change a decision is in the digest; what only follows from others is not.
 *
 * Each table of the core is listed below, field by field, with what its flip must do. The lists
 * are held against the headers, so a field that is added to a struct and not to its list, or the
 * other way round, fails here. */
#include <ctype.h>
#include <stdlib.h>

#include "core/impl.h"
#include "unit/core_random.h"

enum role {
    IN,   /* its lowest bit, flipped, changes the digest */
    OUT,  /* flipped, it does not: it follows from others, or only saves work */
    LINK, /* a pointer, a count or a row by which the contents are found; these are listed apart */
};

struct field {
    const char *name;
    size_t offset, size;
    enum role role;
};

#define FIELD(type, member, role)                                                                  \
    {                                                                                              \
#member, offsetof(struct type, member), sizeof(((struct type *)NULL)->member), role        \
    }

/* The table of one struct: where it is declared, its fields, and a row that is in use. */
struct table {
    const char *header, *name;
    const struct field *fields; /* up to one without a name */
    void *(*row)(struct core *core);
};

#define END                                                                                        \
    {                                                                                              \
        NULL, 0, 0, IN                                                                             \
    }

static const struct field core_fields[] = {
    FIELD(core, placement, LINK),
    FIELD(core, order, LINK),
    FIELD(core, orders, LINK),
    FIELD(core, order_count, LINK),
    FIELD(core, order_options, LINK),
    FIELD(core, order_option_count, LINK),
    FIELD(core, order_option_cap, OUT),
    FIELD(core, seed, IN),
    FIELD(core, repack, IN),
    FIELD(core, migrate_wait_us, IN),
    FIELD(core, migrate_gain_ppm, IN),
    FIELD(core, nodes_max, IN),
    FIELD(core, jobs_max, IN),
    FIELD(core, reservation_depth, IN),
    FIELD(core, rules_digest, IN),
    FIELD(core, silent_us, IN),
    FIELD(core, now_us, IN),
    FIELD(core, settled_us, IN),
    FIELD(core, names, LINK),
    FIELD(core, no_name, OUT),
    FIELD(core, node_by_name, LINK),
    FIELD(core, shapes, LINK),
    FIELD(core, nodes, LINK),
    FIELD(core, jobs, LINK),
    FIELD(core, queues, LINK),
    FIELD(core, classes, LINK),
    FIELD(core, levels, LINK),
    FIELD(core, asks, OUT),
    FIELD(core, orderers, LINK),
    FIELD(core, orderer_count, LINK),
    FIELD(core, orderer_cap, OUT),
    FIELD(core, pending, LINK),
    FIELD(core, gate, LINK),
    FIELD(core, ended, LINK),
    FIELD(core, expect, LINK),
    FIELD(core, placement_state, LINK),
    FIELD(core, unsettled, LINK),
    FIELD(core, unsettled_count, IN),
    FIELD(core, unsettled_cap, OUT),
    FIELD(core, claimants, LINK),
    FIELD(core, claimant_count, IN),
    FIELD(core, claimant_cap, OUT),
    FIELD(core, reserve, LINK),
    FIELD(core, drift, IN),
    FIELD(core, marks_ahead, IN),
    FIELD(core, split_wake_us, OUT),
    FIELD(core, fits, OUT),
    FIELD(core, index, OUT),
    FIELD(core, subsets, OUT),
    FIELD(core, elastic, OUT),
    FIELD(core, mig_wanted, OUT),
    FIELD(core, shortlists, OUT),
    FIELD(core, shortlist_count, OUT),
    FIELD(core, shortlist_cap, OUT),
    FIELD(core, score_epoch, OUT),
    FIELD(core, trial, OUT),
    FIELD(core, contest, OUT),
    FIELD(core, capacity, OUT),
    FIELD(core, entitle, OUT),
    FIELD(core, timeline, OUT),
    FIELD(core, due, OUT),
    FIELD(core, victims, OUT),
    END,
};

static const struct field shapes_fields[] = {
    FIELD(shapes, shapes, LINK),
    FIELD(shapes, selectors, LINK),
    FIELD(shapes, groups, LINK),
    FIELD(shapes, layouts, LINK),
    FIELD(shapes, gangs, LINK),
    FIELD(shapes, shape_count, LINK),
    FIELD(shapes, selector_count, LINK),
    FIELD(shapes, group_count, LINK),
    FIELD(shapes, layout_count, LINK),
    FIELD(shapes, gang_count, LINK),
    FIELD(shapes, shape_cap, OUT),
    FIELD(shapes, selector_cap, OUT),
    FIELD(shapes, group_cap, OUT),
    FIELD(shapes, layout_cap, OUT),
    FIELD(shapes, gang_cap, OUT),
    FIELD(shapes, by_digest, OUT),
    END,
};

static const struct field shape_fields[] = {
    FIELD(shape, cpu_mcpu, IN),
    FIELD(shape, memory_bytes, IN),
    FIELD(shape, gpus, IN),
    FIELD(shape, gpu_mgpu, IN),
    FIELD(shape, gpu_memory_bytes, IN),
    FIELD(shape, exclusive, IN),
    FIELD(shape, modes, IN),
    FIELD(shape, trust, IN),
    FIELD(shape, latency, IN),
    FIELD(shape, mig, IN),
    FIELD(shape, selector, IN),
    END,
};

static const struct field selector_fields[] = {
    FIELD(selector, model_count, IN),
    FIELD(selector, label_count, IN),
    FIELD(selector, models, IN),
    FIELD(selector, labels, IN),
    END,
};

static const struct field levels_fields[] = {
    FIELD(levels, rows, LINK),
    FIELD(levels, count, LINK),
    FIELD(levels, built_at, OUT),
    FIELD(levels, nodes, OUT),
    FIELD(levels, node_count, OUT),
    FIELD(levels, at, OUT),
    FIELD(levels, at_count, OUT),
    FIELD(levels, paths, OUT),
    FIELD(levels, slots, OUT),
    FIELD(levels, slot_count, OUT),
    FIELD(levels, slot_cap, OUT),
    FIELD(levels, best_rows, OUT),
    FIELD(levels, best, OUT),
    FIELD(levels, best_count, OUT),
    FIELD(levels, best_cap, OUT),
    FIELD(levels, counted, OUT),
    FIELD(levels, moved, OUT),
    FIELD(levels, counted_count, OUT),
    FIELD(levels, moved_count, OUT),
    FIELD(levels, moved_cap, OUT),
    END,
};

static const struct field level_fields[] = {
    FIELD(level, name, IN),
    FIELD(level, bandwidth_bytes, IN),
    FIELD(level, uplink_bytes, IN),
    END,
};

static const struct field group_fields[] = {
    FIELD(group, shape, IN),
    FIELD(group, tasks, IN),
    END,
};

static const struct field layout_fields[] = {
    FIELD(layout, first_group, IN),
    FIELD(layout, group_count, IN),
    FIELD(layout, slowdown_ppm, IN),
    FIELD(layout, apart, IN),
    FIELD(layout, tasks_min, IN),
    FIELD(layout, together, IN),
    END,
};

static const struct field gang_fields[] = {
    FIELD(gang, first_layout, IN), FIELD(gang, layout_count, IN),
    FIELD(gang, tasks, IN),        FIELD(gang, gpus, IN),
    FIELD(gang, mgpu, IN),         FIELD(gang, mig, OUT),
    FIELD(gang, asks, OUT),        END,
};

static const struct field links_fields[] = {
    FIELD(links, rows, LINK),
    FIELD(links, count, LINK),
    FIELD(links, cap, OUT),
    FIELD(links, mbps, LINK),
    FIELD(links, mbps_count, OUT),
    FIELD(links, mbps_cap, OUT),
    END,
};

static const struct field links_row_fields[] = {
    FIELD(links_row, gpus, IN),
    FIELD(links_row, first, LINK),
    END,
};

static const struct field nodes_fields[] = {
    FIELD(nodes, links, LINK),
    FIELD(nodes, changes, OUT),
    FIELD(nodes, classes, LINK),
    FIELD(nodes, class_nodes, LINK),
    FIELD(nodes, class_count, LINK),
    FIELD(nodes, class_cap, OUT),
    FIELD(nodes, factor_most, OUT),
    FIELD(nodes, class_nodes_cap, OUT),
    FIELD(nodes, rows, LINK),
    FIELD(nodes, count, LINK),
    FIELD(nodes, cap, OUT),
    FIELD(nodes, in_use, OUT),
    FIELD(nodes, joined, IN),
    FIELD(nodes, kinds, OUT),
    FIELD(nodes, sees_kinds, OUT),
    FIELD(nodes, migs, LINK),
    FIELD(nodes, mig_count, OUT),
    FIELD(nodes, mig_cap, OUT),
    FIELD(nodes, rooms, OUT),
    FIELD(nodes, gpus, LINK),
    FIELD(nodes, gpu_count, OUT),
    FIELD(nodes, gpu_cap, OUT),
    END,
};

static const struct field class_fields[] = {
    FIELD(node_class, model, IN),
    FIELD(node_class, gpu_count, IN),
    FIELD(node_class, gpu_memory_bytes, IN),
    FIELD(node_class, cpu_mcpu, IN),
    FIELD(node_class, memory_bytes, IN),
    FIELD(node_class, label_count, IN),
    FIELD(node_class, labels, IN),
    FIELD(node_class, links, IN),
    FIELD(node_class, modes, IN),
    FIELD(node_class, context_bytes, IN),
    FIELD(node_class, compute_factor, IN),
    FIELD(node_class, mps_clients, IN),
    FIELD(node_class, mig_type, OUT),
    END,
};

static const struct field node_fields[] = {
    FIELD(node, in_use, IN),
    FIELD(node, name, IN),
    FIELD(node, class_id, IN),
    FIELD(node, order, IN),
    FIELD(node, state, OUT),
    FIELD(node, gpu_first, LINK),
    FIELD(node, gpu_room, OUT),
    FIELD(node, mig_first, OUT),
    FIELD(node, mig_own, OUT),
    FIELD(node, mig_count, OUT),
    FIELD(node, first_task, OUT),
    FIELD(node, stuck, OUT),
    FIELD(node, lost_mask, IN),
    FIELD(node, quarantined_mask, IN),
    FIELD(node, drained, IN),
    FIELD(node, silent, IN),
    FIELD(node, unlisted, IN),
    FIELD(node, strays, IN),
    FIELD(node, lost, IN),
    FIELD(node, silent_since_us, IN),
    FIELD(node, flaps_until_us, IN),
    FIELD(node, silences_until_us, IN),
    FIELD(node, deficit, IN),
    FIELD(node, held_mcpu, IN),
    FIELD(node, held_memory_bytes, IN),
    FIELD(node, set_child, OUT),
    FIELD(node, set_next, OUT),
    FIELD(node, set_prev, OUT),
    END,
};

static const struct field mig_fields[] = {
    FIELD(mig_book, made, IN),
    FIELD(mig_book, leaving, IN),
    FIELD(mig_book, failed_until_us, IN),
    FIELD(mig_book, price, IN),
    FIELD(mig_book, node_price, IN),
    FIELD(mig_book, held, OUT),
    FIELD(mig_book, room, OUT),
    END,
};

static const struct field book_fields[] = {
    FIELD(gpu_book, held_mgpu, IN),
    FIELD(gpu_book, held_bytes, IN),
    FIELD(gpu_book, sharers, OUT),
    FIELD(gpu_book, failures_until_us, IN),
    END,
};

static const struct field jobs_fields[] = {
    FIELD(jobs, rows, LINK),      FIELD(jobs, next_free, OUT),     FIELD(jobs, count, LINK),
    FIELD(jobs, cap, OUT),        FIELD(jobs, next_free_cap, OUT), FIELD(jobs, free_first, OUT),
    FIELD(jobs, live, OUT),       FIELD(jobs, by_id, OUT),         FIELD(jobs, submitted, IN),
    FIELD(jobs, pending, OUT),    FIELD(jobs, active, OUT),        FIELD(jobs, active_count, OUT),
    FIELD(jobs, active_cap, OUT), FIELD(jobs, tasks, LINK),        FIELD(jobs, task_free, OUT),
    FIELD(jobs, task_count, OUT), FIELD(jobs, task_cap, OUT),      END,
};

static const struct field job_fields[] = {
    FIELD(job, id, IN),
    FIELD(job, sequence, IN),
    FIELD(job, state, IN),
    FIELD(job, gang, IN),
    FIELD(job, layout, IN),
    FIELD(job, queue, IN),
    FIELD(job, user, IN),
    FIELD(job, name, IN),
    FIELD(job, at, IN),
    FIELD(job, class_id, IN),
    FIELD(job, bucket, OUT),
    FIELD(job, task_count, IN),
    FIELD(job, task_first, LINK),
    FIELD(job, tasks_started, IN),
    FIELD(job, tasks_left, IN),
    FIELD(job, tasks_absent, IN),
    FIELD(job, tasks_shrinking, IN),
    FIELD(job, service, IN),
    FIELD(job, cancelled, IN),
    FIELD(job, failed, IN),
    FIELD(job, lost, IN),
    FIELD(job, preempted, IN),
    FIELD(job, moving, IN),
    FIELD(job, unsettled, IN),
    FIELD(job, queued, IN),
    FIELD(job, held, IN),
    FIELD(job, in_vain, IN),
    FIELD(job, let_in, IN),
    FIELD(job, lined_up, IN),
    FIELD(job, fixed, IN),
    FIELD(job, qos, IN),
    FIELD(job, attended, IN),
    FIELD(job, overran, IN),
    FIELD(job, elsewhere, IN),
    FIELD(job, mark_ahead, IN),
    FIELD(job, array, LINK),
    FIELD(job, array_prev, OUT),
    FIELD(job, array_next, OUT),
    FIELD(job, after_left, OUT),
    FIELD(job, told, IN),
    FIELD(job, reservation, OUT),
    FIELD(job, victims, IN),
    FIELD(job, claimant, IN),
    FIELD(job, submit_us, IN),
    FIELD(job, deadline_us, IN),
    FIELD(job, start_us, IN),
    FIELD(job, stop_us, IN),
    FIELD(job, limit_us, IN),
    FIELD(job, grace_us, IN),
    FIELD(job, min_run_us, IN),
    FIELD(job, ends_us, IN),
    FIELD(job, bound_us, IN),
    FIELD(job, mark_us, IN),
    FIELD(job, mark_said_us, IN),
    FIELD(job, retries_left, IN),
    FIELD(job, attained_us, IN),
    FIELD(job, remaining_us, IN),
    FIELD(job, remaining_at_us, IN),
    FIELD(job, preemptions, IN),
    FIELD(job, yields, IN),
    FIELD(job, took_by, IN),
    FIELD(job, yielded_to, IN),
    FIELD(job, takes_after_us, IN),
    FIELD(job, run, IN),
    FIELD(job, failed_us, IN),
    FIELD(job, reason, IN),
    FIELD(job, active_at, OUT),
    FIELD(job, growing_at, OUT),
    END,
};

static const struct field task_fields[] = {
    FIELD(task, job, OUT),
    FIELD(task, node, IN),
    FIELD(task, shape, IN),
    FIELD(task, run, IN),
    FIELD(task, gpu_mask, IN),
    FIELD(task, mig_start, IN),
    FIELD(task, mig_makes, IN),
    FIELD(task, started, IN),
    FIELD(task, left, IN),
    FIELD(task, absent, IN),
    FIELD(task, shrinking, IN),
    FIELD(task, claimed, IN),
    FIELD(task, leaving, IN),
    FIELD(task, service_start_us, IN),
    FIELD(task, missed, IN),
    FIELD(task, missed_us, IN),
    FIELD(task, node_prev, OUT),
    FIELD(task, node_next, OUT),
    END,
};

static const struct field gate_fields[] = {
    FIELD(gate, edges, LINK),
    FIELD(gate, edge_count, LINK),
    FIELD(gate, edge_cap, OUT),
    FIELD(gate, edge_free, OUT),
    FIELD(gate, after, OUT),
    FIELD(gate, arrays, LINK),
    FIELD(gate, array_count, OUT),
    FIELD(gate, array_cap, OUT),
    FIELD(gate, array_free, OUT),
    FIELD(gate, array_by_name, OUT),
    END,
};

static const struct field edge_fields[] = {
    FIELD(after_edge, on, IN),
    FIELD(after_edge, job, IN),
    FIELD(after_edge, end, IN),
    FIELD(after_edge, next, OUT),
    END,
};

static const struct field ended_fields[] = {
    FIELD(ended, ring, LINK),
    FIELD(ended, count, LINK),
    FIELD(ended, cap, OUT),
    FIELD(ended, first, OUT),
    FIELD(ended, by_id, OUT),
    FIELD(ended, forgotten, IN),
    END,
};

static const struct field ended_job_fields[] = {
    FIELD(ended_job, id, IN),
    FIELD(ended_job, well, IN),
    END,
};

static const struct field array_fields[] = {
    FIELD(array, user, OUT), FIELD(array, name, IN),       FIELD(array, limit, IN),
    FIELD(array, jobs, OUT), FIELD(array, in, OUT),        FIELD(array, first, OUT),
    FIELD(array, last, OUT), FIELD(array, next_free, OUT), END,
};

static const struct field queues_fields[] = {
    FIELD(queues, rows, LINK),
    FIELD(queues, count, LINK),
    FIELD(queues, cap, OUT),
    FIELD(queues, configured, IN),
    FIELD(queues, by_name, OUT),
    FIELD(queues, by_user, OUT),
    FIELD(queues, users, LINK),
    FIELD(queues, user_count, LINK),
    FIELD(queues, user_cap, OUT),
    FIELD(queues, default_row, IN),
    FIELD(queues, half_life_us, IN),
    FIELD(queues, books, OUT),
    FIELD(queues, lend_bounded, OUT),
    FIELD(queues, kept, OUT),
    FIELD(queues, kept_cap, OUT),
    FIELD(queues, changes, OUT),
    END,
};

static const struct field queue_fields[] = {
    FIELD(queue, kind, IN),
    FIELD(queue, fair, IN),
    FIELD(queue, by_user, IN),
    FIELD(queue, guaranteed, OUT),
    FIELD(queue, child_guaranteed, OUT),
    FIELD(queue, name, IN),
    FIELD(queue, parent, IN),
    FIELD(queue, orderer, IN),
    FIELD(queue, children, OUT),
    FIELD(queue, weight, IN),
    FIELD(queue, guarantee, IN),
    FIELD(queue, limit, IN),
    FIELD(queue, borrow, IN),
    FIELD(queue, lend, IN),
    FIELD(queue, user_limit, IN),
    FIELD(queue, user_jobs_max, IN),
    FIELD(queue, user_first, IN),
    FIELD(queue, user_count, IN),
    FIELD(queue, used, OUT),
    FIELD(queue, leaving, OUT),
    FIELD(queue, claimed, OUT),
    FIELD(queue, asked, OUT),
    FIELD(queue, reserved, OUT), /* 0 between steps */
    FIELD(queue, jobs, OUT),
    FIELD(queue, past, IN),
    FIELD(queue, past_us, IN),
    FIELD(queue, entitled, OUT),
    END,
};

static const struct field classes_fields[] = {
    FIELD(classes, rows, LINK),       FIELD(classes, count, LINK),
    FIELD(classes, cap, OUT),         FIELD(classes, users, LINK),
    FIELD(classes, user_count, LINK), FIELD(classes, user_cap, OUT),
    FIELD(classes, default_row, IN),  END,
};

static const struct field priority_fields[] = {
    FIELD(priority, name, IN),        FIELD(priority, rank, IN),
    FIELD(priority, takes_below, IN), FIELD(priority, fixed, IN),
    FIELD(priority, grace_us, IN),    FIELD(priority, min_run_us, IN),
    FIELD(priority, bounded, IN),     FIELD(priority, user_limit, IN),
    FIELD(priority, user_first, IN),  FIELD(priority, user_count, IN),
    FIELD(priority, active, OUT),     END,
};

static const struct field pending_fields[] = {
    FIELD(pending, buckets, LINK),
    FIELD(pending, count, LINK),
    FIELD(pending, cap, OUT),
    FIELD(pending, by_ask, OUT),
    FIELD(pending, gangs, LINK),
    FIELD(pending, gang_count, LINK),
    FIELD(pending, gang_cap, OUT),
    FIELD(pending, open, LINK),
    FIELD(pending, open_count, LINK),
    FIELD(pending, open_cap, OUT),
    FIELD(pending, place, OUT),
    FIELD(pending, place_cap, OUT),
    END,
};

static const struct field wanted_fields[] = {
    FIELD(wanted, gang, IN),     FIELD(wanted, leaf, IN),     FIELD(wanted, of_class, IN),
    FIELD(wanted, class_id, IN), FIELD(wanted, queue, IN),    FIELD(wanted, user, IN),
    FIELD(wanted, name, IN),     FIELD(wanted, bound_us, IN), END,
};

static const struct field bucket_fields[] = {
    FIELD(bucket, ask, LINK),
    FIELD(bucket, heap, LINK),
    FIELD(bucket, count, IN),
    FIELD(bucket, cap, OUT),
    FIELD(bucket, open_at, OUT),
    FIELD(bucket, refused_at, OUT),
    FIELD(bucket, bound, IN),
    FIELD(bucket, reason, IN),
    FIELD(bucket, told, IN),
    FIELD(bucket, told_bound, IN),
    FIELD(bucket, split_at, OUT),
    FIELD(bucket, split_job, OUT),
    FIELD(bucket, split_until_us, OUT),
    FIELD(bucket, in_contest, OUT),
    END,
};

static const struct field reserve_fields[] = {
    FIELD(reserve, rows, LINK),        FIELD(reserve, count, LINK),
    FIELD(reserve, cap, OUT),          FIELD(reserve, upset, IN),
    FIELD(reserve, open, OUT),         FIELD(reserve, again, OUT),
    FIELD(reserve, charged, OUT),      FIELD(reserve, turns, OUT),
    FIELD(reserve, beside_all, OUT),   FIELD(reserve, own, OUT),
    FIELD(reserve, on, OUT),           FIELD(reserve, on_count, OUT),
    FIELD(reserve, on_cap, OUT),       FIELD(reserve, on_node, OUT),
    FIELD(reserve, on_node_cap, OUT),  FIELD(reserve, endings, OUT),
    FIELD(reserve, ending_count, OUT), FIELD(reserve, ending_cap, OUT),
    FIELD(reserve, asides, OUT),       FIELD(reserve, aside_count, OUT),
    FIELD(reserve, aside_cap, OUT),    END,
};

static const struct field reservation_fields[] = {
    FIELD(reservation, job, IN),
    FIELD(reservation, layout, IN),
    FIELD(reservation, at_us, IN),
    FIELD(reservation, until_us, IN),
    FIELD(reservation, told_us, IN),
    FIELD(reservation, first_us, OUT), /* only told */
    FIELD(reservation, late_by, OUT),
    FIELD(reservation, for_job, OUT),
    FIELD(reservation, places, LINK),
    FIELD(reservation, place_count, LINK),
    FIELD(reservation, turn, OUT),
    FIELD(reservation, changed, OUT),
    END,
};

static const struct field place_fields[] = {
    FIELD(trial_item, node, IN),
    FIELD(trial_item, shape, IN),
    FIELD(trial_item, gpu_mask, IN),
    FIELD(trial_item, mig_start, IN),
    FIELD(trial_item, slot, IN),
    FIELD(trial_item, given, OUT),
    END,
};

static const struct field note_fields[] = {
    FIELD(gang_note, refused_at, OUT), FIELD(gang_note, reason, IN), FIELD(gang_note, bucket, OUT),
    FIELD(gang_note, never_at, OUT),   FIELD(gang_note, never, OUT), END,
};

static const struct field expect_fields[] = {
    FIELD(expect, keys, LINK),   FIELD(expect, count, LINK),   FIELD(expect, cap, OUT),
    FIELD(expect, by_name, OUT), FIELD(expect, by_queue, OUT), END,
};

static const struct field expect_key_fields[] = {
    FIELD(expect_key, facts, IN),
    FIELD(expect_key, by_name, IN),
    FIELD(expect_key, one, IN),
    FIELD(expect_key, weight, IN),
    END,
};

static const struct field waiting_fields[] = {
    FIELD(waiting, key, IN),
    FIELD(waiting, sequence, IN),
    FIELD(waiting, job, IN),
    END,
};

/* ---- a core with something in every table ---- */

enum { CLAIMANT = 4, RUNNING = 1, WAITING = 5 };

/* Job 1 runs (3 tasks on 4 GPUs), 4 has stopped 2 and 3, of which 3 has lost a task; 5 waits. */
/* Jobs that are kept out of the queue: by their array, and by another job. */
static void submit_kept_out(struct bed *bed)
{
    static const struct group_spec group = {.tasks = 1, .gpus = 5};
    static const struct job_layout_spec layout = {
        .groups = &group, .group_count = 1, .slowdown_ppm = 1000000};
    static const struct job_after after = {6, AFTER_ANY};

    for (uint64_t id = 6; id <= 8; id++)
        bed_apply(bed, &(struct event){.type = EVENT_JOB_SUBMITTED,
                                       .job = {.id = id,
                                               .queue = "9",
                                               .user = "",
                                               .name = "",
                                               .array = id < 8 ? "x" : "",
                                               .array_limit = id < 8,
                                               .after = &after,
                                               .after_count = id == 8,
                                               .layouts = &layout,
                                               .layout_count = 1,
                                               .remaining_us = -1}});
}

static void open_core(struct bed *bed)
{
    static const char *const labels[] = {"zone=a"};
    static const uint32_t links[21] = {5, 4, 3};

    bed_open(bed, &place_salted, &by_queue);
    bed_apply(bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                   .node = {.name = "n0",
                                            .model = "A100",
                                            .gpus = 7,
                                            .gpu_memory_bytes = 80 * GB,
                                            .cpu_mcpu = 99999,
                                            .memory_bytes = 100 * GB,
                                            .labels = labels,
                                            .label_count = 1,
                                            .links_mbps = links}});
    bed_apply(bed, &(struct event){.type = EVENT_CONFIG_CHANGED,
                                   .rules = {.reservation_depth = 1,
                                             .levels = &(struct level_spec){.name = "zone"},
                                             .level_count = 1}});
    bed_node(bed, "n1", 0); /* so that there is another class */
    bed_apply(bed, &(struct event){.type = EVENT_NODE_UPSERTED,
                                   .node = {.name = "n2",
                                            .model = "A100",
                                            .gpus = 1,
                                            .gpu_memory_bytes = INT64_C(80) << 30,
                                            .modes = MODE_BIT(GPU_MIG)}});
    SUBMIT(bed, .id = 1, .gpus = 1, .tasks = 3, .queue = "0", .model = "A100", .label = "zone=a",
           .cpu_mcpu = 1);
    SUBMIT(bed, .id = 2, .gpus = 1, .tasks = 3, .queue = "8");
    SUBMIT(bed, .id = 3, .gpus = 1, .queue = "9");
    bed_step(bed);
    for (uint64_t id = 1; id <= 3; id++)
        bed_run(bed, id);
    SUBMIT(bed, .id = CLAIMANT, .gpus = 4, .queue = "1");
    SUBMIT(bed, .id = 5, .gpus = 1, .queue = "9");
    submit_kept_out(bed);
    SUBMIT(bed, .id = 9, .gpus = 5, .queue = "9");
    apply(bed, cancelled(9)); /* one that has ended */
    bed_step(bed);
    assert_int_equal(bed_state(bed, 2), JOB_STOPPING);
    assert_int_equal(bed->core->claimant_count, 1);
    assert_int_equal(bed->core->reserve.count, 1);
    apply(bed, exited(2, 0, 143));
    apply(bed, cancelled(1));
    assert_int_not_equal(bed->core->unsettled_count, 0);
}

static void *row_core(struct core *core)
{
    return core;
}

static void *row_shapes(struct core *core)
{
    return &core->shapes;
}

static void *row_shape(struct core *core)
{
    return &core->shapes.shapes[0];
}

static void *row_selector(struct core *core)
{
    return &core->shapes.selectors[1];
}

static void *row_group(struct core *core)
{
    return &core->shapes.groups[0];
}

static void *row_layout(struct core *core)
{
    return &core->shapes.layouts[0];
}

static void *row_gang(struct core *core)
{
    return &core->shapes.gangs[0];
}

static void *row_levels(struct core *core)
{
    return &core->levels;
}

static void *row_level(struct core *core)
{
    return &core->levels.rows[0];
}

static void *row_links(struct core *core)
{
    return &core->nodes.links;
}

static void *row_links_row(struct core *core)
{
    return &core->nodes.links.rows[0];
}

static void *row_nodes(struct core *core)
{
    return &core->nodes;
}

static void *row_class(struct core *core)
{
    return &core->nodes.classes[0];
}

static void *row_node(struct core *core)
{
    return &core->nodes.rows[0];
}

static void *row_book(struct core *core)
{
    return &core->nodes.gpus[core->nodes.rows[0].gpu_first + 3];
}

static void *row_mig(struct core *core)
{
    return &core->nodes.migs[0];
}

static void *row_jobs(struct core *core)
{
    return &core->jobs;
}

static void *row_job(struct core *core)
{
    return &core->jobs.rows[core_find_job(core, RUNNING)];
}

static void *row_task(struct core *core)
{
    return &core->jobs.tasks[core->jobs.rows[core_find_job(core, RUNNING)].task_first + 1];
}

static void *row_claim(struct core *core)
{
    return &core->jobs.tasks[core->jobs.rows[core_find_job(core, CLAIMANT)].task_first];
}

static void *row_queues(struct core *core)
{
    return &core->queues;
}

static void *row_queue(struct core *core)
{
    return &core->queues.rows[core->queues.default_row];
}

static void *row_classes(struct core *core)
{
    return &core->classes;
}

static void *row_priority(struct core *core)
{
    return &core->classes.rows[0];
}

static void *row_note(struct core *core)
{
    return &core->pending.gangs[0];
}

static void *row_pending(struct core *core)
{
    return &core->pending;
}

static void *row_bucket(struct core *core)
{
    return &core->pending.buckets[core->jobs.rows[core_find_job(core, WAITING)].bucket];
}

static void *row_waiting(struct core *core)
{
    return ((struct bucket *)row_bucket(core))->heap;
}

static void *row_reserve(struct core *core)
{
    return &core->reserve;
}

static void *row_reservation(struct core *core)
{
    return core->reserve.rows;
}

static void *row_place(struct core *core)
{
    return core->reserve.rows[0].places;
}

static void *row_gate(struct core *core)
{
    return &core->gate;
}

static void *row_edge(struct core *core)
{
    return core->gate.edges;
}

static void *row_array(struct core *core)
{
    return core->gate.arrays;
}

static void *row_ended(struct core *core)
{
    return &core->ended;
}

static void *row_ended_job(struct core *core)
{
    return core->ended.ring;
}

static void *row_expect(struct core *core)
{
    return &core->expect;
}

static void *row_expect_key(struct core *core)
{
    return core->expect.keys;
}

static const struct table tables[] = {
    {"src/core/impl.h", "core", core_fields, row_core},
    {"src/core/shape.h", "shapes", shapes_fields, row_shapes},
    {"src/core/shape.h", "shape", shape_fields, row_shape},
    {"src/core/shape.h", "selector", selector_fields, row_selector},
    {"src/core/shape.h", "group", group_fields, row_group},
    {"src/core/shape.h", "layout", layout_fields, row_layout},
    {"src/core/shape.h", "gang", gang_fields, row_gang},
    {"src/core/levels.h", "levels", levels_fields, row_levels},
    {"src/core/levels.h", "level", level_fields, row_level},
    {"src/core/links.h", "links", links_fields, row_links},
    {"src/core/links.h", "links_row", links_row_fields, row_links_row},
    {"src/core/nodes.h", "nodes", nodes_fields, row_nodes},
    {"src/core/node.h", "node_class", class_fields, row_class},
    {"src/core/nodes.h", "node", node_fields, row_node},
    {"src/core/nodes.h", "gpu_book", book_fields, row_book},
    {"src/core/nodes.h", "mig_book", mig_fields, row_mig},
    {"src/core/jobs.h", "jobs", jobs_fields, row_jobs},
    {"src/core/job.h", "job", job_fields, row_job},
    {"src/core/job.h", "task", task_fields, row_task},
    {"src/core/job.h", "task", task_fields, row_claim},
    {"src/core/queues.h", "queues", queues_fields, row_queues},
    {"src/core/queues.h", "queue", queue_fields, row_queue},
    {"src/core/classes.h", "classes", classes_fields, row_classes},
    {"src/core/classes.h", "priority", priority_fields, row_priority},
    {"src/core/pending.h", "pending", pending_fields, row_pending},
    {"src/core/pending.h", "wanted", wanted_fields, row_bucket},
    {"src/core/pending.h", "gang_note", note_fields, row_note},
    {"src/core/pending.h", "bucket", bucket_fields, row_bucket},
    {"src/core/pending.h", "waiting", waiting_fields, row_waiting},
    {"src/core/reserve.h", "reserve", reserve_fields, row_reserve},
    {"src/core/reserve.h", "reservation", reservation_fields, row_reservation},
    {"src/core/trial.h", "trial_item", place_fields, row_place},
    {"src/core/gate.h", "gate", gate_fields, row_gate},
    {"src/core/gate.h", "after_edge", edge_fields, row_edge},
    {"src/core/gate.h", "array", array_fields, row_array},
    {"src/core/ended.h", "ended", ended_fields, row_ended},
    {"src/core/ended.h", "ended_job", ended_job_fields, row_ended_job},
    {"src/core/expect.h", "expect", expect_fields, row_expect},
    {"src/core/expect.h", "expect_key", expect_key_fields, row_expect_key},
};
enum { TABLES = sizeof tables / sizeof tables[0] };

static void every_field_changes_the_digest_unless_it_follows_from_others(void **state)
{
    struct bed bed;
    uint64_t before;
    uint32_t flipped = 0;

    (void)state;
    open_core(&bed);
    before = core_digest(bed.core);
    for (uint32_t t = 0; t < TABLES; t++)
        for (const struct field *f = tables[t].fields; f->name != NULL; f++) {
            uint8_t *byte = (uint8_t *)tables[t].row(bed.core) + f->offset;
            const bool bit = f->size > 1 || *byte < 2;
            uint64_t after;

            if (f->role == LINK)
                continue;
            assert_true(bit);
            *byte ^= 1;
            after = core_digest(bed.core);
            *byte ^= 1;
            if ((after != before) != (f->role == IN))
                fail_msg("struct %s: %s: %s in the digest", tables[t].name, f->name,
                         f->role == IN ? "is not" : "is");
            flipped++;
        }
    assert_true(flipped > 120);
    assert_true(core_digest(bed.core) == before);
    bed_close(&bed);
}

/* ---- the lists against the headers ---- */

static char *read_header(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text;
    size_t count;

    if (file == NULL)
        fail_msg("%s: cannot be opened (run from the root of the repository)", path);
    text = calloc(1, 1 << 16);
    assert_non_null(text);
    count = fread(text, 1, (1 << 16) - 1, file);
    assert_true(count < (1 << 16) - 1);
    fclose(file);
    return text;
}

static void blank_comments(char *text)
{
    for (char *c = strstr(text, "/*"); c != NULL; c = strstr(c, "/*"))
        for (bool end = false; !end; c++) {
            assert_true(*c != '\0');
            end = c[0] == '*' && c[1] == '/' && c[-1] != '/';
            *c = ' ';
            if (end)
                c[1] = ' ';
        }
}

static bool is_listed(const struct field *fields, const char *name, size_t length)
{
    for (; fields->name != NULL; fields++)
        if (strlen(fields->name) == length && memcmp(fields->name, name, length) == 0)
            return true;
    return false;
}

/* The last word before each ',' or ';' (and before any '[') of the struct's body is a field. */
static uint32_t check_members(const struct table *table, const char *body)
{
    uint32_t count = 0;
    const char *word = body, *end = body;
    bool in_word = false, in_array = false;

    for (const char *c = body; *c != '}'; c++) {
        assert_true(*c != '\0' && *c != '{'); /* no struct within a struct */
        if (*c == ',' || *c == ';') {
            if (!is_listed(table->fields, word, (size_t)(end - word)))
                fail_msg("%s: struct %s: %.*s is not listed in t_core_digest.c", table->header,
                         table->name, (int)(end - word), word);
            count++;
            in_word = in_array = false;
            continue;
        }
        in_array = in_array || *c == '[';
        if (in_array)
            continue;
        if (isalnum((unsigned char)*c) || *c == '_') {
            word = in_word ? word : c;
            end = c + 1;
            in_word = true;
        } else {
            in_word = false;
        }
    }
    return count;
}

static void every_field_of_the_headers_is_listed(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < TABLES; t++) {
        char *text = read_header(tables[t].header), start[64];
        const char *body;
        uint32_t listed = 0;

        blank_comments(text);
        snprintf(start, sizeof start, "\nstruct %s {", tables[t].name);
        body = strstr(text, start);
        assert_non_null(body);
        for (const struct field *f = tables[t].fields; f->name != NULL; f++)
            listed++;
        assert_int_equal(check_members(&tables[t], body + strlen(start)), listed);
        free(text);
    }
}

/* ---- what the lists leave open ---- */

static uint64_t digest_after(struct core *core, uint8_t *byte)
{
    uint64_t digest;

    *byte ^= 1;
    digest = core_digest(core);
    *byte ^= 1;
    return digest;
}

static void the_rows_in_the_lists_of_the_core_are_in_the_digest(void **state)
{
    struct bed bed;
    uint64_t before;

    (void)state;
    open_core(&bed);
    before = core_digest(bed.core);
    assert_true(digest_after(bed.core, (uint8_t *)&bed.core->unsettled[0]) != before);
    assert_true(digest_after(bed.core, (uint8_t *)&bed.core->claimants[0]) != before);
    assert_true(digest_after(bed.core, (uint8_t *)&bed.core->nodes.class_nodes[0]) != before);
    assert_true(digest_after(bed.core, (uint8_t *)&bed.core->nodes.links.mbps[20]) != before);
    assert_true(digest_after(bed.core, (uint8_t *)bed.core->names.chunks[0].bytes) != before);
    bed_close(&bed);
}

static void the_policies_and_all_of_their_state_are_in_the_digest(void **state)
{
    struct placement_policy other_placement = place_salted;
    struct order_policy other_order = by_queue;
    struct bed bed;
    uint64_t before;

    (void)state;
    other_placement.name = "other";
    other_order.name = "other";
    open_core(&bed);
    before = core_digest(bed.core);
    for (size_t i = 0; i < sizeof(struct salt); i++)
        assert_true(digest_after(bed.core, (uint8_t *)bed.core->placement_state + i) != before);
    for (size_t i = 0; i < sizeof(struct heard); i++)
        assert_true(digest_after(bed.core, (uint8_t *)bed.core->orderers[0].state + i) != before);
    bed.core->placement = &other_placement;
    assert_true(core_digest(bed.core) != before);
    bed.core->placement = &place_salted;
    bed.core->order = &other_order;
    assert_true(core_digest(bed.core) != before);
    bed.core->order = &by_queue;
    assert_true(core_digest(bed.core) == before);
    bed_close(&bed);
}

/* Lists, victims and fits may be thrown away at any time; then nothing is decided otherwise. */
static void what_only_saves_work_changes_neither_digest_nor_decisions(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct bed a, b = {0};
        struct play play;

        play_init(&play, seed, 12);
        play.levels = seed % 2 == 1;
        bed_open(&a, &place_salted, seed % 2 ? &by_queue : &in_turn);
        play_join(&play, a.core);
        decisions_init(&b.out);
        b.core = core_clone(a.core);
        for (uint32_t i = 0; i < 600; i++) {
            struct event event;

            play_event(&play, a.core, &event);
            assert_int_equal(core_apply(a.core, &event, NULL), core_apply(b.core, &event, NULL));
            for (uint32_t s = 0; s < b.core->shortlist_count; s++)
                shortlist_done(&b.core->shortlists[s]);
            fits_done(&b.core->fits);
            subsets_done(&b.core->subsets);
            victims_done(&b.core->victims);
            core_step(a.core, core_now_us(a.core), &a.out);
            core_step(b.core, core_now_us(b.core), &b.out);
            assert_same_decisions(&a.out, &b.out);
            assert_true(core_digest(a.core) == core_digest(b.core));
        }
        bed_close(&a);
        bed_close(&b);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(every_field_changes_the_digest_unless_it_follows_from_others),
        TEST(every_field_of_the_headers_is_listed),
        TEST(the_rows_in_the_lists_of_the_core_are_in_the_digest),
        TEST(the_policies_and_all_of_their_state_are_in_the_digest),
        TEST(what_only_saves_work_changes_neither_digest_nor_decisions),
    };

    return RUN_TESTS(tests);
}
