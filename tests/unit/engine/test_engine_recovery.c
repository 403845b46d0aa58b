/* test_engine_recovery.c - recoverability as it is declared: by error code, by type, by both. E37.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/native.h"

RECORD(charge, (TEXT, how));
RECORD(probe, (TEXT, how));
RECORD(sql_job, (TEXT, how));
RECORD(visit_state, (TEXT, name), (INT32, count));
PAWL_RECORD(visit, A_NAME);

static pawl_code  answer;
static int        runs;
static test_lines lines; /* of the log */
static world     *around;
static int64_t    retry_delay; /* µs */
static int        moves;       /* so often another worker writes the saga while its handler runs */

static const pawl_application application;

static pawl_code end_run(pawl_context *ctx)
{
    runs++;
    if (answer == PAWL_RETRY_AFTER)
        return pawl_retry_after(ctx, retry_delay);
    return answer == PAWL_OK ? PAWL_OK : pawl_fail(ctx, answer, "the bank is closed");
}

static pawl_code on_charge(pawl_context *ctx, const charge *message)
{
    return end_run(ctx);
}
PAWL_MESSAGE_HANDLER(on_charge, charge);

static pawl_code on_probe(pawl_context *ctx, const probe *message)
{
    return end_run(ctx);
}
PAWL_MESSAGE_HANDLER(on_probe, probe);

static const char *here; /* the store, for messages that name SQL to run */

static pawl_code on_sql_job(pawl_context *ctx, const sql_job *message)
{
    pawl_code code =
        here != NULL && message->how.size != 0 ? native_in(ctx, here, message->how.data) : PAWL_OK;
    return code == PAWL_OK ? end_run(ctx) : code;
}
PAWL_MESSAGE_HANDLER(on_sql_job, sql_job);

static pawl_code on_visit(pawl_context *ctx, visit_state *state, const visit *message)
{
    runs++;
    state->count++;
    if (moves > 0 && moves-- > 0)
        world_overwrite(around->store, around->arena, &application, "n", NULL);
    return pawl_timeout(ctx, "leave", PAWL_HOURS(1));
}
PAWL_HANDLER(on_visit, visit_state, visit);

static pawl_code on_leave(pawl_context *ctx, visit_state *state)
{
    return end_run(ctx);
}
PAWL_TIMEOUT_HANDLER(on_leave, visit_state);

static const pawl_saga visit_saga = SAGA_OF(
    "Visit", visit_state, "name", {.handle = PAWL_HANDLE(on_visit), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_leave), .timeout = "leave"});
static const pawl_application application = ONE_ENDPOINT(
    "recovery", .name = "office", .sagas = PAWL_SAGAS(&visit_saga),
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_charge)}, {.handle = PAWL_HANDLE(on_probe)}));
static const pawl_endpoint_spec sql_office = {
    .name = "office", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_sql_job), .own_sql = true})};
static const pawl_application sql_application = APPLICATION("recovery", &sql_office);

static world *open_with(const char *url, const pawl_application *used, pawl_code code,
                        const pawl_recovery *rows)
{
    const pawl_endpoint_options options = {.immediate_retries = 1,
                                           .delayed_retries   = 2,
                                           .retry_delay       = PAWL_SECONDS(10),
                                           .recovery          = rows};
    retry_delay                         = PAWL_SECONDS(3);
    runs                                = 0;
    answer                              = code;
    return world_begin(url, used, NULL, &options);
}

static void post(world *it, const char *type, const char *id)
{
    world_post_json(it, id, type, "{\"how\":\"x\"}");
}

/* Posts the message and lets an hour pass often enough for all its retries; returns how often its
 * handler ran. */
static int runs_of(world *it, const char *type, const char *id)
{
    runs = 0;
    post(it, type, id);
    world_drain(it);
    for (int i = 0; i < 12 && world_queue(it, "office").count > 0; i++)
        world_go(it, PAWL_HOURS(1));
    assert_int_equal(world_queue(it, "office").count, 0);
    return runs;
}

/* ---- Which row counts ---------------------------------------------------------- */

ON_ALL_STORES(e37_the_first_row_of_code_and_type_counts, const char *url)
{
    world *it = open_with(
        url, &application, PAWL_EUNREACHABLE,
        PAWL_RECOVERY({.code = PAWL_EUNREACHABLE, .type = "charge", .immediate = -1, .delayed = 4},
                      {.code = PAWL_EUNREACHABLE, .immediate = 3, .delayed = -1},
                      {.type = "probe", .immediate = -1, .delayed = -1}));
    assert_int_equal(runs_of(it, "charge", "a"), 5);
    assert_int_equal(runs_of(it, "probe", "b"), 4);
    answer = PAWL_EFULL; /* no row for charge: as the endpoint's numbers say */
    assert_int_equal(runs_of(it, "charge", "c"), 6);
    assert_int_equal(runs_of(it, "probe", "d"), 1);
    assert_int_equal(world_dead(it).count, 4);
}

