/* SPDX-License-Identifier: Apache-2.0 */
/* qos.h - quality of service: one word on a job becomes the values that a driver must set for each
 * of its tasks on a GPU that it shares. Each may be stated by the job instead.
 *
 * How strictly a value holds differs. It is enforced by the driver of the GPU, advisory (the
 * program is asked), or needs a shim between the program and the driver. One table says so, see
 * qos.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/modes.h"

struct need;
struct shape;

enum qos_class { QOS_NONE, QOS_LATENCY, QOS_THROUGHPUT, QOS_BESTEFFORT, QOS_CLASSES };

enum qos_knob {
    QOS_SLICE,           /* of the GPU's turns: 0 default, 1 short, 2 medium, 3 long */
    QOS_MPS_PERCENT,     /* of the GPU's threads at most, 1..100 */
    QOS_CLIENT_PRIORITY, /* among the clients of an MPS server: 0 normal, 1 below normal */
    QOS_STREAM_PRIORITY, /* -5..0, the most urgent first; what the GPU does not have is clamped */
    QOS_PREEMPTION,      /* when it must leave the GPU for a while: 0 after its kernels (drain), 1
                          * within one (mid-kernel) */
    QOS_KNOBS,
};

enum qos_strength { QOS_ENFORCED, QOS_ADVISORY, QOS_NEEDS_SHIM };

#define QOS_UNSET INT32_MIN /* it does not apply in this mode, or nobody said */

struct qos {
    enum qos_class class;
    uint32_t stated;           /* bit k: the job states knob k, */
    int32_t values[QOS_KNOBS]; /* as this; 0 where it does not */
};

struct qos_fact {
    const char *name; /* "slice", "mps-percent", ... */
    uint32_t modes;   /* MODE_BITs in which it applies */
    int32_t least, most;
    enum qos_strength strength;
    int32_t of_class[QOS_CLASSES]; /* QOS_UNSET: nothing; the percentage: times the part of the
                                    * compute, in halves */
    const char *how;               /* it is set, and why that is as strict as it is */
};

extern const struct qos_fact qos_facts[QOS_KNOBS];

/* "latency", "throughput", "besteffort"; "" of none. "enforced", "advisory", "needs-shim". */
const char *qos_class_text(enum qos_class class);
const char *qos_strength_text(enum qos_strength strength);

static inline bool qos_says(const struct qos *qos)
{
    return qos->class != QOS_NONE || qos->stated != 0;
}

/* What a driver must set for a task of this shape where it needs that of a GPU. */
void qos_values(const struct qos *qos, const struct shape *shape, const struct need *need,
                int32_t out[QOS_KNOBS]);
