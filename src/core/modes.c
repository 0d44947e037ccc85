/* SPDX-License-Identifier: Apache-2.0 */
#include "core/modes.h"

#include "base/check.h"

const char *gpu_mode_text(enum gpu_mode mode)
{
    static const char *const texts[GPU_MODES] = {
        [GPU_EXCLUSIVE] = "exclusive", [GPU_TIMESLICE] = "timeslice", [GPU_MPS] = "mps"};

    check(mode < GPU_MODES);
    return texts[mode];
}
