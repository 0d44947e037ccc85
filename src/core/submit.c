/* SPDX-License-Identifier: Apache-2.0 */
/* submit.c - a job arrives; a job is cancelled. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/claim.h"
#include "core/facts.h"
#include "core/impl.h"
#include "core/life.h"
#include "core/place.h"
#include "core/submit.h"
#include "core/terms.h"

__extension__ typedef __int128 wide;

/* ---- checking what was asked ---- */

static bool asks_instance(const struct group_spec *group)
{
    return group->mig != NULL && group->mig[0] != '\0';
}

/* By memory, whatever the profile. */
static bool asks_any(const struct group_spec *group)
{
    return asks_instance(group) && strcmp(group->mig, "any") == 0;
}

static int instance_check(const struct group_spec *group, struct err *err)
{
    struct mig_ask ask;

    if (!asks_instance(group))
        return 0;
    if (group->gpus != 1 || group->gpu_mgpu != 0)
        return err_set(err, -EINVAL, "mig: goes with 1 GPU and no share, a task has one instance");
    if (asks_any(group) != (group->gpu_memory_bytes > 0))
        return err_set(err, -EINVAL,
                       "mig: any goes with gpu_memory_bytes, and a profile without them");
    if (!asks_any(group) && mig_ask_parse(group->mig, &ask, err) < 0)
        return err_prefix(err, -EINVAL, "mig: ");
    return 0;
}

int group_check(const struct group_spec *group, struct err *err)
{
    const struct shape shape = {
        .cpu_mcpu = group->cpu_mcpu,
        .memory_bytes = group->memory_bytes,
        .gpus = group->gpus,
        .gpu_mgpu = group->gpu_mgpu,
        .gpu_memory_bytes = group->gpu_memory_bytes,
    };

    if (group->tasks < 1 || group->tasks > JOB_TASKS_MAX)
        return err_set(err, -EINVAL, "tasks: must be 1 to %d, is %u", JOB_TASKS_MAX, group->tasks);
    if (group->model_count > SELECTOR_TERMS_MAX || group->label_count > SELECTOR_TERMS_MAX)
        return err_set(err, -EINVAL, "models, labels: at most %d each", SELECTOR_TERMS_MAX);
    if (instance_check(group, err) < 0)
        return -EINVAL;
    return shape_check(&shape, err);
}

static int layout_check(const struct job_layout_spec *layout, struct err *err)
{
    uint64_t tasks = 0;

    if (layout->apart > 1)
        return err_set(err, -EINVAL, "apart: must be 0 or 1, is %u", layout->apart);
    if (layout->group_count < 1 || layout->group_count > GANG_GROUPS_MAX)
        return err_set(err, -EINVAL, "groups: must be 1 to %d, are %u", GANG_GROUPS_MAX,
                       layout->group_count);
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const int rc = group_check(&layout->groups[g], err);

        if (rc < 0)
            return err_prefix(err, rc, "groups[%u].", g);
        tasks += layout->groups[g].tasks;
    }
    if (tasks > JOB_TASKS_MAX)
        return err_set(err, -EINVAL, "groups: at most %d tasks together", JOB_TASKS_MAX);
    return 0;
}

static int exclusive_check(const struct job_spec *spec, struct err *err)
{
    for (uint32_t i = 0; spec->exclusive && i < spec->layout_count; i++)
        for (uint32_t g = 0; g < spec->layouts[i].group_count; g++) {
            const struct group_spec *group = &spec->layouts[i].groups[g];

            if (asks_instance(group) || group->gpu_memory_bytes > 0 ||
                (group->gpu_mgpu > 0 && group->gpu_mgpu < GPU_MGPU))
                return err_set(err, -EINVAL,
                               "job %llu: exclusive: goes with whole GPUs, not with a part of one",
                               (unsigned long long)spec->id);
        }
    return 0;
}

/* Who must not end with others is not with them on one MPS server. */
static uint32_t spec_modes(const struct job_spec *spec)
{
    const uint32_t modes = spec->modes != 0 ? spec->modes : MODES_DEFAULT;

    return spec->strict ? modes & ~MODE_BIT(GPU_MPS) : modes;
}

