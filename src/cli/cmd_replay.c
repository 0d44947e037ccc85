/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_replay.c - berth replay: take the recorded events of a run again. */
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "sim/replay.h"
#include "wire/decision_json.h"

#define DECISIONS_BYTES_MAX (64u << 20)

struct replay_args {
    bool decisions, check, help;
};

static void print_decisions(void *arg, const struct decisions *decisions, int64_t now_us)
{
    struct text *text = arg;

    text_clear(text);
    decisions_format(decisions, now_us, text);
    fputs(text_str(text), stdout);
}

static int replay(const struct replay_args *args, const char *path, struct err *err)
{
    struct replay_result result;
    struct text text;
    int rc;

    text_init(&text, DECISIONS_BYTES_MAX);
    rc = replay_file(path, args->check, args->decisions ? print_decisions : NULL, &text, &result,
                     err);
    text_done(&text);
    if (rc == 0)
        printf("%" PRIu64 " events, %" PRIu64 " steps, digest\n%016" PRIx64 "\n", result.events,
               result.steps, result.digest);
    return rc;
}

int cmd_replay(int argc, char **argv)
{
    struct replay_args args = {0};
    const struct option_spec specs[] = {
        {"decisions", NULL, "print what each step decided, as JSON lines", NULL, &args.decisions},
        {"check", NULL, "check all rules after every step (slow)", NULL, &args.check},
        {"help", NULL, "this text", NULL, &args.help},
    };
    const size_t count = sizeof specs / sizeof specs[0];
    struct err err = {""};
    int rc = options_parse(specs, count, argc, argv, &err);

    if (rc >= 0 && args.help) {
        puts("usage: berth replay [OPTION...] EVENTS\n\n"
             "EVENTS is a file that 'berth sim --events' wrote. The last line is the digest.\n");
        options_help(specs, count);
        return EXIT_OK;
    }
    if (rc >= 0)
        rc = rc == 1 ? replay(&args, argv[1], &err)
                     : err_set(&err, -1, "one event file is needed; --help shows how");
    if (rc < 0)
        command_complain("replay", &err);
    return rc < 0 ? EXIT_USAGE : EXIT_OK;
}
