/* SPDX-License-Identifier: Apache-2.0 */
/* modes.h - how a GPU is given to those who use it.
 *
 * A GPU is in one mode at a time, which is that of the tasks on it; an empty one is free, and may
 * get any mode that its node allows.
 *
 *   exclusive  the whole device for one task
 *   timeslice  tasks have parts of it and take turns; their memory is on it all the time
 *
 * Where parts are not allowed, who asks for a part gets a whole device. */
#pragma once

enum gpu_mode { GPU_EXCLUSIVE, GPU_TIMESLICE, GPU_MODES };

#define MODE_BIT(mode) (1u << (mode))
#define MODES_ALL      (MODE_BIT(GPU_MODES) - 1)
