/* test_runtime_recovery.c - rows of recovery: those of the program come before the table's, and what is
 * refused. E37.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/test.h"
#include "runtime/runtime.h"

RECORD(job, (INT64, n));

static int runs;

static pawl_code on_job(pawl_context *ctx, const job *message)
{
    runs++;
    return pawl_fail(ctx, PAWL_EUNREACHABLE, "away");
}
PAWL_MESSAGE_HANDLER(on_job, job);

static pawl_endpoint_spec works = {.name     = "works",
                                   .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_job)})};
static test_lines         lines; /* of the log */

static pawl_code open_test(const pawl_recovery *table, const pawl_recovery *over, pawl_test **test,
                           pawl_error *error)
{
    static const pawl_endpoint_spec *endpoints[] = {&works, NULL};
    static pawl_application          factory;
    static pawl_endpoint_options     own;
    pawl_endpoint_options            given   = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_test_options                options = PAWL_TEST_OPTIONS_INIT;
    factory = (pawl_application){PAWL_APPLICATION_HEAD, .name = "factory", .endpoints = endpoints};
    own     = *PAWL_OPTIONS(.recovery = table);
    given.recovery   = over;
    works.options    = &own;
    options.endpoint = &given;
    runs             = 0;
    return pawl_test_create(&factory, &options, test, error);
}

static int runs_until_dead(const pawl_recovery *table, const pawl_recovery *over)
{
    pawl_test     *test = NULL;
    pawl_dead_rows dead;
    must(open_test(table, over, &test, world_error()));
    pawl_test_deliver(test, NULL, PAWL_MESSAGE(job, .n = 1), NULL);
    pawl_test_advance(test, PAWL_DAYS(6), NULL);
    assert_int_equal(pawl_test_dead(test, NULL, &dead, NULL), PAWL_OK);
    assert_int_equal(dead.count, 1);
    pawl_test_destroy(test);
    return runs;
}

TEST(e37_rows_of_the_program_come_before_the_tables)
{
    const pawl_recovery *five = PAWL_RECOVERY({.immediate = -1, .delayed = 4});
    const pawl_recovery *two  = PAWL_RECOVERY({.type = "job", .immediate = 1, .delayed = -1});
    assert_int_equal(runs_until_dead(NULL, NULL), 24);
    assert_int_equal(runs_until_dead(five, NULL), 5);
    assert_int_equal(runs_until_dead(five, two), 2);
    assert_int_equal(runs_until_dead(two, five), 5);
    /* The table's rows hold behind those of the program. */
    assert_int_equal(runs_until_dead(two, PAWL_RECOVERY({.code = PAWL_EFULL, .delayed = -1})), 2);
}

static void refuse(const pawl_recovery *table, const pawl_recovery *over, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_test *test  = NULL;
    assert_int_equal(open_test(table, over, &test, &error), PAWL_ECONFIG);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, error.text);
}

/* Refuses one row, which is the second of the table. */
static void refuse_row(pawl_recovery row, const char *why)
{
    const pawl_recovery rows[] = {{.code = PAWL_EFULL, .delayed = 1}, row, {.type = NULL}};
    refuse(rows, NULL, test_text("option recovery in the endpoint's table, row 2: %s", why));
}

