/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - a machine with simulated GPUs. */
#include "gpu/sim/machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/scan.h"
#include "gpu/sim/instance.h"

int64_t sim_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Field 22 of /proc/PID/stat: the fields are counted from behind the name, which may hold anything
 * but ends with the last ')'. Field 3 is the state. */
uint64_t sim_start_ticks(uint32_t pid)
{
    char path[32], line[1024], *at;
    uint64_t ticks;
    size_t got;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    got = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[got] = '\0';
    at = strrchr(line, ')');
    if (at == NULL || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (int field = 2; field < 22 && at != NULL; field++)
        at = strchr(at + 1, ' ');
    if (at == NULL)
        return 0;
    at++;
    at[strcspn(at, " \n")] = '\0';
    return scan_u64(at, &ticks) == 0 ? ticks : 0;
}

void machine_prune(struct sim_machine *machine)
{
    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
        struct sim_process *process = &machine->processes[i];

        if (process->used && !process->unreal &&
            sim_start_ticks(process->pid) != process->start_ticks)
            *process = (struct sim_process){0};
    }
}

struct sim_process *machine_find_process(struct sim_machine *machine, uint32_t pid, uint32_t gpu,
                                         uint32_t gi_id, uint32_t ci_id)
{
    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
        struct sim_process *process = &machine->processes[i];

        if (process->used && process->pid == pid && process->gpu == gpu &&
            process->gi_id == gi_id && process->ci_id == ci_id)
            return process;
    }
    return NULL;
}

static struct sim_process *free_row(struct sim_machine *machine)
{
    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++)
        if (!machine->processes[i].used)
            return &machine->processes[i];
    return NULL;
}

static bool in_instance(const struct sim_process *process, uint32_t gi_id, uint32_t ci_id)
{
    return (gi_id == NVML_NO_ID || process->gi_id == gi_id) &&
           (ci_id == NVML_NO_ID || process->ci_id == ci_id);
}

bool machine_is_used(const struct sim_machine *machine, uint32_t gpu, uint32_t gi_id,
                     uint32_t ci_id)
{
    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
        const struct sim_process *process = &machine->processes[i];

        if (process->used && process->gpu == gpu && in_instance(process, gi_id, ci_id))
            return true;
    }
    return false;
}

/* Whether somebody else's process holds the GPU, for the mode in which only one may. An MPS server
 * and its clients count as one. */
static bool others_use(const struct sim_machine *machine, const struct sim_process *process)
{
    const uint32_t by_mps = SIM_MPS | SIM_SERVER;

    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
        const struct sim_process *other = &machine->processes[i];

        if (other->used && other->gpu == process->gpu && other->pid != process->pid &&
            other->gi_id == process->gi_id &&
            ((other->kinds & by_mps) == 0 || (process->kinds & by_mps) == 0))
            return true;
    }
    return false;
}

static int check_place(const struct sim_machine *machine, const struct sim_process *process,
                       struct err *err)
{
    const struct sim_gpu *gpu = &machine->gpus[process->gpu];
    const struct sim_gi *gi;

    if (gpu->lost || gpu->reset_required)
        return err_set(err, -ENODEV, "GPU %u is lost", process->gpu);
    if (!gpu->mig_mode && process->gi_id != NVML_NO_ID)
        return err_set(err, -EINVAL, "GPU %u is not in MIG mode", process->gpu);
    if (!gpu->mig_mode)
        return 0;
    if (process->gi_id >= SIM_GI_IDS || process->ci_id >= SIM_CI_IDS)
        return err_set(err, -EINVAL, "GPU %u is in MIG mode: an instance is needed", process->gpu);
    gi = &gpu->gis[process->gi_id];
    if (!gi->used || !gi->cis[process->ci_id].used)
        return err_set(err, -EINVAL, "GPU %u has no instance %u.%u", process->gpu, process->gi_id,
                       process->ci_id);
    return 0;
}

