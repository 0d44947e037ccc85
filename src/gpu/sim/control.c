/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - commands that change a simulated machine. */
#include "gpu/sim/control.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "gpu/sim/instance.h"
#include "gpu/sim/words.h"

/* The GPU that plain word number 1 names. */
static int take_gpu(const struct sim_machine *machine, const struct words *words, uint32_t *out,
                    struct err *err)
{
    if (words->plain_count < 2)
        return err_set(err, -EINVAL, "which GPU?");
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        if (strcmp(machine->gpus[i].uuid, words->plain[1]) == 0) {
            *out = i;
            return 0;
        }
    if (scan_u32(words->plain[1], out) == 0 && *out < machine->gpu_count)
        return 0;
    return err_set(err, -ENOENT, "GPU '%s': there is none", words->plain[1]);
}

static int cmd_load(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    struct sim_gpu *it = &machine->gpus[gpu];
    int rc;

    machine_settle_energy(machine, gpu);
    rc = words_u32(words, "busy", &it->busy_percent, err);
    if (rc == 0)
        rc = words_u32(words, "memory", &it->memory_percent, err);
    if (rc == 0)
        rc = words_u32(words, "celsius", &it->temperature_c, err);
    if (rc == 0)
        rc = words_bytes(words, "stray", &it->stray_bytes, err);
    return rc < 0 ? rc : words_done(words, 2, err);
}

static int cmd_xid(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    uint32_t xid = 0, gi_id = NVML_NO_ID, ci_id = NVML_NO_ID;
    int rc = words_number(words, 2, "the Xid", &xid, err);

    if (rc == 0)
        rc = words_u32(words, "gi", &gi_id, err);
    if (rc == 0)
        rc = words_u32(words, "ci", &ci_id, err);
    if (rc < 0)
        return rc;
    machine_add_event(machine, gpu, NVML_EVENT_XID, xid, gi_id, ci_id);
    return words_done(words, 3, err);
}

static int cmd_lose(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    machine_add_event(machine, gpu, NVML_EVENT_XID, 79, NVML_NO_ID, NVML_NO_ID);
    machine->gpus[gpu].lost = 1;
    return words_done(words, 2, err);
}

static int cmd_find(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    machine_reset(machine, gpu);
    return words_done(words, 2, err);
}

static int cmd_wants_reset(struct sim_machine *machine, uint32_t gpu, struct words *words,
                           struct err *err)
{
    machine->gpus[gpu].reset_required = 1;
    return words_done(words, 2, err);
}

static int cmd_ecc(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    uint32_t count = 1, location = NVML_MEMORY_LOCATION_DRAM;
    const char *kind = words->plain_count > 2 ? words->plain[2] : "";
    const int type = strcmp(kind, "uncorrected") == 0 ? NVML_ECC_UNCORRECTED : NVML_ECC_CORRECTED;
    int rc = words_u32(words, "count", &count, err);

    if (rc == 0)
        rc = words_u32(words, "location", &location, err);
    if (rc < 0)
        return rc;
    if (location >= NVML_MEMORY_LOCATIONS)
        return err_set(err, -EINVAL, "location=%u: above 7", location);
    if (type == NVML_ECC_CORRECTED && strcmp(kind, "corrected") != 0)
        return err_set(err, -EINVAL, "'%s': neither corrected nor uncorrected", kind);
    machine->gpus[gpu].ecc[type][NVML_ECC_VOLATILE][location] += count;
    machine->gpus[gpu].ecc[type][NVML_ECC_AGGREGATE][location] += count;
    if (type == NVML_ECC_UNCORRECTED)
        machine_add_event(machine, gpu, NVML_EVENT_DOUBLE_BIT, 0, NVML_NO_ID, NVML_NO_ID);
    return words_done(words, 3, err);
}

static int cmd_rows(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    struct sim_gpu *it = &machine->gpus[gpu];
    int rc = words_u32(words, "corrected", &it->rows_corrected, err);

    if (rc == 0)
        rc = words_u32(words, "uncorrected", &it->rows_uncorrected, err);
    if (rc == 0)
        rc = words_u32(words, "pending", &it->remap_pending, err);
    if (rc == 0)
        rc = words_u32(words, "failed", &it->remap_failed, err);
    return rc < 0 ? rc : words_done(words, 2, err);
}

