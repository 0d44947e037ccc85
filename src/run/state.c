/* SPDX-License-Identifier: Apache-2.0 */
#include "run/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/scan.h"
#include "run/file.h"

#define FIRST_LINE "berth-run 1"
#define LAST_LINE  "end"

static const char *const phase_names[RUN_PHASE_COUNT] = {"starting", "running", "ended", "failed"};

/* ---- format ---- */

static void one_line(const char *from, char *out, size_t size)
{
    size_t used = 0;

    for (; *from != '\0' && used + 1 < size; from++)
        out[used++] = (unsigned char)*from < ' ' ? ' ' : *from;
    out[used] = '\0';
}

uint32_t run_state_format(const struct run_state *state, char out[RUN_STATE_TEXT_BYTES])
{
    char error[RUN_ERROR_BYTES];
    int count;

    one_line(state->error, error, sizeof error);
    count = snprintf(
        out, RUN_STATE_TEXT_BYTES,
        FIRST_LINE
        "\nphase %s\nboot %s\nshepherd %d %llu\ntask %d %llu\n"
        "stopping %d\nkilled %d\ncode %d\nsignal %d\noom_kills %llu\n"
        "log_file_bytes %lld\nlog_lost_bytes %llu\nbegan_us %lld\nend_us %lld\nerror %s\n" LAST_LINE
        "\n",
        phase_names[state->phase], state->boot, (int)state->shepherd.pid,
        (unsigned long long)state->shepherd.start, (int)state->task.pid,
        (unsigned long long)state->task.start, state->stopping, state->killed, state->code,
        state->signal, (unsigned long long)state->oom_kills, (long long)state->log_file_bytes,
        (unsigned long long)state->log_lost_bytes, (long long)state->began_us,
        (long long)state->end_us, error);
    return (uint32_t)count;
}

/* ---- parse ---- */

/* Takes the next line, which must begin with the word; its rest, or NULL. */
static const char *take(char **at, const char *word)
{
    char *line = *at, *end = strchr(line, '\n');
    const size_t length = strlen(word);

    if (end == NULL || strncmp(line, word, length) != 0)
        return NULL;
    *end = '\0';
    if (line[length] != ' ' && line[length] != '\0')
        return NULL;
    *at = end + 1;
    return line + length + (line[length] == ' ');
}

static bool take_i64(char **at, const char *word, int64_t min, int64_t max, int64_t *out)
{
    const char *value = take(at, word);

    return value != NULL && scan_i64(value, out) == 0 && *out >= min && *out <= max;
}

static bool take_u64(char **at, const char *word, uint64_t *out)
{
    const char *value = take(at, word);

    return value != NULL && scan_u64(value, out) == 0;
}

static bool take_bool(char **at, const char *word, bool *out)
{
    int64_t value;

    if (!take_i64(at, word, 0, 1, &value))
        return false;
    *out = value == 1;
    return true;
}

static bool take_i32(char **at, const char *word, int32_t *out)
{
    int64_t value;

    if (!take_i64(at, word, INT32_MIN, INT32_MAX, &value))
        return false;
    *out = (int32_t)value;
    return true;
}

static bool take_process(char **at, const char *word, struct process_id *out)
{
    const char *value = take(at, word);
    char pid[16];
    uint32_t number;
    size_t length;

    if (value == NULL)
        return false;
    length = strcspn(value, " ");
    if (length >= sizeof pid || value[length] != ' ')
        return false;
    memcpy(pid, value, length);
    pid[length] = '\0';
    if (scan_u32(pid, &number) < 0 || number > INT32_MAX)
        return false;
    out->pid = (pid_t)number;
    return scan_u64(value + length + 1, &out->start) == 0;
}

static bool take_text(char **at, const char *word, char *out, size_t size)
{
    const char *value = take(at, word);

    if (value == NULL || strlen(value) >= size)
        return false;
    memcpy(out, value, strlen(value) + 1);
    return true;
}

static bool take_phase(char **at, enum run_phase *out)
{
    const char *value = take(at, "phase");

    for (uint32_t i = 0; value != NULL && i < RUN_PHASE_COUNT; i++) {
        if (strcmp(value, phase_names[i]) != 0)
            continue;
        *out = (enum run_phase)i;
        return true;
    }
    return false;
}

static bool take_all(char **at, struct run_state *s)
{
    return take(at, FIRST_LINE) != NULL && take_phase(at, &s->phase) &&
           take_text(at, "boot", s->boot, sizeof s->boot) &&
           take_process(at, "shepherd", &s->shepherd) && take_process(at, "task", &s->task) &&
           take_bool(at, "stopping", &s->stopping) && take_bool(at, "killed", &s->killed) &&
           take_i32(at, "code", &s->code) && take_i32(at, "signal", &s->signal) &&
           take_u64(at, "oom_kills", &s->oom_kills) &&
           take_i64(at, "log_file_bytes", 1, INT64_MAX, &s->log_file_bytes) &&
           take_u64(at, "log_lost_bytes", &s->log_lost_bytes) &&
           take_i64(at, "began_us", 0, INT64_MAX, &s->began_us) &&
           take_i64(at, "end_us", 0, INT64_MAX, &s->end_us) &&
           take_text(at, "error", s->error, sizeof s->error) && take(at, LAST_LINE) != NULL;
}

int run_state_parse(const char *text, struct run_state *out, struct err *err)
{
    char copy[RUN_STATE_TEXT_BYTES], *at = copy;
    struct run_state state = {0};

    if (strlen(text) >= sizeof copy)
        return err_set(err, -EINVAL, "state: longer than %d bytes", RUN_STATE_TEXT_BYTES);
    memcpy(copy, text, strlen(text) + 1);
    if (!take_all(&at, &state) || *at != '\0')
        return err_set(err, -EINVAL, "state: not understood at '%.40s'", at);
    *out = state;
    return 0;
}

int run_state_save(const struct run_state *state, int folder_fd)
{
    char text[RUN_STATE_TEXT_BYTES];
    const uint32_t length = run_state_format(state, text);

    return file_replace(folder_fd, "state", text, length,
                        run_state_is_end(state) ? FILE_DURABLE : FILE_FAST);
}

int run_state_load(int folder_fd, struct run_state *out, struct err *err)
{
    char *text;
    size_t count;
    int rc = file_load(folder_fd, "state", RUN_STATE_TEXT_BYTES, &text, &count);

    if (rc < 0)
        return err_set(err, rc, "cannot read 'state': %s", strerror(-rc));
    rc = strlen(text) == count ? run_state_parse(text, out, err)
                               : err_set(err, -EINVAL, "state: holds a zero byte");
    mem_free(text);
    return rc;
}
