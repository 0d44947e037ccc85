/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/sim/store.h"

#include <signal.h>

#include "gpu/sim/describe.h"
#include "unit/nvml_test.h"

static void end_store(void)
{
    end();
}

static uint64_t used(void)
{
    uint64_t bytes = machine_used_bytes(store_read(world.store), 0, NVML_NO_ID);

    store_end(world.store, false);
    return bytes;
}

static void programs_see_one_machine(void **state)
{
    struct store *other;

    (void)state;
    make_machine("l4x1");
    ctl("load 0 stray=1G");
    WORKS(store_open(world.directory, "h100x8", &other, &err));
    assert_int_equal(store_read(other)->gpu_count, 1);
    assert_int_equal(machine_used_bytes(store_write(other), 0, NVML_NO_ID), UINT64_C(1) << 30);
    store_end(other, false);
    store_close(other);
    end_store();
}

static void a_change_that_is_not_kept_never_was(void **state)
{
    (void)state;
    make_machine("l4x1");
    (void)store_read(world.store);
    store_write(world.store)->gpus[0].stray_bytes = 77;
    store_end(world.store, false);
    assert_int_equal(used(), 0);
    (void)store_read(world.store);
    store_write(world.store)->gpus[0].stray_bytes = 77;
    store_end(world.store, true);
    assert_int_equal(used(), 77);
    end_store();
}

static void a_program_killed_in_the_middle_of_a_change_has_changed_nothing(void **state)
{
    int ready[2];
    char byte;
    pid_t pid;

    (void)state;
    make_machine("l4x1");
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        (void)store_read(world.store);
        store_write(world.store)->gpus[0].stray_bytes = 99;
        (void)!write(ready[1], "x", 1);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ready[0]);
    close(ready[1]);
    assert_int_equal(used(), 0);
    ctl("load 0 stray=1G");
    assert_int_equal(used(), UINT64_C(1) << 30);
    end_store();
}

static void many_programs_lose_no_change(void **state)
{
    enum { PROGRAMS = 4, CHANGES = 200 };

    (void)state;
    make_machine("l4x1");
    for (int i = 0; i < PROGRAMS; i++)
        if (fork() == 0) {
            for (int k = 0; k < CHANGES; k++) {
                (void)store_read(world.store);
                store_write(world.store)->gpus[0].stray_bytes++;
                store_end(world.store, true);
            }
            _exit(0);
        }
    for (int i = 0; i < PROGRAMS; i++)
        assert_true(wait(NULL) > 0);
    assert_int_equal(used(), PROGRAMS * CHANGES);
    end_store();
}

static void a_file_of_another_version_is_refused(void **state)
{
    struct store *other;
    char path[96];
    FILE *file;

    (void)state;
    make_machine("l4x1");
    store_close(world.store);
    world.store = NULL;
    snprintf(path, sizeof path, "%s/machine", world.directory);
    file = fopen(path, "we");
    fputs("something else", file);
    fclose(file);
    FAILS(store_open(world.directory, "l4x1", &other, &err), -EPROTO, "another version");
    end_store();
}

static void a_file_with_wild_numbers_is_refused(void **state)
{
    struct store *other;

    (void)state;
    make_machine("l4x1");
    (void)store_read(world.store);
    store_write(world.store)->gpus[0].model = 1000;
    store_end(world.store, true);
    FAILS(store_open(world.directory, "l4x1", &other, &err), -EPROTO, "another version");
    end_store();
}

static void without_a_machine_and_a_description_there_is_none(void **state)
{
    struct store *other;

    (void)state;
    make_machine("l4x1");
    store_close(world.store);
    world.store = NULL;
    {
        char path[96];

        snprintf(path, sizeof path, "%s/machine", world.directory);
        unlink(path);
    }
    FAILS(store_open(world.directory, NULL, &other, &err), -ENODATA, "BERTH_SIM_GPUS");
    end_store();
}

static void describes(const char *text, const char *wanted)
{
    static struct sim_machine machine;
    FILE *file = fopen("/tmp/berth-test-description", "we");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    FAILS(describe("/tmp/berth-test-description", &machine, &err), -EINVAL, wanted);
    unlink("/tmp/berth-test-description");
}

