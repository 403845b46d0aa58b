/* test_odbc_mssql.c - a store on SQL Server behind a scripted driver: claims behind a deadlock, a round as one text
 * with the fate of each item, an answer of several results, texts with a mark, values whose length is told at their
 * end, settings of an application's connection, and what is refused at open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#ifdef PAWL_HAVE_ODBC
#include "contract/odbc_scripted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sql.h>
#include <sqlext.h>

#define DEADLINE_MS 20000
#define SHORT_MS 500
#define SET 32 /* rows that are written at once */

#define TIME "'2026-01-01 00:00:00.000000'"
#define ROW(number, id, body)                                                                     \
    "  row '" number "' " TIME " " TIME " '0' '0' '1970-01-01 00:00:00.0000000' '' '" id "' 't' " \
    "'' '' '' " body "\n"
#define CLAIM \
    "on select [Seq], [Due]*with (updlock, readpast, rowlock, readcommittedlock, index([pawl_queue_due]))*\n"
#define ONE_DUE CLAIM ROW("7", "m-7", "'{}'")
#define BEGIN "1 run set implicit_transactions off; if @@trancount > 0 rollback*begin transaction*"
#define COMMIT "1 run if @@trancount <> 1*commit transaction*"
#define ROLLBACK "1 run if @@trancount > 0 rollback transaction*"
#define FENCE "1 run update [dbo].[pawl_workers]*"
#define SETTLE "1 run delete from [dbo].[pawl_queue]*"
#define INSERT "1 run insert into [dbo].[pawl_queue]*"
#define LOCK \
    "1 run select [Seq] from [dbo].[pawl_queue] with (updlock, readpast, rowlock, readcommittedlock) *"
#define ROUND "on set nocount on; declare @f*\n"

/* ---- Claims ---------------------------------------------------------------- */

static void claim_one(scripted *p, const char *rules)
{
    pawl_queue_rows rows;
    scripted_open(p, rules, DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), PAWL_OK);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].seq, 7);
    assert_int_equal(rows.items[0].due, SCRIPTED_NOW);
    scripted_mark(p);
}

static pawl_code settle_and_send(scripted *p)
{
    pawl_queue_settle settle = {.action = PAWL_QUEUE_DONE, .queue = PAWL_TEXT("orders"), .seq = 7};
    pawl_queue_send   send   = {
            .queue   = PAWL_TEXT("orders"),
            .due     = SCRIPTED_NOW,
            .message = {.id = PAWL_TEXT("m-8"), .type = PAWL_TEXT("t"), .body = PAWL_TEXT("{}")}};
    pawl_changes changes       = {.now = SCRIPTED_NOW, .group_count = 1, .unit_count = 1};
    changes.queue_settle.items = &settle;
    changes.queue_settle.count = 1;
    changes.queue_send.items   = &send;
    changes.queue_send.count   = 1;
    return pawl_store_commit(p->store, &changes, NULL, &p->error);
}

#define DEADLOCK "on insert into [dbo].[pawl_queue]*\n times 1\n error 42000 1205 Deadlock victim\n"
#define AGAIN "on select [Seq] from [dbo].[pawl_queue] with (updlock*\n"

/* The server rolled all back: nothing is sent but a rollback, and the locks are taken again. */
static void d37_claims_are_kept_behind_a_deadlock(void **state)
{
    scripted *p = *state;
    claim_one(p, DEADLOCK ONE_DUE AGAIN "  row '7'\n");
    scripted_code(p, settle_and_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, INSERT, ROLLBACK, BEGIN, LOCK, FENCE, SETTLE, INSERT, COMMIT);
}

static void d37_a_claim_that_another_took_is_gone(void **state)
{
    scripted *p = *state;
    claim_one(p, DEADLOCK ONE_DUE AGAIN "  columns 1\n");
    scripted_code(p, settle_and_send(p), PAWL_EGONE);
    assert_int_equal(scripted_count(p, SETTLE), 1);
    assert_int_equal(scripted_count(p, COMMIT), 1);
}