static int knob_check(const struct job_spec *spec, uint32_t knob, struct err *err)
{
    const struct qos_fact *fact = &qos_facts[knob];
    const int32_t value = spec->qos.values[knob];

    if (!(spec->qos.stated >> knob & 1))
        return value == 0 ? 0
                          : err_set(err, -EINVAL, "job %llu: %s: has a value that is not stated",
                                    (unsigned long long)spec->id, fact->name);
    if (value >= fact->least && value <= fact->most)
        return 0;
    return err_set(err, -EINVAL, "job %llu: %s: must be %d to %d, is %d",
                   (unsigned long long)spec->id, fact->name, fact->least, fact->most, value);
}

static bool asks_for_whole(const struct job_spec *spec)
{
    for (uint32_t i = 0; i < spec->layout_count; i++)
        for (uint32_t g = 0; g < spec->layouts[i].group_count; g++) {
            const struct group_spec *group = &spec->layouts[i].groups[g];

            if (group->gpus > 0 && !asks_instance(group) &&
                (group->gpu_mgpu == GPU_MGPU ||
                 (group->gpu_mgpu == 0 && group->gpu_memory_bytes == 0)))
                return true;
        }
    return false;
}

static int modes_check(const struct job_spec *spec, struct err *err)
{
    const unsigned long long id = spec->id;
    int rc = 0;

    if (spec->modes > MODES_ALL)
        return err_set(err, -EINVAL, "job %llu: modes: there are no such modes", id);
    if (spec->modes & MODE_BIT(GPU_MIG))
        return err_set(err, -EINVAL, "job %llu: modes: an instance is asked for by mig", id);
    if (spec_modes(spec) == 0)
        return err_set(err, -EINVAL, "job %llu: isolation: strict goes with another mode than mps",
                       id);
    if (spec->modes != 0 && !(spec->modes & MODE_BIT(GPU_EXCLUSIVE)) && asks_for_whole(spec))
        return err_set(err, -EINVAL, "job %llu: modes: whole GPUs are exclusive", id);
    if (spec->qos.class >= QOS_CLASSES || spec->qos.stated >= 1u << QOS_KNOBS)
        return err_set(err, -EINVAL, "job %llu: qos: there is no such class or value", id);
    for (uint32_t k = 0; k < QOS_KNOBS && rc == 0; k++)
        rc = knob_check(spec, k, err);
    return rc;
}

/* It is there, or it is known how it ended. */
static int after_known(const struct core *core, uint64_t job_id, struct err *err)
{
    const unsigned long long id = job_id;

    if (jobs_find(&core->jobs, job_id) != ROW_NONE)
        return 0;
    switch (ended_find(&core->ended, job_id)) {
    case ENDED_WELL:
    case ENDED_BADLY:
        return 0;
    case ENDED_UNKNOWN:
        return err_set(err, -ENOENT, "job %llu: unknown", id);
    case ENDED_TOO_LONG:
        break;
    }
    return err_set(err, -ENOENT,
                   "job %llu: unknown, or it ended too long ago: how a job ended is known of the "
                   "last %u; leave it out if it need not be waited for",
                   id, ENDED_MAX);
}

static int after_check(const struct core *core, const struct job_spec *spec, struct err *err)
{
    const unsigned long long id = spec->id;
    struct err detail;

    if (spec->after_count > JOB_AFTER_MAX)
        return err_set(err, -EINVAL, "job %llu: after: at most %u jobs, are %u", id, JOB_AFTER_MAX,
                       spec->after_count);
    for (uint32_t i = 0; i < spec->after_count; i++) {
        if (spec->after[i].end >= AFTER_COUNT)
            return err_set(err, -EINVAL, "job %llu: after[%u].end: must be 0 to %d", id, i,
                           AFTER_COUNT - 1);
        if (after_known(core, spec->after[i].job_id, &detail) < 0)
            return err_set(err, -ENOENT, "job %llu: after[%u]: %s", id, i, detail.text);
    }
    return 0;
}

