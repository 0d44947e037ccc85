/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - the text of an error, for people.
 *
 * Functions return 0 or more on success and a negative errno on failure; a struct err, always the
 * last argument and allowed to be NULL, carries what failed: lower case, no full stop, the subject
 * in quotes. Library code fills it and never prints it. */
#pragma once

struct err {
    char text[480]; /* NUL-terminated, cut when too long */
};

/* Puts the formatted text into err (which may be NULL) and returns code, so that one line reports
 * and returns. code is a negative errno. Arguments may point into err->text. */
__attribute__((format(printf, 3, 4))) int err_set(struct err *err, int code, const char *fmt, ...);

/* Puts the formatted text in front of what err says already, and returns code. Nothing is put in
 * between: the prefix brings its own ": ". */
__attribute__((format(printf, 3, 4))) int err_prefix(struct err *err, int code, const char *fmt,
                                                     ...);