static void a_wrong_description_is_told_with_its_line(void **state)
{
    (void)state;
    describes("gpus 1 model=l4\ngpus 1\n", ":2: model= is missing");
    describes("gpus 1 model=gtx\n", ":1: model 'gtx': unknown");
    describes("gpus 17 model=l4\n", "at most 16");
    describes("gpus 1 model=l4 color=red\n", "'color': unknown");
    describes("gpus 2 model=l4 numa=0,x\n", "numa=");
    describes("gpu model=l4 uuid=MIG-1\n", "GPU-...");
    describes("gpus 2 model=a100\nnvlink 0 2 links=1\n", ":2: 0 and 2");
    describes("gpus 2 model=a100\nnear 0 1 level=moon\n", "level='moon'");
    describes("nonsense\n", "no such command");
    describes("gpus 1 model=l4\nmig 0 on\n", "no MIG");
    describes("gpus 1 model=l4\nreload order=0,0\n", "order");
    describes("gpus 1 model=l4\nprocess 0 memory=1G\n", "pid= is missing");
}

static void a_process_gets_the_memory_that_is_there(void **state)
{
    struct sim_process process = {.pid = (uint32_t)getpid(),
                                  .gi_id = NVML_NO_ID,
                                  .ci_id = NVML_NO_ID,
                                  .kinds = SIM_COMPUTE,
                                  .memory_bytes = UINT64_C(20) << 30};
    struct sim_machine *machine;

    (void)state;
    make_machine("l4x1");
    (void)store_read(world.store);
    machine = store_write(world.store);
    WORKS(machine_put_process(machine, &process, &err));
    /* It may grow, by no more than is left beside its own. */
    process.memory_bytes = UINT64_C(22) << 30;
    FAILS(machine_put_process(machine, &process, &err), -ENOMEM, "out of memory");
    process.memory_bytes = UINT64_C(21) << 30;
    WORKS(machine_put_process(machine, &process, &err));
    process.pid = 1 << 30;
    FAILS(machine_put_process(machine, &process, &err), -ESRCH, "no process");
    store_end(world.store, false);
    end_store();
}

static void compute_modes_keep_others_out(void **state)
{
    struct sim_process process = {
        .pid = (uint32_t)getpid(), .gi_id = NVML_NO_ID, .ci_id = NVML_NO_ID, .kinds = SIM_COMPUTE};
    struct sim_machine *machine;

    (void)state;
    make_machine("l4x1");
    ctl("mode 0 compute=3");
    ctl("process 0 pid=70001 memory=1G unreal=1");
    (void)store_read(world.store);
    machine = store_write(world.store);
    FAILS(machine_put_process(machine, &process, &err), -EPERM, "exclusive");
    machine_remove_process(machine, 70001);
    WORKS(machine_put_process(machine, &process, &err));
    machine->gpus[0].compute_mode = NVML_COMPUTE_PROHIBITED;
    FAILS(machine_put_process(machine, &process, &err), -EPERM, "prohibited");
    store_end(world.store, false);
    end_store();
}

static void a_reload_keeps_mig_on_ampere_only(void **state)
{
    (void)state;
    make_machine("gpu model=a100\ngpu model=h100\nmig 0 on\nmig 1 on\n");
    ctl("reload");
    assert_int_equal(store_read(world.store)->gpus[0].mig_mode, 1);
    assert_int_equal(store_write(world.store)->gpus[1].mig_mode, 0);
    store_end(world.store, false);
    end_store();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(programs_see_one_machine),
        TEST(a_change_that_is_not_kept_never_was),
        TEST(a_program_killed_in_the_middle_of_a_change_has_changed_nothing),
        TEST(many_programs_lose_no_change),
        TEST(a_file_of_another_version_is_refused),
        TEST(a_file_with_wild_numbers_is_refused),
        TEST(without_a_machine_and_a_description_there_is_none),
        TEST(a_wrong_description_is_told_with_its_line),
        TEST(a_process_gets_the_memory_that_is_there),
        TEST(compute_modes_keep_others_out),
        TEST(a_reload_keeps_mig_on_ampere_only),
    };

    return RUN_TESTS(tests);
}
