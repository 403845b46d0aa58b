/* test_engine_sql_lost.c - own SQL that ends the session of its own store: the run counts as a failed attempt, however
 * quick it was, and other messages go on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/gate.h"
#include "support/native.h"

#define ON_SQL_SERVERS(function, parameter)                                                     \
    TESTS(function, parameter, STORE_ROW(function, "postgres"), STORE_ROW(function, "mariadb"), \
          STORE_ROW(function, "mysql"))

#define LIVES 3 /* runs of one handler that has to be counted */

RECORD(hit, (TEXT, answer));
PAWL_RECORD(quiet, A_NUMBER);
PAWL_RECORD(other, A_NUMBER);

static struct {
    world       it;
    const char *url;
    int         hits, quiets, others; /* runs */
    char        session[40];          /* of the worker, as its last run of own SQL saw it */
    bool        is_lost_at_commit;
    const char *sql; /* of on_hit; NULL: it ends its session */
} t;

static bool is_postgres(void)
{
    return strncmp(t.url, "postgres", 8) == 0;
}

static const char *of_session(const char *postgres, const char *mysql)
{
    static char sql[200];
    (void)snprintf(sql, sizeof sql, "%s(%s)", is_postgres() ? postgres : mysql, t.session);
    return sql;
}

static const char *say_kill(void)
{
    return of_session("select pg_terminate_backend", "kill ");
}

/* By another session; afterwards this one is gone. */
static void end_session(void)
{
    native_exec(t.url, say_kill());
    while (native_number(t.url, of_session("select count(*) from pg_stat_activity where pid = ",
                                           "select count(*) from information_schema.processlist "
                                           "where id = ")) != 0)
        ;
}

static void see_session(pawl_context *ctx)
{
    assert_true(native_try(t.url, native_of(ctx),
                           is_postgres() ? "select pg_backend_pid()" : "select connection_id()",
                           t.session, sizeof t.session));
}

static pawl_code on_hit(pawl_context *ctx, const hit *message)
{
    char text[200];
    t.hits++;
    see_session(ctx);
    (void)native_try(t.url, native_of(ctx), t.sql != NULL ? t.sql : say_kill(), text, sizeof text);
    if (pawl_text_equal(message->answer, PAWL_TEXT("stop"))) {
        pawl_endpoint_stop(t.it.endpoint);
        return PAWL_RETRY;
    }
    if (pawl_text_equal(message->answer, PAWL_TEXT("reject")))
        return pawl_fail(ctx, PAWL_REJECT, "a bad hit");
    if (pawl_text_equal(message->answer, PAWL_TEXT("retry")))
        return pawl_fail(ctx, PAWL_RETRY, "a hit");
    return pawl_text_equal(message->answer, PAWL_TEXT("discard")) ? PAWL_DISCARD : PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_hit, hit);

/* Declares own SQL, and runs it with number 0 alone; with 1 somebody else ends its session. */
static pawl_code on_quiet(pawl_context *ctx, const quiet *message)
{
    static const fault_plan lost = {
        .kind = FAULT_BEFORE, .op = fault_op_commit, .n = 1, .code = PAWL_ELOST};
    t.quiets++;
    if (message->number == 0)
        see_session(ctx);
    if (message->number == 1 && t.quiets == 1)
        end_session();
    if (t.is_lost_at_commit)
        fault_plan_set(&lost);
    t.is_lost_at_commit = false;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_quiet, quiet);

static pawl_code on_other(pawl_context *ctx, const other *message)
{
    t.others++;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_other, other);

static const pawl_endpoint_spec hits = {
    .name     = "hits",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_hit), .own_sql = true},
                        {.handle = PAWL_HANDLE(on_quiet), .own_sql = true},
                        {.handle = PAWL_HANDLE(on_other)})};
static const pawl_application application = APPLICATION("hits", &hits);

static void end(void *context)
{
    fault_plan_set(NULL);
    world_close(&t.it);
}

static void begin(const char *url)
{
    const pawl_endpoint_options options = {.delayed_retries = LIVES - 1,
                                           .retry_delay     = PAWL_SECONDS(10)};
    memset(&t, 0, sizeof t);
    t.url = url;
    fault_plan_set(NULL);
    gate_listen();
    fault_bind("hits", url);
    world_open(&t.it, "fault:hits", &application, NULL, &options);
    test_later(end, &t);
}

