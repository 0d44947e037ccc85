/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - a line of a description or a command: plain words, and key=value in any order. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;

enum { WORDS_MAX = 24, WORD_BYTES_MAX = 1024 };

struct words {
    char bytes[WORD_BYTES_MAX];
    const char *plain[WORDS_MAX]; /* [plain_count] */
    uint32_t plain_count;
    const char *keys[WORDS_MAX], *values[WORDS_MAX]; /* [key_count] */
    bool taken[WORDS_MAX];                           /* keys that somebody asked for */
    uint32_t key_count;
};

/* Splits a line between blanks; '#' at the start of a word begins a comment, quotes keep blanks
 * together. 0 or -E2BIG. length is without the line's end. */
int words_split(struct words *words, const char *line, uint32_t length, struct err *err);

/* The value of key, or NULL. */
const char *words_value(struct words *words, const char *key);

/* Leaves *out as it is where there is no such key; -EINVAL or -ERANGE for a bad value. */
int words_u32(struct words *words, const char *key, uint32_t *out, struct err *err);
int words_bytes(struct words *words, const char *key, uint64_t *out, struct err *err);

/* Plain word number at as a number. -EINVAL if it is missing or none. */
int words_number(const struct words *words, uint32_t at, const char *what, uint32_t *out,
                 struct err *err);

/* Plain word number at: "on" or "off". */
int words_switch(const struct words *words, uint32_t at, uint32_t *out, struct err *err);

/* -EINVAL if a key was given that nobody asked for, or more plain words than count. */
int words_done(const struct words *words, uint32_t count, struct err *err);
