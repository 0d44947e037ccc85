/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the commands of berth: one file each, one line in main.c's table. */
#pragma once

#define EXIT_OK     0
#define EXIT_BROKEN 1 /* the world failed: a rule broken, a file that cannot be written */
#define EXIT_USAGE  2 /* bad input: one line on standard error says which */

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
};

int cmd_sim(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_scenario(int argc, char **argv);
int cmd_bench(int argc, char **argv);