/* SQL_ERROR without a record; the worker's lock is taken again. */
static void d37_claims_go_with_the_connection(void **state)
{
    scripted *p = *state;
    claim_one(p, "on insert into [dbo].[pawl_queue]*\n times 1\n error\n gone\n" ONE_DUE);
    scripted_code(p, settle_and_send(p), PAWL_ELOST);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, INSERT);
    scripted_code(p, settle_and_send(p), PAWL_EGONE);
    assert_int_equal(scripted_count(p, "2 run declare @pawl int; exec @pawl = sp_getapplock*"), 1);
}

/* A transaction that is not the one that was begun: the guard of the commit, which is done again. */
static void a_commit_of_another_transaction_is_none(void **state)
{
    scripted *p = *state;
    scripted_open(p,
                  "on if @@trancount <> 1*\n times 1\non if @@trancount <> 1*\n times 1\n"
                  " error 42000 50001 pawl: the transaction is another one\n",
                  DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, FENCE, INSERT, COMMIT, ROLLBACK, BEGIN, FENCE, INSERT, COMMIT);
}

/* A text of several statements may fail behind its first result. */
static void a_failure_behind_a_result_is_a_failure(void **state)
{
    scripted *p = *state;
    scripted_open(p,
                  "on set implicit_transactions off;*\n times 1\n"
                  "on set implicit_transactions off;*\n times 1\n count 0\n then\n"
                  " error 42000 1205 Deadlock victim\n",
                  DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, BEGIN, FENCE, INSERT, COMMIT);
}

/* ---- A round --------------------------------------------------------------- */

static pawl_code send_many(scripted *p, size_t count)
{
    pawl_queue_send *sends   = pawl_arena_take(p->arena, count * sizeof *sends);
    pawl_changes     changes = {.now = SCRIPTED_NOW, .group_count = 1, .unit_count = 1};
    assert_non_null(sends);
    for (size_t i = 0; i < count; i++)
        sends[i] = (pawl_queue_send){.queue   = PAWL_TEXT("orders"),
                                     .due     = SCRIPTED_NOW,
                                     .message = {.id   = pawl_arena_printf(p->arena, "m-%zu", i),
                                                 .type = PAWL_TEXT("t"),
                                                 .body = PAWL_TEXT("{}")}};
    changes.queue_send.items = sends;
    changes.queue_send.count = count;
    return pawl_store_commit(p->store, &changes, NULL, &p->error);
}

/* In UTF-16 a text has no more than 4000 units unless it is of a long type. */
static void d36_long_texts_have_a_long_type(void **state)
{
    scripted *p = *state;
    char      headers[4002];
    memset(headers, 'h', sizeof headers);
    pawl_queue_send send = {
        .queue   = PAWL_TEXT("orders"),
        .due     = SCRIPTED_NOW,
        .message = {.id = PAWL_TEXT("m-1"), .type = PAWL_TEXT("t"), .body = PAWL_TEXT("{}")}};
    pawl_changes changes = {.now = SCRIPTED_NOW, .group_count = 1, .unit_count = 1};
    scripted_open(p, "types\n", DEADLINE_MS);
    for (size_t size = 4000; size <= 4001; size++) {
        scripted_mark(p);
        send.message.headers     = (pawl_text){.data = headers, .size = size};
        changes.queue_send.items = &send;
        changes.queue_send.count = 1;
        scripted_code(p, pawl_store_commit(p->store, &changes, NULL, &p->error), PAWL_OK);
        assert_int_equal(scripted_count(p, INSERT " 'hhh*"), 1);
        assert_int_equal(scripted_count(p, INSERT " long 'hhh*"), size > 4000);
    }
}

#define APPLIED "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" /* 31 */

/* 32 go in one text, with what became of each: a message that is there is left. */
static void a_round_is_one_text(void **state)
{
    scripted *p = *state;
    scripted_open(p, ROUND " row '" APPLIED "d'\n", DEADLINE_MS);
    scripted_code(p, send_many(p, SET + 1), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, FENCE,
                    "1 run set nocount on; declare @f varchar(200) = '', @c int; begin try insert "
                    "into*m-0*m-31*",
                    INSERT, COMMIT);
}

