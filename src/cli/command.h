/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the commands of berth: one file each, one line in main.c's table. */
#pragma once

struct err;

#define EXIT_OK      0
#define EXIT_DIFFERS 1 /* berth scenario: something is not as expected */
#define EXIT_USAGE   2 /* the run failed: one line on standard error says why */

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
};

/* "berth COMMAND: ERROR" as one line on standard error, whatever is in somebody's text. */
void command_complain(const char *command, const struct err *err);

int cmd_sim(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_scenario(int argc, char **argv);
int cmd_bench(int argc, char **argv);