/* Only tasks that are all alike may be fewer than all: any so many of them are as good. */
static int elastic_check(const struct core *core, const struct job_spec *spec, struct err *err)
{
    const unsigned long long id = spec->id;

    if ((spec->tasks_min != 0 || spec->service) && core->repack != REPACK_NEVER)
        return err_set(err, -EINVAL, "job %llu: %s: not where jobs are packed anew (repack)", id,
                       spec->service ? "service" : "min-tasks");
    for (uint32_t i = 0; core->repack != REPACK_NEVER && i < spec->layout_count; i++)
        for (uint32_t g = 0; g < spec->layouts[i].group_count; g++)
            if (asks_instance(&spec->layouts[i].groups[g]))
                return err_set(err, -EINVAL,
                               "job %llu: mig: not where jobs are packed anew (repack)", id);
    if (spec->tasks_min == 0)
        return 0;
    if (spec->layout_count != 1 || spec->layouts[0].group_count != 1)
        return err_set(
            err, -EINVAL,
            "job %llu: min-tasks: goes with one layout of one group, not with %u layouts "
            "of %u groups",
            id, spec->layout_count, spec->layouts[0].group_count);
    if (spec->tasks_min > spec->layouts[0].groups[0].tasks)
        return err_set(err, -EINVAL, "job %llu: min-tasks: must be 0 to %u, its tasks, is %u", id,
                       spec->layouts[0].groups[0].tasks, spec->tasks_min);
    return 0;
}

static bool is_array(const struct job_spec *spec)
{
    return spec->array != NULL && spec->array[0] != '\0';
}

static int array_check(const struct core *core, const struct job_spec *spec, struct err *err)
{
    uint32_t user, name;

    if (!is_array(spec) && spec->array_limit > 0)
        return err_set(err, -EINVAL, "job %llu: array-limit: goes with array",
                       (unsigned long long)spec->id);
    if (!is_array(spec))
        return 0;
    user = names_find(&core->names, spec->user);
    name = names_find(&core->names, spec->array);
    if (user != NAMES_NONE && name != NAMES_NONE &&
        !gate_array_agrees(&core->gate, user, name, spec->array_limit))
        return err_set(err, -EINVAL,
                       "job %llu: array-limit: jobs of array '%s' must all state the same",
                       (unsigned long long)spec->id, spec->array);
    return 0;
}

static struct amounts sum_of(const struct job_layout_spec *layout)
{
    wide sum[RES_COUNT] = {0};
    struct amounts amounts;

    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group_spec *group = &layout->groups[g];

        sum[RES_GPU_BYTES] += (wide)group->tasks * group->gpus * group->gpu_memory_bytes;
        sum[RES_CPU_MCPU] += (wide)group->tasks * group->cpu_mcpu;
        sum[RES_MEMORY_BYTES] += (wide)group->tasks * group->memory_bytes;
    }
    for (int r = 0; r < RES_COUNT; r++)
        amounts.of[r] = sum[r] < AMOUNT_SUM_MAX ? (int64_t)sum[r] : AMOUNT_SUM_MAX;
    return amounts;
}

static bool is_said(const char *level)
{
    return level != NULL && level[0] != '\0';
}

static uint32_t find_level(const struct core *core, const char *level)
{
    const uint32_t name = is_said(level) ? names_find(&core->names, level) : NAMES_NONE;

    return name != NAMES_NONE ? levels_find(&core->levels, name) : LEVEL_NONE;
}

static int level_check(const struct core *core, const char *field, const char *level,
                       struct err *err)
{
    const struct levels *l = &core->levels;

    if (!is_said(level) || find_level(core, level) != LEVEL_NONE)
        return 0;
    if (l->count == 0)
        return err_set(err, -ENOENT, "%s '%s': unknown, no levels are configured", field, level);
    err_set(err, -ENOENT, "%s", names_text(&core->names, l->rows[l->count - 1].name));
    for (uint32_t i = l->count - 1; i-- > 0;)
        err_prefix(err, -ENOENT, "%s, ", names_text(&core->names, l->rows[i].name));
    return err_prefix(err, -ENOENT, "%s '%s': unknown, the levels are ", field, level);
}

