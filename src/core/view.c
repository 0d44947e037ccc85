/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - what others may read of a core. */
#include "core/view.h"

#include "base/check.h"
#include "core/fit.h"
#include "core/impl.h"

int64_t core_now_us(const struct core *core)
{
    return core->now_us;
}

const struct placement_policy *core_placement(const struct core *core)
{
    return core->placement;
}

const struct order_policy *core_order(const struct core *core)
{
    return core->order;
}

const char *core_name(const struct core *core, uint32_t name)
{
    return names_text(&core->names, name);
}

const struct job *core_job(const struct core *core, uint32_t job)
{
    check(job < core->jobs.count);
    return &core->jobs.rows[job];
}

uint32_t core_job_rows(const struct core *core)
{
    return core->jobs.count;
}

uint32_t core_find_job(const struct core *core, uint64_t job_id)
{
    return jobs_find(&core->jobs, job_id);
}

enum reason core_job_reason(const struct core *core, uint32_t job)
{
    const struct job *row = core_job(core, job);
    const struct bucket *bucket;

    if (row->state != JOB_PENDING)
        return REASON_NONE;
    if (!row->queued)
        return row->reason;
    bucket = &core->pending.buckets[row->bucket];
    return bucket->heap[0].job == job || bucket->reason != REASON_VICTIMS ? bucket->reason
                                                                          : REASON_ORDER;
}

uint64_t core_marks_ahead(const struct core *core)
{
    return core->marks_ahead;
}

const struct gang *core_gang(const struct core *core, uint32_t gang)
{
    return &core->shapes.gangs[gang];
}

const struct layout *core_layout(const struct core *core, uint32_t layout)
{
    return &core->shapes.layouts[layout];
}

const struct group *core_group(const struct core *core, uint32_t group)
{
    return &core->shapes.groups[group];
}

const struct task *core_task(const struct core *core, uint32_t task)
{
    return &core->jobs.tasks[task];
}

uint32_t core_selector_count(const struct core *core)
{
    return core->shapes.selector_count;
}

uint32_t core_shape_count(const struct core *core)
{
    return core->shapes.shape_count;
}

const struct shape *core_shape(const struct core *core, uint32_t shape)
{
    return &core->shapes.shapes[shape];
}

uint32_t core_class_count(const struct core *core)
{
    return core->nodes.class_count;
}

const struct node_class *core_class(const struct core *core, uint32_t class_id)
{
    return &core->nodes.classes[class_id];
}

uint32_t core_class_nodes(const struct core *core, uint32_t class_id)
{
    return core->nodes.class_nodes[class_id];
}

bool core_shape_fits_class(const struct core *core, uint32_t shape, uint32_t class_id)
{
    const struct shape *s = &core->shapes.shapes[shape];
    const struct node_class *class = &core->nodes.classes[class_id];
    struct need need;

    return need_on(s, class, &need) && s->cpu_mcpu <= class->cpu_mcpu &&
           s->memory_bytes <= class->memory_bytes &&
           selector_admits(&core->shapes.selectors[s->selector], class);
}

uint32_t core_state_rows(const struct core *core)
{
    return core->index.count;
}

uint32_t core_state_nodes(const struct core *core, uint32_t state)
{
    return core->index.rows[state].node_count;
}

uint32_t core_state_count(const struct core *core)
{
    return core->index.live;
}

void core_state_view(const struct core *core, uint32_t state, struct state_view *out)
{
    index_view(&core->index, &core->nodes, state, out);
}

uint32_t core_node_rows(const struct core *core)
{
    return core->nodes.count;
}

bool core_node_in_use(const struct core *core, uint32_t node)
{
    return core->nodes.rows[node].in_use;
}

uint32_t core_node_name(const struct core *core, uint32_t node)
{
    return core->nodes.rows[node].name;
}

uint32_t core_find_node(const struct core *core, const char *name)
{
    const uint32_t id = names_find(&core->names, name);
    uint32_t node;

    return id != NAMES_NONE && map_find(&core->node_by_name, id, &node) ? node : ROW_NONE;
}

