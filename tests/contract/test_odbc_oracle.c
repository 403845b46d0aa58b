/* test_odbc_oracle.c - a store of Oracle's behind the scripted ODBC driver: no server is needed. The calls, how values
 * travel, and the state of claims, round and worker behind each failure that is known of such a server.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "support/tests.h"

#define SCRIPTED(function) \
    TESTS(function, scripted *p, SCRIPTED_TEST(#function, function, "oracle"))

#define DEADLINE_MS 20000
#define SHORT_MS 2000
#define BEGIN "* run declare i varchar2*"
#define FENCE "* run update \"PAWL_WORKERS\" set \"LASTCOMMIT\"*"
#define SETTLE "* run delete from \"PAWL_QUEUE\"* '7' 'orders'"
#define SEND "* run insert into \"PAWL_QUEUE\"*"
#define MANUAL "* mode manual"
#define AUTO "* mode auto"

/* ---- Claims ---------------------------------------------------------------- */

#define TIME "'2026-01-01 00:00:00.000000'"
/* Empty texts as they are stored, and a text that begins as one of these does. */
#define ROW                                                                                 \
    "  row '7' " TIME " " TIME " '0' '0' '1970-01-01 00:00:00.000000' null 'm-7' 't' '\1' " \
    "'\1\1x' open:3000 '{}'\n"
#define CLAIM \
    "on declare cursor c is select /*+ index(q (queue, due, seq)) */ \"SEQ\"*\n count 0\n then\n"
#define LOCK_AGAIN "on select \"SEQ\" from \"PAWL_QUEUE\"*for update skip locked\n"

static void claim_one(scripted *p, const char *rules)
{
    pawl_queue_rows rows;
    scripted_open(p, rules, DEADLINE_MS);
    scripted_code(p, scripted_claim(p, &rows), PAWL_OK);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].seq, 7);
    assert_int_equal(rows.items[0].due, SCRIPTED_NOW);
    assert_int_equal(rows.items[0].message.correlation_id.size, 0);
    assert_memory_equal(rows.items[0].message.causation_id.data, "\1x", 2);
    assert_int_equal(rows.items[0].message.headers.size, 3000);
    assert_memory_equal(rows.items[0].message.body.data, "{}", 2);
}

/* The rows are the block's implicit result; the transaction begins before it and ends with the commit, and
 * the driver commits nothing in between. */
SCRIPTED(a_claim_is_a_block)
{
    claim_one(p, CLAIM ROW);
    SCRIPTED_EXPECT(
        p, AUTO, "1 run select count(*)*", MANUAL, BEGIN,
        "1 run declare cursor*n pls_integer := least(to_number(?), 32767);*fetch c bulk collect into m limit n*'orders' 2026*'1' 'orders'*");
    scripted_mark(p);
    scripted_code(p, scripted_settle_and_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, SEND, "1 run commit");
    scripted_mark(p);
    scripted_code(p, scripted_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, FENCE, SEND, "1 run commit");
}

/* No other session may end a statement: the driver is asked to. */
SCRIPTED(a_deadline_cancels_a_call)
{
    scripted_open(p,
                  "on insert into \"PAWL_QUEUE\"*\n times 1\n blocks\n"
                  " error HY008 1013 ORA-01013: cancelled\n",
                  SHORT_MS);
    scripted_code(p, scripted_send(p), PAWL_ETIMEOUT);
    scripted_text(p, "longer than 2000 ms");
    assert_true(scripted_count(p, "1 cancel *") >= 1);
    assert_int_equal(scripted_count(p, "1 run rollback"), 1);
    scripted_code(p, scripted_send(p), PAWL_OK);
    assert_int_equal(scripted_count(p, "* connect *"), 0);
}

/* A goodbye would commit what is open. */
SCRIPTED(a_session_is_rolled_back_before_it_ends)
{
    claim_one(p, CLAIM ROW);
    pawl_store_interrupt(p->store);
    scripted_close(p);
    assert_int_equal(scripted_count(p, "1 end rollback"), 1);
}

