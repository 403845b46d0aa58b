/* test_projection_postgres.c - projections where transactions commit in another order
 * than they insert: a late commit is not passed over, and holds up no others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#ifdef PAWL_HAVE_POSTGRES

#include "contract/postgres_fixture.h"
#include "pawl/process.h"
#include "support/thread.h"

#define WAIT_SECONDS 60

PAWL_RECORD(noted, A_NUMBER);

static world_log seen;

static pawl_code on_noted(pawl_context *ctx, const noted *event)
{
    const pawl_event_row *row = pawl_event_in_flight(ctx);
    world_note(&seen, "%.*s.%d", PAWL_TEXT_ARGS(row->stream), (int)row->version);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_noted, noted);

/* In the transaction that moves the position; some tries fail. */
static atomic_int tries;

static pawl_code on_counted(pawl_context *ctx, const noted *event)
{
    const pawl_event_row *row = pawl_event_in_flight(ctx);
    PGresult             *result =
        PQexec(pawl_postgres(ctx),
               test_text("insert into \"%s\".counted (stream, version, number, position) "
                         "values ('%.*s', %lld, %d, %lld)",
                         (const char *)pawl_user(ctx), PAWL_TEXT_ARGS(row->stream),
                         (long long)row->version, (int)event->number, (long long)row->position));
    bool is_ok = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (!is_ok)
        return pawl_fail(ctx, PAWL_REJECT, "%s", PQerrorMessage(pawl_postgres(ctx)));
    if (atomic_fetch_add(&tries, 1) % 97 == 13)
        return pawl_retry_after(ctx, PAWL_MILLISECONDS(1));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_counted, noted);

static const pawl_projection    names  = {.name = "names",
                                          .on   = PAWL_ON({.handle = PAWL_HANDLE(on_noted)})};
static const pawl_projection    counts = {.name    = "counts",
                                          .on      = PAWL_ON({.handle = PAWL_HANDLE(on_counted)}),
                                          .own_sql = true,
                                          .batch   = 20};
static const pawl_endpoint_spec plain  = {.name = "plain", .projections = PAWL_PROJECTIONS(&names)};
static const pawl_endpoint_spec counting    = {.name        = "counting",
                                               .projections = PAWL_PROJECTIONS(&counts)};
static const pawl_application   application = APPLICATION("projecting", &plain, &counting);

/* ---- Appending ------------------------------------------------------------------ */

static pawl_code append(pawl_store *store, const char *stream, int64_t version, int number)
{
    pawl_error  error = PAWL_ERROR_INIT;
    const char *json  = test_text("{\"number\":%d}", number);
    pawl_code   code  = pawl_store_commit(store,
                                          ONE_CHANGE(event_append, NOW, .stream = pawl_text_of(stream),
                                                     .version = version, .is_first = true,
                                                     .event = {.type           = TEXT("noted"),
                                                               .type_version   = 1,
                                                               .body           = pawl_text_of(json),
                                                               .message_id     = TEXT("cause"),
                                                               .correlation_id = TEXT("talk"),
                                                               .at             = NOW}),
                                          NULL, &error);
    if (code != PAWL_OK && code != PAWL_ECONFLICT)
        fail_msg("%s", error.text);
    return code;
}

/* In whatever transaction the session has open. */
static void append_raw(PGconn *pg, const char *stream, int version, int number)
{
    raw_run(pg,
            test_text(
                "insert into pawl_events (\"Stream\", \"Version\", \"Type\", \"TypeVersion\", "
                "\"MessageId\", \"CorrelationId\", \"CausationId\", \"At\", \"Headers\", \"Body\") "
                "values ('%s', %d, 'noted', 1, 'raw', 'talk', '', now(), '', '{\"number\":%d}')",
                stream, version, number));
}

static world *open_plain(fixture *p)
{
    world_forget(&seen);
    return world_begin(p->url, &application, "plain", NULL);
}

static void expect_seen(const char *text)
{
    assert_string_equal(seen.text, text);
    world_forget(&seen);
}

/* ---- Late commits ------------------------------------------------------------------ */

ON_FIXTURE(a_late_commit_is_projected_and_holds_up_nothing, fixture *p)
{
    world *it = open_plain(p);
    assert_int_equal(append(it->store, "A/1", 1, 1), PAWL_OK);
    raw_run(p->pg, "begin");
    append_raw(p->pg, "L/1", 1, 1);
    append_raw(p->pg, "L/1", 2, 2);
    assert_int_equal(append(it->store, "A/1", 2, 2), PAWL_OK);
    assert_int_equal(append(it->store, "B/1", 1, 3), PAWL_OK);
    assert_int_equal(world_drain(it).projected, 3);
    expect_seen("A/1.1 A/1.2 B/1.1 ");
    assert_int_equal(world_drain(it).projected, 0);
    raw_run(p->pg, "commit");
    assert_int_equal(append(it->store, "B/1", 2, 4), PAWL_OK);
    assert_int_equal(world_drain(it).projected, 3);
    expect_seen("L/1.1 L/1.2 B/1.2 ");
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_events as a join pawl_events "
                                       "as b on a.\"Seq\" < b.\"Seq\" and "
                                       "a.\"Position\" > b.\"Position\""),
                     2 * 2);
}

ON_FIXTURE(what_is_rolled_back_leaves_no_gap, fixture *p)
{
    world *it = open_plain(p);
    raw_run(p->pg, "begin");
    append_raw(p->pg, "L/1", 1, 1);
    assert_int_equal(append(it->store, "A/1", 1, 1), PAWL_OK);
    raw_run(p->pg, "rollback");
    assert_int_equal(append(it->store, "A/1", 2, 2), PAWL_OK);
    assert_int_equal(world_drain(it).projected, 2);
    expect_seen("A/1.1 A/1.2 ");
    assert_int_equal(raw_number(p->pg, "select max(\"Position\") from pawl_events"), 2);
}

