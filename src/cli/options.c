/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - one table of options a command. */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

static const struct option_spec *find(const struct option_spec *specs, size_t count,
                                      const char *word)
{
    const size_t length = strcspn(word, "=");

    for (size_t i = 0; i < count; i++)
        if (strlen(specs[i].name) == length && strncmp(specs[i].name, word, length) == 0)
            return &specs[i];
    return NULL;
}

/* One option at argv[at]; returns how many words it took. */
static int take(const struct option_spec *specs, size_t count, int argc, char **argv, int at,
                struct err *err)
{
    const char *word = argv[at] + 2, *equals = strchr(word, '=');
    const struct option_spec *spec = find(specs, count, word);

    if (spec == NULL)
        return err_set(err, -EINVAL, "'%s': no such option; --help lists them", argv[at]);
    if (spec->value == NULL && equals != NULL)
        return err_set(err, -EINVAL, "--%s: takes no value", spec->name);
    if (spec->value == NULL) {
        *spec->out_switch = true;
        return 1;
    }
    if (equals == NULL && at + 1 == argc)
        return err_set(err, -EINVAL, "--%s: needs a value, %s", spec->name, spec->value);
    *spec->out_text = equals != NULL ? equals + 1 : argv[at + 1];
    return equals != NULL ? 1 : 2;
}

int options_parse(const struct option_spec *specs, size_t count, int argc, char **argv,
                  struct err *err)
{
    int left = 0;

    for (int at = 1; at < argc;) {
        int took = 1;

        if (strcmp(argv[at], "--") == 0) {
            for (at++; at < argc; at++)
                argv[++left] = argv[at];
            break;
        }
        if (strncmp(argv[at], "--", 2) == 0)
            took = take(specs, count, argc, argv, at, err);
        else
            argv[++left] = argv[at];
        if (took < 0)
            return took;
        at += took;
    }
    return left;
}

void options_help(const struct option_spec *specs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char left[64];

        snprintf(left, sizeof left, "--%s%s%s", specs[i].name, specs[i].value != NULL ? " " : "",
                 specs[i].value != NULL ? specs[i].value : "");
        printf("  %-28s %s\n", left, specs[i].help);
    }
}
