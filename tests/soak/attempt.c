/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.c - one world, played in a child process. */
#include "soak/attempt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "sim/scenario.h"
#include "wire/scn.h"

enum { EXIT_FINE = 0, EXIT_NOT_YET = 4, EXIT_UNREAD = 5 };

/* What the player itself found; oracle.c ends the process for what the oracle finds. */
static int judge(const struct scenario_result *result, struct soak_counts *counts)
{
    const char *lines = text_str(&result->broken);

    if (result->broken.used == 0)
        return EXIT_FINE;
    (void)snprintf(counts->broken, sizeof counts->broken, "player: %.*s", (int)strcspn(lines, "\n"),
                   lines);
    return SOAK_EXIT_BROKEN;
}

static int play_scn(const struct scn *scn, uint64_t seed, struct soak_counts *counts,
                    struct err *err)
{
    struct oracle oracle;
    struct world_watch watch;
    struct scenario_options options = {.watch = &watch};
    struct scenario_result result;
    int rc;

    oracle_init(&oracle, seed, counts);
    watch = oracle_watch(&oracle);
    rc = scenario_run(scn, &options, &result, err);
    oracle_done(&oracle);
    if (rc < 0 && counts->steps > 0) { /* it began, so this is no mistake of the file */
        (void)snprintf(counts->broken, sizeof counts->broken, "play: %s", err->text);
        return SOAK_EXIT_BROKEN;
    }
    if (rc < 0)
        return EXIT_NOT_YET;
    rc = judge(&result, counts);
    scenario_result_done(&result);
    return rc;
}

static int play(const char *name, const char *bytes, size_t count, uint64_t seed,
                struct soak_counts *counts)
{
    struct scn_text text;
    struct scn scn;
    struct err err = {""};
    int rc = scn_text_parse(name, bytes, count, &text, &err);

    if (rc == 0) {
        rc = scn_read(&text, NULL, &scn, &err);
        if (rc == 0) {
            rc = play_scn(&scn, seed, counts, &err);
            scn_done(&scn);
        }
        scn_text_done(&text);
    }
    if (rc < 0 || rc == EXIT_UNREAD || rc == EXIT_NOT_YET)
        (void)snprintf(counts->broken, sizeof counts->broken, "%s", err.text);
    return rc < 0 ? EXIT_UNREAD : rc;
}

/* ---- the parent ---- */

/* The first line that the process left behind on standard error. */
static void read_last_words(FILE *words, struct attempt *out, int status)
{
    char line[SOAK_TEXT_MAX - 40] = "";

    rewind(words);
    while (fgets(line, sizeof line, words) != NULL && line[0] == '\n')
        ;
    line[strcspn(line, "\n")] = '\0';
    (void)snprintf(out->what, sizeof out->what, "%s: %s (status %d)",
                   WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? "endless"
                   : strstr(line, "check failed")                     ? "check"
                                                                      : "crash",
                   line, status);
}

static void judge_status(int status, const struct soak_counts *counts, FILE *words,
                         struct attempt *out)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    out->counts = *counts;
    memcpy(out->what, counts->broken, sizeof out->what);
    out->end = code == EXIT_FINE      ? ATTEMPT_FINE
               : code == EXIT_NOT_YET ? ATTEMPT_NOT_YET
               : code == EXIT_UNREAD  ? ATTEMPT_UNREAD
                                      : ATTEMPT_BROKEN;
    if (out->end == ATTEMPT_BROKEN && code != SOAK_EXIT_BROKEN)
        read_last_words(words, out, status);
}

void attempt_play(const char *name, const char *bytes, size_t count, uint64_t seed,
                  struct attempt *out)
{
    struct soak_counts *counts =
        mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *words = tmpfile();
    int status = 0;
    pid_t child;

    *out = (struct attempt){.end = ATTEMPT_UNREAD};
    check(counts != MAP_FAILED && words != NULL);
    fflush(stdout);
    child = fork();
    check(child >= 0);
    if (child == 0) {
        const struct rlimit limit = {ATTEMPT_SECONDS_MAX, ATTEMPT_SECONDS_MAX + 1};

        check(setrlimit(RLIMIT_CPU, &limit) == 0);
        (void)dup2(fileno(words), STDERR_FILENO);
        _exit(play(name, bytes, count, seed, counts));
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    judge_status(status, counts, words, out);
    (void)fclose(words);
    (void)munmap(counts, sizeof *counts);
}

bool attempt_alike(const struct attempt *a, const struct attempt *b)
{
    const size_t len = strcspn(a->what, ":");

    return a->end == b->end && strncmp(a->what, b->what, len + 1) == 0;
}
