/* test_command_console.c - requests to the console, which become the words of a verb or are refused, and the verb's
 * end; words that a shell reads. Answers over HTTP are in tests/system/console.sh.
 *
 * No verb runs here: its end is made up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The table of verbs; the other files of the command are linked as they are. */
int command_main(int argc, char **argv);
#define main command_main
#include "cli/main.c"
#undef main
/* The answers, bulk actions and live figures, with a run of this file's. */
#define pawl__console_answer answer_here
#define pawl__console_run run_here
#define say say_here
#define pawl__console_run_long run_long_here
#define pawl__console_bulk_begin bulk_begin_here
#define pawl__console_bulk_start bulk_start_here
#define pawl__console_bulk_stop bulk_stop_here
#define pawl__console_live_start live_start_here
#define pawl__console_live_stop live_stop_here
#define pawl__console_live_has_room live_has_room_here
#define pawl__console_live_read live_read_here
#include "cli/console/answer.c"
#define run run_bulk
#include "cli/console/bulk.c"
#undef run
#undef PERIOD_S
#undef WAIT_MAX_S
#define run run_live
#define ask ask_live
#define names live_names
#define release release_news
#include "cli/console/live.c"
#undef run
#undef ask
#undef names
#include "support/tests.h"

#include <unistd.h>

/* ---- A request ----------------------------------------------------------------- */

static pawl__child_result ending;    /* of the verb */
static char               ran[4000]; /* its words, or empty: none ran */
static bool               has_all_time;

pawl_code run_here(pawl__console *console, const pawl__console_call *call, pawl_arena *arena,
                   pawl__child_result *result, pawl_error *error)
{
    has_all_time = false;
    ran[0]       = '\0';
    for (size_t i = 0; i < call->count; i++) {
        pawl__append(ran, sizeof ran, call->words[i]);
        pawl__append(ran, sizeof ran, " ");
    }
    *result = ending;
    if (result->out.data == NULL)
        result->out = PAWL_TEXT("");
    if (result->err.data == NULL)
        result->err = PAWL_TEXT("");
    return PAWL_OK;
}

static char               run_id[20]; /* of the bulk action that was run */
static pawl__child_result run_ending = {
    .exit_code = 0, .out = PAWL_TEXT_INIT(""), .err = PAWL_TEXT_INIT("")};

pawl_code run_long_here(pawl__console *console, const pawl__console_call *call, pawl_arena *arena,
                        pawl__child_result *result, pawl_error *error)
{
    if (strcmp(call->words[1], "run") != 0) {
        pawl_code code = run_here(console, call, arena, result, error);
        has_all_time   = true;
        return code;
    }
    (void)snprintf(run_id, sizeof run_id, "%s", call->words[call->count - 1]);
    *result = run_ending;
    return PAWL_OK;
}

static const char *header_of(const pawl_serve_request *request, const char *name)
{
    return strcmp(name, "Host") == 0             ? "localhost"
           : strcmp(name, "X-Pawl-Console") == 0 ? "1"
           : strcmp(name, "Content-Type") == 0   ? "application/json"
                                                 : NULL;
}

/* A bulk action runs in a thread of its own. */
static void await_bulks(pawl__console *console)
{
    pthread_mutex_lock(&console->mutex);
    while (console->bulk_count > 0)
        pthread_cond_wait(&console->is_bulk, &console->mutex);
    pthread_mutex_unlock(&console->mutex);
}

/* The status and, in the test's arena, the body. `query` has one argument or none. */
static int ask(const char *method, const char *path, pawl_serve_pair query, const char *body,
               const char **said)
{
    pawl__console console = {
        .prefix = "pawl_", .address = "127.0.0.1", .may_write = true, .saga_prefix = "orders_"};
    const pawl_serve_request request = {.method         = method,
                                        .path           = path,
                                        .arguments      = &query,
                                        .argument_count = query.name != NULL,
                                        .body           = pawl_text_of(body),
                                        .header         = header_of};
    pawl_serve_answer        answer  = {.status = 0};
    ran[0]                           = '\0';
    answer_here(&console, &request, test_arena(), &answer);
    await_bulks(&console);
    *said = pawl_arena_text(test_arena(), answer.body).data;
    assert_non_null(*said);
    return answer.status;
}

static const pawl_serve_pair nothing = {NULL, NULL};

/* ---- What is selected ---------------------------------------------------------- */

