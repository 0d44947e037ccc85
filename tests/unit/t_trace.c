/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/wire_test.h"

static void fails(const char *pick, const char *text, const char *wanted)
{
    struct trace trace;

    FAILS_WITH(trace_parse("t.csv", pick, text, strlen(text), &trace, &err), wanted);
}

static void the_openb_pods_are_read(void **state)
{
    int64_t mgpu = 0;
    struct trace trace;

    (void)state;
    WORKS(trace_load("data/fgd/openb_pod_list_default.csv", &trace, &err));
    assert_int_equal(trace.format, TRACE_OPENB);
    assert_string_equal(trace.label, "default");
    assert_int_equal(trace.job_count, 8152);
    for (uint32_t i = 0; i < trace.job_count; i++)
        mgpu += (int64_t)trace.jobs[i].gpus * trace.jobs[i].gpu_mgpu;
    assert_true(mgpu * 1000 / 6212000 == 979); /* 98.0 % of the cluster's GPUs */
    assert_string_equal(trace.jobs[0].name, "openb-pod-0000");
    assert_true(trace.jobs[0].id == 1);
    assert_true(trace.jobs[0].cpu_mcpu == 12000);
    assert_true(trace.jobs[0].memory_bytes == INT64_C(16) << 30);
    assert_true(trace.jobs[0].duration_us == INT64_C(12537496000000));
    assert_int_equal(trace.jobs[1].gpu_mgpu, 460);
    assert_int_equal(trace.jobs[1].tasks, 1);
    assert_true(trace.jobs[1].submit_us == INT64_C(427061000000));
    trace_done(&trace);
}

static void shapes_are_expanded_by_their_count(void **state)
{
    struct trace trace;

    (void)state;
    WORKS(trace_load("data/fgd/openb_pod_specs.csv:cpu050", &trace, &err));
    assert_string_equal(trace.label, "cpu050");
    assert_int_equal(trace.jobs[0].gpu_mgpu, 810);
    assert_int_equal(trace.jobs[1046].gpu_mgpu, 810);
    assert_int_equal(trace.jobs[1047].gpu_mgpu, 1000);
    assert_true(trace.jobs[1047].id == 1048);
    trace_done(&trace);
    WORKS(trace_load("data/fgd/openb_pod_specs.csv:default", &trace, &err));
    assert_int_equal(trace.job_count, 8152);
    trace_done(&trace);
}

static void a_file_of_several_traces_needs_a_name(void **state)
{
    struct trace trace;

    (void)state;
    FAILS_WITH(trace_load("data/fgd/openb_pod_specs.csv", &trace, &err),
               "data/fgd/openb_pod_specs.csv: holds several traces, say FILE:NAME with one of "
               "'cpu050', 'cpu200', 'default', 'gpushare40', 'gpushare80', 'gpuspec10', "
               "'gpuspec25', 'multigpu20', 'multigpu40'");
    FAILS_WITH(trace_load("data/fgd/openb_pod_specs.csv:x", &trace, &err),
               "data/fgd/openb_pod_specs.csv: no trace 'x' in it, it has 'cpu050', 'cpu200', "
               "'default', 'gpushare40', 'gpushare80', 'gpuspec10', 'gpuspec25', 'multigpu20', "
               "'multigpu40'");
    FAILS_WITH(trace_load("data/muri/trace1.csv:x", &trace, &err),
               "data/muri/trace1.csv: holds one trace, so ':x' cannot pick one of it");
    FAILS_WITH(trace_load("data/none.csv:x", &trace, &err),
               "cannot open 'data/none.csv': No such file or directory");
}

static void a_file_whose_own_name_has_a_colon_is_found(void **state)
{
    char path[] = "/tmp/berth:trace-XXXXXX";
    int fd = mkstemp(path);
    struct trace trace;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "submit_s,duration_s,gpus\n0,1,8\n", 31), 31);
    close(fd);
    WORKS(trace_load(path, &trace, &err));
    assert_int_equal(trace.job_count, 1);
    trace_done(&trace);
    unlink(path);
}

static void the_muri_traces_are_read(void **state)
{
    struct trace trace;

    (void)state;
    WORKS(trace_load("data/muri/trace1.csv", &trace, &err));
    assert_int_equal(trace.format, TRACE_MURI);
    assert_int_equal(trace.job_count, 1494);
    assert_string_equal(trace.label, "trace1");
    assert_true(trace.jobs[1].submit_us == INT64_C(201694000000));
    assert_int_equal(trace.jobs[1].gpus, 8);
    assert_int_equal(trace.jobs[1].tasks, 0);
    assert_true(trace.jobs[1].iterations == 8787693);
    assert_true(trace.jobs[1].iteration_time_us == 509000);
    assert_string_equal(trace.jobs[1].model_name, "dqn");
    assert_int_equal(trace.jobs[1].batch_size, 128);
    trace_done(&trace);
    WORKS(trace_load("data/muri/trace3.csv", &trace, &err));
    assert_int_equal(trace.job_count, 992);
    trace_done(&trace);
}