/* By position: the values stand in the order of the statement's markers. */
SCRIPTED(d36_texts_numbers_and_times_travel_so)
{
    scripted_open(p, "", DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_OK);
    /* Correlation, causation and headers are empty. */
    assert_int_equal(
        scripted_count(p, "* run insert*<- 'orders' 2026-01-01 00:00:00.000000 2026* '0' 'm-1' 't' "
                          "'.' '.' '.' '{}'"),
        1);
}

#define DEADLOCK "on insert into \"PAWL_QUEUE\"*\n times 1\n error HY000 60 ORA-00060: deadlock\n"

SCRIPTED(d37_claims_are_kept_behind_a_deadlock)
{
    claim_one(p, DEADLOCK CLAIM ROW LOCK_AGAIN "  row '7'\n");
    scripted_mark(p);
    scripted_code(p, scripted_settle_and_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, SEND, "1 run rollback", BEGIN, "1 run select \"SEQ\"*", FENCE,
                    SETTLE, SEND, "1 run commit");
}

SCRIPTED(d37_a_claim_that_another_took_is_gone)
{
    claim_one(p, DEADLOCK CLAIM ROW LOCK_AGAIN "  columns 1\n");
    scripted_code(p, scripted_settle_and_send(p), PAWL_EGONE);
}

SCRIPTED(d37_claims_go_with_the_session)
{
    claim_one(p, "on insert into \"PAWL_QUEUE\"*\n times 1\n error HY000 28 ORA-00028: killed\n"
                 " gone\n" CLAIM ROW);
    scripted_mark(p);
    scripted_code(p, scripted_settle_and_send(p), PAWL_ELOST);
    SCRIPTED_EXPECT(p, FENCE, SETTLE, SEND);
    scripted_code(p, scripted_settle_and_send(p), PAWL_EGONE);
    assert_int_equal(scripted_count(p, "2 connect *"), 1);
    assert_int_equal(scripted_count(p, SETTLE), 1);
}

#define TAKEN                                                                       \
    "on insert into \"PAWL_QUEUE\"*\n error 23000 1 ORA-00001: unique constraint\n" \
    "on select 1 from \"PAWL_QUEUE\"*\n"
#define LOOK "1 run select 1 from \"PAWL_QUEUE\" where \"QUEUE\" = ? and \"MESSAGEID\" = ?*'m-1'*"

/* A row that is there already is left, and nothing else of the commit is undone. */
SCRIPTED(d37_a_message_that_is_there_is_left)
{
    scripted_open(p, TAKEN " row '1'\n", DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, FENCE, SEND, LOOK, "1 run commit");
}

SCRIPTED(d37_a_key_that_another_row_has_is_a_failure)
{
    scripted_open(p, TAKEN " columns 1\n", DEADLINE_MS);
    scripted_code(p, scripted_send(p), PAWL_EPERSIST);
    scripted_text(p, "a key is taken, but not by this row: odbc: ORA-00001: unique constraint");
    assert_int_equal(scripted_count(p, "1 run commit"), 0);
}

/* ---- Workers ---------------------------------------------------------------- */

#define WORKER                                                                               \
    "on select \"ID\", \"ENDPOINT\"*\n row '7fc9493e-b8fe-40b7-bbbb-5896c5db62cd' 'orders' " \
    "'[]' '1' '5' " TIME " '0' " TIME " '0' '0' '0' '0' '0' '0' null 'shop' '\1' '0.1.0' null\n"

/* No worker has a lock: its heartbeat is younger than 15 s by the server's clock, or it is dead. */
SCRIPTED(a_worker_lives_by_its_heartbeat)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    scripted_open(p, WORKER "on select case when sys_extract_utc*\n row '1'\n", DEADLINE_MS);
    scripted_code(p, pawl_store_worker_list(p->store, p->arena, &items, &count, &p->error),
                  PAWL_OK);
    assert_int_equal(count + items[0].host.size + items[0].program_version.size, 1);
    assert_int_equal(
        scripted_count(p, "1 run select case when sys_extract_utc(systimestamp) < timestamp "
                          "'1970-01-01 00:00:15' + numtodsinterval(20454, 'DAY') + "
                          "numtodsinterval(0.000000, 'SECOND') then '1' else '0' end from dual"),
        1);
}

