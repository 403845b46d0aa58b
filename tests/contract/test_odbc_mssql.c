/* test_odbc_mssql.c - a store on SQL Server behind a scripted driver: claims behind a deadlock, a round as one text
 * with the result of each item, an answer of several results, texts with a mark, values whose length is told at their
 * end, settings of an application's connection, and what is refused at open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "support/tests.h"

#include <sql.h>
#include <sqlext.h>

#define SCRIPTED(function) TESTS(function, scripted *p, SCRIPTED_TEST(#function, function, "mssql"))

#define DEADLINE_MS 20000
#define SHORT_MS 2000
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

#define DEADLOCK "on insert into [dbo].[pawl_queue]*\n times 1\n error 42000 1205 Deadlock victim\n"
#define AGAIN "on select [Seq] from [dbo].[pawl_queue] with (updlock*\n"

/* The server rolled all back: nothing is sent but a rollback, and the locks are taken again. */
SCRIPTED(d37_claims_are_kept_behind_a_deadlock)
{
    claim_one(p, DEADLOCK ONE_DUE AGAIN "  row '7'\n");
    scripted_code(p, scripted_settle_and_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, INSERT, ROLLBACK, BEGIN, LOCK, FENCE, SETTLE, INSERT, COMMIT);
}

SCRIPTED(d37_a_claim_that_another_took_is_gone)
{
    claim_one(p, DEADLOCK ONE_DUE AGAIN "  columns 1\n");
    scripted_code(p, scripted_settle_and_send(p), PAWL_EGONE);
    assert_int_equal(scripted_count(p, SETTLE), 1);
    assert_int_equal(scripted_count(p, COMMIT), 1);
}

/* SQL_ERROR without a record; the worker's lock is taken again. */
SCRIPTED(d37_claims_go_with_the_connection)
{
    claim_one(p, "on insert into [dbo].[pawl_queue]*\n times 1\n error\n gone\n" ONE_DUE);
    scripted_code(p, scripted_settle_and_send(p), PAWL_ELOST);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, INSERT);
    scripted_code(p, scripted_settle_and_send(p), PAWL_EGONE);
    assert_int_equal(scripted_count(p, "2 run declare @pawl int; exec @pawl = sp_getapplock*"), 1);
}

/* A transaction that is not the one that was begun: the guard of the commit, which is done again. */
SCRIPTED(a_commit_of_another_transaction_is_none)
{
    scripted_open(p,
                  "on if @@trancount <> 1*\n times 1\non if @@trancount <> 1*\n times 1\n"
                  " error 42000 50001 pawl: the transaction is another one\n",
                  DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, FENCE, INSERT, COMMIT, ROLLBACK, BEGIN, FENCE, INSERT, COMMIT);
}

/* A text of several statements may fail behind its first result. */
SCRIPTED(a_failure_behind_a_result_is_a_failure)
{
    scripted_open(p,
                  "on set implicit_transactions off;*\n times 1\n"
                  "on set implicit_transactions off;*\n times 1\n count 0\n then\n"
                  " error 42000 1205 Deadlock victim\n",
                  DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, BEGIN, FENCE, INSERT, COMMIT);
}

/* Two that open at once: each would wait, with its own row locked, for the other's. */
SCRIPTED(workers_are_looked_at_before_a_row_is_made)
{
    scripted_code(p, scripted_try(p, "", DEADLINE_MS), PAWL_OK);
    scripted_mark(p);
    scripted_code(p,
                  pawl_store_worker_open(p->store, PAWL_TEXT("orders"), PAWL_TEXT("[]"),
                                         SCRIPTED_NOW, &p->error),
                  PAWL_OK);
    SCRIPTED_EXPECT(p, "1 run declare @pawl int; exec @pawl = sp_getapplock*", BEGIN,
                    "1 run select [Id], [Endpoint]*", "1 run insert into [dbo].[pawl_workers]*",
                    "1 run select [Epoch], [LastCommit]*", COMMIT);
}

