/* SPDX-License-Identifier: Apache-2.0 */
/* mig_table.c - mig_table JSON OUT: the MIG profiles of data/mig_profiles.json as a C table.
 *
 * Runs while berth is built. Whatever does not make sense ends the build, with file, line and
 * field. A family is left out if nobody has published where its instances may start. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "base/text.h"
#include "core/mig.h"
#include "wire/arena.h"
#include "wire/doc.h"

#define MIB              INT64_C(1048576)
#define OUT_BYTES_MAX    ((size_t)4 << 20)
#define NAMES_MAX        16u
#define NAME_BYTES       96u
#define ENGINES_MAX      31
#define MEMORY_MIB_MAX   (INT64_C(1) << 24)
#define ESTIMATE_EIGHTHS 7 /* of the figure in a name: no profile was seen to have less */

struct family {
    struct mig_type type;
    char names[NAMES_MAX][NAME_BYTES];
};

struct reader {
    struct doc doc;
    struct err err;
};

/* ---- fields ---- */

static const struct doc_node *want(struct reader *r, const struct doc_node *map, const char *key)
{
    const struct doc_node *node = doc_find(&r->doc, map, key);

    if (node == NULL)
        doc_error(&r->doc, map, &r->err, -EINVAL, "'%s' is missing", key);
    return node;
}

static bool is_unknown(const struct doc_node *node)
{
    return node->type == DOC_TEXT && strcmp(node->text, "null") == 0;
}

static int want_whole(struct reader *r, const struct doc_node *map, const char *key, int64_t min,
                      int64_t max, int64_t *out)
{
    const struct doc_node *node = want(r, map, key);

    if (node == NULL)
        return -EINVAL;
    if (node->type != DOC_TEXT || scan_i64(node->text, out) < 0 || *out < min || *out > max)
        return doc_error(&r->doc, node, &r->err, -EINVAL,
                         "must be a whole number of %" PRId64 " to %" PRId64, min, max);
    return 0;
}

/* The same, or null, which is -1. */
static int want_known(struct reader *r, const struct doc_node *map, const char *key, int64_t min,
                      int64_t max, int64_t *out)
{
    const struct doc_node *node = want(r, map, key);

    *out = -1;
    if (node == NULL)
        return -EINVAL;
    return is_unknown(node) ? 0 : want_whole(r, map, key, min, max, out);
}

static int want_u8(struct reader *r, const struct doc_node *map, const char *key, int64_t max,
                   uint8_t *out)
{
    int64_t value = 0;
    const int rc = want_whole(r, map, key, 1, max, &value);

    *out = (uint8_t)value;
    return rc;
}

static int want_text(struct reader *r, const struct doc_node *map, const char *key,
                     const char **out)
{
    const struct doc_node *node = want(r, map, key);

    if (node == NULL)
        return -EINVAL;
    if (node->type != DOC_TEXT || node->text[0] == '\0' || strchr(node->text, '"') != NULL ||
        strchr(node->text, '\\') != NULL || strlen(node->text) >= NAME_BYTES)
        return doc_error(&r->doc, node, &r->err, -EINVAL,
                         "must be a text of 1 to %u bytes, without quotes and backslashes",
                         NAME_BYTES - 1);
    *out = node->text;
    return 0;
}

static const struct doc_node *want_list(struct reader *r, const struct doc_node *map,
                                        const char *key)
{
    const struct doc_node *node = want(r, map, key);

    if (node != NULL && node->type != DOC_LIST) {
        doc_error(&r->doc, node, &r->err, -EINVAL, "must be a list");
        return NULL;
    }
    return node;
}

static const struct doc_node *want_map(struct reader *r, const struct doc_node *map,
                                       const char *key)
{
    const struct doc_node *node = want(r, map, key);

    if (node != NULL && node->type != DOC_MAP) {
        doc_error(&r->doc, node, &r->err, -EINVAL, "must be a map");
        return NULL;
    }
    return node;
}

/* ---- profiles ---- */

static int read_engines(struct reader *r, const struct doc_node *map, struct mig_profile *profile,
                        bool known[MIG_ENGINES])
{
    static const char *const keys[MIG_ENGINES] = {"dec", "jpeg", "ofa", "enc"};
    const struct doc_node *engines = want_map(r, map, "engines");

    if (engines == NULL)
        return -EINVAL;
    for (uint32_t e = 0; e < MIG_ENGINES; e++) {
        int64_t count;
        const int rc = want_known(r, engines, keys[e], 0, ENGINES_MAX, &count);

        if (rc < 0)
            return rc;
        known[e] = count >= 0;
        profile->engines[e] = count >= 0 ? (uint8_t)count : 0;
    }
    return 0;
}

