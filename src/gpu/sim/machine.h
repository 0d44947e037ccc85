/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - a machine with simulated GPUs, as all programs on it see it.
 *
 * One flat struct without pointers: it lies in a file that every program maps (store.h), so its
 * layout is its format. GPUs stand in the order in which they were described; what NVML calls their
 * index is order[]. All changes go through the functions here and in instance.h, which keep what
 * belongs together: memory is that of the processes that live. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "gpu/nvml_abi.h"
#include "gpu/sim/model.h"

struct err;

enum {
    SIM_GPUS_MAX = 16,
    SIM_PROCESSES_MAX = 512,
    SIM_EVENTS_MAX = 256, /* the newest; older ones are forgotten */
    SIM_FAULTS_MAX = 16,
    SIM_GI_IDS = 16,
    SIM_CI_IDS = 8,
};

struct sim_ci {
    uint32_t used, profile, start, size; /* profile: index in the table of CI profiles */
};

struct sim_gi {
    uint32_t used, profile, start, size; /* profile: index in the model's table */
    struct sim_ci cis[SIM_CI_IDS];       /* by id */
};

struct sim_gpu {
    char uuid[48], serial[16], bus_id[NVML_BUS_ID_SIZE];
    uint32_t model; /* of model_at */
    uint32_t minor, numa_node;
    uint32_t bus; /* number on the bus, as in bus_id */
    uint32_t lost, reset_required;
    uint32_t compute_mode, persistence, timeslice;
    uint32_t mig_mode, mig_pending;
    uint32_t busy_percent, memory_percent; /* over what processes do */
    uint32_t temperature_c;
    uint64_t power_limit_mw;
    uint64_t energy_base_mj;
    int64_t energy_since_us;
    uint64_t ecc[2][2][NVML_MEMORY_LOCATIONS]; /* by type, counter, location */
    uint32_t rows_corrected, rows_uncorrected, remap_pending, remap_failed;
    uint32_t pcie_replays;
    uint64_t stray_bytes;          /* memory in use that belongs to no process */
    struct sim_gi gis[SIM_GI_IDS]; /* by id */
};

/* SIM_MPS is a client of an MPS server; SIM_SERVER, beside SIM_COMPUTE, is the server itself. */
enum { SIM_COMPUTE = 1, SIM_GRAPHICS = 2, SIM_MPS = 4, SIM_SERVER = 8 };

struct sim_process {
    uint32_t used, pid;
    uint64_t start_ticks;       /* of /proc/PID/stat: the next owner of the pid is somebody else */
    uint32_t gpu, gi_id, ci_id; /* NVML_NO_ID outside an instance */
    uint32_t kinds;
    uint64_t memory_bytes; /* NVML_NO_VALUE: the driver does not say */
    uint32_t busy_percent, memory_percent;
    uint32_t unreal; /* not a process of this machine: stays until it is removed */
};

struct sim_event {
    uint64_t sequence; /* from 1 */
    uint32_t gpu, gi_id, ci_id;
    uint64_t type, data;
};

/* A call that is to fail. */
struct sim_fault {
    char function[80]; /* a name, or "*" */
    nvml_return rc;
    uint32_t gpu;   /* NVML_NO_ID: of any */
    uint32_t times; /* left; 0 is none, UINT32_MAX never ends */
    uint32_t skip;  /* calls that still work before */
};

struct sim_machine {
    uint32_t gpu_count;
    uint32_t order[SIM_GPUS_MAX]; /* by index: which GPU */
    uint32_t loads;               /* how often the driver was loaded: handles live for one */
    uint32_t cuda_version;        /* 13000 */
    char driver_version[32];
    uint32_t record_size;     /* of a process: 24 or 32 */
    uint32_t needs_root;      /* changes are refused to other users */
    uint32_t owner;           /* user id of who made the machine, who may do all */
    uint32_t strange_samples; /* old and wild samples among those of processes */
    uint32_t nvlinks[SIM_GPUS_MAX][SIM_GPUS_MAX]; /* direct links */
    uint32_t switch_links[SIM_GPUS_MAX];          /* links that end at a switch */
    uint32_t level[SIM_GPUS_MAX][SIM_GPUS_MAX];   /* NVML_LEVEL_... */
    struct sim_gpu gpus[SIM_GPUS_MAX];
    struct sim_process processes[SIM_PROCESSES_MAX];
    struct sim_event events[SIM_EVENTS_MAX]; /* sequence n is at n % SIM_EVENTS_MAX */
    uint64_t event_count;
    struct sim_fault faults[SIM_FAULTS_MAX];
};

/* Microseconds of the wall clock, as the driver's timestamps are. */
int64_t sim_now_us(void);

/* Start time of a process in clock ticks since the machine booted; 0 if there is none, or if it has
 * ended and only waits to be collected. */
uint64_t sim_start_ticks(uint32_t pid);

/* Forgets processes that do not live any more, with their memory. */
void machine_prune(struct sim_machine *machine);

/* The row of a pid on a GPU and instance, or NULL. */
struct sim_process *machine_find_process(struct sim_machine *machine, uint32_t pid, uint32_t gpu,
                                         uint32_t gi_id, uint32_t ci_id);

/* Adds a process, or changes the one with its pid on that GPU and instance. -ENOMEM if its memory
 * does not fit (of a real process, that the driver tells); -ESRCH if it does not live; -EPERM if
 * the compute mode forbids it; -EINVAL for an instance that is not there, or none in MIG mode;
 * -ENODEV on a lost GPU; -ENOSPC when the table is full. */
int machine_put_process(struct sim_machine *machine, const struct sim_process *process,
                        struct err *err);
void machine_remove_process(struct sim_machine *machine, uint32_t pid);

/* Memory of a GPU, or of an instance of it where gi_id is not NVML_NO_ID, in bytes. */
uint64_t machine_total_bytes(const struct sim_machine *machine, uint32_t gpu, uint32_t gi_id);
uint64_t machine_used_bytes(const struct sim_machine *machine, uint32_t gpu, uint32_t gi_id);
uint64_t machine_reserved_bytes(const struct sim_machine *machine, uint32_t gpu, uint32_t gi_id);

/* Whether a process is on the GPU, or in the instance: gi_id, ci_id may be NVML_NO_ID for any. */
bool machine_is_used(const struct sim_machine *machine, uint32_t gpu, uint32_t gi_id,
                     uint32_t ci_id);

/* The share of its time that a GPU works, percent. */
uint32_t machine_busy_percent(const struct sim_machine *machine, uint32_t gpu);
uint32_t machine_power_mw(const struct sim_machine *machine, uint32_t gpu);
uint64_t machine_energy_mj(const struct sim_machine *machine, uint32_t gpu);

/* Begins energy anew from now, with what was used up to now; before the load changes. */
void machine_settle_energy(struct sim_machine *machine, uint32_t gpu);

void machine_add_event(struct sim_machine *machine, uint32_t gpu, uint64_t type, uint64_t data,
                       uint32_t gi_id, uint32_t ci_id);

/* Unloads the driver and loads it again: processes, instances and counts since the last time are
 * gone. MIG mode stays on Ampere and goes on later ones. */
void machine_reload(struct sim_machine *machine);

/* A GPU is reset: what was pending comes true, faults that a reset clears are gone. */
void machine_reset(struct sim_machine *machine, uint32_t gpu);

/* The index under which NVML knows a GPU. */
uint32_t machine_index(const struct sim_machine *machine, uint32_t gpu);

static inline const struct model *machine_model(const struct sim_machine *machine, uint32_t gpu)
{
    return model_at(machine->gpus[gpu].model);
}
