/* test_engine_rename.c - programs with the old correlation property, with both and with the new
 * one, on one store: D29 to D31.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/native.h"
#include "support/world.h"

RECORD(parcel, (TEXT, number), (TEXT, barcode), (INT32, scans));

RECORD(enter, (TEXT, number), (TEXT, barcode));

RECORD(scan, (TEXT, number), (TEXT, barcode));

/* The first program knows of no barcodes. */
static pawl_code on_enter_old(pawl_context *ctx, parcel *state, const enter *message)
{
    state->scans++;
    return PAWL_OK;
}
PAWL_HANDLER(on_enter_old, parcel, enter);

static pawl_code on_scan_old(pawl_context *ctx, parcel *state, const scan *message)
{
    state->scans++;
    return PAWL_OK;
}
PAWL_HANDLER(on_scan_old, parcel, scan);

static pawl_code on_enter(pawl_context *ctx, parcel *state, const enter *message)
{
    if (state->number.size == 0)
        state->number = message->number;
    state->barcode = message->barcode;
    state->scans++;
    return PAWL_OK;
}
PAWL_HANDLER(on_enter, parcel, enter);

static pawl_code on_scan(pawl_context *ctx, parcel *state, const scan *message)
{
    state->barcode = message->barcode;
    state->scans++;
    return PAWL_OK;
}
PAWL_HANDLER(on_scan, parcel, scan);

static const pawl_saga saga_a =
    SAGA_OF("Parcel", parcel, "number",
            {.handle = PAWL_HANDLE(on_enter_old), .key = "number", .starts = true},
            {.handle = PAWL_HANDLE(on_scan_old), .key = "number"});

static const pawl_saga saga_ab = {
    .name         = "Parcel",
    .state        = PAWL_RECORD_OF(parcel),
    .correlation  = "number",
    .transitional = "barcode",
    .on =
        PAWL_ON({.handle           = PAWL_HANDLE(on_enter),
                 .key              = "number",
                 .transitional_key = "barcode",
                 .starts           = true},
                {.handle = PAWL_HANDLE(on_scan), .key = "number", .transitional_key = "barcode"})};

static const pawl_saga saga_b =
    SAGA_OF("Parcel", parcel, "barcode",
            {.handle = PAWL_HANDLE(on_enter), .key = "barcode", .starts = true},
            {.handle = PAWL_HANDLE(on_scan), .key = "barcode"});

static const pawl_endpoint_spec depot_a  = {.name = "depot", .sagas = PAWL_SAGAS(&saga_a)};
static const pawl_endpoint_spec depot_ab = {.name = "depot", .sagas = PAWL_SAGAS(&saga_ab)};
static const pawl_endpoint_spec depot_b  = {.name = "depot", .sagas = PAWL_SAGAS(&saga_b)};

#define PROGRAM(depot)                                                                 \
    {                                                                                  \
        PAWL_APPLICATION_HEAD, .name = "rename", .endpoints = PAWL_ENDPOINTS(&(depot)) \
    }
static const pawl_application program_a = PROGRAM(depot_a), program_ab = PROGRAM(depot_ab),
                              program_b = PROGRAM(depot_b);

static void post_enter(world *it, const char *number, const char *barcode)
{
    world_post(
        it, NULL,
        PAWL_MESSAGE(enter, .number = pawl_text_of(number), .barcode = pawl_text_of(barcode)));
}

static void post_scan(world *it, const char *number, const char *barcode)
{
    world_post(
        it, NULL,
        PAWL_MESSAGE(scan, .number = pawl_text_of(number), .barcode = pawl_text_of(barcode)));
}

/* ---- What is refused ------------------------------------------------------------ */

/* Opens the program's tables, or asks for their schema. */
static pawl_code open_tables(const char *url, const pawl_application *program, pawl_open_mode mode,
                             pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    pawl_arena        *arena   = pawl_arena_create(0);
    options.mode               = mode;
    world_ok(pawl_endpoint_tables(program, NULL, NULL, arena, &options.tables, &options.table_count,
                                  error),
             error);
    pawl_code code = pawl_store_open(url, &options, &store, error);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    return code;
}

