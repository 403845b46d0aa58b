/* test_engine_finder.c - custom finders: by a condition over the stored state, in SQL of
 * the application's own, and a saga found so that another worker moved meanwhile.
 * E30; more of it in test_engine_sql.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/operations.h"

#ifdef PAWL_HAVE_SQLITE
#include <sqlite3.h>
#endif
#ifdef PAWL_HAVE_POSTGRES
#include <libpq-fe.h>
#endif

RECORD(book_state, (TEXT, isbn), (TEXT, title), (INT32, lent));
RECORD(buy, (TEXT, isbn), (TEXT, title));
RECORD(lend, (TEXT, title));
RECORD(burn, (TEXT, title));

static world_log    seen;
static world       *around;        /* of the test in hand */
static int          moves_left;    /* handlers that another worker is faster than */
static bool         is_ended_next; /* the other worker ends the saga instead */
static pawl_saga_id first_book;

/* ---- Another worker ----------------------------------------------------------- */

static const pawl_application *program; /* of the world */

static const pawl_saga_table *book_table(void)
{
    return world_table(around, program, 0);
}

/* Lends the first book a hundred times, or ends its saga, between a handler and its commit. */
static void move_book(void)
{
    pawl_saga_row          row   = {.version = 0};
    const pawl_saga_table *table = book_table();
    if (moves_left-- <= 0)
        return;
    must(pawl_store_saga_find(around->store, table, PAWL_SAGA_BY_ID,
                              pawl_value_uuid(first_book.uuid), around->arena, &row,
                              world_error()));
    row.data = PAWL_TEXT("{\"isbn\":\"1\",\"title\":\"Emma\",\"lent\":100}");
    if (is_ended_next)
        must(pawl_store_saga_delete(around->store, table, &row, WORLD_START, world_error()));
    else
        must(pawl_store_saga_update(around->store, table, &row, WORLD_START, world_error()));
}

/* ---- Handlers ------------------------------------------------------------------ */

static pawl_code on_buy(pawl_context *ctx, book_state *book, const buy *message)
{
    if (pawl_uuid_is_zero(first_book.uuid))
        first_book = pawl_saga_id_in_flight(ctx);
    book->title = message->title;
    return PAWL_OK;
}
PAWL_HANDLER(on_buy, book_state, buy);

static pawl_code find_first(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    world_note(&seen, "find");
    *id = first_book;
    return PAWL_OK;
}

static pawl_code on_lend(pawl_context *ctx, book_state *book, const lend *message)
{
    world_note(&seen, "lend(%d,v%d)", book->lent, (int)pawl_saga_version(ctx));
    move_book();
    book->lent++;
    return PAWL_OK;
}
PAWL_HANDLER(on_lend, book_state, lend);

static pawl_code on_burn(pawl_context *ctx, book_state *book, const burn *message)
{
    world_note(&seen, "burn(%d,v%d)", book->lent, (int)pawl_saga_version(ctx));
    move_book();
    return pawl_complete(ctx);
}
PAWL_HANDLER(on_burn, book_state, burn);

/* Its finder names no book, whatever the message's number is. */
RECORD(donate, (TEXT, isbn), (TEXT, title));

static pawl_code find_nothing(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    world_note(&seen, "find");
    return PAWL_OK;
}

static pawl_code on_donate(pawl_context *ctx, book_state *book, const donate *message)
{
    world_note(&seen, "donate(%.*s,v%d)", PAWL_TEXT_ARGS(book->title), (int)pawl_saga_version(ctx));
    book->lent++;
    return PAWL_OK;
}
PAWL_HANDLER(on_donate, book_state, donate);

static const pawl_saga book_saga = SAGA_OF(
    "Book", book_state, "isbn", {.handle = PAWL_HANDLE(on_buy), .key = "isbn", .starts = true},
    {.handle = PAWL_HANDLE(on_lend), .find = find_first},
    {.handle = PAWL_HANDLE(on_burn), .find = find_first},
    {.handle = PAWL_HANDLE(on_donate), .key = "isbn", .find = find_nothing, .starts = true});

/* A saga without a correlation property. */
RECORD(remark_state, (INT32, count));
RECORD(remark, (TEXT, text));

