/* test_odbc_mssql_saga.c - sagas of a store on SQL Server behind a scripted driver: loads that lock their rows, times that
 * sagas are found by, and columns of an older type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "support/tests.h"

#define SCRIPTED(function) TESTS(function, scripted *p, SCRIPTED_TEST(#function, function, "mssql"))

#define DEADLINE_MS 20000
#define SET 32 /* rows that are written at once */
#define ROUND "on set nocount on; declare @f*\n"
#define APPLIED "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" /* 31 */

/* ---- Locks ------------------------------------------------------------------- */

#define BEGIN "1 run set implicit_transactions off; if @@trancount > 0 rollback*begin transaction*"
#define SELECT "select 0, [Id], *from [dbo].[shop_Order]"
#define WAITS SELECT " with (updlock, rowlock) where [Id] = ?*"
#define SKIPS SELECT " with (updlock, readpast, rowlock, readcommittedlock) where [Id] = ?*"
#define LOOKS SELECT " where [Id] = ?*"
#define THERE " row '0' '00000000-0000-0000-0000-000000000007' '1' '{}' '{}' '1.0'\n"

static pawl_saga_row load_order(scripted *p, const char *rules, pawl_saga_lock lock)
{
    static const pawl_saga_table order = {.type = PAWL_TEXT_INIT("Order"),
                                          .name = PAWL_TEXT_INIT("shop_Order")};
    const pawl_value             id    = pawl_value_uuid((pawl_uuid){.bytes = {[15] = 7}});
    pawl_saga_row                row   = {0};
    scripted_open(p, rules, DEADLINE_MS);
    scripted_code(p,
                  pawl_store_saga_load(p->store, &order, PAWL_SAGA_BY_ID, &id, 1, lock, p->arena,
                                       &row, &p->error),
                  PAWL_OK);
    return row;
}

/* Under read_committed_snapshot a read with readpast alone is refused. */
SCRIPTED(s32_locked_loads_have_hints)
{
    assert_int_equal(load_order(p, "on " WAITS "\n" THERE, PAWL_SAGA_LOCKED).presence,
                     PAWL_SAGA_THERE);
    SCRIPTED_EXPECT(p, BEGIN, "1 run " WAITS);
    assert_int_equal(load_order(p, "on " SKIPS "\n" THERE, PAWL_SAGA_SKIP_LOCKED).presence,
                     PAWL_SAGA_THERE);
    SCRIPTED_EXPECT(p, BEGIN, "1 run " SKIPS);
}

/* A row that was passed over is looked for without a lock. */
SCRIPTED(s9_a_row_that_is_passed_over_is_busy)
{
    assert_int_equal(
        load_order(p, "on " SKIPS "\n columns 6\non " LOOKS "\n" THERE, PAWL_SAGA_SKIP_LOCKED)
            .presence,
        PAWL_SAGA_LOCKED_BY_ANOTHER);
    assert_int_equal(
        load_order(p, "on " SKIPS "\n columns 6\non " LOOKS "\n columns 6\n", PAWL_SAGA_SKIP_LOCKED)
            .presence,
        PAWL_SAGA_MISSING);
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
SCRIPTED(d17_times_with_an_offset_are_looked_up_and_read)
{
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
SCRIPTED(d13_an_old_column_cuts_times)
{
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
SCRIPTED(d13_a_column_of_now_is_whole)
{
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
SCRIPTED(d13_a_set_cuts_times)
{
    const pawl_saga_table alarm = alarm_of(false);
    pawl_saga_insert      inserts[SET];
    pawl_changes          changes = {.now = SCRIPTED_NOW, ONE_UNIT};
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
SCRIPTED(d13_d19_an_old_column_is_a_warning)
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
    for (size_t i = 0; i < COUNT(types); i++) {
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
        for (size_t other = 0; other < COUNT(types); other++)
            assert_true(other == i || says[other][0] == '\0' || strstr(text, says[other]) == NULL);
        free(text);
    }
}

/* The rows of the table are counted by a statement of the dialect. */
SCRIPTED(d28_a_column_of_another_type_is_refused)
{
    scripted_code(p, open_alarm(p, "datetime2(6)", true, COUNT_ROWS), PAWL_ESCHEMA);
    scripted_text(p, "expected datetimeoffset(7), found datetime2(6); nothing is converted; the "
                     "table has 3 rows");
    scripted_code(p, open_alarm(p, "datetime", true, COUNT_ROWS), PAWL_ESCHEMA);
    scripted_text(p, "expected datetimeoffset(7), found datetime;");
    scripted_code(p, open_alarm(p, "datetimeoffset(7)", false, COUNT_ROWS), PAWL_ESCHEMA);
    scripted_text(p, "expected datetime2(6), found datetimeoffset(7)");
    scripted_code(p, open_alarm(p, "datetime2(6)", false, ""), PAWL_OK);
}
