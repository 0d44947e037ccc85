/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/job_file.h"

#include "core/job.h"
#include "unit/wire_test.h"

static void fails(const char *text, const char *wanted)
{
    struct job_file file;

    FAILS_WITH(job_file_parse("jobs.yaml", text, strlen(text), &file, &err), wanted);
}

static void a_job_of_alike_tasks_is_one_group(void **state)
{
    static const char text[] = "name: train\nqueue: vision\nuser: ada\ntasks: 4\ngpus: 2\n"
                               "gpu-share: 1/3\ngpu-memory: 20G\ncpus: 2.5\nmemory: 64G\n"
                               "models: [A100, H100]\nlabels: {rack: r1}\n";
    const struct group_spec *group;
    struct job_file file;

    (void)state;
    WORKS(job_file_parse("jobs.yaml", text, sizeof text - 1, &file, &err));
    assert_int_equal(file.job_count, 1);
    assert_true(file.jobs[0].id == 1 && file.jobs[0].remaining_us == REMAINING_UNKNOWN);
    assert_string_equal(file.jobs[0].queue, "vision");
    assert_string_equal(file.jobs[0].user, "ada");
    assert_int_equal(file.jobs[0].layout_count, 1);
    assert_int_equal(file.jobs[0].layouts[0].slowdown_ppm, 1000000);
    group = file.jobs[0].layouts[0].groups;
    assert_true(group->tasks == 4 && group->gpus == 2 && group->gpu_mgpu == 333);
    assert_true(group->gpu_memory_bytes == INT64_C(20) << 30 && group->cpu_mcpu == 2500);
    assert_true(group->memory_bytes == INT64_C(64) << 30);
    assert_int_equal(group->model_count, 2);
    assert_string_equal(group->models[1], "H100");
    assert_string_equal(group->labels[0], "rack=r1");
    job_file_done(&file);
}

static void a_file_holds_several_jobs_and_a_job_several_groups(void **state)
{
    static const char text[] = "gpu-share: 0.5\n---\ngroups:\n  - {cpus: 4}\n"
                               "  - {tasks: 8, gpus: 1}\n--- {}\n";
    struct job_file file;

    (void)state;
    WORKS(job_file_parse("jobs.yaml", text, sizeof text - 1, &file, &err));
    assert_int_equal(file.job_count, 3);
    assert_int_equal(file.jobs[0].layouts[0].groups[0].gpus, 1);
    assert_int_equal(file.jobs[0].layouts[0].groups[0].gpu_mgpu, 500);
    assert_true(file.jobs[1].id == 2);
    assert_int_equal(file.jobs[1].layouts[0].group_count, 2);
    assert_int_equal(file.jobs[1].layouts[0].groups[0].gpus, 0);
    assert_int_equal(file.jobs[1].layouts[0].groups[1].tasks, 8);
    assert_int_equal(file.jobs[1].layouts[0].groups[1].gpu_mgpu, 0);
    assert_int_equal(file.jobs[2].layouts[0].groups[0].gpus, 0);
    assert_string_equal(file.jobs[2].name, "");
    job_file_done(&file);
}

static void json_is_accepted(void **state)
{
    static const char text[] = "{\"name\": \"x\", \"gpus\": 8}";
    struct job_file file;

    (void)state;
    WORKS(job_file_parse("jobs.json", text, sizeof text - 1, &file, &err));
    assert_int_equal(file.jobs[0].layouts[0].groups[0].gpus, 8);
    job_file_done(&file);
    WORKS(job_file_parse("jobs.yaml", text, sizeof text - 1, &file, &err));
    assert_int_equal(file.jobs[0].layouts[0].groups[0].gpus, 8);
    job_file_done(&file);
}

static void a_job_states_its_rights(void **state)
{
    static const char text[] =
        "class: high\ntime-limit: 2h\ndeadline: 5h\ngrace: 30s\nmin-run: 10m\nmin-tasks: 2\n"
        "service: true\nhold: true\npreemptible: false\nretries: 2\narray: sweep\n"
        "array-limit: 4\nafter: [{job: 3, end: any}, {job: 4}]\ntasks: 4\ngpus: 1\n--- {}\n";
    const struct job_spec *job;
    struct job_file file;

    (void)state;
    WORKS(job_file_parse("jobs.yaml", text, sizeof text - 1, &file, &err));
    job = &file.jobs[0];
    assert_string_equal(job->class, "high");
    assert_string_equal(job->array, "sweep");
    assert_true(job->limit_us == 7200000000 && job->deadline_us == 18000000000);
    assert_true(job->grace_us == 30000000 && job->min_run_us == 600000000);
    assert_true(job->tasks_min == 2 && job->retries == 2 && job->array_limit == 4);
    assert_true(job->service && job->held && job->fixed && job->after_count == 2);
    assert_true(job->after[0].job_id == 3 && job->after[0].end == AFTER_ANY);
    assert_true(job->after[1].job_id == 4 && job->after[1].end == AFTER_OK);
    job = &file.jobs[1];
    assert_string_equal(job->class, "");
    assert_true(job->grace_us == -1 && job->min_run_us == -1 && job->limit_us == 0);
    assert_true(!job->service && !job->held && !job->fixed && job->after_count == 0);
    job_file_done(&file);
}

