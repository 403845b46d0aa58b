/* test_test_store.c - the test kit on a store that the test names: an application with its
 * own SQL, what is made, what is dropped, and what is refused. The rest of the kit is in
 * test_test_kit.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"
#include "support/native.h"
#include "support/world.h"

#include "pawl/test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The application: rooms are let, in a table of its own ------------------------------ */

RECORD(stay, (TEXT, room, .required = true), (INT64, nights));
RECORD(room, (TEXT, room), (INT64, nights));
RECORD(bill, (INT64, nights));

static char fixture[1000]; /* URL of the store, for native_in */

static pawl_code on_stay(pawl_context *ctx, room *state, const stay *message)
{
    state->nights   = message->nights;
    const char *sql = test_text("insert into {let_rooms} values ('%.*s', %d)",
                                PAWL_TEXT_ARGS(message->room), (int)message->nights);
    pawl_timeout(ctx, "leave", PAWL_DAYS(message->nights));
    return native_in(ctx, fixture, sql);
}
PAWL_HANDLER(on_stay, room, stay);

static pawl_code on_leave(pawl_context *ctx, room *state)
{
    pawl_send(ctx, "desk", PAWL_MESSAGE(bill, .nights = state->nights));
    return pawl_complete(ctx);
}
PAWL_TIMEOUT_HANDLER(on_leave, room);

static const pawl_saga room_saga =
    SAGA_OF("Room", room, "room",
            {.handle = PAWL_HANDLE(on_stay), .key = "room", .starts = true, .own_sql = true},
            {.handle = PAWL_HANDLE(on_leave), .timeout = "leave"});
static const pawl_application hotel =
    ONE_ENDPOINT("hotel", .name = "hotel", .sagas = PAWL_SAGAS(&room_saga));

/* The same sagas without SQL, for any store. */
static pawl_code on_plain_stay(pawl_context *ctx, room *state, const stay *message)
{
    state->nights = message->nights;
    return pawl_send(ctx, "desk", PAWL_MESSAGE(bill, .nights = message->nights));
}
PAWL_HANDLER(on_plain_stay, room, stay);

static const pawl_saga plain_saga = SAGA_OF(
    "Room", room, "room", {.handle = PAWL_HANDLE(on_plain_stay), .key = "room", .starts = true});
static const pawl_endpoint_spec inn_endpoint = {.name = "inn", .sagas = PAWL_SAGAS(&plain_saga)};
static const pawl_application   inn          = APPLICATION("inn", &inn_endpoint);

static pawl_test *open_test(const pawl_application *application, const pawl_test_options *options)
{
    return test_kit(application, options);
}

static void refuse(const pawl_application *application, const pawl_test_options *options,
                   pawl_code code, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_test *test  = (pawl_test *)fixture;
    assert_int_equal(pawl_test_create(application, options, &test, &error), code);
    assert_null(test);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, error.text);
}

static pawl_test_options on_store(const char *url)
{
    pawl_test_options options = PAWL_TEST_OPTIONS_INIT;
    options.store             = url;
    return options;
}

static size_t bills(pawl_test *test)
{
    size_t count = 99;
    assert_int_equal(pawl_test_count(test, "desk", PAWL_RECORD_OF(bill), &count, NULL), PAWL_OK);
    return count;
}

static void stay_in(pawl_test *test, const char *room_number, int64_t nights)
{
    must(pawl_test_deliver(test, NULL,
                           PAWL_MESSAGE(stay, .room = pawl_text_of(room_number), .nights = nights),
                           world_error()));
}

/* Two guests, three nights. */
static void let_rooms(pawl_test *test)
{
    pawl_dead_rows dead;
    stay_in(test, "1", 1);
    stay_in(test, "2", 3);
    assert_int_equal(bills(test), 0);
    pawl_test_advance(test, PAWL_DAYS(2), NULL);
    assert_int_equal(bills(test), 1);
    pawl_test_advance(test, PAWL_DAYS(1), NULL);
    assert_int_equal(bills(test), 2);
    assert_int_equal(pawl_test_dead(test, NULL, &dead, NULL), PAWL_OK);
    assert_int_equal(dead.count, 0);
}

/* ---- Any store with SQL ------------------------------------------------------------------ */

static bool has_pawl_tables(const char *url)
{
    pawl_store        *store   = NULL;
    pawl_store_options options = {.options_size = sizeof options, .mode = PAWL_OPEN_EXISTING};
    pawl_code          code    = pawl_store_open(url, &options, &store, NULL);
    pawl_store_close(store);
    return code == PAWL_OK;
}