static pawl_code ask_schema(const char *url, const pawl_application *program, pawl_schema_verb verb,
                            test_lines *lines, pawl_error *error)
{
    pawl_schema_spec spec  = {.table_count = 0};
    pawl_arena      *arena = pawl_arena_create(0);
    *lines                 = (test_lines){.count = 0};
    world_ok(
        pawl_endpoint_tables(program, NULL, NULL, arena, &spec.tables, &spec.table_count, error),
        error);
    pawl_code code = pawl_store_schema(url, verb, &spec, test_line, lines, error);
    pawl_arena_destroy(arena);
    return code;
}

static void expect_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not say '%s'", text, part);
}

/* Neither an open for work nor an apply goes on; who looks is let in, and verify says it. */
static void expect_refused(const char *url, const pawl_application *program, const char *says)
{
    pawl_error error = PAWL_ERROR_INIT;
    test_lines lines;
    assert_int_equal(open_tables(url, program, PAWL_OPEN_CREATE, &error), PAWL_ESCHEMA);
    expect_says(error.text, says);
    assert_int_equal(ask_schema(url, program, PAWL_SCHEMA_APPLY, &lines, &error), PAWL_ESCHEMA);
    expect_says(error.text, says);
    assert_int_equal(ask_schema(url, program, PAWL_SCHEMA_VERIFY, &lines, &error), PAWL_ESCHEMA);
    expect_says(lines.text, says);
}

/* A program goes straight to the other property, and to the third phase too early: with the
 * phase between, and each row touched in it, it is let in, and no saga is doubled. */
ON_ALL_STORES(d31_a_skipped_phase_is_refused_with_the_number_of_rows, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    world_hold(url);
    world *it = world_begin(url, &program_a, NULL, NULL);
    post_enter(it, "n1", "");
    post_enter(it, "n2", "");
    post_enter(it, "n3", "");
    world_drain(it);
    world_close(it);

    test_lines lines;
    assert_int_equal(ask_schema(url, &program_b, PAWL_SCHEMA_APPLY, &lines, &error), PAWL_ESCHEMA);
    expect_says(error.text, "saga Parcel: in table depot_Parcel 3 rows have a value of number and "
                            "none of barcode");
    it = world_begin(url, &program_ab, NULL, NULL);
    expect_refused(url, &program_b, "3 rows have a value of number and none of barcode");
    post_scan(it, "n1", "b1");
    post_scan(it, "n2", "b2");
    world_drain(it);
    expect_refused(url, &program_b, "1 row has a value of number and none of barcode");
    expect_says(error.text, "number as correlation and barcode as transitional property");
    assert_int_equal(open_tables(url, &program_b, PAWL_OPEN_EXISTING, &error), PAWL_OK);
    post_enter(it, "n3", "b3");
    world_drain(it);
    world_close(it);

    it = world_begin(url, &program_b, NULL, NULL);
    post_scan(it, "", "b1");
    post_enter(it, "", "b2");
    post_scan(it, "", "b3");
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Parcel"), 3);
    assert_int_equal(world_json_number(world_saga_text(it, "Parcel", "b2", NULL), "scans"), 3);
    assert_int_equal(world_dead(it).count, 0);
}

/* ---- Three phases ----------------------------------------------------------------- */

static void expect_scans(world *it, const char *value, int64_t scans)
{
    const char *state = world_saga_text(it, "Parcel", value, NULL);
    if (state[0] == '\0')
        fail_msg("there is no saga of %s", value);
    if (world_json_number(state, "scans") != scans)
        fail_msg("%s: %s, expected %d scans", value, state, (int)scans);
}

static void expect_nothing_lost(world *it, int64_t saga_count)
{
    assert_int_equal(world_queue(it, "depot").count, 0);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_saga_count(it, "Parcel"), saga_count);
}

/* The old program and the one with both, on one store: whichever gets a message finds the saga
 * that the other began, and no value of the new property is taken back by the old program. */
