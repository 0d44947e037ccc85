/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/processes.h"

#include <signal.h>

#include "unit/nvml_test.h"

#define GIB (UINT64_C(1) << 30)

static struct processes list;

static void read_list(uint32_t i)
{
    WORKS(processes_read(gpu(i), world.nvml, &list, &err));
}

static void begin_list(const char *what)
{
    begin(what);
    processes_init(&list);
}

static void end_list(void)
{
    processes_done(&list);
    end();
}

/* Fault 49: two jobs share a GPU, and each has its own memory. */
static void each_process_has_its_own_memory(void **state)
{
    (void)state;
    begin_list("h100x8");
    read_list(0);
    assert_int_equal(list.count, 0);
    ctl("process 0 pid=70001 memory=3G unreal=1");
    ctl("process 0 pid=70002 memory=5G unreal=1");
    ctl("process 1 pid=70003 memory=7G unreal=1");
    read_list(0);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].pid, 70001);
    assert_true(reading_is(list.items[0].memory_bytes, 3 * GIB));
    assert_true(reading_is(list.items[1].memory_bytes, 5 * GIB));
    assert_int_equal(processes_memory_bytes(&list), 8 * GIB);
    assert_false(list.items[0].gi_id.known);
    assert_false(list.items[0].busy_percent.known);
    end_list();
}

static void a_program_on_two_lists_is_one_row(void **state)
{
    (void)state;
    begin_list("h100x8");
    ctl("process 0 pid=70001 memory=3G kind=compute,graphics unreal=1");
    ctl("process 0 pid=70002 memory=1G kind=mps unreal=1");
    read_list(0);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].kinds, PROCESS_COMPUTE | PROCESS_GRAPHICS);
    assert_int_equal(list.items[1].kinds, PROCESS_MPS);
    assert_int_equal(processes_memory_bytes(&list), 4 * GIB);
    end_list();
}

static void memory_that_the_driver_does_not_know_is_absent(void **state)
{
    (void)state;
    begin_list("h100x8");
    ctl("process 0 pid=70001 unknown=1 unreal=1");
    read_list(0);
    assert_int_equal(list.count, 1);
    assert_false(list.items[0].memory_bytes.known);
    assert_int_equal(processes_memory_bytes(&list), 0);
    end_list();
}

/* Fault 23 again: what cannot be is clamped, and counted. */
static void memory_beyond_the_device_is_clamped(void **state)
{
    (void)state;
    begin_list("l4x1");
    ctl("process 0 pid=70001 memory=1000000G unreal=1");
    read_list(0);
    assert_true(reading_is(list.items[0].memory_bytes, UINT64_C(23034) << 20));
    assert_int_equal(gpu(0)->clamped, 1);
    end_list();
}

/* The same function writes records of 32 bytes with some drivers of the 530 and 535 branches. */
static void records_of_another_size_are_found_out(void **state)
{
    (void)state;
    begin_list("h100x8");
    ctl("driver record=32");
    for (int i = 0; i < 20; i++)
        ctl("process 0 pid=%d memory=%dM unreal=1", 70000 + i, 100 + i);
    read_list(0);
    assert_int_equal(list.count, 20);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(list.items[i].pid, 70000 + i);
        assert_true(reading_is(list.items[i].memory_bytes, (uint64_t)(100 + i) << 20));
    }
    ctl("driver record=24");
    read_list(0);
    assert_int_equal(list.count, 20);
    assert_int_equal(list.items[19].pid, 70019);
    end_list();
}

static void in_mig_mode_each_process_names_its_instance(void **state)
{
    (void)state;
    begin_list("gpus 1 model=h100\nmig 0 on\ninstance 0 3g.40gb start=4\ninstance 0 1g.10gb "
               "start=0\nprocess 0 pid=70001 memory=9G gi=2 ci=0 unreal=1\n"
               "process 0 pid=70002 memory=1G gi=7 ci=0 unreal=1\n");
    read_list(0);
    assert_int_equal(list.count, 2);
    assert_true(reading_is(list.items[0].gi_id, 2));
    assert_true(reading_is(list.items[0].ci_id, 0));
    assert_true(reading_is(list.items[1].gi_id, 7));
    end_list();
}

static void without_privileges_each_instance_is_asked(void **state)
{
    (void)state;
    begin_list("gpus 1 model=h100\nmig 0 on\ninstance 0 3g.40gb start=4\ninstance 0 1g.10gb "
               "start=0\nprocess 0 pid=70001 memory=9G gi=2 ci=0 unreal=1\n"
               "process 0 pid=70002 memory=1G gi=7 ci=0 unreal=1\n");
    ctl("fail nvmlDeviceGetComputeRunningProcesses_v3 4 times=1");
    read_list(0);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].pid, 70001);
    assert_true(reading_is(list.items[0].gi_id, 2));
    assert_true(reading_is(list.items[1].gi_id, 7));
    end_list();
}

