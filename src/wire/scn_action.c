/* SPDX-License-Identifier: Apache-2.0 */
/* scn_action.c - the lines that say what happens: at TIME [every=TIME] [times=N] WORD ... */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "base/vec.h"
#include "core/job.h"
#include "core/links.h"
#include "core/mig.h"
#include "wire/event_text.h"
#include "wire/quote.h"
#include "wire/rules_doc.h"
#include "wire/scn_doc.h"

static const char *const report_words[SCN_REPORT_COUNT] = {"started", "exited", "lost",
                                                           "checkpoint"};

/* What a line is about, after "at TIME". */
struct at {
    struct scn_reader *r;
    const struct scn_line *line;
    uint32_t verb; /* index of its word */
    struct scn_action action;
};

static const char *word(const struct at *at, uint32_t after_verb)
{
    return at->verb + after_verb < at->line->count ? at->line->words[at->verb + after_verb] : NULL;
}

/* The words after the verb are exactly so many, or up to `most`. */
static int want(const struct at *at, uint32_t least, uint32_t most, const char *form,
                struct err *err)
{
    const uint32_t have = at->line->count - at->verb - 1;

    if (have >= least && have <= most)
        return 0;
    return scn_line_error(at->r, at->line, err, -EINVAL, "wanted at TIME %s", form);
}

/* The value of FIELD=VALUE behind the verb, or NULL. */
static const char *option(const struct at *at, const char *field)
{
    const size_t len = strlen(field);

    for (uint32_t w = at->verb + 1; w < at->line->count; w++)
        if (strncmp(at->line->words[w], field, len) == 0 && at->line->words[w][len] == '=')
            return at->line->words[w] + len + 1;
    return NULL;
}

/* All FIELD=VALUE words behind the verb have one of these fields. */
static int check_options(const struct at *at, const char *one, const char *two, struct err *err)
{
    for (uint32_t w = at->verb + 1; w < at->line->count; w++) {
        const char *text = at->line->words[w];
        const size_t len = strcspn(text, "=");

        if (text[len] == '\0' || (strlen(one) == len && strncmp(text, one, len) == 0) ||
            (strlen(two) == len && strncmp(text, two, len) == 0))
            continue;
        return scn_line_error(at->r, at->line, err, -EINVAL, "unknown field %s, known are %s%s%s",
                              quote_of(text).text, one, two[0] ? ", " : "", two);
    }
    return 0;
}

static int read_task_option(struct at *at, const char *text, struct err *err)
{
    int64_t task = 0;
    int rc = 0;

    at->action.task = SCN_TASK_ALL;
    if (text) {
        rc = scn_number(at->r, at->line, "task", text, JOB_TASKS_MAX - 1, &task, err);
        at->action.task = (uint32_t)task;
    }
    return rc;
}

static int read_of_job(struct at *at, struct err *err)
{
    int rc = want(at, 1, 1, "cancel|hold|release JOB", err);

    return rc < 0 ? rc : scn_find_job(at->r, at->line, word(at, 1), &at->action.job, err);
}

static int read_checkpoint(struct at *at, struct err *err)
{
    const char *mark = option(at, "mark");
    int rc = want(at, 1, 2, "checkpoint JOB [mark=TIME]", err);

    if (rc == 0)
        rc = check_options(at, "mark", "", err);
    if (rc == 0)
        rc = scn_find_job(at->r, at->line, word(at, 1), &at->action.job, err);
    at->action.mark_us = TIME_NONE;
    if (rc == 0 && mark)
        rc = scn_duration(at->r, at->line, "mark", mark, &at->action.mark_us, err);
    return rc;
}

