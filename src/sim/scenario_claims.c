/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_claims.c - the `assert` lines. */
#include <inttypes.h>
#include <string.h>

#include "core/view.h"
#include "sim/scenario_impl.h"
#include "wire/explain_out.h"

static bool holds(enum scn_compare compare, int64_t is, int64_t wanted)
{
    switch (compare) {
    case CMP_EQ:
        return is == wanted;
    case CMP_NE:
        return is != wanted;
    case CMP_LT:
        return is < wanted;
    case CMP_LE:
        return is <= wanted;
    case CMP_GT:
        return is > wanted;
    case CMP_GE:
        return is >= wanted;
    case CMP_COUNT:
        break;
    }
    return false;
}

static void fail(struct sc *sc, const struct scn_assert *a, const char *is)
{
    sc_broken(sc, "line %u: %s: it %s", a->line, a->text_of_line, is);
}

static bool is_of(const struct sc *sc, const struct scn_assert *a, const struct sc_task *task)
{
    const struct job_spec *spec = &sc->scn->jobs[task->job].spec;
    const char *queue = spec->queue[0] || !sc->scn->config.rules.default_queue
                            ? spec->queue
                            : sc->scn->config.rules.default_queue;

    return a->subject == OF_ALL || (a->subject == OF_NODE && strcmp(task->node, a->name) == 0) ||
           (a->subject == OF_QUEUE && strcmp(queue, a->name) == 0) ||
           (a->subject == OF_USER && strcmp(spec->user, a->name) == 0);
}

static int64_t used_mgpu(const struct sc *sc, const struct scn_assert *a)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < sc->alive_count; i++) {
        const struct sc_task *task = &sc->tasks[sc->alive[i]];

        if (!task->told_gone && is_of(sc, a, task))
            sum += (int64_t)sc_task_gpus(sc, task) * sc_task_mgpu(sc, task);
    }
    return sum;
}

static void judge_used(struct sc *sc, const struct scn_assert *a)
{
    const int64_t used = used_mgpu(sc, a);
    char is[64];
    struct text text;

    if (holds(a->compare, used, a->value))
        return;
    text_init(&text, sizeof is);
    text_addf(&text, "is %" PRId64, used / 1000);
    if (used % 1000)
        text_addf(&text, ".%03" PRId64, used % 1000);
    fail(sc, a, text_str(&text));
    text_done(&text);
}

static void judge_count(struct sc *sc, const struct scn_assert *a)
{
    const bool starts = a->claim == CLAIM_STARTS;
    const struct sc_job *j = a->job != SCN_JOB_NONE ? &sc->jobs[a->job] : NULL;
    const uint32_t is = j        ? (starts ? j->starts : j->evictions)
                        : starts ? sc->starts
                                 : sc->evictions;
    struct text text;

    if (holds(a->compare, is, a->value))
        return;
    text_init(&text, 64);
    text_addf(&text, "is %u", is);
    fail(sc, a, text_str(&text));
    text_done(&text);
}

/* "happened at 70s", "never happened" */
static void fail_time(struct sc *sc, const struct scn_assert *a, const char *what, int64_t at_us)
{
    struct text text;

    text_init(&text, 100);
    text_addf(&text, at_us < 0 ? "never %s" : "%s at ", what);
    if (at_us >= 0)
        sc_add_time(&text, at_us);
    fail(sc, a, text_str(&text));
    text_done(&text);
}

static void judge_ended(struct sc *sc, const struct scn_assert *a)
{
    const struct sc_job *j = &sc->jobs[a->job];

    if (!j->ended || j->end_us > a->at_us)
        fail_time(sc, a, "ended", j->ended ? j->end_us : -1);
    else if (a->text[0] && strcmp(a->text, j->end) != 0)
        fail_time(sc, a, j->end, j->end_us);
}

static enum job_state state_of(const struct sc *sc, uint32_t job, uint32_t *out_row)
{
    *out_row = core_find_job(sc->world.core, (uint64_t)job + 1);
    return *out_row == ROW_NONE ? JOB_FREE : core_job(sc->world.core, *out_row)->state;
}

/* Is the text in the reason, or in what `--explain` says of it, but for times? */
static bool is_explained(const struct sc *sc, uint32_t row, const char *wanted)
{
    const struct core *core = sc->world.core;
    const struct explain_names names = {sc_job_name, (void *)(uintptr_t)sc};
    struct explanation e;
    struct text text;
    bool said;

    if (strstr(reason_text(core_job_reason(core, row)), wanted) != NULL)
        return true;
    if (explain(core, core_job(core, row)->id, NULL, &e, NULL) < 0)
        return false;
    text_init(&text, 1 << 20);
    explain_text(core, &e, NULL, &names, &text);
    said = strstr(text_str(&text), wanted) != NULL;
    text_done(&text);
    explanation_done(&e);
    return said;
}

static void judge_state(struct sc *sc, const struct scn_assert *a)
{
    uint32_t row;
    const enum job_state state = state_of(sc, a->job, &row);
    const enum job_state wanted = a->claim == CLAIM_RUNNING ? JOB_RUNNING : JOB_PENDING;
    struct text text;

    text_init(&text, 300);
    if (state != wanted)
        text_addf(&text, "is %s", row == ROW_NONE ? "not there" : job_state_text(state));
    else if (a->text[0] && !is_explained(sc, row, a->text))
        text_addf(&text, "waits because: %s", reason_text(core_job_reason(sc->world.core, row)));
    if (text.used)
        fail(sc, a, text_str(&text));
    text_done(&text);
}

static void judge_started(struct sc *sc, const struct scn_assert *a)
{
    const int64_t first_us = sc->jobs[a->job].first_start_us;
    const bool never = a->claim == CLAIM_NEVER_RUNNING;

    if (never ? first_us >= 0 && first_us < a->at_us : first_us < 0 || first_us > a->at_us)
        fail_time(sc, a, "started", first_us);
}

static void judge_one(struct sc *sc, const struct scn_assert *a)
{
    switch (a->claim) {
    case CLAIM_EVICTIONS:
    case CLAIM_STARTS:
        judge_count(sc, a);
        break;
    case CLAIM_STARTED:
    case CLAIM_NEVER_RUNNING:
        judge_started(sc, a);
        break;
    case CLAIM_ENDED:
        judge_ended(sc, a);
        break;
    case CLAIM_RUNNING:
    case CLAIM_PENDING:
        judge_state(sc, a);
        break;
    case CLAIM_USED:
        judge_used(sc, a);
        break;
    case CLAIM_DIGEST_STABLE:
    case CLAIM_COUNT:
        break;
    }
}

/* Claims about a time are judged by how things stand when that time is over; all others at the
 * end. */
static bool is_about_a_time(const struct scn_assert *a)
{
    return a->claim == CLAIM_RUNNING || a->claim == CLAIM_PENDING || a->claim == CLAIM_USED;
}

void sc_judge(struct sc *sc, int64_t next_us)
{
    for (uint32_t i = 0; i < sc->scn->assert_count; i++) {
        const struct scn_assert *a = &sc->scn->asserts[i];

        if (sc->judged[i] || (next_us != TIME_NONE && (!is_about_a_time(a) || a->at_us >= next_us)))
            continue;
        sc->judged[i] = true;
        judge_one(sc, a);
    }
}