/* A filter that is passed over would select everything. */
TEST(a_filter_in_the_address_of_a_change_is_refused)
{
    static const char *const paths[] = {"/api/dead/discard", "/api/dead/retry", "/api/queue/purge",
                                        "/api/timeout/cancel", "/api/bulk/start"};
    const char              *said;
    for (size_t i = 0; i < COUNT(paths); i++) {
        assert_int_equal(ask("POST", paths[i], (pawl_serve_pair){"type", "note"},
                             "{\"verb\":\"dead\",\"action\":\"discard\",\"all\":true}", &said),
                         400);
        assert_non_null(strstr(said, "type"));
        assert_string_equal(ran, "");
    }
    ending = (pawl__child_result){.exit_code = 0};
    assert_int_equal(
        ask("POST", "/api/dead/discard", nothing, "{\"all\":true,\"type\":[\"note\"]}", &said),
        200);
    assert_non_null(strstr(ran, " --all "));
    assert_non_null(strstr(ran, " --type=note "));
}

/* An array that a caller filled with nothing would be no filter. */
TEST(an_array_without_a_value_is_refused)
{
    const char *said;
    assert_int_equal(ask("POST", "/api/dead/discard", nothing, "{\"all\":true,\"code\":[]}", &said),
                     400);
    assert_non_null(strstr(said, "code"));
    assert_string_equal(ran, "");
    assert_int_equal(ask("POST", "/api/bulk/start", nothing,
                         "{\"verb\":\"dead\",\"action\":\"discard\",\"all\":true,\"type\":[]}",
                         &said),
                     400);
    assert_string_equal(ran, "");
    assert_int_equal(ask("POST", "/api/dead/discard", nothing, "{\"all\":true,\"arg\":[]}", &said),
                     400);
    assert_string_equal(ran, "");
}

/* ---- Sagas ------------------------------------------------------------------------ */

/* The prefix is one of the words that are stored: a run of the action has no console around it. */
TEST(a_bulk_action_on_the_letters_of_a_saga_has_the_prefix)
{
    const char *said;
    ending = (pawl__child_result){.exit_code = 0};
    assert_int_equal(ask("POST", "/api/bulk/start", nothing,
                         "{\"verb\":\"dead\",\"action\":\"retry\",\"saga\":\"Order/o-1\"}", &said),
                     200);
    assert_non_null(strstr(ran, "-- dead retry --saga=Order/o-1 --saga-prefix=orders_ "));
    assert_int_equal(ask("POST", "/api/bulk/start", nothing,
                         "{\"verb\":\"dead\",\"action\":\"retry\",\"type\":\"charge\"}", &said),
                     200);
    assert_null(strstr(ran, "saga-prefix"));
}

/* ---- Bulk actions ------------------------------------------------------------------ */

TEST(a_bulk_action_that_is_begun_here_runs_without_a_look)
{
    const char *said;
    ending =
        (pawl__child_result){.exit_code = 0, .out = PAWL_TEXT("{\"id\":\"b-1\",\"total\":3}\n")};
    run_id[0] = '\0';
    assert_int_equal(ask("POST", "/api/bulk/start", nothing,
                         "{\"verb\":\"dead\",\"action\":\"retry\",\"all\":true}", &said),
                     200);
    assert_string_equal(run_id, "b-1");
    assert_true(has_all_time); /* all that match are counted */
    assert_int_equal(ask("POST", "/api/bulk/stop", nothing, "{\"arg\":\"b-1\"}", &said), 200);
    assert_false(has_all_time);
}

/* Looks for open actions and keeps the standard error. */
static void look(pawl__child_result result, char *said, int size)
{
    pawl__console console = {.prefix = "pawl_"};
    FILE         *file    = tmpfile();
    int           kept    = dup(STDERR_FILENO);
    assert_non_null(file);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    ending    = result;
    run_id[0] = '\0';
    begin_open(&console);
    await_bulks(&console);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    said[fread(said, 1, (size_t)size - 1, file)] = '\0';
    fclose(file);
}

TEST(a_look_for_bulk_actions_that_fails_is_told)
{
    char said[200];
    look((pawl__child_result){.exit_code = 4, .err = PAWL_TEXT("pawl: the store is away\n")}, said,
         sizeof said);
    assert_string_equal(said, "pawl: open bulk actions cannot be looked for: the store is away\n");
    look((pawl__child_result){.exit_code = 0, .out = PAWL_TEXT("{\"id\":\"b-2\"}\n")}, said,
         sizeof said);
    assert_string_equal(said, "");
    assert_string_equal(run_id, "b-2");
    assert_non_null(strstr(ran, "bulk list --open "));
}

