/* SPDX-License-Identifier: Apache-2.0 */
#include "core/mig.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"

#include "unit/test.h"

#define GIB INT64_C(1073741824)

static const struct mig_type *type_of(const char *model)
{
    const struct mig_type *type = mig_type_find(model, 0);

    if (type == NULL)
        fail_msg("'%s' is of no type", model);
    return type;
}

static uint32_t profile_of(const struct mig_type *type, const char *name)
{
    struct err err;
    uint32_t profile = MIG_NONE;

    if (mig_profile_find(type, name, &profile, &err) < 0)
        fail_msg("%s", err.text);
    return profile;
}

static void add(const struct mig_type *type, struct mig_gpu *gpu, const char *name, uint32_t start)
{
    mig_gpu_add(type, gpu, profile_of(type, name), start);
}

static void starts_are(const struct mig_type *type, const struct mig_gpu *gpu, const char *name,
                       uint16_t wanted)
{
    assert_int_equal(mig_gpu_starts(type, gpu, profile_of(type, name)), wanted);
}

/* ---- products ---- */

static void is_type(const char *model, int64_t gib, const char *key)
{
    const struct mig_type *type = mig_type_find(model, gib * GIB);

    if (key == NULL && type != NULL)
        fail_msg("'%s' should be of no type, and is %s", model, type->key);
    if (key != NULL && (type == NULL || strcmp(type->key, key) != 0))
        fail_msg("'%s' should be %s, and is %s", model, key, type == NULL ? "none" : type->key);
}

static void products_are_found_as_drivers_and_labels_print_them(void **state)
{
    (void)state;
    is_type("NVIDIA A100-SXM4-40GB", 0, "a100-40");
    is_type("A100-SXM4-40GB", 0, "a100-40");
    is_type("NVIDIA-A100-SXM4-80GB", 0, "a100-80");
    is_type("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", 0, "a100-80");
    is_type("NVIDIA-A100-SXM4-80GB-SHARED", 0, "a100-80");
    is_type("NVIDIA A100 80GB PCIe", 0, "a100-80");
    is_type("nvidia h100 80gb hbm3", 0, "h100-80-sxm");
    is_type("NVIDIA H100 NVL MIG 1g.12gb", 0, "h100-94");
    is_type("NVIDIA GH200 480GB", 0, "h100-96");
    is_type("NVIDIA A30", 0, "a30");
    is_type("NVIDIA H200", 0, "h200-141");
    is_type("NVIDIA B200", 0, "b200-180");
    is_type("NVIDIA RTX PRO 6000 Blackwell Server Edition", 0, "rtx-pro-6000-96");
}

static void a_short_name_is_a_type_if_its_memory_says_which(void **state)
{
    (void)state;
    is_type("A100", 40, "a100-40");
    is_type("A100", 80, "a100-80");
    is_type("A100", 0, NULL);           /* two of them */
    is_type("A100", 64, NULL);          /* not known how it is split */
    is_type("H100", 80, "h100-80-sxm"); /* both boards are split alike */
    is_type("H100", 94, "h100-94");
    is_type("A100-80GB", 0, "a100-80");
    is_type("H100-80", 0, "h100-80-sxm");
    is_type("H200", 141, "h200-141");
    is_type("B200", 0, "b200-180");
}

static void what_cannot_be_split_is_of_no_type(void **state)
{
    char endless[300];

    (void)state;
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    is_type("T4", 16, NULL);
    is_type("A10", 24, NULL); /* is no word of A100 */
    is_type("H1", 80, NULL);
    is_type("NVIDIA", 0, NULL);
    is_type("", 0, NULL);
    is_type("--", 0, NULL);
    is_type(endless, 0, NULL);
}