/* ---- Doctor ---------------------------------------------------------------- */

#define CHECKS                                                            \
    "on select extract(day from d)*\n row '1767225600000000' null null\n" \
    "on select 2, 'the index*\n columns 3\non select 1, 'the tablespace*\n columns 3\n"

static pawl_finding finding_of(scripted *p, const char *rules, const char *name)
{
    const pawl_diagnosis asked = {.now = SCRIPTED_NOW};
    pawl_finding_rows    rows  = {0};
    pawl_finding         found = {.name = PAWL_TEXT("")};
    scripted_open(p, rules, DEADLINE_MS);
    scripted_code(p, pawl_store_diagnose(p->store, &asked, p->arena, &rows, &p->error), PAWL_OK);
    for (size_t i = 0; i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].name, pawl_text_of(name)))
            found = rows.items[i];
    assert_true(found.name.size != 0);
    return found;
}

/* Tables of earlier versions go on working; each finding has the statement that mends it. */
SCRIPTED(doctor_names_what_older_tables_lack)
{
    static const char wrong[] = CHECKS
        "on select 1, 'numbers of *all_tab_identity_cols*in ('\"PAWL_QUEUE\"', '\"PAWL_OUTBOX\"', "
        "*'%ORDER_FLAG: N%'*\n row '1' 'numbers of PAWL_QUEUE.SEQ are not ordered' 'alter table it'\n"
        "on select 1, 'the column STATE*all_tab_col_statistics*= '\"PAWL_OUTBOX\"' *histogram = 'NONE'\n"
        " row '1' 'without a histogram' 'exec it'\n";
    static const char right[] = CHECKS
        "on select 1, 'numbers of *\n columns 3\non select 1, 'the column STATE*\n columns 3\n";
    static const char *const names[] = {"order", "histogram"};
    for (size_t i = 0; i < 2; i++) {
        pawl_finding found = finding_of(p, wrong, names[i]);
        assert_int_equal(found.level, PAWL_FINDING_WARN);
        assert_true(found.remedy.size != 0);
        assert_int_equal(finding_of(p, right, names[i]).level, PAWL_FINDING_OK);
    }
}

/* Of the queue, the outbox, events, aggregators and the history. The scripted catalog has no tables behind the script
 * either, which apply says. */
SCRIPTED(numbers_of_new_tables_are_ordered)
{
    pawl_schema_spec spec = {.table_count = 0};
    scripted_write(p, "on select table_name, column_name*\n columns 6\non *execute immediate*\n",
                   "");
    scripted_code(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error),
                  PAWL_ESCHEMA);
    assert_int_equal(scripted_count(p, "*generated always as identity (order) primary key*"), 5);
}

/* ---- Rounds ---------------------------------------------------------------- */

#define BLOCK "* run declare s varchar2(4000)*"
#define ANSWER(letters) "on declare s varchar2*\n count 0\n then\n row '" letters "'\n"

static pawl_code send_many(scripted *p, size_t count, size_t body_size)
{
    pawl_queue_send *sends   = pawl_arena_take(p->arena, count * sizeof *sends);
    char            *body    = pawl_arena_take(p->arena, body_size + 1);
    pawl_changes     changes = {.now = SCRIPTED_NOW, ONE_UNIT};
    memset(body, 'b', body_size);
    for (size_t i = 0; i < count; i++)
        sends[i] = (pawl_queue_send){.queue   = PAWL_TEXT("orders"),
                                     .due     = SCRIPTED_NOW,
                                     .message = {.id   = pawl_arena_printf(p->arena, "m-%zu", i),
                                                 .type = PAWL_TEXT("\1\"\\"),
                                                 .body = {.data = body, .size = body_size}}};
    changes.queue_send.items = sends;
    changes.queue_send.count = count;
    return pawl_store_commit(p->store, &changes, NULL, &p->error);
}

