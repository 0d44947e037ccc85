/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/mig.h"

#include "unit/nvml_test.h"

/* Ids of the profiles of an H100. */
enum { P_1G = 19, P_1G_DOUBLE = 15, P_2G = 14, P_3G = 9, P_4G = 5, P_7G = 0 };

static struct mig_instances instances;

static void begin_mig(void)
{
    begin("gpus 1 model=h100\nmig 0 on\n");
}

static void make(uint32_t profile_id, uint32_t start, struct mig_instance *out)
{
    WORKS(mig_create(gpu(0), world.nvml, profile_id, start, out, &err));
}

static void read_instances(uint32_t count)
{
    WORKS(mig_instances_read(gpu(0), world.nvml, &instances, &err));
    assert_int_equal(instances.count, count);
}

static const struct mig_profile *profile(const struct mig_profiles *profiles, uint32_t id)
{
    for (uint32_t i = 0; i < profiles->count; i++)
        if (profiles->items[i].id == id)
            return &profiles->items[i];
    fail_msg("no profile %u", id);
    return NULL;
}

static void profiles_say_where_they_may_stand(void **state)
{
    struct mig_profiles profiles;
    const struct mig_profile *it;

    (void)state;
    begin_mig();
    WORKS(mig_profiles_read(gpu(0), world.nvml, &profiles, &err));
    assert_int_equal(profiles.count, 7);
    it = profile(&profiles, P_3G);
    assert_string_equal(it->name, "MIG 3g.40gb");
    assert_int_equal(it->compute_slices, 3);
    assert_int_equal(it->memory_slices, 4);
    assert_int_equal(it->sm_count, 60);
    assert_int_equal(it->memory_bytes, UINT64_C(40448) << 20);
    assert_int_equal(it->start_count, 2);
    assert_int_equal(it->starts[1], 4);
    it = profile(&profiles, P_1G);
    assert_int_equal(it->start_count, 7);
    assert_int_equal(it->instances_max, 7);
    end();
}

static void one_id_means_another_profile_on_another_model(void **state)
{
    struct mig_profiles profiles;

    (void)state;
    begin("gpus 1 model=a30\nmig 0 on\n");
    WORKS(mig_profiles_read(gpu(0), world.nvml, &profiles, &err));
    assert_string_equal(profile(&profiles, 14)->name, "MIG 1g.6gb");
    assert_string_equal(profile(&profiles, 5)->name, "MIG 2g.12gb");
    end();
}

static void profiles_without_names_come_from_older_libraries(void **state)
{
    struct mig_profiles profiles;

    (void)state;
    begin_mig();
    ctl("fail nvmlDeviceGetGpuInstanceProfileInfoV 25");
    WORKS(mig_profiles_read(gpu(0), world.nvml, &profiles, &err));
    assert_string_equal(profile(&profiles, P_4G)->name, "");
    assert_int_equal(profile(&profiles, P_4G)->sm_count, 64);
    end();
}

static void a_model_without_mig_says_so(void **state)
{
    struct mig_profiles profiles;

    (void)state;
    begin("l4x1");
    FAILS(mig_profiles_read(gpu(0), world.nvml, &profiles, &err), -ENOTSUP, "not supported");
    FAILS(mig_set_mode(gpu(0), world.nvml, true, &err), -ENOTSUP, "cannot turn MIG on");
    read_instances(0);
    end();
}

static void an_instance_is_made_where_it_was_asked_for(void **state)
{
    struct mig_instance it;

    (void)state;
    begin_mig();
    make(P_3G, 4, &it);
    assert_int_equal(it.start, 4);
    assert_int_equal(it.size, 4);
    assert_int_equal(it.gi_id, 2);
    assert_true(reading_is(it.ci_id, 0));
    assert_int_equal(strncmp(it.uuid, "MIG-", 4), 0);
    assert_true(reading_is(it.memory.total, UINT64_C(40448) << 20));
    assert_true(reading_is(it.memory.used, 0));
    assert_true(reading_is(it.sm_count, 60));
    read_instances(1);
    assert_string_equal(instances.items[0].uuid, it.uuid);
    end();
}

