/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c - interning of requests: equal requests get equal ids. */
#include "core/shape.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

enum kind { KIND_SELECTOR = 1, KIND_SHAPE, KIND_GANG };

void shapes_init(struct shapes *s)
{
    static const struct selector any;

    memset(s, 0, sizeof *s);
    map_init(&s->by_digest);
    check(shapes_selector(s, &any) == SELECTOR_ANY);
}

void shapes_done(struct shapes *s)
{
    mem_free(s->shapes);
    mem_free(s->selectors);
    mem_free(s->groups);
    mem_free(s->layouts);
    mem_free(s->gangs);
    map_done(&s->by_digest);
    memset(s, 0, sizeof *s);
}

void shapes_copy(struct shapes *dst, const struct shapes *src)
{
    *dst = *src;
    dst->shapes = mem_copy(src->shapes, src->shape_count, sizeof *src->shapes);
    dst->selectors = mem_copy(src->selectors, src->selector_count, sizeof *src->selectors);
    dst->groups = mem_copy(src->groups, src->group_count, sizeof *src->groups);
    dst->layouts = mem_copy(src->layouts, src->layout_count, sizeof *src->layouts);
    dst->gangs = mem_copy(src->gangs, src->gang_count, sizeof *src->gangs);
    dst->shape_cap = src->shape_count;
    dst->selector_cap = src->selector_count;
    dst->group_cap = src->group_count;
    dst->layout_cap = src->layout_count;
    dst->gang_cap = src->gang_count;
    map_copy(&dst->by_digest, &src->by_digest);
}

static void digest_selector(struct digest *d, const struct selector *s)
{
    digest_u32(d, s->model_count);
    for (uint32_t i = 0; i < s->model_count; i++)
        digest_u32(d, s->models[i]);
    digest_u32(d, s->label_count);
    for (uint32_t i = 0; i < s->label_count; i++)
        digest_u32(d, s->labels[i]);
}

static void digest_shape(struct digest *d, const struct shape *s)
{
    digest_i64(d, s->cpu_mcpu);
    digest_i64(d, s->memory_bytes);
    digest_u32(d, s->gpus);
    digest_u32(d, s->gpu_mgpu);
    digest_i64(d, s->gpu_memory_bytes);
    digest_u32(d, s->selector);
    digest_u32(d, s->exclusive);
    digest_u32(d, s->modes);
    digest_u32(d, s->trust);
    digest_u32(d, s->latency);
    digest_u32(d, s->mig.gigabytes);
    digest_u32(d, s->mig.compute_slices);
    digest_u32(d, s->mig.attributes);
}

static bool same_selector(const struct selector *a, const struct selector *b)
{
    return a->model_count == b->model_count && a->label_count == b->label_count &&
           memcmp(a->models, b->models, a->model_count * sizeof *a->models) == 0 &&
           memcmp(a->labels, b->labels, a->label_count * sizeof *a->labels) == 0;
}

static bool same_shape(const struct shape *a, const struct shape *b)
{
    return a->cpu_mcpu == b->cpu_mcpu && a->memory_bytes == b->memory_bytes && a->gpus == b->gpus &&
           a->gpu_mgpu == b->gpu_mgpu && a->gpu_memory_bytes == b->gpu_memory_bytes &&
           a->selector == b->selector && a->exclusive == b->exclusive && a->modes == b->modes &&
           a->trust == b->trust && a->latency == b->latency &&
           a->mig.gigabytes == b->mig.gigabytes && a->mig.compute_slices == b->mig.compute_slices &&
           a->mig.attributes == b->mig.attributes;
}

static uint64_t key_start(struct digest *d, enum kind kind)
{
    digest_init(d);
    digest_u32(d, kind);
    return 0;
}

uint32_t shapes_selector(struct shapes *s, const struct selector *selector)
{
    struct digest d;
    uint32_t id;

    for (uint64_t salt = key_start(&d, KIND_SELECTOR);; salt++) { /* salt steps over a collision */
        digest_u64(&d, salt);
        digest_selector(&d, selector);
        if (!map_find(&s->by_digest, digest_value(&d), &id))
            break;
        if (same_selector(&s->selectors[id], selector))
            return id;
    }
    vec_reserve(s->selectors, s->selector_cap, s->selector_count + 1);
    s->selectors[s->selector_count] = *selector;
    map_put(&s->by_digest, digest_value(&d), s->selector_count);
    return s->selector_count++;
}

