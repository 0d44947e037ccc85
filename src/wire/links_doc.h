/* SPDX-License-Identifier: Apache-2.0 */
/* links_doc.h - the field `links` of a node: how its GPUs are wired, said in one of four ways.
 *
 *   dgx-h100                   the name of a preset (core/link_presets.h)
 *   [[0, 25000], [25000, 0]]   a row for each GPU: MB/s in one direction to each, 0 to itself; what
 *                              two rows say of a pair is the same
 *   |                          what nvidia-smi topo -m prints, in the file itself,
 *     GPU0 GPU1 ...
 *   dgx.txt                    or in a file: a name with a '.' or '/' in it, seen from the folder
 * of the file that names it */
#pragma once
#include <stdint.h>

struct arena;
struct doc;
struct doc_node;
struct err;

/* gpus, model: of the node. folder: of the file, with its last '/' ("" = here), or NULL where no
 * other file may be read. *out: [links_pairs(gpus)] in the arena of the doc, or NULL if a node of
 * so few GPUs has no pairs. 0, or a negative errno. */
int links_read(const struct doc *doc, const struct doc_node *node, uint32_t gpus, const char *model,
               const char *folder, const uint32_t **out, struct err *err);

/* The folder of a file, with its last '/'; "" if the path has none. */
const char *links_folder(struct arena *arena, const char *path);
