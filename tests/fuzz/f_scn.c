/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "core/job.h"
#include "fuzz/fuzz.h"
#include "wire/scn.h"

static void check_scn(const struct scn *scn)
{
    for (uint32_t i = 0; i < scn->job_count; i++) {
        const struct scn_job *job = &scn->jobs[i];

        check(job->name && job->spec.id == (uint64_t)i + 1 && job->spec.layout_count == 1);
        check(job->spec.layouts[0].group_count > 0 && job->behaviour.takes);
    }
    for (uint32_t i = 0; i < scn->action_count; i++) {
        check(i == 0 || scn->actions[i - 1].at_us <= scn->actions[i].at_us);
        check(scn->actions[i].verb < SCN_VERB_COUNT);
        check(scn->actions[i].job == SCN_JOB_NONE || scn->actions[i].job < scn->job_count);
    }
    for (uint32_t i = 0; i < scn->assert_count; i++)
        check(scn->asserts[i].job == SCN_JOB_NONE || scn->asserts[i].job < scn->job_count);
}

static void read_variant(struct scn_text *text, const struct scn_variant *variant)
{
    struct scn scn;
    struct err err;

    if (scn_read(text, variant, &scn, &err) < 0)
        return;
    check_scn(&scn);
    scn_done(&scn);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct scn_text text;
    struct err err;

    if (scn_text_parse("fuzz.scn", bytes, count, &text, &err) < 0)
        return 0;
    read_variant(&text, NULL);
    for (uint32_t i = 0; i < text.variant_count; i++)
        read_variant(&text, &text.variants[i]);
    scn_text_done(&text);
    return 0;
}
