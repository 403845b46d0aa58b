/* test_engine_sql.c - handlers that run alone: with their own SQL, with their
 * own finder, on a locked saga. E24, E30, S32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/native.h"
#include "support/world.h"

RECORD(book_state, (TEXT, isbn), (TEXT, title), (INT32, lent));
RECORD(buy, (TEXT, isbn), (TEXT, title));
RECORD(lend, (TEXT, title), (TEXT, isbn));
RECORD(safe_state, (TEXT, name), (INT32, count));
PAWL_RECORD(put_in, A_NAME);
RECORD(write_row, (INT32, number), (TEXT, how));
PAWL_RECORD(plain, A_NUMBER);

static world_log    seen;
static int          fails;
static pawl_saga_id found; /* the finder's answer */
static const char  *here;  /* the store */

/* ---- Finder and lock: any store -------------------------------------------------- */

static pawl_code find_book(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    const lend *it = message;
    world_note(&seen, "find(%.*s)", PAWL_TEXT_ARGS(it->title));
    *id = found;
    return PAWL_OK;
}

static pawl_code on_buy(pawl_context *ctx, book_state *book, const buy *message)
{
    found       = pawl_saga_id_in_flight(ctx);
    book->title = message->title;
    return PAWL_OK;
}
PAWL_HANDLER(on_buy, book_state, buy);

static pawl_code on_lend(pawl_context *ctx, book_state *book, const lend *message)
{
    world_note(&seen, "lend(%.*s,v%d)", PAWL_TEXT_ARGS(book->isbn), (int)pawl_saga_version(ctx));
    book->lent++;
    return PAWL_OK;
}
PAWL_HANDLER(on_lend, book_state, lend);

static const pawl_saga book_saga = SAGA_OF(
    "Book", book_state, "isbn", {.handle = PAWL_HANDLE(on_buy), .key = "isbn", .starts = true},
    {.handle = PAWL_HANDLE(on_lend), .key = "isbn", .find = find_book, .starts = true});

/* Finds the safe with a lock, as another worker does for its message; it waits for a moment only. */
static pawl_store *another;

static void find_meanwhile(const pawl_saga_table *table)
{
    pawl_error    error = PAWL_ERROR_INIT;
    pawl_arena   *arena = pawl_arena_create(0);
    pawl_value    name  = pawl_value_text(PAWL_TEXT("s"));
    pawl_saga_row row   = {.version = 0};
    pawl_code     code  = pawl_store_handler_transaction_begin(another, &error);
    if (code == PAWL_OK)
        code = pawl_store_saga_load(another, table, PAWL_SAGA_BY_MAIN, &name, 1, PAWL_SAGA_LOCKED,
                                    arena, &row, &error);
    pawl_store_handler_transaction_end(another);
    world_note(&seen, "%s%d", pawl_code_retry(code) == PAWL_RETRY_NEVER ? "found" : "waited",
               (int)row.version);
    pawl_arena_destroy(arena);
}

static const pawl_saga_table *safe_table;

static pawl_code on_put_in(pawl_context *ctx, safe_state *safe, const put_in *message)
{
    if (another != NULL && pawl_saga_version(ctx) > 0)
        find_meanwhile(safe_table);
    safe->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_put_in, safe_state, put_in);

static const pawl_saga safe_saga = {
    .name           = "Safe",
    .state          = PAWL_RECORD_OF(safe_state),
    .correlation    = "name",
    .is_pessimistic = true,
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_put_in), .key = "name", .starts = true})};

static pawl_code on_plain(pawl_context *ctx, const plain *message)
{
    world_note(&seen, "plain%d", message->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_plain, plain);

static const pawl_application application =
    ONE_ENDPOINT("alone", .name = "library", .sagas = PAWL_SAGAS(&book_saga, &safe_saga),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_plain)}));

static world *open_world(const char *url, const pawl_application *the_application)
{
    world_forget(&seen);
    fails = 0;
    found = (pawl_saga_id){{{0}}};
    return world_begin(url, the_application, NULL, NULL);
}