static void the_table_agrees_with_itself(void **state)
{
    (void)state;
    assert_int_equal(mig_type_count, 15);
    for (uint32_t t = 0; t < mig_type_count; t++) {
        const struct mig_type *type = &mig_types[t];

        assert_ptr_equal(mig_type_find(type->key, 0), type);
        for (uint32_t n = 0; n < type->name_count; n++)
            assert_ptr_equal(mig_type_find(type->names[n], 0), type);
        for (uint32_t p = 0; p < type->profile_count; p++) {
            const struct mig_profile *profile = &type->profiles[p];

            assert_int_equal(profile_of(type, profile->name), p);
            assert_int_equal(profile->size, profile->memory_slices);
            assert_true(profile->memory_bytes > 0);
            assert_true(type->memory_bytes == 0 || profile->memory_bytes < type->memory_bytes);
        }
    }
}

/* ---- profiles ---- */

static void a_profile_is_what_its_slices_and_attributes_say_not_its_text(void **state)
{
    const struct mig_type *a100 = type_of("a100-80"), *gb200 = type_of("gb200-186");

    (void)state;
    assert_int_equal(profile_of(a100, "3g.39gb"), profile_of(a100, "3g.40gb"));
    assert_int_equal(profile_of(a100, "7g.79gb"), profile_of(a100, "7g.80gb"));
    assert_int_equal(profile_of(gb200, "1g.24gb"), profile_of(gb200, "1g.23gb"));
    assert_int_equal(profile_of(gb200, "7g.189gb"), profile_of(gb200, "7g.186gb"));
    assert_int_equal(profile_of(a100, "mig-1g.10gb"), profile_of(a100, "1g.10gb"));
    assert_int_equal(profile_of(a100, "nvidia.com/mig-1g.10gb.me"), profile_of(a100, "1g.10gb+me"));
    assert_int_not_equal(profile_of(a100, "1g.10gb+me"), profile_of(a100, "1g.10gb"));
    assert_int_not_equal(profile_of(a100, "1g.20gb"), profile_of(a100, "1g.10gb"));
    /* The same text is another profile elsewhere: 4 of these fit on an H200, 7 on a GB300. */
    assert_int_equal(type_of("H200")->profiles[profile_of(type_of("H200"), "1g.35gb")].size, 2);
    assert_int_equal(type_of("GB300")->profiles[profile_of(type_of("GB300"), "1g.35gb")].size, 1);
}

static void no_profile(const char *model, const char *name, int code, const char *wanted)
{
    struct err err = {""};
    uint32_t profile = 42;

    assert_int_equal(mig_profile_find(type_of(model), name, &profile, &err), code);
    assert_string_equal(err.text, wanted);
    assert_int_equal(profile, 42);
}

static void a_profile_that_a_gpu_lacks_is_an_error_that_names_what_it_has(void **state)
{
    (void)state;
    no_profile("A30", "3g.24gb", -ENOENT,
               "'3g.24gb': is no profile of a GPU of type a30, which has 1g.6gb, 1g.6gb+me, "
               "2g.12gb, 2g.12gb+me, 4g.24gb");
    no_profile("a100-80", "1g.5gb", -ENOENT,
               "'1g.5gb': is no profile of a GPU of type a100-80, which has 1g.10gb, 1g.10gb+me, "
               "1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb");
}

static void what_is_no_profile_is_refused(void **state)
{
    static const char *const texts[] = {
        "",           "1g",         "g.10gb",   "1g.gb",      "1g.10", "0g.10gb", "13g.10gb",
        "1g.10gb+xx", "1c.1g.10gb", "1g.10gb ", "1g.10000gb", "mig-",  "1g.0gb"};

    (void)state;
    for (uint32_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct mig_ask ask;
        struct err err;

        if (mig_ask_parse(texts[i], &ask, &err) != -EINVAL)
            fail_msg("'%s' was taken", texts[i]);
    }
}

static void serves(const char *model, int64_t bytes, const char *wanted)
{
    const struct mig_type *type = type_of(model);
    const uint32_t profile = mig_profile_for_memory(type, bytes);

    if (wanted == NULL)
        assert_int_equal(profile, MIG_NONE);
    else
        assert_string_equal(profile == MIG_NONE ? "none" : type->profiles[profile].name, wanted);
}

