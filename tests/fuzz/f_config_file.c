/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "base/err.h"
#include "fuzz/fuzz.h"
#include "wire/config_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const names[] = {"fuzz.yaml", "fuzz.json"};
    struct config_file file;
    struct err err;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (config_file_parse(names[i], bytes, count, &file, &err) < 0)
            continue;
        check(file.config.placement && file.config.order);
        check(file.config.order_option_count <= CONFIG_OPTIONS_MAX);
        check(file.config.nodes_max <= NODES_MAX && file.config.jobs_max <= JOBS_MAX);
        config_file_done(&file);
    }
    return 0;
}
