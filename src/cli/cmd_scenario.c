/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_scenario.c - berth scenario: play scenario files and hold their logs against what is there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/scenario_diff.h"
#include "sim/explain_at.h"
#include "sim/scenario.h"
#include "wire/scn.h"

struct scenario_args {
    bool update, print, tap, help;
    const char *events;
    const char *variant; /* only this one, or NULL */
    const char *explain; /* JOB@TIME, or NULL */
    bool json;
    uint32_t done, failed;
    uint32_t played; /* of the present file */
};

static void report(struct scenario_args *args, const struct scn *scn, bool ok)
{
    args->done++;
    args->failed += !ok;
    printf(ok ? "ok" : args->tap ? "not ok" : "FAIL");
    if (args->tap)
        printf(" %u -", args->done);
    printf(" %s%s%s%s%s\n", scn->file, scn->variant[0] ? " " : "", scn->variant,
           scn->title[0] ? ": " : "", scn->title);
}

/* Lines for people below a result; in TAP they are comments. */
static void print_indented(const struct scenario_args *args, const char *lines)
{
    while (*lines != '\0') {
        const int len = (int)strcspn(lines, "\n");

        printf("%s%.*s\n", args->tap ? "#   " : "    ", len, lines);
        lines += len + (lines[len] == '\n');
    }
}

/* unheld: what the core refused where no expected log says so, or "". */
static void compare(struct scenario_args *args, const struct scn *scn,
                    const struct scenario_result *result, const char *unheld)
{
    struct text diff;
    bool same = true;

    text_init(&diff, SCENARIO_LOG_BYTES_MAX);
    if (scn->expect)
        same = scenario_diff(scn->expect, text_str(&result->log), &diff);
    report(args, scn, same && result->broken.used == 0 && unheld[0] == '\0');
    print_indented(args, text_str(&result->broken));
    if (unheld[0] != '\0') {
        print_indented(args, unheld);
        print_indented(args, "no 'expect' block says so; --update fills one: expect, end\n");
    }
    if (!same) {
        print_indented(args, "- expected, + what happened:\n");
        print_indented(args, text_str(&diff));
    }
    text_done(&diff);
}

/* What is wrong may be a line of the base that has lost what it needs. */
static int in_variant(const struct scn_variant *variant, int rc, struct err *err)
{
    struct err detail;

    if (rc >= 0 || variant == NULL)
        return rc;
    detail = *err;
    return err_set(err, rc, "%s; in variant '%s' at line %u", detail.text, variant->name,
                   variant->number);
}

/* After it was played, so that its own mistakes are told first. */
static int check_expects(const struct scenario_args *args, const struct scn *scn, struct err *err)
{
    if (scn->expect || scn->assert_count > 0 || args->print || args->update)
        return 0;
    return err_set(err, -EINVAL,
                   "%s: nothing is expected: no 'expect' block and no 'assert'; run it with "
                   "--print, or write what happens into it with --update",
                   scn->file);
}

static int play(struct scenario_args *args, struct scn_text *text,
                const struct scn_variant *variant, struct scenario_edits *edits, struct err *err)
{
    struct scenario_result result;
    struct scn scn;
    bool held;
    int rc = scn_read(text, variant, &scn, err);

    args->played++;
    if (rc < 0)
        return in_variant(variant, rc, err);
    rc = scenario_check(&scn, args->events, &result, err);
    if (rc == 0 && (rc = check_expects(args, &scn, err)) < 0)
        scenario_result_done(&result);
    if (rc < 0) {
        scn_done(&scn);
        return in_variant(variant, rc, err);
    }
    held = scn.expect || scn.assert_count == 0;
    if (args->print)
        printf("# %s%s%s, digest %016" PRIx64 "\n%s", scn.file, variant ? " " : "", scn.variant,
               result.digest, text_str(&result.log));
    if (args->update) {
        if (scn.expect || scn.assert_count == 0)
            scenario_edits_add(edits, text, variant, text_str(&result.log));
        scn.expect = NULL; /* it will be true */
    }
    compare(args, &scn, &result, held ? "" : text_str(&result.refused));
    if (args->update && !held && variant == NULL)
        print_indented(args, "not updated: it goes by its claims; with the lines 'expect' and "
                             "'end' in it, --update fills them\n");
    scenario_result_done(&result);
    scn_done(&scn);
    return 0;
}

/* Only as far as the time that is asked about; what is expected is not looked at. */
static int explain_file(struct scenario_args *args, struct scn_text *text,
                        const struct scn_variant *variant, struct err *err)
{
    struct explain_at at = {.json = args->json};
    const struct scenario_options options = {.explain = &at, .events = args->events};
    struct scenario_result result;
    struct scn scn;
    char name[256];
    int rc = explain_at_parse(args->explain, name, sizeof name, &at, err);

    if (rc < 0)
        return rc;
    rc = scn_read(text, variant, &scn, err);
    if (rc == 0) {
        rc = scenario_run(&scn, &options, &result, err);
        if (rc == 0)
            scenario_result_done(&result);
        if (rc == 0 && !at.done)
            rc = err_set(err, -EINVAL, "--explain: %s ends before this time", scn.file);
        scn_done(&scn);
    }
    if (rc == 0)
        printf("%s", text_str(&at.text));
    args->played++;
    explain_at_done(&at);
    return in_variant(variant, rc, err);
}

