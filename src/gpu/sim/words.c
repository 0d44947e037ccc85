/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - a line of a description or a command. */
#include "gpu/sim/words.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"

static int add(struct words *words, char *word, struct err *err)
{
    char *equals = strchr(word, '=');

    if (words->plain_count == WORDS_MAX || words->key_count == WORDS_MAX)
        return err_set(err, -E2BIG, "more than %d words", WORDS_MAX);
    if (equals == NULL || equals == word) {
        words->plain[words->plain_count++] = word;
        return 0;
    }
    *equals = '\0';
    words->keys[words->key_count] = word;
    words->values[words->key_count++] = equals + 1;
    return 0;
}

int words_split(struct words *words, const char *line, uint32_t length, struct err *err)
{
    uint32_t at = 0, used = 0;
    int rc = 0;

    memset(words, 0, sizeof *words);
    if (length >= WORD_BYTES_MAX)
        return err_set(err, -E2BIG, "a line of more than %d bytes", WORD_BYTES_MAX);
    while (at < length && rc == 0) {
        char *word = words->bytes + used;
        bool quoted = false;

        while (at < length && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r'))
            at++;
        if (at == length || line[at] == '#')
            break;
        for (; at < length && (quoted || (line[at] != ' ' && line[at] != '\t' && line[at] != '\r'));
             at++) {
            if (line[at] == '"')
                quoted = !quoted;
            else
                words->bytes[used++] = line[at];
        }
        words->bytes[used++] = '\0';
        rc = add(words, word, err);
    }
    return rc;
}

const char *words_value(struct words *words, const char *key)
{
    for (uint32_t i = 0; i < words->key_count; i++)
        if (strcmp(words->keys[i], key) == 0) {
            words->taken[i] = true;
            return words->values[i];
        }
    return NULL;
}

int words_u32(struct words *words, const char *key, uint32_t *out, struct err *err)
{
    const char *value = words_value(words, key);
    int rc = value != NULL ? scan_u32(value, out) : 0;

    return rc < 0 ? err_set(err, rc, "%s='%s': not a number", key, value) : 0;
}

int words_bytes(struct words *words, const char *key, uint64_t *out, struct err *err)
{
    const char *value = words_value(words, key);
    int64_t bytes;
    int rc;

    if (value == NULL)
        return 0;
    rc = scan_bytes(value, &bytes);
    if (rc < 0)
        return err_set(err, rc, "%s='%s': not a size", key, value);
    *out = (uint64_t)bytes;
    return 0;
}

int words_number(const struct words *words, uint32_t at, const char *what, uint32_t *out,
                 struct err *err)
{
    if (at >= words->plain_count)
        return err_set(err, -EINVAL, "%s is missing", what);
    if (scan_u32(words->plain[at], out) < 0)
        return err_set(err, -EINVAL, "'%s': not a number (%s)", words->plain[at], what);
    return 0;
}

int words_switch(const struct words *words, uint32_t at, uint32_t *out, struct err *err)
{
    if (at >= words->plain_count)
        return err_set(err, -EINVAL, "on or off is missing");
    *out = strcmp(words->plain[at], "on") == 0;
    if (*out == 0 && strcmp(words->plain[at], "off") != 0)
        return err_set(err, -EINVAL, "'%s': neither on nor off", words->plain[at]);
    return 0;
}

int words_done(const struct words *words, uint32_t count, struct err *err)
{
    if (words->plain_count > count)
        return err_set(err, -EINVAL, "'%s': one word too many", words->plain[count]);
    for (uint32_t i = 0; i < words->key_count; i++)
        if (!words->taken[i])
            return err_set(err, -EINVAL, "'%s': unknown", words->keys[i]);
    return 0;
}