TEST(a_bulk_action_that_fails_is_told)
{
    static const struct {
        int         exit_code;
        const char *err, *said;
    } rows[] = {
        {0, "", ""},
        {1, "no rights\n", "1: no rights\n"},
        {5, "stopped\n", "5: stopped\n"},
        {-1, "", "-1: \n"}, /* killed */
        {-1, "3 of", "-1: 3 of\n"},
    };
    const pawl__child_result open = {.exit_code = 0, .out = PAWL_TEXT("{\"id\":\"b-3\"}\n")},
                             well = run_ending;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char said[200];
        run_ending.exit_code = rows[i].exit_code;
        run_ending.err       = pawl_text_of(rows[i].err);
        look(open, said, sizeof said);
        const char *begin = "bulk action b-3 ended with exit code ";
        assert_string_equal(said[0] != '\0' ? said + strlen(begin) : said, rows[i].said);
    }
    run_ending = well;
}

/* ---- A verb that takes too long ------------------------------------------------- */

/* A verb that was asked to end says what it did; of one that had to be killed nobody knows. */
TEST(a_change_that_was_late_says_how_far_it_came)
{
    const char *said;
    ending = (pawl__child_result){.exit_code = 5,
                                  .is_late   = true,
                                  .out       = PAWL_TEXT("{\"discarded\":3}\n"),
                                  .err       = PAWL_TEXT("pawl: after 3 of 9: interrupted\n")};
    assert_int_equal(ask("POST", "/api/dead/discard", nothing, "{\"all\":true}", &said), 200);
    assert_non_null(strstr(said, "\"items\":[{\"discarded\":3}]"));
    assert_non_null(strstr(said, "pawl: after 3 of 9: interrupted"));
    ending.exit_code = -1;
    assert_int_equal(ask("POST", "/api/dead/discard", nothing, "{\"all\":true}", &said), 504);
    assert_non_null(strstr(said, "it took too long; what was committed stays"));
}

/* A count changes nothing, in a GET and in a POST. */
TEST(a_count_that_was_late_changed_nothing)
{
    const char *said;
    ending =
        (pawl__child_result){.exit_code = 5,
                             .is_late   = true,
                             .err = PAWL_TEXT("pawl: interrupted; what was committed stays\n")};
    assert_int_equal(ask("GET", "/api/dead/retry", (pawl_serve_pair){"dry-run", "true"}, "", &said),
                     504);
    assert_string_equal(said, "{\"error\":\"it took too long; nothing was changed\"}");
    assert_int_equal(
        ask("POST", "/api/dead/retry", nothing, "{\"all\":true,\"dry-run\":true}", &said), 504);
    assert_string_equal(said, "{\"error\":\"it took too long; nothing was changed\"}");
    assert_int_equal(
        ask("POST", "/api/dead/retry", nothing, "{\"all\":true,\"dry-run\":false}", &said), 503);
}

/* The store was busy or full: nothing was done, and it may be asked for again. */
TEST(a_change_that_did_nothing_is_no_success)
{
    const char *said;
    ending = (pawl__child_result){.exit_code = 5,
                                  .err = PAWL_TEXT("a note\npawl: queue q: the store is busy\n")};
    assert_int_equal(ask("POST", "/api/queue/pause", nothing, "{\"arg\":\"q\"}", &said), 503);
    assert_string_equal(said, "{\"error\":\"queue q: the store is busy\"}");
}

/* A list without a row would say that there is none. */
TEST(a_list_that_found_nothing_in_its_time_is_no_list)
{
    const char *said;
    ending = (pawl__child_result){.exit_code = 5, .err = PAWL_TEXT("pawl: it took too long\n")};
    assert_int_equal(ask("GET", "/api/why", (pawl_serve_pair){"arg", "m-1"}, "", &said), 503);
    assert_string_equal(said, "{\"error\":\"it took too long\"}");
    ending.out = PAWL_TEXT("{\"message_id\":\"m-1\"}\n");
    assert_int_equal(ask("GET", "/api/dead/list", nothing, "", &said), 200);
    assert_non_null(strstr(said, "\"notes\":[\"pawl: it took too long\"]"));
    ending.exit_code = 0;
    ending.out       = PAWL_TEXT("");
    assert_int_equal(ask("GET", "/api/dead/list", nothing, "", &said), 200);
}

/* Doctor waits for three answers of a store that hangs, in the time that a verb has. */
TEST(each_verb_has_a_deadline_for_the_store)
{
    const char *said;
    ending = (pawl__child_result){.exit_code = 0};
    assert_int_equal(ask("GET", "/api/doctor", nothing, "", &said), 200);
    assert_non_null(strstr(ran, " --deadline=4s "));
    assert_int_equal(ask("GET", "/api/stats", nothing, "", &said), 200);
    assert_non_null(strstr(ran, " --deadline=10s "));
}

