/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device.h"

#include "unit/nvml_test.h"

static void eight_gpus_are_read_with_all_their_facts(void **state)
{
    (void)state;
    begin("h100x8");
    assert_int_equal(world.devices.count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(gpu(i)->state, DEVICE_PRESENT);
        assert_true(reading_is(gpu(i)->index, i));
        assert_true(reading_is(gpu(i)->minor, i));
        assert_true(reading_is(gpu(i)->numa_node, i / 4));
        assert_string_equal(gpu(i)->name, "NVIDIA H100 80GB HBM3");
        assert_true(reading_is(gpu(i)->memory_total, UINT64_C(81559) << 20));
        assert_true(reading_is(gpu(i)->architecture, NVML_ARCH_HOPPER));
        assert_true(reading_is(gpu(i)->capability, 90));
        assert_true(reading_is(gpu(i)->pci_id, 0x233010de));
        assert_true(reading_is(gpu(i)->mig_mode, 0));
        assert_true(reading_is(gpu(i)->compute_mode, NVML_COMPUTE_DEFAULT));
        assert_ptr_equal(devices_find(&world.devices, gpu(i)->uuid), gpu(i));
    }
    assert_string_equal(gpu(1)->bus_id, "00000000:19:00.0");
    assert_null(devices_find(&world.devices, "GPU-nobody"));
    end();
}

static void what_a_model_does_not_have_is_absent(void **state)
{
    struct device_load load;

    (void)state;
    begin("l4x1");
    assert_false(gpu(0)->mig_mode.known);
    assert_false(gpu(0)->mig_pending.known);
    WORKS(device_load(gpu(0), world.nvml, &load, &err));
    assert_false(load.nvlink_sent_kib.known);
    assert_false(load.nvlink_received_kib.known);
    assert_true(load.power_mw.known);
    end();
}

static void the_load_of_a_device_is_read(void **state)
{
    struct device_load load;

    (void)state;
    begin("h100x8");
    ctl("load 2 busy=50 memory=20 celsius=61 stray=3G");
    WORKS(device_load(gpu(2), world.nvml, &load, &err));
    assert_true(reading_is(load.busy_percent, 50));
    assert_true(reading_is(load.memory_percent, 20));
    assert_true(reading_is(load.temperature_c, 61));
    assert_true(reading_is(load.memory_temperature_c, 69));
    assert_true(reading_is(load.memory.used, UINT64_C(3) << 30));
    assert_true(reading_is(load.memory.reserved, UINT64_C(551) << 20));
    assert_true(reading_is(load.memory.free, UINT64_C(77936) << 20));
    assert_true(reading_is(load.power_limit_mw, 700000));
    /* 70 W idle, and half of the 630 W up to the limit. */
    assert_true(reading_is(load.power_mw, 385000));
    assert_true(reading_is(load.sm_mhz, 1980));
    WORKS(device_load(gpu(3), world.nvml, &load, &err));
    assert_true(reading_is(load.busy_percent, 0));
    assert_true(reading_is(load.power_mw, 70000));
    end();
}

static void a_gpu_in_mig_mode_has_no_utilisation(void **state)
{
    struct device_load load;

    (void)state;
    begin("h100x8");
    ctl("mig 0 on");
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_true(reading_is(gpu(0)->mig_mode, 1));
    WORKS(device_load(gpu(0), world.nvml, &load, &err));
    assert_false(load.busy_percent.known);
    assert_false(load.memory_percent.known);
    assert_false(load.encoder_percent.known);
    assert_true(load.memory.used.known);
    end();
}

/* Fault 25: who held GPU A still does, whatever NVML calls it now. */
static void a_device_stays_itself_when_the_order_changes(void **state)
{
    char first[NVML_UUID_SIZE], second[NVML_UUID_SIZE];

    (void)state;
    begin("gpus 2 model=l4\n");
    memcpy(first, gpu(0)->uuid, sizeof first);
    memcpy(second, gpu(1)->uuid, sizeof second);
    ctl("reload order=1,0");
    WORKS(nvml_restart(world.nvml, &err));
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_int_equal(world.devices.count, 2);
    assert_string_equal(gpu(0)->uuid, first);
    assert_string_equal(gpu(1)->uuid, second);
    assert_true(reading_is(gpu(0)->index, 1));
    assert_true(reading_is(gpu(0)->minor, 1));
    assert_true(reading_is(gpu(1)->index, 0));
    assert_string_equal(gpu(0)->bus_id, "00000000:0A:00.0");
    end();
}

