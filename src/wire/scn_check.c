/* SPDX-License-Identifier: Apache-2.0 */
/* scn_check.c - names that nothing in the file gives: a word that is written wrong would do
 * nothing, and what is claimed would hold all the same. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/names.h"
#include "wire/quote.h"
#include "wire/scn_doc.h"

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
    return verb == SCN_GPU || verb == SCN_NODE_HEALTH || verb == SCN_NODE_REMOVED ||
           verb == SCN_LIST;
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
    const int rc = check_nodes(r, err);

    return rc < 0 ? rc : check_classes(r, err);
}