/* A single trip for all writes of a round, each with a letter in the answer. */
SCRIPTED(a_round_is_a_block)
{
    scripted_open(p, ANSWER("aaaa"), DEADLINE_MS);
    scripted_code(p, send_many(p, 3, 2), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN,
                    "* run declare s varchar2(4000)*forall*LASTCOMMIT*p9(i)*PAWL_QUEUE*"
                    "dbms_sql.return_result(r); end; <- '[[\"00000000-0000-0001-*"
                    "'[[\"orders\",\"2026-01-01 00:00:00.000000\",*",
                    "1 run commit");
    scripted_open(p, ANSWER("aaaa"), DEADLINE_MS);
    scripted_code(p, send_many(p, 2, 2), PAWL_OK);
    /* Too few for it; the type has one more of the character that it begins with. */
    SCRIPTED_EXPECT(p, BEGIN, FENCE, SEND " 'm-0' '..\"*", SEND, "1 run commit");
}

static void expect_again(scripted *p, const char *rules)
{
    scripted_open(p, rules, DEADLINE_MS);
    scripted_code(p, send_many(p, 3, 2), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, BLOCK, "1 run rollback", BEGIN, FENCE, SEND, SEND, SEND,
                    "1 run commit");
}

/* A fence that found no row, a key that is there, an answer that is too short: item by item, each is told. */
SCRIPTED(a_block_that_is_unlike_is_done_item_by_item)
{
    expect_again(p, ANSWER("maaa"));
    expect_again(p, ANSWER("aaa"));
    expect_again(p, "on declare s varchar2*\n error 23000 1 ORA-00001: unique constraint\n");
    expect_again(p, "on declare s varchar2*\n error HY000 12899 ORA-12899: too large\n");
}

SCRIPTED(a_block_that_is_undone_is_sent_again)
{
    scripted_open(
        p, "on declare s varchar2*\n times 1\n error HY000 60 ORA-00060: deadlock\n" ANSWER("aaaa"),
        DEADLINE_MS);
    scripted_code(p, send_many(p, 3, 2), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, BLOCK, "1 run rollback", BEGIN, BLOCK, "1 run commit");
    scripted_open(p, "on declare s varchar2*\n error HY000 3113 ORA-03113: end of file\n gone\n",
                  DEADLINE_MS);
    scripted_code(p, send_many(p, 3, 2), PAWL_ELOST);
    SCRIPTED_EXPECT(p, BEGIN, BLOCK);
}

/* A body that is no part of a set goes by itself, behind those before it. */
SCRIPTED(long_bodies_go_by_themselves)
{
    scripted_open(p, ANSWER("a"), DEADLINE_MS);
    scripted_code(p, send_many(p, 3, 1901), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, BLOCK, SEND, SEND, SEND, "1 run commit");
}

/* 32,000 bytes of a parameter: 8 of these messages. */
SCRIPTED(a_set_is_cut_by_bytes)
{
    scripted_open(p, ANSWER("aaaaaaaaaa"), DEADLINE_MS);
    scripted_code(p, send_many(p, 9, 1900), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, "* run declare s*<- '[[*'[[*'[[*", "1 run commit");
    /* Three are as many as four. */
    scripted_open(p, ANSWER("aaaaaaaaaaaaaaaaaa"), DEADLINE_MS);
    scripted_code(p, send_many(p, 17, 1900), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, "* run declare s*<- '[[*'[[*'[[*'[[*'[]'", "1 run commit");
    scripted_open(p, ANSWER("aaaaaaaaa"), DEADLINE_MS);
    scripted_code(p, send_many(p, 8, 1900), PAWL_OK);
    assert_int_equal(scripted_count(p, "* run declare s*<- '[[*'[[*'[[*"), 0);
}

/* ---- Names ------------------------------------------------------------------ */

