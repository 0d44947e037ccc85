/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - simulated machines as text. */
#include "gpu/sim/describe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/scan.h"
#include "gpu/sim/control.h"
#include "gpu/sim/instance.h"
#include "gpu/sim/words.h"

enum { FILE_BYTES_MAX = 65536 };

struct preset {
    const char *name, *text;
};

static const struct preset presets[] = {
    {"h100x8", "gpus 8 model=h100 numa=0,0,0,0,1,1,1,1\n"
               "nvlink switch\n"},
    {"a100x4", "gpus 4 model=a100 numa=0,0,1,1\n"
               "nvlink 0 1 links=4\nnvlink 0 2 links=4\nnvlink 0 3 links=4\n"
               "nvlink 1 2 links=4\nnvlink 1 3 links=4\nnvlink 2 3 links=4\n"},
    {"l4x1", "gpus 1 model=l4\n"},
};

const char *describe_preset(uint32_t number, const char **out_name)
{
    if (number >= sizeof presets / sizeof presets[0])
        return NULL;
    *out_name = presets[number].name;
    return presets[number].text;
}

static uint32_t level_between(const struct sim_machine *machine, uint32_t a, uint32_t b)
{
    return machine->gpus[a].numa_node == machine->gpus[b].numa_node ? NVML_LEVEL_NUMA_NODE
                                                                    : NVML_LEVEL_SYSTEM;
}

static void set_level(struct sim_machine *machine, uint32_t a, uint32_t b, uint32_t level)
{
    machine->level[a][b] = machine->level[b][a] = level;
}

static void add_gpu(struct sim_machine *machine, uint32_t model, uint32_t numa_node)
{
    const uint32_t at = machine->gpu_count++;
    struct sim_gpu *gpu = &machine->gpus[at];

    gpu->model = model;
    gpu->numa_node = numa_node;
    gpu->minor = at;
    gpu->bus = 0x0a + 0x0f * at;
    gpu->temperature_c = 30;
    gpu->energy_since_us = sim_now_us();
    gpu->power_limit_mw = (uint64_t)model_at(model)->power_limit_w * 1000;
    snprintf(gpu->serial, sizeof gpu->serial, "165%010u", at + 1);
    snprintf(gpu->bus_id, sizeof gpu->bus_id, "00000000:%02X:00.0", gpu->bus);
    memcpy(gpu->uuid, sim_uuid_of("GPU", model_at(model)->key, at, gpu->bus).text,
           sizeof gpu->uuid);
    machine->order[at] = at;
    for (uint32_t i = 0; i < at; i++)
        set_level(machine, i, at, level_between(machine, i, at));
}

static int find_model(struct words *words, uint32_t *out, struct err *err)
{
    const char *key = words_value(words, "model");

    if (key == NULL)
        return err_set(err, -EINVAL, "model= is missing");
    if (model_find(key, out) == NULL)
        return err_set(err, -EINVAL, "model '%s': unknown", key);
    return 0;
}

/* Number i of "0,0,1,1"; the last one counts on. */
static int numa_of(const char *list, uint32_t i, uint32_t *out, struct err *err)
{
    char digits[16];
    size_t length;

    if (list == NULL)
        return 0;
    while (i-- > 0 && strchr(list, ',') != NULL)
        list = strchr(list, ',') + 1;
    length = strcspn(list, ",");
    if (length >= sizeof digits)
        return err_set(err, -EINVAL, "numa='%s': not a list of numbers", list);
    memcpy(digits, list, length);
    digits[length] = '\0';
    if (scan_u32(digits, out) < 0 || *out > 63)
        return err_set(err, -EINVAL, "numa='%s': not a list of numbers up to 63", list);
    return 0;
}

/* gpus COUNT model=KEY [numa=N,N,...] */
static int line_gpus(struct sim_machine *machine, struct words *words, struct err *err)
{
    const char *numa = words_value(words, "numa");
    uint32_t count = 0, model = 0;
    int rc = words_number(words, 1, "how many", &count, err);

    if (rc == 0)
        rc = find_model(words, &model, err);
    if (rc == 0 && (count > SIM_GPUS_MAX || machine->gpu_count + count > SIM_GPUS_MAX))
        return err_set(err, -EINVAL, "at most %d GPUs", SIM_GPUS_MAX);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        uint32_t node = 0;

        rc = numa_of(numa, i, &node, err);
        if (rc == 0)
            add_gpu(machine, model, node);
    }
    return rc < 0 ? rc : words_done(words, 2, err);
}

