/* SPDX-License-Identifier: Apache-2.0 */
#include "run/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "run/control.h"
#include "run/file.h"
#include "run/folder.h"
#include "run/log.h"
#include "run/tree.h"

/* How a run stands to this process. */
enum link {
    LINK_CONNECTED, /* its shepherd says what happens */
    LINK_LOOSE,     /* it has one that does not answer yet: tried again */
    LINK_SWEEPING,  /* it has none: what it left is being killed */
    LINK_OVER,      /* its last event is there */
};

struct run {
    struct run_key key;
    enum link link;
    int folder_fd;
    int socket_fd; /* CONNECTED, else -1 */
    struct run_state state;
    bool started_told;       /* handed out, or not to be */
    enum run_event_type end; /* OVER */
    bool end_told;
    bool queued; /* is in `ready` */
};

struct runs {
    int folder_fd, live_fd, done_fd, lock_fd;
    int epoll_fd, timer_fd;
    bool timer_runs;
    char *shepherd;
    char cgroup[CGROUP_PATH_BYTES];
    struct cgroup_powers powers;
    struct run **items; /* [count] by no order */
    uint32_t count, cap;
    struct run **ready; /* [ready_count] with something to tell, first come first */
    uint32_t ready_count, ready_cap;
    pid_t *children; /* [child_count] shepherds that this process started, until they are reaped */
    uint32_t child_count, child_cap;
};

enum { TIMER_US = 20000 };

/* ---- the table ---- */

static bool same_key(struct run_key a, struct run_key b)
{
    return a.job_id == b.job_id && a.task == b.task && a.run == b.run;
}

static struct run *find(const struct runs *runs, struct run_key key)
{
    for (uint32_t i = 0; i < runs->count; i++)
        if (same_key(runs->items[i]->key, key))
            return runs->items[i];
    return NULL;
}

static struct run *add(struct runs *runs, struct run_key key, int folder_fd)
{
    struct run *run = mem_alloc(1, sizeof *run);

    *run = (struct run){.key = key, .link = LINK_LOOSE, .folder_fd = folder_fd, .socket_fd = -1};
    vec_push(runs->items, runs->count, runs->cap, run);
    return run;
}

static void disconnect(struct run *run)
{
    if (run->socket_fd >= 0)
        close(run->socket_fd); /* which takes it out of the epoll set as well */
    run->socket_fd = -1;
}

static void run_free(struct run *run)
{
    disconnect(run);
    if (run->folder_fd >= 0)
        close(run->folder_fd);
    mem_free(run);
}

static void take_out(struct run **items, uint32_t *count, const struct run *run)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (items[i] != run)
            continue;
        memmove(&items[i], &items[i + 1], (*count - i - 1) * sizeof *items);
        (*count)--;
        return;
    }
}

static void remove_run(struct runs *runs, struct run *run)
{
    take_out(runs->items, &runs->count, run);
    take_out(runs->ready, &runs->ready_count, run);
    run_free(run);
}

/* ---- the timer: for what can only be asked again ---- */

static void set_timer(struct runs *runs, bool on)
{
    const struct timespec step = {.tv_nsec = on ? TIMER_US * 1000 : 0};
    const struct itimerspec spec = {.it_interval = step, .it_value = step};

    if (runs->timer_runs != on)
        timerfd_settime(runs->timer_fd, 0, &spec, NULL);
    runs->timer_runs = on;
}

static void queue(struct runs *runs, struct run *run)
{
    if (run->queued)
        return;
    run->queued = true;
    vec_push(runs->ready, runs->ready_count, runs->ready_cap, run);
}

static void over(struct runs *runs, struct run *run, enum run_event_type end)
{
    disconnect(run);
    run->link = LINK_OVER;
    run->end = end;
    queue(runs, run);
}

/* ---- what is known of a run ---- */

static void note_state(struct runs *runs, struct run *run, const struct run_state *state)
{
    run->state = *state;
    if (state->phase == RUN_ENDED)
        over(runs, run, RUN_EVENT_ENDED);
    else if (state->phase == RUN_FAILED)
        over(runs, run, RUN_EVENT_FAILED);
    else if (state->phase == RUN_RUNNING && !run->started_told)
        queue(runs, run);
}

static void group_of(const struct runs *runs, struct run_key key, char out[CGROUP_PATH_BYTES])
{
    char name[RUN_NAME_BYTES];

    run_key_name(key, name);
    if (runs->cgroup[0] == '\0' ||
        snprintf(out, CGROUP_PATH_BYTES, "%s/%s", runs->cgroup, name) >= CGROUP_PATH_BYTES)
        out[0] = '\0';
}

