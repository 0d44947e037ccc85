/* SPDX-License-Identifier: Apache-2.0 */
#include "store/recover.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "wire/arena.h"
#include "wire/decision_json.h"
#include "wire/event_json.h"

#define DECISIONS_BYTES_MAX (256u << 20)

struct replay {
    struct core *core;
    struct recovery *counts;
    struct arena arena;
    struct decisions decisions;
    struct text decided; /* by the last step, if its row did not come yet */
    bool awaits_decisions;
};

static int differs(const struct replay *replay, uint64_t seq, struct err *err)
{
    const char *decided = text_str(&replay->decided);

    return err_set(err, -ESTALE,
                   "journal row %llu: the step decides otherwise now (%.*s): go back to the berth"
                   " that wrote it, or start from its snapshot",
                   (unsigned long long)seq, (int)strcspn(decided, "\n"), decided);
}

static int take_step(struct replay *replay, int64_t now_us)
{
    (void)core_step(replay->core, now_us, &replay->decisions);
    replay->counts->steps++;
    text_clear(&replay->decided);
    decisions_format(&replay->decisions, now_us, &replay->decided);
    replay->awaits_decisions = replay->decided.used > 0;
    return 0;
}

/* What was refused at the time is refused again. */
static int take_event(struct replay *replay, const struct journal_row *row, struct err *err)
{
    struct event event;
    int rc;

    arena_clear(&replay->arena);
    rc = event_parse("journal", (uint32_t)row->seq, row->text, strcspn(row->text, "\n"),
                     &replay->arena, &event, err);
    if (rc < 0)
        return rc == -ENOMEM ? rc : -EBADMSG;
    if (event.type == EVENT_STEPPED)
        return take_step(replay, event.at_us);
    replay->counts->events++;
    if (core_apply(replay->core, &event, NULL) < 0)
        replay->counts->events_refused++;
    return 0;
}

static int take_row(void *arg, const struct journal_row *row, struct err *err)
{
    struct replay *replay = arg;

    if (row->kind == JOURNAL_DECISIONS) {
        const bool same = replay->awaits_decisions && replay->decided.used == row->length &&
                          memcmp(replay->decided.bytes, row->text, row->length) == 0;

        replay->awaits_decisions = false;
        return same ? 0 : differs(replay, row->seq, err);
    }
    if (replay->awaits_decisions)
        return differs(replay, row->seq, err);
    return row->kind == JOURNAL_EVENT ? take_event(replay, row, err) : 0;
}

/* The newest snapshot that loads; an older one needs more rows, and none all of them. */
static int find_start(struct journal *journal, const struct core_config *config,
                      struct replay *replay, struct err *err)
{
    uint64_t before = UINT64_MAX, seq;
    uint8_t *bytes;
    size_t count;
    int rc;

    while ((rc = journal_load_snapshot(journal, before, &seq, &bytes, &count, err)) == 1) {
        replay->core = core_load(config, bytes, count, err);
        mem_free(bytes);
        if (replay->core != NULL) {
            replay->counts->snapshot_seq = seq;
            return 0;
        }
        replay->counts->snapshots_refused++;
        if (seq == 0)
            break;
        before = seq - 1;
    }
    if (rc < 0)
        return rc;
    rc = journal_first_seq(journal, &seq, err);
    if (rc < 0)
        return rc;
    if (seq > 1)
        return replay->counts->snapshots_refused > 0
                   ? err_prefix(err, -EBADMSG, "no snapshot can be read, and older rows are gone: ")
                   : err_set(err, -EBADMSG, "rows before %llu are gone, and there is no snapshot",
                             (unsigned long long)seq);
    replay->core = core_new(config, err);
    return replay->core == NULL ? -EINVAL : 0;
}

int recover(struct journal *journal, const struct core_config *config, struct core **out,
            struct recovery *out_recovery, struct err *err)
{
    struct recovery counts = {0};
    struct replay replay = {.counts = &counts};
    int rc;

    arena_init(&replay.arena);
    decisions_init(&replay.decisions);
    text_init(&replay.decided, DECISIONS_BYTES_MAX);
    rc = find_start(journal, config, &replay, err);
    if (rc == 0)
        rc = journal_read(journal, counts.snapshot_seq, take_row, &replay, err);
    if (rc == 0 && replay.awaits_decisions)
        rc = differs(&replay, journal_next_seq(journal), err);
    text_done(&replay.decided);
    decisions_done(&replay.decisions);
    arena_done(&replay.arena);
    if (rc < 0) {
        core_free(replay.core);
        return rc;
    }
    *out = replay.core;
    *out_recovery = counts;
    return 0;
}
