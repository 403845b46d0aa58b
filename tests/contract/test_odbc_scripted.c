/* test_odbc_scripted.c - a store behind ODBC whose driver says and does what servers here cannot be brought to: claims
 * behind a deadlock and a lost connection, counts that are none, calls that do not return, values of a wrong
 * length; and the scripted driver itself, by ODBC's own calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "support/tests.h"

#include <poll.h>
#include <pthread.h>

#include <sql.h>
#include <sqlext.h>

#define SCRIPTED_ON(function, dialect) \
    TESTS(function, scripted *p, SCRIPTED_TEST(#function, function, dialect))

#define SCRIPTED(function) SCRIPTED_ON(function, "mysql")

#define DEADLINE_MS 20000
#define SHORT_MS 2000
#define TRIES 4000
#define TRY_MS 5

/* ---- Claims ---------------------------------------------------------------- */

#define TIME "'2026-01-01 00:00:00.000000'"
#define ROW_WITH(body)                                                                             \
    "  row '7' " TIME " " TIME " '0' '0' '1970-01-01 00:00:00.000000' '' 'm-7' 't' '' '' '' " body \
    "\n"
#define CLAIM "on select `Seq`, `Due`*for update skip locked\n"
#define ONE_DUE CLAIM ROW_WITH("'{}'")
#define LOCK_AGAIN "on select `Seq` from `pawl_queue`*for update skip locked\n"

static void claim_one(scripted *p, const char *rules)
{
    pawl_queue_rows rows;
    scripted_open(p, rules, DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), PAWL_OK);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].seq, 7);
    scripted_mark(p);
}

#define FENCE "* run update `pawl_workers` set `LastCommit`*"
#define SETTLE "* run delete from `pawl_queue`* 7 'orders'"
#define SEND "* run insert into `pawl_queue`*'m-8'*"

/* The locks went with the transaction: they are taken again before anything else is done. */
SCRIPTED(d37_claims_are_kept_behind_a_deadlock)
{
    claim_one(p,
              "on insert into `pawl_queue`*\n times 1\n error 40001 1213 Deadlock found\n" ONE_DUE
                  LOCK_AGAIN "  row '7'\n");
    scripted_code(p, scripted_settle_and_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, SEND, "1 run rollback", "1 run start transaction",
                    "1 run select `Seq` from `pawl_queue`*", FENCE, SETTLE, SEND, "1 run commit");
}

/* Another worker was faster: the group is refused, and nothing of it is committed. */
SCRIPTED(d37_a_claim_that_another_took_behind_a_deadlock_is_gone)
{
    claim_one(p,
              "on insert into `pawl_queue`*\n times 1\n error 40001 1213 Deadlock found\n" ONE_DUE
                  LOCK_AGAIN "  columns 1\n");
    scripted_code(p, scripted_settle_and_send(p), PAWL_EGONE);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, SEND, "1 run rollback", "1 run start transaction",
                    "1 run select `Seq` from `pawl_queue`*", FENCE, SEND, "1 run rollback",
                    "1 run start transaction", FENCE, "1 run commit");
}

SCRIPTED(d37_claims_go_with_the_connection)
{
    claim_one(p, "on insert into `pawl_queue`*\n times 1\n error\n gone\n" ONE_DUE);
    scripted_code(p, scripted_settle_and_send(p), PAWL_ELOST);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, SEND);
    scripted_code(p, scripted_settle_and_send(p), PAWL_EGONE);
    assert_int_equal(scripted_count(p, "2 connect *"), 1);
    assert_int_equal(scripted_count(p, "2 run select get_lock*"), 1); /* the worker lives on */
    assert_int_equal(scripted_count(p, SETTLE), 1);
}

#define DEADLOCK "\n times 1\n error 40001 1213 Deadlock\n"
#define BODIES_PAGE "1 run select max(`Stream`)* <- 'pawl.dead/' *"