static void the_answer_of_a_round_is_looked_for(void **state)
{
    scripted *p = *state;
    scripted_open(p, ROUND " count 1\n then\n row '" APPLIED "a'\n", DEADLINE_MS);
    scripted_code(p, send_many(p, SET), PAWL_OK);
    scripted_open(p, ROUND " count 1\n then\n error 42000 1205 Deadlock victim\n", SHORT_MS);
    scripted_code(p, send_many(p, SET), PAWL_EBUSY);
}

static void an_answer_that_is_none_is_a_failure(void **state)
{
    static const char *const answers[] = {" row '" APPLIED "'\n", " row '" APPLIED "x'\n",
                                          " columns 1\n", " count 32\n"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        char rules[300];
        snprintf(rules, sizeof rules, ROUND "%s", answers[i]);
        scripted_open(*state, rules, DEADLINE_MS);
        scripted_code(*state, send_many(*state, SET), PAWL_EPERSIST);
        scripted_text(*state, "does not say how many rows");
        assert_int_equal(scripted_count(*state, COMMIT), 0);
    }
}

/* ---- Values ---------------------------------------------------------------- */

static void a_space_at_the_end_is_told(void **state)
{
    scripted       *p = *state;
    pawl_queue_rows rows;
    pawl_queue_send send = {
        .queue   = PAWL_TEXT("orders"),
        .due     = SCRIPTED_NOW,
        .message = {.id = PAWL_TEXT("m "), .type = PAWL_TEXT("t"), .body = PAWL_TEXT("{} ")}};
    pawl_changes changes     = {.now = SCRIPTED_NOW, .group_count = 1, .unit_count = 1};
    changes.queue_send.items = &send;
    changes.queue_send.count = 1;
    scripted_open(p, CLAIM ROW("7", "m \x01", "'{} '"), DEADLINE_MS);
    scripted_code(p, pawl_store_commit(p->store, &changes, NULL, &p->error), PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run insert into [dbo].[pawl_queue]*'m .'*'{} '"), 1);
    scripted_code(p, scripted_claim(p, &rows), PAWL_OK);
    assert_int_equal(rows.count, 1);
    assert_true(pawl_text_equal(rows.items[0].message.id, PAWL_TEXT("m ")));
}

static void claims_body(scripted *p, const char *body, size_t size, pawl_code expected)
{
    char            rules[600];
    pawl_queue_rows rows;
    snprintf(rules, sizeof rules, CLAIM ROW("7", "m-7", "%s"), body);
    scripted_open(p, rules, DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), expected);
    if (expected != PAWL_OK)
        return;
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].message.body.size, size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(rows.items[0].message.body.data[i], 'a');
}

/* FreeTDS tells the length of a text with its last piece. */
static void a_length_may_be_told_at_the_end(void **state)
{
    claims_body(*state, "open:1", 1, PAWL_OK);
    claims_body(*state, "open:2046", 2046, PAWL_OK);
    claims_body(*state, "open:2047", 2047, PAWL_OK);
    claims_body(*state, "open:2048", 2048, PAWL_OK);
    claims_body(*state, "open:100000", 100000, PAWL_OK);
    claims_body(*state, "fill:100000", 100000, PAWL_OK);
    claims_body(*state, "lie:5000:3000", 0, PAWL_EPERSIST);
}

static void find_retried(scripted *p, pawl_time after)
{
    pawl_queue_rows          rows;
    const pawl_retried_query query = {PAWL_TEXT("orders"), PAWL_TEXT("t"), after, 1000, 9};
    scripted_mark(p);
    scripted_code(p, pawl_store_queue_retried(p->store, &query, p->arena, &rows, &p->error),
                  PAWL_OK);
}

/* FreeTDS makes another day of a day before March 1600, and of the first one a number below zero. A column of the type
 * datetime, from before this store, takes three decimals and no more. */
static void d13_times_are_sent_as_texts(void **state)
{
    scripted *p = *state;
    scripted_open(p, "on select [Seq], [Due]*) looked where*\n columns 13\n", DEADLINE_MS);
    find_retried(p, PAWL_TIME_MIN);
    assert_int_equal(scripted_count(p, "1 run select*<- 'orders' '0001-01-01T00:00:00.000' *"), 1);
    find_retried(p, SCRIPTED_NOW + 120000);
    assert_int_equal(scripted_count(p, "1 run select*<- 'orders' '2026-01-01T00:00:00.120' *"), 1);
    find_retried(p, SCRIPTED_NOW + 120001);
    assert_int_equal(scripted_count(p, "1 run select*<- 'orders' '2026-01-01T00:00:00.120001' *"),
                     1);
    find_retried(p, PAWL_TIME_MAX);
    assert_int_equal(scripted_count(p, "1 run select*<- 'orders' '9999-12-31T23:59:59.999999' *"),
                     1);
}