static void where_tasks_are_to_each_other_is_read(void **state)
{
    static const char text[] = "{tasks: 16, gpus: 1, within: spine, near: leaf, group-size: 8, "
                               "group-within: leaf, slowdown: 1.25}\n";
    struct job_file file;

    (void)state;
    WORKS(job_file_parse("jobs.yaml", text, sizeof text - 1, &file, &err));
    assert_string_equal(file.jobs[0].within, "spine");
    assert_string_equal(file.jobs[0].near, "leaf");
    assert_string_equal(file.jobs[0].group_within, "leaf");
    assert_int_equal(file.jobs[0].group_size, 8);
    assert_int_equal(file.jobs[0].slowdown_max_ppm, 1250000);
    job_file_done(&file);
    fails("slowdown: 0.9\n", "jobs.yaml:1: slowdown: must be 1 to 1000, is 0.9");
    fails("group-size: 0\n", "jobs.yaml:1: group-size: must be 1 to 4096, is 0");
}

static void wrong_fields_are_named(void **state)
{
    (void)state;
    fails("name: a\ngroups:\n  - gpus: 1\n  - gpus: -3\n",
          "jobs.yaml:4: groups[1].gpus: must be 0 to 64, is -3");
    fails("gpu: 1\n",
          "jobs.yaml:1: gpu: unknown field, known are name, queue, user, class, "
          "min-tasks, service, hold, exclusive, preemptible, retries, time-limit, "
          "deadline, grace, min-run, array, array-limit, within, near, group-within, "
          "group-size, slowdown, after, groups, modes, isolation, "
          "qos, slice, mps-percent, client-priority, stream-priority, preemption, tasks, gpus, "
          "gpu-share, gpu-memory, mig, cpus, memory, models, labels");
    fails("gpus: 1\ngroups: [{gpus: 1}]\n",
          "jobs.yaml:1: gpus: must stand inside the groups when there are groups");
    fails("groups: []\n", "jobs.yaml:1: groups: must not be empty");
    fails("gpus: 0\ngpu-share: 0.5\n",
          "jobs.yaml:1: gpu-share, gpu-memory and mig need gpus of 1 or more, gpus is 0");
    fails("gpus: 0.5\n", "jobs.yaml:1: gpus: must be a whole number (gpu-share asks for a part of "
                         "each GPU), is 0.5");
    fails("gpu-share: 1.5\n", "jobs.yaml:1: gpu-share: must be 0.001 to 1, is 1.5");
    fails("groups: [{tasks: 4096}, {tasks: 1}]\n",
          "jobs.yaml:1: job has 4097 tasks, at most 4096 are allowed");
    fails("after: [{job: 3, end: well}]\n",
          "jobs.yaml:1: after[0].end: must be ok, any or failed, is 'well'");
    fails("time-limit: 0s\n",
          "jobs.yaml:1: time-limit: must be 0.000001s to 36028797018.963968s, is '0s'");
    fails("models: A100\n", "jobs.yaml:1: models: must be a list, is a single value");
    fails("name: [a]\n", "jobs.yaml:1: name: must be a single value, is a list");
    fails("models: [a,\n  '']\n", "jobs.yaml:2: models[1]: must not be empty");
    fails("# nothing\n", "jobs.yaml: no job in it");
}

static void a_file_that_is_not_there_says_so(void **state)
{
    struct job_file file;

    (void)state;
    FAILS_WITH(job_file_load("/no/jobs.yaml", &file, &err),
               "cannot open '/no/jobs.yaml': No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_of_alike_tasks_is_one_group),
        TEST(a_file_holds_several_jobs_and_a_job_several_groups),
        TEST(json_is_accepted),
        TEST(a_job_states_its_rights),
        TEST(where_tasks_are_to_each_other_is_read),
        TEST(wrong_fields_are_named),
        TEST(a_file_that_is_not_there_says_so),
    };

    return RUN_TESTS(tests);
}
