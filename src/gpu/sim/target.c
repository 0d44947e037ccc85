/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - which simulated devices a program may use. */
#include "gpu/sim/target.h"

#include <string.h>

#include "base/scan.h"
#include "gpu/sim/instance.h"

static struct target whole(uint32_t gpu)
{
    return (struct target){.gpu = gpu, .gi_id = NVML_NO_ID, .ci_id = NVML_NO_ID};
}

/* A GPU in MIG mode stands for its first instance. */
static bool settle(const struct sim_machine *machine, struct target *target)
{
    const struct sim_gpu *gpu = &machine->gpus[target->gpu];

    if (!gpu->mig_mode || target->gi_id != NVML_NO_ID)
        return true;
    return instance_at_mig_index(gpu, 0, &target->gi_id, &target->ci_id);
}

static bool find_uuid(const struct sim_machine *machine, const char *word, struct target *out)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        const struct sim_gpu *gpu = &machine->gpus[i];
        uint32_t gi_id, ci_id;

        if (strncmp(gpu->uuid, word, strlen(word)) == 0) {
            *out = whole(i);
            found++;
        }
        for (uint32_t k = 0; instance_at_mig_index(gpu, k, &gi_id, &ci_id); k++)
            if (strcmp(instance_uuid(gpu, gi_id, ci_id).text, word) == 0) {
                *out = (struct target){i, gi_id, ci_id};
                found++;
            }
    }
    return found == 1;
}

static bool find(const struct sim_machine *machine, const char *word, struct target *out)
{
    uint32_t index;

    if (strncmp(word, "GPU-", 4) == 0 || strncmp(word, "MIG-", 4) == 0)
        return find_uuid(machine, word, out) && settle(machine, out);
    if (scan_u32(word, &index) < 0 || index >= machine->gpu_count)
        return false;
    *out = whole(machine->order[index]);
    return settle(machine, out);
}

static uint32_t list_all(const struct sim_machine *machine, struct target *out, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < machine->gpu_count && count < most; i++) {
        out[count] = whole(machine->order[i]);
        count += settle(machine, &out[count]);
    }
    return count;
}

uint32_t target_list(const struct sim_machine *machine, const char *list, struct target *out,
                     uint32_t most)
{
    uint32_t count = 0;

    if (list == NULL)
        return list_all(machine, out, most);
    while (*list != '\0' && count < most) {
        const size_t length = strcspn(list, ",");
        char word[64];

        if (length >= sizeof word)
            break;
        memcpy(word, list, length);
        word[length] = '\0';
        if (!find(machine, word, &out[count]))
            break;
        count++;
        list += length + (list[length] == ',');
    }
    return count;
}
