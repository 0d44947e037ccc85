/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/modes_doc.h"

#include <stdio.h>

#include "wire/fields.h"

const char *const gpu_mode_words[GPU_MODES] = {
    [GPU_EXCLUSIVE] = "exclusive", [GPU_TIMESLICE] = "timeslice", [GPU_MPS] = "mps"};

const char *const isolation_words[] = {"shared", "strict"};
const char *const qos_class_words[QOS_CLASSES] = {[QOS_NONE] = "none",
                                                  [QOS_LATENCY] = "latency",
                                                  [QOS_THROUGHPUT] = "throughput",
                                                  [QOS_BESTEFFORT] = "besteffort"};
static const char *const slice_words[] = {"default", "short", "medium", "long"};
static const char *const preemption_words[] = {"drain", "mid-kernel"};

int knob_read(const struct doc *doc, const struct doc_node *node, uint32_t knob, struct qos *out,
              struct err *err)
{
    const struct qos_fact *fact = &qos_facts[knob];
    uint32_t word = 0;
    int64_t value = 0;
    int rc;

    if (knob == QOS_SLICE || knob == QOS_PREEMPTION) {
        rc = doc_want_word(doc, node, knob == QOS_SLICE ? slice_words : preemption_words,
                           knob == QOS_SLICE ? 4 : 2, &word, err);
        value = word;
    } else {
        rc = doc_want_number(doc, node, NUMBER_WHOLE, fact->least, fact->most, &value, err);
    }
    out->values[knob] = (int32_t)value;
    out->stated |= 1u << knob;
    return rc;
}

void knob_text(uint32_t knob, int32_t value, char out[KNOB_TEXT_BYTES])
{
    if (knob == QOS_SLICE || knob == QOS_PREEMPTION)
        snprintf(out, KNOB_TEXT_BYTES, "%s",
                 knob == QOS_SLICE ? slice_words[value] : preemption_words[value]);
    else
        snprintf(out, KNOB_TEXT_BYTES, "%d", value);
}

int modes_read(const struct doc *doc, const struct doc_node *list, uint32_t *out, struct err *err)
{
    int rc = doc_want_list(doc, list, GPU_MODES, err);

    *out = 0;
    if (rc < 0)
        return rc;
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n)) {
        uint32_t mode = 0;

        rc = doc_want_word(doc, n, gpu_mode_words, GPU_MODES, &mode, err);
        *out |= MODE_BIT(mode);
    }
    return rc;
}