/* A second statement while a result is open would be refused (24000): rows are read at once. */
static void rows_are_read_at_once(void **state)
{
    scripted       *p = *state;
    pawl_queue_rows rows;
    scripted_open(p, CLAIM ROW("7", "m-7", "'{}'") ROW("8", "m-8", "'{}'"), DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), PAWL_OK);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.items[1].seq, 8);
    scripted_open(p, ONE_DUE " fetch 01000 20017 Unexpected EOF\n", DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), PAWL_ELOST);
}

/* No right is needed to end a statement of one's own: the driver cancels it. */
static void a_deadline_cancels_a_call(void **state)
{
    scripted *p = *state;
    scripted_open(p,
                  "on insert into [dbo].[pawl_queue]*\n times 1\n blocks\n"
                  " error HY008 0 Operation cancelled\n",
                  SHORT_MS);
    scripted_code(p, scripted_send(p), PAWL_ETIMEOUT);
    scripted_text(p, "longer than 500 ms");
    assert_int_equal(scripted_count(p, "1 cancel *"), 1);
    assert_int_equal(scripted_count(p, ROLLBACK), 1);
}

/* ---- Refusals at open ------------------------------------------------------- */

static void others_are_refused(void **state)
{
    scripted *p = *state;
    scripted_code(
        p, scripted_try(p, "on select case when cast(*\n row '12' '5' '130' 'shop'\n", DEADLINE_MS),
        PAWL_ENOTSTORE);
    scripted_text(p, "version 12, at least 13 (2016) is needed: name another server");
    scripted_code(
        p, scripted_try(p, "on select case when cast(*\n row '15' '5' '120' 'shop'\n", DEADLINE_MS),
        PAWL_ENOTSTORE);
    scripted_text(p, "alter database [shop] set compatibility_level = 130");
    scripted_code(p, scripted_try(p, "on select t.name, c.name*\n columns 6\n", DEADLINE_MS),
                  PAWL_ESCHEMA);
    scripted_text(p, "dbo.pawl_schema is missing or incomplete; run: pawl schema apply");
    scripted_code(
        p, scripted_try(p, "on select t.name, c.name*\n error 42000 229 denied\n", DEADLINE_MS),
        PAWL_EDENIED);
    scripted_code(
        p,
        scripted_try(p, "on connect *\n error 42000 18456 Login failed\n error 08001 0 Unable\n",
                     DEADLINE_MS),
        PAWL_EDENIED);
    scripted_text(p, "user and password are right");
    scripted_code(
        p,
        scripted_try(p, "on connect *\n error 08S01 20009 No server\n error 08001 0 Unable\n",
                     DEADLINE_MS),
        PAWL_EUNREACHABLE);
    scripted_code(p, scripted_try(p, "on connect *\n error 42000 4060 No database\n", DEADLINE_MS),
                  PAWL_ENOTSTORE);
    scripted_text(p, "make the database");
}

/* ---- Times that sagas are found by ------------------------------------------- */

#define COLUMN(name, type, is_required) "  row 't' '" name "' '" type "' '' '" is_required "' '0'\n"
#define INDEX(name, columns, is_key, has_filter) \
    "  row 't' '" name "' '" columns "' '" is_key "' '1' '1' '" has_filter "'\n"

static pawl_saga_table alarm_of(bool with_offset)
{
    return (pawl_saga_table){.type = PAWL_TEXT("Alarm"),
                             .name = PAWL_TEXT("shop_Alarm"),
                             .main = {.property    = PAWL_TEXT("RingsAt"),
                                      .type        = PAWL_VALUE_TIME,
                                      .with_offset = with_offset}};
}

