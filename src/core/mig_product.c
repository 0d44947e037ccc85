/* SPDX-License-Identifier: Apache-2.0 */
/* mig_product.c - which type a product is, by what drivers, labels and people call it. */
#include <stddef.h>
#include <string.h>

#include "core/mig.h"

#define NAME_BYTES 96u

/* name in one form: small letters and digits, everything between them one '-', without a leading
 * "nvidia-", and without what is appended for parts of a GPU. false if it is too long. */
static bool fold(const char *name, char out[NAME_BYTES])
{
    static const char *const endings[] = {"-mig-", "-shared"};
    size_t count = 0;

    for (; *name != '\0'; name++) {
        const char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        if (count + 2 >= NAME_BYTES)
            return false;
        if (word)
            out[count++] = c;
        else if (count > 0 && out[count - 1] != '-')
            out[count++] = '-';
    }
    if (count > 0 && out[count - 1] == '-')
        count--;
    out[count] = '\0';
    if (strncmp(out, "nvidia-", 7) == 0)
        memmove(out, out + 7, count - 7 + 1);
    for (uint32_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *end = out;

        while (*end != '\0' && strncmp(end, endings[i], strlen(endings[i])) != 0)
            end++;
        *end = '\0';
    }
    return out[0] != '\0';
}

/* Whether short are the first words of name. A last "gb" of short does not matter: "a100-80gb". */
static bool begins(const char *name, const char *brief)
{
    size_t count = strlen(brief);

    if (strncmp(name, brief, count) == 0 && (name[count] == '-' || name[count] == '\0'))
        return true;
    if (count < 3 || strcmp(brief + count - 2, "gb") != 0)
        return false;
    count -= 2;
    return strncmp(name, brief, count) == 0 && (name[count] == '-' || name[count] == '\0');
}

/* How far memory is from that of the type, or -1 if it is another GPU's: what is printed is
 * rounded, and some of it is reserved. What is not known is as far as may be. */
static int64_t memory_off(const struct mig_type *type, int64_t memory_bytes)
{
    const int64_t most = type->memory_bytes / 16;
    int64_t off = type->memory_bytes - memory_bytes;

    off = off < 0 ? -off : off;
    if (type->memory_bytes == 0 || memory_bytes == 0)
        return INT64_MAX;
    return off <= most ? off : -1;
}

static bool named(const struct mig_type *type, const char *wanted, bool whole)
{
    char name[NAME_BYTES];

    if (whole ? strcmp(type->key, wanted) == 0 : begins(type->key, wanted))
        return true;
    for (uint32_t i = 0; i < type->name_count; i++)
        if (fold(type->names[i], name) &&
            (whole ? strcmp(name, wanted) == 0 : begins(name, wanted)))
            return true;
    return false;
}

/* Whether what can be done with both is the same: boards of one chip in two forms. */
static bool alike(const struct mig_type *a, const struct mig_type *b)
{
    if (a->profile_count != b->profile_count || a->memory_slices != b->memory_slices)
        return false;
    for (uint32_t i = 0; i < a->profile_count; i++)
        if (strcmp(a->profiles[i].name, b->profiles[i].name) != 0 ||
            a->profiles[i].memory_bytes != b->profiles[i].memory_bytes)
            return false;
    return true;
}

const struct mig_type *mig_type_find(const char *model, int64_t memory_bytes)
{
    const struct mig_type *found = NULL;
    char wanted[NAME_BYTES];
    int64_t found_off = 0;
    bool one = true;

    if (!fold(model, wanted))
        return NULL;
    for (uint32_t i = 0; i < mig_type_count; i++)
        if (named(&mig_types[i], wanted, true))
            return &mig_types[i];
    for (uint32_t i = 0; i < mig_type_count; i++) {
        const struct mig_type *type = &mig_types[i];
        const int64_t off = memory_off(type, memory_bytes);

        if (off < 0 || !named(type, wanted, false))
            continue;
        if (found != NULL && off >= found_off) {
            one = one && (off > found_off || alike(found, type));
            continue;
        }
        found = type;
        found_off = off;
        one = true;
    }
    return one ? found : NULL;
}