/* Fault 47: one lost GPU of eight does not take the others with it. */
static void a_lost_gpu_keeps_its_row_and_the_others_go_on(void **state)
{
    struct device_load load;
    char uuid[NVML_UUID_SIZE];

    (void)state;
    begin("h100x8");
    memcpy(uuid, gpu(3)->uuid, sizeof uuid);
    ctl("lose 3");
    FAILS(device_load(gpu(3), world.nvml, &load, &err), -ENODEV, uuid);
    assert_int_equal(gpu(3)->state, DEVICE_LOST);
    FAILS(device_load(gpu(3), world.nvml, &load, &err), -ENODEV, "not there");
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_int_equal(world.devices.count, 8);
    assert_int_equal(gpu(3)->state, DEVICE_LOST);
    assert_string_equal(gpu(3)->uuid, uuid);
    assert_string_equal(gpu(3)->name, "NVIDIA H100 80GB HBM3");
    assert_false(gpu(3)->index.known);
    for (uint32_t i = 0; i < 8; i++)
        if (i != 3)
            WORKS(device_load(gpu(i), world.nvml, &load, &err));
    ctl("reset 3");
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_int_equal(gpu(3)->state, DEVICE_PRESENT);
    WORKS(device_load(gpu(3), world.nvml, &load, &err));
    end();
}

static void a_gpu_that_is_lost_between_two_calls_gives_nothing_half_read(void **state)
{
    struct device_load load;

    (void)state;
    begin("h100x8");
    memset(&load, 0x5a, sizeof load);
    ctl("fail nvmlDeviceGetPowerUsage 15 gpu=1 times=1");
    FAILS(device_load(gpu(1), world.nvml, &load, &err), -ENODEV, "lost");
    assert_int_equal(load.memory.total.value, UINT64_C(0x5a5a5a5a5a5a5a5a));
    assert_int_equal(gpu(1)->state, DEVICE_LOST);
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_int_equal(gpu(1)->state, DEVICE_PRESENT);
    end();
}

static void a_gpu_that_is_lost_while_it_is_listed_keeps_its_facts(void **state)
{
    (void)state;
    begin("h100x8");
    ctl("fail nvmlDeviceGetSerial 15 gpu=1 times=1");
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_int_equal(world.devices.count, 8);
    assert_int_equal(gpu(1)->state, DEVICE_LOST);
    assert_string_equal(gpu(1)->name, "NVIDIA H100 80GB HBM3");
    assert_false(gpu(1)->index.known);
    end();
}

static void a_gpu_that_wants_a_reset_is_lost_until_it_had_one(void **state)
{
    struct device_load load;

    (void)state;
    begin("h100x8");
    ctl("wants-reset 0");
    FAILS(device_load(gpu(0), world.nvml, &load, &err), -EIO, "needs a reset");
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_int_equal(gpu(0)->state, DEVICE_LOST);
    ctl("reset 0");
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_int_equal(gpu(0)->state, DEVICE_PRESENT);
    end();
}

/* Fault 23: the energy of a device begins anew, and nobody used 18 exajoules. */
static void energy_that_runs_backwards_is_counted_and_adds_nothing(void **state)
{
    struct counter energy = {0};
    struct device_load load;

    (void)state;
    begin("h100x8");
    ctl("load 0 busy=100");
    usleep(30000);
    WORKS(device_load(gpu(0), world.nvml, &load, &err));
    assert_true(load.energy_mj.value > 0);
    counter_take(&energy, load.energy_mj);
    ctl("forget 0");
    WORKS(device_load(gpu(0), world.nvml, &load, &err));
    assert_int_equal(counter_take(&energy, load.energy_mj), 0);
    assert_int_equal(energy.backwards, 1);
    assert_int_equal(energy.total, 0);
    end();
}

static void figures_of_memory_that_contradict_each_other_are_clamped(void **state)
{
    struct device_load load;

    (void)state;
    begin("l4x1");
    ctl("load 0 stray=100G");
    WORKS(device_load(gpu(0), world.nvml, &load, &err));
    assert_true(reading_is(load.memory.used, UINT64_C(23034) << 20));
    assert_true(reading_is(load.memory.free, 0));
    assert_int_equal(gpu(0)->clamped, 1);
    end();
}

static void a_machine_without_gpus_has_none(void **state)
{
    (void)state;
    begin("gpus 0 model=l4\n");
    assert_int_equal(world.devices.count, 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(eight_gpus_are_read_with_all_their_facts),
        TEST(what_a_model_does_not_have_is_absent),
        TEST(the_load_of_a_device_is_read),
        TEST(a_gpu_in_mig_mode_has_no_utilisation),
        TEST(a_device_stays_itself_when_the_order_changes),
        TEST(a_lost_gpu_keeps_its_row_and_the_others_go_on),
        TEST(a_gpu_that_is_lost_between_two_calls_gives_nothing_half_read),
        TEST(a_gpu_that_is_lost_while_it_is_listed_keeps_its_facts),
        TEST(a_gpu_that_wants_a_reset_is_lost_until_it_had_one),
        TEST(energy_that_runs_backwards_is_counted_and_adds_nothing),
        TEST(figures_of_memory_that_contradict_each_other_are_clamped),
        TEST(a_machine_without_gpus_has_none),
    };

    return RUN_TESTS(tests);
}
