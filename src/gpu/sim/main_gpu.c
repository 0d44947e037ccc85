/* SPDX-License-Identifier: Apache-2.0 */
/* main_gpu.c - berth-sim-gpu: looks at the simulated GPUs, and changes them.
 *
 * The machine is that of BERTH_SIM_DIR; BERTH_SIM_GPUS describes it if it is not there yet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "gpu/sim/control.h"
#include "gpu/sim/describe.h"
#include "gpu/sim/instance.h"
#include "gpu/sim/store.h"

enum { EXIT_WRONG = 2, LINE_BYTES_MAX = 1000 };

static int complain(const struct err *err)
{
    fprintf(stderr, "berth-sim-gpu: %s\n", err->text);
    return EXIT_WRONG;
}

static int usage(FILE *to)
{
    fputs("usage: berth-sim-gpu show | presets | ctl COMMAND...\n\ncommands of ctl:\n", to);
    control_help(to);
    fputs("\nGPU is a UUID or the number in the description. `ctl -` reads commands, one a line,\n"
          "from standard input.\n",
          to);
    return to == stdout ? EXIT_SUCCESS : EXIT_WRONG;
}

static int run_line(struct store *store, const char *line, struct err *err)
{
    int rc;

    (void)store_read(store);
    rc = control_line(store_write(store), line, err);
    store_end(store, rc == 0);
    return rc;
}

/* Quotes again what the shell has unquoted. */
static void join(int argc, char **argv, struct text *line)
{
    for (int i = 0; i < argc; i++)
        text_addf(line, strchr(argv[i], ' ') != NULL ? "%s\"%s\"" : "%s%s", i > 0 ? " " : "",
                  argv[i]);
}

static int ctl_stdin(struct store *store, struct err *err)
{
    char line[LINE_BYTES_MAX];
    int rc = 0;

    while (rc == 0 && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t")] != '\0' && line[strspn(line, " \t")] != '#')
            rc = run_line(store, line, err);
    }
    return rc;
}

static int ctl(struct store *store, int argc, char **argv)
{
    struct text line;
    struct err err;
    int rc;

    if (argc == 1 && strcmp(argv[0], "-") == 0) {
        rc = ctl_stdin(store, &err);
        return rc < 0 ? complain(&err) : EXIT_SUCCESS;
    }
    text_init(&line, LINE_BYTES_MAX);
    join(argc, argv, &line);
    rc = run_line(store, text_str(&line), &err);
    text_done(&line);
    return rc < 0 ? complain(&err) : EXIT_SUCCESS;
}

static void show_instances(const struct sim_machine *machine, uint32_t gpu)
{
    const struct sim_gpu *it = &machine->gpus[gpu];

    for (uint32_t g = 0; g < SIM_GI_IDS; g++) {
        if (!it->gis[g].used)
            continue;
        printf("    instance %u at %u: %s\n", g, it->gis[g].start,
               machine_model(machine, gpu)->mig->rows[it->gis[g].profile].name);
        for (uint32_t c = 0; c < SIM_CI_IDS; c++)
            if (it->gis[g].cis[c].used)
                printf("      compute instance %u: %s\n", c, instance_uuid(it, g, c).text);
    }
}

static void show_processes(const struct sim_machine *machine, uint32_t gpu)
{
    for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
        const struct sim_process *process = &machine->processes[i];

        if (!process->used || process->gpu != gpu)
            continue;
        printf("    process %u:", process->pid);
        if (process->memory_bytes != NVML_NO_VALUE)
            printf(" %llu MiB", (unsigned long long)(process->memory_bytes >> 20));
        printf(" busy %u %%%s", process->busy_percent, process->kinds & SIM_MPS ? " (MPS)" : "");
        if (process->gi_id != NVML_NO_ID)
            printf(" in instance %u.%u", process->gi_id, process->ci_id);
        puts("");
    }
}

static void show(const struct sim_machine *machine)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        const struct sim_gpu *gpu = &machine->gpus[i];

        printf("GPU %u (index %u): %s %s, %llu of %u MiB used%s%s\n", i, machine_index(machine, i),
               machine_model(machine, i)->name, gpu->uuid,
               (unsigned long long)(machine_used_bytes(machine, i, NVML_NO_ID) >> 20),
               machine_model(machine, i)->memory_mib, gpu->mig_mode ? ", MIG" : "",
               gpu->lost ? ", lost" : "");
        show_instances(machine, i);
        show_processes(machine, i);
    }
}

static int show_presets(void)
{
    const char *name, *text;

    for (uint32_t i = 0; (text = describe_preset(i, &name)) != NULL; i++)
        printf("# %s\n%s\n", name, text);
    fputs("# MODELxCOUNT, of the models", stdout);
    for (uint32_t i = 0; i < model_count(); i++)
        printf(" %s", model_at(i)->key);
    puts("");
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    struct store *store;
    struct err err;
    int rc;

    if (strcmp(command, "--help") == 0)
        return usage(stdout);
    if (strcmp(command, "presets") == 0)
        return show_presets();
    if (strcmp(command, "show") != 0 && (strcmp(command, "ctl") != 0 || argc < 3))
        return usage(stderr);
    rc = store_open(store_default_directory(), getenv("BERTH_SIM_GPUS"), &store, &err);
    if (rc < 0)
        return complain(&err);
    if (strcmp(command, "show") == 0) {
        (void)store_read(store);
        machine_prune(store_write(store));
        show(store_write(store));
        store_end(store, true);
        rc = EXIT_SUCCESS;
    } else {
        rc = ctl(store, argc - 2, argv + 2);
    }
    store_close(store);
    return rc;
}