uint32_t shapes_shape(struct shapes *s, const struct shape *shape)
{
    struct digest d;
    uint32_t id;

    for (uint64_t salt = key_start(&d, KIND_SHAPE);; salt++) {
        digest_u64(&d, salt);
        digest_shape(&d, shape);
        if (!map_find(&s->by_digest, digest_value(&d), &id))
            break;
        if (same_shape(&s->shapes[id], shape))
            return id;
    }
    vec_reserve(s->shapes, s->shape_cap, s->shape_count + 1);
    s->shapes[s->shape_count] = *shape;
    map_put(&s->by_digest, digest_value(&d), s->shape_count);
    return s->shape_count++;
}

static void digest_layouts(struct digest *d, const struct layout_spec *layouts, uint32_t count)
{
    digest_u32(d, count);
    for (uint32_t i = 0; i < count; i++) {
        digest_u32(d, layouts[i].slowdown_ppm);
        digest_u32(d, layouts[i].apart);
        digest_u32(d, layouts[i].tasks_min);
        digest_u32(d, layouts[i].together.within);
        digest_u32(d, layouts[i].together.near);
        digest_u32(d, layouts[i].together.group_within);
        digest_u32(d, layouts[i].together.group_size);
        digest_u32(d, layouts[i].together.slowdown_max_ppm);
        digest_u32(d, layouts[i].group_count);
        for (uint32_t g = 0; g < layouts[i].group_count; g++) {
            digest_u32(d, layouts[i].groups[g].shape);
            digest_u32(d, layouts[i].groups[g].tasks);
        }
    }
}

static bool same_together(const struct together *a, const struct together *b)
{
    return a->within == b->within && a->near == b->near && a->group_within == b->group_within &&
           a->group_size == b->group_size && a->slowdown_max_ppm == b->slowdown_max_ppm;
}

static bool same_layout(const struct shapes *s, const struct layout *a, const struct layout_spec *b)
{
    if (a->group_count != b->group_count || a->slowdown_ppm != b->slowdown_ppm ||
        a->apart != b->apart || a->tasks_min != b->tasks_min ||
        !same_together(&a->together, &b->together))
        return false;
    for (uint32_t g = 0; g < a->group_count; g++) {
        const struct group *have = &s->groups[a->first_group + g];

        if (have->shape != b->groups[g].shape || have->tasks != b->groups[g].tasks)
            return false;
    }
    return true;
}

static bool same_gang(const struct shapes *s, const struct gang *gang,
                      const struct layout_spec *layouts, uint32_t layout_count)
{
    if (gang->layout_count != layout_count)
        return false;
    for (uint32_t i = 0; i < layout_count; i++)
        if (!same_layout(s, &s->layouts[gang->first_layout + i], &layouts[i]))
            return false;
    return true;
}

/* What the first layout asks for in sum. */
static void gang_sum(const struct shapes *s, struct gang *gang)
{
    const struct layout *layout = &s->layouts[gang->first_layout];

    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group *group = &s->groups[layout->first_group + g];
        const struct shape *shape = &s->shapes[group->shape];

        gang->tasks += group->tasks;
        gang->gpus += group->tasks * shape->gpus;
        gang->mig = gang->mig || shape_is_mig(shape);
        gang->mgpu += (int64_t)group->tasks * shape->gpus * shape->gpu_mgpu;
    }
}

static int64_t times(uint64_t count, int64_t amount)
{
    return amount > 0 && count > (uint64_t)(AMOUNT_SUM_MAX / amount) ? AMOUNT_SUM_MAX
                                                                     : (int64_t)count * amount;
}

static void add_up(int64_t *sum, int64_t more)
{
    *sum = more > AMOUNT_SUM_MAX - *sum ? AMOUNT_SUM_MAX : *sum + more;
}

