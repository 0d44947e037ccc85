/* SPDX-License-Identifier: Apache-2.0 */
/* entitle.c - what each queue is entitled to. */
#include "core/entitle.h"

#include "core/impl.h"
#include "core/share.h"

__extension__ typedef __int128 wide;

/* Which classes of nodes some shape fits. Shapes and classes only ever come. */
static void note_wanted(struct core *core)
{
    struct entitle_scratch *s = &core->entitle;
    const uint32_t classes = core->nodes.class_count, shapes = core->shapes.shape_count;

    vec_reserve(s->wanted, s->class_cap, classes);
    for (uint32_t class = 0; class < classes; class ++) {
        const bool seen = class < s->classes_seen;

        if (!seen)
            s->wanted[class] = false;
        for (uint32_t shape = seen ? s->shapes_seen : 0; shape < shapes && !s->wanted[class];
             shape++)
            s->wanted[class] =
                fits_get(&core->fits, &core->shapes, &core->nodes, shape, class)->ever;
    }
    s->classes_seen = classes;
    s->shapes_seen = shapes;
}

struct amounts core_capacity(struct core *core)
{
    wide sum[RES_COUNT] = {0};
    struct amounts capacity;

    note_wanted(core);
    for (uint32_t i = 0; i < core->nodes.class_count; i++) {
        const struct node_class *class = &core->nodes.classes[i];
        const wide nodes = core->entitle.wanted[i] ? core->nodes.class_nodes[i] : 0;

        sum[RES_GPU_MGPU] += nodes * class->gpu_count * GPU_MGPU;
        sum[RES_GPU_BYTES] += nodes * class->gpu_count * class->gpu_memory_bytes;
        sum[RES_CPU_MCPU] += nodes * class->cpu_mcpu;
        sum[RES_MEMORY_BYTES] += nodes * class->memory_bytes;
    }
    for (int r = 0; r < RES_COUNT; r++)
        capacity.of[r] = sum[r] < AMOUNT_SUM_MAX ? (int64_t)sum[r] : AMOUNT_SUM_MAX;
    return capacity;
}

/* ---- dividing ---- */

/* Who was told to give way asks again as soon as it has left: what it will ask for must not go to
 * others meanwhile, who would have to give it back. */
static int64_t demand_of(const struct queue *queue, int r)
{
    return queue->used.of[r] + queue->claimed.of[r] + queue->asked.of[r];
}

static int64_t base_of(const struct queue *queue, int r)
{
    const int64_t demand = demand_of(queue, r);
    const int64_t guarantee = queue->guarantee.of[r] != AMOUNT_NONE ? queue->guarantee.of[r] : 0;

    return guarantee < demand ? guarantee : demand;
}

static struct share_child child_of(const struct queue *queue, int r)
{
    const bool in_tree = queue->kind != QUEUE_OF_CLASS;
    const int64_t bound = amount_sum(
        queue->guarantee.of[r] != AMOUNT_NONE ? queue->guarantee.of[r] : 0, queue->borrow.of[r]);

    return (struct share_child){
        .guarantee = queue->guarantee.of[r] != AMOUNT_NONE ? queue->guarantee.of[r] : 0,
        .limit = queue->limit.of[r] < bound ? queue->limit.of[r] : bound,
        .demand = in_tree ? demand_of(queue, r) : 0,
        .weight = queue->weight,
    };
}

static int64_t entitled_of(const struct queue *queue, const struct queue *parent, int r,
                           int64_t deserved)
{
    const int64_t base = base_of(queue, r) < deserved ? base_of(queue, r) : deserved;

    if (parent->fair)
        return queue->weight > 0 ? deserved : base;
    if (!queue->guaranteed)
        return 0;
    return queue->guarantee.of[r] != AMOUNT_NONE ? base : AMOUNT_NONE;
}