TEST(e37_a_bad_row_is_refused_by_its_number)
{
    char long_type[PAWL_NAME_SIZE_MAX + 2] = {0};
    memset(long_type, 'x', PAWL_NAME_SIZE_MAX + 1);
    refuse_row((pawl_recovery){.code = (pawl_code)9999}, "code 9999 is not a code of pawl");
    refuse_row((pawl_recovery){.code = PAWL_DISCARD}, "code DISCARD is not a failure");
    refuse_row((pawl_recovery){.code = PAWL_EVERSION, .delayed = 1},
               "code EVERSION is not a failure");
    refuse_row((pawl_recovery){.code = PAWL_ECRASHED, .immediate = 2}, "code ECRASHED has a limit");
    refuse_row((pawl_recovery){.code = PAWL_RETRY_AFTER, .delay = 1},
               "code RETRY_AFTER comes with");
    refuse_row((pawl_recovery){.code = PAWL_RETRY_AFTER, .delay_max = 1}, "code RETRY_AFTER comes");
    refuse_row((pawl_recovery){.code = PAWL_RETRY_AFTER, .immediate = 1}, "code RETRY_AFTER comes");
    refuse_row((pawl_recovery){.type = "", .delayed = 1},
               "type has 0 bytes, the limit is 1 to 200");
    refuse_row((pawl_recovery){.type = long_type}, "type has 201 bytes, the limit is 1 to 200");
    refuse_row((pawl_recovery){.immediate = 101}, "immediate is 101, the limits are -1 to 100");
    refuse_row((pawl_recovery){.immediate = -2}, "immediate is -2, the limits are -1 to 100");
    refuse_row((pawl_recovery){.delayed = 1001}, "delayed is 1001, the limits are -1 to 1000");
    refuse_row((pawl_recovery){.delay = -1}, "delay is -1, the limits are 0 to ");
    refuse_row((pawl_recovery){.delay_max = PAWL_DAYS(366)}, "delay_max is ");
    refuse_row((pawl_recovery){.then = (pawl_then)2}, "then is 2, the limits are 0 to 1");
    refuse_row((pawl_recovery){.delay = 2, .delay_max = 1}, "delay is longer than delay_max");
    refuse_row((pawl_recovery){.delay = 30}, "delay is 30 microseconds, the least is 1 ms");
    refuse_row((pawl_recovery){.delay_max = 30}, "delay_max is 30 microseconds, the least is 1 ms");
    refuse_row((pawl_recovery){.delayed = -1, .delay = 2}, "a delay, and no delayed retries");
    refuse_row((pawl_recovery){.delayed = -1, .delay_max = 2}, "a delay, and no delayed retries");
    refuse_row((pawl_recovery){.code = PAWL_EFULL}, "row 1 takes all that it is for");
    refuse_row((pawl_recovery){.code = PAWL_EFULL, .type = "job"},
               "row 1 takes all that it is for");
}

TEST(e37_rows_of_the_program_are_checked_too)
{
    pawl_recovery many[PAWL_RECOVERY_ROWS_MAX + 2] = {{.type = NULL}};
    static char   types[PAWL_RECOVERY_ROWS_MAX + 1][16];
    for (int i = 0; i <= PAWL_RECOVERY_ROWS_MAX; i++) {
        snprintf(types[i], sizeof types[i], "t%d", i);
        many[i].type = types[i];
    }
    refuse(NULL, PAWL_RECOVERY({.immediate = 101}), "option recovery, row 1: immediate is 101");
    refuse(NULL, many, "option recovery: more than 64 rows");
    /* A later list may stand behind one that takes all of its failures. */
    assert_int_equal(
        runs_until_dead(PAWL_RECOVERY({.type = "job"}), PAWL_RECOVERY({.immediate = -1})), 6);
}

/* Ten delays of a day, each with a tenth of jitter at most. */
TEST(e37_marks_outlast_the_delays_of_each_row)
{
    refuse(PAWL_RECOVERY(
               {.type = "job", .delayed = 10, .delay = PAWL_DAYS(1), .delay_max = PAWL_DAYS(1)}),
           NULL, "and delayed retries by row 1 of option recovery go on for up to 950400 s");
    refuse(PAWL_RECOVERY({.type = "job", .delayed = 10, .delay = PAWL_DAYS(1)}), NULL,
           "and delayed retries by row 1 of option recovery go on for up to 950400 s");
    refuse(PAWL_RECOVERY({.type = "a", .immediate = 1}, {.type = "job", .delayed = 1000},
                         {.type = "b", .delayed = 1000}),
           NULL, "and delayed retries by row 2 of option recovery go on for");
    refuse(PAWL_RECOVERY({.type = "job", .delay = PAWL_DAYS(2)}), NULL,
           "and delayed retries by row 1 of option recovery go on for up to 950400 s");
}

TEST(e37_a_type_that_nothing_handles_is_said)
{
    pawl_test *test = NULL;
    test_listen(&lines, PAWL_LOG_WARNING, NULL);
    must(open_test(PAWL_RECOVERY({.type = "job", .delayed = 1}, {.type = "jbo", .delayed = 1}),
                   NULL, &test, world_error()));
    pawl_test_destroy(test);
    assert_non_null(
        strstr(lines.text, "endpoint works: row 2 of option recovery is for type 'jbo', which "));
    assert_null(strstr(lines.text, "row 1"));
    world_quiet();
}