/* Steps until nothing is due, over the losses. */
static void drain(void)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_step  step  = PAWL_STEP_INIT;
    for (int i = 0; i < 60 && !step.is_idle; i++) {
        pawl_code code = pawl_endpoint_step(t.it.endpoint, &step, &error);
        if (code != PAWL_ELOST)
            world_ok(code, &error);
        step.is_idle = step.is_idle && code == PAWL_OK;
    }
    assert_true(step.is_idle);
}

/* ---- What follows -------------------------------------------------------------------- */

static void expect_counted(const char *answer)
{
    int letters = (int)world_dead(&t.it).count;
    gate_listen(); /* which keeps some lines */
    t.hits = t.others = 0;
    world_post(&t.it, NULL, PAWL_MESSAGE(hit, .answer = pawl_text_of(answer)));
    world_post(&t.it, NULL, PAWL_MESSAGE(other, .number = 1));
    for (int run = 1; run <= LIVES; run++) {
        drain();
        assert_int_equal(t.hits, run);
        assert_int_equal(t.others, 1);
        pawl_queue_rows left = world_queue(&t.it, "hits");
        if (run == LIVES)
            break;
        assert_int_equal(left.count, 1);
        assert_int_equal(left.items[0].attempts, run);
        assert_true(world_says(left.items[0].history, "ELOST"));
        assert_true(world_says(left.items[0].history, "ended while own SQL of a handler ran"));
        assert_int_equal(gate_said("is a dead letter"), 0);
        pawl_clock_set(t.it.business, pawl_clock_now(t.it.business) + PAWL_SECONDS(25 * run));
    }
    assert_int_equal(world_queue(&t.it, "hits").count, 0);
    assert_int_equal(world_dead(&t.it).count, letters + 1);
    assert_int_equal(gate_said("is a dead letter"), 1);
}

ON_SQL_SERVERS(e26_own_sql_that_ends_its_session_counts_as_an_attempt, const char *url)
{
    begin(url);
    expect_counted("reject");
    expect_counted("retry");
    expect_counted("discard");
    expect_counted("ok");
    assert_true(world_says(world_dead(&t.it).items[0].error, "it answered REJECT: a bad hit"));
}

/* The session is well, but pawl gives it up: behind the end of the handler's transaction the encoding stays. */
TESTS(e26_own_sql_that_makes_its_session_useless_counts_as_an_attempt, const char *url,
      STORE_ROW(e26_own_sql_that_makes_its_session_useless_counts_as_an_attempt, "postgres"))
{
    begin(url);
    t.sql = "rollback; set client_encoding = 'LATIN1'";
    expect_counted("reject");
    expect_counted("retry");
    expect_counted("discard");
    assert_true(world_says(world_dead(&t.it).items[0].error, "it answered REJECT: a bad hit"));
}

/* A server that is restarted, or an operator, ended it. */
ON_SQL_SERVERS(e26_a_session_that_ends_beside_own_sql_counts_nothing, const char *url)
{
    begin(url);
    world_post(&t.it, NULL, PAWL_MESSAGE(quiet, .number = 0));
    drain();
    t.quiets = 0;
    world_post(&t.it, NULL, PAWL_MESSAGE(quiet, .number = 1));
    drain();
    assert_int_equal(t.quiets, 2);
    t.quiets            = 0;
    t.is_lost_at_commit = true;
    world_post(&t.it, NULL, PAWL_MESSAGE(quiet, .number = 0));
    drain();
    assert_int_equal(t.quiets, 2);
    assert_int_equal(world_queue(&t.it, "hits").count, 0);
    assert_int_equal(world_dead(&t.it).count, 0);
    assert_int_equal(gate_said("counts as a failed attempt"), 0);
}

/* A stop takes a failed run back. */
ON_SQL_SERVERS(e26_own_sql_that_ends_its_session_at_a_stop_counts_nothing, const char *url)
{
    pawl_step step = PAWL_STEP_INIT;
    begin(url);
    world_post(&t.it, NULL, PAWL_MESSAGE(hit, .answer = PAWL_TEXT("stop")));
    (void)pawl_endpoint_step(t.it.endpoint, &step, NULL);
    assert_int_equal(t.hits, 1);
    assert_int_equal(gate_said("counts as a failed attempt"), 0);
}
