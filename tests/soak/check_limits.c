/* SPDX-License-Identifier: Apache-2.0 */
/* check_limits.c - what queues, users and classes may hold; and that their books say what is held.
 *
 * Room that is kept for a waiting job counts as held. It is read from the core, the sums are not.
 */
#include <string.h>

#include "core/impl.h"
#include "core/view.h"
#include "soak/oracle.h"

typedef unsigned long long ull;

/* What the core keeps for a waiting job. */
static void add_claim(const struct oracle *o, uint64_t id, int64_t out[RES_COUNT])
{
    const struct core *core = o->world->core;
    const struct m_job *job = &o->model.jobs[id - 1];
    const uint32_t at = job->state == M_WAITS ? core_find_job(core, id) : ROW_NONE;
    const struct job *row = at != ROW_NONE ? core_job(core, at) : NULL;

    if (row == NULL || row->state != JOB_PENDING || row->task_first == ROW_NONE)
        return;
    for (uint32_t t = 0; t < row->task_count; t++) {
        const char *name =
            names_text(&core->names, core->nodes.rows[job_task(core, row, t)->node].name);
        const struct node_spec *node = &o->model.nodes[model_node(&o->model, name)].spec;
        struct m_need need;

        (void)model_need(job, t, node, &need);
        model_add_need(job, node, &need, out);
    }
}

static void claimed_by(const struct oracle *o, const struct m_whose *whose, int64_t out[RES_COUNT])
{
    memset(out, 0, RES_COUNT * sizeof out[0]);
    for (uint32_t i = 0; i < o->model.job_count; i++)
        if (o->model.jobs[i].state == M_WAITS && model_is_of(&o->model, &o->model.jobs[i], whose))
            add_claim(o, (uint64_t)i + 1, out);
}

/* ---- limits ---- */

/* What this start takes: a limit may have been lowered, and then only that counts. */
struct taken {
    const struct decision *start;
    int64_t of[RES_COUNT];
};

static const char *const words[RES_COUNT] = {"GPUs", "GPU memory", "CPUs", "memory"};

static void check_limit(const struct oracle *o, const struct taken *taken,
                        const struct m_whose *whose, const int64_t limit[RES_COUNT],
                        const char *what)
{
    int64_t used[RES_COUNT], claimed[RES_COUNT];

    model_used(&o->model, whose, false, used);
    claimed_by(o, whose, claimed);
    for (uint32_t r = 0; r < RES_COUNT; r++) {
        const int64_t held = used[r] + (o->claims_known ? claimed[r] : 0);

        if (limit[r] != AMOUNT_NONE && taken->of[r] > 0 && held > limit[r])
            broken(o, "limit", "job %llu: %s of %s: %lld are held, the limit is %lld",
                   (ull)taken->start->job_id, words[r], what, (long long)held, (long long)limit[r]);
    }
}

static int64_t guarantee_of(const struct queue_spec *queue, uint32_t r)
{
    return queue->guarantee[r] == AMOUNT_NONE ? 0 : queue->guarantee[r];
}

/* What a queue may hold in all, by its guarantee and what it may borrow. */
static void with_borrowed(const struct queue_spec *queue, int64_t out[RES_COUNT])
{
    for (uint32_t r = 0; r < RES_COUNT; r++)
        out[r] = queue->borrow[r] == AMOUNT_NONE ? AMOUNT_NONE
                                                 : guarantee_of(queue, r) + queue->borrow[r];
}

/* What the queues below this one, NULL for all, keep back of a resource from those of `own`. */
static int64_t kept_back(const struct oracle *o, const struct queue_spec *above,
                         const struct queue_spec *own, uint32_t r)
{
    const struct rules_spec *rules = &o->model.rules;
    int64_t sum = 0;

    for (uint32_t q = 0; q < rules->queue_count; q++) {
        const struct queue_spec *queue = &rules->queues[q];
        int64_t used[RES_COUNT], least = 0, below;

        if (model_parent(rules, queue) != above)
            continue;
        model_used(&o->model, &(struct m_whose){.queue = queue}, false, used);
        if (queue->lend[r] != AMOUNT_NONE && !model_is_below(rules, own, queue))
            least = guarantee_of(queue, r) - queue->lend[r] - used[r];
        below = kept_back(o, queue, own, r);
        least = least > below ? least : below;
        sum += least > 0 ? least : 0;
    }
    return sum;
}

