/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/modes_doc.h"

#include "wire/fields.h"

const char *const gpu_mode_words[GPU_MODES] = {
    [GPU_EXCLUSIVE] = "exclusive", [GPU_TIMESLICE] = "timeslice"};

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
