/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/nvml.h"

#include "unit/nvml_test.h"

static void a_machine_without_the_library_is_no_error_of_ours(void **state)
{
    struct nvml *nvml = NULL;

    (void)state;
    FAILS(nvml_open("/nonexistent/libnvidia-ml.so.1", &nvml, &err), -ENOENT,
          "no NVIDIA driver library");
    assert_null(nvml);
}

static void a_library_that_is_something_else_is_refused(void **state)
{
    struct nvml *nvml = NULL;

    (void)state;
    FAILS(nvml_open("libc.so.6", &nvml, &err), -ENOEXEC, "not an NVML library");
    assert_null(nvml);
}

static void a_driver_that_is_not_loaded_is_told(void **state)
{
    struct nvml *nvml = NULL;

    (void)state;
    setenv("BERTH_SIM_DIR", "/tmp/berth-test-nobody", 1);
    FAILS(nvml_open(getenv("BERTH_SIM_LIBRARY"), &nvml, &err), -ENXIO, "driver is not loaded");
    unlink("/tmp/berth-test-nobody/machine");
    rmdir("/tmp/berth-test-nobody");
}

static void versions_of_driver_library_and_cuda_are_read(void **state)
{
    (void)state;
    begin("l4x1");
    assert_string_equal(world.nvml->driver_version, "580.82.07");
    assert_string_equal(world.nvml->library_version, "13.580.82.07");
    assert_true(reading_is(world.nvml->cuda_version, 13000));
    end();
}

static void after_a_reload_of_the_driver_a_restart_helps(void **state)
{
    (void)state;
    begin("l4x1");
    ctl("reload");
    FAILS(devices_update(&world.devices, world.nvml, &err), -ENXIO, "not started");
    assert_int_equal(world.devices.count, 1);
    WORKS(nvml_restart(world.nvml, &err));
    assert_int_equal(world.nvml->starts, 2);
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_int_equal(gpu(0)->state, DEVICE_PRESENT);
    end();
}

static void a_restart_that_fails_may_be_tried_again(void **state)
{
    (void)state;
    begin("l4x1");
    store_close(world.store);
    world.store = NULL;
    setenv("BERTH_SIM_DIR", "/nonexistent/berth", 1);
    FAILS(nvml_restart(world.nvml, &err), -ENXIO, "cannot start NVML");
    FAILS(devices_update(&world.devices, world.nvml, &err), -ENXIO, "cannot list GPUs");
    setenv("BERTH_SIM_DIR", world.directory, 1);
    WORKS(nvml_restart(world.nvml, &err));
    WORKS(devices_update(&world.devices, world.nvml, &err));
    end();
}

static void a_driver_exchanged_under_the_program_wants_a_new_process(void **state)
{
    (void)state;
    begin("l4x1");
    ctl("fail * 18");
    FAILS(devices_update(&world.devices, world.nvml, &err), -ESTALE, "start this program again");
    end();
}

static void every_answer_has_its_errno(void **state)
{
    static const struct {
        nvml_return rc;
        int code;
    } wanted[] = {{0, 0},        {1, -ENXIO},       {3, -ENOTSUP},   {4, -EPERM},    {6, -ENOENT},
                  {7, -E2BIG},   {9, -ENXIO},       {10, -ETIME},    {13, -ENOTSUP}, {15, -ENODEV},
                  {16, -EIO},    {17, -EACCES},     {18, -ESTALE},   {19, -EBUSY},   {23, -ENOSPC},
                  {25, -EPROTO}, {999, -EREMOTEIO}, {-7, -EREMOTEIO}};

    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_int_equal(nvml_errno(wanted[i].rc), wanted[i].code);
    assert_string_equal(nvml_text(12345), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_machine_without_the_library_is_no_error_of_ours),
        TEST(a_library_that_is_something_else_is_refused),
        TEST(a_driver_that_is_not_loaded_is_told),
        TEST(versions_of_driver_library_and_cuda_are_read),
        TEST(after_a_reload_of_the_driver_a_restart_helps),
        TEST(a_restart_that_fails_may_be_tried_again),
        TEST(a_driver_exchanged_under_the_program_wants_a_new_process),
        TEST(every_answer_has_its_errno),
    };

    return RUN_TESTS(tests);
}