ON_ALL_STORES(e30_a_finder_names_the_saga, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url, &application);
    world_post(it, NULL, PAWL_MESSAGE(buy, .isbn = PAWL_TEXT("1"), .title = PAWL_TEXT("Emma")));
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(plain, .number = 1));
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("Emma")));
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("Emma")));
    world_post(it, NULL, PAWL_MESSAGE(plain, .number = 2));
    LOG_AFTER(world_drain(it), seen, "plain1 find(Emma) lend(1,v1) find(Emma) lend(1,v2) plain2 ");
    world_json_equal(it, world_saga_text(it, "Book", "1", &version),
                     "{\"isbn\":\"1\",\"title\":\"Emma\",\"lent\":2}");
    assert_int_equal(version, 3);
}

ON_ALL_STORES(e30_a_finder_that_finds_none_begins, const char *url)
{
    world *it = open_world(url, &application);
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("new"), .isbn = PAWL_TEXT("9")));
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("none")));
    LOG_AFTER(world_drain(it), seen, "find(new) lend(9,v0) find(none) ");
    assert_int_equal(world_saga_count(it, "Book"), 1);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "property 'isbn' has no value"));
    /* An id that no saga has is none as well. */
    found = (pawl_saga_id){{{5}}};
    world_post(it, NULL, PAWL_MESSAGE(lend, .title = PAWL_TEXT("lost"), .isbn = PAWL_TEXT("10")));
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Book"), 2);
}

ON_ALL_STORES(s32_a_pessimistic_saga, const char *url)
{
    world *it = open_world(url, &application);
    for (int i = 0; i < 5; i++)
        world_post(it, NULL, PAWL_MESSAGE(put_in, .name = PAWL_TEXT("s")));
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 5);
    int64_t version = 0;
    world_json_equal(it, world_saga_text(it, "Safe", "s", &version),
                     "{\"name\":\"s\",\"count\":5}");
    assert_int_equal(version, 5);
}

/* From the load to the commit the row is locked: find and write are in one transaction. */
ON_SQL_STORES(s32_a_second_find_waits_while_the_handler_runs, const char *url)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.deadline           = PAWL_SECONDS(1);
    world *it                  = open_world(url, &application);
    must(pawl_store_open(url, &options, &another, world_error()));
    safe_table = world_table(it, &application, 1);
    for (int i = 0; i < 2; i++)
        world_post(it, NULL, PAWL_MESSAGE(put_in, .name = PAWL_TEXT("s")));
    assert_int_equal(world_drain(it).handled, 2);
    find_meanwhile(safe_table);
    assert_string_equal(seen.text, "waited0 found2 ");
    pawl_store_close(another);
    another = NULL;
}

/* ---- Own SQL -------------------------------------------------------------------------- */

/* The connection has one type, and no other name opens it. */
static void ask_for_each(pawl_context *ctx)
{
    static const char *const types[] = {"sqlite3", "PGconn", "MYSQL"};
    const void *const        given[] = {pawl_sqlite(ctx), pawl_postgres(ctx), pawl_mysql(ctx)};
    size_t                   own     = !server_is(here) ? 0 : here[0] == 'p' ? 1 : 2;
    for (size_t i = 0; i < 3; i++) {
        assert_true((given[i] != NULL) == (i == own));
        assert_ptr_equal(pawl_native(ctx, types[i]), given[i]);
    }
    assert_null(pawl_native(ctx, ""));
    assert_null(pawl_native(ctx, NULL));
}

/* A driver that pawl does not know has a name of its own for its connection, or none. */
static const char *other_type;

static void ask_by_name(pawl_context *ctx)
{
    assert_null(pawl_sqlite(ctx));
    assert_null(pawl_postgres(ctx));
    assert_null(pawl_mysql(ctx));
    void *native = pawl_native(ctx, "OTHER");
    assert_true((native != NULL) == (other_type[0] != '\0'));
}

