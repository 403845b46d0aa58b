/* test_command_bulk.c - rows in a second: a wait that was not foreseen is made up for by one slice; how the process of a bulk
 * action ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The other files of the command are linked as they are. */
int command_main(int argc, char **argv);
#define main command_main
#include "cli/main.c"
#include "support/tests.h"
#undef main

#include "cli/bulk/bulk.h"
#include "cli/bulk/bulk_loop.h"

#define SECOND INT64_C(1000000)

TEST(rows_that_are_late_do_not_come_all_at_once)
{
    int64_t now = pawl__steady_now(), begun = now - 8 * SECOND;
    pawl__pace_wait(&begun, 0, 50);
    assert_true(begun >= now - SECOND / 10);
    begun = now - 8 * SECOND;
    pawl__pace_wait(&begun, 7, 1);
    assert_true(begun >= now - 8 * SECOND && begun <= pawl__steady_now() - 8 * SECOND);
    begun = now - 8 * SECOND;
    pawl__pace_wait(&begun, 0, 1000000);
    assert_true(begun >= now - 256);
}

/* A machine that stood still meanwhile proves nothing. */
TEST(rows_that_are_a_little_late_are_made_up_for)
{
    int64_t now = pawl__steady_now(), begun = now - 8 * SECOND;
    pawl__pace_wait(&begun, 399, 50);
    assert_true(begun == now - 8 * SECOND || pawl__steady_now() - now > SECOND / 20);
    pawl__pace_wait(&begun, 0, 0);
    assert_true(begun < now - 7 * SECOND);
}

TEST(the_end_of_the_process_is_the_end_of_its_run)
{
    static const int exits[] = {2, 3, 4, 5, 6, 70};
    pawl_error       error   = PAWL_ERROR_INIT;
    for (size_t i = 0; i < COUNT(exits); i++) {
        const pawl__child_result result = {.exit_code = exits[i], .err = PAWL_TEXT("pawl: so\n")};
        assert_int_equal(pawl_code_exit(pawl__bulk_pass_on(&result, &error)), exits[i]);
        assert_string_equal(error.text, "so");
    }
    const pawl__child_result killed = {.exit_code = -1, .err = PAWL_TEXT("pawl: a hint\n")};
    assert_int_equal(pawl_code_exit(pawl__bulk_pass_on(&killed, &error)), 5);
    assert_string_equal(error.text,
                        "the process of the action was killed; what was committed stays");
}

/* The signal is older than the wait; a writer that has the pipe open writes no more. Last, as the process stays
 * interrupted. */
TEST(a_signal_ends_a_wait_for_input)
{
    int         ends[2];
    pawl__input input;
    pawl_text   line;
    pawl_error  error = PAWL_ERROR_INIT;
    assert_int_equal(pipe(ends), 0);
    const char *path = test_text("/dev/fd/%d", ends[0]);
    assert_int_equal(write(ends[1], "{}\n{", 4), 4);
    must(pawl__input_open(&input, path, &error));
    must(pawl__input_line(&input, &line, &error));
    assert_int_equal(line.size, 2);
    input.is_now = true; /* half a line is not handed out, nor lost */
    must(pawl__input_line(&input, &line, &error));
    assert_null(line.data);
    assert_int_equal(write(ends[1], "1}\n{", 4), 4);
    must(pawl__input_line(&input, &line, &error));
    assert_true(pawl_text_equal(line, PAWL_TEXT("{1}")));
    input.is_now = false;
    pawl__interrupts_note(0);
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(pawl__input_line(&input, &line, &error), PAWL_EINPUT);
    pawl__input_close(&input);
    close(ends[0]);
    close(ends[1]);
}
