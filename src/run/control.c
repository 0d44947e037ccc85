/* SPDX-License-Identifier: Apache-2.0 */
#include "run/control.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"

static const char *const verbs[CONTROL_VERB_COUNT] = {"status", "signal", "stop", "kill"};
static const uint32_t parts_of[CONTROL_VERB_COUNT] = {1, 2, 3, 1};
enum { SIGNAL_MAX = 64, PARTS_MAX = 3 };

static bool has_signal(enum control_verb verb)
{
    return verb == CONTROL_SIGNAL || verb == CONTROL_STOP;
}

uint32_t control_format(const struct control *control, char out[CONTROL_BYTES_MAX])
{
    const char *verb = verbs[control->verb];
    int count;

    if (control->verb == CONTROL_STOP)
        count = snprintf(out, CONTROL_BYTES_MAX, "%s %d %lld", verb, control->signal,
                         (long long)control->grace_us);
    else if (control->verb == CONTROL_SIGNAL)
        count = snprintf(out, CONTROL_BYTES_MAX, "%s %d", verb, control->signal);
    else
        count = snprintf(out, CONTROL_BYTES_MAX, "%s", verb);
    return (uint32_t)count;
}

/* Splits at single blanks; how many parts, or 0 if there are too many. */
static uint32_t split(char *text, char *parts[PARTS_MAX])
{
    uint32_t count = 0;

    for (char *at = text; at != NULL; count++) {
        char *blank = strchr(at, ' ');

        if (count == PARTS_MAX)
            return 0;
        parts[count] = at;
        if (blank != NULL)
            *blank++ = '\0';
        at = blank;
    }
    return count;
}

int control_parse(const char *text, struct control *out)
{
    char copy[CONTROL_BYTES_MAX], *parts[PARTS_MAX] = {NULL};
    struct control control = {.verb = CONTROL_VERB_COUNT};
    uint32_t count, signal = 0;

    if (strlen(text) >= sizeof copy)
        return -EINVAL;
    memcpy(copy, text, strlen(text) + 1);
    count = split(copy, parts);
    for (uint32_t i = 0; i < CONTROL_VERB_COUNT && count > 0; i++)
        if (strcmp(parts[0], verbs[i]) == 0)
            control.verb = (enum control_verb)i;
    if (control.verb == CONTROL_VERB_COUNT)
        return -EINVAL;
    if (count != parts_of[control.verb])
        return -EINVAL;
    if (has_signal(control.verb) &&
        (scan_u32(parts[1], &signal) < 0 || signal < 1 || signal > SIGNAL_MAX))
        return -EINVAL;
    control.signal = (int)signal;
    if (control.verb == CONTROL_STOP &&
        (scan_i64(parts[2], &control.grace_us) < 0 || control.grace_us < 0))
        return -EINVAL;
    *out = control;
    return 0;
}
