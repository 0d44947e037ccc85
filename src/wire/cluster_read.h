/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_read.h - private to the cluster readers: how they add nodes. */
#pragma once
#include <stdint.h>

#include "wire/cluster.h"

struct csv;
struct doc;

struct cluster_reader {
    struct cluster *out;
    struct names seen;  /* of the nodes so far */
    const char *folder; /* where files that are named are looked for; NULL: none may be */
};

/* Adds a node; its texts are copied, its labels and links must live in out->arena. -EEXIST if the
 * name is taken, -ERANGE over the limit; the text of err lacks file and line. */
int cluster_add(struct cluster_reader *reader, const struct node_spec *node, struct err *err);

/* NAME-0 to NAME-(count-1). */
int cluster_add_many(struct cluster_reader *reader, const struct node_spec *node, uint32_t count,
                     struct err *err);

/* One a format; rows or documents that are wrong are errors with file, line and field. */
int cluster_read_doc(struct cluster_reader *reader, const struct doc *doc, struct err *err);
int cluster_read_openb(struct cluster_reader *reader, struct csv *csv, struct err *err);
int cluster_read_muri(struct cluster_reader *reader, struct csv *csv, struct err *err);