/* ---- A round --------------------------------------------------------------- */

/* In UTF-16 a text has no more than 4000 units unless it is of a long type. */
SCRIPTED(d36_long_texts_have_a_long_type)
{
    char headers[4002];
    memset(headers, 'h', sizeof headers);
    pawl_queue_send send = {
        .queue   = PAWL_TEXT("orders"),
        .due     = SCRIPTED_NOW,
        .message = {.id = PAWL_TEXT("m-1"), .type = PAWL_TEXT("t"), .body = PAWL_TEXT("{}")}};
    pawl_changes changes = {.now = SCRIPTED_NOW, ONE_UNIT};
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

#define TAKEN "on select 1 from [dbo].[pawl_queue]*\n"
#define APPLIED "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" /* 31 */

/* 32 go in one text, with what became of each: a message that is there is left. */
SCRIPTED(a_round_is_one_text)
{
    scripted_open(p, ROUND " row '" APPLIED "d'\n" TAKEN " row '1'\n", DEADLINE_MS);
    scripted_code(p, scripted_send_many(p, SET + 1), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, FENCE,
                    "1 run set nocount on; declare @f varchar(200) = '', @c int; begin try insert "
                    "into*m-0*m-31*",
                    "1 run select 1 from*'m-31'*", INSERT, COMMIT);
}

/* Such as that of an owner's trigger. */
SCRIPTED(d37_a_key_in_a_round_that_another_row_has_is_a_failure)
{
    scripted_open(p, ROUND " row '" APPLIED "d'\n" TAKEN " columns 1\n", DEADLINE_MS);
    scripted_code(p, scripted_send_many(p, SET), PAWL_EPERSIST);
    scripted_text(p, "a key is taken, but not by this row: odbc: a row has a key that is there");
    assert_int_equal(scripted_count(p, COMMIT), 0);
}

SCRIPTED(the_answer_of_a_round_is_looked_for)
{
    scripted_open(p, ROUND " count 1\n then\n row '" APPLIED "a'\n", DEADLINE_MS);
    scripted_code(p, scripted_send_many(p, SET), PAWL_OK);
    scripted_open(p, ROUND " count 1\n then\n error 42000 1205 Deadlock victim\n", SHORT_MS);
    scripted_code(p, scripted_send_many(p, SET), PAWL_EBUSY);
}

SCRIPTED(an_answer_that_is_none_is_a_failure)
{
    static const char *const answers[] = {" row '" APPLIED "'\n", " row '" APPLIED "x'\n",
                                          " columns 1\n", " count 32\n"};
    for (size_t i = 0; i < COUNT(answers); i++) {
        scripted_open(p, test_text(ROUND "%s", answers[i]), DEADLINE_MS);
        scripted_code(p, scripted_send_many(p, SET), PAWL_EPERSIST);
        scripted_text(p, "does not say how many rows");
        assert_int_equal(scripted_count(p, COMMIT), 0);
    }
}

/* ---- Values ---------------------------------------------------------------- */

SCRIPTED(a_space_at_the_end_is_told)
{
    pawl_queue_rows rows;
    scripted_open(p, CLAIM ROW("7", "m \x01", "'{} '"), DEADLINE_MS);
    scripted_code(p,
                  pawl_store_commit(p->store,
                                    ONE_CHANGE(queue_send, SCRIPTED_NOW,
                                               .queue = PAWL_TEXT("orders"), .due = SCRIPTED_NOW,
                                               .message = {.id   = PAWL_TEXT("m "),
                                                           .type = PAWL_TEXT("t"),
                                                           .body = PAWL_TEXT("{} ")}),
                                    NULL, &p->error),
                  PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run insert into [dbo].[pawl_queue]*'m .'*'{} '"), 1);
    scripted_code(p, scripted_claim(p, &rows), PAWL_OK);
    assert_int_equal(rows.count, 1);
    assert_true(pawl_text_equal(rows.items[0].message.id, PAWL_TEXT("m ")));
}

/* A part of an error may end where a word does. Spaces alone would be equal to the empty part, which each error has. */
SCRIPTED(a_space_at_the_end_of_a_part_is_no_end)
{
    pawl_dead_query query = {.error_part = PAWL_TEXT("lock "), .count_max = 9};
    pawl_dead_rows  rows;
    scripted_open(p, "on select *from [dbo].[pawl_dead]*\n columns 14\n", DEADLINE_MS);
    scripted_code(p, pawl_store_dead_find(p->store, &query, p->arena, &rows, &p->error), PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run select *<- * 'lock ' 'lock ' *"), 1);
    query.error_part = PAWL_TEXT(" ");
    scripted_code(p, pawl_store_dead_find(p->store, &query, p->arena, &rows, &p->error), PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run select *<- * ' .' ' .' *"), 1);
}

static void claims_body(scripted *p, const char *body, size_t size, pawl_code expected)
{
    pawl_queue_rows rows;
    scripted_open(p, test_text(CLAIM ROW("7", "m-7", "%s"), body), DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), expected);
    if (expected != PAWL_OK)
        return;
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].message.body.size, size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(rows.items[0].message.body.data[i], 'a');
}

/* FreeTDS tells the length of a text with its last piece. */
SCRIPTED(a_length_may_be_told_at_the_end)
{
    claims_body(p, "open:1", 1, PAWL_OK);
    claims_body(p, "open:2046", 2046, PAWL_OK);
    claims_body(p, "open:2047", 2047, PAWL_OK);
    claims_body(p, "open:2048", 2048, PAWL_OK);
    claims_body(p, "open:100000", 100000, PAWL_OK);
    claims_body(p, "fill:100000", 100000, PAWL_OK);
    claims_body(p, "lie:5000:3000", 0, PAWL_EPERSIST);
}

/* Where U+0001 stands behind a text that ends with a space, the server has it before the text alone: between the first and
 * the last id by their bytes 'm-7' would not be. */
SCRIPTED(d13_known_ids_are_found_in_any_order)
{
    static const pawl_text ids[] = {
        PAWL_TEXT_INIT("m-0"), PAWL_TEXT_INIT("m-1"), PAWL_TEXT_INIT("m-2"),
        PAWL_TEXT_INIT("m-3"), PAWL_TEXT_INIT("m-4"), PAWL_TEXT_INIT("m-5"),
        PAWL_TEXT_INIT("m-6"), PAWL_TEXT_INIT("m-7"), PAWL_TEXT_INIT("m-7 ")};
    bool known[COUNT(ids)] = {false};
    scripted_open(p,
                  "on select [MessageId] from [dbo].[pawl_inbox]* between *\n columns 1\n"
                  "on select [MessageId] from [dbo].[pawl_inbox]* in (*\n row 'm-7'\n",
                  DEADLINE_MS);
    scripted_code(
        p, pawl_store_inbox_known(p->store, PAWL_TEXT("orders"), ids, COUNT(ids), known, &p->error),
        PAWL_OK);
    for (size_t i = 0; i < COUNT(ids); i++)
        assert_int_equal(known[i], i == 7);
    assert_int_equal(scripted_count(p, "1 run select [MessageId]* between *"), 0);
}

static void find_retried(scripted *p, pawl_time after)
{
    pawl_queue_rows          rows;
    const pawl_retried_query query = {PAWL_TEXT("orders"), PAWL_TEXT("t"), after, 1000, 9, 0};
    scripted_mark(p);
    scripted_code(p, pawl_store_queue_retried(p->store, &query, p->arena, &rows, &p->error),
                  PAWL_OK);
}

/* FreeTDS makes another day of a day before March 1600, and of the first one a number below zero. A column of the type
 * datetime, from before this store, takes three decimals and no more. */
SCRIPTED(d13_times_are_sent_as_texts)
{
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
SCRIPTED(rows_are_read_at_once)
{
    pawl_queue_rows rows;
    scripted_open(p, CLAIM ROW("7", "m-7", "'{}'") ROW("8", "m-8", "'{}'"), DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), PAWL_OK);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.items[1].seq, 8);
    scripted_open(p, ONE_DUE " fetch 01000 20017 Unexpected EOF\n", DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), PAWL_ELOST);
}