/* AMOUNT_SUM_MAX where it is as much or more. */
static struct amounts layout_asks(const struct shapes *s, const struct layout *layout)
{
    struct amounts sum = {{0}};

    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group *group = &s->groups[layout->first_group + g];
        const struct shape *shape = &s->shapes[group->shape];
        const uint64_t tasks = layout->group_count == 1 ? layout->tasks_min : group->tasks;
        const uint64_t gpus = tasks * shape->gpus;

        add_up(&sum.of[RES_GPU_MGPU], times(gpus, shape->gpu_mgpu > 0 ? shape->gpu_mgpu : 1));
        add_up(&sum.of[RES_GPU_BYTES], times(gpus, shape->gpu_memory_bytes));
        add_up(&sum.of[RES_CPU_MCPU], times(tasks, shape->cpu_mcpu));
        add_up(&sum.of[RES_MEMORY_BYTES], times(tasks, shape->memory_bytes));
    }
    return sum;
}

static void gang_asks(const struct shapes *s, struct gang *gang)
{
    gang->asks = layout_asks(s, &s->layouts[gang->first_layout]);
    for (uint32_t i = 1; i < gang->layout_count; i++) {
        const struct amounts asks = layout_asks(s, &s->layouts[gang->first_layout + i]);

        for (int r = 0; r < RES_COUNT; r++)
            if (asks.of[r] < gang->asks.of[r])
                gang->asks.of[r] = asks.of[r];
    }
}

static uint32_t gang_add(struct shapes *s, const struct layout_spec *layouts, uint32_t layout_count)
{
    struct gang gang = {.first_layout = s->layout_count, .layout_count = layout_count};

    for (uint32_t i = 0; i < layout_count; i++) {
        vec_reserve(s->layouts, s->layout_cap, s->layout_count + 1);
        s->layouts[s->layout_count++] = (struct layout){
            .first_group = s->group_count,
            .group_count = layouts[i].group_count,
            .slowdown_ppm = layouts[i].slowdown_ppm,
            .apart = layouts[i].apart,
            .tasks_min = layouts[i].tasks_min,
            .together = layouts[i].together,
        };
        vec_reserve(s->groups, s->group_cap, s->group_count + layouts[i].group_count);
        for (uint32_t g = 0; g < layouts[i].group_count; g++)
            s->groups[s->group_count++] = layouts[i].groups[g];
    }
    gang_sum(s, &gang);
    gang_asks(s, &gang);
    vec_reserve(s->gangs, s->gang_cap, s->gang_count + 1);
    s->gangs[s->gang_count] = gang;
    return s->gang_count++;
}

/* Its id; or false, and the key under which it would be found. */
static bool gang_find(const struct shapes *s, const struct layout_spec *layouts,
                      uint32_t layout_count, uint32_t *out_id, uint64_t *out_key)
{
    struct digest d;

    for (uint64_t salt = key_start(&d, KIND_GANG);; salt++) {
        digest_u64(&d, salt);
        digest_layouts(&d, layouts, layout_count);
        *out_key = digest_value(&d);
        if (!map_find(&s->by_digest, *out_key, out_id))
            return false;
        if (same_gang(s, &s->gangs[*out_id], layouts, layout_count))
            return true;
    }
}

uint32_t shapes_gang(struct shapes *s, const struct layout_spec *layouts, uint32_t layout_count)
{
    uint64_t key;
    uint32_t id;

    check(layout_count >= 1);
    if (gang_find(s, layouts, layout_count, &id, &key))
        return id;
    id = gang_add(s, layouts, layout_count);
    map_put(&s->by_digest, key, id);
    return id;
}

static int range_check(struct err *err, const char *field, int64_t value, int64_t max)
{
    if (value >= 0 && value <= max)
        return 0;
    return err_set(err, -EINVAL, "%s: must be 0 to %lld, is %lld", field, (long long)max,
                   (long long)value);
}

