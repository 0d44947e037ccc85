/* SPDX-License-Identifier: Apache-2.0 */
/* plan_together.c - who gives way for a gang whose tasks must, or should, be near each other.
 *
 * Room that is made here and there is of no use to it. So each domain that could hold the gang is
 * asked by itself: of the jobs with tasks there, worst first, the fewest that must leave until the
 * gang fits into it; then who is not needed is put back. The domain where that costs least is
 * chosen, of equal ones the first of the tree. */
#include "base/mem.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/plan.h"
#include "core/together.h"

/* A domain, and who has tasks there: domain_leavers [first, first + count). */
struct domain {
    struct together_part part;
    uint32_t first, count;
};

struct search {
    struct plan *plan;
    const struct layout *layout;
    struct domain *domains; /* [domain_count] */
    uint32_t domain_count;
    uint32_t *leavers; /* of plan, by domain in the order of their jobs */
    uint32_t *before;  /* [before_count] leavers that were chosen before any domain was asked */
    uint32_t before_count;
    bool *was_chosen; /* [plan->count] the same */
    uint32_t mark;    /* of the trial then */
};

struct price {
    uint32_t rank;
    int64_t price;
};

/* ---- who is where ---- */

/* The domain that each node is in. */
static uint32_t *domains_of_nodes(const struct search *s)
{
    const struct core *core = s->plan->core;
    uint32_t *of = mem_alloc(core->nodes.count, sizeof *of);

    for (uint32_t node = 0; node < core->nodes.count; node++)
        of[node] = ROW_NONE;
    for (uint32_t d = 0; d < s->domain_count; d++)
        for (uint32_t i = 0; i < s->domains[d].part.count; i++)
            of[core->levels.nodes[s->domains[d].part.first + i]] = d;
    return of;
}

/* Each leaver once in each domain where it has tasks: counted, or written where `leavers` is. */
static void walk_leavers(struct search *s, const uint32_t *of_node, uint32_t *seen)
{
    const struct plan *p = s->plan;

    for (uint32_t d = 0; d < s->domain_count; d++)
        seen[d] = ROW_NONE;
    for (uint32_t v = 0; v < p->count; v++) {
        const struct job *row = &p->core->jobs.rows[p->jobs[p->leavers[v].of].job];

        for (uint32_t i = 0; i < row->task_count; i++) {
            const struct task *task = job_task(p->core, row, i);
            struct domain *domain;

            if (task->left || (p->leavers[v].task != ROW_NONE && p->leavers[v].task != i) ||
                of_node[task->node] == ROW_NONE || seen[of_node[task->node]] == v)
                continue;
            seen[of_node[task->node]] = v;
            domain = &s->domains[of_node[task->node]];
            if (s->leavers != NULL)
                s->leavers[domain->first + domain->count] = v;
            domain->count++;
        }
    }
}

static void list_leavers(struct search *s)
{
    uint32_t *of_node = domains_of_nodes(s), total = 0;
    uint32_t *seen = mem_alloc(s->domain_count, sizeof *seen);

    walk_leavers(s, of_node, seen);
    for (uint32_t d = 0; d < s->domain_count; d++) {
        s->domains[d].first = total;
        total += s->domains[d].count;
        s->domains[d].count = 0;
    }
    s->leavers = mem_alloc(total, sizeof *s->leavers);
    walk_leavers(s, of_node, seen);
    mem_free(of_node);
    mem_free(seen);
}

static void search_open(struct search *s, struct plan *p, const struct layout *layout)
{
    struct together_part *parts;

    *s = (struct search){.plan = p, .layout = layout, .mark = trial_mark(&p->core->trial)};
    s->domain_count = together_parts(p->core, layout, &parts);
    s->domains = mem_alloc(s->domain_count, sizeof *s->domains);
    for (uint32_t d = 0; d < s->domain_count; d++)
        s->domains[d].part = parts[d];
    mem_free(parts);
    list_leavers(s);
    s->before = mem_alloc(p->count, sizeof *s->before);
    s->was_chosen = mem_alloc(p->count, sizeof *s->was_chosen);
    for (uint32_t v = 0; v < p->count; v++) {
        s->was_chosen[v] = p->leavers[v].chosen;
        if (s->was_chosen[v])
            s->before[s->before_count++] = v;
    }
}

static void search_close(struct search *s)
{
    mem_free(s->domains);
    mem_free(s->leavers);
    mem_free(s->before);
    mem_free(s->was_chosen);
}

