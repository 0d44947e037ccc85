/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/group_doc.h"

#include <errno.h>

#include "wire/arena.h"

#define AT(member) offsetof(struct group_text, member)

const struct field group_fields[GROUP_FIELDS_COUNT] = {
    {"tasks", FIELD_U32, NUMBER_WHOLE, false, AT(tasks), 1, JOB_TASKS_MAX},
    {"gpus", FIELD_U32, NUMBER_GPUS, false, AT(gpus), 0, NODE_GPUS_MAX},
    {"gpu-share", FIELD_U32, NUMBER_SHARE, false, AT(gpu_mgpu), 1, GPU_MGPU},
    {"gpu-memory", FIELD_I64, NUMBER_BYTES, false, AT(gpu_memory_bytes), 1, MEMORY_BYTES_MAX},
    {"mig", FIELD_TEXT, NUMBER_WHOLE, false, AT(mig), 0, 0},
    {"cpus", FIELD_I64, NUMBER_MILLI, false, AT(cpu_mcpu), 0, CPU_MCPU_MAX},
    {"memory", FIELD_I64, NUMBER_BYTES, false, AT(memory_bytes), 0, MEMORY_BYTES_MAX},
    {"models", FIELD_TEXTS, NUMBER_WHOLE, false, AT(models), 0, SELECTOR_TERMS_MAX},
    {"labels", FIELD_LABELS, NUMBER_WHOLE, false, AT(labels), 0, SELECTOR_TERMS_MAX},
};

struct group_text group_text_default(void)
{
    return (struct group_text){.tasks = 1, .gpus = GPUS_NOT_STATED, .mig = ""};
}

int group_text_finish(const struct doc *doc, const struct doc_node *node,
                      const struct group_text *text, struct group_spec *out, struct err *err)
{
    bool part = text->gpu_mgpu != 0 || text->gpu_memory_bytes != 0 || text->mig[0] != '\0';
    uint32_t gpus = text->gpus == GPUS_NOT_STATED ? part : text->gpus;

    if (gpus == 0 && part)
        return doc_error(doc, node, err, -EINVAL,
                         "gpu-share, gpu-memory and mig need gpus of 1 or more, gpus is 0");
    *out = (struct group_spec){.tasks = text->tasks,
                               .cpu_mcpu = text->cpu_mcpu,
                               .memory_bytes = text->memory_bytes,
                               .gpus = gpus,
                               .gpu_mgpu = text->gpu_mgpu,
                               .gpu_memory_bytes = text->gpu_memory_bytes,
                               .mig = text->mig,
                               .models = text->models.items,
                               .model_count = text->models.count,
                               .labels = text->labels.items,
                               .label_count = text->labels.count};
    return 0;
}

int groups_read(const struct doc *doc, const struct doc_node *list, uint32_t max,
                const struct group_spec **out, uint32_t *out_count, struct err *err)
{
    struct group_spec *groups;
    uint32_t count = 0;
    int rc = doc_want_list(doc, list, max, err);

    if (rc < 0)
        return rc;
    if (list->child_count == 0)
        return doc_error(doc, list, err, -EINVAL, "must not be empty");
    groups = arena_alloc(doc->arena, list->child_count, sizeof *groups);
    for (const struct doc_node *n = doc_first(doc, list); n; n = doc_next(doc, n)) {
        struct group_text text = group_text_default();

        rc = fields_read(doc, n, group_fields, GROUP_FIELDS_COUNT, &text, err);
        if (rc == 0)
            rc = group_text_finish(doc, n, &text, &groups[count++], err);
        if (rc < 0)
            return rc;
    }
    *out = groups;
    *out_count = count;
    return 0;
}
