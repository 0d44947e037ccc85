/* SPDX-License-Identifier: Apache-2.0 */
/* modes_doc.h - the field `modes` of a node or a job, a list of modes of GPUs, and a job's quality
 * of service. */
#pragma once
#include <stdint.h>

#include "core/modes.h"
#include "core/qos.h"

struct doc;
struct doc_node;
struct err;

#define KNOB_TEXT_BYTES 16

extern const char *const gpu_mode_words[GPU_MODES]; /* exclusive, timeslice, mps */
extern const char *const isolation_words[2];        /* shared, strict */
extern const char *const qos_class_words[QOS_CLASSES];

/* A value that a job states: a word, or a whole number. 0, or a negative errno. */
int knob_read(const struct doc *doc, const struct doc_node *node, uint32_t knob, struct qos *out,
              struct err *err);
void knob_text(uint32_t knob, int32_t value, char out[KNOB_TEXT_BYTES]);

/* *out: MODE_BITs; 0 if the list is empty, which the core takes for the default ones. 0, or a
 * negative errno. */
int modes_read(const struct doc *doc, const struct doc_node *list, uint32_t *out, struct err *err);