static int task_groups_check(const struct job_spec *spec, struct err *err)
{
    if (is_said(spec->group_within) != (spec->group_size > 0))
        return err_set(err, -EINVAL, "group_size, group_within: go with each other");
    if (spec->group_size == 0)
        return 0;
    if (spec->tasks_min > 0 || spec->service)
        return err_set(err, -EINVAL,
                       "group_size: goes with jobs that need all of their tasks, not with "
                       "tasks_min or service");
    for (uint32_t i = 0; i < spec->layout_count; i++)
        if (spec->layouts[i].group_count != 1 ||
            spec->layouts[i].groups[0].tasks % spec->group_size != 0)
            return err_set(err, -EINVAL,
                           "group_size: the tasks must be alike, and so many of them that %u "
                           "divides them",
                           spec->group_size);
    return 0;
}

/* Which levels it names, and what it wants of them. */
static int levels_check(const struct core *core, const struct job_spec *spec, struct err *err)
{
    int rc = level_check(core, "within", spec->within, err);

    rc = rc < 0 ? rc : level_check(core, "near", spec->near, err);
    rc = rc < 0 ? rc : level_check(core, "group_within", spec->group_within, err);
    rc = rc < 0 ? rc : task_groups_check(spec, err);
    if (rc == 0 && is_said(spec->within) && is_said(spec->near) &&
        find_level(core, spec->near) <= find_level(core, spec->within))
        rc = err_set(err, -EINVAL, "near '%s': must be a finer level than within '%s'", spec->near,
                     spec->within);
    if (rc == 0 && is_said(spec->within) && is_said(spec->group_within) &&
        find_level(core, spec->group_within) <= find_level(core, spec->within))
        rc = err_set(err, -EINVAL, "group_within '%s': must be a finer level than within '%s'",
                     spec->group_within, spec->within);
    if (rc == 0 && spec->slowdown_max_ppm > 0 &&
        (spec->slowdown_max_ppm < 1000000 || spec->slowdown_max_ppm > SLOWDOWN_PPM_MAX))
        rc = err_set(err, -EINVAL, "slowdown_max_ppm: must be 0 or 1000000 to %d, is %u",
                     SLOWDOWN_PPM_MAX, spec->slowdown_max_ppm);
    if (rc == 0 && spec->slowdown_max_ppm > 0 && (spec->tasks_min > 0 || spec->service))
        rc = err_set(err, -EINVAL,
                     "slowdown_max_ppm: goes with jobs that need all of their tasks, not with "
                     "tasks_min or service");
    if (rc == 0 && spec->slowdown_max_ppm > 0 && core->levels.count == 0)
        rc = err_set(err, -EINVAL, "slowdown_max_ppm: no levels are configured");
    return rc < 0 ? err_prefix(err, rc, "job %llu: ", (unsigned long long)spec->id) : 0;
}

/* Books of queues add up what jobs ask for. */
static int sums_check(const struct core *core, const struct job_spec *spec, struct err *err)
{
    static const char *const words[] = {"GPU compute", "GPU memory", "CPU", "memory"};

    for (uint32_t i = 0; i < spec->layout_count; i++) {
        const struct amounts sum = sum_of(&spec->layouts[i]);

        for (int r = 0; r < RES_COUNT; r++)
            if (sum.of[r] >= AMOUNT_SUM_MAX - core->asks.of[r])
                return err_set(err, -ENOSPC,
                               "job %llu: %s: with it, jobs ask for more than can be counted",
                               (unsigned long long)spec->id, words[r]);
    }
    return 0;
}

/* ---- as whom ---- */

static uint32_t find_name(const struct core *core, const char *text)
{
    return text == NULL || text[0] == '\0' ? core->no_name : names_find(&core->names, text);
}

static int queue_find(const struct core *core, const struct job_spec *spec, uint32_t *out,
                      struct err *err)
{
    const struct queues *q = &core->queues;
    const uint32_t name = find_name(core, spec->queue);
    const unsigned long long id = spec->id;

    *out = q->default_row;
    if (q->configured == 1)
        return 0; /* one queue for all, whatever it is called */
    if (name != core->no_name && (name == NAMES_NONE || !map_find(&q->by_name, name, out)))
        return err_set(err, -ENOENT, "job %llu: queue '%s': unknown", id, spec->queue);
    if (*out == QUEUE_NONE)
        return err_set(err, -EINVAL, "job %llu: queue: must be named, there is no default one", id);
    for (uint32_t i = 1; i < q->configured; i++)
        if (q->rows[i].parent == *out)
            return err_set(err, -EINVAL,
                           "job %llu: queue '%s': has queues below it, of which one must be named",
                           id, spec->queue);
    return 0;
}

