/* SPDX-License-Identifier: Apache-2.0 */
/* fault_vfs.h - an SQLite VFS called "fault", over the real one, whose writes go wrong at a chosen
 * point: the process ends there, or the power does, or the disk is full.
 *
 * Points are counted: each write, truncation, sync and deletion is one. Power is played by taking
 * back all that was written to a file since its last sync. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"

enum fault_kind {
    FAULT_NONE,
    FAULT_KILL,  /* the process ends before the point */
    FAULT_TORN,  /* the process ends in the middle of a write */
    FAULT_POWER, /* what was not synced is lost */
    FAULT_FULL,  /* from the point on nothing can be written, until fault_clear() */
    FAULT_ONCE,  /* the point fails, and no other */
};

enum { FAULT_EXIT = 77, FAULT_PART = 65536 };

struct fault_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind it in memory */
};

struct fault_undo {
    sqlite3_file *file;
    sqlite3_int64 offset, old_size;
    void *bytes; /* [count] as they were, of what was below old_size */
    int count;
};

static struct {
    enum fault_kind kind;
    uint32_t at;    /* the point, 1.. */
    uint32_t count; /* points so far */
    sqlite3_vfs *real, vfs;
    struct fault_undo *undo; /* [undo_count] */
    uint32_t undo_count, undo_cap;
} fault;

static inline sqlite3_file *fault_real(sqlite3_file *file)
{
    return ((struct fault_file *)(void *)file)->real;
}

/* The real one neither reads nor writes more than 128 kB at once. */
static inline int fault_part(int left)
{
    return left < FAULT_PART ? left : FAULT_PART;
}

static inline void fault_lose_power(void)
{
    while (fault.undo_count > 0) {
        const struct fault_undo *u = &fault.undo[--fault.undo_count];

        for (int done = 0; done < u->count; done += FAULT_PART)
            u->file->pMethods->xWrite(u->file, (char *)u->bytes + done, fault_part(u->count - done),
                                      u->offset + done);
        u->file->pMethods->xTruncate(u->file, u->old_size);
    }
    _exit(FAULT_EXIT);
}

/* Counts a point. false: it is to fail. */
static inline bool fault_point(void)
{
    const bool here = ++fault.count == fault.at;

    if (here && (fault.kind == FAULT_KILL || fault.kind == FAULT_TORN))
        _exit(FAULT_EXIT);
    if (here && fault.kind == FAULT_POWER)
        fault_lose_power();
    return !((fault.kind == FAULT_ONCE && here) ||
             (fault.kind == FAULT_FULL && fault.count >= fault.at));
}

static inline void fault_clear(void)
{
    fault.kind = FAULT_NONE;
}

/* Remembers how a part of a file was. */
static inline void fault_remember(sqlite3_file *file, sqlite3_int64 offset, int count)
{
    struct fault_undo u = {.file = file, .offset = offset};

    if (fault.kind != FAULT_POWER)
        return;
    file->pMethods->xFileSize(file, &u.old_size);
    u.count = offset >= u.old_size           ? 0
              : offset + count <= u.old_size ? count
                                             : (int)(u.old_size - offset);
    u.bytes = mem_alloc((size_t)u.count, 1);
    for (int done = 0; done < u.count; done += FAULT_PART)
        file->pMethods->xRead(file, (char *)u.bytes + done, fault_part(u.count - done),
                              offset + done);
    vec_push(fault.undo, fault.undo_count, fault.undo_cap, u);
}

static inline int fault_write(sqlite3_file *file, const void *bytes, int count,
                              sqlite3_int64 offset)
{
    sqlite3_file *real = fault_real(file);

    if (fault.kind == FAULT_TORN && fault.count + 1 == fault.at)
        real->pMethods->xWrite(real, bytes, count / 2, offset);
    if (!fault_point())
        return SQLITE_FULL;
    fault_remember(real, offset, count);
    return real->pMethods->xWrite(real, bytes, count, offset);
}

static inline int fault_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    sqlite3_file *real = fault_real(file);
    sqlite3_int64 old_size = 0;

    if (!fault_point())
        return SQLITE_IOERR_TRUNCATE;
    real->pMethods->xFileSize(real, &old_size);
    if (size < old_size)
        fault_remember(real, size, (int)(old_size - size));
    return real->pMethods->xTruncate(real, size);
}

/* What was written to the file is safe, or no longer of interest. */
static inline void fault_forget(const sqlite3_file *real)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < fault.undo_count; i++) {
        if (fault.undo[i].file != real)
            fault.undo[kept++] = fault.undo[i];
        else
            mem_free(fault.undo[i].bytes);
    }
    fault.undo_count = kept;
}

static inline int fault_sync(sqlite3_file *file, int flags)
{
    sqlite3_file *real = fault_real(file);

    if (!fault_point())
        return SQLITE_IOERR_FSYNC;
    fault_forget(real);
    return real->pMethods->xSync(real, flags);
}

static inline int fault_close(sqlite3_file *file)
{
    sqlite3_file *real = fault_real(file);

    fault_forget(real);
    return real->pMethods->xClose(real);
}

static inline int fault_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset)
{
    return fault_real(file)->pMethods->xRead(fault_real(file), bytes, count, offset);
}

static inline int fault_size(sqlite3_file *file, sqlite3_int64 *out)
{
    return fault_real(file)->pMethods->xFileSize(fault_real(file), out);
}

static inline int fault_lock(sqlite3_file *file, int level)
{
    return fault_real(file)->pMethods->xLock(fault_real(file), level);
}

static inline int fault_unlock(sqlite3_file *file, int level)
{
    return fault_real(file)->pMethods->xUnlock(fault_real(file), level);
}

static inline int fault_check_lock(sqlite3_file *file, int *out)
{
    return fault_real(file)->pMethods->xCheckReservedLock(fault_real(file), out);
}

static inline int fault_control(sqlite3_file *file, int op, void *arg)
{
    return fault_real(file)->pMethods->xFileControl(fault_real(file), op, arg);
}

static inline int fault_sector(sqlite3_file *file)
{
    return fault_real(file)->pMethods->xSectorSize(fault_real(file));
}

static inline int fault_device(sqlite3_file *file)
{
    (void)file;
    return 0; /* nothing is promised by this disk */
}

static const sqlite3_io_methods fault_methods = {
    .iVersion = 1,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_check_lock,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector,
    .xDeviceCharacteristics = fault_device,
};

static inline int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                             int *out_flags)
{
    struct fault_file *own = (struct fault_file *)(void *)file;
    int rc;

    (void)vfs;
    own->real = (sqlite3_file *)(void *)(own + 1);
    rc = fault.real->xOpen(fault.real, name, own->real, flags, out_flags);
    own->base.pMethods = rc == SQLITE_OK ? &fault_methods : NULL;
    return rc;
}

static inline int fault_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    return fault_point() ? fault.real->xDelete(fault.real, name, sync) : SQLITE_IOERR_DELETE;
}

/* Registers it. From now on files opened by it go wrong at point `at`. */
static inline void fault_begin(enum fault_kind kind, uint32_t at)
{
    if (fault.real == NULL) {
        fault.real = sqlite3_vfs_find(NULL);
        fault.vfs = *fault.real;
        fault.vfs.zName = "fault";
        fault.vfs.pNext = NULL;
        fault.vfs.szOsFile = (int)sizeof(struct fault_file) + fault.real->szOsFile;
        fault.vfs.xOpen = fault_open;
        fault.vfs.xDelete = fault_delete;
        sqlite3_vfs_register(&fault.vfs, 0);
    }
    fault.kind = kind;
    fault.at = at;
    fault.count = 0;
}