static bool is_filtered; /* the filters write rows, too */

/* The row of what runs beside the handler. */
static pawl_code write_beside(pawl_context *ctx, void *name)
{
    return native_in(ctx, here,
                     test_text("insert into {own_rows} values (7, '%s')", (const char *)name));
}

static pawl_code filter_before(pawl_context *ctx, const pawl_message *message, void *context)
{
    return is_filtered ? write_beside(ctx, "before") : PAWL_OK;
}

static pawl_code filter_after(pawl_context *ctx, const pawl_message *message, void *context)
{
    return is_filtered ? write_beside(ctx, "after") : PAWL_OK;
}

static pawl_code on_write_row(pawl_context *ctx, const write_row *message)
{
    const char *sql = test_text("insert into {own_rows} values (%d, '%.*s')", message->number,
                                PAWL_TEXT_ARGS(pawl_message_in_flight(ctx)->id));
    world_note(&seen, "write%d", message->number);
    if (pawl_text_equal(message->how, PAWL_TEXT("ask")))
        ask_for_each(ctx);
    if (pawl_text_equal(message->how, PAWL_TEXT("name"))) {
        ask_by_name(ctx);
        return PAWL_OK;
    }
    pawl_code code = native_in(ctx, here, sql);
    if (pawl_text_equal(message->how, PAWL_TEXT("copy"))) {
        (void)native_in(ctx, here, "copy {own_rows} from stdin");
        return PAWL_OK;
    }
    if (pawl_text_equal(message->how, PAWL_TEXT("unread")) ||
        pawl_text_equal(message->how, PAWL_TEXT("unread, reject")))
        native_leave_in(ctx, here, "select number from {own_rows}");
    if (pawl_text_equal(message->how, PAWL_TEXT("unread, reject")))
        return PAWL_REJECT;
    if (code == PAWL_OK && pawl_text_equal(message->how, PAWL_TEXT("around")))
        code = pawl_before_commit(ctx, write_beside, "callback");
    if (code == PAWL_OK && pawl_text_equal(message->how, PAWL_TEXT("now")))
        code = pawl_send_now(ctx, "out", PAWL_MESSAGE(plain, .number = 1));
    if (code == PAWL_OK && (pawl_text_equal(message->how, PAWL_TEXT("commit")) ||
                            pawl_text_equal(message->how, PAWL_TEXT("rollback"))))
        code = native_in(ctx, here, message->how.data);
    if (code == PAWL_OK && pawl_text_equal(message->how, PAWL_TEXT("reject")))
        return PAWL_REJECT;
    if (code == PAWL_OK && fails-- > 0)
        return PAWL_RETRY;
    return code == PAWL_OK ? pawl_send(ctx, "out", PAWL_MESSAGE(plain, .number = 2)) : code;
}
PAWL_MESSAGE_HANDLER(on_write_row, write_row);

static pawl_code on_no_sql(pawl_context *ctx, const plain *message)
{
    assert_null(pawl_sqlite(ctx));
    assert_null(pawl_postgres(ctx));
    assert_null(pawl_mysql(ctx));
    assert_null(pawl_native(ctx, server_is(here) ? "PGconn" : "sqlite3"));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_no_sql, plain);

static const pawl_endpoint_spec ledger = {
    .name     = "ledger",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_write_row), .own_sql = true},
                        {.handle = PAWL_HANDLE(on_no_sql)})};

static const pawl_application with_sql = {
    PAWL_APPLICATION_HEAD, .name = "sql", .endpoints = PAWL_ENDPOINTS(&ledger),
    .filters = PAWL_FILTERS({.before = filter_before, .after = filter_after})};

/* Rows that a second connection sees. */
static int64_t count_rows(const char *url, const char *condition)
{
    return native_number(url, test_text("select count(*) from {own_rows} where %s", condition));
}

static void make_table(const char *url)
{
    here = url;
    native_exec(url, "create table {own_rows} (number integer, id varchar(100))");
}