static int queue_check(const struct core *core, const struct job_spec *spec, struct err *err)
{
    const struct queues *q = &core->queues;
    const unsigned long long id = spec->id;
    const uint32_t user = find_name(core, spec->user);
    uint32_t row, leaf;
    const int rc = queue_find(core, spec, &row, err);

    if (rc < 0)
        return rc;
    for (uint32_t i = row; i != QUEUE_NONE; i = q->rows[i].parent)
        if (!queues_let(&q->users[q->rows[i].user_first], q->rows[i].user_count, user))
            return err_set(err, -EACCES, "job %llu: queue '%s': user '%s' may not submit there", id,
                           names_text(&core->names, q->rows[i].name), spec->user);
    leaf = user != NAMES_NONE ? queues_find_leaf(q, row, user) : QUEUE_NONE;
    if (leaf != QUEUE_NONE && q->rows[leaf].kind == QUEUE_OF_USER &&
        q->rows[leaf].jobs >= q->rows[leaf].user_jobs_max)
        return err_set(err, -ENOSPC,
                       "job %llu: user '%s' has %u unfinished jobs in queue '%s', the limit", id,
                       spec->user, q->rows[leaf].jobs, names_text(&core->names, q->rows[row].name));
    return 0;
}

static int class_check(const struct core *core, const struct job_spec *spec, struct err *err)
{
    const struct classes *c = &core->classes;
    const uint32_t name = find_name(core, spec->class);
    uint32_t row = c->default_row;

    if (name != core->no_name)
        row = name != NAMES_NONE ? classes_find(c, name) : ROW_NONE;
    if (row == ROW_NONE)
        return err_set(err, -ENOENT, "job %llu: class '%s': unknown", (unsigned long long)spec->id,
                       spec->class);
    if (!queues_let(&c->users[c->rows[row].user_first], c->rows[row].user_count,
                    find_name(core, spec->user)))
        return err_set(err, -EACCES, "job %llu: class '%s': user '%s' may not use it",
                       (unsigned long long)spec->id, names_text(&core->names, c->rows[row].name),
                       spec->user);
    return 0;
}

/* Times of a job, each from a least value: -1 where a class may say it. */
static int times_check(const struct job_spec *spec, struct err *err)
{
    const struct {
        const char *field;
        int64_t value_us, least_us;
    } times[] = {
        {"deadline", spec->deadline_us, 0},
        {"time-limit", spec->limit_us, 0},
        {"grace", spec->grace_us, -1},
        {"min-run", spec->min_run_us, -1},
    };

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (times[i].value_us < times[i].least_us || times[i].value_us > TIME_US_MAX)
            return err_set(err, -EINVAL, "job %llu: %s: must be %lld to %lld us, is %lld",
                           (unsigned long long)spec->id, times[i].field,
                           (long long)times[i].least_us, TIME_US_MAX, (long long)times[i].value_us);
    return 0;
}