static int64_t capacity_of(const struct oracle *o, uint32_t r)
{
    int64_t sum[RES_COUNT] = {0};

    for (uint32_t n = 0; n < o->model.node_count; n++) {
        const struct node_spec *node = &o->model.nodes[n].spec;

        if (!o->model.nodes[n].present)
            continue;
        sum[RES_GPU_MGPU] += node->gpus * (int64_t)GPU_MGPU;
        sum[RES_GPU_BYTES] += node->gpus * node->gpu_memory_bytes;
        sum[RES_CPU_MCPU] += node->cpu_mcpu;
        sum[RES_MEMORY_BYTES] += node->memory_bytes;
    }
    return sum[r];
}

static void check_lenders(const struct oracle *o, const struct taken *taken,
                          const struct queue_spec *own)
{
    int64_t used[RES_COUNT];

    model_used(&o->model, &(struct m_whose){0}, false, used);
    for (uint32_t r = 0; r < RES_COUNT; r++) {
        const int64_t kept = taken->of[r] > 0 ? kept_back(o, NULL, own, r) : 0;

        /* claims of lenders are theirs already, so what they keep is less by as much */
        if (kept > 0 && !o->claims_there && used[r] + kept > capacity_of(o, r))
            broken(o, "limit", "job %llu: takes %s that a queue does not lend",
                   (ull)taken->start->job_id, words[r]);
    }
}

/* After a start: no queue above it, no user and no class holds more than its limit. */
void check_limits(struct oracle *o, const struct decisions *d, const struct decision *start)
{
    const struct rules_spec *rules = &o->model.rules;
    const struct m_job *job = model_job(&o->model, start->job_id);
    const struct queue_spec *own = model_queue_of(&o->model, job);
    const struct class_spec *class = model_class_of(&o->model, job);
    struct taken taken = {.start = start};

    if (!o->model.ruled)
        return;
    for (uint32_t i = 0; i < start->place_count; i++)
        model_add_task(&o->model, job, d->places[start->place_first + i].task, taken.of);
    for (const struct queue_spec *q = own; q != NULL; q = model_parent(rules, q)) {
        int64_t most[RES_COUNT];

        with_borrowed(q, most);
        check_limit(o, &taken, &(struct m_whose){.queue = q}, q->limit, q->name);
        check_limit(o, &taken, &(struct m_whose){.queue = q}, most, q->name);
    }
    if (own != NULL) {
        check_limit(o, &taken, &(struct m_whose){.queue = own, .user = job->spec.user},
                    own->user_limit, job->spec.user);
        check_lenders(o, &taken, own);
    }
    check_limit(o, &taken, &(struct m_whose){.class = class, .user = job->spec.user},
                class->user_limit, job->spec.user);
}

/* ---- books ---- */

static void check_book(const struct oracle *o, const char *queue, const char *book,
                       const struct amounts *said, const int64_t is[RES_COUNT])
{
    for (uint32_t r = 0; r < RES_COUNT; r++)
        if (said->of[r] != is[r])
            broken(o, "queues", "queue %s: %s of %s: %lld are booked, %lld are so", queue, words[r],
                   book, (long long)said->of[r], (long long)is[r]);
}

static void check_queue(const struct oracle *o, const struct queue_spec *queue,
                        const struct queue *row)
{
    const struct m_whose whose = {.queue = queue};
    int64_t sum[RES_COUNT];
    uint32_t jobs = 0;

    model_used(&o->model, &whose, false, sum);
    check_book(o, queue->name, "what is used", &row->used, sum);
    model_used(&o->model, &whose, true, sum);
    check_book(o, queue->name, "what leaves", &row->leaving, sum);
    claimed_by(o, &whose, sum);
    check_book(o, queue->name, "what is claimed", &row->claimed, sum);
    for (uint32_t i = 0; i < o->model.job_count; i++)
        jobs += o->model.jobs[i].state != M_UNKNOWN && o->model.jobs[i].state != M_OVER &&
                model_is_of(&o->model, &o->model.jobs[i], &whose);
    if (jobs != row->jobs)
        broken(o, "queues", "queue %s: %u jobs are counted, %u are there", queue->name, row->jobs,
               jobs);
}

const struct queue *oracle_queue(const struct oracle *o, const char *name)
{
    const struct core *core = o->world->core;
    uint32_t row;

    return map_find(&core->queues.by_name, names_find(&core->names, name), &row)
               ? &core->queues.rows[row]
               : NULL;
}

void check_queues(const struct oracle *o)
{
    for (uint32_t q = 0; q < o->model.rules.queue_count; q++) {
        const struct queue_spec *queue = &o->model.rules.queues[q];
        const struct queue *row = oracle_queue(o, queue->name);

        if (row == NULL)
            broken(o, "queues", "queue %s: is not known", queue->name);
        check_queue(o, queue, row);
    }
}