static bool has_saga_table(const char *url)
{
    char  text[1000];
    void *native = native_open(url);
    bool  is_ok =
        native_try(url, native, "select count(*) from {\"hotel_Room\"}", text, sizeof text);
    native_close(url, native);
    return is_ok;
}

/* A store of a server has its shared tables when it is given back. */
static void give_back(const char *url)
{
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, NULL, NULL, NULL, world_error()));
}

/* A second run on the same store begins where the first one began, with the same ids. */
ON_SQL_STORES(own_sql_is_tested_again_and_again, const char *url)
{
    pawl_test_options options = on_store(url);
    snprintf(fixture, sizeof fixture, "%s", url);
    native_exec(url, "create table {let_rooms} (room varchar(20), nights integer)");
    for (int run = 1; run <= 2; run++) {
        pawl_test *test = open_test(&hotel, &options);
        assert_string_equal(pawl_test_url(test), url);
        let_rooms(test);
        test_now(test);
        assert_int_equal(native_number(url, "select sum(nights) from {let_rooms}"), 4 * run);
        assert_false(has_pawl_tables(url));
        assert_false(has_saga_table(url));
    }
    give_back(url);
}

/* Tables of the application's own are made beside pawl's, at any time. */
ON_SQL_STORES(tables_can_be_made_after_create, const char *url)
{
    pawl_test_options options = on_store(url);
    snprintf(fixture, sizeof fixture, "%s", url);
    pawl_test *test = open_test(&hotel, &options);
    native_exec(url, "create table {let_rooms} (room varchar(20), nights integer)");
    let_rooms(test);
    assert_int_equal(native_number(url, "select sum(nights) from {let_rooms}"), 4);
    if (server_is(url))
        assert_null(pawl_test_file(test));
    else
        assert_string_equal(pawl_test_file(test), strchr(url, ':') + 1);
    test_now(test);

    give_back(url);
}

ON_SQL_STORES(what_is_kept_is_refused_or_emptied, const char *url)
{
    pawl_test_options options = on_store(url);
    snprintf(fixture, sizeof fixture, "%s", url);
    native_exec(url, "create table {let_rooms} (room varchar(20), nights integer)");
    options.is_kept = true;
    pawl_test *test = open_test(&hotel, &options);
    stay_in(test, "1", 1);
    test_now(test);
    assert_int_equal(native_number(url, "select count(*) from {\"hotel_Room\"}"), 1);

    refuse(&hotel, &options, PAWL_ECONFIG,
           "store of a test: it is not empty, it has subscriptions (2)");
    refuse(&hotel, &options, PAWL_ECONFIG, "let .is_emptied drop what pawl has there");
    assert_int_equal(native_number(url, "select count(*) from {\"hotel_Room\"}"), 1);

    options.is_emptied = true;
    options.is_kept    = false;
    test               = open_test(&hotel, &options);
    let_rooms(test);
    test_now(test);
    assert_false(has_saga_table(url));
    give_back(url);
}

/* A store in use is left as it is: no table is added, no row is lost. */
ON_SQL_STORES(a_store_in_use_is_left_alone, const char *url)
{
    pawl_test_options options = on_store(url);
    pawl_sender      *sender  = NULL;
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, NULL, NULL, NULL, world_error()));
    must(pawl_sender_open(url, NULL, &sender, world_error()));
    test_send(sender, "hotel", NULL, PAWL_MESSAGE(stay, .room = PAWL_TEXT("1")));
    pawl_sender_close(sender);
    refuse(&hotel, &options, PAWL_ECONFIG, "it has queues with messages (1)");
    assert_false(has_saga_table(url));
    assert_int_equal(native_number(url, "select count(*) from {pawl_queue}"), 1);
}

static int64_t schema_version(const char *url)
{
    return native_number(url, *url == 'm' ? "select Version from {pawl_schema}"
                                          : "select \"Version\" from {pawl_schema}");
}

/* MySQL has names without quotes. */
static void set_schema_version(const char *url, int64_t version)
{
    const char *quote = *url == 'm' ? "" : "\"";
    native_exec(url,
                test_text("update {pawl_schema} set %sVersion%s = %d", quote, quote, (int)version));
}