/* exit JOB [TASK] [code=N], lost JOB [TASK] */
static int read_end(struct at *at, struct err *err)
{
    const char *code = option(at, "code"), *second = word(at, 2);
    int64_t value = 0;
    int rc = at->action.verb == SCN_EXIT ? want(at, 1, 3, "exit JOB [TASK] [code=N]", err)
                                         : want(at, 1, 2, "lost JOB [TASK]", err);

    if (rc == 0)
        rc = check_options(at, "code", "", err);
    if (rc == 0)
        rc = scn_find_job(at->r, at->line, word(at, 1), &at->action.job, err);
    if (rc == 0)
        rc = read_task_option(at, second && !strchr(second, '=') ? second : NULL, err);
    if (rc == 0 && code)
        rc = scn_number(at->r, at->line, "code", code, SCN_EXIT_MAX, &value, err);
    at->action.exit_code = value;
    return rc;
}

/* drop KIND JOB, twice KIND JOB, delay TIME KIND JOB; [task=N] [times=N] */
static int read_filter(struct at *at, struct err *err)
{
    const uint32_t first = at->action.verb == SCN_DELAY ? 2 : 1;
    const char *times = option(at, "times");
    int64_t value = 1;
    int kind, rc = want(at, first + 1, first + 3,
                        "drop|twice|delay TIME started|exited|lost|checkpoint JOB "
                        "[task=N] [times=N]",
                        err);

    if (rc == 0)
        rc = check_options(at, "task", "times", err);
    if (rc == 0 && first == 2)
        rc = scn_duration(at->r, at->line, "delay", word(at, 1), &at->action.delay_us, err);
    if (rc < 0)
        return rc;
    kind = scn_word(at->r, at->line, word(at, first), report_words, SCN_REPORT_COUNT, err);
    if (kind < 0)
        return kind;
    at->action.report = (enum scn_report)kind;
    rc = scn_find_job(at->r, at->line, word(at, first + 1), &at->action.job, err);
    if (rc == 0)
        rc = read_task_option(at, option(at, "task"), err);
    if (rc == 0 && times)
        rc = scn_number(at->r, at->line, "times", times, UINT32_MAX, &value, err);
    at->action.times = (uint32_t)value;
    return rc;
}

/* "1g.10gb@6", or of an unknown one "odd@4+2": two slices from 4 on. */
static int read_instance(struct at *at, const char *text, struct split_instance *out,
                         struct err *err)
{
    char *profile = arena_text(&at->r->out->arena, text, strlen(text));
    char *start = strrchr(profile, '@'), *size = start != NULL ? strchr(start, '+') : NULL;

    if (size != NULL)
        *size++ = '\0';
    if (start != NULL)
        *start++ = '\0';
    *out = (struct split_instance){.profile = profile};
    if (start == NULL || scan_u32(start, &out->start) < 0 ||
        (size != NULL && scan_u32(size, &out->size) < 0))
        return scn_line_error(at->r, at->line, err, -EINVAL,
                              "wanted PROFILE@START such as 1g.10gb@6, is %s", quote_of(text).text);
    return 0;
}

static int read_instances(struct at *at, struct err *err)
{
    const uint32_t count = at->line->count - at->verb - 4;
    struct split_instance *instances =
        arena_alloc(&at->r->out->arena, count + 1, sizeof *instances);
    int rc = 0;

    at->action.verb = SCN_GPU_HAS;
    at->action.instances = instances;
    at->action.instance_count = count;
    for (uint32_t i = 0; i < count && rc == 0; i++)
        rc = read_instance(at, word(at, 4 + i), &instances[i], err);
    return rc;
}

static int read_gpu(struct at *at, struct err *err)
{
    static const char form[] = "gpu NODE NUMBER lost|healthy|has [PROFILE@START...]";
    int64_t gpu = 0;
    int health, rc = want(at, 3, 3 + MIG_SLICES_MAX, form, err);

    if (rc == 0)
        rc = scn_number(at->r, at->line, "gpu", word(at, 2), NODE_GPUS_MAX - 1, &gpu, err);
    if (rc < 0)
        return rc;
    at->action.node = arena_intern(&at->r->out->arena, word(at, 1));
    at->action.gpu = (uint32_t)gpu;
    if (strcmp(word(at, 3), "has") == 0)
        return read_instances(at, err);
    rc = want(at, 3, 3, form, err);
    if (rc < 0)
        return rc;
    health = scn_word(at->r, at->line, word(at, 3), gpu_health_words, 2, err);
    at->action.word = (uint32_t)health;
    return health < 0 ? health : 0;
}