static void sweep(struct runs *runs, struct run *run)
{
    char group[CGROUP_PATH_BYTES];
    struct run_spec spec;
    bool none_left;

    run_spec_init(&spec);
    group_of(runs, run->key, group);
    /* Its group is where it was put, though the daemon may be configured otherwise by now. */
    if (run_spec_load(run->folder_fd, &spec, NULL) < 0)
        run_spec_text(&spec.cgroup, group);
    none_left = tree_sweep(&run->state, spec.uid, spec.cgroup);
    run_spec_done(&spec);
    if (none_left)
        over(runs, run, RUN_EVENT_LOST);
    else
        set_timer(runs, true);
}

/* The shepherd is gone. What it wrote down says whether that is the end, or how it came. */
static void bury(struct runs *runs, struct run *run, enum folder_life life)
{
    struct run_state state;

    if (life == FOLDER_UNBEGUN) {
        over(runs, run, RUN_EVENT_UNBEGUN);
        return;
    }
    if (run_state_load(run->folder_fd, &state, NULL) == 0) {
        note_state(runs, run, &state);
        if (run->link == LINK_OVER)
            return;
    }
    run->link = LINK_SWEEPING;
    sweep(runs, run);
}

static int watch(const struct runs *runs, int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = what}};

    return epoll_ctl(runs->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Finds out how a run stands: connects to its shepherd, if it has one. */
static void attach(struct runs *runs, struct run *run)
{
    const enum folder_life life = folder_life(run->folder_fd);

    disconnect(run);
    if (life != FOLDER_ALIVE) {
        bury(runs, run, life);
        return;
    }
    run->socket_fd = folder_connect(run->folder_fd);
    if (run->socket_fd >= 0 && watch(runs, run->socket_fd, run) == 0) {
        run->link = LINK_CONNECTED;
        return;
    }
    disconnect(run);
    run->link = LINK_LOOSE;
    set_timer(runs, true);
}

/* ---- events ---- */

static void hear(struct runs *runs, struct run *run)
{
    char text[RUN_STATE_TEXT_BYTES];
    const ssize_t count = recv(run->socket_fd, text, sizeof text - 1, MSG_DONTWAIT);
    struct run_state state;

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count > 0) {
        text[count] = '\0';
        if (run_state_parse(text, &state, NULL) == 0) {
            note_state(runs, run, &state);
            return;
        }
    }
    attach(runs, run);
}

static void reap(struct runs *runs)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < runs->child_count; i++)
        if (waitpid(runs->children[i], NULL, WNOHANG) == 0)
            runs->children[kept++] = runs->children[i];
    runs->child_count = kept;
}

/* Asks again what could not be answered; stops the timer when nothing is left to ask. */
static void ask_again(struct runs *runs)
{
    uint64_t ticks;
    bool more = false;

    if (read(runs->timer_fd, &ticks, sizeof ticks) < 0)
        return;
    for (uint32_t i = 0; i < runs->count; i++) {
        struct run *run = runs->items[i];

        if (run->link == LINK_LOOSE)
            attach(runs, run);
        else if (run->link == LINK_SWEEPING)
            sweep(runs, run);
        more = more || run->link == LINK_LOOSE || run->link == LINK_SWEEPING;
    }
    set_timer(runs, more);
}

/* The event that a run has to tell; false if there is none any more. */
static bool tell(struct run *run, struct run_event *out)
{
    const bool ran = run->state.phase == RUN_RUNNING || run->state.phase == RUN_ENDED;

    out->key = run->key;
    out->state = run->state;
    if (ran && !run->started_told) {
        run->started_told = true;
        out->type = RUN_EVENT_STARTED;
        return true;
    }
    if (run->link != LINK_OVER || run->end_told)
        return false;
    run->end_told = true;
    out->type = run->end;
    return true;
}

static bool next_ready(struct runs *runs, struct run_event *out)
{
    while (runs->ready_count > 0) {
        struct run *run = runs->ready[0];

        if (tell(run, out))
            return true;
        run->queued = false;
        take_out(runs->ready, &runs->ready_count, run);
    }
    return false;
}

int runs_next(struct runs *runs, struct run_event *out)
{
    struct epoll_event event;

    while (!next_ready(runs, out)) {
        if (epoll_wait(runs->epoll_fd, &event, 1, 0) <= 0) {
            reap(runs);
            return 0;
        }
        if (event.data.ptr == NULL)
            ask_again(runs);
        else
            hear(runs, event.data.ptr);
    }
    return 1;
}

int runs_fd(const struct runs *runs)
{
    return runs->epoll_fd;
}

/* ---- start, stop ---- */