static void a_process_that_dies_leaves_with_its_memory(void **state)
{
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        pause();
        _exit(0);
    }
    begin_list("l4x1");
    ctl("process 0 pid=%d memory=2G", (int)pid);
    read_list(0);
    assert_int_equal(list.count, 1);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    read_list(0);
    assert_int_equal(list.count, 0);
    end_list();
}

static void how_busy_each_process_is_comes_from_its_samples(void **state)
{
    struct busy busy = {0};

    (void)state;
    begin_list("h100x8");
    ctl("process 0 pid=70001 memory=1G busy=30 unreal=1");
    ctl("process 0 pid=70002 memory=1G unreal=1");
    read_list(0);
    WORKS(processes_busy(gpu(0), world.nvml, &busy, &list, &err));
    assert_true(reading_is(list.items[0].busy_percent, 30));
    assert_true(reading_is(list.items[1].busy_percent, 0));
    assert_true(busy.last_us > 0);
    assert_int_equal(busy.strange, 0);
    end_list();
}

static void samples_are_counted_once(void **state)
{
    struct busy busy = {.last_us = UINT64_MAX - 1};

    (void)state;
    begin_list("h100x8");
    ctl("process 0 pid=70001 memory=1G busy=30 unreal=1");
    read_list(0);
    WORKS(processes_busy(gpu(0), world.nvml, &busy, &list, &err));
    assert_true(reading_is(list.items[0].busy_percent, 0));
    assert_int_equal(busy.last_us, UINT64_MAX - 1);
    end_list();
}

static void old_and_wild_samples_are_left_out_and_counted(void **state)
{
    struct busy busy = {.last_us = 1000};

    (void)state;
    begin_list("h100x8");
    ctl("process 0 pid=70001 memory=1G busy=30 unreal=1");
    ctl("process 0 pid=1 memory=1G unreal=1");
    ctl("strange on");
    read_list(0);
    WORKS(processes_busy(gpu(0), world.nvml, &busy, &list, &err));
    assert_true(reading_is(list.items[0].busy_percent, 30));
    assert_true(reading_is(list.items[1].busy_percent, 0));
    assert_int_equal(busy.strange, 2);
    end_list();
}

static void in_mig_mode_busy_is_absent_and_no_error(void **state)
{
    struct busy busy = {0};

    (void)state;
    begin_list("gpus 1 model=h100\nmig 0 on\ninstance 0 1g.10gb start=0\n"
               "process 0 pid=70002 memory=1G gi=7 busy=50 unreal=1\n");
    read_list(0);
    WORKS(processes_busy(gpu(0), world.nvml, &busy, &list, &err));
    assert_int_equal(list.count, 1);
    assert_false(list.items[0].busy_percent.known);
    end_list();
}

static void a_gpu_lost_while_its_processes_are_read_is_not_idle(void **state)
{
    (void)state;
    begin_list("h100x8");
    ctl("process 0 pid=70001 memory=1G unreal=1");
    read_list(0);
    ctl("fail nvmlDeviceGetGraphicsRunningProcesses_v3 15 times=1");
    FAILS(processes_read(gpu(0), world.nvml, &list, &err), -ENODEV, "lost");
    assert_int_equal(list.count, 0);
    assert_int_equal(gpu(0)->state, DEVICE_LOST);
    end_list();
}

static void a_list_that_grows_while_it_is_read_is_read_again(void **state)
{
    (void)state;
    begin_list("h100x8");
    for (int i = 0; i < 100; i++)
        ctl("process 0 pid=%d memory=1M unreal=1", 70000 + i);
    ctl("fail nvmlDeviceGetComputeRunningProcesses_v3 7 times=1");
    read_list(0);
    assert_int_equal(list.count, 100);
    end_list();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_process_has_its_own_memory),
        TEST(a_program_on_two_lists_is_one_row),
        TEST(memory_that_the_driver_does_not_know_is_absent),
        TEST(memory_beyond_the_device_is_clamped),
        TEST(records_of_another_size_are_found_out),
        TEST(in_mig_mode_each_process_names_its_instance),
        TEST(without_privileges_each_instance_is_asked),
        TEST(a_process_that_dies_leaves_with_its_memory),
        TEST(how_busy_each_process_is_comes_from_its_samples),
        TEST(samples_are_counted_once),
        TEST(old_and_wild_samples_are_left_out_and_counted),
        TEST(in_mig_mode_busy_is_absent_and_no_error),
        TEST(a_gpu_lost_while_its_processes_are_read_is_not_idle),
        TEST(a_list_that_grows_while_it_is_read_is_read_again),
    };

    return RUN_TESTS(tests);
}