static pawl_code on_remark(pawl_context *ctx, remark_state *state, const remark *message)
{
    state->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_remark, remark_state, remark);

static const pawl_saga remark_saga = {
    .name  = "Remark",
    .state = PAWL_RECORD_OF(remark_state),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_remark), .find = find_nothing, .starts = true})};

static const pawl_application application =
    ONE_ENDPOINT("finder", .name = "library", .sagas = PAWL_SAGAS(&book_saga, &remark_saga));

static world *open_world(const char *url, const pawl_application *the_program)
{
    program       = the_program;
    moves_left    = 0;
    is_ended_next = false;
    first_book    = (pawl_saga_id){{{0}}};
    world *it     = world_begin(url, program, NULL, NULL);
    around        = it;
    world_post(it, NULL, PAWL_MESSAGE(buy, .isbn = PAWL_TEXT("1"), .title = PAWL_TEXT("Emma")));
    world_drain(it);
    world_post(it, NULL,
               PAWL_MESSAGE(buy, .isbn = PAWL_TEXT("2"), .title = PAWL_TEXT("Persuasion")));
    world_drain(it);
    world_forget(&seen);
    return it;
}

/* ---- Conflicts ------------------------------------------------------------------- */

ON_ALL_STORES(e30_an_update_of_what_was_found_is_checked, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url, &application);
    moves_left      = 1;
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("Emma")));
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 1);
    assert_int_equal(step.refused, 1);
    assert_string_equal(seen.text, "find lend(0,v1) find lend(100,v2) ");
    (void)world_saga_text(it, "Book", "1", &version);
    assert_int_equal(version, 3);
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("Emma")));
    world_forget(&seen);
    LOG_AFTER(world_drain(it), seen, "find lend(101,v3) ");
}

/* Another worker's change meanwhile is not swept away with the saga. */
ON_ALL_STORES(e30_a_completion_of_what_was_found_is_checked, const char *url)
{
    world *it  = open_world(url, &application);
    moves_left = 1;
    world_post(it, NULL, PAWL_MESSAGE(burn, .title = PAWL_TEXT("Emma")));
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 1);
    assert_int_equal(step.refused, 1);
    assert_string_equal(seen.text, "find burn(0,v1) find burn(100,v2) ");
    assert_int_equal(world_saga_count(it, "Book"), 1);
}

/* Not inserted again by the update: the message finds none, twice, and begins none. */
ON_ALL_STORES(e30_what_was_found_and_is_gone_stays_gone, const char *url)
{
    world *it     = open_world(url, &application);
    moves_left    = 1;
    is_ended_next = true;
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("Emma")));
    LOG_AFTER(world_drain(it), seen, "find lend(0,v1) find find ");
    assert_int_equal(world_saga_count(it, "Book"), 1);
    assert_int_equal(world_queue(it, "library").count, 0);
}

/* The finder names none, but the message's value is that of a saga, which no second one can have. */
ON_ALL_STORES(e30_where_the_finder_names_none_the_value_finds_the_saga, const char *url)
{
    world *it = open_world(url, &application);
    world_post(it, NULL, PAWL_MESSAGE(donate, .isbn = PAWL_TEXT("1")));
    world_post(it, NULL, PAWL_MESSAGE(donate, .isbn = PAWL_TEXT("3")));
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(donate, .isbn = PAWL_TEXT("3")));
    pawl_step step = world_drain(it);
    assert_int_equal(step.refused, 0);
    assert_string_equal(seen.text, "find donate(Emma,v1) find donate(,v0) find donate(,v1) ");
    assert_int_equal(world_saga_count(it, "Book"), 3);
    world_json_equal(it, world_saga_text(it, "Book", "3", NULL), "{\"isbn\":\"3\",\"lent\":2}");
}

ON_ALL_STORES(e30_a_saga_without_a_property_begins_where_the_finder_names_none, const char *url)
{
    world *it = open_world(url, &application);
    for (int i = 0; i < 2; i++)
        world_post(it, NULL, PAWL_MESSAGE(remark, .text = PAWL_TEXT("1")));
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Remark"), 2);
}

