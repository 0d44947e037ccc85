/* SPDX-License-Identifier: Apache-2.0 */
/* scn_check.c - names that nothing in the file gives: a word that is written wrong
 * would do nothing, and what is claimed would hold all the same. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/names.h"
#include "wire/quote.h"
#include "wire/scn_doc.h"

/* ---- names that a log could not say ---- */

/* In an expected log it would begin a comment. */
static bool is_comment(const char *name)
{
    for (size_t i = 0; name[i] != '\0'; i++)
        if (name[i] == '#' && (i == 0 || name[i - 1] == ' ' || name[i - 1] == '\t'))
            return true;
    return false;
}

static int check_name(const struct scn *scn, const char *what, const char *name, uint32_t line,
                      struct err *err)
{
    if (!is_comment(name))
        return 0;
    return scn_error(scn->file, line, err, -EINVAL,
                     "%s %s: a word of a name must not begin with '#', for in an 'expect' block "
                     "that is a comment",
                     what, quote_of(name).text);
}

static int check_readable(const struct scn_reader *r, struct err *err)
{
    const struct scn *scn = r->out;
    int rc = 0;

    for (uint32_t i = 0; i < scn->job_count && rc == 0; i++)
        rc = check_name(scn, "job", scn->jobs[i].name, scn->jobs[i].line, err);
    for (uint32_t i = 0; i < scn->setting_count && rc == 0; i++)
        if (scn->settings[i].name != NULL)
            rc = check_name(scn, scn->settings[i].word, scn->settings[i].name,
                            scn->settings[i].line, err);
    for (uint32_t i = 0; i < scn->action_count && rc == 0; i++)
        if (scn->actions[i].verb == SCN_NODE)
            rc = check_name(scn, "node", scn->actions[i].node, scn->actions[i].line, err);
    return rc;
}

/* ---- nodes ---- */

/* All that are there from the start or join at any time. */
static void list_nodes(const struct scn *scn, struct names *out)
{
    for (uint32_t i = 0; i < scn->cluster.node_count; i++)
        names_intern(out, scn->cluster.nodes[i].name);
    for (uint32_t a = 0; a < scn->action_count; a++)
        for (uint32_t i = 0; i < scn->actions[a].node_count; i++)
            names_intern(out, scn->actions[a].nodes[i].name);
}

static bool is_about_node(enum scn_verb verb)
{
    return verb == SCN_GPU || verb == SCN_GPU_HAS || verb == SCN_NODE_HEALTH ||
           verb == SCN_NODE_REMOVED || verb == SCN_LIST;
}

static int check_nodes(const struct scn_reader *r, struct err *err)
{
    const struct scn *scn = r->out;
    struct names nodes;
    int rc = 0;

    names_init(&nodes);
    list_nodes(scn, &nodes);
    for (uint32_t i = 0; i < scn->action_count && rc == 0; i++) {
        const struct scn_action *a = &scn->actions[i];

        if (is_about_node(a->verb) && names_find(&nodes, a->node) == NAMES_NONE)
            rc = scn_error(scn->file, a->line, err, -ENOENT,
                           "no node %s is in this file; `node NAME ...` says what one has",
                           quote_of(a->node).text);
    }
    names_done(&nodes);
    return rc;
}

/* ---- what is claimed, and what jobs really take ---- */

static const char *node_of_takes(const struct scn_reader *r, const char *takes)
{
    struct scn_place place;

    return scn_parse_place(&r->out->arena, takes, &place, NULL) < 0 ? "" : place.node;
}

static int check_takes(const struct scn_reader *r, const struct names *nodes, const char *takes,
                       uint32_t line, struct err *err)
{
    const char *node;

    if (takes == NULL || takes[0] == '\0')
        return 0;
    node = node_of_takes(r, takes);
    return names_find(nodes, node) != NAMES_NONE
               ? 0
               : scn_error(r->out->file, line, err, -ENOENT, "takes: no node %s is in this file",
                           quote_of(node).text);
}

static int check_all_takes(const struct scn_reader *r, const struct names *nodes, struct err *err)
{
    const struct scn *scn = r->out;
    const char *last = "";
    int rc = 0;

    for (uint32_t i = 0; i < scn->job_count && rc == 0; i++) {
        const struct scn_job *job = &scn->jobs[i];

        if (job->behaviour.takes != NULL && strcmp(job->behaviour.takes, last) != 0)
            rc = check_takes(r, nodes, last = job->behaviour.takes, job->line, err);
        for (uint32_t t = 0; t < job->task_count && rc == 0; t++)
            rc = check_takes(r, nodes, job->tasks[t].behaviour.takes, job->tasks[t].line, err);
    }
    return rc;
}

static void list_queues(const struct rules_spec *rules, struct names *out)
{
    for (uint32_t i = 0; i < rules->queue_count; i++)
        names_intern(out, rules->queues[i].name);
}

/* Queues of any configuration or job of the file; users of its jobs. */
static void list_subjects(const struct scn *scn, enum scn_subject subject, struct names *out)
{
    if (subject == OF_QUEUE)
        list_queues(&scn->config.rules, out);
    for (uint32_t i = 0; subject == OF_QUEUE && i < scn->action_count; i++)
        if (scn->actions[i].verb == SCN_CONFIG)
            list_queues(scn->actions[i].rules, out);
    for (uint32_t i = 0; i < scn->job_count; i++)
        names_intern(out, subject == OF_QUEUE ? scn->jobs[i].spec.queue : scn->jobs[i].spec.user);
}