static void post_write(world *it, const char *id, int32_t number, const char *how)
{
    world_post(it, id, PAWL_MESSAGE(write_row, .number = number, .how = pawl_text_of(how)));
}

ON_SQL_STORES(e24_retries_leave_exactly_one_row, const char *url)
{
    world *it = open_world(url, &with_sql);
    make_table(url);
    fails = 1;
    post_write(it, "a", 1, "");
    post_write(it, "b", 2, "");
    pawl_step step = world_drain(it);
    assert_string_equal(seen.text, "write1 write1 write2 ");
    assert_int_equal(step.handled, 2);
    assert_int_equal(count_rows(url, "number = 1"), 1);
    assert_int_equal(count_rows(url, "number = 2"), 1);
    assert_int_equal(world_queue(it, "out").count, 2);
}

/* docs/own-sql.md, "Where else". */
ON_SQL_STORES(s33_filters_and_calls_before_the_commit_have_the_connection, const char *url)
{
    world *it = open_world(url, &with_sql);
    make_table(url);
    is_filtered = true;
    fails       = 1;
    post_write(it, "a", 1, "around");
    assert_int_equal(world_drain(it).handled, 1);
    is_filtered = false;
    assert_string_equal(seen.text, "write1 write1 ");
    assert_int_equal(count_rows(url, "number = 7 and id = 'before'"), 1);
    assert_int_equal(count_rows(url, "number = 7 and id = 'after'"), 1);
    assert_int_equal(count_rows(url, "number = 7 and id = 'callback'"), 1);
}

ON_SQL_STORES(e24_a_connection_says_what_it_is, const char *url)
{
    world *it = open_world(url, &with_sql);
    make_table(url);
    post_write(it, "a", 1, "ask");
    world_post(it, "b", PAWL_MESSAGE(plain, .number = 2));
    assert_int_equal(world_drain(it).handled, 2);
    assert_string_equal(seen.text, "write1 ");
    assert_int_equal(count_rows(url, "number = 1"), 1);
}

ON_SQL_STORES(e24_a_connection_of_another_driver, const char *url)
{
    static const char *const types[] = {"OTHER", ""};
    fault_bind("named", url);
    for (size_t i = 0; i < COUNT(types); i++) {
        other_type        = types[i];
        fault_native_type = types[i];
        world *it         = open_world("fault:named", &with_sql);
        here              = url;
        post_write(it, i == 0 ? "a" : "b", 1, "name");
        assert_int_equal(world_drain(it).handled, 1);
        assert_string_equal(seen.text, "write1 ");
        fault_native_type = NULL;
        world_close(it);
    }
}

ON_SQL_STORES(e24_delayed_retries_leave_exactly_one_row, const char *url)
{
    world *it = open_world(url, &with_sql);
    make_table(url);
    fails = 6; /* the first run and its three immediate retries, then two more */
    post_write(it, "a", 1, "");
    world_drain(it);
    assert_int_equal(count_rows(url, "1 = 1"), 0);
    assert_int_equal(world_queue(it, "ledger").items[0].attempts, 1);
    world_go(it, PAWL_MINUTES(1));
    assert_int_equal(count_rows(url, "1 = 1"), 1);
    assert_int_equal(world_queue(it, "out").count, 1);
    assert_int_equal(world_stats(it).counters.failures, 6);
}

/* A row whose number has to be in another table, as the database sees at the commit. */
static void make_deferred_table(const char *url)
{
    here = url;
    native_exec(url, "create table {numbers} (number integer primary key)");
    native_exec(url, "create table {own_rows} (number integer references {numbers} (number) "
                     "deferrable initially deferred, id varchar(100))");
    native_exec(url, "insert into {numbers} values (2)");
}

/* MariaDB and MySQL defer no constraint. */
#define ON_DEFERRING_STORES(function) \
    TESTS(function, const char *url, STORE_ROW(function, "sqlite"), STORE_ROW(function, "postgres"))

