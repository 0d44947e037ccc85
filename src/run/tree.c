/* SPDX-License-Identifier: Apache-2.0 */
#include "run/tree.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/cgroup.h"
#include "run/environment.h"

static bool has_ended(const struct process *process)
{
    return process->state == 'Z' || process->state == 'X';
}

/* Signals all that are chosen and still run; how many. */
static uint32_t signal_chosen(const struct process_list *list, const bool *chosen, int signal)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        if (!chosen[i] || has_ended(&list->items[i]))
            continue;
        (void)process_signal(list->items[i].id, signal);
        count++;
    }
    return count;
}

static void signal_children(int signal)
{
    struct process_list list = {0};
    bool *chosen;

    process_list_read(&list);
    chosen = mem_alloc(list.count, sizeof *chosen);
    for (uint32_t i = 0; i < list.count; i++)
        chosen[i] = list.items[i].parent == getpid();
    process_list_descend(&list, chosen);
    (void)signal_chosen(&list, chosen, signal);
    mem_free(chosen);
    process_list_done(&list);
}

/* Stopped first, so that what makes processes as fast as they are killed makes no more. */
void tree_kill_children(void)
{
    signal_children(SIGSTOP);
    signal_children(SIGKILL);
}

/* ---- without the shepherd ---- */

static bool is_of_user(pid_t pid, uint32_t uid)
{
    char path[32];
    struct stat facts;

    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &facts) == 0 && facts.st_uid == uid;
}

/* Whoever has the pid of the leader now is not the leader: then its group is not that one. */
static bool leader_was_replaced(const struct process_list *list, struct process_id leader)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].id.pid == leader.pid)
            return list->items[i].id.start != leader.start;
    return false;
}

static void choose(const struct process_list *list, const struct run_state *state, uint32_t uid,
                   bool *chosen)
{
    const struct process_id leader = state->task;
    const bool group_is_ours = leader.pid > 0 && !leader_was_replaced(list, leader);
    char mark[RUN_MARK_BYTES];

    run_mark(state->shepherd, mark);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct process *process = &list->items[i];
        const bool in_group = process->session == leader.pid || process->group == leader.pid;

        chosen[i] = process_has_variable(process->id, mark);
        if (!chosen[i] && group_is_ours && in_group && process->id.start >= leader.start &&
            is_of_user(process->id.pid, uid))
            chosen[i] = !process_has_name(process->id, RUN_MARK_NAME);
    }
}

bool tree_sweep(const struct run_state *state, uint32_t uid, const char *cgroup)
{
    struct process_list list = {0};
    char boot[BOOT_ID_BYTES];
    uint32_t left;
    bool *chosen;

    process_boot_id(boot);
    if (state->boot[0] != '\0' && strcmp(boot, state->boot) != 0)
        return true;
    if (cgroup[0] != '\0')
        (void)cgroup_kill(cgroup);
    process_list_read(&list);
    chosen = mem_alloc(list.count, sizeof *chosen);
    choose(&list, state, uid, chosen);
    process_list_descend(&list, chosen);
    left = signal_chosen(&list, chosen, SIGKILL);
    mem_free(chosen);
    process_list_done(&list);
    if (left > 0 || (cgroup[0] != '\0' && cgroup_is_populated(cgroup)))
        return false;
    (void)cgroup_remove(cgroup);
    return true;
}