int shape_check(const struct shape *shape, struct err *err)
{
    int rc = range_check(err, "cpu_mcpu", shape->cpu_mcpu, CPU_MCPU_MAX);

    if (rc == 0)
        rc = range_check(err, "memory_bytes", shape->memory_bytes, MEMORY_BYTES_MAX);
    if (rc == 0)
        rc = range_check(err, "gpus", shape->gpus, NODE_GPUS_MAX);
    if (rc == 0)
        rc = range_check(err, "gpu_mgpu", shape->gpu_mgpu, GPU_MGPU);
    if (rc == 0)
        rc = range_check(err, "gpu_memory_bytes", shape->gpu_memory_bytes, MEMORY_BYTES_MAX);
    if (rc == 0 && shape->gpus == 0 && (shape->gpu_mgpu > 0 || shape->gpu_memory_bytes > 0))
        return err_set(err, -EINVAL, "gpus: is 0, but a share or memory of a GPU is asked for");
    if (rc == 0 && shape->exclusive && shape_is_share(shape))
        return err_set(err, -EINVAL, "exclusive: goes with whole GPUs, not with a part of one");
    return rc;
}

/* ---- the walk ---- */

static void terms_walk(uint32_t *terms, uint32_t *count, uint32_t names, struct tape *t)
{
    tape_max(t, count, SELECTOR_TERMS_MAX, "terms of a selector");
    for (uint32_t i = 0; tape_more(t, i, *count); i++) {
        tape_row(t, &terms[i], names, "term of a selector");
        if (tape_loads(t) && i > 0 && terms[i] <= terms[i - 1])
            tape_fail(t, "terms of a selector do not ascend");
    }
}

/* Interning gives every row the id that it had, or it is there twice. */
static void selectors_walk(struct shapes *s, uint32_t names, struct tape *t)
{
    uint32_t count = s->selector_count;

    tape_count(t, &count, "selectors");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        struct selector none = {0}, *row = tape_loads(t) ? &none : &s->selectors[i];

        terms_walk(row->models, &row->model_count, names, t);
        terms_walk(row->labels, &row->label_count, names, t);
        if (tape_loads(t) && !t->failed && shapes_selector(s, row) != i)
            tape_fail(t, "selector %u is not its own", i);
    }
    if (tape_loads(t) && count == 0)
        tape_fail(t, "selectors: there are none");
}

void shape_walk(struct shape *shape, uint32_t selectors, struct tape *t)
{
    struct err err;

    tape_i64(t, &shape->cpu_mcpu);
    tape_i64(t, &shape->memory_bytes);
    tape_u32(t, &shape->gpus);
    tape_u32(t, &shape->gpu_mgpu);
    tape_i64(t, &shape->gpu_memory_bytes);
    tape_row(t, &shape->selector, selectors, "selector of a shape");
    tape_bool(t, &shape->exclusive);
    if (!tape_loads(t))
        return;
    if (shape_check(shape, &err) < 0)
        tape_fail(t, "shape: %s", err.text);
}

/* Where no shape says anything of modes, digests are as if there was nothing to say. */
static bool says_modes(const struct shapes *s)
{
    for (uint32_t i = 0; i < s->shape_count; i++)
        if (s->shapes[i].modes != 0 || s->shapes[i].mig.gigabytes != 0 || s->shapes[i].trust != 0 ||
            s->shapes[i].latency)
            return true;
    return false;
}

/* Where no shape asks for an instance, digests are as if there was nothing to ask. */
static void mig_ask_walk(struct shape *shape, struct tape *t)
{
    struct mig_ask *ask = &shape->mig;
    uint32_t compute = ask->compute_slices, attributes = ask->attributes;

    if (tape_digests(t) && !shape_is_mig(shape) && ask->gigabytes == 0)
        return;
    tape_max(t, &ask->gigabytes, MIG_GIGABYTES_MAX, "size of an instance");
    tape_max(t, &compute, MIG_SLICES_MAX, "slices of an instance");
    tape_max(t, &attributes, MIG_GFX, "attributes of an instance");
    ask->compute_slices = (uint8_t)compute;
    ask->attributes = (uint8_t)attributes;
    if (!tape_loads(t) || t->failed)
        return;
    if ((attributes & (attributes - 1)) != 0 || (compute > 0) != (ask->gigabytes > 0) ||
        (compute == 0 && attributes != 0) || (compute > 0 && !shape_is_mig(shape)) ||
        (shape_is_mig(shape) && (shape->gpus != 1 || shape->gpu_mgpu != 0 || shape->latency ||
                                 (compute > 0) == (shape->gpu_memory_bytes > 0))))
        tape_fail(t, "shape: asks for an instance that cannot be");
}

