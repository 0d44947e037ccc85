/* SPDX-License-Identifier: Apache-2.0 */
/* explain_words.c - what things of an explanation are called, for people and in JSON. */
#include "base/check.h"
#include "core/view.h"
#include "wire/explain_out.h"

const char *explain_obstacle_text(enum obstacle_kind kind)
{
    static const char *const texts[OBSTACLE_COUNT] = {
        [OBSTACLE_MODEL] = "of another model",
        [OBSTACLE_LABEL] = "without a label",
        [OBSTACLE_SMALL] = "too small",
        [OBSTACLE_UNKNOWN] = "whose GPU memory is not known",
        [OBSTACLE_OUT] = "without new work",
        [OBSTACLE_MODES] = "in other modes",
        [OBSTACLE_PROFILE] = "without such a MIG profile",
        [OBSTACLE_LOST] = "with lost GPUs",
        [OBSTACLE_BUSY] = "busy",
    };

    check(kind < OBSTACLE_COUNT);
    return texts[kind];
}

const char *explain_shortage_text(enum shortage what)
{
    static const char *const texts[SHORT_COUNT] = {
        [SHORT_GPUS] = "gpus",         [SHORT_SHARED] = "gpus_to_share",
        [SHORT_GPU_MGPU] = "gpu_mgpu", [SHORT_GPU_BYTES] = "gpu_memory_bytes",
        [SHORT_CPU_MCPU] = "cpu_mcpu", [SHORT_MEMORY_BYTES] = "memory_bytes",
        [SHORT_MIG] = "mig_starts",
    };

    check(what < SHORT_COUNT);
    return texts[what];
}

const char *explain_resource_text(enum resource resource)
{
    static const char *const texts[RES_COUNT] = {
        [RES_GPU_MGPU] = "gpu_mgpu",
        [RES_GPU_BYTES] = "gpu_memory_bytes",
        [RES_CPU_MCPU] = "cpu_mcpu",
        [RES_MEMORY_BYTES] = "memory_bytes",
    };

    check(resource < RES_COUNT);
    return texts[resource];
}

const char *explain_remedy_text(enum remedy_type type)
{
    switch (type) {
    case REMEDY_NONE:
        return "none";
    case REMEDY_RELEASE:
        return "release it";
    case REMEDY_LESS:
        return "ask for less";
    case REMEDY_TASKS:
        return "ask for fewer tasks";
    case REMEDY_MODELS:
        return "allow any GPU model";
    case REMEDY_LABEL:
        return "do without label ";
    case REMEDY_WITHIN:
        return "allow its tasks anywhere";
    case REMEDY_GROUPS:
        return "allow the tasks of a group anywhere";
    case REMEDY_SLOWDOWN:
        return "accept a larger slowdown";
    case REMEDY_LIMIT:
        return "raise a limit";
    case REMEDY_CLASS:
        return "submit it in class ";
    case REMEDY_NODE:
        return "give work again to drained node ";
    case REMEDY_JOB_ENDS:
        return "job ends";
    }
    check_failed("a known kind of change", __FILE__, __LINE__);
}

const char *explain_out_text(uint32_t out_bit)
{
    switch (out_bit) {
    case NODE_OUT_DRAINED:
        return "drained";
    case NODE_OUT_SILENT:
        return "silent";
    case NODE_OUT_LOST:
        return "lost";
    case NODE_OUT_UNLISTED:
        return "unlisted";
    case NODE_OUT_FLAPPING:
        return "flapping";
    case NODE_OUT_STUCK:
        return "stuck with tasks that should be gone";
    default:
        return "without new work";
    }
}
