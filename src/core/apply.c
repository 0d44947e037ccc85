/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - core_apply(): the clock, and the call for each kind of fact. */
#include <errno.h>

#include "base/err.h"
#include "core/core.h"
#include "core/facts.h"
#include "core/impl.h"

static int apply_fact(struct core *core, const struct event *event, struct err *err)
{
    switch (event->type) {
    case EVENT_NODE_UPSERTED:
        return fact_node_upserted(core, &event->node, err);
    case EVENT_NODE_REMOVED:
        return fact_node_removed(core, event->node_name, err);
    case EVENT_GPU_HEALTH:
        return fact_gpu_health(core, event, err);
    case EVENT_NODE_HEALTH:
        return fact_node_health(core, event, err);
    case EVENT_NODE_LISTED:
        return fact_node_listed(core, event, err);
    case EVENT_JOB_SUBMITTED:
        return fact_job_submitted(core, &event->job, err);
    case EVENT_JOB_CANCELLED:
        return fact_job_cancelled(core, event->job_id, err);
    case EVENT_TASK_STARTED:
        return fact_task_started(core, event, err);
    case EVENT_TASK_EXITED:
        return fact_task_exited(core, event, err);
    case EVENT_TASK_LOST:
        return fact_task_lost(core, event, err);
    case EVENT_JOB_PROGRESS:
        return fact_job_progress(core, event, err);
    case EVENT_JOB_CHECKPOINT:
        return fact_job_checkpoint(core, event, err);
    case EVENT_JOB_HELD:
        return fact_job_held(core, event->job_id, err);
    case EVENT_JOB_RELEASED:
        return fact_job_released(core, event->job_id, err);
    case EVENT_CONFIG_CHANGED:
        return fact_config_changed(core, &event->rules, err);
    case EVENT_GPU_SPLIT:
        return fact_gpu_split(core, event, err);
    case EVENT_INSTANCE_FAILED:
        return fact_instance_failed(core, event, err);
    case EVENT_TIME_PASSED:
    case EVENT_STEPPED:
        return 0;
    case EVENT_TYPE_COUNT:
        break;
    }
    return err_set(err, -EINVAL, "event: unknown type %d", (int)event->type);
}

int core_apply(struct core *core, const struct event *event, struct err *err)
{
    const int64_t before_us = core->now_us;
    int rc;

    if (event->at_us < 0 || event->at_us > TIME_US_MAX)
        return err_set(err, -EINVAL, "event: at_us: must be 0 to %lld, is %lld", TIME_US_MAX,
                       (long long)event->at_us);
    if (event->at_us > core->now_us)
        core->now_us = event->at_us;
    rc = apply_fact(core, event, err);
    if (rc < 0)
        core->now_us = before_us;
    else if (event->type != EVENT_TIME_PASSED && event->type != EVENT_STEPPED)
        reserve_upset(core);
    return rc;
}
