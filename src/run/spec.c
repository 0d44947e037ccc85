/* SPDX-License-Identifier: Apache-2.0 */
#include "run/spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/scan.h"
#include "base/tape.h"
#include "run/file.h"

#define SPEC_MAGIC "BERTHRUN"
enum { SPEC_VERSION = 1 };

void run_key_name(struct run_key key, char out[RUN_NAME_BYTES])
{
    snprintf(out, RUN_NAME_BYTES, "%llu.%u.%u", (unsigned long long)key.job_id, key.task, key.run);
}

int run_key_parse(const char *name, struct run_key *out)
{
    char copy[RUN_NAME_BYTES], *task, *run;
    struct run_key key;

    if (strlen(name) >= sizeof copy)
        return -EINVAL;
    memcpy(copy, name, strlen(name) + 1);
    task = strchr(copy, '.');
    run = task == NULL ? NULL : strchr(task + 1, '.');
    if (run == NULL)
        return -EINVAL;
    *task++ = *run++ = '\0';
    if (scan_u64(copy, &key.job_id) < 0 || scan_u32(task, &key.task) < 0 ||
        scan_u32(run, &key.run) < 0)
        return -EINVAL;
    *out = key;
    return 0;
}

void run_spec_init(struct run_spec *spec)
{
    *spec = (struct run_spec){.umask = 022, .log_bytes = INT64_C(8) << 20, .log_files = 2};
    run_spec_text(&spec->directory, "/");
    run_spec_text(&spec->master_address, "");
    run_spec_text(&spec->cgroup, "");
}

static void free_words(char **words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        mem_free(words[i]);
    mem_free(words);
}

void run_spec_done(struct run_spec *spec)
{
    free_words(spec->argv, spec->argc);
    free_words(spec->env, spec->env_count);
    free_words(spec->set, spec->set_count);
    free_words(spec->devices, spec->device_count);
    mem_free(spec->directory);
    mem_free(spec->master_address);
    mem_free(spec->cgroup);
    mem_free(spec->groups);
    *spec = (struct run_spec){0};
}

void run_spec_text(char **field, const char *text)
{
    char *copy = mem_copy(text, strlen(text) + 1, 1);

    mem_free(*field);
    *field = copy;
}

/* Grows by doubling, without a field for it: at powers of two. */
void run_spec_word(char ***words, uint32_t *count, const char *word)
{
    if ((*count & (*count - 1)) == 0)
        *words = mem_resize(*words, *count, *count == 0 ? 1 : *count * 2, sizeof **words);
    (*words)[(*count)++] = mem_copy(word, strlen(word) + 1, 1);
}

/* ---- check ---- */

static int check_variables(const char *what, char *const *words, uint32_t count, struct err *err)
{
    if (count > RUN_WORDS_MAX)
        return err_set(err, -EINVAL, "%s: %u variables, at most %d", what, count, RUN_WORDS_MAX);
    for (uint32_t i = 0; i < count; i++)
        if (words[i][0] == '=' || strchr(words[i], '=') == NULL)
            return err_set(err, -EINVAL, "%s[%u]: '%.40s' is not NAME=value", what, i, words[i]);
    return 0;
}

int run_spec_check(const struct run_spec *spec, struct err *err)
{
    int rc = check_variables("env", spec->env, spec->env_count, err);

    if (rc == 0)
        rc = check_variables("set", spec->set, spec->set_count, err);
    if (rc < 0)
        return rc;
    if (spec->argc == 0 || spec->argc > RUN_WORDS_MAX || spec->argv[0][0] == '\0')
        return err_set(err, -EINVAL, "argv: 1 to %d words, the first not empty", RUN_WORDS_MAX);
    if (spec->directory[0] != '/')
        return err_set(err, -EINVAL, "directory: '%s' is not absolute", spec->directory);
    if (spec->umask > 0777)
        return err_set(err, -EINVAL, "umask: %#o is above 0777", spec->umask);
    if (spec->uid == UINT32_MAX || spec->gid == UINT32_MAX)
        return err_set(err, -EINVAL, "uid, gid: not that of a user");
    if (spec->group_count > RUN_GROUPS_MAX)
        return err_set(err, -EINVAL, "groups: at most %d", RUN_GROUPS_MAX);
    if (spec->world_size > 0 && spec->rank >= spec->world_size)
        return err_set(err, -EINVAL, "rank: %u of %u", spec->rank, spec->world_size);
    if (spec->master_port > UINT16_MAX)
        return err_set(err, -EINVAL, "master_port: %u is above 65535", spec->master_port);
    if (spec->cpu_mcpu < 0 || spec->memory_bytes < 0)
        return err_set(err, -EINVAL, "limits: below 0");
    if (spec->log_bytes < 4096 || spec->log_files < 1)
        return err_set(err, -EINVAL, "log: files of 4096 bytes at least, and 1 at least");
    return 0;
}