ON_ALL_STORES(d29_old_and_both_run_side_by_side, const char *url)
{
    world *a = world_begin(url, &program_a, NULL, NULL);
    post_enter(a, "n1", "b1");
    world_drain(a);
    post_scan(a, "n1", "b1"); /* on its way while the next program starts */
    post_enter(a, "n2", "b2");
    world *ab = world_begin(url, &program_ab, NULL, NULL);
    world_drain(ab);
    post_scan(a, "n1", "b1");
    post_scan(a, "n2", "b2");
    post_enter(a, "n3", "b3");
    world_drain(a);
    post_enter(a, "other", "b1");
    post_scan(a, "n2", "b2");
    world_drain(ab);
    expect_scans(ab, "n1", 4);
    expect_scans(ab, "n2", 3);
    expect_scans(ab, "n3", 1);
    expect_nothing_lost(ab, 3);
    world_close(a); /* the other one keeps a store in memory */
    expect_refused(url, &program_b, "1 row has a value of number and none of barcode");
    post_scan(ab, "n3", "b3");
    world_drain(ab);
    expect_nothing_lost(ab, 3);
}

/* The program with both and the new one: rows that only the new one knows have no number, and are
 * found by their barcode. */
ON_ALL_STORES(d29_both_and_new_run_side_by_side, const char *url)
{
    world_hold(url);
    world *ab = world_begin(url, &program_ab, NULL, NULL);
    post_enter(ab, "n1", "b1");
    post_enter(ab, "n2", "b2");
    world_drain(ab);
    post_scan(ab, "n1", "b1");
    post_enter(ab, "n3", "b3");
    world *b = world_begin(url, &program_b, NULL, NULL);
    world_drain(b);
    post_scan(b, "n3", "b3");
    post_scan(b, "", "b1");
    post_enter(b, "n4", "b4");
    post_enter(b, "other", "b3");
    world_drain(ab);
    post_scan(b, "n4", "b4");
    post_enter(b, "n2", "b2");
    world_drain(b);
    world_close(ab);
    expect_scans(b, "b1", 3);
    expect_scans(b, "b2", 2);
    expect_scans(b, "b3", 3);
    expect_scans(b, "b4", 2);
    expect_nothing_lost(b, 4);
    world_close(b);
    ab = world_begin(url, &program_ab, NULL, NULL); /* the way back */
    post_scan(ab, "n3", "b3");
    world_drain(ab);
    expect_nothing_lost(ab, 4);
}

/* ---- Columns that went ---------------------------------------------------------- */

static pawl_code purge(const char *url, const pawl_application *program, pawl_error *error)
{
    pawl_schema_spec spec  = {.is_purge = true};
    pawl_arena      *arena = pawl_arena_create(0);
    world_ok(
        pawl_endpoint_tables(program, NULL, NULL, arena, &spec.tables, &spec.table_count, error),
        error);
    pawl_code code = pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, error);
    pawl_arena_destroy(arena);
    return code;
}

static bool has_column(const char *url, const char *table, const char *column)
{
    char  text[2000];
    void *native = native_open(url);
    bool  is_there =
        native_try(url, native, test_text("select count(\"%s\") from {\"%s\"}", column, table),
                   text, sizeof text);
    native_close(url, native);
    /* SQLite takes a name in quotes that is no column for a text. */
    return strncmp(url, "sqlite:", 7) == 0
               ? native_number(
                     url,
                     test_text("select count(*) from pragma_table_info('%s') where name = '%s'",
                               table, column)) == 1
               : is_there;
}

/* An application's own columns and tables stay, whatever their names begin with. */
static void add_columns(const char *url)
{
    native_exec(url, "alter table {\"depot_Parcel\"} add column \"Correlation_older\" integer");
    native_exec(url, "alter table {\"depot_Parcel\"} add column \"Correlation_oldest\" integer");
    native_exec(url, "alter table {\"depot_Parcel\"} add column \"CorrelationXnumber\" integer");
    native_exec(url, "create table {\"depot_Other\"} (\"Correlation_number\" integer)");
}

/* A view of the application's own stands on a column; MySQL and MariaDB drop what is under one. */
static void refuse_by_view(const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (strncmp(url, "sqlite:", 7) != 0 && strncmp(url, "postgres", 8) != 0)
        return;
    native_exec(url, "create view {depot_numbers} as select p.\"Correlation_number\" from "
                     "{\"depot_Parcel\"} p");
    assert_int_equal(purge(url, &program_b, &error), PAWL_EPERSIST);
    expect_says(error.text, "depot_numbers");
    assert_true(has_column(url, "depot_Parcel", "Correlation_number"));
    native_exec(url, "drop view {depot_numbers}");
}

