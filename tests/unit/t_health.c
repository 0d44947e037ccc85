/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/health.h"

#include "gpu/xid.h"
#include "unit/nvml_test.h"

static struct health_watch watch;

static void begin_watch(const char *what)
{
    begin(what);
    memset(&watch, 0, sizeof watch);
    WORKS(health_watch(&watch, &world.devices, world.nvml, &err));
}

static void end_watch(void)
{
    health_unwatch(&watch, world.nvml);
    end();
}

static int next(struct health_event *out)
{
    return health_next(&watch, &world.devices, world.nvml, out, &err);
}

static void xids_come_in_their_order_with_their_device(void **state)
{
    struct health_event event;

    (void)state;
    begin_watch("h100x8");
    assert_int_equal(next(&event), 0);
    ctl("xid 5 31");
    ctl("xid 2 48");
    assert_int_equal(next(&event), 1);
    assert_string_equal(event.uuid, gpu(5)->uuid);
    assert_int_equal(event.xid, 31);
    assert_int_equal(xid_find(event.xid)->effect, XID_JOB);
    assert_false(event.gi_id.known);
    assert_int_equal(next(&event), 1);
    assert_string_equal(event.uuid, gpu(2)->uuid);
    assert_int_equal(xid_find(event.xid)->effect, XID_OUT);
    assert_int_equal(next(&event), 0);
    end_watch();
}

static void an_xid_of_a_mig_instance_names_it(void **state)
{
    struct health_event event;

    (void)state;
    begin_watch("h100x8");
    ctl("xid 0 94 gi=2 ci=0");
    assert_int_equal(next(&event), 1);
    assert_true(reading_is(event.gi_id, 2));
    assert_true(reading_is(event.ci_id, 0));
    end_watch();
}

static void what_happened_before_the_watch_is_not_told(void **state)
{
    struct health_event event;

    (void)state;
    begin("h100x8");
    ctl("xid 0 79");
    memset(&watch, 0, sizeof watch);
    WORKS(health_watch(&watch, &world.devices, world.nvml, &err));
    assert_int_equal(next(&event), 0);
    end_watch();
}

static void other_events_than_xids_are_passed_over(void **state)
{
    struct health_event event;

    (void)state;
    begin_watch("h100x8");
    ctl("ecc 0 uncorrected count=1");
    ctl("xid 0 48");
    assert_int_equal(next(&event), 1);
    assert_int_equal(event.xid, 48);
    end_watch();
}

static void a_gpu_that_falls_off_the_bus_still_says_so(void **state)
{
    struct health_event event;

    (void)state;
    begin_watch("h100x8");
    ctl("lose 3");
    assert_int_equal(next(&event), 1);
    assert_int_equal(event.xid, 79);
    assert_string_equal(event.uuid, gpu(3)->uuid);
    end_watch();
}

static void an_xid_of_a_gpu_that_was_found_lost_before_is_still_its_own(void **state)
{
    struct device_errors errors;
    struct health_event event;

    (void)state;
    begin_watch("h100x8");
    ctl("lose 3");
    FAILS(device_errors(gpu(3), world.nvml, &errors, &err), -ENODEV, "lost");
    WORKS(devices_update(&world.devices, world.nvml, &err));
    assert_int_equal(gpu(3)->state, DEVICE_LOST);
    assert_int_equal(next(&event), 1);
    assert_int_equal(event.xid, 79);
    assert_string_equal(event.uuid, gpu(3)->uuid);
    end_watch();
}

static void after_a_restart_one_watches_anew(void **state)
{
    struct health_event event;

    (void)state;
    begin_watch("h100x8");
    ctl("reload");
    FAILS(next(&event), -ENXIO, "cannot read Xids");
    WORKS(nvml_restart(world.nvml, &err));
    FAILS(next(&event), -ENXIO, "not watched");
    WORKS(devices_update(&world.devices, world.nvml, &err));
    WORKS(health_watch(&watch, &world.devices, world.nvml, &err));
    ctl("xid 0 13");
    assert_int_equal(next(&event), 1);
    end_watch();
}

