/* SPDX-License-Identifier: Apache-2.0 */
/* main_smi.c - a simulated nvidia-smi: what berth calls of it, as the real one prints it.
 *
 *     nvidia-smi -L
 *     nvidia-smi topo -m
 *     nvidia-smi compute-policy [-i GPU] --set-timeslice=N | -l | --list */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/scan.h"
#include "gpu/sim/instance.h"
#include "gpu/sim/store.h"

static const char *const timeslices[] = {"Default", "Short", "Medium", "Long"};

static int list(const struct sim_machine *machine)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        const struct sim_gpu *gpu = &machine->gpus[machine->order[i]];
        const struct model *model = model_at(gpu->model);
        uint32_t gi_id, ci_id;

        printf("GPU %u: %s (UUID: %s)\n", i, model->name, gpu->uuid);
        for (uint32_t k = 0; instance_at_mig_index(gpu, k, &gi_id, &ci_id); k++) {
            char profile[32];

            instance_name(model, &gpu->gis[gi_id], &gpu->gis[gi_id].cis[ci_id], profile,
                          sizeof profile);
            printf("  MIG %-11s Device %2u: (UUID: %s)\n", profile, k,
                   instance_uuid(gpu, gi_id, ci_id).text);
        }
    }
    return EXIT_SUCCESS;
}

/* "NV18", "PIX", "SYS": how two GPUs are linked. */
static void link_text(const struct sim_machine *machine, uint32_t a, uint32_t b, char *out,
                      size_t size)
{
    static const char *const names[] = {"PSB", "PIX", "PXB", "PHB", "NODE", "SYS"};
    const uint32_t switched = machine->switch_links[a] < machine->switch_links[b]
                                  ? machine->switch_links[a]
                                  : machine->switch_links[b];
    const uint32_t links = machine->nvlinks[a][b] > 0 ? machine->nvlinks[a][b] : switched;

    if (a == b)
        snprintf(out, size, " X ");
    else if (links > 0 && !machine->gpus[a].mig_mode && !machine->gpus[b].mig_mode)
        snprintf(out, size, "NV%u", links);
    else
        snprintf(out, size, "%s", names[machine->level[a][b] / 10 % 6]);
}

static int topo(const struct sim_machine *machine)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        printf("\tGPU%u", i);
    puts("\tCPU Affinity\tNUMA Affinity");
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        const uint32_t a = machine->order[i];

        printf("GPU%u", i);
        for (uint32_t k = 0; k < machine->gpu_count; k++) {
            char text[16];

            link_text(machine, a, machine->order[k], text, sizeof text);
            printf("\t%s", text);
        }
        printf("\t%u\t%u\n", machine->gpus[a].numa_node, machine->gpus[a].numa_node);
    }
    return EXIT_SUCCESS;
}

/* The GPU that -i names, by index, UUID or bus id; NVML_NO_ID if there is none. */
static uint32_t find_gpu(const struct sim_machine *machine, const char *name)
{
    uint32_t index;

    for (uint32_t i = 0; i < machine->gpu_count; i++)
        if (strcmp(machine->gpus[i].uuid, name) == 0 || strcmp(machine->gpus[i].bus_id, name) == 0)
            return i;
    if (scan_u32(name, &index) == 0 && index < machine->gpu_count)
        return machine->order[index];
    return NVML_NO_ID;
}

static int list_timeslices(const struct sim_machine *machine, uint32_t only)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        const uint32_t gpu = machine->order[i];

        if (only != NVML_NO_ID && gpu != only)
            continue;
        printf("GPU %s\n    Compute Policies\n        Timeslice : %s\n", machine->gpus[gpu].bus_id,
               timeslices[machine->gpus[gpu].timeslice & 3]);
    }
    return EXIT_SUCCESS;
}

static int set_timeslice(struct sim_machine *machine, uint32_t only, uint32_t value)
{
    if (machine->needs_root && geteuid() != 0 && geteuid() != machine->owner) {
        puts("Insufficient Permissions");
        return 4;
    }
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        if (only != NVML_NO_ID && i != only)
            continue;
        if (machine->gpus[i].mig_mode) {
            printf("GPU %s: not supported in MIG mode\n", machine->gpus[i].bus_id);
            return 3;
        }
        machine->gpus[i].timeslice = value;
        printf("Successfully set compute policy for GPU %s\n", machine->gpus[i].bus_id);
    }
    return EXIT_SUCCESS;
}

static int compute_policy(struct sim_machine *machine, int argc, char **argv)
{
    uint32_t only = NVML_NO_ID, value = UINT32_MAX;
    bool lists = false;

    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "-i") == 0 && i + 1 < argc) {
            only = find_gpu(machine, argv[++i]);
            if (only == NVML_NO_ID) {
                puts("No devices were found");
                return 6;
            }
        } else if (strncmp(argv[i], "--set-timeslice=", 16) == 0) {
            if (scan_u32(argv[i] + 16, &value) < 0 || value > 3)
                return 2;
        } else if (strcmp(argv[i], "-l") == 0 || strcmp(argv[i], "--list") == 0) {
            lists = true;
        } else {
            return 2;
        }
    }
    if (value != UINT32_MAX)
        return set_timeslice(machine, only, value);
    return lists ? list_timeslices(machine, only) : 2;
}

static int run(struct sim_machine *machine, int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";

    if (strcmp(command, "-L") == 0)
        return list(machine);
    if (strcmp(command, "topo") == 0 && argc == 3 && strcmp(argv[2], "-m") == 0)
        return topo(machine);
    if (strcmp(command, "compute-policy") == 0)
        return compute_policy(machine, argc - 2, argv + 2);
    fputs("usage: nvidia-smi -L | topo -m | compute-policy [-i GPU] --set-timeslice=N | --list\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct store *store;
    struct err err;
    int rc;

    if (store_open(store_default_directory(), getenv("BERTH_SIM_GPUS"), &store, &err) < 0) {
        fprintf(stderr, "NVIDIA-SMI has failed: %s\n", err.text);
        return 9;
    }
    (void)store_read(store);
    rc = run(store_write(store), argc, argv);
    store_end(store, rc == EXIT_SUCCESS);
    store_close(store);
    return rc;
}