static int cmd_forget(struct sim_machine *machine, uint32_t gpu, struct words *words,
                      struct err *err)
{
    struct sim_gpu *it = &machine->gpus[gpu];

    it->energy_base_mj = 0;
    it->energy_since_us = sim_now_us();
    it->pcie_replays = 0;
    memset(it->ecc[NVML_ECC_CORRECTED][NVML_ECC_VOLATILE], 0, sizeof it->ecc[0][0]);
    memset(it->ecc[NVML_ECC_UNCORRECTED][NVML_ECC_VOLATILE], 0, sizeof it->ecc[0][0]);
    return words_done(words, 2, err);
}

static int cmd_mode(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    struct sim_gpu *it = &machine->gpus[gpu];
    int rc = words_u32(words, "compute", &it->compute_mode, err);

    if (rc == 0)
        rc = words_u32(words, "persistence", &it->persistence, err);
    if (rc == 0)
        rc = words_u32(words, "timeslice", &it->timeslice, err);
    return rc < 0 ? rc : words_done(words, 2, err);
}

static int cmd_mig(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    struct sim_gpu *it = &machine->gpus[gpu];
    uint32_t on = 0;
    int rc = words_switch(words, 2, &on, err);

    if (rc < 0)
        return rc;
    if (machine_model(machine, gpu)->mig == NULL)
        return err_set(err, -EINVAL, "GPU %u: its model has no MIG", gpu);
    it->mig_mode = it->mig_pending = on;
    memset(it->gis, 0, sizeof it->gis);
    return words_done(words, 3, err);
}

static int cmd_instance(struct sim_machine *machine, uint32_t gpu, struct words *words,
                        struct err *err)
{
    const char *name = words->plain_count > 2 ? words->plain[2] : "";
    const struct mig_table_row *row = model_profile_by_name(machine_model(machine, gpu), name);
    uint32_t start = NVML_NO_ID, gi_id = 0, ci_id, half = 0;
    int rc = words_u32(words, "start", &start, err);

    if (rc == 0)
        rc = words_u32(words, "half", &half, err);
    if (rc < 0)
        return rc;
    if (row == NULL)
        return err_set(err, -EINVAL, "MIG profile '%s': this model has none", name);
    if (instance_create(machine, gpu, row->id, start, &gi_id) != NVML_SUCCESS)
        return err_set(err, -EINVAL, "MIG profile '%s': no room, or not in MIG mode", name);
    for (uint32_t i = 0; !half && i < NVML_CI_PROFILES; i++)
        if (model_ci_count_max(row, i) == 1 && model_ci_profile(i)->slices == row->slices)
            (void)instance_create_ci(machine, gpu, gi_id, i, NVML_NO_ID, &ci_id);
    return words_done(words, 3, err);
}

static int take_kinds(const char *text, uint32_t *out, struct err *err)
{
    if (text == NULL)
        return 0;
    *out = 0;
    if (strstr(text, "compute") != NULL)
        *out |= SIM_COMPUTE;
    if (strstr(text, "graphics") != NULL)
        *out |= SIM_GRAPHICS;
    if (strstr(text, "mps") != NULL)
        *out |= SIM_MPS;
    return *out != 0 ? 0 : err_set(err, -EINVAL, "kind='%s': not compute, graphics, mps", text);
}

static int cmd_process(struct sim_machine *machine, uint32_t gpu, struct words *words,
                       struct err *err)
{
    struct sim_process process = {
        .gpu = gpu, .gi_id = NVML_NO_ID, .ci_id = NVML_NO_ID, .kinds = SIM_COMPUTE};
    int rc = words_u32(words, "pid", &process.pid, err);