/* The catalog has a table for the version and a saga's in one. */
static pawl_code open_alarm(scripted *p, const char *type, bool with_offset, const char *more)
{
    pawl_saga_table        alarm   = alarm_of(with_offset);
    const pawl_saga_table *sagas[] = {&alarm};
    pawl_store_options     options = PAWL_STORE_OPTIONS_INIT;
    char                   rules[3000];
    options.mode        = PAWL_OPEN_CHECK;
    options.tables      = sagas;
    options.table_count = 1;
    scripted_close(p);
    snprintf(
        rules, sizeof rules,
        "on select t.name, c.name*\n" COLUMN("Part", "nvarchar(201)", "1") COLUMN("Version",
                                                                                  "bigint", "1")
            COLUMN("Id", "uniqueidentifier", "1") COLUMN("Metadata", "nvarchar(max)", "1") COLUMN(
                "Data", "nvarchar(max)", "1") COLUMN("PersistenceVersion", "varchar(23)", "1")
                COLUMN("SagaTypeVersion", "varchar(23)", "1") COLUMN("Concurrency", "bigint", "1")
                    COLUMN("Correlation_RingsAt", "%s", "0") "on select t.name, i.name*\n" INDEX(
                        "Index_Correlation_RingsAt", "[Correlation_RingsAt]", "0", "1")
                        INDEX("pk", "[Id]", "1", "0") "%s",
        type, more);
    scripted_write(p, rules, "");
    pawl_code code = pawl_store_open(p->url, &options, &p->store, &p->error);
    scripted_mark(p);
    return code;
}

static void load_alarm(scripted *p, bool with_offset, pawl_time at, pawl_saga_row *row)
{
    const pawl_saga_table alarm = alarm_of(with_offset);
    const pawl_value      value = pawl_value_time(at);
    scripted_code(p,
                  pawl_store_saga_load(p->store, &alarm, PAWL_SAGA_BY_MAIN, &value, 1,
                                       PAWL_SAGA_UNLOCKED, p->arena, row, &p->error),
                  PAWL_OK);
}

#define UTC "cast(switchoffset([Correlation_RingsAt], '+00:00') as datetime2(6))"

/* Looked up by the instant, whatever the offset of the row is, and read in UTC. */
static void d17_times_with_an_offset_are_looked_up_and_read(void **state)
{
    scripted     *p = *state;
    pawl_saga_row row;
    scripted_code(p,
                  open_alarm(p, "datetimeoffset(7)", true,
                             "on select 0, [Id], *from [dbo].[shop_Alarm] *\n"
                             "  row '0' '00000000-0000-0000-0000-000000000007' '1' '{}' '{}' '1.0' "
                             "'2026-01-01 00:00:00.120001'\n"),
                  PAWL_OK);
    load_alarm(p, true, SCRIPTED_NOW + 120001, &row);
    assert_int_equal(row.presence, PAWL_SAGA_THERE);
    assert_int_equal(row.main.as.time, SCRIPTED_NOW + 120001);
    assert_int_equal(scripted_count(p, "1 run select 0, [Id], *, " UTC " from [dbo].[shop_Alarm] "
                                       "where [Correlation_RingsAt] = ?*"
                                       "<- '2026-01-01T00:00:00.120001'*"),
                     1);
}

#define COUNT_ROWS                                                              \
    "on select count(*) from (select 1 as found from [dbo].[shop_Alarm] order " \
    "by [Id] offset 0 rows fetch next 1000000 rows only) sagas\n row '3'\n"

#define OLD                                                                                                              \
    "on select count(*) from sys.columns where object_id = object_id(N'[dbo].[shop_Alarm]', N'U') and system_type_id = " \
    "type_id(N'datetime') and name = N'Correlation_RingsAt'\n row '1'\n"
#define WHOLE \
    "coalesce(try_convert(datetime2(6), json_value([Data], '$.\"RingsAt\"'), 127), [Correlation_RingsAt])"
#define CUT "cast(cast(? as datetime2(6)) as datetime)"

