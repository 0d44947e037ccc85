/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - one table of options a command: it parses, and it is the help text. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;

struct option_spec {
    const char *name;  /* without "--" */
    const char *value; /* what the help calls its value; NULL for a switch */
    const char *help;
    const char **out_text; /* where the value goes; the last one given counts */
    bool *out_switch;
};

/* Reads argv[1..]. Returns how many words were left over, in argv[1..], or -EINVAL. `--` ends the
 * options; "--name value" and "--name=value" are the same. */
int options_parse(const struct option_spec *specs, size_t count, int argc, char **argv,
                  struct err *err);

void options_help(const struct option_spec *specs, size_t count);
