/* SPDX-License-Identifier: Apache-2.0 */
/* journal_test.h - a journal in a folder of its own for each test. */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/journal.h"
#include "unit/err_test.h"
#include "unit/test.h"

struct world {
    char folder[64], path[80];
    struct journal *journal;
};

static struct world world;

static inline void make_folder_in(const char *where)
{
    memset(&world, 0, sizeof world);
    snprintf(world.folder, sizeof world.folder, "%s/berth-journal-XXXXXX", where);
    assert_non_null(mkdtemp(world.folder));
    snprintf(world.path, sizeof world.path, "%s/journal", world.folder);
}

static inline void make_folder(void)
{
    make_folder_in("/tmp");
}

static inline void remove_files(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char path[96];

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(path, sizeof path, "%s%s", world.path, ends[i]);
        unlink(path);
    }
}

static inline void open_journal(void)
{
    WORKS(journal_open(world.path, NULL, &world.journal, &err));
}

static inline void close_journal(void)
{
    journal_close(world.journal);
    world.journal = NULL;
}

static inline void begin(void)
{
    make_folder();
    open_journal();
}

static inline void end(void)
{
    close_journal();
    remove_files();
    assert_int_equal(rmdir(world.folder), 0);
}

static inline uint64_t put(int64_t at_us, const char *text)
{
    return journal_put(world.journal, JOURNAL_EVENT, at_us, text, strlen(text));
}

/* All rows after `after` as "seq:text ..."; static. */
static inline int add_row(void *arg, const struct journal_row *row, struct err *e)
{
    char *out = arg;
    const size_t used = strlen(out);

    (void)e;
    snprintf(out + used, 4096 - used, "%s%d:%s", used == 0 ? "" : " ", (int)row->seq, row->text);
    return 0;
}

static inline const char *rows_after(uint64_t after)
{
    static char out[4096];

    out[0] = '\0';
    WORKS(journal_read(world.journal, after, add_row, out, &err));
    return out;
}