/* ---- Conditions -------------------------------------------------------------------- */

#if defined PAWL_HAVE_SQLITE || defined PAWL_HAVE_POSTGRES

static pawl_code take_id(pawl_context *ctx, const char *text, pawl_saga_id *id)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (text != NULL && pawl_uuid_parse(pawl_text_of(text), &id->uuid, &error) != PAWL_OK)
        return pawl_fail(ctx, PAWL_EPERSIST, "%s", error.text);
    return PAWL_OK;
}

#endif
#ifdef PAWL_HAVE_SQLITE

static pawl_code find_in_sqlite(pawl_context *ctx, const char *title, pawl_saga_id *id)
{
    static const char sql[] =
        "select \"Id\" from \"library_Book\" where json_extract(\"Data\", '$.title') = ?1";
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(pawl_sqlite(ctx), sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_bind_text(statement, 1, title, -1, SQLITE_TRANSIENT) != SQLITE_OK)
        return pawl_fail(ctx, PAWL_EPERSIST, "%s", sqlite3_errmsg(pawl_sqlite(ctx)));
    bool      is_there = sqlite3_step(statement) == SQLITE_ROW;
    pawl_code code =
        take_id(ctx, is_there ? (const char *)sqlite3_column_text(statement, 0) : NULL, id);
    sqlite3_finalize(statement);
    return code;
}

#endif
#ifdef PAWL_HAVE_POSTGRES

/* The URL of the world names its schema, which the connection does not search. */
static pawl_code find_in_postgres(pawl_context *ctx, const char *title, pawl_saga_id *id)
{
    const char *values[] = {title};
    const char *schema   = strstr(around->url, "schema=");
    assert_non_null(schema);
    schema += strlen("schema=");
    PGresult *result = PQexecParams(
        pawl_postgres(ctx),
        test_text("select \"Id\" from \"%.*s\".\"library_Book\" where \"Data\"->>'title' = $1",
                  (int)strcspn(schema, "&"), schema),
        1, NULL, values, NULL, NULL, 0);
    pawl_code code = PAWL_OK;
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        code = pawl_fail(ctx, PAWL_EPERSIST, "%s", PQerrorMessage(pawl_postgres(ctx)));
    else
        code = take_id(ctx, PQntuples(result) == 1 ? PQgetvalue(result, 0, 0) : NULL, id);
    PQclear(result);
    return code;
}

#endif

static pawl_code find_by_title(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    const lend *it = message;
#ifdef PAWL_HAVE_POSTGRES
    if (strncmp(around->url, "postgres", strlen("postgres")) == 0)
        return find_in_postgres(ctx, it->title.data, id);
#endif
#ifdef PAWL_HAVE_SQLITE
    return find_in_sqlite(ctx, it->title.data, id);
#else
    return pawl_fail(ctx, PAWL_EUNSUPPORTED, "no SQL to find %s", it->title.data);
#endif
}

static const pawl_saga searched_saga = SAGA_OF(
    "Book", book_state, "isbn", {.handle = PAWL_HANDLE(on_buy), .key = "isbn", .starts = true},
    {.handle = PAWL_HANDLE(on_lend), .find = find_by_title, .own_sql = true});
static const pawl_endpoint_spec searched_library = {.name  = "library",
                                                    .sagas = PAWL_SAGAS(&searched_saga)};
static const pawl_application   searched         = APPLICATION("search", &searched_library);

TESTS(e30_a_condition_over_the_state_finds_the_saga, const char *url,
      STORE_ROW(e30_a_condition_over_the_state_finds_the_saga, "sqlite"),
      STORE_ROW(e30_a_condition_over_the_state_finds_the_saga, "postgres"))
{
    int64_t version = 0;
    world  *it      = open_world(url, &searched);
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("Persuasion")));
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("Persuasion")));
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("Sanditon")));
    LOG_AFTER(world_drain(it), seen, "lend(0,v1) lend(1,v2) ");
    (void)world_saga_text(it, "Book", "2", &version);
    assert_int_equal(version, 3);
    (void)world_saga_text(it, "Book", "1", &version);
    assert_int_equal(version, 1);
    assert_int_equal(world_dead(it).count, 0);
}