/* The compute instance of a one-slice instance with double memory is of another profile. */
static void every_profile_gets_a_compute_instance_of_its_full_width(void **state)
{
    static const struct {
        uint32_t id, sm_count;
    } wanted[] = {{P_1G, 16}, {20, 16},   {P_1G_DOUBLE, 26}, {P_2G, 32},
                  {P_3G, 60}, {P_4G, 64}, {P_7G, 132}};
    struct mig_instance it;

    (void)state;
    begin_mig();
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        make(wanted[i].id, 0, &it);
        assert_true(reading_is(it.sm_count, wanted[i].sm_count));
        WORKS(mig_destroy(gpu(0), world.nvml, it.gi_id, &err));
    }
    end();
}

/* Fault 26: enough slices, but no legal place. */
static void slices_that_are_taken_are_no_room(void **state)
{
    struct mig_instance it;

    (void)state;
    begin_mig();
    make(P_1G, 0, &it);
    make(P_1G, 1, &it);
    make(P_1G, 5, &it);
    FAILS(mig_create(gpu(0), world.nvml, P_3G, 0, &it, &err), -ENOSPC, "no room");
    FAILS(mig_create(gpu(0), world.nvml, P_3G, 4, &it, &err), -ENOSPC, "no room");
    FAILS(mig_create(gpu(0), world.nvml, P_2G, 1, &it, &err), -EINVAL, "GPU instance");
    make(P_2G, 2, &it);
    read_instances(4);
    end();
}

/* Fault 29: what is asked for is made beside what runs. */
static void an_instance_is_made_beside_others(void **state)
{
    struct mig_instance small, large;

    (void)state;
    begin_mig();
    make(P_1G, 0, &small);
    FAILS(mig_create(gpu(0), world.nvml, P_4G, 0, &large, &err), -ENOSPC, "no room");
    make(P_3G, 4, &large);
    read_instances(2);
    end();
}

static void the_same_place_has_the_same_uuid_again(void **state)
{
    struct mig_instance first, second;

    (void)state;
    begin_mig();
    make(P_2G, 4, &first);
    WORKS(mig_destroy(gpu(0), world.nvml, first.gi_id, &err));
    make(P_2G, 4, &second);
    assert_string_equal(first.uuid, second.uuid);
    end();
}

/* Fault 28: the GPU instance is made, the compute instance fails. */
static void a_half_made_instance_is_cleaned(void **state)
{
    struct mig_instance it = {.gi_id = 99};

    (void)state;
    begin_mig();
    ctl("fail nvmlGpuInstanceCreateComputeInstance 23 times=1");
    FAILS(mig_create(gpu(0), world.nvml, P_3G, 0, &it, &err), -ENOSPC, "compute instance");
    assert_int_equal(it.gi_id, 99);
    read_instances(0);
    make(P_7G, 0, &it);
    end();
}

static void an_instance_whose_device_does_not_appear_is_cleaned(void **state)
{
    struct mig_instance it;

    (void)state;
    begin_mig();
    ctl("fail nvmlDeviceGetMigDeviceHandleByIndex 999 times=1");
    FAILS(mig_create(gpu(0), world.nvml, P_3G, 0, &it, &err), -EREMOTEIO, "MIG device");
    read_instances(0);
    end();
}

static void a_half_that_cannot_be_cleaned_is_told_and_can_be_found(void **state)
{
    struct mig_instance it;

    (void)state;
    begin_mig();
    ctl("fail nvmlGpuInstanceCreateComputeInstance 999 times=1");
    ctl("fail nvmlGpuInstanceDestroy 999 times=1");
    FAILS(mig_create(gpu(0), world.nvml, P_3G, 0, &it, &err), -EUCLEAN, "half-made");
    read_instances(1);
    assert_string_equal(instances.items[0].uuid, "");
    assert_false(instances.items[0].ci_id.known);
    assert_int_equal(instances.items[0].size, 4);
    WORKS(mig_destroy(gpu(0), world.nvml, instances.items[0].gi_id, &err));
    read_instances(0);
    end();
}

/* Fault 28, second half: what was there before us is seen, with its slices. */
static void instances_of_somebody_else_are_seen(void **state)
{
    (void)state;
    begin("gpus 1 model=a100\nmig 0 on\ninstance 0 2g.20gb start=2\n"
          "instance 0 1g.10gb start=6 half=1\n");
    read_instances(2);
    for (uint32_t i = 0; i < 2; i++) {
        const bool half = instances.items[i].size == 1;

        assert_int_equal(instances.items[i].start, half ? 6 : 2);
        assert_int_equal(instances.items[i].ci_id.known, !half);
    }
    end();
}