static int job_check(const struct core *core, const struct job_spec *spec, struct err *err)
{
    int rc;

    if (spec->id == JOB_NONE)
        return err_set(err, -EINVAL, "job: id %llu is reserved", (unsigned long long)spec->id);
    if (jobs_find(&core->jobs, spec->id) != ROW_NONE)
        return err_set(err, -EEXIST, "job %llu: is known already", (unsigned long long)spec->id);
    if (core->jobs.live >= core->jobs_max)
        return err_set(err, -ENOSPC, "job %llu: there are %u jobs already, the limit",
                       (unsigned long long)spec->id, core->jobs_max);
    if (array_check(core, spec, err) < 0)
        return -EINVAL;
    rc = after_check(core, spec, err);
    rc = rc < 0 ? rc : queue_check(core, spec, err);
    rc = rc < 0 ? rc : class_check(core, spec, err);
    if (rc < 0)
        return rc;
    if (spec->layout_count < 1 || spec->layout_count > GANG_LAYOUTS_MAX)
        return err_set(err, -EINVAL, "job %llu: layouts: must be 1 to %d, are %u",
                       (unsigned long long)spec->id, GANG_LAYOUTS_MAX, spec->layout_count);
    if (times_check(spec, err) < 0)
        return -EINVAL;
    for (uint32_t i = 0; i < spec->layout_count; i++) {
        rc = layout_check(&spec->layouts[i], err);
        if (rc < 0)
            return err_prefix(err, rc, "job %llu: layouts[%u].", (unsigned long long)spec->id, i);
    }
    rc = elastic_check(core, spec, err);
    rc = rc < 0 ? rc : levels_check(core, spec, err);
    rc = rc < 0 ? rc : exclusive_check(spec, err);
    rc = rc < 0 ? rc : modes_check(spec, err);
    return rc < 0 ? rc : sums_check(core, spec, err);
}

/* ---- interning it ---- */

static uint32_t group_selector(struct core *core, const struct group_spec *group)
{
    struct selector selector;

    memset(&selector, 0, sizeof selector);
    selector.model_count =
        terms_intern(&core->names, group->models, group->model_count, selector.models);
    selector.label_count =
        terms_intern(&core->names, group->labels, group->label_count, selector.labels);
    return shapes_selector(&core->shapes, &selector);
}

/* Only parts of GPUs are shared; and whom a part trusts matters only under MPS. */
static void share(struct core *core, const struct task_terms *terms, struct shape *shape)
{
    if (!shape_is_share(shape))
        return;
    shape->modes = terms->modes != MODES_DEFAULT ? terms->modes : 0;
    shape->latency = terms->latency;
    if ((terms->modes & MODE_BIT(GPU_MPS)) && terms->user != core->no_name &&
        terms->user <= TRUST_MAX)
        shape->trust = terms->user;
}

/* It was checked before. */
static void instance(const struct group_spec *group, struct shape *shape)
{
    shape->modes = MODE_BIT(GPU_MIG);
    if (!asks_any(group))
        (void)mig_ask_parse(group->mig, &shape->mig, NULL);
}

uint32_t group_shape(struct core *core, const struct group_spec *group,
                     const struct task_terms *terms)
{
    struct shape shape = {
        .cpu_mcpu = group->cpu_mcpu,
        .memory_bytes = group->memory_bytes,
        .gpus = group->gpus,
        .gpu_mgpu = group->gpu_mgpu,
        .gpu_memory_bytes = group->gpu_memory_bytes,
        .selector = SELECTOR_ANY,
        .exclusive = terms->exclusive,
    };

    if (group->model_count > 0 || group->label_count > 0)
        shape.selector = group_selector(core, group);
    if (asks_instance(group))
        instance(group, &shape);
    else if (shape.gpus > 0 && shape.gpu_mgpu == 0 && shape.gpu_memory_bytes == 0)
        shape.gpu_mgpu = GPU_MGPU; /* who states neither gets whole devices */
    if (!asks_instance(group))
        share(core, terms, &shape);
    const uint32_t id = shapes_shape(&core->shapes, &shape);

    mig_note_shape(core, id);

    vec_reserve(core->shortlists, core->shortlist_cap, core->shapes.shape_count);
    core->shortlist_count = core->shapes.shape_count;
    return id;
}

/* Most jobs leave most names empty. */
static uint32_t intern(struct core *core, const char *text)
{
    return text[0] == '\0' ? core->no_name : names_intern(&core->names, text);
}

/* They were checked, so they are there. */
static uint32_t level_name(const struct core *core, const char *level)
{
    return is_said(level) ? names_find(&core->names, level) : LEVEL_NONE;
}

static struct together spec_together(const struct core *core, const struct job_spec *spec)
{
    return (struct together){
        .within = level_name(core, spec->within),
        .near = level_name(core, spec->near),
        .group_within = level_name(core, spec->group_within),
        .group_size = spec->group_size,
        .slowdown_max_ppm = spec->slowdown_max_ppm,
    };
}