/* The new program is at work when the columns go, and goes on. */
ON_SQL_STORES(d30_columns_that_no_property_needs_go_when_it_is_asked_for, const char *url)
{
    test_lines lines;
    world     *it = world_begin(url, &program_ab, NULL, NULL);
    post_enter(it, "n1", "b1");
    post_enter(it, "n2", "b2");
    world_drain(it);
    world_close(it);
    add_columns(url);
    it = world_begin(url, &program_b, NULL, NULL);
    post_scan(it, "", "b1");
    world_drain(it);

    must(ask_schema(url, &program_b, PAWL_SCHEMA_APPLY, &lines, world_error()));
    assert_true(has_column(url, "depot_Parcel", "Correlation_number"));
    must(ask_schema(url, &program_b, PAWL_SCHEMA_VERIFY, &lines, world_error()));
    assert_int_equal(lines.count, 3);
    expect_says(lines.text, "table depot_Parcel: column Correlation_number is of no correlation "
                            "property of saga Parcel any more");
    refuse_by_view(url);
    must(purge(url, &program_b, world_error()));
    must(purge(url, &program_b, world_error()));
    assert_false(has_column(url, "depot_Parcel", "Correlation_number"));
    assert_false(has_column(url, "depot_Parcel", "Correlation_older"));
    assert_false(has_column(url, "depot_Parcel", "Correlation_oldest"));
    assert_true(has_column(url, "depot_Parcel", "CorrelationXnumber"));
    assert_true(has_column(url, "depot_Parcel", "Correlation_barcode"));
    assert_true(has_column(url, "depot_Other", "Correlation_number"));
    must(ask_schema(url, &program_b, PAWL_SCHEMA_VERIFY, &lines, world_error()));
    assert_int_equal(lines.count, 0);

    post_scan(it, "", "b1");
    post_enter(it, "", "b2");
    post_enter(it, "", "b3");
    world_drain(it);
    expect_scans(it, "b1", 3);
    expect_scans(it, "b2", 2);
    expect_nothing_lost(it, 3);
    world_close(it);
    native_exec(url, "drop table {\"depot_Other\"}");
}

/* Nothing goes, not even the index, of what a saga is found by alone. */
ON_SQL_STORES(d31_a_column_that_rows_need_is_not_dropped, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    test_lines lines;
    world     *it = world_begin(url, &program_ab, NULL, NULL);
    world_close(it);
    it = world_begin(url, &program_a, NULL, NULL);
    post_enter(it, "n1", "");
    world_drain(it);
    assert_int_equal(purge(url, &program_b, &error), PAWL_ESCHEMA);
    expect_says(error.text, "1 row has a value of number and none of barcode");
    assert_int_equal(ask_schema(url, &program_a, PAWL_SCHEMA_VERIFY, &lines, &error), PAWL_OK);
    must(purge(url, &program_a, world_error())); /* back to the first: b goes */
    assert_false(has_column(url, "depot_Parcel", "Correlation_barcode"));
    post_scan(it, "n1", "");
    world_drain(it);
    expect_scans(it, "n1", 2);
    expect_nothing_lost(it, 1);
}

static const pawl_saga          saga_none    = {.name  = "Parcel",
                                                .state = PAWL_RECORD_OF(parcel),
                                                .on =
                                                    PAWL_ON({.handle = PAWL_HANDLE(on_enter), .starts = true})};
static const pawl_endpoint_spec depot_none   = {.name = "depot", .sagas = PAWL_SAGAS(&saga_none)};
static const pawl_application   program_none = PROGRAM(depot_none);

/* Going to no property takes both columns, and leaves the data. */
ON_SQL_STORES(d29_without_a_property_both_columns_go, const char *url)
{
    world *it = world_begin(url, &program_ab, NULL, NULL);
    post_enter(it, "n1", "b1");
    world_drain(it);
    world_close(it);
    it = world_begin(url, &program_none, NULL, NULL);
    must(purge(url, &program_none, world_error()));
    assert_false(has_column(url, "depot_Parcel", "Correlation_number"));
    assert_false(has_column(url, "depot_Parcel", "Correlation_barcode"));
    post_enter(it, "n1", "b1");
    world_drain(it);
    expect_nothing_lost(it, 2);
}
