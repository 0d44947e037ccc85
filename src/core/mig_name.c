/* SPDX-License-Identifier: Apache-2.0 */
/* mig_name.c - which profile is meant by a name or by an amount of memory. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "core/mig.h"

/* Reads a number of up to three digits, and moves on. */
static bool read_count(const char **text, uint32_t *out)
{
    uint32_t digits = 0;

    for (*out = 0; **text >= '0' && **text <= '9' && digits < 4; digits++)
        *out = *out * 10 + (uint32_t)(*(*text)++ - '0');
    return digits > 0 && digits < 4;
}

static bool skip(const char **text, const char *prefix)
{
    const size_t count = strlen(prefix);

    if (strncmp(*text, prefix, count) != 0)
        return false;
    *text += count;
    return true;
}

/* "+" cannot stand in the name of a Kubernetes resource; there it is a dot. */
static bool read_attributes(const char *text, uint8_t *out)
{
    static const struct {
        const char *text;
        uint8_t attributes;
    } words[] = {
        {"", 0},
        {"+me", MIG_ME},
        {".me", MIG_ME},
        {"+me.all", MIG_ME_ALL},
        {".me.all", MIG_ME_ALL},
        {"-me", MIG_NO_ME},
        {"+gfx", MIG_GFX},
        {".gfx", MIG_GFX},
    };

    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i].text) != 0)
            continue;
        *out = words[i].attributes;
        return true;
    }
    return false;
}

int mig_ask_parse(const char *text, struct mig_ask *out, struct err *err)
{
    const char *at = text;
    struct mig_ask ask = {0};
    uint32_t compute;

    skip(&at, "nvidia.com/");
    skip(&at, "mig-");
    if (!read_count(&at, &compute) || compute == 0 || compute > MIG_SLICES_MAX ||
        !skip(&at, "g.") || !read_count(&at, &ask.gigabytes) || ask.gigabytes == 0 ||
        !skip(&at, "gb") || !read_attributes(at, &ask.attributes))
        return err_set(err, -EINVAL,
                       "'%.40s': is no MIG profile, must be as 1g.10gb, or 1g.10gb with +me, "
                       "+me.all, -me or +gfx",
                       text);
    ask.compute_slices = (uint8_t)compute;
    *out = ask;
    return 0;
}

/* Up to three digits. Returns their end. */
static char *add_number(char *out, uint32_t number)
{
    if (number >= 100)
        *out++ = (char)('0' + number / 100 % 10);
    if (number >= 10)
        *out++ = (char)('0' + number / 10 % 10);
    *out++ = (char)('0' + number % 10);
    return out;
}

void mig_ask_text(const struct mig_ask *ask, char out[MIG_ASK_BYTES])
{
    static const char *const words[] = {[0] = "",
                                        [MIG_ME] = "+me",
                                        [MIG_ME_ALL] = "+me.all",
                                        [MIG_NO_ME] = "-me",
                                        [MIG_GFX] = "+gfx"};

    check(ask->attributes < sizeof words / sizeof words[0] && words[ask->attributes] != NULL);
    out = add_number(out, ask->compute_slices);
    memcpy(out, "g.", 2);
    out = add_number(out + 2, ask->gigabytes);
    memcpy(out, "gb", 2);
    memcpy(out + 2, words[ask->attributes], strlen(words[ask->attributes]) + 1);
}

uint32_t mig_profile_match(const struct mig_type *type, const struct mig_ask *ask)
{
    uint32_t best = MIG_NONE, best_off = 0;

    for (uint32_t i = 0; i < type->profile_count; i++) {
        const struct mig_profile *profile = &type->profiles[i];
        const uint32_t near = profile->gigabytes / 16 > 1 ? profile->gigabytes / 16 : 1;
        const uint32_t off = profile->gigabytes > ask->gigabytes
                                 ? profile->gigabytes - ask->gigabytes
                                 : ask->gigabytes - profile->gigabytes;

        if (profile->compute_slices != ask->compute_slices ||
            profile->attributes != ask->attributes || off > near)
            continue;
        if (best != MIG_NONE && off >= best_off)
            continue;
        best = i;
        best_off = off;
    }
    return best;
}

int mig_profile_find(const struct mig_type *type, const char *text, uint32_t *out, struct err *err)
{
    struct mig_ask ask;
    char list[240];
    size_t used = 0;
    uint32_t found;
    const int rc = mig_ask_parse(text, &ask, err);

    if (rc < 0)
        return rc;
    found = mig_profile_match(type, &ask);
    if (found != MIG_NONE) {
        *out = found;
        return 0;
    }
    for (uint32_t i = 0; i < type->profile_count; i++) {
        const char *name = type->profiles[i].name;
        const size_t count = strlen(name);

        if (used + count + 3 > sizeof list)
            break;
        memcpy(list + used, i == 0 ? "" : ", ", i == 0 ? 0 : 2);
        used += i == 0 ? 0 : 2;
        memcpy(list + used, name, count);
        used += count;
    }
    list[used] = '\0';
    return err_set(err, -ENOENT, "'%.40s': is no profile of a GPU of type %s, which has %s", text,
                   type->key, list);
}

uint32_t mig_profile_for_memory(const struct mig_type *type, int64_t bytes)
{
    uint32_t best = MIG_NONE;

    for (uint32_t i = 0; i < type->profile_count; i++) {
        const struct mig_profile *profile = &type->profiles[i];
        const struct mig_profile *than = best == MIG_NONE ? NULL : &type->profiles[best];

        if (profile->attributes != 0 || profile->memory_bytes < bytes)
            continue;
        if (than == NULL || profile->size < than->size ||
            (profile->size == than->size && profile->compute_slices < than->compute_slices))
            best = i;
    }
    return best;
}