ON_DEFERRING_STORES(e26_a_constraint_that_fails_the_commit_fails_its_message)
{
    world *it = open_world(url, &with_sql);
    make_deferred_table(url);
    post_write(it, "a", 1, "");
    post_write(it, "b", 2, "");
    world_post(it, "c", PAWL_MESSAGE(plain, .number = 3));
    world_drain(it);
    assert_int_equal(count_rows(url, "1 = 1"), 1);
    assert_int_equal(world_queue(it, "out").count, 1);
    assert_true(world_is_marked(it, "c"));
    assert_int_equal(world_queue(it, "ledger").items[0].attempts, 1);
    native_exec(url, "insert into {numbers} values (1)");
    world_go(it, PAWL_MINUTES(1));
    assert_int_equal(count_rows(url, "number = 1"), 1);
    assert_int_equal(world_queue(it, "out").count, 2);
    post_write(it, "d", 4, "");
    world_go(it, PAWL_DAYS(1));
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "commit: "));
    assert_int_equal(count_rows(url, "number = 4"), 0);
}

/* A rule of the database's owner for the table of a saga: no book "bad". */
static void forbid_bad_books(const char *url)
{
    if (strncmp(url, "sqlite", 6) == 0) {
        native_exec(url, "create trigger {no_bad} before insert on {library_Book} "
                         "when new.Correlation_isbn = 'bad' "
                         "begin select raise(abort, 'no bad books'); end");
    } else if (strncmp(url, "postgres", 8) == 0) {
        native_exec(url, "create function {no_bad}() returns trigger language plpgsql as $$ begin "
                         "if new.\"Correlation_isbn\" = 'bad' then "
                         "raise exception 'no bad books'; end if; return new; end $$");
        native_exec(url, "create trigger no_bad before insert on {\"library_Book\"} "
                         "for each row execute function {no_bad}()");
    } else {
        native_exec(url, "create trigger {no_bad} before insert on {library_Book} for each row "
                         "begin if new.Correlation_isbn = 'bad' then signal sqlstate '45000' "
                         "set message_text = 'no bad books'; end if; end");
    }
}

/* The database refuses a saga by a failure that pawl does not know: it is the message's. */
ON_SQL_STORES(e26_a_trigger_that_refuses_a_saga_fails_its_message, const char *url)
{
    static const char *const isbns[] = {"1", "bad", "2"};
    world                   *it      = open_world(url, &application);
    forbid_bad_books(url);
    for (size_t i = 0; i < COUNT(isbns); i++)
        world_post(it, NULL,
                   PAWL_MESSAGE(buy, .isbn = pawl_text_of(isbns[i]), .title = PAWL_TEXT("Emma")));
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Book"), 2);
    assert_int_equal(world_queue(it, "library").count, 1);
    assert_int_equal(world_queue(it, "library").items[0].attempts, 1);
    world_go(it, PAWL_DAYS(1));
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "no bad books"));
}

#ifdef PAWL_HAVE_SQLITE
/* Fills the first page of the table of books. */
static void damage_books(const char *url)
{
    static const char junk[512] = "junk";
    native_expect(url, "pragma wal_checkpoint(truncate)", "0");
    int64_t page =
        native_number(url, "select rootpage from sqlite_master where name = 'library_Book'");
    int64_t size = native_number(url, "pragma page_size");
    FILE   *file = fopen(strchr(url, ':') + 1, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)((page - 1) * size), SEEK_SET), 0);
    assert_int_equal(fwrite(junk, 1, sizeof junk, file), sizeof junk);
    assert_int_equal(fclose(file), 0);
}

/* No message is to blame for it: none becomes a dead letter, and the endpoint ends. */
ON_STORE(a_damaged_file_ends_the_endpoint, const char *url, "sqlite")
{
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = open_world(url, &application);
    world_post(it, NULL, PAWL_MESSAGE(buy, .isbn = PAWL_TEXT("1"), .title = PAWL_TEXT("Emma")));
    world_drain(it);
    damage_books(url);
    world_post(it, NULL, PAWL_MESSAGE(buy, .isbn = PAWL_TEXT("1"), .title = PAWL_TEXT("Emma")));
    assert_int_equal(pawl_endpoint_step(it->endpoint, NULL, &error), PAWL_ENOTSTORE);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "library").items[0].attempts, 0);
}
#endif

