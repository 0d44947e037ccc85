/* SPDX-License-Identifier: Apache-2.0 */
#include "run/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/map.h"
#include "base/scan.h"
#include "base/vec.h"

/* The start of a file, NUL-terminated; its length, or a negative errno. */
static ssize_t read_file(const char *path, char *out, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count;

    if (fd < 0)
        return -errno;
    count = read(fd, out, size - 1);
    close(fd);
    if (count < 0)
        return -ESRCH;
    out[count] = '\0';
    return count;
}

void process_boot_id(char out[BOOT_ID_BYTES])
{
    if (read_file("/proc/sys/kernel/random/boot_id", out, BOOT_ID_BYTES) < 0)
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* The number of field `wanted` (the state is 3) of a line of /proc/PID/stat, whose second field, a
 * name in parentheses, may hold anything. */
static int64_t stat_field(const char *after_name, uint32_t wanted)
{
    const char *at = after_name;

    for (uint32_t field = 3; field < wanted && *at != '\0'; field++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return strtoll(at, NULL, 10);
}

int process_read(pid_t pid, struct process *out)
{
    char path[32], line[1024];
    const char *after_name;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (pid <= 0 || read_file(path, line, sizeof line) < 0)
        return -ESRCH;
    after_name = strrchr(line, ')');
    if (after_name == NULL || after_name[1] != ' ')
        return -ESRCH;
    after_name += 2;
    out->id = (struct process_id){pid, (uint64_t)stat_field(after_name, 22)};
    out->state = after_name[0];
    out->parent = (pid_t)stat_field(after_name, 4);
    out->group = (pid_t)stat_field(after_name, 5);
    out->session = (pid_t)stat_field(after_name, 6);
    return 0;
}

bool process_runs(struct process_id id)
{
    struct process now;

    return process_read(id.pid, &now) == 0 && now.id.start == id.start && now.state != 'Z' &&
           now.state != 'X';
}

/* Between the look and the signal the pid may be given to another: a file descriptor of the process
 * may not. Kernels without these calls (before 5.3) are left with that moment. */
int process_signal(struct process_id id, int signal)
{
    const int fd = id.pid > 0 ? (int)syscall(SYS_pidfd_open, id.pid, 0) : -1;
    const bool has_none = fd < 0 && errno == ENOSYS;
    int rc = -ESRCH;

    if ((fd >= 0 || has_none) && process_runs(id)) {
        if (fd >= 0)
            rc = syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) == 0 ? 0 : -errno;
        else
            rc = kill(id.pid, signal) == 0 ? 0 : -errno;
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

void process_list_read(struct process_list *list)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;

    list->count = 0;
    if (proc == NULL)
        return;
    while ((entry = readdir(proc)) != NULL) {
        struct process process;
        uint32_t pid;

        if (scan_u32(entry->d_name, &pid) == 0 && pid <= INT32_MAX &&
            process_read((pid_t)pid, &process) == 0)
            vec_push(list->items, list->count, list->cap, process);
    }
    closedir(proc);
}

void process_list_done(struct process_list *list)
{
    mem_free(list->items);
    *list = (struct process_list){0};
}

/* Whether a variable begins with these bytes, and ends there too if it is meant whole. */
static bool find_variable(struct process_id id, const char *start, size_t length, bool whole)
{
    char path[40], *line = NULL;
    size_t cap = 0;
    ssize_t count;
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)id.pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    while (!found && (count = getdelim(&line, &cap, '\0', file)) > 0)
        found = (size_t)count > length && memcmp(line, start, length) == 0 &&
                line[length] == (whole ? '\0' : '=');
    free(line);
    fclose(file);
    return found && process_runs(id);
}

bool process_has_variable(struct process_id id, const char *variable)
{
    return find_variable(id, variable, strlen(variable), true);
}

bool process_has_name(struct process_id id, const char *name)
{
    return find_variable(id, name, strlen(name), false);
}

void process_list_descend(const struct process_list *list, bool *chosen)
{
    struct map by_pid;
    bool more = true;

    map_init(&by_pid);
    for (uint32_t i = 0; i < list->count; i++)
        map_put(&by_pid, (uint64_t)list->items[i].id.pid, i);
    while (more) {
        more = false;
        for (uint32_t i = 0; i < list->count; i++) {
            uint32_t parent;

            if (chosen[i] || !map_find(&by_pid, (uint64_t)list->items[i].parent, &parent) ||
                !chosen[parent])
                continue;
            chosen[i] = more = true;
        }
    }
    map_done(&by_pid);
}