#define LONG_PROPERTY "abcdefghijklmnopqrstuvwxy"
#define SAGA(table, first, second)                                                    \
    {                                                                                 \
        .type = PAWL_TEXT_INIT("T"), .name = PAWL_TEXT_INIT(table),                   \
        .main         = {.property = PAWL_TEXT_INIT(first), .type = PAWL_VALUE_TEXT}, \
        .transitional = {.property = PAWL_TEXT_INIT(second), .type = PAWL_VALUE_INT}, \
    }

/* A saga whose names fit is looked for; every table of the script has the columns of one of the shared ones. */
static pawl_code open_with(scripted *p, const char *prefix, const pawl_saga_table *saga)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    options.system_prefix      = prefix;
    options.tables             = &saga;
    options.table_count        = 1;
    scripted_close(p);
    scripted_write(p,
                   "on select table_name, column_name*shop_*\n columns 6\n"
                   "on select \"VERSION\" from \"PAWL_567890SCHEMA\"*\n row '5'\n",
                   "");
    return pawl_store_open(p->url, &options, &p->store, &p->error);
}

static const pawl_saga_table long_name  = SAGA("shop_456789012345678901234567890", "Id", "Old");
static const pawl_saga_table long_alike = SAGA("shop_T", LONG_PROPERTY "z", LONG_PROPERTY "a");

/* No MERGE, which takes no long value: a row that is not there is inserted behind the update. */
SCRIPTED(a_state_of_a_stream_is_updated_or_else_inserted)
{
    static const struct {
        const char *rules;
        int         inserts;
    } ways[] = {
        {"on update \"PAWL_FOLDS\"*\n count 1\n", 0},
        {"on update \"PAWL_FOLDS\"*\n count 0\non insert into \"PAWL_FOLDS\"*\n count 1\n", 1},
        {"on update \"PAWL_FOLDS\"*\n count 0\non insert into \"PAWL_FOLDS\"*\n"
         " error 23000 1 ORA-00001: unique constraint\non select 1 from \"PAWL_FOLDS\"*\n row '1'\n",
         1},
    };
    pawl_stream_snapshot_set snapshot = {
        .stream = PAWL_TEXT("Cart/1"), .version = 9, .type_version = 1, .at = SCRIPTED_NOW};
    pawl_changes changes = {
        .now = SCRIPTED_NOW, ONE_UNIT, .stream_snapshot_set = {.items = &snapshot, .count = 1}};
    snapshot.state      = PAWL_TEXT("{}");
    snapshot.dispatches = PAWL_TEXT("[]");
    for (size_t i = 0; i < COUNT(ways); i++) {
        scripted_open(p, ways[i].rules, DEADLINE_MS);
        scripted_code(p, pawl_store_commit(p->store, &changes, NULL, &p->error), PAWL_OK);
        assert_int_equal(scripted_count(p, "1 run update \"PAWL_FOLDS\"*"), 1);
        assert_int_equal(scripted_count(p, "1 run insert into \"PAWL_FOLDS\"*"), ways[i].inserts);
    }
}

/* An empty parameter is null there, which the column takes in an insert alone (ORA-01407). */
SCRIPTED(a_body_that_is_cleared_is_an_empty_blob)
{
    int64_t    count = 0;
    bool       more  = false;
    pawl_sweep what  = {.bodies_before = SCRIPTED_NOW, .count_max = 1};
    scripted_open(
        p,
        "on delete from \"PAWL_INBOX\"*\n nodata\non delete from \"PAWL_OUTBOX\"*\n nodata\n"
        "on select max(\"STREAM\")*\n row 'x' '1'\n"
        "on update \"PAWL_EVENTS\" set \"BODY\" = empty_blob()*\n count 1\n",
        DEADLINE_MS);
    scripted_code(p, pawl_store_sweep(p->store, &what, &count, &more, &p->error), PAWL_OK);
    assert_int_equal(count, 1);
    assert_int_equal(
        scripted_count(p, "1 run update \"PAWL_EVENTS\"*<- 'pawl.dead/' 'x' 2026-01-01*"), 1);
}

