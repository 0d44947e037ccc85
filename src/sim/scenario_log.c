/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_log.c - decisions and ends of jobs in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "sim/scenario_impl.h"
#include "wire/decision_json.h"
#include "wire/explain_out.h"
#include "wire/modes_doc.h"

enum { LINE_BYTES_MAX = 1 << 16 };

void sc_add_time(struct text *text, int64_t at_us)
{
    char digits[32];
    size_t len;

    text_addf(text, "%" PRId64, at_us / 1000000);
    if (at_us % 1000000 != 0) {
        len = (size_t)snprintf(digits, sizeof digits, ".%06" PRId64, at_us % 1000000);
        while (digits[len - 1] == '0')
            len--;
        text_add_bytes(text, digits, len);
    }
    text_add(text, "s");
}

void sc_add_gpus(struct text *text, uint64_t mask)
{
    for (uint32_t gpu = 0, any = 0; gpu < NODE_GPUS_MAX; gpu++) {
        uint32_t last = gpu;

        if (!(mask & mask_bit(gpu)))
            continue;
        while (last + 1 < NODE_GPUS_MAX && (mask & mask_bit(last + 1)))
            last++;
        text_addf(text, last > gpu ? "%s%u-%u" : "%s%u", any++ ? "," : "", gpu, last);
        gpu = last;
    }
}

static void add_line(struct sc *sc, const struct text *line)
{
    struct text time;

    text_init(&time, 64);
    sc_add_time(&time, sc->now_us);
    text_addf(&sc->out->log, "%-7s %s\n", text_str(&time), text_str(line));
    sc->out->log_lines++;
    text_done(&time);
}

void sc_log(struct sc *sc, const char *fmt, ...)
{
    char bytes[1024];
    struct text line;
    va_list args;

    va_start(args, fmt);
    vsnprintf(bytes, sizeof bytes, fmt, args);
    va_end(args);
    text_init(&line, sizeof bytes);
    text_add(&line, bytes);
    add_line(sc, &line);
    text_done(&line);
}

/* The core speaks of jobs by their number: "job 2". Of other jobs than the line's own, which it
 * names itself, say the name. */
static void add_why(const struct sc *sc, uint32_t own, const char *why, struct text *out)
{
    while (*why != '\0') {
        const bool of_job = strncmp(why, "job ", 4) == 0;
        const size_t digits = of_job ? strspn(why + 4, "0123456789") : 0;
        const unsigned long long id = digits > 0 ? strtoull(why + 4, NULL, 10) : 0;

        if (id >= 1 && id <= sc->scn->job_count && id != (uint64_t)own + 1) {
            text_addf(out, "job %s", sc->scn->jobs[id - 1].name);
            why += 4 + digits;
        } else {
            text_add_bytes(out, why++, 1);
        }
    }
}

void sc_log_refused(struct sc *sc, const char *what, uint32_t job, const char *why)
{
    const char *name = job != SCN_JOB_NONE ? sc->scn->jobs[job].name : "";
    const size_t from = sc->out->log.used;
    struct text text;

    text_init(&text, LINE_BYTES_MAX);
    add_why(sc, job, why, &text);
    sc_log(sc, "refused %s%s%s: %s", what, name[0] != '\0' ? " " : "", name, text_str(&text));
    text_add(&sc->out->refused, text_str(&sc->out->log) + from);
    text_done(&text);
}

const char *sc_keep_refused(struct sc *sc, uint32_t job, const char *why)
{
    const char *kept;
    struct text own, text;

    text_init(&own, LINE_BYTES_MAX);
    text_init(&text, LINE_BYTES_MAX);
    text_addf(&own, "job %" PRIu64 ": ", (uint64_t)job + 1);
    if (strncmp(why, text_str(&own), strlen(text_str(&own))) == 0)
        why += strlen(text_str(&own));
    add_why(sc, job, why, &text);
    kept = arena_intern(&sc->arena, text_str(&text));
    text_done(&text);
    text_done(&own);
    return kept;
}