static void an_instance_that_is_used_is_not_destroyed(void **state)
{
    struct mig_instance it;

    (void)state;
    begin_mig();
    make(P_3G, 0, &it);
    ctl("process 0 pid=70001 memory=1G gi=%u ci=0 unreal=1", it.gi_id);
    FAILS(mig_destroy(gpu(0), world.nvml, it.gi_id, &err), -EBUSY, "in use");
    read_instances(1);
    assert_true(reading_is(instances.items[0].memory.used, UINT64_C(1) << 30));
    ctl("end 70001");
    WORKS(mig_destroy(gpu(0), world.nvml, it.gi_id, &err));
    FAILS(mig_destroy(gpu(0), world.nvml, it.gi_id, &err), -ENOENT, "not found");
    end();
}

static void indexes_shift_and_uuids_do_not(void **state)
{
    struct mig_instance first, second;

    (void)state;
    begin_mig();
    make(P_1G, 0, &first);
    make(P_1G, 1, &second);
    WORKS(mig_destroy(gpu(0), world.nvml, first.gi_id, &err));
    read_instances(1);
    assert_string_equal(instances.items[0].uuid, second.uuid);
    end();
}

static void mig_mode_is_turned_on_and_off(void **state)
{
    struct mig_instance it;

    (void)state;
    begin("gpus 1 model=h100\n");
    FAILS(mig_create(gpu(0), world.nvml, P_1G, 0, &it, &err), -ENOTSUP, "cannot make");
    assert_int_equal(mig_set_mode(gpu(0), world.nvml, true, &err), 0);
    assert_true(reading_is(gpu(0)->mig_mode, 1));
    make(P_1G, 0, &it);
    FAILS(mig_set_mode(gpu(0), world.nvml, false, &err), -EBUSY, "cannot turn MIG off");
    WORKS(mig_destroy(gpu(0), world.nvml, it.gi_id, &err));
    assert_int_equal(mig_set_mode(gpu(0), world.nvml, false, &err), 0);
    assert_true(reading_is(gpu(0)->mig_mode, 0));
    end();
}

static void a_gpu_that_is_used_does_not_turn_to_mig(void **state)
{
    (void)state;
    begin("gpus 1 model=h100\nprocess 0 pid=70001 memory=1G unreal=1\n");
    FAILS(mig_set_mode(gpu(0), world.nvml, true, &err), -EBUSY, "in use");
    end();
}

static void a_gpu_lost_while_an_instance_is_made_is_lost(void **state)
{
    struct mig_instance it;

    (void)state;
    begin_mig();
    ctl("fail nvmlGpuInstanceGetInfo 15 times=1");
    FAILS(mig_create(gpu(0), world.nvml, P_3G, 0, &it, &err), -ENODEV, "lost");
    assert_int_equal(gpu(0)->state, DEVICE_LOST);
    end();
}

static void without_privileges_nothing_is_made(void **state)
{
    struct mig_instance it;

    (void)state;
    begin_mig();
    ctl("fail nvmlDeviceCreateGpuInstanceWithPlacement 4");
    FAILS(mig_create(gpu(0), world.nvml, P_3G, 0, &it, &err), -EPERM, "not permitted");
    read_instances(0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(profiles_say_where_they_may_stand),
        TEST(one_id_means_another_profile_on_another_model),
        TEST(profiles_without_names_come_from_older_libraries),
        TEST(a_model_without_mig_says_so),
        TEST(an_instance_is_made_where_it_was_asked_for),
        TEST(every_profile_gets_a_compute_instance_of_its_full_width),
        TEST(slices_that_are_taken_are_no_room),
        TEST(an_instance_is_made_beside_others),
        TEST(the_same_place_has_the_same_uuid_again),
        TEST(a_half_made_instance_is_cleaned),
        TEST(an_instance_whose_device_does_not_appear_is_cleaned),
        TEST(a_half_that_cannot_be_cleaned_is_told_and_can_be_found),
        TEST(instances_of_somebody_else_are_seen),
        TEST(an_instance_that_is_used_is_not_destroyed),
        TEST(indexes_shift_and_uuids_do_not),
        TEST(mig_mode_is_turned_on_and_off),
        TEST(a_gpu_that_is_used_does_not_turn_to_mig),
        TEST(a_gpu_lost_while_an_instance_is_made_is_lost),
        TEST(without_privileges_nothing_is_made),
    };

    return RUN_TESTS(tests);
}
