/* SPDX-License-Identifier: Apache-2.0 */
/* core_load() on snapshots that somebody changed and gave a matching checksum.
 *
 * So that a corpus outlives the layout of snapshots, an input says how to make one:
 *
 *   byte 0, 1   placement policy and order, as indices of the registry
 *   byte 2, 3   seed of a random history, and its length in tens of events
 *   byte 4      0: the whole snapshot; else so many 256ths are cut off at its end
 *   then edits of 4 bytes: offset (low byte first), what to do, value
 *
 * An input that begins as a snapshot does is taken as one, under the policies that it names. */
#include <stdlib.h>

#include "base/mem.h"
#include "core/core.h"
#include "fuzz/fuzz.h"
#include "policy/registry.h"
#include "unit/core_random.h"

enum { HEADER_BYTES = 5, EDIT_BYTES = 4, SEALED_MIN = 16 };

static uint8_t *make_snapshot(const struct core_config *config, const uint8_t *head, size_t *count)
{
    struct core *core = core_new(config, NULL);
    struct decisions out;
    struct play play;
    uint8_t *bytes;

    check(core != NULL);
    decisions_init(&out);
    play_init(&play, head[2], 4);
    play.levels = head[2] % 2 == 1;
    play_join(&play, core);
    for (uint32_t i = 0; i < 10u * (head[3] % 32); i++) {
        struct event event;

        play_event(&play, core, &event);
        (void)core_apply(core, &event, NULL);
        if (i % 3 == 0)
            core_step(core, core_now_us(core), &out);
    }
    bytes = core_save(core, count);
    decisions_done(&out);
    core_free(core);
    return bytes;
}

static void edit(uint8_t *bytes, size_t count, const uint8_t *edits, size_t edit_count)
{
    for (; edit_count >= EDIT_BYTES; edits += EDIT_BYTES, edit_count -= EDIT_BYTES) {
        const size_t at = (edits[0] + 256u * edits[1]) % count;

        if (edits[2] % 3 == 0)
            bytes[at] = edits[3];
        else if (edits[2] % 3 == 1)
            bytes[at] ^= edits[3];
        else
            bytes[at] = (uint8_t)(bytes[at] + edits[3]);
    }
}

/* What was loaded obeys the rules, and is saved to bytes that load to the same. */
static void load(const struct core_config *config, const uint8_t *bytes, size_t count)
{
    struct err err;
    struct core *core = core_load(config, bytes, count, &err), *again;
    size_t saved_count;
    uint8_t *saved;

    if (core == NULL)
        return;
    check(core_check_rules(core, &err) == 0);
    saved = core_save(core, &saved_count);
    again = core_load(config, saved, saved_count, &err);
    check(again != NULL && core_digest(again) == core_digest(core));
    mem_free(saved);
    core_free(core);
    core_free(again);
}

static uint32_t count_of_placements(void)
{
    uint32_t count = 0;

    while (placement_at(count) != NULL)
        count++;
    return count;
}

static uint32_t count_of_orders(void)
{
    uint32_t count = 0;

    while (order_at(count) != NULL)
        count++;
    return count;
}

static void load_under_all(const uint8_t *bytes, size_t count)
{
    for (uint32_t p = 0; placement_at(p) != NULL; p++)
        for (uint32_t o = 0; order_at(o) != NULL; o++)
            load(&(struct core_config){.placement = placement_at(p), .order = order_at(o)}, bytes,
                 count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct core_config config = {0};
    uint8_t *snapshot, *exact;
    size_t snapshot_count;

    if (count >= 8 && memcmp(bytes, "berthsnp", 8) == 0) {
        load_under_all(bytes, count);
        return 0;
    }
    if (count < HEADER_BYTES)
        return 0;
    config.placement = placement_at(bytes[0] % count_of_placements());
    config.order = order_at(bytes[1] % count_of_orders());
    snapshot = make_snapshot(&config, bytes, &snapshot_count);
    snapshot_count -= snapshot_count * bytes[4] / 256;
    if (snapshot_count >= SEALED_MIN) {
        edit(snapshot, snapshot_count, bytes + HEADER_BYTES, count - HEADER_BYTES);
        tape_seal(snapshot, snapshot_count);
    }
    exact = mem_copy(snapshot, snapshot_count, 1); /* so that a sanitizer sees a read behind it */
    mem_free(snapshot);
    load(&config, exact, snapshot_count);
    mem_free(exact);
    return 0;
}