/* Behind a deadlock, the page of bodies is the one that was undone. */
SCRIPTED(positions_sweeps_and_reaps_are_done_behind_a_deadlock)
{
    int64_t           count = 0;
    bool              more  = false;
    pawl_sweep_cursor place = {.size = 0};
    pawl_sweep what = {.bodies_before = SCRIPTED_NOW, .bodies_cursor = &place, .count_max = 1};
    scripted_open(p,
                  "on select max(`Position`)*\n row '4'\n"
                  "on select `Seq` from `pawl_events`*\n row '7'\n"
                  "on update `pawl_events` set `Position`*" DEADLOCK
                  "on update `pawl_events`*\n count 1\n"
                  "on delete from `pawl_inbox`*\n nodata\n"
                  "on delete from `pawl_outbox`*\n nodata\n"
                  "on select max(`Stream`)*\n row 'x' '1'\n"
                  "on select `Id`, `Endpoint`*from `pawl_workers`*\n times 1\n columns 19\n"
                  "on select `Id`, `Endpoint`*from `pawl_workers`*" DEADLOCK
                  "on update `pawl_timeouts`*" DEADLOCK "on update `pawl_timeouts`*\n count 3\n",
                  DEADLINE_MS);
    scripted_code(p, pawl_store_event_number(p->store, 5, &count, &p->error), PAWL_OK);
    assert_int_equal(count, 1);
    assert_int_equal(scripted_count(p, "1 run update `pawl_events` set `Position`* 5 7*"), 2);
    assert_int_equal(scripted_count(p, "1 run rollback"), 1);
    scripted_code(p, pawl_store_sweep(p->store, &what, &count, &more, &p->error), PAWL_OK);
    assert_int_equal(count, 1);
    assert_int_equal(place.size, 1);
    assert_int_equal(scripted_count(p, BODIES_PAGE), 2);
    scripted_code(p, pawl_store_timeout_reap(p->store, SCRIPTED_NOW, &count, &p->error), PAWL_OK);
    assert_int_equal(count, 3);
    assert_int_equal(scripted_count(p, "1 run rollback"), 3);
}

#define LEASE_LOOK "on select l.`Worker`*\n"
#define OTHER "'01890a5d-0000-7000-8000-000000000001'"