/* Tables of an older version are not upgraded before they are refused. */
ON_SQL_STORES(tables_of_another_version_are_left_alone, const char *url)
{
    static const int  others[] = {-1, 2};
    pawl_test_options options  = on_store(url);
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, NULL, NULL, NULL, world_error()));
    int64_t known = schema_version(url);
    for (size_t i = 0; i < COUNT(others); i++) {
        const char *text = test_text("its tables are of schema %d and not", (int)known + others[i]);
        set_schema_version(url, known + others[i]);
        refuse(&hotel, &options, PAWL_ECONFIG, text);
        assert_int_equal(schema_version(url), known + others[i]);
        assert_false(has_saga_table(url));
    }
    set_schema_version(url, known - 1);
    options.is_emptied = true;
    test_now(open_test(&hotel, &options));
    give_back(url);
}

/* Sagas can outlive all else: schema drop without --app leaves them. */
ON_SQL_STORES(sagas_alone_are_something, const char *url)
{
    pawl_test_options options = on_store(url);
    snprintf(fixture, sizeof fixture, "%s", url);
    native_exec(url, "create table {let_rooms} (room varchar(20), nights integer)");
    options.is_kept = true;
    pawl_test *test = open_test(&hotel, &options);
    stay_in(test, "1", 1);
    test_now(test);
    must(pawl_store_schema(url, PAWL_SCHEMA_DROP, NULL, NULL, NULL, world_error()));
    refuse(&hotel, &options, PAWL_ECONFIG, "it has sagas (1)");
    options.is_emptied = true;
    test               = open_test(&hotel, &options);
    test_now(test);
    give_back(url);
}

/* ---- Any store ----------------------------------------------------------------------------- */

ON_ALL_STORES(the_kit_runs_on_any_store, const char *url)
{
    pawl_test_options options = on_store(url);
    for (int run = 0; run < 2; run++) {
        int64_t    living = 0;
        pawl_test *test   = open_test(&inn, &options);
        stay_in(test, "1", 1);
        stay_in(test, "2", 1);
        assert_int_equal(bills(test), 2);
        assert_int_equal(pawl_test_saga_count(test, "Room", &living, NULL), PAWL_OK);
        assert_int_equal(living, 2);
        test_now(test);
    }
    give_back(url);
}

ON_ALL_STORES(events_are_something, const char *url)
{
    pawl_test_options options = on_store(url);
    pawl_store       *store   = NULL;
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, NULL, NULL, NULL, world_error()));
    must(pawl_store_open(url, NULL, &store, world_error()));
    MUST_COMMIT(store, event_append, PAWL_TEST_START, .stream = PAWL_TEXT("old/1"), .version = 1,
                .is_first = true,
                .event    = {.type         = PAWL_TEXT("was_old"),
                             .type_version = 1,
                             .body         = PAWL_TEXT("{}"),
                             .at           = PAWL_TEST_START});
    refuse(&inn, &options, PAWL_ECONFIG, "it has events (1)");
    pawl_store_close(store);
    options.is_emptied = true;
    test_now(open_test(&inn, &options));
    give_back(url);
}

/* The kit looks at the rows that endpoints write, under a prefix of the options, too. */
ON_ALL_STORES(another_prefix_is_looked_at, const char *url)
{
    pawl_endpoint_options settings = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_test_options     options  = on_store(url);
    settings.system_prefix         = "inn_";
    settings.saga_prefix           = "house_";
    options.endpoint               = &settings;
    pawl_test *test                = open_test(&inn, &options);
    stay_in(test, "1", 1);
    assert_int_equal(bills(test), 1);
    test_now(test);
    give_back(url);
}

/* ---- A file of its own ----------------------------------------------------------------------- */

static char folder[] = "/tmp/pawl-test-store-XXXXXX";

/* The scenarios' own files are elsewhere. NULL: as it was. */
static void use_folder(const char *path)
{
    static char before[1000];
    if (path == NULL && before[0] != '\0')
        setenv("TMPDIR", before, 1);
    else if (path == NULL)
        unsetenv("TMPDIR");
    else {
        snprintf(before, sizeof before, "%s", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "");
        setenv("TMPDIR", path, 1);
    }
}