/* A row that leaves both numbers out only keeps others from the failure. */
ON_ALL_STORES(e37_what_a_row_leaves_out_is_as_without_it, const char *url)
{
    world *it =
        open_with(url, &application, PAWL_EUNREACHABLE,
                  PAWL_RECOVERY({.type = "charge"},
                                {.code = PAWL_EUNREACHABLE, .immediate = -1, .delayed = -1}));
    assert_int_equal(runs_of(it, "charge", "a"), 6);
    assert_int_equal(runs_of(it, "probe", "b"), 1);
}

/* Codes that are hopeless by themselves get the retries that their row has, and no others. */
ON_ALL_STORES(e37_hopeless_codes_are_retried_where_a_row_says_so, const char *url)
{
    world *it = open_with(url, &application, PAWL_EINVAL,
                          PAWL_RECOVERY({.code = PAWL_EINVAL, .type = "charge", .delayed = 1},
                                        {.code = PAWL_EINVAL, .type = "probe", .immediate = 2},
                                        {.code = PAWL_EBUG, .immediate = -1}));
    assert_int_equal(runs_of(it, "charge", "a"), 2);
    assert_int_equal(runs_of(it, "probe", "b"), 3);
    answer = PAWL_REJECT;
    assert_int_equal(runs_of(it, "charge", "c"), 1);
}

/* ---- Delays ------------------------------------------------------------------------ */

ON_ALL_STORES(e37_a_row_has_its_own_delay_doubling_up_to_its_limit, const char *url)
{
    const int64_t delays[] = {PAWL_MINUTES(1), PAWL_MINUTES(2), PAWL_SECONDS(150),
                              PAWL_SECONDS(150)};
    world        *it       = open_with(url, &application, PAWL_EUNREACHABLE,
                                       PAWL_RECOVERY({.code      = PAWL_EUNREACHABLE,
                                                      .immediate = -1,
                                                      .delayed   = 4,
                                                      .delay     = PAWL_MINUTES(1),
                                                      .delay_max = PAWL_SECONDS(150)}));
    post(it, "charge", "a");
    world_drain(it);
    for (size_t i = 0; i < COUNT(delays); i++) {
        pawl_queue_rows rows = world_queue(it, "office");
        assert_int_equal(rows.count, 1);
        int64_t delay = rows.items[0].due - world_now(it);
        assert_in_range(delay, delays[i] / 10 * 9, delays[i] / 10 * 11);
        assert_int_equal(runs, i + 1);
        world_go(it, delay);
    }
    assert_int_equal(world_dead(it).count, 1);
}

/* The endpoint's limit of an hour is shorter than the row's delay, which holds each time. */
ON_ALL_STORES(e37_a_delay_above_the_endpoints_limit_does_not_double, const char *url)
{
    world *it = open_with(url, &application, PAWL_EUNREACHABLE,
                          PAWL_RECOVERY({.immediate = -1, .delayed = 2, .delay = PAWL_HOURS(3)}));
    post(it, "charge", "a");
    world_drain(it);
    for (int i = 0; i < 2; i++) {
        int64_t delay = world_queue(it, "office").items[0].due - world_now(it);
        assert_in_range(delay, PAWL_HOURS(3) / 10 * 9, PAWL_HOURS(3) / 10 * 11);
        world_go(it, delay);
    }
    assert_int_equal(world_dead(it).count, 1);
}

/* The handler's own delay holds; how often, says the row. */
ON_ALL_STORES(e37_retry_after_keeps_its_delay, const char *url)
{
    world *it = open_with(url, &application, PAWL_RETRY_AFTER,
                          PAWL_RECOVERY({.code = PAWL_RETRY_AFTER, .delayed = 3},
                                        {.immediate = 5, .delay = PAWL_HOURS(1)}));
    post(it, "charge", "a");
    world_drain(it);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(world_queue(it, "office").items[0].due - world_now(it), PAWL_SECONDS(3));
        world_go(it, PAWL_SECONDS(3));
    }
    assert_int_equal(runs, 4);
    assert_int_equal(world_dead(it).count, 1);
}

/* Immediate retries of a row for all errors are not for a handler that names a delay. */
ON_ALL_STORES(e37_retry_after_is_not_tried_at_once, const char *url)
{
    world *it = open_with(url, &application, PAWL_RETRY_AFTER,
                          PAWL_RECOVERY({.immediate = 5, .delay = PAWL_HOURS(1)}));
    post(it, "charge", "a");
    world_drain(it);
    assert_int_equal(runs, 1);
    assert_int_equal(world_queue(it, "office").items[0].due - world_now(it), PAWL_SECONDS(3));
}