/* No right is needed to end a statement of one's own: the driver cancels it. */
SCRIPTED(a_deadline_cancels_a_call)
{
    scripted_open(p,
                  "on insert into [dbo].[pawl_queue]*\n times 1\n blocks\n"
                  " error HY008 0 Operation cancelled\n",
                  SHORT_MS);
    scripted_code(p, scripted_send(p), PAWL_ETIMEOUT);
    scripted_text(p, "longer than 2000 ms");
    assert_true(scripted_count(p, "1 cancel *") >= 1);
    assert_int_equal(scripted_count(p, ROLLBACK), 1);
}

/* A driver that gives rows as they come waits for the server between them, and between the results of a text; it may
 * take the cancel for the end of the rows. */
SCRIPTED(a_deadline_cancels_a_read)
{
    static const char *const ends[] = {"fetch HY008 0 Operation cancelled\n", ""};
    for (size_t i = 0; i < COUNT(ends); i++) {
        pawl_queue_rows rows;
        scripted_open(p, test_text(ONE_DUE " stalls\n %s", ends[i]), SHORT_MS);
        scripted_code(p, scripted_claim(p, &rows), PAWL_ETIMEOUT);
        scripted_text(p, "longer than 2000 ms");
        assert_true(scripted_count(p, "1 cancel *") >= 1);
        assert_int_equal(scripted_count(p, ROLLBACK), 1);
        scripted_code(
            p,
            scripted_try(
                p,
                test_text(
                    "on declare @pawl int; exec @pawl = sp_getapplock*\n row '0'\n stalls\n %s",
                    ends[i]),
                SHORT_MS),
            PAWL_OK);
        scripted_code(p,
                      pawl_store_worker_open(p->store, PAWL_TEXT("orders"), PAWL_TEXT("[]"),
                                             SCRIPTED_NOW, &p->error),
                      PAWL_ETIMEOUT);
    }
    scripted_open(p,
                  "on set implicit_transactions off;*\n times 1\n"
                  "on set implicit_transactions off;*\n times 1\n count 0\n then\n blocks\n"
                  " error HY008 0 Operation cancelled\n",
                  SHORT_MS);
    scripted_code(p, scripted_send(p), PAWL_ETIMEOUT);
    assert_true(scripted_count(p, "1 cancel *") >= 1);
}

SCRIPTED(a_value_that_the_driver_cannot_read_is_its_failure)
{
    pawl_queue_rows rows;
    scripted_open(p, CLAIM ROW("7", "m-7", "failed") " fetch 08S01 0 Link failure\n", DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), PAWL_ELOST);
    scripted_text(p, "Link failure");
    scripted_code(p, scripted_send(p), PAWL_OK);
    assert_int_equal(scripted_count(p, "2 connect *"), 1);
}

/* ---- Refusals at open ------------------------------------------------------- */

/* Editions 5 and 8 (Azure) and 12 (Fabric) call themselves version 12: the statement asks for their edition. */
SCRIPTED(editions_without_versions_are_taken)
{
    scripted_code(
        p, scripted_try(p, "on select case when cast(*\n row '99' '5' '130' 'shop'\n", DEADLINE_MS),
        PAWL_OK);
    assert_int_equal(
        scripted_count(p, "1 run select case when cast(serverproperty('EngineEdition') as int) "
                          "in (5, 8, 12) then 99 else *"),
        1);
}

SCRIPTED(others_are_refused)
{
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
