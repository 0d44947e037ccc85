/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - the one function of a fuzz target, f_<parser>.c, as libFuzzer calls it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Feeds bytes to the parser. Anything may be in them; nothing but 0 is returned. A crash, a leak, a
 * failed check or a sanitizer report is the finding. */
__attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t *bytes,
                                                                  size_t count);