static int read_starts(struct reader *r, const struct doc_node *map, const struct mig_type *type,
                       struct mig_profile *profile)
{
    const struct doc_node *placements = want_map(r, map, "placements");
    const struct doc_node *starts;
    int rc;

    if (placements == NULL || (starts = want_list(r, placements, "starts")) == NULL)
        return -EINVAL;
    rc = want_u8(r, placements, "size", type->memory_slices, &profile->size);
    if (rc < 0)
        return rc;
    for (const struct doc_node *n = doc_first(&r->doc, starts); n; n = doc_next(&r->doc, n)) {
        int64_t start;

        if (n->type != DOC_TEXT || scan_i64(n->text, &start) < 0 || start < 0 ||
            start + profile->size > type->memory_slices)
            return doc_error(&r->doc, n, &r->err, -EINVAL,
                             "must be a start from which %u slices end within %u", profile->size,
                             type->memory_slices);
        profile->starts |= (uint16_t)(1u << start);
    }
    if (profile->starts == 0)
        return doc_error(&r->doc, starts, &r->err, -EINVAL, "must name a start");
    return 0;
}

/* Slices and attributes are what a profile is; its name must say the same. */
static int read_name(struct reader *r, const struct doc_node *map, struct mig_profile *profile)
{
    const struct doc_node *node = doc_find(&r->doc, map, "name");
    struct mig_ask ask;
    struct err err;
    int rc = want_text(r, map, "name", &profile->name);

    if (rc < 0)
        return rc;
    rc = mig_ask_parse(profile->name, &ask, &err);
    if (rc < 0)
        return doc_error(&r->doc, node, &r->err, rc, "%s", err.text);
    if (ask.compute_slices != profile->compute_slices)
        return doc_error(&r->doc, node, &r->err, -EINVAL, "says %u compute slices, there are %u",
                         ask.compute_slices, profile->compute_slices);
    profile->gigabytes = ask.gigabytes;
    profile->attributes = ask.attributes;
    return 0;
}

static int read_profile(struct reader *r, const struct doc_node *map, const struct mig_type *type,
                        struct mig_profile *profile, bool known[MIG_ENGINES])
{
    int64_t memory_mib = 0, id = 0, index = 0;
    int rc = 0;

    if (map->type != DOC_MAP)
        return doc_error(&r->doc, map, &r->err, -EINVAL, "must be a map");
    if ((rc = want_u8(r, map, "compute_slices", type->compute_slices, &profile->compute_slices)) <
            0 ||
        (rc = want_u8(r, map, "memory_slices", type->memory_slices, &profile->memory_slices)) < 0 ||
        (rc = want_u8(r, map, "max_instances", MIG_COPIES_MAX, &profile->max_instances)) < 0 ||
        (rc = want_whole(r, map, "nvml_profile_index", 0, 255, &index)) < 0 ||
        (rc = want_whole(r, map, "profile_id", 0, UINT16_MAX, &id)) < 0 ||
        (rc = want_known(r, map, "memory_mib", 1, MEMORY_MIB_MAX, &memory_mib)) < 0 ||
        (rc = read_name(r, map, profile)) < 0 || (rc = read_starts(r, map, type, profile)) < 0)
        return rc;
    profile->nvml_index = (uint16_t)index;
    profile->nvml_id = (uint16_t)id;
    profile->memory_bytes = memory_mib > 0 ? memory_mib * MIB : 0;
    return read_engines(r, map, profile, known);
}

/* Where there is no figure: as many slices of the smallest profile as it has, since larger ones
 * were always seen to have more; or else 7/8 of what the name says. */
static void estimate_memory(struct mig_type *type)
{
    int64_t slice_bytes = 0;

    for (uint32_t i = 0; i < type->profile_count; i++) {
        const struct mig_profile *p = &type->profiles[i];

        if (p->memory_bytes > 0 &&
            (slice_bytes == 0 || p->memory_bytes / p->memory_slices < slice_bytes))
            slice_bytes = p->memory_bytes / p->memory_slices;
    }
    for (uint32_t i = 0; i < type->profile_count; i++) {
        struct mig_profile *p = &type->profiles[i];

        if (p->memory_bytes > 0)
            continue;
        p->memory_estimated = true;
        p->memory_bytes = slice_bytes > 0 ? slice_bytes * p->memory_slices
                                          : p->gigabytes * (MIB * 1024) / 8 * ESTIMATE_EIGHTHS;
    }
}

