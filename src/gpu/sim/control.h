/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - commands that change a simulated machine: loads, faults, instances, processes.
 *
 * docs/gpu.md lists them; control_help prints them. A GPU is named by its UUID or by its number in
 * the description, never by the index of NVML, which may change. */
#pragma once
#include <stdio.h>

#include "gpu/sim/machine.h"

struct words;

/* One command. 0, or a negative errno, and nothing has changed if the caller drops the copy. */
int control_words(struct sim_machine *machine, struct words *words, struct err *err);
int control_line(struct sim_machine *machine, const char *line, struct err *err);

void control_help(FILE *to);
