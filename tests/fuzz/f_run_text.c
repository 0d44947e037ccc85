/* SPDX-License-Identifier: Apache-2.0 */
/* What a shepherd reads and says: a spec (with a checksum that matches), a state, a request. What
 * is understood and written again means the same. */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/tape.h"
#include "fuzz/fuzz.h"
#include "run/control.h"
#include "run/spec.h"
#include "run/state.h"

static void read_control(const char *text)
{
    struct control control, again;
    char out[CONTROL_BYTES_MAX];

    if (control_parse(text, &control) < 0)
        return;
    (void)control_format(&control, out);
    check(control_parse(out, &again) == 0);
    check(again.verb == control.verb && again.signal == control.signal);
    check(again.grace_us == control.grace_us);
}

static void read_state(const char *text)
{
    char first[RUN_STATE_TEXT_BYTES], second[RUN_STATE_TEXT_BYTES];
    struct run_state state;

    if (run_state_parse(text, &state, NULL) < 0)
        return;
    (void)run_state_format(&state, first);
    check(run_state_parse(first, &state, NULL) == 0);
    (void)run_state_format(&state, second);
    check(strcmp(first, second) == 0);
}

static void read_key(const char *text)
{
    char name[RUN_NAME_BYTES];
    struct run_key key;

    if (run_key_parse(text, &key) < 0)
        return;
    run_key_name(key, name);
    check(run_key_parse(name, &key) == 0);
}

/* The bytes after the magic and version of a spec; the checksum is made to match. */
static void read_spec(const uint8_t *bytes, size_t count)
{
    const size_t sealed_min = TAPE_MAGIC_BYTES + 8;
    struct run_spec spec;
    uint8_t *sealed;

    if (count < sealed_min)
        return;
    sealed = mem_copy(bytes, count, 1);
    tape_seal(sealed, count);
    run_spec_init(&spec);
    (void)run_spec_parse(sealed, count, &spec, NULL);
    run_spec_done(&spec);
    mem_free(sealed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *text = mem_alloc(count + 1, 1);

    if (count)
        memcpy(text, bytes, count);
    read_control(text);
    read_state(text);
    read_key(text);
    mem_free(text);
    read_spec(bytes, count);
    return 0;
}