/* Has anything changed? */
static bool entitle_of(struct core *core, int r, int64_t capacity)
{
    struct queues *q = &core->queues;
    struct entitle_scratch *s = &core->entitle;
    bool changed = false;

    for (uint32_t i = 0; i < q->count; i++) {
        s->children[i] = child_of(&q->rows[i], r);
        s->parents[i] = q->rows[i].parent; /* QUEUE_NONE is SHARE_NO_QUEUE */
    }
    share_tree(capacity, s->children, s->parents, q->count, s->scratch);
    q->rows[QUEUE_ROOT].entitled.of[r] = AMOUNT_NONE;
    for (uint32_t i = 1; i < q->count; i++)
        if (q->rows[i].parent != QUEUE_NONE) {
            const int64_t entitled =
                entitled_of(&q->rows[i], &q->rows[q->rows[i].parent], r, s->children[i].deserved);

            changed = changed || entitled != q->rows[i].entitled.of[r];
            q->rows[i].entitled.of[r] = entitled;
        }
    return changed;
}

static bool entitle_all(struct core *core)
{
    struct entitle_scratch *s = &core->entitle;
    bool changed = false;

    s->changes = core->queues.changes;
    vec_reserve(s->children, s->child_cap, core->queues.count);
    vec_reserve(s->parents, s->parent_cap, core->queues.count);
    vec_reserve(s->scratch, s->scratch_cap, (uint32_t)SHARE_TREE_SCRATCH(core->queues.count));
    for (int r = 0; r < RES_COUNT; r++)
        changed = entitle_of(core, r, core->capacity.of[r]) || changed;
    return changed;
}

void entitle(struct core *core)
{
    if (!core->queues.books)
        return;
    core->capacity = core_capacity(core);
    (void)entitle_all(core);
}

bool entitled_to_hold(struct core *core, const struct standing *at, uint32_t queue,
                      const struct amounts *asks, const struct amounts *holds)
{
    bool entitled;

    queues_book(&core->queues, at, BOOK_ASKED, asks, -1, core->now_us);
    queues_book(&core->queues, at, BOOK_ASKED, holds, 1, core->now_us);
    (void)entitle_all(core);
    entitled = queue_is_entitled(&core->queues.rows[queue], holds);
    queues_book(&core->queues, at, BOOK_ASKED, holds, -1, core->now_us);
    queues_book(&core->queues, at, BOOK_ASKED, asks, 1, core->now_us);
    (void)entitle_all(core);
    return entitled;
}

bool entitle_again(struct core *core)
{
    return core->queues.books && core->entitle.changes != core->queues.changes && entitle_all(core);
}

/* ---- asking ---- */

bool queue_is_entitled(const struct queue *queue, const struct amounts *more)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (more->of[r] > 0 && queue->entitled.of[r] != AMOUNT_NONE &&
            queue_future(queue, r) + more->of[r] > queue->entitled.of[r])
            return false;
    return true;
}

static bool is_above(const struct queue *queue, int r)
{
    return queue->entitled.of[r] != AMOUNT_NONE && queue_future(queue, r) > queue->entitled.of[r];
}

bool queue_is_above(const struct queue *queue, const struct amounts *some)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (some->of[r] > 0 && is_above(queue, r))
            return true;
    return false;
}

bool queue_stays_above(const struct queue *queue, const struct amounts *some)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (some->of[r] > 0 && is_above(queue, r) &&
            queue_future(queue, r) - some->of[r] < queue->entitled.of[r])
            return false;
    return queue_is_above(queue, some);
}

int64_t queue_share(const struct core *core, uint32_t row)
{
    const struct queue *queue = &core->queues.rows[row];
    int64_t most = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        const int64_t capacity = core->capacity.of[r];
        const int64_t counts =
            queue_future(queue, r) + queue_past(&core->queues, row, r, core->now_us);
        int64_t share;

        if (capacity == 0)
            continue;
        share = (int64_t)(((wide)counts << 32) / capacity);
        most = share > most ? share : most;
    }
    return most;
}
