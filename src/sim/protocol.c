/* SPDX-License-Identifier: Apache-2.0 */
/* protocol.c - the protocols there are, the default first. */
#include "sim/protocol.h"

#include <string.h>

static const struct protocol *const protocols[] = {&protocol_none, &protocol_muri,
                                                   &protocol_pollux};

const struct protocol *protocol_at(uint32_t index)
{
    return index < sizeof protocols / sizeof protocols[0] ? protocols[index] : NULL;
}

const struct protocol *protocol_find(const char *name)
{
    for (uint32_t i = 0; protocol_at(i) != NULL; i++)
        if (strcmp(protocol_at(i)->name, name) == 0)
            return protocol_at(i);
    return NULL;
}