/* Another worker took the lease while the commit of this one met a deadlock: it is not ours. */
SCRIPTED(e27_a_lease_that_was_lost_behind_a_deadlock_is_not_ours)
{
    bool is_ours = true;
    scripted_open(p,
                  LEASE_LOOK
                  " times 2\n columns 6\n" LEASE_LOOK "  row " OTHER
                  " '1' '2026-01-01 00:01:00.000000' " OTHER " '0' " TIME
                  "\non select `Epoch` from `pawl_leases`*\n columns 1\n"
                  "on select concat(utc_timestamp*\n row '1'\n"
                  "on insert into `pawl_leases`*\non commit\n times 1\non commit" DEADLOCK,
                  DEADLINE_MS);
    scripted_code(p,
                  pawl_store_lead(p->store, PAWL_TEXT("x"), SCRIPTED_NOW, PAWL_SECONDS(60),
                                  &is_ours, &p->error),
                  PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run insert into `pawl_leases`*"), 1);
    assert_false(is_ours);
}

/* ---- Counts ------------------------------------------------------------------ */

/* No row of that worker and epoch: the driver has a code of its own for none, or the count. */
SCRIPTED(none_is_told_in_two_ways)
{
    scripted_open(p, "on update `pawl_workers` set `LastCommit`*\n nodata\n", DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_EFENCED);
    scripted_open(p, "on update `pawl_workers` set `LastCommit`*\n count 0\n", DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_EFENCED);
    assert_int_equal(scripted_count(p, "* run commit"), 0);
}

/* A count that the driver does not know is no row that was found. */
SCRIPTED(an_unknown_count_is_a_failure)
{
    static const char *const answers[] = {"count -1", "nodata\n count -1"};
    for (size_t i = 0; i < COUNT(answers); i++) {
        scripted_open(p, test_text("on update `pawl_workers` set `LastCommit`*\n %s\n", answers[i]),
                      DEADLINE_MS);
        scripted_code(p, scripted_send(p), PAWL_EPERSIST);
        scripted_text(p, "does not say how many rows");
        SCRIPTED_EXPECT(p, "1 run start transaction", FENCE, "1 run rollback");
    }
}

SCRIPTED(o32_an_unknown_count_does_not_resolve)
{
    scripted_open(p,
                  "on commit\n times 1\non commit\n times 1\n error 08S01 2013 Lost\n"
                  "on update `pawl_workers` set `Epoch`*\n count -1\n",
                  DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_EUNKNOWN);
    scripted_text(p, "does not say how many rows");
}

#define SET 32 /* rows that are inserted at once */

#define INSERTS "* run insert into `pawl_queue`*"

/* The sum of a set is asked for nothing; a set that fails is written row by row. */
SCRIPTED(a_set_has_a_sum_alone)
{
    scripted_open(p, "on insert into `pawl_queue`*, (*\n count 31\n", DEADLINE_MS);
    scripted_code(p, scripted_send_many(p, SET + 1), PAWL_OK);
    assert_int_equal(scripted_count(p, INSERTS), 2);
    scripted_open(p, "on insert into `pawl_queue`*, (*\n error 23000 1062 Duplicate entry\n",
                  DEADLINE_MS);
    scripted_code(p, scripted_send_many(p, SET + 1), PAWL_OK);
    assert_int_equal(scripted_count(p, INSERTS), 1 + SET + 1);
    assert_int_equal(scripted_count(p, "* run rollback"), 0);
    scripted_open(p, "on insert into `pawl_queue`*, (*\n times 1\n error 40001 1213 Deadlock\n",
                  DEADLINE_MS);
    scripted_code(p, scripted_send_many(p, SET + 1), PAWL_OK);
    assert_int_equal(scripted_count(p, INSERTS), 3);
    assert_int_equal(scripted_count(p, "* run rollback"), 1);
}

/* The stream of an event is null where the version before it is missing, which is a refusal and not a failure; any
 * other number is one. */
SCRIPTED(o4_a_null_refuses_an_event)
{
    pawl_event_append event = {
        .stream   = PAWL_TEXT("Cart/c-1"),
        .version  = 3,
        .is_first = true,
        .event    = {.type = PAWL_TEXT("t"), .type_version = 1, .body = PAWL_TEXT("{}")}};
    pawl_changes changes = {
        .now = SCRIPTED_NOW, ONE_UNIT, .event_append = {.items = &event, .count = 1}};
    scripted_open(p, "on insert into `pawl_events`*\n error 23000 1048 Column cannot be null\n",
                  DEADLINE_MS);
    scripted_code(p, pawl_store_commit(p->store, &changes, NULL, &p->error), PAWL_ECONFLICT);
    scripted_text(p, "stream Cart/c-1");
    scripted_open(p, "on insert into `pawl_events`*\n error 22003 1264 Out of range\n",
                  DEADLINE_MS);
    scripted_code(p, pawl_store_commit(p->store, &changes, NULL, &p->error), PAWL_EINVAL);
    scripted_text(p, "Out of range");
}

/* Numbers and counts are read by the driver's name alone: one of another name is not guessed at, whatever it says
 * that it can. */
SCRIPTED(a_driver_is_known_by_its_name)
{
    static const char *const names[] = {"psqlodbcw.so", "libdb2.so", "xlibmaodbc.so", "lib"};
    for (size_t i = 0; i < COUNT(names); i++) {
        scripted_code(p, scripted_try(p, test_text("name %s\n", names[i]), DEADLINE_MS),
                      PAWL_EUNSUPPORTED);
        scripted_text(p, names[i]);
    }
}

/* ---- Calls that do not return ------------------------------------------------- */

typedef struct job {
    pthread_t thread;
    scripted *p;
    pawl_code code;
} job;

static void *run_job(void *context)
{
    job *j  = context;
    j->code = scripted_send(j->p);
    return NULL;
}

static void interrupt_when_blocked(scripted *p, pawl_code expected)
{
    job j = {.p = p};
    assert_int_equal(pthread_create(&j.thread, NULL, run_job, &j), 0);
    for (int i = 0; scripted_count(p, "* blocks *") == 0; i++) {
        assert_true(i < TRIES);
        (void)poll(NULL, 0, TRY_MS);
    }
    pawl_store_interrupt(p->store);
    assert_int_equal(pthread_join(j.thread, NULL), 0);
    scripted_code(p, j.code, expected);
}

#define KILLED "70100 1317 Query execution was interrupted\n"
#define HEARS "on kill query *\n wakes\n"
#define BLOCKED_INSERT "on insert into `pawl_queue`*\n times 1\n blocks\n error " KILLED HEARS

/* The server ends the statement on a connection of its own; the session is as good as before. */
SCRIPTED(an_interrupt_ends_a_call)
{
    scripted_open(p, BLOCKED_INSERT, DEADLINE_MS);
    interrupt_when_blocked(p, PAWL_EINTERRUPTED);
    assert_true(scripted_count(p, "* run kill query 1") >= 1);
    assert_int_equal(scripted_count(p, "1 run rollback"), 1);
    scripted_mark(p);
    scripted_code(p, scripted_send(p), PAWL_OK);
    assert_int_equal(scripted_count(p, "* connect *"), 0);
}

SCRIPTED(a_deadline_ends_a_call)
{
    scripted_open(p, BLOCKED_INSERT, SHORT_MS);
    scripted_code(p, scripted_send(p), PAWL_ETIMEOUT);
    scripted_text(p, "longer than 2000 ms");
    assert_true(scripted_count(p, "* run kill query 1") >= 1);
}

/* A server that is asked before the statement has begun ends nothing: it is asked again. */
SCRIPTED(an_end_that_comes_too_early_is_asked_for_again)
{
    scripted_open(p,
                  "on insert into `pawl_queue`*\n times 1\n blocks\n error " KILLED
                  "on kill query 1\n times 1\n" HEARS,
                  DEADLINE_MS);
    interrupt_when_blocked(p, PAWL_EINTERRUPTED);
    assert_true(scripted_count(p, "* run kill query 1") >= 2);
}

SCRIPTED_ON(a_cancel_that_comes_too_early_is_said_again, "mssql")
{
    scripted_open(p,
                  "on insert into [dbo].[pawl_queue]*\n times 1\n blocks\n deaf 2\n"
                  " error HY008 0 Cancelled\n",
                  DEADLINE_MS);
    interrupt_when_blocked(p, PAWL_EINTERRUPTED);
    assert_true(scripted_count(p, "* cancel *") >= 3);
    scripted_mark(p);
    scripted_code(p, scripted_send(p), PAWL_OK);
    assert_int_equal(scripted_count(p, "* cancel *"), 0); /* no later statement is ended */
}

/* The kill came too late: the statement's own answer counts. */
SCRIPTED(a_call_that_is_done_all_the_same_is_done)
{
    scripted_open(p, "on commit\n times 1\non commit\n times 1\n blocks\n" HEARS, DEADLINE_MS);
    interrupt_when_blocked(p, PAWL_OK);
}

/* A commit that was cut off by the driver's own time-out: the fence row says whether it is there. */
SCRIPTED(o32_a_commit_that_is_cut_off_is_resolved)
{
    scripted_open(p,
                  "on commit\n times 1\n"
                  "on commit\n times 1\n blocks\n error HYT00 0 Timeout expired\n" HEARS
                  "on select `Epoch`, `LastCommit`*\n times 1\n row '1' null\n"
                  "on select `Epoch`, `LastCommit`*\n"
                  "  row '2' '00000000-0000-0001-0000-000000000001'\n",
                  SHORT_MS);
    scripted_code(p, scripted_send(p), PAWL_OK);
    assert_int_equal(scripted_count(p, "* run update `pawl_workers` set `Epoch`*"), 1);
    assert_int_equal(scripted_count(p, "* run insert into `pawl_queue`*"), 1);
}

#define OTHER_COMMIT "'00000000-0000-0001-0000-000000000009'"

/* A commit that SQLCancel broke off may have been through before: the fence row says it. */
static void break_off_a_commit(scripted *p, const char *columns, const char *state)
{
    static const struct {
        const char *last;
        pawl_code   code;
    } rows[] = {{"'00000000-0000-0001-0000-000000000001'", PAWL_OK}, {OTHER_COMMIT, PAWL_ELOST}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        scripted_open(
            p,
            test_text("on %s\n times 1\non %s\n times 1\n blocks\n error %s 0 Cancelled\n"
                      "on select %s*\n times 1\n row '1' null\non select %s*\n row '2' %s\n",
                      p->dialect->commit, p->dialect->commit, state, columns, columns,
                      rows[i].last),
            DEADLINE_MS);
        interrupt_when_blocked(p, rows[i].code);
        assert_true(scripted_count(p, "* cancel *") >= 1);
    }
}

SCRIPTED_ON(o32_a_commit_that_sql_server_was_asked_to_cancel_is_resolved, "mssql")
{
    break_off_a_commit(p, "[Epoch], [LastCommit]", "HY008");
    break_off_a_commit(p, "[Epoch], [LastCommit]", "HY010");
}

SCRIPTED_ON(o32_a_commit_that_oracle_was_asked_to_cancel_is_resolved, "oracle")
{
    break_off_a_commit(p, "\"EPOCH\", \"LASTCOMMIT\"", "HY008");
    break_off_a_commit(p, "\"EPOCH\", \"LASTCOMMIT\"", "HY010");
}

#define STANDBY_WARNING " info 01000 -1 WARNING: canceling wait for synchronous replication\n"
#define AWAY "on commit\n times 1\n blocks\n" STANDBY_WARNING
#define PG_HEARS "on select pg_cancel_backend*\n wakes\n"
#define PG_ROW                                                        \
    "on select \"Epoch\", \"LastCommit\"*\n times 1\n row '1' null\n" \
    "on select \"Epoch\", \"LastCommit\"*\n row '2' '00000000-0000-0001-0000-000000000001'\n"

/* The server commits although the standby is away, and says so by a warning. `resolve` asks by a commit that waits for
 * the standby, too: where that is confirmed, the first one is. */
SCRIPTED_ON(o32_a_commit_that_no_standby_confirmed_is_unknown, "postgres")
{
    scripted_open(p, "on commit\n times 1\n" AWAY AWAY PG_HEARS PG_ROW, SHORT_MS);
    interrupt_when_blocked(p, PAWL_EUNKNOWN);
    scripted_text(p, "the synchronous standby did not confirm the commit");
    assert_int_equal(scripted_count(p, "1 run commit"), 2);
    assert_int_equal(scripted_count(p, "1 run rollback"), 0);
    scripted_open(p, "on commit\n times 1\n" AWAY PG_HEARS PG_ROW, SHORT_MS);
    interrupt_when_blocked(p, PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run commit"), 2);
}

/* A trigger's warning, or a cancel that came too late, says nothing of a standby. */
SCRIPTED_ON(a_commit_with_a_warning_is_done, "postgres")
{
    scripted_open(p, "on commit\n times 1\non commit\n times 1\n" STANDBY_WARNING, DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run commit"), 1);
    scripted_open(p, "on commit\n times 1\non commit\n times 1\n blocks\n" PG_HEARS, DEADLINE_MS);
    interrupt_when_blocked(p, PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run commit"), 1);
}

/* ---- Values -------------------------------------------------------------------- */

static pawl_code claim_body(scripted *p, const char *rules, size_t size)
{
    pawl_queue_rows rows;
    scripted_open(p, rules, DEADLINE_MS);
    pawl_code code = scripted_claim(p, &rows);
    if (code == PAWL_OK) {
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.items[0].message.body.size, size);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(rows.items[0].message.body.data[i], 'a');
    }
    return code;
}

SCRIPTED(long_values_come_in_pieces)
{
    scripted_code(p, claim_body(p, CLAIM ROW_WITH("fill:0"), 0), PAWL_OK);
    scripted_code(p, claim_body(p, CLAIM ROW_WITH("fill:1023"), 1023), PAWL_OK);
    scripted_code(p, claim_body(p, CLAIM ROW_WITH("fill:1024"), 1024), PAWL_OK);
    scripted_code(p, claim_body(p, CLAIM ROW_WITH("fill:1025"), 1025), PAWL_OK);
    scripted_code(p, claim_body(p, CLAIM ROW_WITH("fill:300000"), 300000), PAWL_OK);
    scripted_code(p, claim_body(p, CLAIM " info 01000 0 Note\n" ROW_WITH("fill:9"), 9), PAWL_OK);
}

/* Bytes that the driver did not give are no value. */
SCRIPTED(a_value_that_is_not_whole_is_a_failure)
{
    scripted_code(p, claim_body(p, CLAIM ROW_WITH("lie:5000:3000"), 0), PAWL_EPERSIST);
    scripted_text(p, "column 13");
    scripted_code(p, claim_body(p, CLAIM ROW_WITH("lie:5000:300"), 0), PAWL_EPERSIST);
    scripted_text(p, "column 13");
}

/* Rows that came before do not count. */
SCRIPTED(a_failure_behind_a_row_is_a_failure)
{
    scripted_code(p, claim_body(p, ONE_DUE "  fetch 08S01 2013 Lost\n", 0), PAWL_ELOST);
    SCRIPTED_EXPECT(p, "1 run select count(*)*", "1 run start transaction",
                    "1 run select `Seq`, `Due`*");
    scripted_code(
        p, scripted_try(p, "on *wsrep_on*\n columns 1\n fetch 08S01 2013 Lost\n", DEADLINE_MS),
        PAWL_ELOST);
}

/* MySQL beside which other servers are written to, whose row locks it does not know. */
SCRIPTED(a_node_of_several_that_are_written_to_is_refused)
{
    scripted_code(
        p,
        scripted_try(p,
                     "on select version()*\n row '8.0.36' '1' '16777216' 'shop' '0' '4711'\n"
                     "on *'group_replication_single_primary_mode')\n row '1'\n",
                     DEADLINE_MS),
        PAWL_EUNSUPPORTED);
    scripted_text(p, "its row locks are not the other nodes'");
}

/* ---- The scripted driver ---------------------------------------------------------- */

static SQLHSTMT dial(scripted *p, const char *rules, SQLHENV *env, SQLHDBC *dbc)
{
    SQLHSTMT stmt = NULL;
    scripted_write(p, rules, "");
    const char *text = test_text("%.*s", (int)strcspn(p->url + 5, "?"), p->url + 5);
    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, env);
    SQLSetEnvAttr(*env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)(uintptr_t)SQL_OV_ODBC3, 0);
    SQLAllocHandle(SQL_HANDLE_DBC, *env, dbc);
    assert_true(SQL_SUCCEEDED(SQLDriverConnect(*dbc, NULL, (SQLCHAR *)text, SQL_NTS, NULL, 0, NULL,
                                               SQL_DRIVER_NOPROMPT)));
    assert_true(SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, *dbc, &stmt)));
    return stmt;
}