/* Whether something began in a live folder, whatever the table says. */
static bool has_begun(const struct runs *runs, const char *name)
{
    const int folder_fd = folder_open(runs->live_fd, name, false, NULL);
    const bool begun =
        folder_fd >= 0 ? folder_life(folder_fd) != FOLDER_UNBEGUN : folder_fd != -ENOENT;

    if (folder_fd >= 0)
        close(folder_fd);
    return begun;
}

/* A start that got nowhere leaves a folder in which nothing began: it is no run. */
static int clear_unbegun(struct runs *runs, struct run_key key, struct err *err)
{
    char name[RUN_NAME_BYTES];
    struct run *run = find(runs, key);
    struct stat facts;

    run_key_name(key, name);
    if ((run != NULL && !(run->link == LINK_OVER && run->end == RUN_EVENT_UNBEGUN)) ||
        has_begun(runs, name))
        return err_set(err, -EEXIST, "run %s: was started before", name);
    if (fstatat(runs->done_fd, name, &facts, AT_SYMLINK_NOFOLLOW) == 0)
        return err_set(err, -EEXIST, "run %s: has ended before", name);
    if (run != NULL)
        remove_run(runs, run);
    return file_remove_tree(runs->live_fd, name);
}

int runs_start(struct runs *runs, const struct run_spec *spec, struct err *err)
{
    struct run_spec own = *spec;
    char group[CGROUP_PATH_BYTES];
    int folder_fd, rc = run_spec_check(spec, err);
    pid_t pid;

    if (rc == 0)
        rc = clear_unbegun(runs, spec->key, err);
    if (rc < 0)
        return rc;
    group_of(runs, spec->key, group);
    own.cgroup = group;
    rc = folder_start(runs->live_fd, &own, runs->shepherd, &folder_fd, &pid, err);
    if (rc < 0)
        return rc;
    vec_push(runs->children, runs->child_count, runs->child_cap, pid);
    attach(runs, add(runs, spec->key, folder_fd));
    return 0;
}