/* More than one transaction's worth of positions. */
ON_FIXTURE(a_backlog_is_given_positions_in_one_go, fixture *p)
{
    world *it = open_plain(p);
    raw_run(p->pg, "insert into pawl_events (\"Stream\", \"Version\", \"Type\", \"TypeVersion\", "
                   "\"MessageId\", \"CorrelationId\", \"CausationId\", \"At\", \"Headers\", "
                   "\"Body\") select 'A/1', n, 'stranger', 1, 'raw', 'talk', '', now(), '', '{}' "
                   "from generate_series(1, 3500) as g (n)");
    assert_int_equal(append(it->store, "B/1", 1, 1), PAWL_OK);
    assert_int_equal(world_drain(it).projected, 3501);
    expect_seen("B/1.1 ");
    assert_int_equal(raw_number(p->pg, "select \"Position\" from pawl_checkpoints "
                                       "where \"Name\" = 'projection/names'"),
                     3501);
}

/* ---- All at once ---------------------------------------------------------------------- */

#define WRITERS 3
#define STREAMS 4
#define EVENTS 150 /* by each writer */

typedef struct writer {
    fixture    *p;
    pthread_t   thread;
    unsigned    seed;
    int         number;
    atomic_int *appended;
} writer;

static int64_t version_of(PGconn *pg, const char *stream)
{
    return raw_number(
        pg,
        test_text("select coalesce(max(\"Version\"), 0) from pawl_events where \"Stream\" = '%s'",
                  stream));
}

/* A transaction with a stream of its own that stays open for a while. */
static void append_late(PGconn *pg, const writer *self, int i, pawl_random *random)
{
    struct timespec moment = {0, (long)pawl_random_below(random, 20) * 1000000};
    const char     *stream = test_text("L%d/%d", self->number, i);
    raw_run(pg, "begin");
    append_raw(pg, stream, 1, i);
    nanosleep(&moment, NULL);
    if (pawl_random_below(random, 4) == 0) {
        raw_run(pg, "rollback");
        return;
    }
    raw_run(pg, "commit");
    atomic_fetch_add(self->appended, 1);
}

static void *write_events(void *argument)
{
    writer     *self  = argument;
    pawl_store *store = NULL;
    PGconn     *pg    = raw_open(self->p->schema);
    pawl_random random;
    pawl_random_seed(&random, self->seed);
    must(pawl_store_open(self->p->url, NULL, &store, world_error()));
    for (int i = 0; i < EVENTS; i++) {
        const char *stream = test_text("S/%d", (int)pawl_random_below(&random, STREAMS));
        if (pawl_random_below(&random, 5) == 0)
            append_late(pg, self, i, &random);
        else if (append(store, stream, version_of(pg, stream) + 1, i) == PAWL_OK)
            atomic_fetch_add(self->appended, 1);
    }
    pawl_store_close(store);
    PQfinish(pg);
    return NULL;
}

static void start(runner *it, fixture *p)
{
    runner_open(it, &application, "counting", p->url,
                (pawl_endpoint_options){.user = p->schema, .workers = 1});
}

static void wait_for_rows(fixture *p, int wanted)
{
    patience left = patience_of(WAIT_SECONDS);
    int64_t  count;
    while ((count = raw_number(p->pg, "select count(*) from counted")) < wanted)
        patience_wait(&left, "of %d events %d were projected", wanted, (int)count);
}

/* Two endpoints with the same projection, one of which stops half-way; writers whose
 * transactions overlap, some of which are rolled back; handlers that fail. */
ON_FIXTURE(each_event_is_counted_once, fixture *p)
{
    runner      first, second;
    writer      writers[WRITERS];
    atomic_int  appended = 0;
    unsigned    seed     = (unsigned)time(NULL);
    const char *given    = getenv("PAWL_TEST_SEED");
    if (given != NULL)
        seed = (unsigned)strtoul(given, NULL, 10);
    print_message("seed %u\n", seed);
    world *it = open_plain(p);
    world_close(it);
    raw_run(p->pg, "create table counted (stream text, version bigint, number int, "
                   "position bigint, at bigserial, primary key (stream, version))");
    start(&first, p);
    start(&second, p);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){p, 0, seed + (unsigned)i, i, &appended};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_events, &writers[i]), 0);
    }
    wait_for_rows(p, WRITERS * EVENTS / 10);
    runner_close(&first);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    wait_for_rows(p, atomic_load(&appended));
    runner_close(&second);
    assert_int_equal(raw_number(p->pg, "select count(*) from counted"), atomic_load(&appended));
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_events"), atomic_load(&appended));
    assert_int_equal(raw_number(p->pg, "select count(*) from counted as c join pawl_events as e "
                                       "on e.\"Stream\" = c.stream and e.\"Version\" = c.version "
                                       "and e.\"Position\" = c.position"),
                     atomic_load(&appended));
    /* In the order of the positions, which have no gap. */
    assert_int_equal(raw_number(p->pg, "select count(*) from (select position, lag(position) over "
                                       "(order by at) as before from counted) as c "
                                       "where position <> coalesce(before, 0) + 1"),
                     0);
}

int main(void)
{
    if (fixture_server() == NULL)
        return fixture_skip();
    if (getenv("LOUD") == NULL)
        world_quiet();
    return tests_run(NULL, NULL);
}

#endif
