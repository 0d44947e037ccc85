/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h - simulated machines as text: a preset, or a file (docs/gpu.md has the format). */
#pragma once
#include "gpu/sim/machine.h"

/* what: a preset ("h100x8"), any MODELxCOUNT, or else the path of a file. 0 and *out, which is
 * all filled in, or -EINVAL, -ENOENT, ... with "FILE:LINE: ..." in err. */
int describe(const char *what, struct sim_machine *out, struct err *err);

/* The text of a preset by its number, or NULL; *out_name is its name. */
const char *describe_preset(uint32_t number, const char **out_name);
