/* SPDX-License-Identifier: Apache-2.0 */
/* explain_impl.h - between the files that write an explanation for people.
 *
 * Each call adds whole sentences, a line each, or nothing if there is nothing to say; the short
 * ones add words of a sentence, as said there. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "wire/explain_out.h"

struct explain_writer {
    const struct core *core;
    const struct explanation *e;
    const struct explain_names *names;
    struct text *out;
};

/* ---- words of a sentence ---- */

/* "0.500s", "5m 30s", "2d 3h": the two largest units, rounded down. */
void explain_add_time(struct text *out, int64_t us);

/* Thousandths, without zeros at the end. */
void explain_add_milli(struct text *out, int64_t milli);

/* "4 GPUs"; not named: the amount alone. */
void explain_add_shortage(struct text *out, enum shortage what, int64_t amount, bool named);

/* "job a" */
void explain_add_job(const struct explain_writer *w, uint64_t job_id);

/* "job a and job b" of a list that may be longer than what is named. */
void explain_add_jobs(const struct explain_writer *w, const uint64_t *ids, uint32_t named,
                      uint32_t count);

/* " on n1, n2": where the job is, and what it holds there; nothing of one that is nowhere. */
void explain_add_places(const struct explain_writer *w, uint64_t job_id);

/* "user u in queue q" */
void explain_add_whose(const struct explain_writer *w, uint32_t queue);

/* ---- sentences ---- */

void explain_add_reason(const struct explain_writer *w); /* whom it waits for is said with it */
void explain_add_ahead(const struct explain_writer *w);
void explain_add_bound(const struct explain_writer *w);
void explain_add_room(const struct explain_writer *w);
void explain_add_lack(const struct explain_writer *w); /* of a domain, or of all of them together */
void explain_add_services(const struct explain_writer *w);
void explain_add_young(const struct explain_writer *w);
void explain_add_yields(const struct explain_writer *w);
void explain_add_position(const struct explain_writer *w);
void explain_add_reservation(const struct explain_writer *w);
void explain_add_start(const struct explain_writer *w, const struct forward *forward);
void explain_add_remedy(const struct explain_writer *w);