static void sharing_walk(struct shape *shape, uint32_t names, struct tape *t)
{
    tape_max(t, &shape->modes, MODES_ALL, "modes of a shape");
    tape_row(t, &shape->trust, names <= TRUST_MAX ? names : TRUST_MAX + 1, "user of a shape");
    tape_bool(t, &shape->latency);
    mig_ask_walk(shape, t);
    if (tape_loads(t) && !t->failed && shape->gpus > 0 && shape->gpu_mgpu == 0 &&
        shape->gpu_memory_bytes == 0 && shape->mig.compute_slices == 0)
        tape_fail(t, "shape: asks for nothing of its GPUs");
    if (tape_loads(t) && !t->failed &&
        ((shape->trust != 0 && !(shape->modes & MODE_BIT(GPU_MPS))) ||
         ((shape->modes != 0 || shape->latency) && !shape_is_share(shape))))
        tape_fail(t, "shape: is shared in a way that it does not ask for");
}

static void rows_walk(struct shapes *s, uint32_t names, struct tape *t)
{
    const bool says = says_modes(s);
    uint32_t count = s->shape_count;

    tape_count(t, &count, "shapes");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        struct shape none = {0}, *row = tape_loads(t) ? &none : &s->shapes[i];

        shape_walk(row, s->selector_count, t);
        if (!tape_digests(t) || says)
            sharing_walk(row, names, t);
        if (tape_loads(t) && !t->failed && shapes_shape(s, row) != i)
            tape_fail(t, "shape %u is there twice", i);
    }
}

static void groups_walk(struct shapes *s, struct tape *t)
{
    uint32_t count = s->group_count;

    tape_count(t, &count, "groups");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, s->groups, s->group_count, s->group_cap);
        tape_row(t, &s->groups[i].shape, s->shape_count, "shape of a group");
        tape_max(t, &s->groups[i].tasks, JOB_TASKS_MAX, "tasks of a group");
        if (tape_loads(t) && s->groups[i].tasks == 0)
            tape_fail(t, "group %u: has no tasks", i);
    }
}

/* Loaded layouts, and gangs below, follow each other without holes, as they were interned. */
static void layout_check(const struct shapes *s, const struct layout *layout, uint32_t first,
                         struct tape *t)
{
    uint32_t tasks;

    if (layout->first_group != first || layout->group_count < 1 ||
        layout->group_count > GANG_GROUPS_MAX || layout->group_count > s->group_count - first) {
        tape_fail(t, "layout: its groups are not the next ones");
        return;
    }
    tasks = layout_tasks(s, layout);
    if (tasks > JOB_TASKS_MAX)
        tape_fail(t, "layout: has %u tasks, at most %d", tasks, JOB_TASKS_MAX);
    if (layout->tasks_min < 1 || layout->tasks_min > tasks ||
        (layout->tasks_min < tasks && layout->group_count > 1))
        tape_fail(t, "layout: of %u tasks cannot run with %u", tasks, layout->tasks_min);
}

static void level_walk(uint32_t *level, uint32_t names, struct tape *t)
{
    bool said = *level != LEVEL_NONE;

    tape_bool(t, &said);
    if (said)
        tape_row(t, level, names, "level of a layout");
    else
        *level = LEVEL_NONE;
}

/* Groups are of equal tasks, all of which are needed. */
static void together_walk(const struct layout *layout, struct together *row, uint32_t names,
                          struct tape *t)
{
    level_walk(&row->within, names, t);
    level_walk(&row->near, names, t);
    level_walk(&row->group_within, names, t);
    tape_max(t, &row->group_size, JOB_TASKS_MAX, "tasks of a group that stays together");
    tape_max(t, &row->slowdown_max_ppm, SLOWDOWN_PPM_MAX, "slowdown of a layout");
    if (!tape_loads(t))
        return;
    if ((row->group_size > 0) != (row->group_within != LEVEL_NONE) ||
        (row->group_size > 0 &&
         (layout->group_count != 1 || layout->tasks_min % row->group_size != 0)))
        tape_fail(t, "layout: its tasks make no groups");
    if (row->slowdown_max_ppm > 0 && row->slowdown_max_ppm < 1000000)
        tape_fail(t, "layout: wants to be faster than the best");
}

