/* SPDX-License-Identifier: Apache-2.0 */
/* scn_assert.c - the lines that claim something about the run. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"
#include "core/job.h"
#include "wire/number.h"
#include "wire/quote.h"
#include "wire/scn_doc.h"

/* The words of a claim, taken one after the other. */
struct claim {
    struct scn_reader *r;
    const struct scn_line *line;
    uint32_t at; /* next word */
    struct scn_assert out;
};

static const char *peek(const struct claim *c)
{
    return c->at < c->line->count ? c->line->words[c->at] : "";
}

/* How each is written, by enum scn_claim. */
static const char *const forms[CLAIM_COUNT] = {
    [CLAIM_EVICTIONS] = "evictions [JOB] = NUMBER",
    [CLAIM_STARTS] = "starts [JOB] = NUMBER",
    [CLAIM_STARTED] = "started JOB [by TIME]",
    [CLAIM_NEVER_RUNNING] = "never-running JOB [before TIME]",
    [CLAIM_ENDED] = "ended JOB [by TIME] [finished|failed|cancelled|limit|rejected]",
    [CLAIM_RUNNING] = "running JOB at TIME",
    [CLAIM_PENDING] = "pending JOB at TIME [reason \"TEXT\"]",
    [CLAIM_USED] = "used cluster|node NAME|queue NAME|user NAME at TIME = GPUS",
    [CLAIM_DIGEST_STABLE] = "digest-stable",
};

/* The same error, and how the line is written. A name that is not there is no matter of that. */
static int with_form(const struct claim *c, int rc, struct err *err)
{
    struct err detail = *err;

    return rc == -ENOENT
               ? rc
               : err_set(err, rc, "%s; write: assert %s", detail.text, forms[c->out.claim]);
}

/* The next word is this one, and is taken. */
static bool take(struct claim *c, const char *word)
{
    if (c->at >= c->line->count || strcmp(c->line->words[c->at], word) != 0)
        return false;
    c->at++;
    return true;
}

static int take_job(struct claim *c, struct err *err)
{
    int rc = scn_find_job(c->r, c->line, peek(c), &c->out.job, err);

    c->at++;
    return rc;
}

static int take_time(struct claim *c, struct err *err)
{
    int rc = scn_duration(c->r, c->line, "time", peek(c), &c->out.at_us, err);

    c->at++;
    return rc;
}

static int take_compare(struct claim *c, struct err *err)
{
    static const char *const words[CMP_COUNT] = {"=", "!=", "<", "<=", ">", ">="};
    int rc = scn_word(c->r, c->line, peek(c), words, CMP_COUNT, err);

    c->at++;
    c->out.compare = rc < 0 ? CMP_EQ : (enum scn_compare)rc;
    return rc < 0 ? rc : 0;
}

static int take_value(struct claim *c, enum number_kind kind, struct err *err)
{
    struct err detail;
    int rc = take_compare(c, err);

    if (rc < 0)
        return rc;
    rc = number_parse(peek(c), kind, 0, INT64_C(1) << 50, &c->out.value, &detail);
    c->at++;
    return rc < 0 ? scn_line_error(c->r, c->line, err, rc, "%s", detail.text) : 0;
}

/* evictions [JOB] <= N, starts [JOB] = N */
static int read_count(struct claim *c, struct err *err)
{
    int rc = 0;

    if (names_find(&c->r->job_names, peek(c)) != NAMES_NONE || !strchr("=<>!", peek(c)[0]))
        rc = take_job(c, err);
    return rc < 0 ? rc : take_value(c, NUMBER_WHOLE, err);
}

/* started JOB [by TIME], never-running JOB [before TIME] */
static int read_until(struct claim *c, const char *preposition, struct err *err)
{
    int rc = take_job(c, err);

    if (rc == 0 && take(c, preposition))
        rc = take_time(c, err);
    return rc;
}

/* ended JOB [by TIME] [finished|failed|cancelled|limit|rejected] */
static int read_ended(struct claim *c, struct err *err)
{
    static const char *const words[] = {"finished", "failed", "cancelled", "limit", "rejected"};
    int word = 0, rc = read_until(c, "by", err);

    if (rc == 0 && c->at < c->line->count) {
        word = rc = scn_word(c->r, c->line, peek(c), words, 5, err);
        c->out.text = words[word < 0 ? 0 : word];
        c->at++;
    }
    return rc < 0 ? rc : 0;
}

