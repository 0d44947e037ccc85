/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - runs a fuzz target over each file of the folders given, in order of name, and over
 * every shorter beginning of small ones. Reports TAP. Anything the fuzzer ever found is kept there
 * as a file, so each finding stays a test. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

enum { FILE_BYTES_MAX = 1 << 22, CUT_BYTES_MAX = 512 };

/* The target gets memory of exactly count bytes, so that a sanitizer sees a read behind them. */
static void run_copy(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = malloc(count ? count : 1);

    if (!copy)
        abort();
    if (count)
        memcpy(copy, bytes, count);
    LLVMFuzzerTestOneInput(copy, count);
    free(copy);
}

static bool run_file(const char *folder, const char *name)
{
    static uint8_t bytes[FILE_BYTES_MAX];
    char path[4096];
    size_t count;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file)
        return false;
    count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    run_copy(bytes, count);
    for (size_t cut = 0; count <= CUT_BYTES_MAX && cut < count; cut++)
        run_copy(bytes, cut);
    return true;
}

/* Files run in folder, or -1 when there are none or one cannot be read. */
static int run_folder(const char *folder, int done)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    int before = done;
    bool ok = true;

    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            bool ran = run_file(folder, entries[i]->d_name);

            ok = ok && ran;
            printf("%s %d - %s\n", ran ? "ok" : "not ok", ++done, entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return ok && done > before ? done : -1;
}

int main(int argc, char **argv)
{
    int done = 0;

    for (int i = 1; i < argc; i++) {
        done = run_folder(argv[i], done);
        if (done < 0) {
            fprintf(stderr, "cannot run the corpus '%s'\n", argv[i]);
            return 1;
        }
    }
    printf("1..%d\n", done);
    return 0;
}
