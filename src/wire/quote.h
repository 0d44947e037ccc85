/* SPDX-License-Identifier: Apache-2.0 */
/* quote.h - a piece of somebody's text, made fit to stand in an error message. */
#pragma once

struct quote {
    char text[64];
};

/* The text in single quotes, cut after 40 bytes ("...") and with '?' for control characters and
 * for what is not UTF-8. Numbers, which cannot be mistaken, come without quotes. */
struct quote quote_of(const char *text);
