/* SPDX-License-Identifier: Apache-2.0 */
/* main_task.c - berth-sim-task: a program that uses simulated GPUs, for tests and demonstrations.
 *
 * It takes memory of each device that CUDA_VISIBLE_DEVICES names, works for a time and ends. It
 * gives back its memory by ending, however it ends: the simulation sees that the process is gone.
 * With CUDA_MPS_PIPE_DIRECTORY set it is a client of the MPS daemon there, if one answers, as a
 * CUDA program would be. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/scan.h"
#include "gpu/sim/mps_wire.h"
#include "gpu/sim/store.h"
#include "gpu/sim/target.h"

enum { EXIT_OOM = 3, EXIT_NO_DEVICE = 4, EXIT_DEVICE_LOST = 5, EXIT_CHECKPOINTED = 85 };

struct task {
    struct store *store;
    struct target targets[SIM_GPUS_MAX]; /* [target_count] */
    uint32_t target_count;
    int64_t memory_bytes, time_us;
    uint32_t busy_percent, exit_code, kinds;
    bool checkpoints, stubborn;
    int mps; /* connection to the daemon, or -1 */
};

static volatile sig_atomic_t got_signal;

static void on_signal(int number)
{
    got_signal = number;
}

static int usage(void)
{
    fputs("usage: berth-sim-task [--memory SIZE] [--busy PERCENT] [--time DURATION] [--exit CODE]\n"
          "    [--graphics] [--checkpoint] [--stubborn]\n\n"
          "Uses the devices of CUDA_VISIBLE_DEVICES: SIZE (default 1G) of each, for DURATION\n"
          "(default 10s; 0 is for ever). --checkpoint: ends with 85 on SIGUSR1. --stubborn: does\n"
          "not end on SIGTERM. Ends with 3 when out of memory, 4 without a device, 5 when one is\n"
          "lost.\n",
          stderr);
    return 2;
}

/* One option at argv[at]; the number of words it takes, or 0 if it is wrong. */
static int take_option(struct task *task, int argc, char **argv, int at)
{
    const char *name = argv[at], *value = at + 1 < argc ? argv[at + 1] : "";

    if (strcmp(name, "--graphics") == 0)
        task->kinds = SIM_GRAPHICS;
    else if (strcmp(name, "--checkpoint") == 0)
        task->checkpoints = true;
    else if (strcmp(name, "--stubborn") == 0)
        task->stubborn = true;
    else if (strcmp(name, "--memory") == 0)
        return scan_bytes(value, &task->memory_bytes) == 0 ? 2 : 0;
    else if (strcmp(name, "--time") == 0)
        return scan_duration_us(value, &task->time_us) == 0 ? 2 : 0;
    else if (strcmp(name, "--busy") == 0)
        return scan_u32(value, &task->busy_percent) == 0 ? 2 : 0;
    else if (strcmp(name, "--exit") == 0)
        return scan_u32(value, &task->exit_code) == 0 ? 2 : 0;
    else
        return 0;
    return 1;
}

/* Registers with one device. */
static int use(struct task *task, const struct target *target, struct err *err)
{
    const struct sim_process process = {.pid = (uint32_t)getpid(),
                                        .gpu = target->gpu,
                                        .gi_id = target->gi_id,
                                        .ci_id = target->ci_id,
                                        .kinds = task->kinds,
                                        .memory_bytes = (uint64_t)task->memory_bytes,
                                        .busy_percent = task->busy_percent,
                                        .memory_percent = task->busy_percent / 2};
    int rc;

    (void)store_read(task->store);
    rc = machine_put_process(store_write(task->store), &process, err);
    store_end(task->store, rc == 0);
    return rc;
}

static bool is_lost(struct task *task)
{
    const struct sim_machine *machine = store_read(task->store);
    bool lost = false;

    for (uint32_t i = 0; i < task->target_count; i++)
        lost = lost || machine->gpus[task->targets[i].gpu].lost != 0;
    store_end(task->store, false);
    return lost;
}