static const uint32_t *keep_links(struct arena *arena, const struct node_spec *node)
{
    uint32_t *mbps;

    if (node->links_mbps == NULL)
        return NULL;
    mbps = arena_alloc(arena, links_pairs(node->gpus), sizeof *mbps);
    memcpy(mbps, node->links_mbps, links_pairs(node->gpus) * sizeof *mbps);
    return mbps;
}

static int read_new_node(struct at *at, struct err *err)
{
    struct node_spec *nodes;
    struct cluster cluster;
    int rc = scn_read_nodes(at->r, &at->line, 1, at->verb + 1, &cluster, err);

    if (rc < 0)
        return rc;
    nodes = arena_alloc(&at->r->out->arena, cluster.node_count, sizeof *nodes);
    for (uint32_t i = 0; i < cluster.node_count; i++) {
        const char **labels =
            arena_alloc(&at->r->out->arena, cluster.nodes[i].label_count, sizeof *labels);

        nodes[i] = cluster.nodes[i];
        nodes[i].name = arena_intern(&at->r->out->arena, nodes[i].name);
        nodes[i].model = arena_intern(&at->r->out->arena, nodes[i].model);
        for (uint32_t l = 0; l < nodes[i].label_count; l++)
            labels[l] = arena_intern(&at->r->out->arena, nodes[i].labels[l]);
        nodes[i].labels = labels;
        nodes[i].links_mbps = keep_links(&at->r->out->arena, &nodes[i]);
    }
    at->action.nodes = nodes;
    at->action.node_count = cluster.node_count;
    cluster_done(&cluster);
    return 0;
}

/* node NAME silent|heard|drained|undrained|removed, or node NAME FIELD=VALUE... */
static int read_node(struct at *at, struct err *err)
{
    static const char *const words[] = {"heard", "silent", "drained", "undrained", "removed"};
    int state;

    if (!word(at, 1))
        return want(at, 1, 1, "node NAME FIELD=VALUE..., or node NAME silent, ...", err);
    at->action.node = arena_intern(&at->r->out->arena, word(at, 1));
    if (!word(at, 2) || strchr(word(at, 2), '='))
        return read_new_node(at, err);
    state = scn_word(at->r, at->line, word(at, 2), words, 5, err);
    if (state >= 0 && word(at, 3))
        return want(at, 2, 2, "node NAME silent|heard|drained|undrained|removed", err);
    at->action.verb = state == 4 ? SCN_NODE_REMOVED : SCN_NODE_HEALTH;
    at->action.word = (uint32_t)state;
    return state < 0 ? state : 0;
}

static int read_list(struct at *at, struct err *err)
{
    int rc = want(at, 1, 1, "list NODE", err);

    if (rc == 0)
        at->action.node = arena_intern(&at->r->out->arena, word(at, 1));
    return rc;
}

static int read_config(struct at *at, struct err *err)
{
    struct rules_spec *rules = arena_alloc(&at->r->out->arena, 1, sizeof *rules);
    struct config config;
    int rc = want(at, 0, 0, "config, then lines up to 'end'", err);

    for (uint32_t i = 0; i < at->line->block_count && rc == 0; i++)
        if (!scn_is_setting(&at->line->block[i]))
            rc = scn_line_error(at->r, &at->line->block[i], err, -EINVAL,
                                "%s is not a line of a configuration",
                                quote_of(at->line->block[i].words[0]).text);
    if (rc == 0)
        rc = scn_read_config(at->r, at->line->block, at->line->block_count, &config, err);
    if (rc == 0)
        *rules = config.rules;
    at->action.rules = rules;
    return rc;
}

static const char *const verb_words[] = {"submit", "cancel", "hold", "release", "checkpoint",
                                         "exit",   "lost",   "drop", "delay",   "twice",
                                         "gpu",    "node",   "list", "config",  "restart"};
