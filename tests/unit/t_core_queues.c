/* SPDX-License-Identifier: Apache-2.0 */
/* What queues let jobs hold, and whose turn it is between them. */
#include "unit/queues_test.h"

static void a_job_starts_in_the_layout_that_its_queue_lets_it_hold(void **state)
{
    const struct group_spec four = {.tasks = 1, .gpus = 4}, two = {.tasks = 1, .gpus = 2};
    const struct job_layout_spec layouts[] = {
        {.groups = &four, .group_count = 1, .slowdown_ppm = 1000000},
        {.groups = &two, .group_count = 1, .slowdown_ppm = 1500000}};
    struct queue_spec q = queue("q", "");
    struct bed bed;

    (void)state;
    bed_open_orders(&bed);
    bed_node(&bed, "n0", 8);
    q.limit[RES_GPU_MGPU] = 3000;
    bed_queues(&bed, &q, 1);
    apply(&bed, (struct event){.type = EVENT_JOB_SUBMITTED,
                               .job = {.id = 1,
                                       .queue = "q",
                                       .user = "",
                                       .name = "",
                                       .layouts = layouts,
                                       .layout_count = 2,
                                       .grace_us = -1,
                                       .min_run_us = -1,
                                       .remaining_us = -1}});
    bed_step(&bed);
    assert_starts(&bed, 1, 0, "n0", 0x3);
    assert_int_equal(bed_find(&bed, DECISION_START, 1)->layout, 1);
    bed_close(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_job_starts_in_the_layout_that_its_queue_lets_it_hold),
    };

    return RUN_TESTS(tests);
}
