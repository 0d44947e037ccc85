/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - assertions that stay on in release builds.
 *
 * For broken code only: a check that fails prints one line and aborts. Broken input and a broken
 * world are errors (base/err.h), never checks. */
#pragma once

#define check(cond) ((cond) ? (void)0 : check_failed(#cond, __FILE__, __LINE__))

/* Prints "FILE:LINE: check failed: EXPR" to standard error and aborts. */
_Noreturn void check_failed(const char *expr, const char *file, int line);