static const enum scn_verb verbs[] = {SCN_SUBMIT, SCN_CANCEL, SCN_HOLD, SCN_RELEASE, SCN_CHECKPOINT,
                                      SCN_EXIT,   SCN_LOST,   SCN_DROP, SCN_DELAY,   SCN_TWICE,
                                      SCN_GPU,    SCN_NODE,   SCN_LIST, SCN_CONFIG,  SCN_RESTART};

static int read_verb(struct at *at, struct err *err)
{
    const char *text = word(at, 0);
    int row;

    if (!text)
        return scn_line_error(at->r, at->line, err, -EINVAL, "wanted at TIME and what happens");
    row = scn_word(at->r, at->line, text, verb_words, sizeof verbs / sizeof *verbs, err);
    if (row < 0)
        return row;
    at->action.verb = verbs[row];
    switch (at->action.verb) {
    case SCN_CANCEL:
    case SCN_HOLD:
    case SCN_RELEASE:
        return read_of_job(at, err);
    case SCN_CHECKPOINT:
        return read_checkpoint(at, err);
    case SCN_EXIT:
    case SCN_LOST:
        return read_end(at, err);
    case SCN_DROP:
    case SCN_DELAY:
    case SCN_TWICE:
        return read_filter(at, err);
    case SCN_GPU:
        return read_gpu(at, err);
    case SCN_NODE:
        return read_node(at, err);
    case SCN_LIST:
        return read_list(at, err);
    case SCN_CONFIG:
        return read_config(at, err);
    case SCN_RESTART:
        return want(at, 0, 0, "restart", err);
    case SCN_SUBMIT:
    case SCN_GPU_HAS:
    case SCN_NODE_HEALTH:
    case SCN_NODE_REMOVED:
    case SCN_VERB_COUNT:
        break;
    }
    return 0;
}

static int repeat_of(const struct at *at, uint32_t *out_times, int64_t *out_every_us,
                     struct err *err)
{
    int64_t times = 1;
    int rc = 0;

    *out_every_us = 0;
    for (uint32_t w = 2; w < at->verb && rc == 0; w++) {
        if (strncmp(at->line->words[w], "times=", 6) == 0)
            rc = scn_number(at->r, at->line, "times", at->line->words[w] + 6, SCN_ACTIONS_MAX,
                            &times, err);
        else
            rc = scn_duration(at->r, at->line, "every", at->line->words[w] + 6, out_every_us, err);
    }
    *out_times = (uint32_t)times;
    return rc;
}

static int put_repeated(struct at *at, struct err *err)
{
    struct scn *out = at->r->out;
    char name[300];
    int64_t every_us;
    uint32_t times;
    int rc = repeat_of(at, &times, &every_us, err);

    for (uint32_t i = 0; i < times && rc == 0; i++) {
        if (at->action.verb == SCN_SUBMIT) {
            snprintf(name, sizeof name, "%s-%u", word(at, 1), i);
            rc = scn_find_job(at->r, at->line, at->verb > 2 ? name : word(at, 1), &at->action.job,
                              err);
        }
        if (out->action_count == SCN_ACTIONS_MAX)
            return scn_line_error(at->r, at->line, err, -ERANGE, "more than %u things happen",
                                  SCN_ACTIONS_MAX);
        if (at->action.at_us > DURATION_US_MAX)
            return scn_line_error(at->r, at->line, err, -ERANGE, "it happens too late");
        vec_push(out->actions, out->action_count, out->action_cap, at->action);
        at->action.at_us += every_us;
    }
    return rc;
}

int scn_read_action(struct scn_reader *r, const struct scn_line *line, struct err *err)
{
    struct at at = {.r = r,
                    .line = line,
                    .verb = scn_line_verb(line),
                    .action = {.line = line->number, .job = SCN_JOB_NONE, .task = SCN_TASK_ALL}};
    int rc;

    if (line->count < 3)
        return scn_line_error(r, line, err, -EINVAL, "wanted at TIME and what happens");
    rc = scn_duration(r, line, "at", line->words[1], &at.action.at_us, err);
    if (rc == 0)
        rc = read_verb(&at, err);
    return rc < 0 ? rc : put_repeated(&at, err);
}
