/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - where a simulated machine lies. */
#include "gpu/sim/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "gpu/sim/describe.h"

#define STORE_MAGIC 0x5ba3d1e7u

struct layout {
    uint32_t magic; /* written last when a machine is made */
    uint32_t size;  /* of struct sim_machine: another version has another one */
    _Atomic uint32_t current;
    uint32_t padding;
    struct sim_machine copies[2];
};

struct store {
    int fd;
    struct layout *layout;
    bool locked, writing;
};

const char *store_default_directory(void)
{
    static char path[64];
    const char *given = getenv("BERTH_SIM_DIR");

    if (given != NULL && given[0] != '\0')
        return given;
    snprintf(path, sizeof path, "/tmp/berth-sim-%u", (unsigned)getuid());
    return path;
}

/* A lock of the process, not of the descriptor: a child that was forked is somebody else. */
static void lock(int fd, short type)
{
    struct flock region = {.l_type = type, .l_whence = SEEK_SET};

    while (fcntl(fd, F_SETLKW, &region) < 0 && errno == EINTR)
        continue;
}

static int open_file(const char *directory, struct err *err)
{
    char path[4096];
    int fd;

    if (mkdir(directory, 0755) < 0 && errno != EEXIST)
        return err_set(err, -errno, "cannot make '%s': %s", directory, strerror(errno));
    snprintf(path, sizeof path, "%s/machine", directory);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
    /* Jobs of other users are on the same machine, whatever the mask of who made it. */
    (void)!fchmod(fd, 0666);
    return fd;
}

static bool is_whole(const struct layout *layout)
{
    const uint32_t current = atomic_load(&layout->current);

    if (layout->size != sizeof(struct sim_machine) || current > 1)
        return false;
    for (int i = 0; i < 2; i++) {
        const struct sim_machine *machine = &layout->copies[i];

        if (machine->gpu_count > SIM_GPUS_MAX)
            return false;
        for (uint32_t k = 0; k < machine->gpu_count; k++)
            if (machine->gpus[k].model >= model_count() || machine->order[k] >= SIM_GPUS_MAX)
                return false;
    }
    return true;
}

/* Fills a new file, or finds what lies in it; under the lock. */
static int begin(struct store *store, const char *directory, const char *description,
                 struct err *err)
{
    struct layout *layout = store->layout;
    int rc;

    if (layout->magic == STORE_MAGIC)
        return is_whole(layout)
                   ? 0
                   : err_set(err, -EPROTO, "'%s': of another version of the simulation; remove it",
                             directory);
    if (description == NULL)
        return err_set(err, -ENODATA, "'%s': no simulated GPUs; BERTH_SIM_GPUS names them",
                       directory);
    rc = describe(description, &layout->copies[0], err);
    if (rc < 0)
        return rc;
    layout->copies[1] = layout->copies[0];
    atomic_store(&layout->current, 0);
    layout->size = sizeof(struct sim_machine);
    atomic_thread_fence(memory_order_seq_cst);
    layout->magic = STORE_MAGIC;
    return 0;
}

static int map(struct store *store, struct err *err)
{
    struct stat stat;

    if (fstat(store->fd, &stat) < 0)
        return err_set(err, -errno, "cannot read the simulated machine: %s", strerror(errno));
    if (stat.st_size != 0 && stat.st_size != (off_t)sizeof(struct layout))
        return err_set(err, -EPROTO, "the simulated machine is of another version; remove it");
    if (ftruncate(store->fd, sizeof(struct layout)) < 0)
        return err_set(err, -errno, "cannot make a simulated machine: %s", strerror(errno));
    store->layout =
        mmap(NULL, sizeof(struct layout), PROT_READ | PROT_WRITE, MAP_SHARED, store->fd, 0);
    if (store->layout == MAP_FAILED) {
        store->layout = NULL;
        return err_set(err, -errno, "cannot map a simulated machine: %s", strerror(errno));
    }
    return 0;
}

int store_open(const char *directory, const char *description, struct store **out, struct err *err)
{
    struct store *store = mem_alloc(1, sizeof *store);
    int rc = open_file(directory, err);

    store->fd = rc;
    if (rc >= 0) {
        lock(store->fd, F_WRLCK);
        rc = map(store, err);
        if (rc == 0)
            rc = begin(store, directory, description, err);
        lock(store->fd, F_UNLCK);
    }
    if (rc < 0) {
        store_close(store);
        return rc;
    }
    *out = store;
    return 0;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    if (store->layout != NULL)
        munmap(store->layout, sizeof *store->layout);
    if (store->fd >= 0)
        close(store->fd);
    mem_free(store);
}

const struct sim_machine *store_read(struct store *store)
{
    check(!store->locked);
    lock(store->fd, F_WRLCK);
    store->locked = true;
    store->writing = false;
    return &store->layout->copies[atomic_load(&store->layout->current) & 1];
}

struct sim_machine *store_write(struct store *store)
{
    const uint32_t current = atomic_load(&store->layout->current) & 1;
    struct sim_machine *copy = &store->layout->copies[1 - current];

    check(store->locked);
    if (!store->writing)
        *copy = store->layout->copies[current];
    store->writing = true;
    return copy;
}

void store_end(struct store *store, bool keep)
{
    const uint32_t current = atomic_load(&store->layout->current) & 1;

    check(store->locked);
    if (keep && store->writing)
        atomic_store(&store->layout->current, 1 - current);
    store->locked = false;
    lock(store->fd, F_UNLCK);
}
