/* SPDX-License-Identifier: Apache-2.0 */
/* topo_text.h - the matrix that `nvidia-smi topo -m` prints, as links (core/links.h).
 *
 * A line of column names that begins with GPU0, then a row for each GPU: X for itself, NV# for so
 * many NVLinks, PIX, PXB, PHB, NODE or SYS (SOC in old drivers) for ways over PCIe. Columns of
 * network cards and of affinities, rows of network cards, and all below the rows are passed by, as
 * are colours, blank lines, lines that begin with '#', and the line of a shell that ends in the
 * command. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "core/links.h"

struct err;

#define TOPO_TEXT_BYTES_MAX ((size_t)1 << 20)

struct topo {
    uint32_t gpus;                  /* 1..NODE_GPUS_MAX */
    uint32_t mbps[LINKS_PAIRS_MAX]; /* [links_pairs(gpus)] */
};

/* name: of the text, for errors ("topo.txt:3: ..."). model: of the GPUs, which says what a link
 * carries (link_models.h). Returns 0, or -EINVAL with the line that is wrong; what two GPUs say
 * of the way between them must be the same. */
int topo_text_parse(const char *name, const char *bytes, size_t count, const char *model,
                    struct topo *out, struct err *err);
