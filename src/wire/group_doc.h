/* SPDX-License-Identifier: Apache-2.0 */
/* group_doc.h - what the tasks of a group ask for, as people write it.
 *
 *   tasks: 4            # identical tasks, 1 unless stated
 *   gpus: 1             # of each task, on one node; 1 where a share or memory is asked, else 0
 *   gpu-share: 1/3      # part of each GPU's compute: 0.5, or 1/3 (333 thousandths)
 *   gpu-memory: 20G     # of each GPU
 *   mig: 1g.10gb        # an instance of a split GPU; any: the smallest with so much gpu-memory
 *   cpus: 2.5           # of each task
 *   memory: 64G         # of each task
 *   models: [A100, H100]
 *   labels: {rack: r1} */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/event.h"
#include "wire/fields.h"

struct doc;
struct doc_node;
struct err;

#define GROUP_FIELDS_COUNT 9
#define GPUS_NOT_STATED    UINT32_MAX

struct group_text {
    uint32_t tasks;
    uint32_t gpus;
    uint32_t gpu_mgpu;
    int64_t gpu_memory_bytes, cpu_mcpu, memory_bytes;
    const char *mig;
    struct field_texts models, labels;
};

/* Fields of struct group_text, for tables that have more than these: offsets are from its start. */
extern const struct field group_fields[GROUP_FIELDS_COUNT];

struct group_text group_text_default(void);

/* The group as the core takes it; an error if its parts contradict each other. */
int group_text_finish(const struct doc *doc, const struct doc_node *node,
                      const struct group_text *text, struct group_spec *out, struct err *err);

/* A list of maps of group_fields as an array in the arena of the doc, 1..max of them. */
int groups_read(const struct doc *doc, const struct doc_node *list, uint32_t max,
                const struct group_spec **out, uint32_t *out_count, struct err *err);