static int set_uuid(struct sim_gpu *gpu, const char *uuid, struct err *err)
{
    if (uuid == NULL)
        return 0;
    if (strncmp(uuid, "GPU-", 4) != 0 || strlen(uuid) >= sizeof gpu->uuid)
        return err_set(err, -EINVAL, "uuid='%s': not of the form GPU-...", uuid);
    memset(gpu->uuid, 0, sizeof gpu->uuid);
    memcpy(gpu->uuid, uuid, strlen(uuid));
    return 0;
}

/* gpu model=KEY [uuid=GPU-...] [minor=N] [bus=N] [numa=N] */
static int line_gpu(struct sim_machine *machine, struct words *words, struct err *err)
{
    const char *uuid = words_value(words, "uuid");
    uint32_t model = 0, node = 0;
    struct sim_gpu *gpu;
    int rc = find_model(words, &model, err);

    if (rc == 0)
        rc = words_u32(words, "numa", &node, err);
    if (rc == 0 && (machine->gpu_count == SIM_GPUS_MAX || node > 63))
        return err_set(err, -EINVAL, "at most %d GPUs, on NUMA nodes up to 63", SIM_GPUS_MAX);
    if (rc < 0)
        return rc;
    add_gpu(machine, model, node);
    gpu = &machine->gpus[machine->gpu_count - 1];
    rc = words_u32(words, "minor", &gpu->minor, err);
    if (rc == 0)
        rc = words_u32(words, "bus", &gpu->bus, err);
    if (rc == 0 && gpu->bus > 255)
        return err_set(err, -EINVAL, "bus=%u: above 255", gpu->bus);
    snprintf(gpu->bus_id, sizeof gpu->bus_id, "00000000:%02X:00.0", gpu->bus & 0xff);
    if (rc == 0)
        rc = set_uuid(gpu, uuid, err);
    return rc < 0 ? rc : words_done(words, 1, err);
}

/* The two GPUs that a line names. */
static int take_pair(const struct sim_machine *machine, struct words *words, uint32_t *a,
                     uint32_t *b, struct err *err)
{
    int rc = words_number(words, 1, "a GPU", a, err);

    if (rc == 0)
        rc = words_number(words, 2, "another GPU", b, err);
    if (rc == 0 && (*a >= machine->gpu_count || *b >= machine->gpu_count || *a == *b))
        return err_set(err, -EINVAL, "%u and %u: not two GPUs that were described", *a, *b);
    return rc;
}

/* nvlink switch | nvlink A B links=N */
static int line_nvlink(struct sim_machine *machine, struct words *words, struct err *err)
{
    uint32_t a, b, links = 1;
    int rc;

    if (words->plain_count > 1 && strcmp(words->plain[1], "switch") == 0) {
        for (uint32_t i = 0; i < machine->gpu_count; i++)
            machine->switch_links[i] = machine_model(machine, i)->nvlinks;
        return words_done(words, 2, err);
    }
    rc = take_pair(machine, words, &a, &b, err);
    if (rc == 0)
        rc = words_u32(words, "links", &links, err);
    if (rc == 0 && links > NVML_LINKS_MAX)
        return err_set(err, -EINVAL, "links=%u: above %d", links, NVML_LINKS_MAX);
    if (rc < 0)
        return rc;
    machine->nvlinks[a][b] = machine->nvlinks[b][a] = links;
    return words_done(words, 3, err);
}