TESTS(d6_d8_names_of_30_bytes, scripted *p,
      SCRIPTED_TEST("d6_d8_names_of_30_bytes", d6_d8_names_of_30_bytes, "oracle&names=30"))
{
    static const pawl_saga_table fits =
        SAGA("shop_4567890123456789012345678", LONG_PROPERTY "z", "Id");
    scripted_code(p, open_with(p, "pawl_", &fits), PAWL_ESCHEMA);
    scripted_text(p, "without the column Id");
    scripted_code(p, open_with(p, "pawl_", &long_name), PAWL_EINVAL);
    scripted_text(p, "has 32 bytes, limit 30 of oracle");
    scripted_code(p, open_with(p, "pawl_", &long_alike), PAWL_EINVAL);
    scripted_text(p, "have one name in oracle");
    scripted_code(p, open_with(p, "pawl_567890", &fits), PAWL_EINVAL);
    scripted_text(p, "has 11 bytes, limit 10");
}

SCRIPTED(d6_names_of_128_bytes_are_whole)
{
    scripted_code(p, open_with(p, "pawl_567890", &long_name), PAWL_ESCHEMA);
    scripted_text(p, "without the column Id");
    scripted_code(p, open_with(p, "pawl_567890", &long_alike), PAWL_ESCHEMA);
}

static void keep_line(pawl_text line, void *context)
{
    fprintf(context, "%.*s\n", PAWL_TEXT_ARGS(line));
}

/* Verify passes a column that was made for 200 units, not characters, with a warning; a shorter one is refused. */
SCRIPTED(d19_an_older_column_of_texts_is_a_warning)
{
    static const char *const found[][2] = {
        {"NVARCHAR2(200)",
         "warning: table shop_T: column CORR_CITY is a NVARCHAR2(200), not nvarchar2(400): "
         "a text of more than 100 characters beyond U+FFFF may be refused\n"},
        {"NVARCHAR2(100)",
         "CORR_CITY: incorrect data type: expected nvarchar2(400), found NVARCHAR2(100)\n"}};
    static const pawl_saga_table trip = SAGA("shop_T", "City", "Old"), *saga = &trip;
    const pawl_schema_spec       spec = {.tables = &saga, .table_count = 1};
    for (size_t i = 0; i < 2; i++) {
        char  text[20000] = "", rules[200];
        FILE *to          = fmemopen(text, sizeof text, "w");
        (void)snprintf(
            rules, sizeof rules,
            "on select table_name, column_name*\n row 'SHOP_T' 'CORR_CITY' '%s' '' '0' '0'\n",
            found[i][0]);
        scripted_write(p, rules, "");
        (void)pawl_store_schema(p->url, PAWL_SCHEMA_VERIFY, &spec, keep_line, to, &p->error);
        (void)fclose(to);
        assert_non_null(strstr(text, found[i][1]));
        assert_null(strstr(text, found[1 - i][1]));
    }
}

SCRIPTED(d17_a_time_with_an_offset_is_refused)
{
    static const pawl_saga_table alarm = {
        .type = PAWL_TEXT_INIT("Alarm"),
        .name = PAWL_TEXT_INIT("shop_Alarm"),
        .main = {.property = PAWL_TEXT_INIT("At"), .type = PAWL_VALUE_TIME, .with_offset = true},
    };
    scripted_code(p, open_with(p, "pawl_", &alarm), PAWL_ECONFIG);
    scripted_text(p, "saga Alarm: property 'At' asks for a time with an offset, which oracle has");
}

/* ---- At open ------------------------------------------------------------------ */

typedef struct refusal {
    const char *rules;
    pawl_code   code;
    const char *text;
} refusal;

