/* SPDX-License-Identifier: Apache-2.0 */
#include "run/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"

enum { CGROUP2_MAGIC = 0x63677270, CPU_PERIOD_US = 100000, DEPTH_MAX = 16 };

/* ---- files ---- */

static int open_in(const char *path, const char *name, int flags)
{
    char full[CGROUP_PATH_BYTES + 64];
    int fd;

    if ((size_t)snprintf(full, sizeof full, "%s/%s", path, name) >= sizeof full)
        return -ENAMETOOLONG;
    fd = open(full, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int write_in(const char *path, const char *name, const char *value)
{
    const int fd = open_in(path, name, O_WRONLY);
    int rc;

    if (fd < 0)
        return fd;
    rc = write(fd, value, strlen(value)) < 0 ? -errno : 0;
    close(fd);
    return rc;
}

/* The start of the file, "" if it cannot be read. */
static void read_in(const char *path, const char *name, char *out, size_t size)
{
    const int fd = open_in(path, name, O_RDONLY);
    ssize_t count = fd < 0 ? -1 : read(fd, out, size - 1);

    out[count < 0 ? 0 : count] = '\0';
    if (fd >= 0)
        close(fd);
}

/* The number after a word at the start of a line, as in "populated 1", or 0. */
static uint64_t read_value(const char *path, const char *name, const char *word)
{
    char bytes[1024];
    const size_t length = strlen(word);

    read_in(path, name, bytes, sizeof bytes);
    for (const char *line = bytes; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) == 0 && line[length] == ' ')
            return strtoull(line + length + 1, NULL, 10);
    }
    return 0;
}

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = text; *at != '\0'; at += strspn(at, " \n")) {
        const size_t here = strcspn(at, " \n");

        if (here == length && memcmp(at, word, length) == 0)
            return true;
        at += here;
    }
    return false;
}

/* ---- where groups may be ---- */

static bool is_cgroup2(const char *path)
{
    struct statfs fs;

    return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_MAGIC;
}

/* The group of this process: "/sys/fs/cgroup/system.slice/berthd.service". */
static int own_group(char out[CGROUP_PATH_BYTES])
{
    static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char line[CGROUP_PATH_BYTES], own[CGROUP_PATH_BYTES] = "";
    FILE *file = fopen("/proc/self/cgroup", "re");

    if (file == NULL)
        return -ENOENT;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "0::/", 4) == 0)
            snprintf(own, sizeof own, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    fclose(file);
    for (size_t i = 0; i < sizeof roots / sizeof roots[0] && own[0] != '\0'; i++)
        if (is_cgroup2(roots[i]))
            return snprintf(out, CGROUP_PATH_BYTES, "%s%s", roots[i],
                            strcmp(own, "/") == 0 ? "" : own) < CGROUP_PATH_BYTES
                       ? 0
                       : -ENAMETOOLONG;
    return -ENOENT;
}

static int make_group(const char *path)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : -errno;
}

/* Has the controllers passed on to the groups below; what is not there is passed over. */
static int pass_on(const char *path)
{
    static const char *const controllers[] = {"cpu", "memory", "pids"};
    char there[256], word[16];
    int worst = 0;

    read_in(path, "cgroup.controllers", there, sizeof there);
    for (size_t i = 0; i < sizeof controllers / sizeof controllers[0]; i++) {
        int rc;

        if (!has_word(there, controllers[i]))
            continue;
        snprintf(word, sizeof word, "+%s", controllers[i]);
        rc = write_in(path, "cgroup.subtree_control", word);
        worst = rc < 0 ? rc : worst;
    }
    return worst;
}

/* Moves this process out of the way of the groups below its own. */
static int step_aside(const char *own)
{
    char daemon[CGROUP_PATH_BYTES + 16];
    int rc;

    snprintf(daemon, sizeof daemon, "%s/daemon", own);
    rc = make_group(daemon);
    return rc < 0 ? rc : write_in(daemon, "cgroup.procs", "0");
}

static int prepare_auto(char out[CGROUP_PATH_BYTES])
{
    char own[CGROUP_PATH_BYTES];
    int rc = own_group(own);

    if (rc < 0)
        return rc;
    if (access(own, W_OK) < 0)
        return -errno;
    if (pass_on(own) == -EBUSY && step_aside(own) == 0)
        (void)pass_on(own);
    if (snprintf(out, CGROUP_PATH_BYTES, "%s/berth", own) >= CGROUP_PATH_BYTES)
        return -ENAMETOOLONG;
    return make_group(out);
}

/* Whether a group can really be made there: a read-only mount says so only when asked. */
static int try_group(const char *path)
{
    char trial[CGROUP_PATH_BYTES + 16];
    int rc;

    snprintf(trial, sizeof trial, "%s/trial.%d", path, (int)getpid());
    rc = make_group(trial);
    if (rc == 0)
        rmdir(trial);
    return rc;
}