ON_ALL_STORES(e37_retry_after_less_than_nothing_is_at_once, const char *url)
{
    world *it   = open_with(url, &application, PAWL_RETRY_AFTER,
                            PAWL_RECOVERY({.code = PAWL_RETRY_AFTER, .delayed = 3}));
    retry_delay = -1;
    post(it, "charge", "a");
    world_drain(it);
    assert_int_equal(runs, 4);
    assert_int_equal(world_dead(it).count, 1);
}

/* ---- The end ------------------------------------------------------------------------- */

ON_ALL_STORES(e37_discarded_instead_of_dead, const char *url)
{
    world *it =
        open_with(url, &application, PAWL_REJECT,
                  PAWL_RECOVERY({.code = PAWL_REJECT, .then = PAWL_THEN_DISCARD},
                                {.type = "probe", .delayed = 1, .then = PAWL_THEN_DISCARD}));
    test_listen(&lines, PAWL_LOG_INFO, NULL);
    assert_int_equal(runs_of(it, "charge", "a"), 1);
    assert_non_null(strstr(lines.text,
                           "message a of type charge in queue office is discarded after 1 "
                           "attempt: REJECT: the bank is closed\n"));
    answer = PAWL_EFULL;
    assert_int_equal(runs_of(it, "probe", "b"), 4);
    assert_non_null(strstr(lines.text,
                           "message b of type probe in queue office is discarded after 2 "
                           "attempts: EFULL: "));
    assert_int_equal(world_dead(it).count, 0);
    /* Both are known: a copy that comes later is dropped. */
    assert_true(world_is_marked(it, "a"));
    assert_true(world_is_marked(it, "b"));
    assert_int_equal(runs_of(it, "probe", "b"), 0);
    world_quiet();
}

/* A failure before the handler has a code, too. */
ON_ALL_STORES(e37_a_body_that_cannot_be_decoded_is_discarded, const char *url)
{
    world *it = open_with(
        url, &application, PAWL_OK,
        PAWL_RECOVERY({.code = PAWL_EDECODE, .type = "charge", .then = PAWL_THEN_DISCARD}));
    world_post_json(it, "a", "charge", "{\"how\":7}");
    world_post_json(it, "b", "probe", "{\"how\":7}");
    world_drain(it);
    assert_string_equal(world_dead_letter(it).message.id.data, "b");
    assert_true(world_is_marked(it, "a"));
}

/* ---- Traces ----------------------------------------------------------------------------- */

ON_ALL_STORES(e37_each_delayed_retry_is_a_line_and_stays_in_the_history, const char *url)
{
    char   due[PAWL_TIME_TEXT_SIZE + 1], line[300];
    world *it =
        open_with(url, &application, PAWL_EUNREACHABLE,
                  PAWL_RECOVERY({.code = PAWL_EUNREACHABLE, .immediate = -1, .delayed = 2}));
    test_listen(&lines, PAWL_LOG_INFO, NULL);
    post(it, "charge", "a");
    world_drain(it);
    for (int i = 1; i <= 2; i++) {
        pawl_queue_rows rows = world_queue(it, "office");
        pawl_time_format(rows.items[0].due, due);
        snprintf(line, sizeof line,
                 "message a of type charge in queue office failed, attempt %d, and runs again at "
                 "%s: EUNREACHABLE: the bank is closed\n",
                 i, due);
        if (strstr(lines.text, line) == NULL)
            fail_msg("'%s' is not in '%s'", line, lines.text);
        assert_true(world_says(rows.items[0].history, test_text("\"attempt\":%d", i)));
        assert_true(world_says(rows.items[0].history, "EUNREACHABLE"));
        world_go(it, rows.items[0].due - world_now(it));
    }
    assert_int_equal(world_dead(it).count, 1);
    assert_null(strstr(lines.text, "attempt 3, and runs again"));
    world_quiet();
}

/* ---- Timeouts, own SQL ---------------------------------------------------------- */

ON_ALL_STORES(e37_a_timeout_is_named_by_its_name, const char *url)
{
    world *it = open_with(
        url, &application, PAWL_EUNREACHABLE,
        PAWL_RECOVERY({.type = "leave", .immediate = -1, .delayed = 1, .then = PAWL_THEN_DISCARD},
                      {.immediate = 9}));
    test_listen(&lines, PAWL_LOG_INFO, NULL);
    world_post(it, "v", PAWL_MESSAGE(visit, .name = PAWL_TEXT("n")));
    world_drain(it);
    runs = 0;
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(runs, 1);
    assert_non_null(
        strstr(lines.text, "of type leave in queue office failed, attempt 1, and runs again"));
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(runs, 2);
    assert_int_equal(world_timeouts(it).count, 0);
    assert_int_equal(world_dead(it).count, 0);
    world_quiet();
}

