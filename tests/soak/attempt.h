/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.h - plays a scenario with the oracle looking on, in a process of its own, so that a core
 * that stops itself, or never comes to an end, is one more thing that is found. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "soak/oracle.h"

enum attempt_end {
    ATTEMPT_FINE,
    ATTEMPT_BROKEN,  /* what says how */
    ATTEMPT_NOT_YET, /* the core does not take its configuration, or not yet */
    ATTEMPT_UNREAD,  /* it is no scenario */
};

struct attempt {
    enum attempt_end end;
    struct soak_counts counts;
    char what[SOAK_TEXT_MAX]; /* "CHECK: ..." */
};

/* Of a core: nothing may take longer; then it has broken the rule that everything ends. */
#define ATTEMPT_SECONDS_MAX 10u

void attempt_play(const char *name, const char *bytes, size_t count, uint64_t seed,
                  struct attempt *out);

/* Both are broken in the same way: by the same check. */
bool attempt_alike(const struct attempt *a, const struct attempt *b);