static int check_mode(const struct sim_machine *machine, const struct sim_process *process,
                      struct err *err)
{
    const uint32_t mode = machine->gpus[process->gpu].compute_mode;

    if (process->kinds == SIM_GRAPHICS || process->unreal)
        return 0;
    if (mode == NVML_COMPUTE_PROHIBITED)
        return err_set(err, -EPERM, "GPU %u: compute mode is prohibited", process->gpu);
    if (mode == NVML_COMPUTE_EXCLUSIVE && others_use(machine, process))
        return err_set(err, -EPERM, "GPU %u: compute mode is exclusive, and it is used",
                       process->gpu);
    return 0;
}

static int check_memory(const struct sim_machine *machine, const struct sim_process *process,
                        const struct sim_process *old, struct err *err)
{
    const uint64_t total = machine_total_bytes(machine, process->gpu, process->gi_id);
    uint64_t used = machine_used_bytes(machine, process->gpu, process->gi_id) +
                    machine_reserved_bytes(machine, process->gpu, process->gi_id);

    if (process->memory_bytes == NVML_NO_VALUE || process->unreal)
        return 0;
    if (old != NULL && old->memory_bytes != NVML_NO_VALUE)
        used -= old->memory_bytes;
    if (used <= total && process->memory_bytes <= total - used)
        return 0;
    return err_set(err, -ENOMEM, "GPU %u: out of memory: %llu MiB wanted, %llu MiB free",
                   process->gpu, (unsigned long long)(process->memory_bytes >> 20),
                   (unsigned long long)(used < total ? (total - used) >> 20 : 0));
}

int machine_put_process(struct sim_machine *machine, const struct sim_process *process,
                        struct err *err)
{
    struct sim_process *row, entry = *process;
    int rc;

    if (!entry.unreal) {
        entry.start_ticks = sim_start_ticks(entry.pid);
        if (entry.start_ticks == 0)
            return err_set(err, -ESRCH, "no process %u", entry.pid);
    }
    machine_prune(machine);
    row = machine_find_process(machine, entry.pid, entry.gpu, entry.gi_id, entry.ci_id);
    rc = check_place(machine, &entry, err);
    if (rc == 0)
        rc = check_mode(machine, &entry, err);
    if (rc == 0)
        rc = check_memory(machine, &entry, row, err);
    if (rc < 0)
        return rc;
    if (row == NULL)
        row = free_row(machine);
    if (row == NULL)
        return err_set(err, -ENOSPC, "more than %d processes", SIM_PROCESSES_MAX);
    machine_settle_energy(machine, entry.gpu);
    *row = entry;
    row->used = 1;
    return 0;
}

void machine_remove_process(struct sim_machine *machine, uint32_t pid)
{
    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++)
        if (machine->processes[i].used && machine->processes[i].pid == pid) {
            machine_settle_energy(machine, machine->processes[i].gpu);
            machine->processes[i] = (struct sim_process){0};
        }
}

uint64_t machine_total_bytes(const struct sim_machine *machine, uint32_t gpu, uint32_t gi_id)
{
    const struct model *model = machine_model(machine, gpu);
    uint64_t mib = model->memory_mib;

    if (gi_id < SIM_GI_IDS)
        mib = model->mig->rows[machine->gpus[gpu].gis[gi_id].profile].memory_mib;
    return mib << 20;
}

uint64_t machine_used_bytes(const struct sim_machine *machine, uint32_t gpu, uint32_t gi_id)
{
    uint64_t sum = gi_id == NVML_NO_ID ? machine->gpus[gpu].stray_bytes : 0;

    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
        const struct sim_process *process = &machine->processes[i];

        if (process->used && process->gpu == gpu && in_instance(process, gi_id, NVML_NO_ID) &&
            process->memory_bytes != NVML_NO_VALUE)
            sum += process->memory_bytes;
    }
    return sum;
}

uint64_t machine_reserved_bytes(const struct sim_machine *machine, uint32_t gpu, uint32_t gi_id)
{
    return gi_id == NVML_NO_ID ? (uint64_t)machine_model(machine, gpu)->reserved_mib << 20 : 0;
}