static void an_amount_of_memory_gets_the_smallest_profile_that_has_it(void **state)
{
    (void)state;
    serves("a100-40", 18 * GIB, "3g.20gb");
    serves("a100-80", 18 * GIB, "1g.20gb"); /* as much memory as 2g.20gb, less compute */
    serves("a100-80", 9 * GIB, "1g.10gb");  /* not +me */
    serves("a100-80", 10 * GIB, "1g.20gb"); /* 1g.10gb has 9.5 GiB */
    serves("h100-80-sxm", 40 * GIB, "7g.80gb");
    serves("H200", 18 * GIB, "1g.35gb"); /* 1g.18gb has 16 GiB */
    serves("A30", 1, "1g.6gb");
    serves("a100-80", 79 * GIB, NULL);
    serves("B200", 80 * GIB, "3g.90gb"); /* estimated from its slices */
    serves("RTX PRO 6000 Blackwell Server Edition", 30 * GIB, "2g.48gb");
}

/* ---- a GPU that is split ---- */

static void fault_26_enough_slices_are_not_enough_the_starts_must_be_legal(void **state)
{
    const struct mig_type *type = type_of("h100-80-sxm");
    struct mig_gpu gpu = {0}, two = {0};

    (void)state;
    add(type, &gpu, "1g.10gb", 0);
    add(type, &gpu, "1g.10gb", 1);
    add(type, &gpu, "1g.10gb", 5);
    starts_are(type, &gpu, "3g.40gb", 0);
    starts_are(type, &gpu, "2g.20gb", 1u << 2);
    starts_are(type, &gpu, "1g.20gb", 1u << 2 | 1u << 6);
    add(type, &two, "3g.40gb", 0);
    starts_are(type, &two, "4g.40gb", 0);
    add(type, &two, "3g.40gb", 4);
    starts_are(type, &two, "1g.10gb", 0); /* one compute slice is left, and no memory */
}

static void a_4g_and_a_3g_share_a_gpu(void **state)
{
    const struct mig_type *type = type_of("a100-40");
    struct mig_gpu gpu = {0};

    (void)state;
    add(type, &gpu, "4g.20gb", 0);
    starts_are(type, &gpu, "3g.20gb", 1u << 4);
    add(type, &gpu, "3g.20gb", 4);
    assert_int_equal(mig_gpu_used(type, &gpu), 0xff);
}

static void one_instance_of_a_gpu_has_the_media_engines(void **state)
{
    const struct mig_type *a30 = type_of("A30"), *a100 = type_of("a100-40");
    struct mig_gpu gpu = {0}, other = {0};

    (void)state;
    add(a100, &gpu, "1g.5gb+me", 6);
    starts_are(a100, &gpu, "1g.5gb+me", 0);
    starts_are(a100, &gpu, "1g.5gb", 0x3f);
    starts_are(a100, &gpu, "7g.40gb", 0);
    add(a30, &other, "1g.6gb+me", 0); /* each may be there once, but not both */
    starts_are(a30, &other, "2g.12gb+me", 0);
    starts_are(a30, &other, "2g.12gb", 1u << 2);
}

static void all_media_engines_leave_none_to_the_others(void **state)
{
    const struct mig_type *type = type_of("rtx-pro-6000-96");
    struct mig_gpu gpu = {0};

    (void)state;
    add(type, &gpu, "1g.24gb+me.all", 3);
    starts_are(type, &gpu, "1g.24gb", 0);
    starts_are(type, &gpu, "1g.24gb-me", 1u << 0 | 1u << 6 | 1u << 9);
    starts_are(type, &gpu, "2g.48gb-me", 1u << 6);
    assert_int_equal(mig_gpu_used(type, &gpu), 7u << 3); /* 12 slices, not 8 */
}

