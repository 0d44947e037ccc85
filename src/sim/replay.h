/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - recorded events taken again, by a core of the recorded configuration. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct decisions;
struct err;

struct replay_result {
    uint64_t events, steps;
    uint64_t digest;
};

/* decided: called after each step, or NULL. 0, or a negative errno with err set. */
int replay_file(const char *path, bool check_all,
                void (*decided)(void *arg, const struct decisions *decisions, int64_t now_us),
                void *arg, struct replay_result *out, struct err *err);