static void hang_up(SQLHENV env, SQLHDBC dbc, SQLHSTMT stmt)
{
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    SQLDisconnect(dbc);
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
}

static SQLRETURN run_text(SQLHSTMT stmt, const char *text)
{
    SQLFreeStmt(stmt, SQL_CLOSE);
    return SQLExecDirect(stmt, (SQLCHAR *)(uintptr_t)text, SQL_NTS);
}

static void has_record(SQLHSTMT stmt, const char *state, int native)
{
    char        found[6] = "", text[300] = "";
    SQLINTEGER  number = 0;
    SQLSMALLINT size   = 0;
    assert_int_equal(SQLGetDiagRec(SQL_HANDLE_STMT, stmt, 1, (SQLCHAR *)found, &number,
                                   (SQLCHAR *)text, sizeof text, &size),
                     SQL_SUCCESS);
    assert_string_equal(found, state);
    assert_int_equal(number, native);
}

SCRIPTED(the_driver_has_several_results)
{
    SQLHENV     env;
    SQLHDBC     dbc;
    SQLSMALLINT columns = -1;
    SQLLEN      count   = -5;
    SQLHSTMT    stmt    = dial(p,
                               "on a\n info 01000 5701 Changed\n count 3\n then\n row '1' '2'\n then\n"
                                     " error 23000 2627 Duplicate\n",
                               &env, &dbc);
    assert_int_equal(run_text(stmt, "a"), SQL_SUCCESS_WITH_INFO);
    has_record(stmt, "01000", 5701);
    assert_int_equal(SQLRowCount(stmt, &count), SQL_SUCCESS);
    assert_int_equal(count, 3);
    assert_int_equal(SQLMoreResults(stmt), SQL_SUCCESS);
    assert_int_equal(SQLNumResultCols(stmt, &columns), SQL_SUCCESS);
    assert_int_equal(columns, 2);
    assert_int_equal(SQLFetch(stmt), SQL_SUCCESS);
    assert_int_equal(SQLFetch(stmt), SQL_NO_DATA);
    assert_int_equal(SQLMoreResults(stmt), SQL_ERROR);
    has_record(stmt, "23000", 2627);
    hang_up(env, dbc, stmt);
}