/* Each immediate retry of a handler with its own SQL has a transaction of its own. */
ON_SQL_STORES(e37_with_own_sql_the_same, const char *url)
{
    if (strncmp(url, "memory:", 7) == 0)
        return; /* no SQL there */
    world *it = open_with(url, &sql_application, PAWL_EUNREACHABLE,
                          PAWL_RECOVERY({.code = PAWL_EUNREACHABLE, .immediate = 2, .delayed = -1},
                                        {.code = PAWL_EINVAL, .immediate = 1}));
    assert_int_equal(runs_of(it, "sql_job", "a"), 3);
    answer = PAWL_EINVAL;
    assert_int_equal(runs_of(it, "sql_job", "b"), 2);
    answer = PAWL_EFULL;
    assert_int_equal(runs_of(it, "sql_job", "c"), 6);
}

/* ---- Conflicts ---------------------------------------------------------------------------- */

static void visit_amid(world *it, const char *id, int conflicts)
{
    moves = conflicts;
    runs  = 0;
    world_post(it, id, PAWL_MESSAGE(visit, .name = PAWL_TEXT("n")));
    world_drain(it);
    moves = 0;
}

static world *open_for_conflicts(const char *url)
{
    const pawl_endpoint_options options = {
        .conflict_retries = 2,
        .recovery         = PAWL_RECOVERY(
                    {.code = PAWL_ECONFLICT, .immediate = -1, .delayed = -1, .then = PAWL_THEN_DISCARD},
                    {.immediate = -1, .delayed = -1})};
    around = world_begin(url, &application, NULL, &options);
    visit_amid(around, "begin", 0);
    return around;
}

/* On a server the row is locked from the third conflict on, and the other worker, a step
     * in the same thread, would wait for it. */
ON_STORES(e37_conflicts_are_reloaded_whatever_the_rows_say, const char *url)
{
    int64_t version = 0;
    world  *it      = open_for_conflicts(url);
    visit_amid(it, "a", 3);
    assert_int_equal(runs, 4);
    world_json_equal(it, world_saga_text(it, "Visit", "n", &version),
                     "{\"name\":\"n\",\"count\":2}");
    assert_int_equal(version, 5);
}

/* All reloads were in vain: then the row of ECONFLICT counts. */
ON_STORES(e37_after_its_budget_a_conflict_has_its_row, const char *url)
{
    int64_t version = 0;
    world  *it      = open_for_conflicts(url);
    visit_amid(it, "a", 1000);
    assert_int_equal(runs, 4);
    world_json_equal(it, world_saga_text(it, "Visit", "n", &version),
                     "{\"name\":\"n\",\"count\":1}");
    assert_int_equal(version, 5);
    assert_true(world_is_marked(it, "a"));
    assert_int_equal(world_dead(it).count, 0);
}

/* A message whose SQL takes pawl's right to write away: it fails, and the one behind it does not. */
static void forbid(world *it, const char *sql, size_t number)
{
    const char *id = test_text("%zu", number);
    world_post(it, NULL, PAWL_MESSAGE(sql_job, .how = pawl_text_of(sql)));
    world_post(it, id, PAWL_MESSAGE(sql_job, .how = PAWL_TEXT("")));
    world_drain(it);
    assert_true(world_is_marked(it, id));
    assert_int_equal(world_queue(it, "office").items[0].attempts, 1);
    world_go(it, PAWL_DAYS(1));
    assert_int_equal(world_dead(it).count, number);
    assert_true(
        world_says(world_dead(it).items[0].error, "the transaction of the handler's own SQL"));
}

ON_SQL_STORES(e24_sql_that_keeps_pawl_from_writing_fails_its_message, const char *url)
{
    world *it = open_with(url, &sql_application, PAWL_OK, NULL);
    here      = url;
    if (strncmp(url, "sqlite", 6) == 0) {
        forbid(it, "pragma query_only = on", 1);
    } else if (strncmp(url, "postgres", 8) == 0) {
        /* The end of the savepoint gives the right to write back. */
        world_post(it, "r", PAWL_MESSAGE(sql_job, .how = PAWL_TEXT("set transaction read only")));
        world_drain(it);
        assert_true(world_is_marked(it, "r"));
        forbid(it, "set local role pg_monitor", 1);
    } else { /* of the next transaction: another session has that then */
        world_post(it, NULL,
                   PAWL_MESSAGE(sql_job, .how = PAWL_TEXT("set session transaction read only")));
        world_post(it, "c", PAWL_MESSAGE(sql_job, .how = PAWL_TEXT("")));
        assert_int_equal(pawl_endpoint_drain(it->endpoint, NULL, world_error()), PAWL_EUNREACHABLE);
        world_drain(it);
        assert_true(world_is_marked(it, "c"));
    }
    here = NULL;
}
