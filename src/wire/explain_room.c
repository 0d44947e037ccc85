/* SPDX-License-Identifier: Apache-2.0 */
/* explain_room.c - what is in the way on the nodes, and in domains of a level. */
#include "base/text.h"
#include "core/view.h"
#include "wire/explain_impl.h"

static void add_amounts(const struct explain_writer *w, const struct obstacle *o, const char *have)
{
    const enum shortage what = o->kind == OBSTACLE_LOST ? SHORT_GPUS : (enum shortage)o->what;

    text_add(w->out, " (needs ");
    explain_add_shortage(w->out, what, o->asked, true);
    text_addf(w->out, have[0] != '\0' ? ", %s " : ",%s ", have);
    if (o->most > 0)
        explain_add_shortage(w->out, what, o->most, false);
    else
        text_add(w->out, "none");
    text_add(w->out, o->kind == OBSTACLE_BUSY ? " free)" : ")");
}

static void add_unknown(const struct explain_writer *w, const struct obstacle *o)
{
    text_add(w->out, " (needs ");
    explain_add_shortage(w->out, SHORT_GPU_BYTES, o->asked, true);
    text_add(w->out, ")");
}

static void add_obstacle(const struct explain_writer *w, const struct obstacle *o)
{
    text_addf(w->out, "%u ", o->nodes);
    if (o->kind == OBSTACLE_LABEL)
        text_addf(w->out, "without label %s", core_name(w->core, o->what));
    else if (o->kind == OBSTACLE_OUT)
        text_add(w->out, explain_out_text(o->what));
    else
        text_add(w->out, explain_obstacle_text(o->kind));
    if (o->kind == OBSTACLE_SMALL)
        add_amounts(w, o, o->nodes > 1 ? "have at most" : "has");
    else if (o->kind == OBSTACLE_UNKNOWN)
        add_unknown(w, o);
    else if (o->kind == OBSTACLE_LOST || o->kind == OBSTACLE_BUSY)
        add_amounts(w, o, o->most == 0 ? "" : o->nodes > 1 ? "at most" : "has");
}

void explain_add_room(const struct explain_writer *w)
{
    const struct explanation *e = w->e;
    const struct obstacles *o = &e->obstacles;

    if (o->nodes == 0 && e->tasks == 0)
        return;
    text_addf(w->out, "%u node%s", o->nodes, o->nodes == 1 ? "" : "s");
    for (uint32_t i = 0; i < o->count; i++) {
        text_add(w->out, i == 0 ? ": " : ", ");
        add_obstacle(w, &o->items[i]);
    }
    if (o->fitting > 0)
        text_addf(w->out, "%s%u with room for a task", o->count > 0 ? ", " : ": ", o->fitting);
    if (e->groups > 1)
        text_addf(w->out, " (for its group %u of %u)", e->group + 1, e->groups);
    text_add(w->out, ".\n");
    if (e->tasks > 1 && e->lack.level == LEVEL_NONE)
        text_addf(w->out, "%u of its %u tasks fit now.\n", e->tasks_fit, e->tasks);
}

/* What a domain lacks, or all of them together where groups must stay together. */
void explain_add_lack(const struct explain_writer *w)
{
    const struct explanation *e = w->e;
    const struct together_lack *l = &e->lack;
    const char *level;

    if (l->level == LEVEL_NONE)
        return;
    level = core_name(w->core, l->level);
    if (l->domains == 0)
        text_addf(w->out, "No node is in a %s.\n", level);
    else if (l->groups)
        text_addf(w->out, "In groups that share a %s, %u of its %u tasks have room now.\n", level,
                  l->best, e->tasks);
    else
        text_addf(w->out, "No %s has room for all %u tasks of it now; the best of %u has for %u.\n",
                  level, e->tasks, l->domains, l->best);
}