SCRIPTED(the_driver_tells_a_length_at_the_end)
{
    SQLHENV  env;
    SQLHDBC  dbc;
    SQLLEN   size = 0;
    char     piece[8];
    SQLHSTMT stmt = dial(p, "on a\n row open:12\n", &env, &dbc);
    assert_int_equal(run_text(stmt, "a"), SQL_SUCCESS);
    assert_int_equal(SQLFetch(stmt), SQL_SUCCESS);
    assert_int_equal(SQLGetData(stmt, 1, SQL_C_CHAR, piece, sizeof piece, &size),
                     SQL_SUCCESS_WITH_INFO);
    assert_int_equal(size, SQL_NO_TOTAL);
    assert_string_equal(piece, "aaaaaaa");
    assert_int_equal(SQLGetData(stmt, 1, SQL_C_CHAR, piece, sizeof piece, &size), SQL_SUCCESS);
    assert_int_equal(size, 5);
    assert_int_equal(SQLGetData(stmt, 1, SQL_C_CHAR, piece, sizeof piece, &size), SQL_NO_DATA);
    hang_up(env, dbc, stmt);
}

static void *cancel_when_blocked(void *context)
{
    job *j = context;
    for (int i = 0; scripted_count(j->p, "* blocks *") == 0 && i < TRIES; i++)
        (void)poll(NULL, 0, TRY_MS);
    return NULL;
}