int cgroup_prepare(const char *parent, char out_path[CGROUP_PATH_BYTES],
                   struct cgroup_powers *out_powers, struct err *err)
{
    const bool automatic = strcmp(parent, "auto") == 0;
    char path[CGROUP_PATH_BYTES] = "", passed[256];
    int rc = 0;

    *out_powers = (struct cgroup_powers){0};
    out_path[0] = '\0';
    if (parent[0] == '\0')
        return 0;
    if (automatic)
        rc = prepare_auto(path);
    else if (strlen(parent) >= sizeof path - 64)
        return err_set(err, -ENAMETOOLONG, "cgroup '%s': too long a path", parent);
    else {
        snprintf(path, sizeof path, "%s", parent);
        rc = make_group(path);
    }
    if (rc == 0 && !is_cgroup2(path))
        rc = -ENOENT;
    if (rc == 0)
        rc = try_group(path);
    if (rc < 0)
        return automatic ? 0
                         : err_set(err, rc, "cgroup '%s': cannot make groups there: %s", parent,
                                   rc == -ENOENT ? "not in a cgroup2 file system" : strerror(-rc));
    (void)pass_on(path);
    read_in(path, "cgroup.subtree_control", passed, sizeof passed);
    *out_powers = (struct cgroup_powers){true, has_word(passed, "cpu"), has_word(passed, "memory")};
    memcpy(out_path, path, sizeof path);
    return 0;
}

/* ---- the group of a run ---- */

static int set_limits(const char *path, int64_t cpu_mcpu, int64_t memory_bytes, struct err *err)
{
    char value[64];
    int rc = 0;

    if (cpu_mcpu > 0) {
        snprintf(value, sizeof value, "%lld %d", (long long)(cpu_mcpu * (CPU_PERIOD_US / 1000)),
                 CPU_PERIOD_US);
        rc = write_in(path, "cpu.max", value);
        if (rc < 0 && rc != -ENOENT)
            return err_set(err, rc, "cgroup '%s': cpu.max: %s", path, strerror(-rc));
    }
    if (memory_bytes > 0) {
        snprintf(value, sizeof value, "%lld", (long long)memory_bytes);
        rc = write_in(path, "memory.max", value);
        if (rc < 0 && rc != -ENOENT)
            return err_set(err, rc, "cgroup '%s': memory.max: %s", path, strerror(-rc));
        (void)write_in(path, "memory.swap.max", "0");
        (void)write_in(path, "memory.oom.group", "1");
    }
    return 0;
}

int cgroup_make(const char *path, int64_t cpu_mcpu, int64_t memory_bytes, struct err *err)
{
    const int rc = make_group(path);

    if (rc < 0)
        return err_set(err, rc, "cgroup '%s': cannot make it: %s", path, strerror(-rc));
    if (cgroup_is_populated(path))
        return err_set(err, -EBUSY, "cgroup '%s': something runs in it already", path);
    return set_limits(path, cpu_mcpu, memory_bytes, err);
}

int cgroup_open_procs(const char *path)
{
    return open_in(path, "cgroup.procs", O_WRONLY);
}

int cgroup_join(int procs_fd)
{
    return write(procs_fd, "0", 1) == 1 ? 0 : -errno;
}

/* Kernels before 5.14 have no cgroup.kill. */
static int kill_one_by_one(const char *path)
{
    char full[CGROUP_PATH_BYTES + 64], line[32];
    FILE *file;

    snprintf(full, sizeof full, "%s/cgroup.procs", path);
    file = fopen(full, "re");
    if (file == NULL)
        return -errno;
    while (fgets(line, sizeof line, file) != NULL) {
        const long pid = strtol(line, NULL, 10);

        if (pid > 0)
            kill((pid_t)pid, SIGKILL);
    }
    fclose(file);
    return 0;
}

int cgroup_kill(const char *path)
{
    const int rc = write_in(path, "cgroup.kill", "1");

    return rc == -ENOENT ? kill_one_by_one(path) : rc;
}

bool cgroup_is_populated(const char *path)
{
    return read_value(path, "cgroup.events", "populated") != 0;
}

uint64_t cgroup_oom_kills(const char *path)
{
    return read_value(path, "memory.events", "oom_kill");
}

static int remove_below(const char *path, uint32_t depth)
{
    char below[CGROUP_PATH_BYTES];
    DIR *folder = opendir(path);
    const struct dirent *entry;

    if (folder == NULL)
        return errno == ENOENT ? 0 : -errno;
    while (depth < DEPTH_MAX && (entry = readdir(folder)) != NULL) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        if (snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < (int)sizeof below)
            (void)remove_below(below, depth + 1);
    }
    closedir(folder);
    return rmdir(path) == 0 || errno == ENOENT ? 0 : -errno;
}

int cgroup_remove(const char *path)
{
    return path[0] == '\0' ? 0 : remove_below(path, 0);
}