SCRIPTED(open_says_what_is_wrong)
{
    static const refusal refusals[] = {
        {"on connect *\n error 28000 1017 ORA-01017: invalid username/password\n", PAWL_EDENIED,
         "user and password"},
        {"on connect *\n error HY000 12541 ORA-12541: TNS:no listener\n", PAWL_EUNREACHABLE,
         "host and port"},
        {"on connect *\n error HY000 12514 ORA-12514: TNS:listener\n", PAWL_ENOTSTORE,
         "name another"},
        {"on connect *\n error HY000 12154 ORA-12154: TNS:could not resolve\n", PAWL_ECONFIG,
         "connection string"},
        {"on select (select max*\n row '12.1.0.2.0' 'PAWL' 'AL32UTF8' '1'\n", PAWL_ENOTSTORE,
         "Oracle 12.1, at least 12.2 is needed"},
        {"on select (select max*\n row '19.0.0.0.0' 'PAWL' 'WE8ISO8859P1' '1'\n", PAWL_ENOTSTORE,
         "AL32UTF8 is needed"},
        {"on select (select max*\n row '19.0.0.0.0' 'PAWL' 'AL32UTF8' '2'\n", PAWL_ECONFIG,
         "NLS_LANG=.AL32UTF8"},
        {"on select table_name, column_name*\n columns 6\n", PAWL_ESCHEMA, "pawl schema apply"},
    };
    for (size_t i = 0; i < COUNT(refusals); i++) {
        scripted_code(p, scripted_try(p, refusals[i].rules, DEADLINE_MS), refusals[i].code);
        scripted_text(p, refusals[i].text);
    }
}

/* ---- URLs ------------------------------------------------------------------- */

static void encode(char *to, const char *text)
{
    for (; *text != '\0'; text++)
        to += sprintf(to, strchr("/;=?&%", *text) != NULL ? "%%%02X" : "%c", (unsigned char)*text);
}

/* The driver's name, and where it takes its script from, stand in what the scripted URL has. */
static pawl_code open_by_url(scripted *p, const char *options)
{
    pawl_store_options options_of = PAWL_STORE_OPTIONS_INIT;
    char               url[3000], driver[1000] = "", more[1500] = "";
    scripted_close(p);
    scripted_write(p, "", "");
    char *script = strstr(p->url, ";Script=");
    char *end    = strrchr(p->url, '?');
    assert_non_null(script);
    *end    = '\0';
    *script = '\0';
    encode(driver, strstr(p->url, "Driver=") + 7);
    encode(more, script + 1);
    snprintf(url, sizeof url,
             "oracle://shop:se%%3Bcret@db.example:1522/SVC?driver=%s&attributes=%s%s", driver, more,
             options);
    options_of.mode = PAWL_OPEN_CHECK;
    return pawl_store_open(url, &options_of, &p->store, &p->error);
}

SCRIPTED(a_url_is_a_connect_descriptor)
{
    scripted_code(p, open_by_url(p, ""), PAWL_OK);
    assert_int_equal(
        scripted_count(p, "1 connect Driver=*;DBQ=(DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)"
                          "(HOST=db.example)(PORT=1522))(CONNECT_DATA=(SERVICE_NAME=SVC)));"
                          "UID=shop;PWD={se;cret};Script=*"),
        1);
    scripted_code(p,
                  open_by_url(p, "&sid=yes&protocol=tcps&wallet=%2Fetc%2Fwallet&server_dn=CN%3Ddb"),
                  PAWL_OK);
    assert_int_equal(
        scripted_count(p,
                       "1 connect *(PROTOCOL=tcps)*(SID=SVC))(SECURITY=(MY_WALLET_DIRECTORY="
                       "/etc/wallet)(SSL_SERVER_DN_MATCH=yes)(SSL_SERVER_CERT_DN=\"CN=db\")));*"),
        1);
}

SCRIPTED(bad_options_of_a_url_are_named)
{
    static const char *const bad[][2] = {
        {"&sid=maybe", "sid is 'maybe', may be no or yes"},
        {"&protocol=udp", "protocol is 'udp', may be tcp or tcps"},
        {"&names=31", "names is '31', may be 128 or 30"},
        {"&wallet=%29%28PORT%3D1", "wallet has a parenthesis"},
        {"&walet=x", "walet"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        pawl_code code = open_by_url(p, bad[i][0]);
        assert_true(code == PAWL_ECONFIG || code == PAWL_EINVAL);
        scripted_text(p, bad[i][1]);
        assert_null(strstr(p->error.text, "cret"));
    }
}
