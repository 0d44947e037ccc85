/* SPDX-License-Identifier: Apache-2.0 */
/* explain_at.c - a run that stops at some time to say why a job waits. */
#include "sim/explain_at.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "core/core.h"
#include "core/limits.h"
#include "sim/world.h"
#include "wire/json_out.h"

#define EXPLAIN_BYTES_MAX ((size_t)1 << 20)

int explain_at_parse(const char *spec, char *room, size_t room_count, struct explain_at *out,
                     struct err *err)
{
    const char *at = strrchr(spec, '@');
    const size_t count = at != NULL ? (size_t)(at - spec) : 0;

    if (at == NULL || count == 0 || count >= room_count ||
        scan_duration_us(at + 1, &out->at_us) < 0 || out->at_us > TIME_US_MAX)
        return err_set(err, -EINVAL,
                       "--explain: must be JOB@TIME, with a time such as 90s or 5m, is '%s'", spec);
    memcpy(room, spec, count);
    room[count] = '\0';
    out->job = room;
    text_init(&out->text, EXPLAIN_BYTES_MAX);
    return 0;
}

void explain_at_done(struct explain_at *at)
{
    text_done(&at->text);
}

void explain_absence(struct explain_at *at, const struct explain_absent *absent)
{
    struct json_out json;

    at->done = true;
    if (!at->json) {
        explain_absent_text(absent, &at->text);
        return;
    }
    json_out_init(&json, &at->text);
    explain_absent_json(absent, &json);
    text_add(&at->text, "\n");
}

int explain_now(struct explain_at *at, const struct world *world, uint64_t job_id,
                const struct explain_names *names, struct err *err)
{
    const struct forward_limits limits = {.until_job = job_id};
    struct explanation e;
    struct forward forward;

    at->done = true;
    if (explain(world->core, job_id, &at->terms, &e, NULL) < 0)
        return err_set(err, -ENOENT,
                       "--explain: job '%s': is not there at this time: it was not yet submitted, "
                       "or is over",
                       at->job);
    forward_run(world->core, &limits, &forward);
    if (at->json) {
        struct json_out json;

        json_out_init(&json, &at->text);
        explain_json(world->core, &e, &forward, names, &json);
        text_add(&at->text, "\n");
    } else {
        explain_text(world->core, &e, &forward, names, &at->text);
    }
    forward_done(&forward);
    explanation_done(&e);
    return 0;
}