uint32_t core_node_class(const struct core *core, uint32_t node)
{
    return core->nodes.rows[node].class_id;
}

uint32_t core_node_state(const struct core *core, uint32_t node)
{
    return core->nodes.rows[node].state;
}

uint32_t core_node_out(const struct core *core, uint32_t node)
{
    const struct node *row = &core->nodes.rows[node];

    return (row->drained ? NODE_OUT_DRAINED : 0) | (row->silent ? NODE_OUT_SILENT : 0) |
           (row->lost ? NODE_OUT_LOST : 0) | (row->unlisted ? NODE_OUT_UNLISTED : 0) |
           (row->flaps_until_us > 0 ? NODE_OUT_FLAPPING : 0) |
           (row->stuck > 0 ? NODE_OUT_STUCK : 0);
}

uint64_t core_node_lost_gpus(const struct core *core, uint32_t node)
{
    return core->nodes.rows[node].lost_mask;
}

uint64_t core_node_quarantined_gpus(const struct core *core, uint32_t node)
{
    return core->nodes.rows[node].quarantined_mask;
}

bool core_gpu_instances(const struct core *core, uint32_t node, uint32_t gpu, struct mig_gpu *out,
                        uint64_t *out_leaving)
{
    if (core->nodes.rows[node].mig_first == ROW_NONE ||
        gpu >= nodes_class_of(&core->nodes, node)->gpu_count)
        return false;
    *out = nodes_mig(&core->nodes, node, gpu)->made;
    *out_leaving = nodes_mig(&core->nodes, node, gpu)->leaving;
    return true;
}

uint32_t core_node_first_task(const struct core *core, uint32_t node)
{
    return core->nodes.rows[node].first_task;
}

int64_t core_expected_us(const struct core *core, uint32_t job)
{
    const struct job *row = core_job(core, job);
    const struct expect_facts facts = job_expect_facts(core, row);

    return expect_run_us(&core->expect, &facts, job_attained_us(row, core->now_us));
}

int64_t core_expected_long_us(const struct core *core, uint32_t job)
{
    const struct job *row = core_job(core, job);
    const struct expect_facts facts = job_expect_facts(core, row);

    return expect_long_us(&core->expect, &facts, job_attained_us(row, core->now_us));
}

int64_t core_reservation(const struct core *core, uint32_t job)
{
    const struct job *row = core_job(core, job);

    return row->reservation != ROW_NONE ? core->reserve.rows[row->reservation].at_us : TIME_NONE;
}

const struct drift *core_drift(const struct core *core)
{
    return &core->drift;
}

bool core_order_has(const struct core *core, const void *state, uint32_t job)
{
    return core_job(core, job)->state != JOB_FREE && orderer_of(core, job)->state == state;
}

uint32_t core_queue_rows(const struct core *core)
{
    return core->queues.count;
}

const char *core_queue_name(const struct core *core, uint32_t queue)
{
    return names_text(&core->names, core->queues.rows[queue].name);
}

bool core_queue_is_class(const struct core *core, uint32_t queue)
{
    return core->queues.rows[queue].kind == QUEUE_OF_CLASS;
}

const char *core_queue_label(const struct core *core, uint32_t queue, const char **out_user)
{
    const struct queue *row = &core->queues.rows[queue];
    uint32_t name = row->name;

    *out_user = row->kind != QUEUE_CONFIGURED ? names_text(&core->names, row->name) : NULL;
    if (row->kind == QUEUE_OF_USER)
        name = core->queues.rows[row->parent].name;
    else if (row->kind == QUEUE_OF_CLASS)
        name = core->classes.rows[row->orderer].name;
    return names_text(&core->names, name);
}

uint32_t core_pending_count(const struct core *core)
{
    return core->jobs.pending;
}

uint32_t core_running_count(const struct core *core)
{
    return core->jobs.active_count;
}

uint32_t slot_fullest(const struct state_view *view, const struct need *need)
{
    for (uint32_t i = 0; i < view->gpu_count; i++)
        if (view_gpu_has(view, i, need))
            return i;
    check_failed("asked only where the task fits", __FILE__, __LINE__);
}