static size_t files_in(const char *path)
{
    size_t         count = 0;
    DIR           *dir   = opendir(path);
    struct dirent *entry;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* Only SQLite has files; what is refused is refused before any store. */
ON_STORE(a_file_of_its_own_is_gone_in_the_end, const char *url, "sqlite")
{
    pawl_test_options options = on_store(PAWL_TEST_SQLITE);
    use_folder(folder);
    pawl_test *one = open_test(&hotel, &options), *two = open_test(&hotel, &options);
    assert_int_equal(files_in(folder), 2);
    assert_string_not_equal(pawl_test_url(one), pawl_test_url(two));
    snprintf(fixture, sizeof fixture, "sqlite:%s", pawl_test_file(one));
    native_exec(fixture, "create table let_rooms (room text, nights integer)");
    let_rooms(one);
    assert_int_equal(bills(two), 0);
    test_now(one);
    test_now(two);
    assert_int_equal(files_in(folder), 0);
    use_folder(NULL);
}

ON_STORE(a_file_that_is_kept_is_there, const char *url, "sqlite")
{
    pawl_test_options options = on_store(PAWL_TEST_SQLITE);
    options.is_kept           = true;
    use_folder(folder);
    pawl_test *test = open_test(&inn, &options);
    stay_in(test, "1", 1);
    const char *kept = test_text("sqlite:%s", pawl_test_file(test));
    test_now(test);
    assert_int_equal(native_number(kept, "select count(*) from \"inn_Room\""), 1);
    scenario_forget(kept);
    assert_int_equal(files_in(folder), 0);
    use_folder(NULL);
}

/* Handles of the endpoints are closed and the folder is gone, wherever memory ran out. */
ON_STORE(a_shortage_leaves_no_file, const char *url, "sqlite")
{
    pawl_test_options options     = on_store(PAWL_TEST_SQLITE);
    bool              was_reached = true;
    use_folder(folder);
    for (long n = 1; was_reached; n++) {
        pawl_test *test = NULL;
        fault_memory_begin(n);
        pawl_code code = pawl_test_create(&inn, &options, &test, NULL);
        was_reached    = fault_memory_end();
        if (code != PAWL_OK)
            assert_null(test);
        pawl_test_destroy(test);
        assert_int_equal(files_in(folder), 0);
    }
    fault_memory_set(0);
    use_folder(NULL);
}

/* Wherever memory ran out, a message that was not committed does not go with the next delivery. */
ON_STORE(a_delivery_that_failed_is_gone, const char *url, "memory")
{
    const pawl_test_options options     = on_store(url);
    pawl_test              *test        = open_test(&inn, &options);
    bool                    was_reached = true;
    int                     gone        = 0;
    for (long n = 1; was_reached; n++) {
        size_t before = bills(test);
        fault_memory_begin(n);
        pawl_code code = pawl_test_deliver(test, "desk", PAWL_MESSAGE(bill, .nights = 1), NULL);
        was_reached    = fault_memory_end();
        size_t after   = bills(test);
        gone += code != PAWL_OK && after == before;
        must(pawl_test_deliver(test, "desk", PAWL_MESSAGE(bill, .nights = 2), world_error()));
        assert_int_equal(bills(test), after + 1);
    }
    assert_true(gone > 0);
    fault_memory_set(0);
}

/* ---- What is refused ---------------------------------------------------------------------------- */

ON_STORE(a_bad_url_is_named, const char *url, "sqlite")
{
    static const struct {
        const char *url;
        pawl_code   code;
        const char *text;
    } bad[] = {
        {"", PAWL_EINVAL, "store of a test: '' is not a URL of a store"},
        {"store.db", PAWL_EINVAL, "store of a test: 'store.db' is not a URL of a store"},
        {"nosuch:x", PAWL_EUNREACHABLE, "store of a test: "},
        {"sqlite:/nonexistent/x.db", PAWL_EUNREACHABLE, "store of a test: "},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        pawl_test_options options = on_store(bad[i].url);
        refuse(&inn, &options, bad[i].code, bad[i].text);
        options.is_emptied = true;
        refuse(&inn, &options, bad[i].code, bad[i].text);
    }
    pawl_test_options options = on_store(PAWL_TEST_SQLITE);
    use_folder("/nonexistent");
    refuse(&inn, &options, PAWL_EUNREACHABLE, "no folder for a file of a test in /nonexistent: ");
    use_folder(NULL);
}

RECORD(bell, (TEXT, room));

static int bells;

static pawl_code on_bell(pawl_context *ctx, const bell *message)
{
    bells++;
    return pawl_sqlite(ctx) == NULL ? PAWL_OK : PAWL_REJECT; /* does not say .own_sql */
}
PAWL_MESSAGE_HANDLER(on_bell, bell);

/* A handler that says .own_sql, and answers what its library makes of no connection. */
static pawl_code own_sql_answer;

static pawl_code on_bill(pawl_context *ctx, const bill *message)
{
    if (pawl_postgres(ctx) != NULL || pawl_mysql(ctx) != NULL || pawl_sqlite(ctx) != NULL)
        return PAWL_OK;
    return own_sql_answer != PAWL_OK ? pawl_fail(ctx, own_sql_answer, "out of memory") : PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_bill, bill);

static const pawl_endpoint_spec inn_with_sql = {
    .name     = "inn",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_bell)},
                        {.handle = PAWL_HANDLE(on_bill), .own_sql = true})};
