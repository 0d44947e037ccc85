/* SPDX-License-Identifier: Apache-2.0 */
/* qos.c - the one table of what quality of service means on a GPU.
 *
 * Sources: NVIDIA's documents of MPS (device limits, client priority, thread percentage) and of the
 * compute policy of nvidia-smi; cuda.h for stream priorities. */
#include "core/qos.h"

#include "base/check.h"
#include "core/node.h"
#include "core/shape.h"

#define SHARED (MODE_BIT(GPU_TIMESLICE) | MODE_BIT(GPU_MPS))
#define ANY    (SHARED | MODE_BIT(GPU_EXCLUSIVE))

const struct qos_fact qos_facts[QOS_KNOBS] = {
    [QOS_SLICE] = {"slice",
                   MODE_BIT(GPU_TIMESLICE),
                   0,
                   3,
                   QOS_ENFORCED,
                   {QOS_UNSET, 1, 3, 3},
                   "nvidia-smi compute-policy, of the whole GPU, as root"},
    [QOS_MPS_PERCENT] = {"mps-percent",
                         MODE_BIT(GPU_MPS),
                         1,
                         100,
                         QOS_ENFORCED,
                         {2, 4, 2, 2},
                         "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE; a cap, and no reservation"},
    [QOS_CLIENT_PRIORITY] = {"client-priority",
                             MODE_BIT(GPU_MPS),
                             0,
                             1,
                             QOS_ENFORCED,
                             {QOS_UNSET, 0, 1, 1},
                             "CUDA_MPS_CLIENT_PRIORITY; read when the client starts"},
    [QOS_STREAM_PRIORITY] = {"stream-priority",
                             ANY,
                             -5,
                             0,
                             QOS_ADVISORY,
                             {QOS_UNSET, -5, 0, 0},
                             "the program creates its streams so, or a shim does"},
    [QOS_PREEMPTION] = {"preemption",
                        SHARED,
                        0,
                        1,
                        QOS_NEEDS_SHIM,
                        {QOS_UNSET, 0, 0, 1},
                        "a shim holds back launches, or stops a kernel"},
};

const char *qos_class_text(enum qos_class class)
{
    static const char *const texts[QOS_CLASSES] = {[QOS_NONE] = "",
                                                   [QOS_LATENCY] = "latency",
                                                   [QOS_THROUGHPUT] = "throughput",
                                                   [QOS_BESTEFFORT] = "besteffort"};

    check(class < QOS_CLASSES);
    return texts[class];
}

const char *qos_strength_text(enum qos_strength strength)
{
    static const char *const texts[] = {
        [QOS_ENFORCED] = "enforced", [QOS_ADVISORY] = "advisory", [QOS_NEEDS_SHIM] = "needs-shim"};

    check(strength <= QOS_NEEDS_SHIM);
    return texts[strength];
}

/* The part of the compute that was asked for, however often it is given out; of bytes alone, what
 * they take. In percent, rounded up. */
static int32_t percent_of(const struct shape *shape, const struct need *need, int32_t halves)
{
    const uint32_t mgpu = shape->gpu_mgpu > 0 ? shape->gpu_mgpu : need->mgpu;
    const uint32_t percent = (mgpu * (uint32_t)halves + 19) / 20;

    return percent < 100 ? (int32_t)percent : 100;
}

void qos_values(const struct qos *qos, const struct shape *shape, const struct need *need,
                int32_t out[QOS_KNOBS])
{
    for (uint32_t k = 0; k < QOS_KNOBS; k++) {
        const struct qos_fact *fact = &qos_facts[k];

        if (shape->gpus == 0 || !(fact->modes & MODE_BIT(need->mode)))
            out[k] = QOS_UNSET;
        else if (qos->stated >> k & 1)
            out[k] = qos->values[k];
        else if (k == QOS_MPS_PERCENT)
            out[k] = percent_of(shape, need, fact->of_class[qos->class]);
        else
            out[k] = fact->of_class[qos->class];
    }
}