static uint32_t intern_gang(struct core *core, const struct job_spec *spec)
{
    const struct task_terms terms = {
        .exclusive = spec->exclusive,
        .modes = spec_modes(spec),
        .user = spec->modes & MODE_BIT(GPU_MPS) ? intern(core, spec->user) : core->no_name,
        .latency = spec->qos.class == QOS_LATENCY,
    };
    struct layout_spec layouts[GANG_LAYOUTS_MAX];
    struct group *groups, *next;
    uint32_t count = 0, gang;

    for (uint32_t i = 0; i < spec->layout_count; i++)
        count += spec->layouts[i].group_count;
    groups = next = mem_alloc(count, sizeof *groups);
    for (uint32_t i = 0; i < spec->layout_count; i++) {
        const struct job_layout_spec *layout = &spec->layouts[i];

        layouts[i] = (struct layout_spec){next,
                                          layout->group_count,
                                          layout->slowdown_ppm,
                                          layout->apart != 0 || spec->exclusive,
                                          spec->tasks_min,
                                          spec_together(core, spec)};
        for (uint32_t g = 0; g < layout->group_count; g++) {
            *next = (struct group){group_shape(core, &layout->groups[g], &terms),
                                   layout->groups[g].tasks};
            layouts[i].tasks_min += spec->tasks_min == 0 ? next->tasks : 0;
            next++;
        }
    }
    gang = shapes_gang(&core->shapes, layouts, spec->layout_count);
    mem_free(groups);
    return gang;
}

/* The placement policy learns from every arrival, whether or not it ever fits. */
static void tell_arrived(struct core *core, uint32_t gang)
{
    const struct layout *layout = &core->shapes.layouts[core->shapes.gangs[gang].first_layout];

    for (uint32_t g = 0; core->placement->arrived != NULL && g < layout->group_count; g++) {
        const struct group group = core->shapes.groups[layout->first_group + g];

        core->placement->arrived(core->placement_state, core, group.shape, group.tasks);
    }
}

struct standing job_standing(struct core *core, uint32_t queue, uint32_t class_id, uint32_t user)
{
    const struct priority *class = &core->classes.rows[class_id];

    return (struct standing){
        .leaf = queues_leaf(&core->queues, queue, user),
        .of_class = class->bounded
                        ? queues_of_class(&core->queues, class_id, user, &class->user_limit)
                        : QUEUE_NONE,
    };
}

/* As whom it was checked before. */
static void stand(struct core *core, struct job *job, const struct job_spec *spec)
{
    const uint32_t class = find_name(core, spec->class);
    uint32_t queue;

    (void)queue_find(core, spec, &queue, NULL);
    job->class_id =
        class != core->no_name ? classes_find(&core->classes, class) : core->classes.default_row;
    job->at = job_standing(core, queue, job->class_id, job->user);
}

/* What no configuration of this cluster could ever run is not queued: the next step rejects it. */
static bool is_hopeless(struct core *core, uint32_t job)
{
    struct job *row = &core->jobs.rows[job];
    struct refusal refusal;

    if (!queues_admit_ever(&core->queues, &row->at, &core->shapes.gangs[row->gang].asks, &refusal))
        row->reason = queue_bound_reason(refusal.bound);
    else if (core->nodes.in_use > 0 && place_never(core, row->gang))
        row->reason = REASON_NEVER;
    else
        return false;
    row->in_vain = true;
    job_unsettle(core, job);
    return true;
}

