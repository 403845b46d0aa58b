/* test_command_child.c - a verb that runs as a process: its outputs, and its end when it takes too long.
 *
 * The process is this program again, whose first word says what it does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Part of the command, not of the library. */
#include "cli/base/child.c"
#include "cli/base/memory.c"
#include "cli/base/output.c"
#include "support/tests.h"

#define LONG_S 60 /* a process that nobody ends fails the test */

/* ---- The process ------------------------------------------------------------- */

static void tell(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(99);
}

/* As a verb that says how far it came. */
static void on_end(int number)
{
    tell("pawl: interrupted; 3 of 9\n");
    _exit(5);
}

/* "quick" ends by itself, "polite" at SIGTERM, "deaf" not even then. */
static int be(const char *what)
{
    if (signal(SIGTERM, strcmp(what, "polite") == 0 ? on_end : SIG_IGN) == SIG_ERR)
        return 98;
    printf("{\"done\":3}\n");
    (void)fflush(stdout);
    tell("it begins\n");
    for (time_t end = time(NULL) + LONG_S; strcmp(what, "quick") != 0 && time(NULL) < end;)
        (void)pause();
    return 7;
}

/* Where the time was over before the process took signals, on a busy machine, it has twice as long. */
static pawl__child_result run_for(const char *what, int64_t time_max)
{
    pawl__child_result result = {.exit_code = -99};
    for (pawl__child child = {.words = &what, .count = 1, .store = "memory:", .time_max = time_max};
         result.out.size == 0 && child.time_max < LONG_S * INT64_C(1000); child.time_max *= 2)
        must(pawl__child_run(&child, test_arena(), &result, world_error()));
    assert_true(pawl_text_equal(result.out, PAWL_TEXT("{\"done\":3}\n")));
    return result;
}

TEST(a_verb_that_ends_in_time_is_left_alone)
{
    pawl__child_result result = run_for("quick", LONG_S * INT64_C(500));
    assert_int_equal(result.exit_code, 7);
    assert_false(result.is_late);
    assert_true(pawl_text_equal(pawl__child_said(&result), PAWL_TEXT("it begins")));
}

TEST(a_verb_that_is_late_says_how_far_it_came)
{
    pawl__child_result result = run_for("polite", 200);
    assert_true(result.is_late);
    assert_int_equal(result.exit_code, 5);
    assert_true(pawl_text_equal(pawl__child_said(&result), PAWL_TEXT("interrupted; 3 of 9")));
}

TEST(a_verb_that_goes_on_all_the_same_is_killed)
{
    int64_t            begun  = pawl__steady_now() / 1000;
    pawl__child_result result = run_for("deaf", 200);
    assert_true(result.is_late);
    assert_int_equal(result.exit_code, -1);
    assert_true(pawl__steady_now() / 1000 - begun >= 200 + END_MS);
    assert_true(pawl__steady_now() / 1000 - begun < LONG_S * INT64_C(1000));
}

TEST(drivers_that_were_loaded_are_loaded_by_the_verb)
{
    static const char *const quick  = "quick";
    static char              load[] = "--load", path[] = "./driver.so";
    char *const              words[] = {load, path};
    const pawl__child        child   = {.words = &quick, .count = 1, .store = "memory:"};
    pawl__child_result       result;
    pawl__child_loads(words, COUNT(words));
    must(pawl__child_run(&child, test_arena(), &result, world_error()));
    pawl__child_loads(NULL, 0);
    assert_int_equal(result.exit_code, 7);
    assert_true(pawl_text_equal(pawl__child_said(&result), PAWL_TEXT("loads ./driver.so")));
}

int main(int count, char **words)
{
    if (count > 3 && strcmp(words[1], "--load") == 0) {
        tell("loads ");
        tell(words[2]);
        tell("\n");
        return 7;
    }
    return count > 1 ? be(words[1]) : tests_run(NULL, NULL);
}