/* A column from before pawl is told once, looked up and written cut to it, and read from the state. */
static void d13_an_old_column_cuts_times(void **state)
{
    scripted             *p     = *state;
    const pawl_saga_table alarm = alarm_of(false);
    pawl_saga_row         row   = {.data         = PAWL_TEXT("{}"),
                                   .metadata     = PAWL_TEXT("{}"),
                                   .type_version = PAWL_TEXT("1.0"),
                                   .main         = pawl_value_time(SCRIPTED_NOW + 1)};
    pawl_saga_row         found;
    scripted_code(p,
                  open_alarm(p, "datetime", false,
                             OLD "on select 0, [Id], *from [dbo].[shop_Alarm] *\n columns 7\n"
                                 "on insert into [dbo].[shop_Alarm]*\n count 1\n"),
                  PAWL_OK);
    load_alarm(p, false, SCRIPTED_NOW + 120001, &found);
    load_alarm(p, false, SCRIPTED_NOW + 120001, &found);
    assert_int_equal(scripted_count(p, "1 run select count(*) from sys.columns*"), 1);
    assert_int_equal(scripted_count(p, "1 run select 0, [Id], *, " WHOLE " from [dbo].[shop_Alarm] "
                                       "where [Correlation_RingsAt] = " CUT
                                       "*<- '2026-01-01T00:00:00.120001'*"),
                     2);
    scripted_code(p,
                  pawl_store_worker_open(p->store, PAWL_TEXT("orders"), PAWL_TEXT("[]"),
                                         SCRIPTED_NOW, &p->error),
                  PAWL_OK);
    scripted_code(p, pawl_store_saga_insert(p->store, &alarm, &row, SCRIPTED_NOW, &p->error),
                  PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run insert into [dbo].[shop_Alarm]* ?, 1, " CUT
                                       ")*<- *'2026-01-01T00:00:00.000001'*"),
                     1);
}

/* A column that pawl made is not cut. */
static void d13_a_column_of_now_is_whole(void **state)
{
    scripted     *p = *state;
    pawl_saga_row row;
    scripted_code(p,
                  open_alarm(p, "datetime2(6)", false,
                             "on select count(*) from sys.columns*\n row '0'\n"
                             "on select 0, [Id], *from [dbo].[shop_Alarm] *\n columns 7\n"),
                  PAWL_OK);
    load_alarm(p, false, SCRIPTED_NOW, &row);
    assert_int_equal(scripted_count(p, "1 run select 0, [Id], *, [Correlation_RingsAt] from "
                                       "[dbo].[shop_Alarm] where [Correlation_RingsAt] = ?*"),
                     1);
}

/* The same of a set. */
static void d13_a_set_cuts_times(void **state)
{
    scripted             *p     = *state;
    const pawl_saga_table alarm = alarm_of(false);
    pawl_saga_insert      inserts[SET];
    pawl_changes          changes = {.now = SCRIPTED_NOW, .group_count = 1, .unit_count = 1};
    scripted_code(p,
                  open_alarm(p, "datetime", false,
                             OLD "on insert into [dbo].[shop_Alarm]*\n" ROUND
                                 " count 1\n then\n row '" APPLIED "a'\n"),
                  PAWL_OK);
    scripted_code(p,
                  pawl_store_worker_open(p->store, PAWL_TEXT("orders"), PAWL_TEXT("[]"),
                                         SCRIPTED_NOW, &p->error),
                  PAWL_OK);
    for (int i = 0; i < SET; i++)
        inserts[i] = (pawl_saga_insert){.table        = &alarm,
                                        .id           = {.uuid = {.bytes = {(uint8_t)(i + 1)}}},
                                        .main         = pawl_value_time(SCRIPTED_NOW + i + 1),
                                        .data         = PAWL_TEXT("{}"),
                                        .metadata     = PAWL_TEXT("{}"),
                                        .type_version = PAWL_TEXT("1.0")};
    changes.saga_insert.items = inserts;
    changes.saga_insert.count = SET;
    scripted_code(p, pawl_store_commit(p->store, &changes, NULL, &p->error), PAWL_OK);
    assert_int_equal(
        scripted_count(p, "1 run set nocount on*insert into [dbo].[shop_Alarm]* ?, 1, " CUT ")*"),
        1);
}

static void keep_line(pawl_text line, void *context)
{
    fprintf(context, "%.*s\n", PAWL_TEXT_ARGS(line));
}