static void a_device_without_xid_events_is_left_out(void **state)
{
    struct health_event event;

    (void)state;
    begin("h100x8");
    memset(&watch, 0, sizeof watch);
    ctl("fail nvmlDeviceGetSupportedEventTypes 3 gpu=0");
    WORKS(health_watch(&watch, &world.devices, world.nvml, &err));
    ctl("xid 0 79");
    ctl("xid 1 79");
    assert_int_equal(next(&event), 1);
    assert_string_equal(event.uuid, gpu(1)->uuid);
    assert_int_equal(next(&event), 0);
    end_watch();
}

static void a_driver_without_events_says_so(void **state)
{
    (void)state;
    begin("h100x8");
    memset(&watch, 0, sizeof watch);
    ctl("fail nvmlDeviceGetSupportedEventTypes 3");
    FAILS(health_watch(&watch, &world.devices, world.nvml, &err), -ENOTSUP, "cannot watch");
    assert_false(watch.open);
    end();
}

static void error_counts_are_read(void **state)
{
    struct device_errors errors;

    (void)state;
    begin("h100x8");
    ctl("ecc 1 corrected count=7");
    ctl("ecc 1 uncorrected count=2 location=7");
    ctl("rows 1 corrected=3 uncorrected=1 pending=1");
    WORKS(device_errors(gpu(1), world.nvml, &errors, &err));
    assert_true(reading_is(errors.ecc_mode, 1));
    assert_true(reading_is(errors.corrected, 7));
    assert_true(reading_is(errors.uncorrected, 2));
    assert_true(reading_is(errors.corrected_ever, 7));
    assert_true(reading_is(errors.rows_corrected, 3));
    assert_true(reading_is(errors.remap_pending, 1));
    assert_true(reading_is(errors.remap_failed, 0));
    assert_false(errors.pages_retired.known);
    end();
}

/* Fault 23 again: a reload forgets what was counted since the last one. */
static void volatile_counts_run_backwards_with_a_reload(void **state)
{
    struct device_errors errors;
    struct counter corrected = {0};

    (void)state;
    begin("h100x8");
    ctl("ecc 0 corrected count=7");
    WORKS(device_errors(gpu(0), world.nvml, &errors, &err));
    counter_take(&corrected, errors.corrected);
    ctl("reload");
    WORKS(nvml_restart(world.nvml, &err));
    WORKS(devices_update(&world.devices, world.nvml, &err));
    WORKS(device_errors(gpu(0), world.nvml, &errors, &err));
    assert_true(reading_is(errors.corrected, 0));
    assert_true(reading_is(errors.corrected_ever, 7));
    assert_int_equal(counter_take(&corrected, errors.corrected), 0);
    assert_int_equal(corrected.backwards, 1);
    end();
}

static void boards_before_ampere_retire_pages_instead_of_rows(void **state)
{
    struct device_errors errors;

    (void)state;
    begin("gpus 1 model=v100\n");
    WORKS(device_errors(gpu(0), world.nvml, &errors, &err));
    assert_true(reading_is(errors.pages_retired, 0));
    assert_false(errors.rows_corrected.known);
    assert_false(errors.remap_pending.known);
    end();
}

static void a_gpu_lost_while_its_errors_are_read_is_lost(void **state)
{
    struct device_errors errors;

    (void)state;
    begin("h100x8");
    ctl("fail nvmlDeviceGetRemappedRows 15 gpu=0");
    FAILS(device_errors(gpu(0), world.nvml, &errors, &err), -ENODEV, "errors");
    assert_int_equal(gpu(0)->state, DEVICE_LOST);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(xids_come_in_their_order_with_their_device),
        TEST(an_xid_of_a_mig_instance_names_it),
        TEST(what_happened_before_the_watch_is_not_told),
        TEST(other_events_than_xids_are_passed_over),
        TEST(a_gpu_that_falls_off_the_bus_still_says_so),
        TEST(an_xid_of_a_gpu_that_was_found_lost_before_is_still_its_own),
        TEST(after_a_restart_one_watches_anew),
        TEST(a_device_without_xid_events_is_left_out),
        TEST(a_driver_without_events_says_so),
        TEST(error_counts_are_read),
        TEST(volatile_counts_run_backwards_with_a_reload),
        TEST(boards_before_ampere_retire_pages_instead_of_rows),
        TEST(a_gpu_lost_while_its_errors_are_read_is_lost),
    };

    return RUN_TESTS(tests);
}
