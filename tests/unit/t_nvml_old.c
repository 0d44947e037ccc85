/* SPDX-License-Identifier: Apache-2.0 */
/* The client with a library that lacks most functions: what it lacks is absent, not 0. */
#include "gpu/health.h"
#include "gpu/mig.h"
#include "gpu/processes.h"
#include "gpu/topology.h"
#include "unit/nvml_test.h"

static void begin_old(void)
{
    begin_with("gpus 2 model=a100\nprocess 0 pid=70001 memory=3G busy=50 unreal=1\n",
               "BERTH_SIM_OLD_LIBRARY");
}

static void the_facts_it_has_are_read_and_the_others_are_absent(void **state)
{
    (void)state;
    begin_old();
    assert_int_equal(world.devices.count, 2);
    assert_int_equal(strncmp(gpu(0)->uuid, "GPU-", 4), 0);
    assert_string_equal(gpu(0)->name, "NVIDIA A100-SXM4-80GB");
    assert_string_equal(gpu(0)->bus_id, "00000000:0A:00.0");
    assert_true(reading_is(gpu(1)->minor, 1));
    assert_true(reading_is(gpu(0)->memory_total, UINT64_C(81920) << 20));
    assert_string_equal(gpu(0)->serial, "");
    assert_false(gpu(0)->architecture.known);
    assert_false(gpu(0)->capability.known);
    assert_false(gpu(0)->numa_node.known);
    assert_false(gpu(0)->mig_mode.known);
    assert_false(gpu(0)->compute_mode.known);
    assert_false(world.nvml->cuda_version.known);
    assert_string_equal(world.nvml->driver_version, "");
    end();
}

static void memory_is_read_without_the_reserved_part(void **state)
{
    struct device_load load;

    (void)state;
    begin_old();
    WORKS(device_load(gpu(0), world.nvml, &load, &err));
    assert_true(reading_is(load.memory.used, UINT64_C(3643) << 20));
    assert_false(load.memory.reserved.known);
    assert_false(load.busy_percent.known);
    assert_false(load.power_mw.known);
    assert_false(load.energy_mj.known);
    assert_false(load.memory_temperature_c.known);
    end();
}

static void processes_come_in_records_without_instances(void **state)
{
    struct processes list;
    struct busy busy = {0};

    (void)state;
    begin_old();
    processes_init(&list);
    WORKS(processes_read(gpu(0), world.nvml, &list, &err));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].pid, 70001);
    assert_true(reading_is(list.items[0].memory_bytes, UINT64_C(3) << 30));
    assert_false(list.items[0].gi_id.known);
    WORKS(processes_busy(gpu(0), world.nvml, &busy, &list, &err));
    assert_false(list.items[0].busy_percent.known);
    processes_done(&list);
    end();
}

static void there_is_no_mig_no_topology_and_no_health(void **state)
{
    struct health_watch watch = {0};
    struct mig_profiles profiles;
    struct mig_instance instance;
    struct device_errors errors;
    struct topology topology;

    (void)state;
    begin_old();
    FAILS(mig_profiles_read(gpu(0), world.nvml, &profiles, &err), -ENOTSUP, "MIG profiles");
    FAILS(mig_create(gpu(0), world.nvml, 19, 0, &instance, &err), -ENOTSUP, "not in this library");
    FAILS(mig_set_mode(gpu(0), world.nvml, true, &err), -ENOTSUP, "cannot turn MIG on");
    FAILS(health_watch(&watch, &world.devices, world.nvml, &err), -ENOTSUP, "cannot watch");
    WORKS(device_errors(gpu(0), world.nvml, &errors, &err));
    assert_false(errors.corrected.known || errors.rows_corrected.known || errors.ecc_mode.known);
    topology_init(&topology);
    WORKS(topology_read(&world.devices, world.nvml, &topology, &err));
    assert_false(topology_link(&topology, 0, 1)->level.known);
    assert_false(topology_link(&topology, 0, 1)->nvlinks.known);
    topology_done(&topology);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_facts_it_has_are_read_and_the_others_are_absent),
        TEST(memory_is_read_without_the_reserved_part),
        TEST(processes_come_in_records_without_instances),
        TEST(there_is_no_mig_no_topology_and_no_health),
    };

    return RUN_TESTS(tests);
}