static int ask(struct runs *runs, struct run_key key, const struct control *control)
{
    struct run *run = find(runs, key);
    char text[CONTROL_BYTES_MAX];
    const uint32_t length = control_format(control, text);

    if (run == NULL || run->link == LINK_OVER || run->link == LINK_SWEEPING)
        return -ENOENT;
    if (run->link == LINK_LOOSE ||
        send(run->socket_fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return -EAGAIN;
    return 0;
}

int runs_signal(struct runs *runs, struct run_key key, int signal)
{
    return ask(runs, key, &(struct control){.verb = CONTROL_SIGNAL, .signal = signal});
}

int runs_stop(struct runs *runs, struct run_key key, int signal, int64_t grace_us)
{
    return ask(runs, key,
               &(struct control){.verb = CONTROL_STOP, .signal = signal, .grace_us = grace_us});
}

int runs_kill(struct runs *runs, struct run_key key)
{
    return ask(runs, key, &(struct control){.verb = CONTROL_KILL});
}

/* ---- afterwards ---- */

/* The state and the log stay; who wrote no log leaves nothing. */
static int put_away(struct runs *runs, const struct run *run, const char *name)
{
    static const char *const live_only[] = {"spec", "socket", "lock", "trouble", "state.new"};
    uint64_t first, end;

    if (run_log_extent(run->folder_fd, run->state.log_file_bytes, &first, &end) < 0 || end == 0)
        return file_remove_tree(runs->live_fd, name);
    for (size_t i = 0; i < sizeof live_only / sizeof live_only[0]; i++)
        unlinkat(run->folder_fd, live_only[i], 0);
    return renameat(runs->live_fd, name, runs->done_fd, name) < 0 ? -errno : 0;
}

int runs_settle(struct runs *runs, struct run_key key)
{
    struct run *run = find(runs, key);
    char name[RUN_NAME_BYTES];
    int rc;

    if (run == NULL || run->link != LINK_OVER)
        return -ENOENT;
    run_key_name(key, name);
    rc = put_away(runs, run, name);
    if (rc == 0)
        remove_run(runs, run);
    return rc;
}

int runs_prune(struct runs *runs, struct run_key key)
{
    char name[RUN_NAME_BYTES];

    run_key_name(key, name);
    return file_remove_tree(runs->done_fd, name);
}

ssize_t runs_read_log(struct runs *runs, struct run_key key, uint64_t *offset, char *out,
                      size_t size)
{
    const struct run *run = find(runs, key);
    char name[RUN_NAME_BYTES];
    struct run_state state;
    int folder_fd;
    ssize_t count;

    run_key_name(key, name);
    if (run != NULL)
        folder_fd = folder_open(run->folder_fd, ".", false, NULL);
    else
        folder_fd = folder_open(runs->done_fd, name, false, NULL);
    if (folder_fd < 0)
        return folder_fd;
    count = run_state_load(folder_fd, &state, NULL);
    if (count == 0)
        count = run_log_read(folder_fd, state.log_file_bytes, offset, out, size);
    close(folder_fd);
    return count;
}

struct run_key *runs_list(const struct runs *runs, uint32_t *out_count)
{
    struct run_key *keys = mem_alloc(runs->count, sizeof *keys);

    *out_count = 0;
    for (uint32_t i = 0; i < runs->count; i++)
        if (runs->items[i]->link != LINK_OVER)
            keys[(*out_count)++] = runs->items[i]->key;
    return keys;
}

const struct run_state *runs_find(const struct runs *runs, struct run_key key)
{
    const struct run *run = find(runs, key);

    return run == NULL ? NULL : &run->state;
}

struct cgroup_powers runs_powers(const struct runs *runs)
{
    return runs->powers;
}

/* ---- open, close ---- */

/* The lock is of the kind that belongs to this process alone: a shepherd that is being started when
 * the daemon is killed must not hold it a moment longer. */
static int take_folder(struct runs *runs, const char *folder, struct err *err)
{
    const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    runs->folder_fd = folder_open(AT_FDCWD, folder, true, err);
    if (runs->folder_fd < 0)
        return runs->folder_fd;
    runs->lock_fd = openat(runs->folder_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (runs->lock_fd < 0)
        return err_set(err, -errno, "cannot open '%s/lock': %s", folder, strerror(errno));
    if (fcntl(runs->lock_fd, F_SETLK, &whole) < 0)
        return err_set(err, -EBUSY, "folder '%s': another daemon uses it", folder);
    runs->live_fd = folder_open(runs->folder_fd, "live", true, err);
    runs->done_fd = runs->live_fd < 0 ? -1 : folder_open(runs->folder_fd, "done", true, err);
    return runs->live_fd < 0 ? runs->live_fd : runs->done_fd < 0 ? runs->done_fd : 0;
}

static int make_loop(struct runs *runs, struct err *err)
{
    runs->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    runs->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (runs->epoll_fd < 0 || runs->timer_fd < 0 || watch(runs, runs->timer_fd, NULL) < 0)
        return err_set(err, -errno, "cannot make an epoll set: %s", strerror(errno));
    return 0;
}

/* Adds the run in a folder; strange names are left alone. A run that cannot be looked at is an
 * error: it must not be taken for one that is not there. */
static int find_one(struct runs *runs, const char *name, struct err *err)
{
    struct run_key key;
    int folder_fd;

    if (run_key_parse(name, &key) < 0)
        return 0;
    folder_fd = folder_open(runs->live_fd, name, false, err);
    if (folder_fd >= 0)
        attach(runs, add(runs, key, folder_fd));
    return folder_fd < 0 ? folder_fd : 0;
}

static int find_all(struct runs *runs, struct err *err)
{
    const int fd = folder_open(runs->live_fd, ".", false, err);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int rc = 0;

    if (folder == NULL)
        return fd < 0 ? fd : -errno;
    while (rc == 0 && (entry = readdir(folder)) != NULL)
        rc = find_one(runs, entry->d_name, err);
    closedir(folder);
    return rc;
}

int runs_open(const struct runs_config *config, struct runs **out, struct err *err)
{
    struct runs *runs = mem_alloc(1, sizeof *runs);
    int rc;

    *runs = (struct runs){.folder_fd = -1,
                          .live_fd = -1,
                          .done_fd = -1,
                          .lock_fd = -1,
                          .epoll_fd = -1,
                          .timer_fd = -1};
    run_spec_text(&runs->shepherd, config->shepherd);
    rc = take_folder(runs, config->folder, err);
    if (rc == 0)
        rc = make_loop(runs, err);
    if (rc == 0)
        rc = cgroup_prepare(config->cgroup, runs->cgroup, &runs->powers, err);
    if (rc == 0)
        rc = find_all(runs, err);
    if (rc < 0) {
        runs_close(runs);
        return rc;
    }
    *out = runs;
    return 0;
}

void runs_close(struct runs *runs)
{
    if (runs == NULL)
        return;
    reap(runs);
    for (uint32_t i = 0; i < runs->count; i++)
        run_free(runs->items[i]);
    for (size_t i = 0; i < 6; i++) {
        const int fds[] = {runs->timer_fd, runs->epoll_fd, runs->done_fd,
                           runs->live_fd,  runs->lock_fd,  runs->folder_fd};

        if (fds[i] >= 0)
            close(fds[i]);
    }
    mem_free(runs->items);
    mem_free(runs->ready);
    mem_free(runs->children);
    mem_free(runs->shepherd);
    mem_free(runs);
}