static void a_pollux_workload_is_picked_by_load_and_number(void **state)
{
    struct trace trace;

    (void)state;
    WORKS(trace_load("data/pollux/workloads.csv:0.5/1", &trace, &err));
    assert_int_equal(trace.format, TRACE_POLLUX);
    assert_int_equal(trace.job_count, 80);
    assert_string_equal(trace.label, "0.5/1");
    assert_string_equal(trace.jobs[0].application, "deepspeech2");
    assert_int_equal(trace.jobs[0].gpus, 6);
    assert_int_equal(trace.jobs[0].batch_size, 320);
    assert_true(trace.jobs[0].submit_us == 110000000);
    assert_true(trace.jobs[0].duration_us == -1);
    trace_done(&trace);
    WORKS(trace_load("data/pollux/workloads.csv:1.0/8", &trace, &err));
    assert_int_equal(trace.job_count, 160);
    trace_done(&trace);
}

static void the_philly_trace_is_read_from_gzip(void **state)
{
    int64_t gpu_us = 0;
    struct trace trace;

    (void)state;
    WORKS(trace_load("data/philly/philly_jobs.csv.gz", &trace, &err));
    assert_int_equal(trace.format, TRACE_PHILLY);
    assert_string_equal(trace.label, "philly_jobs");
    assert_int_equal(trace.job_count, 82247);
    for (uint32_t i = 0; i < trace.job_count; i++)
        gpu_us += trace.jobs[i].gpus * trace.jobs[i].duration_us;
    assert_true(gpu_us == INT64_C(3521082502000000));
    assert_true(trace.jobs[0].submit_us == 0);
    assert_true(trace.jobs[1].submit_us == INT64_C(235696000000)); /* 2 days, 17:28:16 */
    assert_string_equal(trace.jobs[0].queue, "7f04ca");
    trace_done(&trace);
}

static void timestamps_follow_the_calendar(void **state)
{
    static const char text[] = "timestamp,duration_s,num_gpus,vc\n"
                               "2016-02-28 23:59:59,1,1,a\n2016-03-01 00:00:00,1,1,a\n"
                               "2017-03-01 00:00:00,1,1,a\n";
    struct trace trace;

    (void)state;
    WORKS(trace_parse("t.csv", NULL, text, sizeof text - 1, &trace, &err));
    assert_true(trace.jobs[1].submit_us == 86401 * INT64_C(1000000));
    assert_true(trace.jobs[2].submit_us == (86401 + 365 * 86400) * INT64_C(1000000));
    trace_done(&trace);
    fails(NULL, "timestamp,duration_s,num_gpus,vc\n2017-02-29 00:00:00,1,1,a\n",
          "t.csv:2: column 'timestamp': must be a time such as 2017-10-09 13:05:00, is "
          "'2017-02-29 00:00:00'");
    fails(NULL,
          "timestamp,duration_s,num_gpus,vc\n2017-02-02 00:00:00,1,1,a\n"
          "2017-02-01 00:00:00,1,1,a\n",
          "t.csv:3: column 'timestamp': is before the time of the first row");
}

static void the_generic_format_has_defaults_for_all_but_three_columns(void **state)
{
    static const char text[] =
        "submit_s,duration_s,gpus,tasks,gpu_milli,gpu_memory,cpus,memory,models,queue,user,name,"
        "count,deadline_s,class\n"
        "0.5,60,1,4,500,20G,2.5,64G,A100|H100,vision,ada,train,2,3600.25,high\n"
        "1,,8,,,,,,,,,,,,\n"
        "2,,1,,,20G,,,A100|H100,vision,,,,0,\n";
    const struct trace_job *job;
    struct trace trace;

    (void)state;
    WORKS(trace_parse("t.csv", NULL, text, sizeof text - 1, &trace, &err));
    assert_int_equal(trace.format, TRACE_GENERIC);
    assert_int_equal(trace.job_count, 4);
    job = &trace.jobs[1];
    assert_true(job->id == 2 && job->submit_us == 500000 && job->duration_us == 60000000);
    assert_true(job->tasks == 4 && job->task_gpus == 1 && job->gpus == 4 && job->gpu_mgpu == 500);
    assert_true(job->gpu_memory_bytes == INT64_C(20) << 30 && job->cpu_mcpu == 2500);
    assert_int_equal(job->model_count, 2);
    assert_string_equal(job->models[1], "H100");
    assert_string_equal(job->user, "ada");
    assert_true(job->deadline_us == 3600250000);
    assert_string_equal(job->class, "high");
    assert_int_equal(job->line, 2);
    assert_string_equal(trace.file, "t.csv");
    job = &trace.jobs[2];
    assert_true(job->deadline_us == 0 && trace.jobs[3].deadline_us == 0);
    assert_true(job->duration_us == -1 && job->gpus == 8 && job->gpu_mgpu == 1000);
    assert_true(job->tasks == 1 && job->model_count == 0);
    assert_string_equal(job->name, "");
    assert_string_equal(job->class, "");
    assert_int_equal(job->line, 3);
    job = &trace.jobs[3];
    assert_true(job->gpu_mgpu == 0 && job->gpu_memory_bytes == INT64_C(20) << 30);
    assert_ptr_equal(job->models, trace.jobs[0].models);
    assert_ptr_equal(job->queue, trace.jobs[0].queue);
    trace_done(&trace);
}

