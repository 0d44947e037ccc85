/* SPDX-License-Identifier: Apache-2.0 */
/* explain_out.h - an explanation (core/explain.h) for people, and as JSON. */
#pragma once
#include "core/explain.h"
#include "core/forward.h"

struct core;
struct decision;
struct json_out;
struct text;

/* What jobs are called, by id: a name that is valid until the next one is asked for. */
struct explain_names {
    const char *(*job)(void *arg, uint64_t job_id);
    void *arg;
};

/* core: the one that was explained, unchanged since. forward: a run of it, or NULL. Sentences, a
 * line each, with a newline at each end. */
void explain_text(const struct core *core, const struct explanation *e,
                  const struct forward *forward, const struct explain_names *names,
                  struct text *out);

/* The same as one object. */
void explain_json(const struct core *core, const struct explanation *e,
                  const struct forward *forward, const struct explain_names *names,
                  struct json_out *json);

/* A job that the core does not know: when it comes, or what became of it. */
struct explain_absent {
    const char *job; /* its name */
    int64_t now_us;
    enum {
        EXPLAIN_COMES,   /* it is submitted later, */
        EXPLAIN_REFUSED, /* or was refused when it was submitted, */
        EXPLAIN_OVER,    /* or has ended */
    } what;
    int64_t at_us;      /* when; TIME_NONE = it is not known when it comes */
    const char *end;    /* OVER: "finished", "failed", "cancelled", "limit" or "rejected" */
    const char *reason; /* OVER: why it was rejected, REFUSED: why; or NULL */
};

void explain_absent_text(const struct explain_absent *a, struct text *out);
void explain_absent_json(const struct explain_absent *a, struct json_out *json);

/* "4 GPUs", "512 MiB of memory"; not named: "4", "512 MiB". */
void explain_add_resource(struct text *out, enum resource r, int64_t amount, bool named);

/* " (needs 9 GPUs, no node it may use has more than 8)": what no node has; nothing where that is
 * not known. name: of never->name, or NULL. */
void explain_add_never(struct text *out, const struct never *never, const char *name);
void explain_write_never(struct json_out *json, const struct never *never, const char *name);

/* Why a job is rejected, with what it asks and the most that there is. */
void explain_add_reject(struct text *out, const struct decision *decision);

/* Words that both use. */
const char *explain_obstacle_text(enum obstacle_kind kind);
const char *explain_shortage_text(enum shortage what);
const char *explain_resource_text(enum resource resource);
const char *explain_remedy_text(enum remedy_type type);
const char *explain_out_text(uint32_t out_bit);