/* The engines of a GPU are those of the profile that takes all of it. */
static int read_profiles(struct reader *r, const struct doc_node *list, struct mig_type *type)
{
    bool whole_seen = false;

    for (const struct doc_node *n = doc_first(&r->doc, list); n; n = doc_next(&r->doc, n)) {
        struct mig_profile *profile = &type->profiles[type->profile_count];
        bool known[MIG_ENGINES];
        int rc;

        if (type->profile_count == MIG_PROFILES_MAX)
            return doc_error(&r->doc, list, &r->err, -EINVAL, "has more than %u profiles",
                             MIG_PROFILES_MAX);
        rc = read_profile(r, n, type, profile, known);
        if (rc < 0)
            return rc;
        type->profile_count++;
        if (whole_seen || profile->size != type->memory_slices)
            continue;
        whole_seen = true;
        for (uint32_t e = 0; e < MIG_ENGINES; e++)
            type->engines[e] = known[e] ? profile->engines[e] : MIG_NO_LIMIT;
    }
    if (!whole_seen)
        return doc_error(&r->doc, list, &r->err, -EINVAL, "has no profile of all %u slices",
                         type->memory_slices);
    estimate_memory(type);
    return 0;
}

/* ---- families ---- */

/* What stands in brackets is a remark. "GH200 120GB / 480GB" are two products. */
static int add_names(struct reader *r, const struct doc_node *node, const char *name,
                     struct family *family)
{
    const char *remark = strstr(name, " ("), *other = strstr(name, " / ");
    const size_t end = remark != NULL ? (size_t)(remark - name) : strlen(name);
    size_t first = end, word;

    if (family->type.name_count + 2 > NAMES_MAX)
        return doc_error(&r->doc, node, &r->err, -EINVAL, "has more than %u names", NAMES_MAX);
    if (other != NULL && (size_t)(other - name) < end)
        first = (size_t)(other - name);
    memcpy(family->names[family->type.name_count], name, first);
    family->names[family->type.name_count++][first] = '\0';
    if (first == end)
        return 0;
    for (word = first; word > 0 && name[word - 1] != ' '; word--)
        ;
    snprintf(family->names[family->type.name_count++], NAME_BYTES, "%.*s%.*s", (int)word, name,
             (int)(end - first - 3), name + first + 3);
    return 0;
}

