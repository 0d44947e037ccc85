/* SPDX-License-Identifier: Apache-2.0 */
/* config_file.h - how a core is set up, as text: policies by name, and their numbers.
 *
 * Configuration files are YAML or JSON, every field may be left out:
 *
 *   placement: berth
 *   order: gittins
 *   seed: 42
 *   order-options: [3600, 2]   # whole numbers, as the order's own documentation says
 *   migrate-wait: 5m           # a job moves to a faster layout only after running so long,
 *   migrate-gain: 0.1          # and only if it gets faster by this part; 0 = never
 *   nodes-max: 100000
 *   jobs-max: 1000000
 *
 * and queues, classes and rules as in rules_doc.h. `order` is the order of the root: one that the
 * core has, or fair. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"
#include "wire/arena.h"

struct doc;
struct doc_node;
struct err;

#define CONFIG_OPTIONS_MAX 64

/* struct core_config, with the policies still names. The texts and arrays belong to whoever filled
 * it: struct config_file, or the event reader. */
struct config {
    const char *placement; /* "" = not stated */
    const char *order;     /* "" = not stated */
    uint64_t seed;
    const int64_t *order_options; /* [order_option_count], NULL when there are none */
    uint32_t order_option_count;
    const struct group_spec *mix; /* [mix_count], NULL when there is none */
    uint32_t mix_count;
    uint32_t repack; /* enum repack of core.h */
    int64_t migrate_wait_us;
    uint32_t migrate_gain_ppm;
    uint32_t nodes_max; /* 0 = as large as it goes */
    uint32_t jobs_max;
    bool rules_stated;       /* the configuration names queues, classes or rules; */
    struct rules_spec rules; /* they come true as a CONFIG_CHANGED event, and are not in headers of
                              * event files */
};

/* Where the file says a thing that a core may refuse. */
struct config_place {
    const char *word, *name; /* as refusals begin: "queue 'a': ..." */
    uint32_t line;
};

struct config_file {
    struct config config;
    const char *name;                  /* of the file */
    const struct config_place *places; /* [place_count] in the order of the file */
    uint32_t place_count;
    struct arena arena;
};

/* 0 and *out filled, or a negative errno and *out needs no config_file_done(). */
int config_file_load(const char *path, struct config_file *out, struct err *err);
int config_file_parse(const char *name, const void *bytes, size_t count, struct config_file *out,
                      struct err *err);
/* From a map of a doc; texts and arrays live in its arena. */
int config_read(const struct doc *doc, const struct doc_node *map, struct config *out,
                struct err *err);
void config_file_done(struct config_file *file);

/* Puts the file in front of a core's refusal of this configuration, and the line of what it is
 * about, where the file says that; returns code. O(places) */
int config_file_refused(const struct config_file *file, int code, struct err *err);