/* Verify passes an old column with a warning, and no other type. */
static void d13_d19_an_old_column_is_a_warning(void **state)
{
    static const char *const types[] = {"datetime", "datetime2(3)", "nvarchar(200)",
                                        "nvarchar(100)", "nvarchar(400)"};
#define ALARM "table shop_Alarm: column Correlation_RingsAt"
    static const char *const says[] = {
        "warning: " ALARM " is a datetime, not datetime2(6): ",
        ALARM ": incorrect data type: expected datetime2(6), found datetime2(3)",
        "warning: " ALARM " is a nvarchar(200), not nvarchar(400): a text of more than 100 "
        "characters beyond U+FFFF may be refused\n",
        ALARM ": incorrect data type: expected nvarchar(400), found nvarchar(100)", ""};
    scripted *p = *state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        pawl_saga_table        alarm   = alarm_of(false);
        const pawl_saga_table *sagas[] = {&alarm};
        pawl_schema_spec       spec    = {.tables = sagas, .table_count = 1};
        char                  *text    = NULL;
        size_t                 size    = 0;
        FILE                  *to      = open_memstream(&text, &size);
        alarm.main.type                = types[i][0] == 'n' ? PAWL_VALUE_TEXT : PAWL_VALUE_TIME;
        (void)open_alarm(p, types[i], false, COUNT_ROWS);
        (void)pawl_store_schema(p->url, PAWL_SCHEMA_VERIFY, &spec, keep_line, to, &p->error);
        fclose(to);
        assert_non_null(strstr(text, says[i]));
        for (size_t other = 0; other < sizeof types / sizeof types[0]; other++)
            assert_true(other == i || says[other][0] == '\0' || strstr(text, says[other]) == NULL);
        free(text);
    }
}

/* The rows of the table are counted by a statement of the dialect. */
static void d28_a_column_of_another_type_is_refused(void **state)
{
    scripted *p = *state;
    scripted_code(p, open_alarm(p, "datetime2(6)", true, COUNT_ROWS), PAWL_ESCHEMA);
    scripted_text(p, "expected datetimeoffset(7), found datetime2(6); nothing is converted; the "
                     "table has 3 rows");
    scripted_code(p, open_alarm(p, "datetime", true, COUNT_ROWS), PAWL_ESCHEMA);
    scripted_text(p, "expected datetimeoffset(7), found datetime;");
    scripted_code(p, open_alarm(p, "datetimeoffset(7)", false, COUNT_ROWS), PAWL_ESCHEMA);
    scripted_text(p, "expected datetime2(6), found datetimeoffset(7)");
    scripted_code(p, open_alarm(p, "datetime2(6)", false, ""), PAWL_OK);
}

#define SCRIPTED(function)                                                      \
    {                                                                           \
#function, function, scripted_setup, scripted_teardown, (void *)"mssql" \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPTED(d37_claims_are_kept_behind_a_deadlock),
        SCRIPTED(d37_a_claim_that_another_took_is_gone),
        SCRIPTED(d13_times_are_sent_as_texts),
        SCRIPTED(d37_claims_go_with_the_connection),
        SCRIPTED(a_commit_of_another_transaction_is_none),
        SCRIPTED(a_failure_behind_a_result_is_a_failure),
        SCRIPTED(d36_long_texts_have_a_long_type),
        SCRIPTED(a_round_is_one_text),
        SCRIPTED(the_answer_of_a_round_is_looked_for),
        SCRIPTED(an_answer_that_is_none_is_a_failure),
        SCRIPTED(a_space_at_the_end_is_told),
        SCRIPTED(a_length_may_be_told_at_the_end),
        SCRIPTED(rows_are_read_at_once),
        SCRIPTED(a_deadline_cancels_a_call),
        SCRIPTED(others_are_refused),
        SCRIPTED(d17_times_with_an_offset_are_looked_up_and_read),
        SCRIPTED(d13_an_old_column_cuts_times),
        SCRIPTED(d13_a_column_of_now_is_whole),
        SCRIPTED(d13_a_set_cuts_times),
        SCRIPTED(d13_d19_an_old_column_is_a_warning),
        SCRIPTED(d28_a_column_of_another_type_is_refused),
    };
    return cmocka_run_group_tests_name("odbc_mssql", tests, NULL, NULL);
}
#else
int main(void)
{
    puts("skipped: built without unixODBC");
    return 77;
}
#endif
