/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - job states and reasons in words. */
#include "core/job.h"

#include "base/check.h"

const char *reason_reject_text(enum reason reason)
{
    switch (reason) {
    case REASON_QUOTA:
        return "asks for more than the limit of a queue, and can never start";
    case REASON_BORROW:
        return "asks for more than a queue may hold with all it may borrow, and can never start";
    case REASON_USER:
        return "asks for more than one user of the queue may hold, and can never start";
    case REASON_CLASS:
        return "asks for more than one user of the priority class may hold, and can never start";
    default:
        return reason_text(reason);
    }
}

const char *reason_text(enum reason reason)
{
    static const char *const texts[REASON_COUNT] = {
        [REASON_NONE] = "not waiting",
        [REASON_NEW] = "new",
        [REASON_NEVER] = "the nodes of this cluster could not hold it, even if they were empty",
        [REASON_ROOM] = "no node has room for a task of it now",
        [REASON_GANG] = "not all of its tasks fit together now",
        [REASON_ORDER] = "an earlier job holds back all behind it",
        [REASON_VICTIMS] = "jobs that give way to it have not left yet",
        [REASON_QUOTA] = "a queue is at its limit",
        [REASON_BORROW] = "a queue has borrowed as much as it may",
        [REASON_LEND] = "a queue keeps back what it does not lend",
        [REASON_USER] = "its user is at the limit for one user of the queue",
        [REASON_CLASS] = "its user is at the limit for one user of the priority class",
        [REASON_LEVEL] = "no domain of the level that its tasks must share has room for them",
        [REASON_SLOWDOWN] = "would run slower, where there is room, than it accepts",
        [REASON_RESERVED] = "would delay a job that goes before it and has a reservation",
        [REASON_HELD] = "is held by its user",
        [REASON_AFTER] = "waits for other jobs to end",
        [REASON_ARRAY] = "its array has as many jobs running or in line as it may",
        [REASON_IN_VAIN] = "a job that it waited for has ended otherwise",
        [REASON_GIVES_WAY] = "gives way to a job that goes before it",
        [REASON_CANCELLED] = "was cancelled",
        [REASON_FAILED] = "a task of it failed",
        [REASON_LOST] = "a task of it was lost",
        [REASON_LIMIT] = "ran for its time limit",
        [REASON_SPLIT] = "a GPU is being split anew for it",
    };

    check(reason < REASON_COUNT);
    return texts[reason];
}

const char *job_state_text(enum job_state state)
{
    static const char *const texts[] = {"free",     "pending", "starting", "running",  "stopping",
                                        "finished", "failed",  "limited",  "cancelled"};

    check(state <= JOB_CANCELLED);
    return texts[state];
}
