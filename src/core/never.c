/* SPDX-License-Identifier: Apache-2.0 */
/* never.c - what it is that no node of the cluster has. */
#include "core/never.h"

#include "core/fit.h"
#include "core/impl.h"
#include "core/place.h"

/* Classes that nodes are of, and that are still in question. */
struct left {
    const struct core *core;
    const struct shape *shape;
    struct selector selector; /* the models, and as many of the labels as were looked at */
    enum shortage enough;     /* of all things before this one they have as much as is asked */
};

/* In the order of their values. */
static const enum shortage things[] = {SHORT_GPUS, SHORT_GPU_BYTES, SHORT_CPU_MCPU,
                                       SHORT_MEMORY_BYTES};
enum { THINGS = sizeof things / sizeof things[0] };

static int64_t asked_of(const struct shape *shape, enum shortage what)
{
    switch (what) {
    case SHORT_GPUS:
        return shape->gpus;
    case SHORT_GPU_BYTES:
        return shape->gpus > 0 ? shape->gpu_memory_bytes : 0;
    case SHORT_CPU_MCPU:
        return shape->cpu_mcpu;
    case SHORT_MEMORY_BYTES:
        return shape->memory_bytes;
    default:
        return 0;
    }
}

static int64_t most_of(const struct node_class *class, enum shortage what)
{
    switch (what) {
    case SHORT_GPUS:
        return class->gpu_count;
    case SHORT_GPU_BYTES:
        return class->gpu_memory_bytes;
    case SHORT_CPU_MCPU:
        return class->cpu_mcpu;
    case SHORT_MEMORY_BYTES:
        return class->memory_bytes;
    default:
        return 0;
    }
}

static bool is_left(const struct left *left, uint32_t id)
{
    const struct node_class *class = &left->core->nodes.classes[id];

    if (left->core->nodes.class_nodes[id] == 0 || !selector_admits(&left->selector, class))
        return false;
    for (uint32_t i = 0; i < THINGS && things[i] < left->enough; i++)
        if (asked_of(left->shape, things[i]) > most_of(class, things[i]))
            return false;
    return true;
}

static bool any_left(const struct left *left)
{
    for (uint32_t id = 0; id < left->core->nodes.class_count; id++)
        if (is_left(left, id))
            return true;
    return false;
}

/* False if there are nodes with these models and labels. */
static bool lacks_a_term(struct left *left, const struct selector *all, struct never *out)
{
    left->selector = *all;
    left->selector.label_count = 0;
    if (!any_left(left)) {
        *out = (struct never){
            .kind = NEVER_MODEL, .name = all->models[0], .more = all->model_count - 1};
        return true;
    }
    while (left->selector.label_count < all->label_count) {
        left->selector.label_count++;
        if (any_left(left))
            continue;
        *out = (struct never){.kind = NEVER_LABEL,
                              .name = all->labels[left->selector.label_count - 1]};
        return true;
    }
    return false;
}

/* False if some of these nodes are as large as the task asks. */
static bool is_too_large(struct left *left, struct never *out)
{
    for (uint32_t i = 0; i < THINGS; i++) {
        const enum shortage what = things[i];
        int64_t most = 0;

        left->enough = what;
        for (uint32_t id = 0; id < left->core->nodes.class_count; id++)
            if (is_left(left, id) && most_of(&left->core->nodes.classes[id], what) > most)
                most = most_of(&left->core->nodes.classes[id], what);
        if (asked_of(left->shape, what) <= most)
            continue;
        *out = (struct never){
            .kind = NEVER_SMALL, .what = what, .asked = asked_of(left->shape, what), .most = most};
        return true;
    }
    return false;
}

static struct never why_not(struct core *core, const struct group *group, uint64_t needed,
                            uint64_t room)
{
    struct left left = {
        .core = core, .shape = &core->shapes.shapes[group->shape], .enough = SHORT_GPUS};
    struct never never;

    if (lacks_a_term(&left, &core->shapes.selectors[left.shape->selector], &never) ||
        is_too_large(&left, &never))
        return never;
    if (room == 0)
        return (struct never){.kind = shape_is_mig(left.shape) ? NEVER_MIG : NEVER_MODES};
    return (struct never){.kind = NEVER_TASKS, .asked = (int64_t)needed, .most = (int64_t)room};
}

bool never_is_unknown(const struct never *never)
{
    return never->kind == NEVER_SMALL && never->what == SHORT_GPU_BYTES && never->most == 0;
}

struct never never_find(struct core *core, uint32_t gang)
{
    const struct layout *layout = &core->shapes.layouts[core->shapes.gangs[gang].first_layout];

    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group *group = &core->shapes.groups[layout->first_group + g];
        const uint64_t needed = place_tasks_needed(layout, group);
        const uint64_t room = place_room_empty(core, layout, group);

        if (room < needed)
            return why_not(core, group, needed, room);
    }
    return (struct never){.kind = NEVER_UNKNOWN};
}
