/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - the results of simulations as JSON and CSV: one table of fields for both. */
#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/text.h"
#include "wire/json_out.h"

#define REPORT_BYTES_MAX (256u << 20)

int64_t peak_rss_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : -1;
}

int64_t cpu_time_us(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

enum field_kind { FIELD_TEXT, FIELD_COUNT, FIELD_SECONDS, FIELD_PER_CENT, FIELD_HEX };

struct field {
    const char *name;
    enum field_kind kind;
    const char *text; /* NULL = there is none */
    uint64_t count;
    int64_t value; /* us, or ppm; UNKNOWN_PPM = not known */
};

#define FIELDS_MAX 48u

/* In whole seconds where microseconds would not fit. */
static struct field busy_field(const struct result *r)
{
    if (r->busy_gpu_us > INT64_MAX)
        return (struct field){"busy_gpu_s", FIELD_COUNT,
                              .count = (uint64_t)(r->busy_gpu_us / 1000000)};
    return (struct field){"busy_gpu_s", FIELD_SECONDS, .value = (int64_t)r->busy_gpu_us};
}

static uint32_t fields_of(const struct report_run *run, struct field *f)
{
    const struct result *r = &run->result;
    uint32_t n = 0;

    f[n++] = (struct field){"trace", FIELD_TEXT, .text = r->trace};
    f[n++] = (struct field){"policy", FIELD_TEXT, .text = r->policy};
    f[n++] = (struct field){"order", FIELD_TEXT, .text = r->order};
    f[n++] = (struct field){"seed", FIELD_COUNT, .count = r->seed};
    f[n++] = (struct field){"unallocated_pct", FIELD_PER_CENT, .value = r->unallocated_ppm};
    f[n++] = (struct field){"unallocated_95_pct", FIELD_PER_CENT, .value = r->unallocated_95_ppm};
    f[n++] = (struct field){"allocated_pct", FIELD_PER_CENT, .value = r->allocated_ppm};
    f[n++] = (struct field){"fragmented_pct", FIELD_PER_CENT, .value = r->fragmented_ppm};
    f[n++] = (struct field){"jobs", FIELD_COUNT, .count = r->jobs};
    f[n++] = (struct field){"failed_jobs", FIELD_COUNT, .count = r->failed};
    f[n++] = (struct field){"finished_jobs", FIELD_COUNT, .count = r->finished};
    f[n++] = (struct field){"waiting_jobs", FIELD_COUNT, .count = r->waiting};
    f[n++] = (struct field){"rejected_jobs", FIELD_COUNT, .count = r->rejected};
    f[n++] = (struct field){"first_rejected_job", FIELD_TEXT, .text = r->rejected_job};
    f[n++] = (struct field){"first_reject_reason", FIELD_TEXT, .text = r->rejected_reason};
    f[n++] = (struct field){"jct_mean_s", FIELD_SECONDS, .value = r->jct_mean_us};
    f[n++] = (struct field){"jct_p50_s", FIELD_SECONDS, .value = r->jct_p50_us};
    f[n++] = (struct field){"jct_p95_s", FIELD_SECONDS, .value = r->jct_p95_us};
    f[n++] = (struct field){"jct_p99_s", FIELD_SECONDS, .value = r->jct_p99_us};
    f[n++] = (struct field){"wait_mean_s", FIELD_SECONDS, .value = r->wait_mean_us};
    f[n++] = (struct field){"wait_p50_s", FIELD_SECONDS, .value = r->wait_p50_us};
    f[n++] = (struct field){"wait_p95_s", FIELD_SECONDS, .value = r->wait_p95_us};
    f[n++] = (struct field){"wait_p99_s", FIELD_SECONDS, .value = r->wait_p99_us};
    f[n++] = (struct field){"wait_cpu_only_s", FIELD_SECONDS, .value = r->class_wait_us[0]};
    f[n++] = (struct field){"wait_shared_s", FIELD_SECONDS, .value = r->class_wait_us[1]};
    f[n++] = (struct field){"wait_whole_s", FIELD_SECONDS, .value = r->class_wait_us[2]};
    f[n++] = (struct field){"wait_multi_s", FIELD_SECONDS, .value = r->class_wait_us[3]};
    f[n++] = (struct field){"makespan_s", FIELD_SECONDS, .value = r->makespan_us};
    f[n++] = (struct field){"preemptions", FIELD_COUNT, .count = r->preemptions};
    f[n++] = busy_field(r);
    f[n++] = (struct field){"steps", FIELD_COUNT, .count = r->steps};
    f[n++] = (struct field){"digest", FIELD_HEX, .count = r->digest};
    f[n++] = (struct field){"cpu_s", FIELD_SECONDS, .value = run->cpu_us};
    return n;
}

static void json_field(struct json_out *json, const struct field *f)
{
    char hex[17];

    switch (f->kind) {
    case FIELD_TEXT:
        if (f->text == NULL)
            json_key_null(json, f->name);
        else
            json_key_string(json, f->name, f->text);
        return;
    case FIELD_COUNT:
        json_key_u64(json, f->name, f->count);
        return;
    case FIELD_HEX:
        snprintf(hex, sizeof hex, "%016" PRIx64, f->count);
        json_key_string(json, f->name, hex);
        return;
    case FIELD_SECONDS:
        if (f->value < 0)
            json_key_null(json, f->name);
        else
            json_key_fixed(json, f->name, f->value, 6);
        return;
    case FIELD_PER_CENT:
        if (f->value == UNKNOWN_PPM)
            json_key_null(json, f->name);
        else
            json_key_fixed(json, f->name, f->value, 4);
        return;
    }
}

static void json_models(struct json_out *json, const struct result *r)
{
    json_key(json, "models");
    json_array_begin(json);
    for (uint32_t i = 0; i < r->model_count; i++) {
        json_object_begin(json);
        json_key_string(json, "model", r->models[i].model);
        json_key_u64(json, "gpus", r->models[i].gpus);
        if (r->models[i].used_ppm == UNKNOWN_PPM)
            json_key_null(json, "used_pct");
        else
            json_key_fixed(json, "used_pct", r->models[i].used_ppm, 4);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_promises(struct json_out *json, const struct promises *p)
{
    json_key_u64(json, "reserved_jobs", p->jobs);
    json_key_u64(json, "late_jobs", p->late_jobs);
    json_key_u64(json, "slips", p->slips);
    json_key_u64(json, "slips_charged", p->slips_charged);
    json_key(json, "largest");
    json_array_begin(json);
    for (uint32_t i = 0; i < p->largest_count; i++) {
        const struct largest *l = &p->largest[i];

        json_object_begin(json);
        json_key_u64(json, "gpus", l->gpus);
        json_key_fixed(json, "wait_s", l->wait_us, 6);
        json_key_fixed(json, "promised_s", l->promised_us, 6);
        json_key_fixed(json, "bound_s", l->bound_us, 6);
        json_key_u64(json, "slips", l->slips);
        json_object_end(json);
    }
    json_array_end(json);
}

void report_json(const struct report_run *runs, uint32_t count)
{
    struct json_out json;
    struct text text;

    text_init(&text, REPORT_BYTES_MAX);
    json_out_init(&json, &text);
    json_object_begin(&json);
    json_key(&json, "runs");
    json_array_begin(&json);
    for (uint32_t i = 0; i < count; i++) {
        struct field fields[FIELDS_MAX];
        const uint32_t n = fields_of(&runs[i], fields);

        json_object_begin(&json);
        for (uint32_t k = 0; k < n; k++)
            json_field(&json, &fields[k]);
        json_models(&json, &runs[i].result);
        if (runs[i].result.reserves)
            json_promises(&json, &runs[i].result.promises);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_key_i64(&json, "peak_rss_bytes", peak_rss_bytes());
    json_object_end(&json);
    puts(text_str(&text));
    text_done(&text);
}

/* Quoted as RFC 4180 says when it has to be. */
static void csv_text(const char *text)
{
    bool quote = false;

    for (const char *c = text; *c != '\0'; c++)
        quote = quote || *c == ',' || *c == '"' || *c == '\n' || *c == '\r';
    if (!quote) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static void csv_field(const struct field *f)
{
    if (f->kind == FIELD_TEXT)
        csv_text(f->text != NULL ? f->text : "");
    else if (f->kind == FIELD_COUNT)
        printf("%" PRIu64, f->count);
    else if (f->kind == FIELD_HEX)
        printf("%016" PRIx64, f->count);
    else if (f->kind == FIELD_SECONDS && f->value >= 0)
        printf("%" PRId64 ".%06" PRId64, f->value / 1000000, f->value % 1000000);
    else if (f->kind == FIELD_PER_CENT && f->value != UNKNOWN_PPM)
        printf("%" PRId64 ".%04" PRId64, f->value / 10000, f->value % 10000);
}

void report_csv(const struct report_run *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct field fields[FIELDS_MAX];
        const uint32_t n = fields_of(&runs[i], fields);

        for (uint32_t k = 0; i == 0 && k < n; k++)
            printf("%s%s", fields[k].name, k + 1 < n ? "," : "\n");
        for (uint32_t k = 0; k < n; k++) {
            csv_field(&fields[k]);
            putchar(k + 1 < n ? ',' : '\n');
        }
    }
}