    if (rc == 0)
        rc = words_bytes(words, "memory", &process.memory_bytes, err);
    if (rc == 0)
        rc = take_kinds(words_value(words, "kind"), &process.kinds, err);
    if (rc == 0)
        rc = words_u32(words, "gi", &process.gi_id, err);
    if (process.gi_id != NVML_NO_ID)
        process.ci_id = 0;
    if (rc == 0)
        rc = words_u32(words, "ci", &process.ci_id, err);
    if (rc == 0)
        rc = words_u32(words, "busy", &process.busy_percent, err);
    if (rc == 0)
        rc = words_u32(words, "unreal", &process.unreal, err);
    if (words_value(words, "unknown") != NULL)
        process.memory_bytes = NVML_NO_VALUE;
    if (rc == 0)
        rc = words_done(words, 2, err);
    if (rc == 0 && process.pid == 0)
        return err_set(err, -EINVAL, "pid= is missing");
    return rc < 0 ? rc : machine_put_process(machine, &process, err);
}

static int cmd_end(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    uint32_t pid = 0;
    int rc = words_number(words, 1, "a process id", &pid, err);

    (void)gpu;
    if (rc == 0)
        machine_remove_process(machine, pid);
    return rc < 0 ? rc : words_done(words, 2, err);
}

static int cmd_fail(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    struct sim_fault fault = {.gpu = NVML_NO_ID, .times = UINT32_MAX};
    uint32_t code = 0;
    int rc = words_number(words, 2, "an NVML code", &code, err);

    (void)gpu;
    if (rc == 0)
        rc = words_u32(words, "times", &fault.times, err);
    if (rc == 0)
        rc = words_u32(words, "skip", &fault.skip, err);
    if (rc == 0)
        rc = words_u32(words, "gpu", &fault.gpu, err);
    if (rc < 0)
        return rc;
    if (strlen(words->plain[1]) >= sizeof fault.function)
        return err_set(err, -EINVAL, "'%s': too long", words->plain[1]);
    memcpy(fault.function, words->plain[1], strlen(words->plain[1]));
    fault.rc = (nvml_return)(code & 0xffff);
    for (uint32_t i = 0; i < SIM_FAULTS_MAX; i++)
        if (machine->faults[i].times == 0) {
            machine->faults[i] = fault;
            return words_done(words, 3, err);
        }
    return err_set(err, -ENOSPC, "more than %d faults", SIM_FAULTS_MAX);
}

static int cmd_heal(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err)
{
    (void)gpu;
    memset(machine->faults, 0, sizeof machine->faults);
    machine->strange_samples = 0;
    return words_done(words, 1, err);
}

static int cmd_strange(struct sim_machine *machine, uint32_t gpu, struct words *words,
                       struct err *err)
{
    int rc = words_switch(words, 1, &machine->strange_samples, err);

    (void)gpu;
    return rc < 0 ? rc : words_done(words, 2, err);
}

/* "1,0,2": a permutation of all GPUs. */
static int take_order(struct sim_machine *machine, const char *list, struct err *err)
{
    uint32_t seen = 0, order[SIM_GPUS_MAX];

    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        const size_t length = strcspn(list, ",");
        char digits[8] = "";

        if (length < sizeof digits)
            memcpy(digits, list, length);
        if (scan_u32(digits, &order[i]) < 0 || order[i] >= machine->gpu_count ||
            (seen & (1u << order[i])) != 0)
            return err_set(err, -EINVAL, "order: not all GPUs, each once");
        seen |= 1u << order[i];
        list += length + (list[length] == ',');
    }
    memcpy(machine->order, order, sizeof order[0] * machine->gpu_count);
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        machine->gpus[order[i]].minor = i;
    return *list == '\0' ? 0 : err_set(err, -EINVAL, "order: more than there are GPUs");
}

static int cmd_reload(struct sim_machine *machine, uint32_t gpu, struct words *words,
                      struct err *err)
{
    const char *order = words_value(words, "order");
    int rc = order != NULL ? take_order(machine, order, err) : 0;

    (void)gpu;
    if (rc == 0)
        machine_reload(machine);
    return rc < 0 ? rc : words_done(words, 1, err);
}

static int cmd_driver(struct sim_machine *machine, uint32_t gpu, struct words *words,
                      struct err *err)
{
    const char *version = words_value(words, "version"), *root = words_value(words, "root");
    int rc = words_u32(words, "record", &machine->record_size, err);

