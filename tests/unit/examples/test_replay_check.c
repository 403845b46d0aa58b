/* test_replay_check.c - the single pass that a replay is held against, on small
 * logs and on known ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/examples/replay_files.h"

#include "../../../examples/replay/check.h"

TEST(a_quiet_case_is_closed)
{
    replay_log      log;
    replay_expected expected;
    read_text(HEADER "a,x,g,2020-01-01T00:00:00Z\n"
                     "a,x,g,2020-01-01T00:00:10Z\n" /* exactly the quiet period: closed before */
                     "a,x,h,2020-01-01T00:00:19.999999Z\n" /* just within it */
                     "b,x,,2020-01-01T00:00:19.999999Z\n"
                     "a,x,g,2020-01-01T00:01:00Z\n",
              &log);
    assert_int_equal(replay_expect(&log, PAWL_SECONDS(10), 2, &expected, NULL), PAWL_OK);
    assert_int_equal(expected.events, 5);
    assert_int_equal(expected.cases, 2);
    assert_int_equal(expected.closings, 4);
    assert_int_equal(expected.groups, 3);
    assert_int_equal(expected.batches, 4);
    assert_int_equal(expected.by_case[0].events, 4);
    assert_int_equal(expected.by_case[0].closings, 3);
    assert_int_equal(expected.by_case[1].events, 1);
    assert_int_equal(expected.by_case[1].closings, 1);
    assert_int_equal(expected.by_group[0].events, 3);
    assert_int_equal(expected.by_group[0].batches, 2);
    assert_int_equal(expected.by_group[1].batches, 1);
    assert_int_equal(expected.by_group[2].batches, 1);
    replay_expected_free(&expected);
    replay_expected_free(&expected);

    assert_int_equal(replay_expect(&log, PAWL_SECONDS(10), 3, &expected, NULL), PAWL_OK);
    assert_int_equal(expected.batches, 3); /* a full batch leaves no rest */
    replay_expected_free(&expected);
    assert_int_equal(replay_expect(&log, 0, 2, &expected, NULL), PAWL_EINVAL);
    assert_int_equal(replay_expect(&log, 1, 0, &expected, NULL), PAWL_EINVAL);
    replay_log_free(&log);
}

/* A path below the source folder, or below the folder with the shared data. */
static void path_in_project(char *path, size_t size, const char *name)
{
    const char *source = getenv("PAWL_SOURCE_DIR");
    const char *shared = getenv("PAWL_SHARED");
    char        above[1024];
    if (source == NULL) { /* this file is two folders down */
        snprintf(above, sizeof above, "%.1000s", __FILE__);
        for (int i = 0; i < 3; i++) {
            char *slash                      = strrchr(above, '/');
            *(slash != NULL ? slash : above) = '\0';
        }
        source = above[0] != '\0' ? above : ".";
    }
    if (strncmp(name, "data/", 5) != 0)
        snprintf(path, size, "%s/%s", source, name);
    else if (shared != NULL)
        snprintf(path, size, "%s/%s", shared, name);
    else
        snprintf(path, size, "%s/../shared/%s", source, name);
}

typedef struct known_log {
    const char *name;
    const char *group;
    uint64_t    events, cases, closings, groups, batches;
} known_log;

static void assert_known(const known_log *known)
{
    char            path[2048];
    replay_log      log;
    replay_expected expected;
    pawl_error      error   = PAWL_ERROR_INIT;
    replay_columns  columns = {.group = known->group, .group_is_required = true};
    path_in_project(path, sizeof path, known->name);
    if (access(path, R_OK) != 0) {
        print_message("skipped: there is no %s\n", path);
        skip();
    }
    if (replay_log_read(path, &columns, NULL, NULL, &log, &error) != PAWL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(replay_expect(&log, PAWL_SECONDS(2592000), 50, &expected, &error), PAWL_OK);
    assert_int_equal(log.event_count, known->events);
    assert_int_equal(expected.events, known->events);
    assert_int_equal(expected.cases, known->cases);
    assert_int_equal(expected.closings, known->closings);
    assert_int_equal(expected.groups, known->groups);
    assert_int_equal(expected.batches, known->batches);
    replay_expected_free(&expected);
    replay_log_free(&log);
}

/* The example is as make_example.py counts it. */
TEST(the_example_is_known)
{
    assert_known(&(known_log){"examples/replay/example.csv", NULL, 2331, 300, 327, 9, 51});
}

TEST(a_real_csv_is_known)
{
    assert_known(&(known_log){"data/receipt.csv", NULL, 8577, 1434, 1470, 10, 177});
}

TEST(a_real_xes_is_known)
{
    assert_known(&(known_log){"data/roadtraffic100.xes", "org:resource", 390, 100, 299, 55, 60});
}

int main(void)
{
    return tests_run(make_folder, remove_folder);
}