/* Where nobody asks for levels, digests are as if there was nothing to ask. */
static bool some_together(const struct shapes *s)
{
    for (uint32_t i = 0; i < s->layout_count; i++)
        if (together_matters(&s->layouts[i].together))
            return true;
    return false;
}

static void layouts_walk(struct shapes *s, uint32_t names, struct tape *t)
{
    const bool together = some_together(s);
    uint32_t count = s->layout_count, next = 0;

    tape_count(t, &count, "layouts");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        struct layout *row;

        tape_grow(t, s->layouts, s->layout_count, s->layout_cap);
        row = &s->layouts[i];
        tape_u32(t, &row->first_group);
        tape_u32(t, &row->group_count);
        tape_u32(t, &row->slowdown_ppm);
        tape_bool(t, &row->apart);
        tape_u32(t, &row->tasks_min);
        if (tape_loads(t) && !t->failed)
            layout_check(s, row, next, t);
        if (!tape_digests(t) || together)
            together_walk(row, &row->together, names, t);
        next += row->group_count;
    }
    if (tape_loads(t) && !t->failed && next != s->group_count)
        tape_fail(t, "groups: %u belong to no layout", s->group_count - next);
}

/* A loaded gang is put where it is found by what it asks for. */
static void gang_loaded(struct shapes *s, uint32_t id, uint32_t first, struct tape *t)
{
    struct gang *gang = &s->gangs[id];
    struct gang sum = {0};
    struct layout_spec layouts[GANG_LAYOUTS_MAX];
    uint64_t key;
    uint32_t known;

    if (gang->first_layout != first || gang->layout_count < 1 ||
        gang->layout_count > GANG_LAYOUTS_MAX || gang->layout_count > s->layout_count - first) {
        tape_fail(t, "gang: its layouts are not the next ones");
        return;
    }
    sum.first_layout = first;
    gang_sum(s, &sum);
    if (sum.tasks != gang->tasks || sum.gpus != gang->gpus || sum.mgpu != gang->mgpu)
        tape_fail(t, "gang: is not the sum of its groups");
    gang->mig = sum.mig;
    gang_asks(s, gang);
    for (int r = 0; r < RES_COUNT; r++)
        if (gang->asks.of[r] >= AMOUNT_SUM_MAX)
            tape_fail(t, "gang: asks for more than can be counted");
    for (uint32_t i = 0; i < gang->layout_count; i++) {
        const struct layout *layout = &s->layouts[first + i];

        layouts[i] = (struct layout_spec){&s->groups[layout->first_group],
                                          layout->group_count,
                                          layout->slowdown_ppm,
                                          layout->apart,
                                          layout->tasks_min,
                                          layout->together};
        if (gang->layout_count > 1 && layout->tasks_min < layout_tasks(s, layout))
            tape_fail(t, "gang: of several layouts is not elastic");
    }
    if (gang_find(s, layouts, gang->layout_count, &known, &key))
        tape_fail(t, "gang %u is there twice", id);
    map_put(&s->by_digest, key, id);
}

static void gangs_walk(struct shapes *s, struct tape *t)
{
    uint32_t count = s->gang_count, next = 0;

    tape_count(t, &count, "gangs");
    for (uint32_t i = 0; tape_more(t, i, count); i++) {
        tape_grow(t, s->gangs, s->gang_count, s->gang_cap);
        tape_u32(t, &s->gangs[i].first_layout);
        tape_u32(t, &s->gangs[i].layout_count);
        tape_u32(t, &s->gangs[i].tasks);
        tape_u32(t, &s->gangs[i].gpus);
        tape_i64(t, &s->gangs[i].mgpu);
        if (tape_loads(t) && !t->failed)
            gang_loaded(s, i, next, t);
        next += s->gangs[i].layout_count;
    }
    if (tape_loads(t) && !t->failed && next != s->layout_count)
        tape_fail(t, "layouts: %u belong to no gang", s->layout_count - next);
}

void shapes_walk(struct shapes *s, uint32_t names, struct tape *t)
{
    selectors_walk(s, names, t);
    rows_walk(s, names, t);
    groups_walk(s, t);
    layouts_walk(s, names, t);
    gangs_walk(s, t);
}