typedef struct canceller {
    job      base;
    SQLHSTMT stmt;
} canceller;

static void *cancel(void *context)
{
    canceller *c = context;
    (void)cancel_when_blocked(&c->base);
    SQLCancel(c->stmt);
    return NULL;
}

SCRIPTED(the_driver_ends_a_call_that_is_cancelled)
{
    SQLHENV   env;
    SQLHDBC   dbc;
    canceller c = {.base = {.p = p}};
    c.stmt      = dial(p, "on a\n blocks\n error HY008 0 Cancelled\n", &env, &dbc);
    assert_int_equal(pthread_create(&c.base.thread, NULL, cancel, &c), 0);
    assert_int_equal(run_text(c.stmt, "a"), SQL_ERROR);
    has_record(c.stmt, "HY008", 0);
    assert_int_equal(pthread_join(c.base.thread, NULL), 0);
    hang_up(env, dbc, c.stmt);
}

/* The ends of transactions have rules, too; the statement without one is missing, which the teardown
 * would see. */
SCRIPTED(the_driver_names_a_statement_without_an_answer)
{
    SQLHENV  env;
    SQLHDBC  dbc;
    SQLHSTMT stmt = dial(p, "on end commit\n error 08S01 0 Lost\non end rollback\n", &env, &dbc);
    assert_int_equal(SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT), SQL_ERROR);
    assert_int_equal(SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK), SQL_SUCCESS);
    assert_int_equal(run_text(stmt, "select nobody"), SQL_ERROR);
    has_record(stmt, "HY000", 0);
    hang_up(env, dbc, stmt);
    SCRIPTED_EXPECT(p, "* connect *", "* end commit", "* end rollback", "* run select nobody",
                    "* missing select nobody", "* disconnect *");
    assert_int_equal(remove(p->log), 0);
}
