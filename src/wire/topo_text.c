/* SPDX-License-Identifier: Apache-2.0 */
/* topo_text.c - reads what nvidia-smi topo -m prints. */
#include "wire/topo_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "core/link_rates.h"
#include "wire/input.h"
#include "wire/link_models.h"
#include "wire/quote.h"

#define NOT_A_GPU UINT32_MAX

enum { LINE_BYTES_MAX = 1 << 14, WORD_BYTES_MAX = 31, COLUMNS_MAX = 1024 };

struct reader {
    struct input input;
    const struct link_rates *rates;
    struct topo *out;
    uint32_t column_gpu[COLUMNS_MAX]; /* which GPU each column is of, or NOT_A_GPU */
    uint32_t columns;                 /* 0 before the line of names */
    uint32_t rows;                    /* GPUs whose rows were read */
};

__attribute__((format(printf, 3, 4))) static int fail(const struct reader *r, struct err *err,
                                                      const char *fmt, ...)
{
    struct err detail;
    va_list args;

    va_start(args, fmt);
    vsnprintf(detail.text, sizeof detail.text, fmt, args);
    va_end(args);
    return err_set(err, -EINVAL, "%s:%u: %s", r->input.name, r->input.line_number, detail.text);
}

/* ---- words ---- */

/* Colours and the like: ESC [ ... letter. In place. */
static void strip_colours(char *line)
{
    char *to = line;

    for (const char *from = line; *from != '\0';) {
        if (from[0] == '\x1b' && from[1] == '[') {
            from += 2;
            while (*from != '\0' && !isalpha((unsigned char)*from))
                from++;
            from += *from != '\0';
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* The next word of the line, at most WORD_BYTES_MAX bytes of it; false at the end. */
static bool next_word(const char **at, char out[WORD_BYTES_MAX + 1])
{
    size_t used = 0;

    while (**at == ' ' || **at == '\t')
        (*at)++;
    for (; **at != '\0' && **at != ' ' && **at != '\t'; (*at)++)
        if (used < WORD_BYTES_MAX)
            out[used++] = **at;
    out[used] = '\0';
    return used > 0;
}

/* GPU7 is 7; false if the word is none. */
static bool is_gpu(const char *word, uint32_t *out)
{
    return strncmp(word, "GPU", 3) == 0 && scan_u32(word + 3, out) >= 0;
}

/* ---- lines ---- */

/* Columns after those of devices: "CPU Affinity", "NUMA Affinity", "GPU NUMA ID". */
static bool ends_devices(const char *word)
{
    return strcmp(word, "CPU") == 0 || strcmp(word, "NUMA") == 0 || strcmp(word, "GPU") == 0;
}

static int read_names(struct reader *r, const char *line, struct err *err)
{
    char word[WORD_BYTES_MAX + 1];
    uint32_t gpu;

    r->out->gpus = 0;
    while (next_word(&line, word) && !ends_devices(word)) {
        if (r->columns == COLUMNS_MAX)
            return fail(r, err, "more than %d columns", COLUMNS_MAX);
        r->column_gpu[r->columns++] = NOT_A_GPU;
        if (!is_gpu(word, &gpu))
            continue;
        if (r->out->gpus == NODE_GPUS_MAX)
            return fail(r, err, "more than %d GPUs", NODE_GPUS_MAX);
        if (gpu != r->out->gpus)
            return fail(r, err, "column %s: wanted GPU%u here", word, r->out->gpus);
        r->column_gpu[r->columns - 1] = r->out->gpus++;
    }
    return 0;
}

static int read_way(const struct reader *r, const char *word, uint32_t *out, struct err *err)
{
    static const struct {
        const char *word;
        uint32_t path;
    } paths[] = {{"PIX", PATH_PIX},   {"PXB", PATH_PXB}, {"PHB", PATH_PHB},
                 {"NODE", PATH_NODE}, {"SYS", PATH_SYS}, {"SOC", PATH_SYS}};
    uint32_t links;

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (strcmp(word, paths[i].word) == 0) {
            *out = PCIE_PATH_MBPS(r->rates->pcie_mbps, paths[i].path);
            return 0;
        }
    if (strncmp(word, "NV", 2) == 0 && scan_u32(word + 2, &links) >= 0 && links > 0 &&
        links <= LINK_MBPS_MAX / r->rates->nvlink_mbps) {
        *out = links * r->rates->nvlink_mbps;
        return 0;
    }
    return fail(r, err, "%s: no way between GPUs: wanted NV#, PIX, PXB, PHB, NODE or SYS",
                quote_of(word).text);
}

/* One cell of the row of GPU `row`. A pair is said twice, and the second time it must be the same.
 */
static int read_cell(struct reader *r, uint32_t row, uint32_t gpu, const char *word,
                     struct err *err)
{
    uint32_t mbps = 0, *pair;
    int rc;

    if (gpu == row)
        return strcmp(word, "X") == 0
                   ? 0
                   : fail(r, err, "%s for GPU%u to itself: wanted X", quote_of(word).text, row);
    rc = read_way(r, word, &mbps, err);
    if (rc < 0)
        return rc;
    pair = &r->out->mbps[links_at(row, gpu)];
    if (row < gpu)
        *pair = mbps;
    else if (*pair != mbps)
        return fail(r, err, "GPU%u to GPU%u is %s, but GPU%u to GPU%u is another way", row, gpu,
                    word, gpu, row);
    return 0;
}

static int read_row(struct reader *r, const char *line, uint32_t row, struct err *err)
{
    char word[WORD_BYTES_MAX + 1];

    if (row != r->rows || row >= r->out->gpus)
        return fail(r, err, "the row of GPU%u: wanted %s%u here", row,
                    r->rows < r->out->gpus ? "that of GPU" : "no more than ", r->rows);
    for (uint32_t i = 0; i < r->columns; i++) {
        const uint32_t gpu = r->column_gpu[i];
        int rc;

        if (!next_word(&line, word))
            return fail(r, err, "the row of GPU%u has %u columns, the names are %u", row, i,
                        r->columns);
        rc = gpu == NOT_A_GPU ? 0 : read_cell(r, row, gpu, word, err);
        if (rc < 0)
            return rc;
    }
    r->rows++;
    return 0;
}

/* What may stand above the names. */
static bool is_passed_by(const char *line, const char *word)
{
    const char *command = "topo -m";
    const size_t len = strlen(line), command_len = strlen(command);

    return word[0] == '#' || (len >= command_len && strcmp(line + len - command_len, command) == 0);
}

static int read_line(struct reader *r, char *line, struct err *err)
{
    char word[WORD_BYTES_MAX + 1];
    const char *at = line;
    uint32_t gpu;

    strip_colours(line);
    if (!next_word(&at, word))
        return 0;
    if (r->columns > 0)
        return is_gpu(word, &gpu) ? read_row(r, at, gpu, err) : 0;
    if (is_gpu(word, &gpu))
        return read_names(r, line, err);
    return is_passed_by(line, word)
               ? 0
               : fail(r, err, "%s: wanted the names of columns, GPU0 first", quote_of(word).text);
}

int topo_text_parse(const char *name, const char *bytes, size_t count, const char *model,
                    struct topo *out, struct err *err)
{
    struct reader r = {.rates = link_rates_of(model), .out = out};
    int rc;

    *out = (struct topo){0};
    input_open_bytes(&r.input, name, bytes, count, LINE_BYTES_MAX);
    while ((rc = input_line(&r.input, err)) > 0) {
        rc = read_line(&r, r.input.line.bytes, err);
        if (rc < 0 || (r.rows == out->gpus && r.columns > 0))
            break;
    }
    if (rc >= 0 && r.columns == 0)
        rc = fail(&r, err, "no line of column names, GPU0 first");
    else if (rc >= 0 && r.rows < out->gpus)
        rc = fail(&r, err, "the row of GPU%u is missing", r.rows);
    input_close(&r.input);
    return rc < 0 ? rc : 0;
}