    (void)gpu;
    if (rc == 0)
        rc = words_u32(words, "cuda", &machine->cuda_version, err);
    if (rc < 0)
        return rc;
    if (machine->record_size != 24 && machine->record_size != 32)
        return err_set(err, -EINVAL, "record=%u: neither 24 nor 32", machine->record_size);
    if (version != NULL && strlen(version) >= sizeof machine->driver_version)
        return err_set(err, -EINVAL, "version='%s': too long", version);
    if (version != NULL) {
        memset(machine->driver_version, 0, sizeof machine->driver_version);
        memcpy(machine->driver_version, version, strlen(version));
    }
    if (root != NULL)
        machine->needs_root = strcmp(root, "no") != 0;
    return words_done(words, 1, err);
}

struct control_command {
    const char *word;
    bool wants_gpu;
    int (*run)(struct sim_machine *machine, uint32_t gpu, struct words *words, struct err *err);
    const char *help;
};

static const struct control_command commands[] = {
    {"load", true, cmd_load,
     "load GPU [busy=PERCENT] [memory=PERCENT] [celsius=N] [stray=SIZE]   what no process does"},
    {"process", true, cmd_process,
     "process GPU pid=N [memory=SIZE|unknown=1] [kind=compute,graphics,mps] [gi=N] [ci=N]\n"
     "      [busy=PERCENT] [unreal=1]   adds or changes a process; unreal: need not live"},
    {"end", false, cmd_end, "end PID   takes a process away"},
    {"xid", true, cmd_xid, "xid GPU NUMBER [gi=N] [ci=N]   raises an Xid event"},
    {"lose", true, cmd_lose, "lose GPU   it falls off the bus, with Xid 79"},
    {"wants-reset", true, cmd_wants_reset, "wants-reset GPU   it answers nothing until a reset"},
    {"reset", true, cmd_find, "reset GPU   brings it back, empty"},
    {"ecc", true, cmd_ecc, "ecc GPU corrected|uncorrected [count=N] [location=N]"},
    {"rows", true, cmd_rows, "rows GPU [corrected=N] [uncorrected=N] [pending=0|1] [failed=0|1]"},
    {"forget", true, cmd_forget, "forget GPU   its counters begin anew, backwards"},
    {"mode", true, cmd_mode, "mode GPU [compute=0|2|3] [persistence=0|1] [timeslice=0..3]"},
    {"mig", true, cmd_mig, "mig GPU on|off   at once, without its instances"},
    {"instance", true, cmd_instance,
     "instance GPU PROFILE [start=N] [half=1]   half: without a compute instance"},
    {"fail", false, cmd_fail,
     "fail FUNCTION|* CODE [times=N] [skip=N] [gpu=N]   calls answer with this NVML code"},
    {"heal", false, cmd_heal, "heal   no call fails any more"},
    {"strange", false, cmd_strange, "strange on|off   old and wild samples of utilisation"},
    {"reload", false, cmd_reload, "reload [order=N,N,...]   loads the driver anew, order by index"},
    {"driver", false, cmd_driver, "driver [version=V] [cuda=13000] [record=24|32] [root=no]"},
};

int control_words(struct sim_machine *machine, struct words *words, struct err *err)
{
    const char *word = words->plain_count > 0 ? words->plain[0] : "";

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        uint32_t gpu = 0;
        int rc = 0;

        if (strcmp(commands[i].word, word) != 0)
            continue;
        if (commands[i].wants_gpu)
            rc = take_gpu(machine, words, &gpu, err);
        if (rc == 0)
            rc = commands[i].run(machine, gpu, words, err);
        return rc < 0 ? err_prefix(err, rc, "%s: ", word) : 0;
    }
    return err_set(err, -EINVAL, "'%s': no such command", word);
}

int control_line(struct sim_machine *machine, const char *line, struct err *err)
{
    struct words words;
    int rc = words_split(&words, line, (uint32_t)strlen(line), err);

    return rc < 0 ? rc : control_words(machine, &words, err);
}

void control_help(FILE *to)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(to, "  %s\n", commands[i].help);
}