static int find_devices(struct task *task)
{
    const struct sim_machine *machine = store_read(task->store);

    task->target_count =
        target_list(machine, getenv("CUDA_VISIBLE_DEVICES"), task->targets, SIM_GPUS_MAX);
    store_end(task->store, false);
    return task->target_count > 0 ? 0 : -ENODEV;
}

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Works until its time is over or something ends it; the exit code. */
static int work(struct task *task)
{
    const int64_t end_us = now_us() + task->time_us;

    while (task->time_us == 0 || now_us() < end_us) {
        struct pollfd daemon = {.fd = task->mps, .events = POLLIN};
        const int64_t left_us = end_us - now_us();
        int wait_ms = task->time_us == 0 || left_us > 50000 ? 50 : (int)(left_us / 1000) + 1;

        if (got_signal == SIGUSR1 && task->checkpoints)
            return EXIT_CHECKPOINTED;
        if (got_signal == SIGTERM && !task->stubborn)
            return 128 + SIGTERM;
        if (is_lost(task)) {
            fputs("berth-sim-task: CUDA error: the device is lost\n", stderr);
            return EXIT_DEVICE_LOST;
        }
        if (poll(&daemon, 1, wait_ms) > 0) {
            fputs("berth-sim-task: CUDA error: the MPS server has failed\n", stderr);
            return EXIT_DEVICE_LOST;
        }
    }
    return (int)task->exit_code;
}

static void catch_signals(const struct task *task)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigaction(SIGTERM, &action, NULL);
    if (task->checkpoints)
        sigaction(SIGUSR1, &action, NULL);
}

/* Becomes a client of the MPS daemon, if there is one: what it allows of memory is not passed. */
static int join_mps(struct task *task, struct err *err)
{
    struct mps_welcome welcome = {0};
    int rc;

    if (task->kinds != SIM_COMPUTE)
        return 0;
    rc = mps_join(&task->mps, &welcome, err);
    if (rc == -ENOENT)
        return 0; /* without a daemon a program runs without MPS */
    if (rc < 0)
        return rc;
    task->kinds = SIM_MPS;
    if (welcome.percent < 100 && task->busy_percent > welcome.percent)
        task->busy_percent = welcome.percent;
    if (welcome.memory_limit_bytes > 0 && (uint64_t)task->memory_bytes > welcome.memory_limit_bytes)
        return err_set(err, -ENOMEM, "out of memory: the MPS limit is %llu MiB",
                       (unsigned long long)(welcome.memory_limit_bytes >> 20));
    return 0;
}

static int run(struct task *task)
{
    struct err err;
    int rc = store_open(store_default_directory(), getenv("BERTH_SIM_GPUS"), &task->store, &err);

    if (rc == 0)
        rc = find_devices(task);
    if (rc < 0) {
        fputs("berth-sim-task: no CUDA device is visible\n", stderr);
        return EXIT_NO_DEVICE;
    }
    rc = join_mps(task, &err);
    for (uint32_t i = 0; i < task->target_count && rc == 0; i++)
        rc = use(task, &task->targets[i], &err);
    if (rc < 0) {
        fprintf(stderr, "berth-sim-task: CUDA error: %s\n", err.text);
        return rc == -ENOMEM ? EXIT_OOM : EXIT_NO_DEVICE;
    }
    return work(task);
}

int main(int argc, char **argv)
{
    struct task task = {
        .memory_bytes = INT64_C(1) << 30, .time_us = 10000000, .kinds = SIM_COMPUTE, .mps = -1};
    int rc;

    for (int at = 1; at < argc; at += rc) {
        rc = take_option(&task, argc, argv, at);
        if (rc == 0)
            return usage();
    }
    catch_signals(&task);
    rc = run(&task);
    store_close(task.store);
    return rc;
}
