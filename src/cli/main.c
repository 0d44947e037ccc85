/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the table of commands. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cli/command.h"

static const struct command commands[] = {
    {"sim", "schedule a trace on a cluster, and show how well", cmd_sim},
    {"replay", "take the recorded events of a run again", cmd_replay},
    {"scenario", "play what happens on a small cluster, and compare what is decided", cmd_scenario},
    {"bench", "measure placements per second", cmd_bench},
};

void command_complain(const char *command, const struct err *err)
{
    fprintf(stderr, "berth %s: ", command);
    for (const char *c = err->text; *c != '\0'; c++)
        fputc((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c, stderr);
    fputc('\n', stderr);
}

static void usage(FILE *to)
{
    fputs("usage: berth COMMAND [OPTION...]\n\ncommands:\n", to);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'berth COMMAND --help' says more. 'berth --version' says which berth this is.\n", to);
}

/* What was printed must have arrived: a full disk is a failure, not a shorter result. */
static int printed(const char *command, int rc)
{
    if (rc != EXIT_OK || (fflush(stdout) == 0 && !ferror(stdout)))
        return rc;
    fprintf(stderr, "berth%s%s: standard output: cannot write\n", command[0] ? " " : "", command);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return printed("", EXIT_OK);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("berth " BERTH_VERSION);
        return printed("", EXIT_OK);
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return printed(commands[i].name, commands[i].run(argc - 1, argv + 1));
    fprintf(stderr, "berth: '%s': no such command; 'berth --help' lists them\n", argv[1]);
    return EXIT_USAGE;
}