uint32_t machine_busy_percent(const struct sim_machine *machine, uint32_t gpu)
{
    uint32_t sum = machine->gpus[gpu].busy_percent;

    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++)
        if (machine->processes[i].used && machine->processes[i].gpu == gpu)
            sum += machine->processes[i].busy_percent;
    return sum < 100 ? sum : 100;
}

uint32_t machine_power_mw(const struct sim_machine *machine, uint32_t gpu)
{
    const struct model *model = machine_model(machine, gpu);
    const uint32_t range_w = model->power_limit_w - model->power_idle_w;

    return model->power_idle_w * 1000 + range_w * 10 * machine_busy_percent(machine, gpu);
}

uint64_t machine_energy_mj(const struct sim_machine *machine, uint32_t gpu)
{
    const struct sim_gpu *it = &machine->gpus[gpu];
    const int64_t passed_us = sim_now_us() - it->energy_since_us;
    const uint64_t passed_ms = passed_us > 0 ? (uint64_t)passed_us / 1000 : 0;

    return it->energy_base_mj + passed_ms * machine_power_mw(machine, gpu) / 1000;
}

void machine_settle_energy(struct sim_machine *machine, uint32_t gpu)
{
    machine->gpus[gpu].energy_base_mj = machine_energy_mj(machine, gpu);
    machine->gpus[gpu].energy_since_us = sim_now_us();
}

void machine_add_event(struct sim_machine *machine, uint32_t gpu, uint64_t type, uint64_t data,
                       uint32_t gi_id, uint32_t ci_id)
{
    const uint64_t sequence = ++machine->event_count;

    machine->events[sequence % SIM_EVENTS_MAX] = (struct sim_event){.sequence = sequence,
                                                                    .gpu = gpu,
                                                                    .gi_id = gi_id,
                                                                    .ci_id = ci_id,
                                                                    .type = type,
                                                                    .data = data};
}

static void forget_counts(struct sim_gpu *gpu)
{
    memset(gpu->ecc[NVML_ECC_CORRECTED][NVML_ECC_VOLATILE], 0, sizeof gpu->ecc[0][0]);
    memset(gpu->ecc[NVML_ECC_UNCORRECTED][NVML_ECC_VOLATILE], 0, sizeof gpu->ecc[0][0]);
    gpu->energy_base_mj = 0;
    gpu->energy_since_us = sim_now_us();
    gpu->pcie_replays = 0;
}

static void remove_all_of(struct sim_machine *machine, uint32_t gpu)
{
    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++)
        if (machine->processes[i].used && machine->processes[i].gpu == gpu)
            machine->processes[i] = (struct sim_process){0};
    memset(machine->gpus[gpu].gis, 0, sizeof machine->gpus[gpu].gis);
}

void machine_reset(struct sim_machine *machine, uint32_t gpu)
{
    struct sim_gpu *it = &machine->gpus[gpu];

    remove_all_of(machine, gpu);
    forget_counts(it);
    it->lost = it->reset_required = 0;
    it->mig_mode = it->mig_pending;
    it->rows_uncorrected += it->remap_pending;
    it->remap_pending = 0;
    it->stray_bytes = 0;
}

void machine_reload(struct sim_machine *machine)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct sim_gpu *gpu = &machine->gpus[i];

        remove_all_of(machine, i);
        forget_counts(gpu);
        gpu->compute_mode = NVML_COMPUTE_DEFAULT;
        gpu->persistence = 0;
        gpu->timeslice = 0;
        gpu->stray_bytes = 0;
        if (machine_model(machine, i)->architecture >= NVML_ARCH_HOPPER)
            gpu->mig_pending = 0;
        gpu->mig_mode = gpu->mig_pending;
    }
    machine->loads++;
}

uint32_t machine_index(const struct sim_machine *machine, uint32_t gpu)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        if (machine->order[i] == gpu)
            return i;
    return NVML_NO_ID;
}