static void wrong_rows_are_named(void **state)
{
    (void)state;
    fails(NULL, "submit_s,duration_s,gpus\n0,1,-8\n",
          "t.csv:2: column 'gpus': must be 0 to 64, is -8");
    fails(NULL, "submit_s,duration_s,gpus\n0,1,65\n",
          "t.csv:2: column 'gpus': must be 0 to 64, is 65");
    fails(NULL, "submit_s,duration_s,gpus,gpu_milli\n0,1,1,1001\n",
          "t.csv:2: column 'gpu_milli': must be 0 to 1000, is 1001");
    fails(NULL, "submit_s,duration_s,gpus,gpu_milli\n0,1,0,500\n",
          "t.csv:2: column 'gpu_milli': must be 0 or empty where gpus is 0");
    fails(NULL, "submit_s,duration_s,gpus,models\n0,1,1,A||B\n",
          "t.csv:2: column 'models': a name in the list is empty");
    fails(
        NULL, "submit_s,duration_s,gpus,colour\n0,1,1,red\n",
        "t.csv:1: column 'colour': unknown column; there are submit_s, "
        "duration_s, gpus, tasks, gpu_milli, gpu_memory, cpus, memory, models, queue, user, name, "
        "count, deadline_s, class");
    fails(NULL, "submit_s,duration_s,gpus,deadline_s\n0,1,1,-1\n",
          "t.csv:2: column 'deadline_s': must be 0 to 36028797018.963968, is -1");
    fails(NULL, "submit_s,duration_s,gpus,count\n0,1,1,4194304\n0,1,1,1\n",
          "t.csv:3: more than 4194304 jobs");
    fails(NULL, "submit_s,duration_s,gpus\n-1,1,1\n",
          "t.csv:2: column 'submit_s': must be 0 to 36028797018.963968, is -1");
    fails(NULL, "submit_s,duration_s,gpus\n", "t.csv: no job in it");
    fails(NULL, "a,b\n1,2\n",
          "t.csv:1: unknown trace format: a header has at least submit_s,duration_s,gpus, or the "
          "columns of an openb, muri, pollux or philly trace");
}

static void wrong_pods_are_named(void **state)
{
    static const char header[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,"
                                 "creation_time,deletion_time,scheduled_time\n";
    static const struct {
        const char *rows, *wanted;
    } samples[] = {
        {"a,1,1,1,1000,,0,1,0\na,1,1,1,1000,,0,1,0\n",
         "t.csv:3: column 'name': 'a' is there twice"},
        {"a,-1,1,1,1000,,0,1,0\n",
         "t.csv:2: column 'cpu_milli': must be 0 to 1000000000000, is -1"},
        {"a,1,1,1,1001,,0,1,0\n", "t.csv:2: column 'gpu_milli': must be 1 to 1000, is 1001"},
        {"a,1,1,0,500,,0,1,0\n", "t.csv:2: column 'gpu_milli': must be 0, is 500"},
        {"a,1,1,1,1000,,0,1,5\n", "t.csv:2: column 'deletion_time': is before scheduled_time"},
        {",1,1,1,1000,,0,1,0\n", "t.csv:2: column 'name': must not be empty"},
    };
    char text[400];

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        snprintf(text, sizeof text, "%s%s", header, samples[i].rows);
        fails(NULL, text, samples[i].wanted);
    }
}

static void a_pod_that_never_ran_has_no_duration(void **state)
{
    static const char text[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,"
                               "creation_time,deletion_time,scheduled_time\n"
                               "a,1,1,1,1000,T4|P100,5,9,\nb,1,1,0,0,,5,,6\nc,1,1,0,,,5,8,6\n";
    struct trace trace;

    (void)state;
    WORKS(trace_parse("t.csv", NULL, text, sizeof text - 1, &trace, &err));
    assert_true(trace.jobs[0].duration_us == -1);
    assert_true(trace.jobs[1].duration_us == -1);
    assert_true(trace.jobs[2].duration_us == 2000000);
    assert_true(trace.jobs[0].submit_us == 5000000);
    assert_string_equal(trace.jobs[0].models[0], "T4");
    trace_done(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_openb_pods_are_read),
        TEST(shapes_are_expanded_by_their_count),
        TEST(a_file_of_several_traces_needs_a_name),
        TEST(a_file_whose_own_name_has_a_colon_is_found),
        TEST(the_muri_traces_are_read),
        TEST(a_pollux_workload_is_picked_by_load_and_number),
        TEST(the_philly_trace_is_read_from_gzip),
        TEST(timestamps_follow_the_calendar),
        TEST(the_generic_format_has_defaults_for_all_but_three_columns),
        TEST(wrong_rows_are_named),
        TEST(wrong_pods_are_named),
        TEST(a_pod_that_never_ran_has_no_duration),
    };

    return RUN_TESTS(tests);
}