static int read_names(struct reader *r, const struct doc_node *map, struct family *family)
{
    const struct doc_node *products = want_list(r, map, "products");

    if (products == NULL)
        return -EINVAL;
    for (const struct doc_node *n = doc_first(&r->doc, products); n; n = doc_next(&r->doc, n)) {
        const char *name;
        int rc = n->type == DOC_MAP ? want_text(r, n, "name", &name)
                                    : doc_error(&r->doc, n, &r->err, -EINVAL, "must be a map");

        if (rc == 0)
            rc = add_names(r, n, name, family);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Whether it is known how a family can be split. */
static bool is_known(struct reader *r, const struct doc_node *profiles)
{
    for (const struct doc_node *n = doc_first(&r->doc, profiles); n; n = doc_next(&r->doc, n)) {
        const struct doc_node *placements =
            n->type == DOC_MAP ? doc_find(&r->doc, n, "placements") : NULL;

        if (placements != NULL && is_unknown(placements))
            return false;
    }
    return profiles->child_count > 0;
}

/* 1 if it is one for the table, 0 if too little is known of it. */
static int read_family(struct reader *r, const struct doc_node *map, struct family *family)
{
    const struct doc_node *profiles;
    int64_t memory_mib;
    int rc;

    *family = (struct family){.type = {.key = NULL}};
    if (map->type != DOC_MAP)
        return doc_error(&r->doc, map, &r->err, -EINVAL, "must be a map");
    profiles = want_list(r, map, "gpu_instance_profiles");
    if (profiles == NULL)
        return -EINVAL;
    if (!is_known(r, profiles))
        return 0;
    if ((rc = want_text(r, map, "key", &family->type.key)) < 0 ||
        (rc = want_known(r, map, "memory_total_mib", 1, MEMORY_MIB_MAX, &memory_mib)) < 0 ||
        (rc = want_u8(r, map, "compute_slices", MIG_SLICES_MAX, &family->type.compute_slices)) <
            0 ||
        (rc = want_u8(r, map, "memory_slices", MIG_SLICES_MAX, &family->type.memory_slices)) < 0)
        return rc;
    family->type.memory_bytes = memory_mib > 0 ? memory_mib * MIB : 0;
    rc = read_names(r, map, family);
    if (rc == 0)
        rc = read_profiles(r, profiles, &family->type);
    return rc < 0 ? rc : 1;
}

/* ---- C ---- */

static void write_engines(struct text *out, const uint8_t engines[MIG_ENGINES])
{
    text_addf(out, "{%u, %u, %u, %u}", engines[0], engines[1], engines[2], engines[3]);
}

static void write_profile(struct text *out, const struct mig_profile *p)
{
    text_addf(out, "        {.name = \"%s\", .memory_bytes = INT64_C(%" PRId64 "),\n", p->name,
              p->memory_bytes);
    text_addf(out, "         .gigabytes = %u, .compute_slices = %u, .memory_slices = %u,\n",
              p->gigabytes, p->compute_slices, p->memory_slices);
    text_addf(out, "         .attributes = %u, .memory_estimated = %s,\n", p->attributes,
              p->memory_estimated ? "true" : "false");
    text_addf(out, "         .nvml_index = %u, .nvml_id = %u, .max_instances = %u,\n",
              p->nvml_index, p->nvml_id, p->max_instances);
    text_addf(out, "         .size = %u, .starts = 0x%x, .engines = ", p->size, p->starts);
    write_engines(out, p->engines);
    text_add(out, "},\n");
}

static void write_names(struct text *out, const struct family *family, uint32_t index)
{
    text_addf(out, "static const char *const names_%u[] = {\n", index);
    for (uint32_t i = 0; i < family->type.name_count; i++)
        text_addf(out, "    \"%s\",\n", family->names[i]);
    text_add(out, "    NULL,\n};\n");
}

static void write_type(struct text *out, const struct mig_type *type, uint32_t index)
{
    text_addf(out, "    {.key = \"%s\", .names = names_%u, .name_count = %u,\n", type->key, index,
              type->name_count);
    text_addf(out, "     .memory_bytes = INT64_C(%" PRId64 "), .compute_slices = %u,\n",
              type->memory_bytes, type->compute_slices);
    text_addf(out, "     .memory_slices = %u, .engines = ", type->memory_slices);
    write_engines(out, type->engines);
    text_addf(out, ", .profile_count = %u,\n     .profiles = {\n", type->profile_count);
    for (uint32_t i = 0; i < type->profile_count; i++)
        write_profile(out, &type->profiles[i]);
    text_add(out, "     }},\n");
}

static int write_table(struct reader *r, struct text *out)
{
    const struct doc_node *document = doc_first(&r->doc, doc_root(&r->doc));
    const struct doc_node *families =
        document != NULL && document->type == DOC_MAP ? want_list(r, document, "families") : NULL;
    struct text types;
    uint32_t count = 0;
    int rc = families == NULL ? err_prefix(&r->err, -EINVAL, "no list 'families': ") : 0;

    text_init(&types, OUT_BYTES_MAX);
    text_add(out, "/* Made by src/tools/mig_table.c from data/mig_profiles.json. */\n"
                  "#include \"core/mig.h\"\n\n#include <stddef.h>\n\n");
    for (const struct doc_node *n = rc < 0 ? NULL : doc_first(&r->doc, families); n;
         n = doc_next(&r->doc, n)) {
        struct family family;

        rc = read_family(r, n, &family);
        if (rc < 0)
            break;
        if (rc == 0)
            continue;
        write_names(out, &family, count);
        write_type(&types, &family.type, count++);
    }
    if (rc >= 0 && count == 0)
        rc = err_set(&r->err, -EINVAL, "%s: no family in it can be split", r->doc.name);
    text_addf(out, "\nconst struct mig_type mig_types[] = {\n%s};\n\n", text_str(&types));
    text_addf(out, "const uint32_t mig_type_count = %u;\n", count);
    if (rc >= 0 && (out->overflow || types.overflow))
        rc = err_set(&r->err, -E2BIG, "%s: the table is too large", r->doc.name);
    text_done(&types);
    return rc < 0 ? rc : 0;
}

static int save(const char *path, const struct text *text, struct err *err)
{
    FILE *file = fopen(path, "w");
    bool written;

    if (file == NULL)
        return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
    written = fwrite(text_str(text), 1, text->used, file) == text->used;
    if (fclose(file) != 0 || !written)
        return err_set(err, -EIO, "cannot write '%s': %s", path, strerror(errno));
    return 0;
}

int main(int argc, char **argv)
{
    struct reader r = {.err = {""}};
    struct arena arena;
    struct text out;
    int rc;

    if (argc != 3) {
        fputs("usage: mig_table JSON OUT\n", stderr);
        return EXIT_FAILURE;
    }
    arena_init(&arena);
    doc_init(&r.doc, argv[1], &arena);
    text_init(&out, OUT_BYTES_MAX);
    rc = doc_load(&r.doc, argv[1], &r.err);
    if (rc == 0)
        rc = write_table(&r, &out);
    if (rc == 0)
        rc = save(argv[2], &out, &r.err);
    if (rc < 0)
        fprintf(stderr, "mig_table: %s\n", r.err.text);
    text_done(&out);
    doc_done(&r.doc);
    arena_done(&arena);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
