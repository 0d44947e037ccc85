/* SPDX-License-Identifier: Apache-2.0 */
/* standing.h - where a job stands among the queues (queues.h). */
#pragma once
#include <stdint.h>

#define QUEUE_ROOT 0u
#define QUEUE_NONE UINT32_MAX

struct standing {
    uint32_t leaf;     /* row of its queue, or of its user in it */
    uint32_t of_class; /* row of its user in its class, if that is limited; QUEUE_NONE */
};