/* running JOB at TIME, pending JOB at TIME [reason "..."] */
static int read_state(struct claim *c, struct err *err)
{
    int rc = take_job(c, err);

    if (rc == 0 && !take(c, "at"))
        return scn_line_error(c->r, c->line, err, -EINVAL, "'at TIME' is missing");
    rc = rc < 0 ? rc : take_time(c, err);
    if (rc == 0 && c->out.claim == CLAIM_PENDING && take(c, "reason")) {
        c->out.text = arena_intern(&c->r->out->arena, peek(c));
        c->at++;
    }
    return rc;
}

/* used cluster|node NAME|queue NAME|user NAME at TIME = GPUS */
static int read_used(struct claim *c, struct err *err)
{
    static const char *const words[OF_SUBJECT_COUNT] = {"cluster", "node", "queue", "user"};
    int subject = scn_word(c->r, c->line, peek(c), words, OF_SUBJECT_COUNT, err), rc;

    if (subject < 0)
        return subject;
    c->at++;
    c->out.subject = (enum scn_subject)subject;
    if (c->out.subject != OF_ALL) {
        c->out.name = arena_intern(&c->r->out->arena, peek(c));
        c->at++;
    }
    if (!take(c, "at"))
        return scn_line_error(c->r, c->line, err, -EINVAL, "'at TIME' is missing");
    rc = take_time(c, err);
    return rc < 0 ? rc : take_value(c, NUMBER_MILLI, err);
}

static int read_claim(struct claim *c, struct err *err)
{
    switch (c->out.claim) {
    case CLAIM_EVICTIONS:
    case CLAIM_STARTS:
        return read_count(c, err);
    case CLAIM_STARTED:
        return read_until(c, "by", err);
    case CLAIM_NEVER_RUNNING:
        return read_until(c, "before", err);
    case CLAIM_ENDED:
        return read_ended(c, err);
    case CLAIM_RUNNING:
    case CLAIM_PENDING:
        return read_state(c, err);
    case CLAIM_USED:
        return read_used(c, err);
    case CLAIM_DIGEST_STABLE:
    case CLAIM_COUNT:
        break;
    }
    return 0;
}

static const char *join(struct scn_reader *r, const struct scn_line *line)
{
    struct text text;
    const char *joined;

    text_init(&text, 1000);
    for (uint32_t w = 0; w < line->count; w++)
        text_addf(&text, strchr(line->words[w], ' ') ? "%s\"%s\"" : "%s%s", w > 0 ? " " : "",
                  line->words[w]);
    joined = arena_intern(&r->out->arena, text_str(&text));
    text_done(&text);
    return joined;
}

int scn_read_assert(struct scn_reader *r, const struct scn_line *line, struct err *err)
{
    static const char *const words[CLAIM_COUNT] = {[CLAIM_EVICTIONS] = "evictions",
                                                   [CLAIM_STARTS] = "starts",
                                                   [CLAIM_STARTED] = "started",
                                                   [CLAIM_NEVER_RUNNING] = "never-running",
                                                   [CLAIM_ENDED] = "ended",
                                                   [CLAIM_RUNNING] = "running",
                                                   [CLAIM_PENDING] = "pending",
                                                   [CLAIM_USED] = "used",
                                                   [CLAIM_DIGEST_STABLE] = "digest-stable"};
    struct claim c = {
        .r = r,
        .line = line,
        .at = 2,
        .out = {
            .line = line->number, .job = SCN_JOB_NONE, .name = "", .at_us = TIME_NONE, .text = ""}};
    int rc = scn_word(r, line, line->count > 1 ? line->words[1] : "", words, CLAIM_COUNT, err);

    if (rc < 0)
        return rc;
    c.out.claim = (enum scn_claim)rc;
    c.out.text_of_line = join(r, line);
    rc = read_claim(&c, err);
    if (c.at > line->count)
        rc = scn_line_error(r, line, err, -EINVAL, "the claim ends too early");
    else if (rc == 0 && c.at < line->count)
        rc = scn_line_error(r, line, err, -EINVAL, "nothing is known of %s here",
                            quote_of(line->words[c.at]).text);
    if (rc < 0)
        return with_form(&c, rc, err);
    vec_push(r->out->asserts, r->out->assert_count, r->out->assert_cap, c.out);
    return 0;
}
