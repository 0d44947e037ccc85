/* SPDX-License-Identifier: Apache-2.0 */
/* run_test.h - a folder of runs of its own for each test, and real shepherds in it.
 *
 * BERTH_SHEPHERD is the path of berth-shepherd. Nothing waits for a time to pass: it waits for
 * what is to happen, at most PATIENCE_MS. */
#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "run/file.h"
#include "run/folder.h"
#include "run/runs.h"
#include "unit/err_test.h"
#include "unit/test.h"

enum { PATIENCE_MS = 60000 };

struct world {
    char folder[64];
    char cgroup[CGROUP_PATH_BYTES]; /* "" = without */
    struct runs *runs;
    struct run_spec spec;
};

static struct world world;

/* Waits until the condition holds, looking again every millisecond. */
#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        int await_left_ = PATIENCE_MS;                                                             \
        while (!(condition) && await_left_-- > 0)                                                  \
            poll(NULL, 0, 1);                                                                      \
        if (await_left_ <= 0)                                                                      \
            fail_msg("it never came to be: %s", #condition);                                       \
    } while (0)

/* A file below the folder of the test; static. */
static inline const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", world.folder, name);
    return path;
}

static inline void open_runs(void)
{
    const struct runs_config config = {
        .folder = world.folder, .shepherd = getenv("BERTH_SHEPHERD"), .cgroup = world.cgroup};

    WORKS(runs_open(&config, &world.runs, &err));
}

/* A run of "sh -c script" by whoever runs the test. */
static inline void set_script(uint64_t job_id, const char *script)
{
    struct run_spec *spec = &world.spec;
    char path[64];

    run_spec_done(spec);
    run_spec_init(spec);
    spec->key = (struct run_key){job_id, 0, 1};
    run_spec_word(&spec->argv, &spec->argc, "sh");
    run_spec_word(&spec->argv, &spec->argc, "-c");
    run_spec_word(&spec->argv, &spec->argc, script);
    snprintf(path, sizeof path, "PATH=/usr/bin:/bin");
    run_spec_word(&spec->env, &spec->env_count, path);
    run_spec_text(&spec->directory, world.folder);
    spec->uid = geteuid();
    spec->gid = getegid();
}

/* A run of a program without arguments. */
static inline void set_program(uint64_t job_id, const char *program)
{
    struct run_spec *spec = &world.spec;

    set_script(job_id, "");
    while (spec->argc > 1)
        mem_free(spec->argv[--spec->argc]);
    run_spec_text(&spec->argv[0], program);
}

/* What a test that failed left running must not run for ever. */
static inline int clean_up(void **state)
{
    struct run_key *keys;
    uint32_t count;

    (void)state;
    if (world.folder[0] == '\0')
        return 0;
    if (world.runs == NULL)
        open_runs();
    keys = runs_list(world.runs, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct run_event event;

        (void)runs_kill(world.runs, keys[i]);
        AWAIT(
            (runs_next(world.runs, &event), runs_find(world.runs, keys[i]) == NULL ||
                                                run_state_is_end(runs_find(world.runs, keys[i]))));
    }
    mem_free(keys);
    runs_close(world.runs);
    run_spec_done(&world.spec);
    (void)file_remove_tree(AT_FDCWD, world.folder);
    memset(&world, 0, sizeof world);
    return 0;
}

#define RUN_TESTS_AND_CLEAN_UP(tests) cmocka_run_group_tests(tests, NULL, clean_up)

static inline void begin(void)
{
    (void)clean_up(NULL);
    snprintf(world.folder, sizeof world.folder, "/tmp/berth-run-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    assert_int_equal(chmod(world.folder, 0755), 0);
    open_runs();
}

/* What a shepherd says on its standard error is always trouble: a check that failed, a sanitizer.
 */
static inline void expect_no_trouble(const char *name)
{
    const int live = open(path_of("live"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int folder = folder_open(live, name, false, NULL);
    char *bytes;
    size_t count;

    close(live);
    if (folder < 0)
        return;
    AWAIT(folder_life(folder) != FOLDER_ALIVE);
    if (file_load(folder, "trouble", 1 << 20, &bytes, &count) == 0) {
        if (count > 0)
            fail_msg("%s: %s", name, bytes);
        mem_free(bytes);
    }
    close(folder);
}

static inline void end(void)
{
    DIR *live = opendir(path_of("live"));
    const struct dirent *entry;

    while ((entry = readdir(live)) != NULL)
        if (entry->d_name[0] != '.')
            expect_no_trouble(entry->d_name);
    closedir(live);
    runs_close(world.runs);
    run_spec_done(&world.spec);
    if (world.cgroup[0] != '\0')
        WORKS(cgroup_remove(world.cgroup));
    WORKS(file_remove_tree(AT_FDCWD, world.folder));
    memset(&world, 0, sizeof world);
}

static inline struct run_key start(uint64_t job_id, const char *script)
{
    set_script(job_id, script);
    WORKS(runs_start(world.runs, &world.spec, &err));
    return world.spec.key;
}

static inline struct run_event next_event(void)
{
    struct run_event event;

    while (runs_next(world.runs, &event) == 0) {
        struct pollfd fd = {.fd = runs_fd(world.runs), .events = POLLIN};

        if (poll(&fd, 1, PATIENCE_MS) != 1)
            fail_msg("no event came");
    }
    return event;
}

/* The next event must be of this type. */
static inline struct run_event expect(enum run_event_type type)
{
    const struct run_event event = next_event();

    if (event.type != type)
        fail_msg("event %d in place of %d: code %d, signal %d, '%s'", event.type, type,
                 event.state.code, event.state.signal, event.state.error);
    return event;
}

/* Starts it and takes note that it runs. */
static inline struct run_state started(uint64_t job_id, const char *script)
{
    (void)start(job_id, script);
    return expect(RUN_EVENT_STARTED).state;
}

/* What it wrote so far; static. */
static inline const char *log_of(struct run_key key)
{
    static char bytes[65536];
    uint64_t offset = 0;
    const ssize_t count = runs_read_log(world.runs, key, &offset, bytes, sizeof bytes - 1);

    bytes[count < 0 ? 0 : count] = '\0';
    return bytes;
}

static inline bool is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* The number that a task wrote into a file, 0 until it is there whole. */
static inline long number_in(const char *name)
{
    char line[32] = "";
    FILE *file = fopen(path_of(name), "re");

    if (file == NULL)
        return 0;
    if (fgets(line, sizeof line, file) == NULL || strchr(line, '\n') == NULL)
        line[0] = '\0';
    fclose(file);
    return strtol(line, NULL, 10);
}

/* A process that a task said the pid of, as it is now. */
static inline struct process_id process_in(const char *name)
{
    struct process process = {0};

    AWAIT(number_in(name) > 0);
    WORKS(process_read((pid_t)number_in(name), &process));
    return process.id;
}