static bool is_wanted(const struct scenario_args *args, const char *variant)
{
    return !args->variant || strcmp(args->variant, variant) == 0;
}

/* Mistakes of any part of the file come before the first result. */
static int check_all(struct scn_text *text, struct err *err)
{
    struct scn scn;
    int rc = 0;

    for (uint32_t i = 0; i <= text->variant_count && rc == 0; i++) {
        rc = scn_read(text, i > 0 ? &text->variants[i - 1] : NULL, &scn, err);
        if (rc == 0)
            scn_done(&scn);
        else if (i > 0)
            rc = in_variant(&text->variants[i - 1], rc, err);
    }
    return rc;
}

/* What is wrong with one run does not keep the others from being played: it is told at once but for
 * the last one, which is the caller's to tell. */
static int play_next(struct scenario_args *args, struct scn_text *text,
                     const struct scn_variant *variant, struct scenario_edits *edits, int before,
                     struct err *err)
{
    struct err detail;
    const int rc = play(args, text, variant, edits, &detail);

    if (rc == 0)
        return before;
    if (before < 0)
        command_complain("scenario", err);
    *err = detail;
    return rc;
}

static int play_all(struct scenario_args *args, struct scn_text *text, struct scenario_edits *edits,
                    struct err *err)
{
    int rc = is_wanted(args, "") && !args->explain ? play_next(args, text, NULL, edits, 0, err) : 0;

    if (args->explain && !args->variant)
        return explain_file(args, text, NULL, err);
    for (uint32_t i = 0; i < text->variant_count; i++)
        if (is_wanted(args, text->variants[i].name))
            rc = args->explain ? explain_file(args, text, &text->variants[i], err)
                               : play_next(args, text, &text->variants[i], edits, rc, err);
    if (rc == 0 && args->played == 0)
        rc = err_set(err, -ENOENT, "%s: there is no variant '%s'", text->name, args->variant);
    return rc;
}

static int play_file(struct scenario_args *args, const char *path, struct err *err)
{
    struct scenario_edits edits = {0};
    struct scn_text text;
    int rc = scn_text_load(path, &text, err);

    if (rc < 0)
        return rc;
    args->played = 0;
    rc = check_all(&text, err);
    rc = rc < 0 ? rc : play_all(args, &text, &edits, err);
    if (rc == 0 && args->update)
        rc = scenario_edits_write(&edits, path, err);
    scenario_edits_done(&edits);
    scn_text_done(&text);
    return rc;
}

static int check_args(const struct scenario_args *args, int files, struct err *err)
{
    if (files == 0)
        return err_set(err, -EINVAL, "a scenario file is needed; --help shows how");
    if (args->events && (files > 1 || args->update))
        return err_set(err, -EINVAL, "--events records one run; give one file, and --variant");
    if (args->update && args->variant)
        return err_set(err, -EINVAL, "--update writes all blocks; leave out --variant");
    if (args->explain && (files > 1 || args->update || args->tap))
        return err_set(err, -EINVAL,
                       "--explain stops one run; give one file, without --update and --tap");
    if (args->json && !args->explain)
        return err_set(err, -EINVAL, "--json goes with --explain");
    if (args->tap && args->print)
        return err_set(err, -EINVAL, "--tap and --print do not go together");
    return 0;
}

static void usage(const struct option_spec *specs, size_t count)
{
    puts("usage: berth scenario [OPTION...] FILE...\n\n"
         "Plays each scenario and its variants, and prints one line each: ok, or FAIL with what\n"
         "is different. Exits with 1 when one fails. docs/scenario.md describes the files.\n");
    options_help(specs, count);
}

int cmd_scenario(int argc, char **argv)
{
    struct scenario_args args = {0};
    const struct option_spec specs[] = {
        {"update", NULL,
         "write what happens into the expect blocks; a file without any and without claims gets "
         "one "
         "at its end",
         NULL, &args.update},
        {"print", NULL, "print the logs", NULL, &args.print},
        {"variant", "NAME", "only this variant", &args.variant, NULL},
        {"events", "FILE", "record the run for 'berth replay'", &args.events, NULL},
        {"explain", "JOB@TIME", "stop at this time and say why the job waits", &args.explain, NULL},
        {"json", NULL, "say it as a JSON object", NULL, &args.json},
        {"tap", NULL, "print TAP, for test programs", NULL, &args.tap},
        {"help", NULL, "this text", NULL, &args.help},
    };
    const size_t count = sizeof specs / sizeof specs[0];
    struct err err = {""};
    int files = options_parse(specs, count, argc, argv, &err), rc = files < 0 ? files : 0;

    if (rc == 0 && args.help) {
        usage(specs, count);
        return EXIT_OK;
    }
    rc = rc < 0 ? rc : check_args(&args, files, &err);
    for (int i = 1; i <= files && rc == 0; i++)
        rc = play_file(&args, argv[i], &err);
    if (args.tap && rc == 0)
        printf("1..%u\n", args.done);
    if (rc < 0)
        command_complain("scenario", &err);
    return rc < 0 ? EXIT_USAGE : args.failed > 0 ? EXIT_DIFFERS : EXIT_OK;
}