/* The session goes on, with its claims. */
ON_STORE(e24_an_unfinished_statement_fails_its_message, const char *url, "postgres")
{
    world *it = open_world(url, &with_sql);
    make_table(url);
    post_write(it, "a", 1, "copy");
    LOG_AFTER(world_drain(it), seen, "write1 ");
    assert_int_equal(count_rows(url, "1 = 1"), 0);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "a COPY unfinished"));
}

/* Of this message alone: what is sent afterwards, by others, is seen. */
ON_SQL_STORES(e24_rows_that_are_not_read_fail_their_message, const char *url)
{
    world *it = open_world(url, &with_sql);
    make_table(url);
    for (int i = 0; i < 2; i++) {
        post_write(it, NULL, 1, i == 0 ? "unread" : "unread, reject");
        world_drain(it);
        assert_int_equal(count_rows(url, "number = 1"), 0);
        assert_int_equal(world_dead(it).count, i + 1);
        post_write(it, NULL, 2, "");
        world_post(it, NULL, PAWL_MESSAGE(plain, .number = 3));
        assert_int_equal(world_drain(it).handled, 2);
        assert_int_equal(count_rows(url, "number = 2"), i + 1);
    }
    assert_true(world_says(world_dead(it).items[0].error, "a statement"));
    assert_true(world_says(world_dead(it).items[0].error, "unfinished"));
}

ON_SQL_STORES(own_sql_of_a_rejected_message_is_rolled_back, const char *url)
{
    world *it = open_world(url, &with_sql);
    make_table(url);
    post_write(it, "a", 1, "reject");
    post_write(it, "b", 2, "");
    world_post(it, "c", PAWL_MESSAGE(plain, .number = 3));
    world_drain(it);
    assert_int_equal(count_rows(url, "1 = 1"), 1);
    assert_int_equal(count_rows(url, "number = 2"), 1);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_is_marked(it, "c"));
}

/* Each run would end it again, and leave one more row: there is one run. */
ON_SQL_STORES(e24_a_handler_that_ends_its_transaction_is_run_once, const char *url)
{
    world *it = open_world(url, &with_sql);
    make_table(url);
    post_write(it, "a", 1, "commit");
    post_write(it, "b", 2, "rollback");
    post_write(it, "c", 3, "");
    LOG_AFTER(world_drain(it), seen, "write1 write2 write3 ");
    assert_int_equal(world_dead(it).count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(
            world_says(world_dead(it).items[i].error, "only pawl may commit it or roll it back"));
    assert_int_equal(count_rows(url, "number = 1"), 1);
    assert_int_equal(count_rows(url, "number = 2"), 0);
    assert_int_equal(count_rows(url, "number = 3"), 1);
    assert_int_equal(world_queue(it, "out").count, 1);
}

ON_SQL_STORES(e23_now_leaves_with_each_run, const char *url)
{
    world *it = open_world(url, &with_sql);
    make_table(url);
    fails = 100;
    post_write(it, "a", 1, "now");
    world_drain(it);
    assert_int_equal(count_rows(url, "1 = 1"), 0);
    /* One for each of the four runs: they leave whatever becomes of the rest. */
    assert_int_equal(world_queue(it, "out").count, 4);
}

/* Only a store in memory has no SQL. */
ON_STORE(own_sql_is_refused_where_there_is_none, const char *url, "memory")
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = url;
    assert_int_equal(pawl_endpoint_create(&with_sql, NULL, &options, &endpoint, &error),
                     PAWL_EUNSUPPORTED);
    assert_null(endpoint);
    assert_true(world_says(pawl_text_of(error.text), "the handler of write_row says .own_sql"));
}