static const pawl_application mixed = APPLICATION("mixed", &inn_with_sql);

/* A message whose handler asks is a dead letter that says why, whatever it answers; all else of the
 * application is tested. An endpoint on such a store is refused. */
ON_STORE(own_sql_in_memory_fails_what_asks_for_it, const char *url, "memory")
{
    static const pawl_code answers[] = {PAWL_OK, PAWL_RETRY, PAWL_REJECT, PAWL_DISCARD};
    pawl_endpoint         *endpoint  = NULL;
    pawl_endpoint_options  options   = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                    = url;
    for (size_t i = 0; i < COUNT(answers); i++) {
        pawl_test     *made = open_test(&mixed, NULL);
        pawl_dead_rows rows;
        bells          = 0;
        own_sql_answer = answers[i];
        for (int j = 0; j < 2; j++) {
            must(pawl_test_deliver(made, NULL, PAWL_MESSAGE(bell, .room = PAWL_TEXT("1")),
                                   world_error()));
            must(pawl_test_deliver(made, NULL, PAWL_MESSAGE(bill, .nights = 1), world_error()));
        }
        assert_int_equal(bells, 2);
        must(pawl_test_dead(made, "inn", &rows, world_error()));
        assert_int_equal(rows.count, 2);
        assert_true(world_says(rows.items[0].error, "a memory store has no SQL"));
        assert_true(pawl_text_equal(rows.items[0].code, PAWL_TEXT("EUNSUPPORTED")));
        test_now(made);
    }
    must_fail_with(pawl_endpoint_create(&mixed, NULL, &options, &endpoint, world_error()),
                   PAWL_EUNSUPPORTED, "says .own_sql, and a memory store has no SQL");
    pawl_test *test = open_test(&inn, NULL);
    assert_null(pawl_test_file(test));
}

/* A program that was built before the options named a store. */
ON_STORE(older_options_are_taken, const char *url, "memory")
{
    pawl_test_options options = on_store("nosuch:x");
    options.options_size      = offsetof(pawl_test_options, store);
    pawl_test *test           = open_test(&inn, &options);
    assert_int_equal(strncmp(pawl_test_url(test), "memory:", strlen("memory:")), 0);
}

/* ---- What cannot be dropped ------------------------------------------------------------------------ */

ON_STORE(what_stays_is_logged, const char *url, "sqlite")
{
    static test_lines lines;
    char              aside[1200];
    pawl_test_options options = on_store(url);
    pawl_test        *test    = open_test(&inn, &options);
    test_listen(&lines, PAWL_LOG_WARNING, NULL);
    const char *path = test_text("%s", strchr(url, ':') + 1);
    snprintf(aside, sizeof aside, "%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    test_now(test);
    assert_non_null(strstr(lines.last, "the tables of a test stay: "));
    assert_int_equal(rename(aside, path), 0);

    options.store = PAWL_TEST_SQLITE;
    use_folder(folder);
    test = open_test(&inn, &options);
    snprintf(aside, sizeof aside, "%s", pawl_test_file(test));
    snprintf(strrchr(aside, '/'), 10, "/mine");
    FILE *mine = fopen(aside, "w");
    assert_non_null(mine);
    fclose(mine);
    test_now(test);
    assert_non_null(strstr(lines.last, "a test's folder "));
    assert_non_null(strstr(lines.last, " stays: "));
    unlink(aside);
    *strrchr(aside, '/') = '\0';
    assert_int_equal(rmdir(aside), 0);
    use_folder(NULL);
    world_quiet();
}

int main(void)
{
    fault_memory_install();
    world_quiet();
    assert_non_null(mkdtemp(folder));
    int failed = tests_run(NULL, NULL);
    (void)rmdir(folder);
    return failed;
}