/* near A B level=board|switch|switches|bridge|node|system */
static int line_near(struct sim_machine *machine, struct words *words, struct err *err)
{
    static const char *const names[] = {"board", "switch", "switches", "bridge", "node", "system"};
    const char *level = words_value(words, "level");
    uint32_t a, b;
    int rc = take_pair(machine, words, &a, &b, err);

    if (rc < 0)
        return rc;
    for (uint32_t i = 0; level != NULL && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], level) == 0) {
            set_level(machine, a, b, i * 10);
            return words_done(words, 3, err);
        }
    return err_set(err, -EINVAL, "level='%s': unknown", level != NULL ? level : "");
}

struct line_kind {
    const char *word;
    int (*take)(struct sim_machine *machine, struct words *words, struct err *err);
};

static const struct line_kind line_kinds[] = {
    {"gpus", line_gpus}, {"gpu", line_gpu}, {"nvlink", line_nvlink}, {"near", line_near}};

/* A line that describes, or else a command (control.h): faults may be described as well. */
static int take_line(struct sim_machine *machine, const char *line, uint32_t length,
                     struct err *err)
{
    struct words words;
    int rc = words_split(&words, line, length, err);

    if (rc < 0 || (words.plain_count == 0 && words.key_count == 0))
        return rc;
    for (size_t i = 0; words.plain_count > 0 && i < sizeof line_kinds / sizeof line_kinds[0]; i++)
        if (strcmp(line_kinds[i].word, words.plain[0]) == 0)
            return line_kinds[i].take(machine, &words, err);
    return control_words(machine, &words, err);
}

static int take_text(struct sim_machine *machine, const char *name, const char *text,
                     struct err *err)
{
    uint32_t number = 1;
    int rc = 0;

    *machine = (struct sim_machine){.loads = 1,
                                    .cuda_version = 13000,
                                    .record_size = sizeof(struct nvml_process),
                                    .needs_root = 1,
                                    .owner = (uint32_t)geteuid()};
    memcpy(machine->driver_version, "580.82.07", sizeof "580.82.07");
    while (*text != '\0' && rc == 0) {
        const uint32_t length = (uint32_t)strcspn(text, "\n");

        rc = take_line(machine, text, length, err);
        text += length + (text[length] == '\n');
        if (rc < 0)
            err_prefix(err, rc, "%s:%u: ", name, number);
        number++;
    }
    return rc;
}

static int take_file(struct sim_machine *machine, const char *path, struct err *err)
{
    FILE *file = fopen(path, "re");
    char *text;
    size_t got;
    int rc;

    if (file == NULL)
        return err_set(err, -errno, "'%s': neither a preset nor a file: %s", path, strerror(errno));
    text = mem_alloc(FILE_BYTES_MAX + 1, 1);
    got = fread(text, 1, FILE_BYTES_MAX + 1, file);
    fclose(file);
    if (got > FILE_BYTES_MAX || memchr(text, '\0', got) != NULL) {
        rc = err_set(err, -EINVAL, "'%s': not text, or above %d bytes", path, FILE_BYTES_MAX);
    } else {
        text[got] = '\0';
        rc = take_text(machine, path, text, err);
    }
    mem_free(text);
    return rc;
}

/* "l40s" and 4 of "l40sx4"; the last x counts. */
static bool split_count(const char *what, char *key, size_t size, uint32_t *out_count)
{
    const char *x = strrchr(what, 'x');
    uint32_t model;

    if (x == NULL || (size_t)(x - what) >= size || scan_u32(x + 1, out_count) < 0)
        return false;
    memcpy(key, what, (size_t)(x - what));
    key[x - what] = '\0';
    return model_find(key, &model) != NULL;
}

int describe(const char *what, struct sim_machine *out, struct err *err)
{
    struct sim_machine *machine = mem_alloc(1, sizeof *machine);
    char key[16], text[64];
    uint32_t count;
    int rc = -ENOENT;

    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(presets[i].name, what) == 0)
            rc = take_text(machine, what, presets[i].text, err);
    if (rc == -ENOENT && split_count(what, key, sizeof key, &count)) {
        snprintf(text, sizeof text, "gpus %u model=%s\n", count, key);
        rc = take_text(machine, what, text, err);
    } else if (rc == -ENOENT) {
        rc = take_file(machine, what, err);
    }
    if (rc == 0)
        *out = *machine;
    mem_free(machine);
    return rc;
}