static int check_claims(const struct scn_reader *r, struct err *err)
{
    static const char *const kinds[OF_SUBJECT_COUNT] = {"", "node", "queue", "user"};
    const struct scn *scn = r->out;
    struct names known[OF_SUBJECT_COUNT];
    int rc = 0;

    for (int s = OF_ALL; s < OF_SUBJECT_COUNT; s++)
        names_init(&known[s]);
    list_nodes(scn, &known[OF_NODE]);
    list_subjects(scn, OF_QUEUE, &known[OF_QUEUE]);
    list_subjects(scn, OF_USER, &known[OF_USER]);
    for (uint32_t i = 0; i < scn->assert_count && rc == 0; i++) {
        const struct scn_assert *a = &scn->asserts[i];

        if (a->claim == CLAIM_USED && a->subject != OF_ALL &&
            names_find(&known[a->subject], a->name) == NAMES_NONE)
            rc = scn_error(scn->file, a->line, err, -ENOENT, "used: no %s %s is in this file",
                           kinds[a->subject], quote_of(a->name).text);
    }
    rc = rc < 0 ? rc : check_all_takes(r, &known[OF_NODE], err);
    for (int s = OF_ALL; s < OF_SUBJECT_COUNT; s++)
        names_done(&known[s]);
    return rc;
}

/* ---- tasks and queues of jobs ---- */

static uint32_t tasks_of(const struct scn_job *job)
{
    uint32_t tasks = 0;

    for (uint32_t g = 0; job->spec.layout_count > 0 && g < job->spec.layouts[0].group_count; g++)
        tasks += job->spec.layouts[0].groups[g].tasks;
    return tasks;
}

static int check_task(const struct scn *scn, const struct scn_job *job, uint32_t task,
                      uint32_t line, struct err *err)
{
    const uint32_t tasks = tasks_of(job);

    if (task < tasks)
        return 0;
    return scn_error(scn->file, line, err, -ENOENT,
                     "job %s has no task %u: it has %u, numbered from 0", quote_of(job->name).text,
                     task, tasks);
}

static int check_tasks(const struct scn_reader *r, struct err *err)
{
    const struct scn *scn = r->out;
    int rc = 0;

    for (uint32_t i = 0; i < scn->job_count && rc == 0; i++)
        for (uint32_t t = 0; t < scn->jobs[i].task_count && rc == 0; t++)
            rc = check_task(scn, &scn->jobs[i], scn->jobs[i].tasks[t].task,
                            scn->jobs[i].tasks[t].line, err);
    for (uint32_t i = 0; i < scn->action_count && rc == 0; i++) {
        const struct scn_action *a = &scn->actions[i];

        if (a->job != SCN_JOB_NONE && a->task != SCN_TASK_ALL)
            rc = check_task(scn, &scn->jobs[a->job], a->task, a->line, err);
    }
    return rc;
}

/* Where there are no queues, jobs may name any. */
static bool rules_take(const struct rules_spec *rules, const char *queue)
{
    for (uint32_t i = 0; i < rules->queue_count; i++)
        if (strcmp(rules->queues[i].name, queue) == 0)
            return true;
    return rules->queue_count == 0;
}

static bool is_queue(const struct scn *scn, const char *queue)
{
    bool is = rules_take(&scn->config.rules, queue);

    for (uint32_t i = 0; i < scn->action_count; i++)
        is = is || (scn->actions[i].verb == SCN_CONFIG && rules_take(scn->actions[i].rules, queue));
    return is;
}

/* One that a configuration of another time knows is for the core to refuse. */
static int check_queues(const struct scn_reader *r, struct err *err)
{
    const struct scn *scn = r->out;
    const char *last = "";

    for (uint32_t i = 0; i < scn->job_count; i++) {
        const char *queue = scn->jobs[i].spec.queue;

        if (queue[0] == '\0' || strcmp(queue, last) == 0)
            continue;
        if (!is_queue(scn, queue))
            return scn_error(scn->file, scn->jobs[i].line, err, -ENOENT,
                             "queue: no queue %s is configured in this file", quote_of(queue).text);
        last = queue;
    }
    return 0;
}

/* ---- classes ---- */

/* Those that are there where none are configured are the core's own. */
static bool rules_have(const struct rules_spec *rules, const char *class)
{
    static const char *const own[] = {"high", "medium", "low"};

    for (uint32_t i = 0; i < rules->class_count; i++)
        if (strcmp(rules->classes[i].name, class) == 0)
            return true;
    for (size_t i = 0; rules->class_count == 0 && i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i], class) == 0)
            return true;
    return false;
}

static bool is_class(const struct scn *scn, const char *class)
{
    if (rules_have(&scn->config.rules, class))
        return true;
    for (uint32_t i = 0; i < scn->action_count; i++)
        if (scn->actions[i].verb == SCN_CONFIG && rules_have(scn->actions[i].rules, class))
            return true;
    return false;
}

static int check_classes(const struct scn_reader *r, struct err *err)
{
    const struct scn *scn = r->out;
    const char *last = "";

    for (uint32_t i = 0; i < scn->job_count; i++) {
        const char *class = scn->jobs[i].spec.class;

        if (class[0] == '\0' || strcmp(class, last) == 0)
            continue;
        if (!is_class(scn, class))
            return scn_error(scn->file, scn->jobs[i].line, err, -ENOENT,
                             "class: no class %s is configured in this file", quote_of(class).text);
        last = class;
    }
    return 0;
}

int scn_check_names(const struct scn_reader *r, struct err *err)
{
    int rc = check_readable(r, err);

    rc = rc < 0 ? rc : check_nodes(r, err);
    rc = rc < 0 ? rc : check_claims(r, err);
    rc = rc < 0 ? rc : check_tasks(r, err);
    rc = rc < 0 ? rc : check_queues(r, err);
    return rc < 0 ? rc : check_classes(r, err);
}