/* ---- save and load ---- */

static void text_walk(char **field, struct tape *t)
{
    const char *text = tape_text(t, *field);

    if (tape_loads(t))
        run_spec_text(field, text);
}

static void words_walk(char ***words, uint32_t *count, struct tape *t, const char *what)
{
    uint32_t rows = *count;

    tape_count(t, &rows, what);
    for (uint32_t i = 0; tape_more(t, i, rows); i++) {
        const char *word = tape_text(t, tape_loads(t) ? "" : (*words)[i]);

        if (tape_loads(t))
            run_spec_word(words, count, word);
    }
}

static void groups_walk(struct run_spec *spec, struct tape *t)
{
    uint32_t rows = spec->group_count;

    tape_count(t, &rows, "groups");
    if (tape_loads(t)) {
        spec->groups = mem_alloc(rows, sizeof *spec->groups);
        spec->group_count = rows;
    }
    for (uint32_t i = 0; tape_more(t, i, rows); i++)
        tape_u32(t, &spec->groups[i]);
}

static void spec_walk(struct run_spec *spec, struct tape *t)
{
    tape_u64(t, &spec->key.job_id);
    tape_u32(t, &spec->key.task);
    tape_u32(t, &spec->key.run);
    words_walk(&spec->argv, &spec->argc, t, "argv");
    words_walk(&spec->env, &spec->env_count, t, "env");
    words_walk(&spec->set, &spec->set_count, t, "set");
    text_walk(&spec->directory, t);
    tape_u32(t, &spec->umask);
    tape_u32(t, &spec->uid);
    tape_u32(t, &spec->gid);
    groups_walk(spec, t);
    tape_u32(t, &spec->rank);
    tape_u32(t, &spec->world_size);
    tape_u32(t, &spec->local_rank);
    text_walk(&spec->master_address, t);
    tape_u32(t, &spec->master_port);
    words_walk(&spec->devices, &spec->device_count, t, "devices");
    tape_i64(t, &spec->cpu_mcpu);
    tape_i64(t, &spec->memory_bytes);
    tape_i64(t, &spec->log_bytes);
    tape_u32(t, &spec->log_files);
    text_walk(&spec->cgroup, t);
}

int run_spec_save(const struct run_spec *spec, int folder_fd, struct err *err)
{
    struct run_spec copy = *spec; /* a tape that saves changes nothing */
    struct tape t;
    uint8_t *bytes;
    size_t count;
    int rc = run_spec_check(spec, err);

    if (rc < 0)
        return rc;
    tape_save_init(&t, SPEC_MAGIC, SPEC_VERSION);
    spec_walk(&copy, &t);
    bytes = tape_take(&t, &count);
    tape_done(&t);
    if (count > RUN_SPEC_BYTES_MAX)
        rc = err_set(err, -E2BIG, "arguments and environment: %zu bytes, at most %d", count,
                     RUN_SPEC_BYTES_MAX);
    else
        rc = file_replace(folder_fd, "spec", bytes, count, FILE_FAST);
    if (rc < 0 && rc != -E2BIG)
        rc = err_set(err, rc, "cannot write 'spec': %s", strerror(-rc));
    mem_free(bytes);
    return rc;
}

int run_spec_parse(const void *bytes, size_t count, struct run_spec *out, struct err *err)
{
    struct tape t;
    int rc = tape_load_init(&t, SPEC_MAGIC, SPEC_VERSION, bytes, count, err);

    if (rc == 0) {
        spec_walk(out, &t);
        rc = tape_end(&t);
    }
    tape_done(&t);
    if (rc == 0)
        rc = run_spec_check(out, err);
    return rc < 0 ? err_prefix(err, rc, "spec: ") : 0;
}

int run_spec_load(int folder_fd, struct run_spec *out, struct err *err)
{
    char *bytes;
    size_t count;
    int rc = file_load(folder_fd, "spec", RUN_SPEC_BYTES_MAX, &bytes, &count);

    if (rc < 0)
        return err_set(err, rc, "cannot read 'spec': %s", strerror(-rc));
    rc = run_spec_parse(bytes, count, out, err);
    mem_free(bytes);
    return rc;
}
