/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/xid.h"

#include "unit/test.h"

static void all_are(const uint32_t *numbers, size_t count, enum xid_effect effect)
{
    for (size_t i = 0; i < count; i++)
        if (xid_find(numbers[i])->effect != effect)
            fail_msg("Xid %u is %d", numbers[i], (int)xid_find(numbers[i])->effect);
}

/* Fault 48: a program's own mistake must not condemn a device. */
static void xids_of_programs_leave_the_device_in_use(void **state)
{
    static const uint32_t numbers[] = {13, 31, 43, 45, 68, 109};

    (void)state;
    all_are(numbers, sizeof numbers / sizeof numbers[0], XID_JOB);
}

static void xids_of_broken_hardware_take_the_device_out(void **state)
{
    static const uint32_t numbers[] = {48, 64, 74, 79, 95, 119, 120, 140};

    (void)state;
    all_are(numbers, sizeof numbers / sizeof numbers[0], XID_OUT);
}

static void xids_that_a_reset_heals_drain_the_device(void **state)
{
    static const uint32_t numbers[] = {63, 94};

    (void)state;
    all_are(numbers, sizeof numbers / sizeof numbers[0], XID_DRAIN);
}

static void xids_that_only_inform_change_nothing(void **state)
{
    static const uint32_t numbers[] = {92, 154};

    (void)state;
    all_are(numbers, sizeof numbers / sizeof numbers[0], XID_NOTE);
}

static void an_unknown_xid_drains_the_device(void **state)
{
    (void)state;
    assert_int_equal(xid_find(0)->effect, XID_DRAIN);
    assert_int_equal(xid_find(UINT32_MAX)->effect, XID_DRAIN);
    assert_string_equal(xid_find(999)->text, "unknown Xid");
}

static void of_several_effects_the_worst_is_the_largest(void **state)
{
    (void)state;
    assert_true(XID_NOTE < XID_JOB && XID_JOB < XID_DRAIN && XID_DRAIN < XID_OUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(xids_of_programs_leave_the_device_in_use),
        TEST(xids_of_broken_hardware_take_the_device_out),
        TEST(xids_that_a_reset_heals_drain_the_device),
        TEST(xids_that_only_inform_change_nothing),
        TEST(an_unknown_xid_drains_the_device),
        TEST(of_several_effects_the_worst_is_the_largest),
    };

    return RUN_TESTS(tests);
}
