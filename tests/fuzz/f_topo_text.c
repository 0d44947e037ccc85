/* SPDX-License-Identifier: Apache-2.0 */
/* topo_text_parse(). The first byte says of which model the GPUs are. */
#include "base/check.h"
#include "base/err.h"
#include "fuzz/fuzz.h"
#include "wire/topo_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const models[] = {"", "V100", "A40", "NVIDIA GB200"};
    static struct topo topo;
    struct err err;

    if (count == 0 || topo_text_parse("fuzz.txt", (const char *)bytes + 1, count - 1,
                                      models[bytes[0] % 4], &topo, &err) < 0)
        return 0;
    check(topo.gpus >= 1 && topo.gpus <= NODE_GPUS_MAX);
    for (uint32_t i = 0; i < links_pairs(topo.gpus); i++)
        check(topo.mbps[i] > 0 && topo.mbps[i] <= LINK_MBPS_MAX);
    return 0;
}