/* Half of the rows would look like all of them. */
TEST(a_list_that_was_late_is_no_list)
{
    const char *said;
    ending = (pawl__child_result){
        .exit_code = 5, .is_late = true, .out = PAWL_TEXT("{\"message_id\":\"m-1\"}\n")};
    assert_int_equal(ask("GET", "/api/dead/list", nothing, "", &said), 504);
    assert_non_null(strstr(said, "ask for less"));
    ending.out = PAWL_TEXT("");
    assert_int_equal(ask("GET", "/api/dead/list", nothing, "", &said), 504);
    ending.out     = PAWL_TEXT("{\"message_id\":\"m-1\"}\n");
    ending.is_late = false; /* stopped by somebody */
    assert_int_equal(ask("GET", "/api/dead/list", nothing, "", &said), 200);
}

/* ---- Live figures ------------------------------------------------------------------ */

TEST(figures_that_take_long_are_asked_for_less_often)
{
    assert_int_equal(wait_after(0, true), 2);
    assert_int_equal(wait_after(199, true), 2);
    assert_int_equal(wait_after(1200, true), 12);
    assert_int_equal(wait_after(5000, true), 30);
    assert_int_equal(wait_after(10000, false), 5); /* so that a recovery is seen */
}

/* ---- Words of a shell ------------------------------------------------------------- */

static const char *const ids[] = {
    "m-1",          "it's",     "'",  "two words", "$(touch x)", "`touch x`", "$HOME",
    "a;b",          "a\\",      "\"", "a\nb",      "*",          "~",         "#",
    "a&b|c>d",      "\xC3\xA9", "''", "!!",        "{a,b}",      "-x",        "--all",
    "Order/o-1:2_", ""};

/* The word, read by a shell, is the text again. */
static void check_word(pawl_text word, const char *text)
{
    char  said[100] = "";
    FILE *shell     = NULL;
    shell           = popen(test_text("printf '[%%s]' %.*s", PAWL_TEXT_ARGS(word)), "r");
    assert_non_null(shell);
    size_t size = fread(said, 1, sizeof said - 1, shell);
    assert_int_equal(pclose(shell), 0);
    assert_int_equal(size, strlen(text) + 2);
    assert_memory_equal(said + 1, text, size - 2);
}

TEST(a_shell_reads_an_id_as_one_word)
{
    pawl_arena *arena = test_arena();
    for (size_t i = 0; i < COUNT(ids); i++) {
        pawl_text text = pawl_text_of(ids[i]);
        check_word(pawl__shell_quoted(text, arena), ids[i]);
        check_word(pawl__shell_word(text, arena), ids[i]);
    }
    pawl_text quoted = pawl__shell_quoted(PAWL_TEXT("it's"), arena);
    assert_int_equal(quoted.data[quoted.size], '\0');
    assert_true(pawl_text_equal(pawl__shell_word(PAWL_TEXT("Order/o-1:2.x"), arena),
                                PAWL_TEXT("Order/o-1:2.x")));
}

/* An argument that pawl would read as an option stands behind "--", with those behind it. */
TEST(an_id_is_no_option_of_a_command)
{
    pawl_arena                     *arena     = test_arena();
    static const pawl__store_fields at        = {.store = "sqlite:it's.db"};
    static const char *const        rows[][2] = {
               {"pawl why m-1", "pawl why m-1"},
               {"pawl why '-x'", "pawl why -- '-x'"},
               {"pawl dead retry '--all' --endpoint b", "pawl dead retry --endpoint b -- '--all'"},
               {"pawl dead retry 'a -b' --endpoint b", "pawl dead retry 'a -b' --endpoint b"},
               {"pawl dead retry m-1 --endpoint '-b'", "pawl dead retry m-1 --endpoint '-b'"},
               {"pawl events show '-s' 3", "pawl events show -- '-s' 3"},
               {"pawl queue peek '-q' --id 'it'\\''s -x' --reveal",
                "pawl queue peek --id 'it'\\''s -x' --reveal -- '-q'"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *made = pawl__shell_command(pawl_text_of(rows[i][0]), arena).data;
        assert_string_equal(made, rows[i][1]);
    }
    pawl_text dash = pawl__shell_word(PAWL_TEXT("--all"), arena);
    assert_true(pawl_text_equal(dash, PAWL_TEXT("'--all'")));
    assert_string_equal(pawl__shell_argument(PAWL_TEXT("--all"), arena).data, "-- '--all'");
    assert_string_equal(pawl__shell_argument(PAWL_TEXT("m-1"), arena).data, "'m-1'");
    assert_string_equal(
        pawl__store_command(&at, PAWL_TEXT("pawl dead retry '--all' --endpoint b"), arena).data,
        "pawl dead retry --endpoint b --store 'sqlite:it'\\''s.db' -- '--all'");
    assert_string_equal(pawl__store_command(&at, PAWL_TEXT("wait"), arena).data, "wait");
}