/* ---- one domain ---- */

/* All is as it was before this domain was asked. With a leaver all of its job may have left. */
static void start_over(struct search *s, const struct domain *domain)
{
    struct plan *p = s->plan;

    trial_undo(p->core, s->mark);
    for (uint32_t i = 0; i < s->before_count; i++)
        if (!p->leavers[s->before[i]].chosen)
            plan_retake(p, s->before[i]);
    for (uint32_t i = 0; i < domain->count; i++) {
        const struct leaving_job *job = &p->jobs[p->leavers[s->leavers[domain->first + i]].of];

        for (uint32_t v = job->first; job->taken > 0 && v < job->first + job->count; v++)
            if (p->leavers[v].chosen && !s->was_chosen[v])
                plan_untake(p, v);
    }
}

/* The gang in the domain, as many of its tasks as it needs. */
static bool place(struct search *s, const struct domain *domain)
{
    struct plan *p = s->plan;
    const uint32_t mark = trial_mark(&p->core->trial);
    enum reason reason;

    p->place_count = 0;
    if (!together_place(p->core, s->layout, &domain->part, &reason))
        return false;
    if (s->layout->group_count == 1)
        trial_undo(p->core, mark + s->layout->tasks_min);
    for (uint32_t i = mark; i < p->core->trial.count; i++)
        vec_push(p->places, p->place_count, p->place_cap, p->core->trial.log[i]);
    return plan_places_admitted(p) && plan_is_entitled(p);
}

/* Does the gang fit once the first so many of the domain's leavers are off? Otherwise all is as
 * before. */
static bool try_first(struct search *s, const struct domain *domain, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!s->plan->leavers[s->leavers[domain->first + i]].chosen)
            (void)plan_take_of_job(s->plan, s->leavers[domain->first + i]);
    if (place(s, domain))
        return true;
    start_over(s, domain);
    return false;
}

/* The fewest of the domain's leavers, from the worst on; UINT32_MAX: all would not do. */
static uint32_t fewest(struct search *s, const struct domain *domain)
{
    uint32_t low = 0, high = domain->count; /* high does */

    if (!try_first(s, domain, high))
        return UINT32_MAX;
    start_over(s, domain);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (try_first(s, domain, middle)) {
            start_over(s, domain);
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return high;
}

static bool take_domain(struct search *s, const struct domain *domain, uint32_t count)
{
    if (!try_first(s, domain, count))
        return false;
    plan_put_back_unneeded(s->plan);
    return true;
}

static struct price price_of(const struct plan *p)
{
    struct price sum = {0, 0};

    for (uint32_t j = 0; j < p->job_count; j++) {
        const struct leaving_job *job = &p->jobs[j];

        if (job->taken == 0)
            continue;
        sum.rank = job->rank > sum.rank ? job->rank : sum.rank;
        sum.price += leaving_price(job, job->taken);
    }
    return sum;
}

/* ---- which domain ---- */

static bool is_cheaper(const struct price *a, const struct price *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->price < b->price;
}

static bool take_cheapest(struct search *s)
{
    uint32_t best = UINT32_MAX, best_count = 0;
    struct price least = {0, 0};

    for (uint32_t d = 0; d < s->domain_count; d++) {
        const uint32_t count = fewest(s, &s->domains[d]);
        struct price price;

        if (count == UINT32_MAX || !take_domain(s, &s->domains[d], count))
            continue;
        price = price_of(s->plan);
        start_over(s, &s->domains[d]);
        if (best == UINT32_MAX || is_cheaper(&price, &least)) {
            best = d;
            best_count = count;
            least = price;
        }
    }
    return best != UINT32_MAX && take_domain(s, &s->domains[best], best_count);
}

bool plan_together(struct plan *p, uint32_t layout)
{
    const struct shapes *shapes = &p->core->shapes;
    const uint32_t first = shapes->gangs[p->core->jobs.rows[p->job].gang].first_layout;
    const uint32_t mark = trial_mark(&p->core->trial);
    struct search s;
    bool done = false;

    p->layout = layout;
    p->place_count = 0;
    if (plan_make_way(p)) {
        search_open(&s, p, &shapes->layouts[first + layout]);
        done = take_cheapest(&s);
        search_close(&s);
    }
    if (done)
        return true;
    plan_untake_all(p, mark);
    return false;
}
