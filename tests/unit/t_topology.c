/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/topology.h"

#include "unit/nvml_test.h"

static struct topology topology;

static void begin_topology(const char *what)
{
    begin(what);
    topology_init(&topology);
    WORKS(topology_read(&world.devices, world.nvml, &topology, &err));
}

static void end_topology(void)
{
    topology_done(&topology);
    end();
}

static const struct link *between(uint32_t a, uint32_t b)
{
    return topology_link(&topology, a, b);
}

static void gpus_on_switches_have_all_their_links_to_each_other(void **state)
{
    (void)state;
    begin_topology("h100x8");
    assert_true(reading_is(between(0, 7)->nvlinks, 18));
    assert_true(reading_is(between(7, 0)->nvlinks, 18));
    assert_true(reading_is(between(0, 7)->bandwidth_mbps, 18 * 26562));
    assert_true(reading_is(between(0, 1)->level, NVML_LEVEL_NUMA_NODE));
    assert_true(reading_is(between(0, 7)->level, NVML_LEVEL_SYSTEM));
    assert_false(between(3, 3)->nvlinks.known);
    assert_false(between(0, 1)->same_fabric);
    end_topology();
}

static void direct_links_are_counted_for_each_pair(void **state)
{
    (void)state;
    begin_topology("gpus 3 model=a100\nnvlink 0 1 links=4\nnvlink 1 2 links=2\n"
                   "near 0 2 level=switch\n");
    assert_true(reading_is(between(0, 1)->nvlinks, 4));
    assert_true(reading_is(between(0, 1)->bandwidth_mbps, 100000));
    assert_true(reading_is(between(2, 1)->nvlinks, 2));
    assert_true(reading_is(between(0, 2)->nvlinks, 0));
    assert_false(between(0, 2)->bandwidth_mbps.known);
    assert_true(reading_is(between(0, 2)->level, NVML_LEVEL_ONE_SWITCH));
    end_topology();
}

static void gpus_without_nvlink_have_a_level_only(void **state)
{
    (void)state;
    begin_topology("gpus 2 model=l4 numa=0,1\n");
    assert_true(reading_is(between(0, 1)->nvlinks, 0));
    assert_true(reading_is(between(0, 1)->level, NVML_LEVEL_SYSTEM));
    end_topology();
}

static void nvlink_is_off_in_mig_mode(void **state)
{
    (void)state;
    begin_topology("gpus 2 model=h100\nnvlink switch\nmig 1 on\n");
    assert_true(reading_is(between(0, 1)->nvlinks, 0));
    assert_true(reading_is(between(1, 0)->nvlinks, 0));
    end_topology();
}

static void a_lost_gpu_has_no_links_and_the_others_keep_theirs(void **state)
{
    (void)state;
    begin_topology("h100x8");
    ctl("lose 2");
    WORKS(topology_read(&world.devices, world.nvml, &topology, &err));
    assert_int_equal(gpu(2)->state, DEVICE_LOST);
    assert_false(between(2, 0)->nvlinks.known);
    assert_false(between(0, 2)->level.known);
    assert_true(reading_is(between(0, 1)->nvlinks, 18));
    end_topology();
}

static void what_the_library_does_not_offer_is_absent(void **state)
{
    (void)state;
    begin_topology("h100x8");
    ctl("fail nvmlDeviceGetP2PStatus 3");
    ctl("fail nvmlDeviceGetTopologyCommonAncestor 3");
    WORKS(topology_read(&world.devices, world.nvml, &topology, &err));
    assert_false(between(0, 1)->nvlinks.known);
    assert_false(between(0, 1)->level.known);
    end_topology();
}

static void a_driver_that_goes_away_leaves_the_old_topology(void **state)
{
    (void)state;
    begin_topology("h100x8");
    ctl("reload");
    FAILS(topology_read(&world.devices, world.nvml, &topology, &err), -ENXIO, "linked");
    assert_true(reading_is(between(0, 1)->nvlinks, 18));
    end_topology();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gpus_on_switches_have_all_their_links_to_each_other),
        TEST(direct_links_are_counted_for_each_pair),
        TEST(gpus_without_nvlink_have_a_level_only),
        TEST(nvlink_is_off_in_mig_mode),
        TEST(a_lost_gpu_has_no_links_and_the_others_keep_theirs),
        TEST(what_the_library_does_not_offer_is_absent),
        TEST(a_driver_that_goes_away_leaves_the_old_topology),
    };

    return RUN_TESTS(tests);
}
