/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_test.h - a simulated machine of its own for each test, and the library that shows it.
 *
 * BERTH_SIM_LIBRARY and BERTH_SIM_OLD_LIBRARY are the paths of the simulated libraries. */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "gpu/device.h"
#include "gpu/sim/control.h"
#include "gpu/sim/store.h"
#include "unit/err_test.h"
#include "unit/test.h"

struct world {
    char directory[64];
    struct store *store;
    struct nvml *nvml;
    struct devices devices;
};

static struct world world;

/* A machine as described ("h100x8", or lines of a description), with nothing loaded yet. */
static inline void make_machine(const char *what)
{
    char path[96];
    FILE *file;

    snprintf(world.directory, sizeof world.directory, "/tmp/berth-test-XXXXXX");
    assert_non_null(mkdtemp(world.directory));
    setenv("BERTH_SIM_DIR", world.directory, 1);
    snprintf(path, sizeof path, "%s/gpus", world.directory);
    if (strchr(what, ' ') == NULL) {
        snprintf(path, sizeof path, "%s", what);
    } else {
        file = fopen(path, "we");
        assert_non_null(file);
        fputs(what, file);
        fclose(file);
    }
    WORKS(store_open(world.directory, path, &world.store, &err));
}

static inline void begin_with(const char *what, const char *library_name)
{
    make_machine(what);
    WORKS(nvml_open(getenv(library_name), &world.nvml, &err));
    devices_init(&world.devices);
    WORKS(devices_update(&world.devices, world.nvml, &err));
}

static inline void begin(const char *what)
{
    begin_with(what, "BERTH_SIM_LIBRARY");
}

static inline void end(void)
{
    char path[96];

    devices_done(&world.devices);
    nvml_close(world.nvml);
    store_close(world.store);
    snprintf(path, sizeof path, "%s/machine", world.directory);
    unlink(path);
    snprintf(path, sizeof path, "%s/gpus", world.directory);
    unlink(path);
    rmdir(world.directory);
    memset(&world, 0, sizeof world);
}

/* A command to the machine, as berth-sim-gpu ctl takes it. */
__attribute__((format(printf, 1, 2))) static inline void ctl(const char *fmt, ...)
{
    char line[256];
    va_list list;
    int rc;

    va_start(list, fmt);
    vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    (void)store_read(world.store);
    rc = control_line(store_write(world.store), line, &err);
    store_end(world.store, rc == 0);
    if (rc < 0)
        fail_msg("%s", err.text);
}

static inline struct device *gpu(uint32_t i)
{
    assert_true(i < world.devices.count);
    return &world.devices.items[i];
}