void sc_broken(struct sc *sc, const char *fmt, ...)
{
    char bytes[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(bytes, sizeof bytes, fmt, args);
    va_end(args);
    text_addf(&sc->out->broken, "%s\n", bytes);
}

static const char *name_of(const struct sc *sc, uint64_t job_id)
{
    return job_id >= 1 && job_id <= sc->scn->job_count ? sc->scn->jobs[job_id - 1].name : "?";
}

/* How it shares its GPUs, where that is more than in turns: "n1:0(mps mps-percent 25)". */
static void add_sharing(struct text *line, const struct task_place *place)
{
    bool says = place->mode == GPU_MPS || place->mode == GPU_MIG;
    char value[KNOB_TEXT_BYTES];

    for (uint32_t k = 0; k < QOS_KNOBS; k++)
        says = says || place->qos[k] != QOS_UNSET;
    if (!says)
        return;
    text_addf(line, "(%s", gpu_mode_text(place->mode));
    if (place->mig_profile != NULL)
        text_addf(line, " %s at %u%s", place->mig_profile, place->mig_start,
                  place->mig_new ? "" : " again");
    for (uint32_t k = 0; k < QOS_KNOBS; k++)
        if (place->qos[k] != QOS_UNSET) {
            knob_text(k, place->qos[k], value);
            text_addf(line, " %s %s", qos_facts[k].name, value);
        }
    text_add(line, ")");
}

/* Places in the order of tasks; equal ones that follow each other are "n1:0*3". Tasks that are not
 * 0, 1, 2, ..., or join others that run, say their number: "3@n1:0". */
static void add_places(struct sc *sc, struct text *line, const struct decision *d)
{
    const struct task_place *places = sc->world.decisions.places + d->place_first;
    bool plain = (d->type == DECISION_START && !sc->jobs[d->job_id - 1].active) ||
                 d->type == DECISION_RESERVE;

    for (uint32_t i = 0; i < d->place_count; i++)
        plain = plain && places[i].task == i;
    for (uint32_t i = 0, same; i < d->place_count; i += same) {
        for (same = 1; plain && i + same < d->place_count; same++)
            if (places[i + same].node != places[i].node ||
                places[i + same].gpu_mask != places[i].gpu_mask ||
                places[i + same].mig_start != places[i].mig_start ||
                memcmp(places[i + same].qos, places[i].qos, sizeof places[i].qos) != 0)
                break;
        text_add(line, " ");
        if (!plain)
            text_addf(line, "%u@", places[i].task);
        text_add(line, places[i].node_name);
        if (places[i].gpu_mask)
            text_add(line, ":");
        sc_add_gpus(line, places[i].gpu_mask);
        if (d->type == DECISION_START)
            add_sharing(line, &places[i]);
        if (same > 1)
            text_addf(line, "*%u", same);
    }
}

/* 2.5 of 2500000. */
static void add_ppm(struct text *line, uint32_t ppm)
{
    uint32_t part = ppm % 1000000, digits = 6;

    text_addf(line, "%u", ppm / 1000000);
    if (part == 0)
        return;
    for (; part % 10 == 0; part /= 10)
        digits--;
    text_addf(line, ".%0*u", (int)digits, part);
}

/* Where the best place would be as good, nothing is said. */
static void add_slowdown(struct text *line, const struct slowdown *slowdown)
{
    if (slowdown->all_reduce_ppm <= 1000000 && slowdown->all_to_all_ppm <= 1000000)
        return;
    text_add(line, " slowdown ");
    add_ppm(line, slowdown->all_reduce_ppm);
    text_add(line, ", all-to-all ");
    add_ppm(line, slowdown->all_to_all_ppm);
}

static void add_stop(struct sc *sc, struct text *line, const struct decision *d)
{
    text_addf(line, "stop %s %s", name_of(sc, d->job_id), stop_mode_text(d->mode));
    if (d->mode == STOP_SHRINK)
        add_places(sc, line, d);
    if (d->for_job != JOB_NONE)
        text_addf(line, " for %s", name_of(sc, d->for_job));
    if (d->grace_us > 0) {
        text_add(line, " grace ");
        sc_add_time(line, d->grace_us);
    }
    text_addf(line, ": %s", reason_text(d->reason));
}

static void add_reserve(struct sc *sc, struct text *line, const struct decision *d)
{
    text_addf(line, "reserve %s", name_of(sc, d->job_id));
    if (d->at_us == TIME_NONE) {
        text_add(line, " no more");
        return;
    }
    text_add(line, " at ");
    sc_add_time(line, d->at_us);
    add_places(sc, line, d);
    if (d->for_job != JOB_NONE)
        text_addf(line, " later because of %s", name_of(sc, d->for_job));
}

/* "repartition n1:0 without 1g.10gb at 0, 1g.10gb at 1 for big" */
static void add_repartition(struct sc *sc, struct text *line, const struct decision *d)
{
    const struct task_place *places = sc->world.decisions.places + d->place_first;

    text_addf(line, "repartition %s:", places[0].node_name);
    sc_add_gpus(line, places[0].gpu_mask);
    for (uint32_t i = 0; i < d->place_count; i++)
        text_addf(line, "%s %s at %u", i == 0 ? " without" : ",", places[i].mig_profile,
                  places[i].mig_start);
    text_addf(line, " for %s", name_of(sc, d->for_job));
}

/* "reject a: asks for more than the limit of a queue, ... (q: 9 GPUs, at most 8)" */
static void add_reject(struct sc *sc, struct text *line, const struct decision *d)
{
    text_addf(line, "reject %s: ", name_of(sc, d->job_id));
    explain_add_reject(line, d);
}

void sc_log_decision(struct sc *sc, const struct decision *d)
{
    const char *name = name_of(sc, d->job_id);
    struct text line;

    text_init(&line, LINE_BYTES_MAX);
    switch (d->type) {
    case DECISION_START:
        text_addf(&line, "start %s", name);
        add_places(sc, &line, d);
        add_slowdown(&line, &d->slowdown);
        break;
    case DECISION_STOP:
        add_stop(sc, &line, d);
        break;
    case DECISION_REJECT:
        add_reject(sc, &line, d);
        break;
    case DECISION_NOTE:
        text_addf(&line, "wait %s: %s", name, reason_text(d->reason));
        if (d->queue)
            text_addf(&line, " (%s)", d->queue);
        break;
    case DECISION_RESERVE:
        add_reserve(sc, &line, d);
        break;
    case DECISION_REPARTITION:
        add_repartition(sc, &line, d);
        break;
    case DECISION_ATTEND:
        text_addf(&line, "attend %s", name);
        add_places(sc, &line, d);
        break;
    }
    add_line(sc, &line);
    text_done(&line);
}