int fact_job_submitted(struct core *core, const struct job_spec *spec, struct err *err)
{
    const int rc = job_check(core, spec, err);
    struct job job;
    uint32_t row;

    if (rc < 0)
        return rc;
    job = (struct job){
        .id = spec->id,
        .sequence = core->jobs.submitted++,
        .state = JOB_PENDING,
        .gang = intern_gang(core, spec),
        .queue = intern(core, spec->queue),
        .user = intern(core, spec->user),
        .name = intern(core, spec->name),
        .task_first = ROW_NONE,
        .ends_us = TIME_NONE,
        .reservation = ROW_NONE,
        .claimant = JOB_NONE,
        .submit_us = core->now_us,
        .deadline_us = spec->deadline_us > 0 ? spec->deadline_us : TIME_NONE,
        .start_us = TIME_NONE,
        .stop_us = TIME_NONE,
        .limit_us = spec->limit_us,
        .grace_us = spec->grace_us,
        .min_run_us = spec->min_run_us,
        .fixed = spec->fixed,
        .qos = spec->qos,
        .retries_left = spec->retries,
        .remaining_us = spec->remaining_us >= 0 ? spec->remaining_us : REMAINING_UNKNOWN,
        .remaining_at_us = core->now_us,
        .service = spec->service,
        .growing_at = ROW_NONE,
        .reason = REASON_NEW,
        .held = spec->held,
        .array = ROW_NONE,
        .array_prev = ROW_NONE,
        .array_next = ROW_NONE,
    };
    stand(core, &job, spec);
    for (uint32_t i = 0; i < SERVICE_FAILURES_MAX - 1; i++)
        job.failed_us[i] = TIME_NONE;
    row = jobs_add(&core->jobs, &job);
    queues_count_job(&core->queues, &job.at, 1);
    amounts_add(&core->asks, &core->shapes.gangs[job.gang].asks, 1);
    core->jobs.pending++;
    if (is_array(spec))
        gate_join_array(core, row, names_intern(&core->names, spec->array), spec->array_limit);
    for (uint32_t i = 0; i < spec->after_count; i++)
        gate_wait_for(core, row, &spec->after[i]);
    tell_arrived(core, job.gang);
    orderer_submitted(core, row);
    if (!is_hopeless(core, row))
        gate_try(core, row);
    return 0;
}

int fact_job_cancelled(struct core *core, uint64_t job_id, struct err *err)
{
    const uint32_t row = jobs_find(&core->jobs, job_id);
    struct job *job;

    if (row == ROW_NONE)
        return err_set(err, -ENOENT, "job %llu: unknown", (unsigned long long)job_id);
    job = &core->jobs.rows[row];
    job->cancelled = true;
    if (job->state != JOB_PENDING) {
        job_unsettle(core, row);
        return 0;
    }
    claim_drop(core, row);
    gate_take_out(core, row, false);
    core->jobs.pending--;
    job_gone(core, row, JOB_CANCELLED);
    return 0;
}

int fact_job_held(struct core *core, uint64_t job_id, struct err *err)
{
    const uint32_t row = jobs_find(&core->jobs, job_id);

    if (row == ROW_NONE)
        return err_set(err, -ENOENT, "job %llu: unknown", (unsigned long long)job_id);
    if (core->jobs.rows[row].held || core->jobs.rows[row].in_vain)
        return 0;
    core->jobs.rows[row].held = true;
    if (core->jobs.rows[row].state != JOB_PENDING)
        return 0; /* it runs on; if it must wait again, it is held then */
    claim_drop(core, row);
    job_leave_claimants(core, row);
    gate_take_out(core, row, true);
    gate_try(core, row);
    return 0;
}

int fact_job_released(struct core *core, uint64_t job_id, struct err *err)
{
    const uint32_t row = jobs_find(&core->jobs, job_id);

    if (row == ROW_NONE)
        return err_set(err, -ENOENT, "job %llu: unknown", (unsigned long long)job_id);
    if (!core->jobs.rows[row].held || core->jobs.rows[row].in_vain)
        return 0;
    core->jobs.rows[row].held = false;
    if (core->jobs.rows[row].state == JOB_PENDING)
        gate_try(core, row);
    return 0;
}

int fact_job_progress(struct core *core, const struct event *event, struct err *err)
{
    const uint32_t row = jobs_find(&core->jobs, event->progress.job_id);

    if (row == ROW_NONE)
        return err_set(err, -ENOENT, "job %llu: unknown",
                       (unsigned long long)event->progress.job_id);
    if (event->progress.remaining_us < 0)
        return err_set(err, -EINVAL, "job %llu: remaining_us: must be 0 or more",
                       (unsigned long long)event->progress.job_id);
    core->jobs.rows[row].remaining_us = event->progress.remaining_us;
    core->jobs.rows[row].remaining_at_us = core->now_us;
    if (core->jobs.rows[row].state == JOB_PENDING && core->jobs.rows[row].queued)
        job_rekey(core, row);
    return 0;
}