static void slices_of_unknown_instances_are_left_alone(void **state)
{
    const struct mig_type *type = type_of("a100-40");
    struct mig_gpu gpu = {.blocked = 1u << 3};

    (void)state;
    starts_are(type, &gpu, "4g.20gb", 0);
    starts_are(type, &gpu, "3g.20gb", 1u << 4);
    starts_are(type, &gpu, "2g.10gb", 1u << 0 | 1u << 4);
    starts_are(type, &gpu, "1g.5gb", 0x77);
    assert_int_equal(mig_gpu_fits(type, &gpu, profile_of(type, "1g.5gb")), 6);
}

static void what_is_removed_can_come_again(void **state)
{
    const struct mig_type *type = type_of("a100-40");
    struct mig_gpu gpu = {0};

    (void)state;
    add(type, &gpu, "3g.20gb", 4);
    add(type, &gpu, "2g.10gb", 2);
    assert_int_equal(mig_gpu_at(&gpu, 4), profile_of(type, "3g.20gb"));
    assert_int_equal(mig_gpu_at(&gpu, 3), MIG_NONE);
    mig_gpu_remove(&gpu, 4);
    starts_are(type, &gpu, "3g.20gb", 1u << 4);
    mig_gpu_remove(&gpu, 2);
    assert_true(gpu.layout == 0);
}

/* Values from outside: whatever is called valid can be taken apart, and every value that was built
 * by adding is valid. */
static void hostile_values_are_told_from_legal_ones(void **state)
{
    const struct mig_type *type = type_of("a100-40");
    const uint32_t one = profile_of(type, "1g.5gb"), three = profile_of(type, "3g.20gb");
    struct rng rng;

    (void)state;
    assert_true(mig_gpu_valid(type, &(struct mig_gpu){0}));
    assert_false(mig_gpu_valid(type, &(struct mig_gpu){.blocked = 1u << 8}));
    assert_false(mig_gpu_valid(type, &(struct mig_gpu){.layout = UINT64_C(15) << 8}));
    assert_false(mig_gpu_valid(type, &(struct mig_gpu){.layout = UINT64_C(1) << 32}));
    assert_false(mig_gpu_valid(type, &(struct mig_gpu){.layout = mig_layout_with(0, three, 3)}));
    assert_false(mig_gpu_valid(
        type, &(struct mig_gpu){.layout = mig_layout_with(0, three, 4), .blocked = 1u << 7}));
    assert_false(mig_gpu_valid(
        type, &(struct mig_gpu){.layout = mig_layout_with(mig_layout_with(0, three, 4), one, 6)}));
    rng_init(&rng, 1);
    for (uint32_t i = 0; i < 100000; i++) {
        struct mig_gpu gpu = {.layout = rng_next(&rng) & rng_next(&rng) & rng_next(&rng),
                              .blocked = (uint16_t)(rng_next(&rng) & rng_next(&rng) & 0xfff)};

        if (!mig_gpu_valid(type, &gpu))
            continue;
        for (uint32_t start = 0; start < MIG_SLICES_MAX; start++)
            if (mig_gpu_at(&gpu, start) != MIG_NONE)
                mig_gpu_remove(&gpu, start);
        assert_true(gpu.layout == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(products_are_found_as_drivers_and_labels_print_them),
        TEST(a_short_name_is_a_type_if_its_memory_says_which),
        TEST(what_cannot_be_split_is_of_no_type),
        TEST(the_table_agrees_with_itself),
        TEST(a_profile_is_what_its_slices_and_attributes_say_not_its_text),
        TEST(a_profile_that_a_gpu_lacks_is_an_error_that_names_what_it_has),
        TEST(what_is_no_profile_is_refused),
        TEST(an_amount_of_memory_gets_the_smallest_profile_that_has_it),
        TEST(fault_26_enough_slices_are_not_enough_the_starts_must_be_legal),
        TEST(a_4g_and_a_3g_share_a_gpu),
        TEST(one_instance_of_a_gpu_has_the_media_engines),
        TEST(all_media_engines_leave_none_to_the_others),
        TEST(slices_of_unknown_instances_are_left_alone),
        TEST(what_is_removed_can_come_again),
        TEST(hostile_values_are_told_from_legal_ones),
    };

    return RUN_TESTS(tests);
}
