/* SPDX-License-Identifier: Apache-2.0 */
/* main_shepherd.c - berth-shepherd: one for each task that runs on this machine. Started by the
 * daemon (run/runs.h), never by hand. */
#include <stdio.h>
#include <sys/stat.h>

#include "run/shepherd.h"

int main(void)
{
    struct stat facts;

    if (fstat(SHEPHERD_FOLDER_FD, &facts) < 0 || !S_ISDIR(facts.st_mode) ||
        fstat(SHEPHERD_LISTEN_FD, &facts) < 0 || !S_ISSOCK(facts.st_mode)) {
        fputs("berth-shepherd: is started by berthd, with the folder of a run\n", stderr);
        return 2;
    }
    return shepherd_main();
}
