/* test_postgres_schema.c - the script, and what apply, verify and drop make of a
 * database (D3, D5, D9 to D12, D16, D20, D26 to D28, D33 to D35, D38).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/at_once.h"
#include "contract/postgres_fixture.h"
#include "support/tests.h"

/* A table of two correlation columns whose name is no plain word. */
static const pawl_saga_table odd_table = {
    .type         = PAWL_TEXT_INIT("Odd"),
    .name         = PAWL_TEXT_INIT("My caf\xC3\xA9 saga"),
    .main         = {.property = PAWL_TEXT_INIT("n\xC3\xBAmero"), .type = PAWL_VALUE_INT},
    .transitional = {.property = PAWL_TEXT_INIT("when it was"), .type = PAWL_VALUE_TIME},
};
static const pawl_saga_table *const both_tables[] = {&order_table, &odd_table};

/* ---- The script --------------------------------------------------------- */

ON_FIXTURE(the_script_makes_what_apply_makes, fixture *p)
{
    lines *script = calloc(2, sizeof *script);
    assert_non_null(script);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_PRINT, both_tables, 2, &script[0]));
    ok(p, run_schema(p, "postgres://nowhere/x", PAWL_SCHEMA_PRINT, both_tables, 2, &script[1]));
    assert_string_equal(script[0].text, script[1].text);

    /* By hand into a schema that needs quotes, twice. */
    const char *other = test_text("%s By Hand", p->schema);
    raw_run(p->pg, test_text("create schema \"%s\"", other));
    PGconn *pg = raw_open(other);
    raw_run(pg, script[0].text);
    raw_run(pg, script[0].text);
    assert_int_equal(raw_number(pg, "select count(*) from pawl_schema"), 1);
    apply_schema(p, p->url, both_tables, 2);
    /* Every table, index, column, setting and function text is the same. */
    static const char print[] =
        "select md5(string_agg(line, ';' order by line)) from ("
        "select concat_ws(' ', c.relkind, c.relname, c.reloptions::text, a.attname, "
        "format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attcollation) as line "
        "from pg_class as c join pg_attribute as a on a.attrelid = c.oid "
        "where a.attnum > 0 and c.relnamespace = "
        "(select oid from pg_namespace where nspname = current_schema()) union all select proname || prosrc from pg_proc "
        "where pronamespace = (select oid from pg_namespace where nspname = current_schema())) as x";
    char by_hand[100];
    raw_text(pg, print, by_hand, sizeof by_hand);
    expect_raw_text(p->pg, print, by_hand);
    raw_run(pg, test_text("drop schema \"%s\" cascade", other));
    PQfinish(pg);
    free(script);
}

/* The script by itself is what open, verify and the function want. */
ON_FIXTURE(a_schema_made_by_hand_verifies, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_PRINT, both_tables, 2, out));
    raw_run(p->pg, test_text("create schema \"%s\"", p->schema));
    raw_run(p->pg, out->text);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out));
    assert_int_equal(out->count, 0);
}

/* No row of the catalog is written again: no lock is taken then either. */
ON_FIXTURE(applying_twice_changes_nothing, fixture *p)
{
    static const char versions[] = "select sum(xmin::text::bigint + oid::bigint) from pg_class "
                                   "where relnamespace = current_schema()::regnamespace";
    lines            *out        = test_zeroed(sizeof *out);
    apply_schema(p, p->url, both_tables, 2);
    int64_t before = raw_number(p->pg, versions);
    raw_run(p->pg, "begin; lock table pawl_queue, \"shop_Order\" in row exclusive mode");
    apply_schema(p, p->url, both_tables, 2);
    raw_run(p->pg, "commit");
    assert_int_equal(raw_number(p->pg, versions), before);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out));
    assert_int_equal(out->count, 0);
}

/* The server's text of a lock that is not free names no table. */
ON_FIXTURE(a_lock_that_is_not_free_names_its_table, fixture *p)
{
    pawl_schema_spec spec = {.tables = both_tables, .table_count = 2, .deadline = PAWL_SECONDS(3)};
    apply_schema(p, p->url, both_tables, 2);
    raw_run(p->pg, "drop index pawl_queue_due");
    raw_run(p->pg, "begin; lock table pawl_queue in row exclusive mode");
    refuses(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error),
            PAWL_EBUSY, "nothing was changed");
    expect_text(p, ": table pawl_queue: postgres: ");
    raw_run(p->pg, "commit");
    apply_schema(p, p->url, both_tables, 2);
}

static int64_t object_count(fixture *p)
{
    return raw_number(p->pg, "select (select count(*) from pg_class where relnamespace = "
                             "to_regnamespace(current_schema())) + (select count(*) from pg_proc "
                             "where pronamespace = to_regnamespace(current_schema()))");
}

ON_FIXTURE(dropping_leaves_what_is_not_ours, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    /* Nothing is there, not even the schema. */
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_DROP, both_tables, 2, out));
    apply_schema(p, p->url, both_tables, 2);
    raw_run(p->pg, "create table mine (id integer); insert into mine values (1)");
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_DROP, both_tables, 2, out));
    assert_int_equal(object_count(p), 1);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_DROP, both_tables, 2, out));
    assert_int_equal(raw_number(p->pg, "select count(*) from mine"), 1);
    apply_schema(p, p->url, both_tables, 2);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_queue"), 0);
}

static pawl_code apply_both(void *context, pawl_error *error)
{
    fixture         *p    = context;
    pawl_schema_spec spec = {.tables = both_tables, .table_count = 2};
    return pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, error);
}

/* D34: whoever comes second waits, and finds it done. */
ON_FIXTURE(processes_may_apply_at_once, fixture *p)
{
    run_at_once(apply_both, p);
    lines *out = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out));
}

/* ---- Differences -------------------------------------------------------- */

typedef struct difference {
    unsigned    round; /* made together with others of the number */
    const char *sql;
    const char *line;
} difference;

/* Every kind; types in both directions (D38). */
#define ROUND_COUNT 5

static const difference differences[] = {
    {0, "drop table pawl_dead", "table pawl_dead is missing"},
    {0, "drop function pawl_send", "function pawl_send is missing"},
    {1,
     "create or replace function pawl_send (queue text, type text, body text, due timestamptz "
     "default null, message_id text default null, headers text default null, correlation_id text "
     "default null) returns text language sql as 'select queue'",
     "function pawl_send is not that of this version of pawl"},
    {2, "alter function pawl_send set search_path = elsewhere",
     "function pawl_send: its search_path is not the schema "},
    {0, "update pawl_schema set \"Version\" = 0", "table pawl_schema: expected version 5, found 0"},
    {1, "delete from pawl_schema", "table pawl_schema: expected version 5, found 0"},
    {0,
     "alter table pawl_leases rename column \"Expires\" to \"Ends\"; "
     "alter table pawl_leases alter column \"Ends\" drop not null",
     "table pawl_leases: column Expires is missing"},
    /* The other one has a default: rows can be inserted. */
    {0,
     "alter table pawl_inbox add column \"Mine\" int not null, add column \"Yours\" int not null "
     "default 7, add column \"Theirs\" int",
     "table pawl_inbox: column Mine is not known, not null and has no default"},
    {0, "alter table pawl_queue alter column \"Attempts\" type int",
     "table pawl_queue: column Attempts: incorrect data type: expected bigint, found integer"},
    {0, "alter table pawl_queue alter column \"Error\" type varchar(100)",
     "column Error: incorrect data type: expected text, found character varying(100)"},
    {0, "alter table \"shop_Order\" alter column \"SagaTypeVersion\" type varchar(24)",
     "expected character varying(23), found character varying(24)"},
    {1, "alter table \"shop_Order\" alter column \"SagaTypeVersion\" type text",
     "expected character varying(23), found text"},
    {0,
     "alter table \"My caf\xC3\xA9 saga\" alter column \"Correlation_when it was\" type timestamptz",
     "expected timestamp without time zone, found timestamp with time zone"},
    {0, "alter table pawl_queue alter column \"Due\" type timestamp",
     "expected timestamp with time zone, found timestamp without time zone"},
    {0, "alter table pawl_queue alter column \"Type\" type text collate \"default\"",
     "column Type: expected collation C, found default"},
    {0, "alter table pawl_queue alter column \"Seq\" drop default",
     "column Seq: expected numbers given by the database"},
    {0, "alter table pawl_queue alter column \"Placed\" drop not null",
     "column Placed: expected not null, found null allowed"},
    {0, "alter table pawl_outbox alter column \"DispatchedAt\" set not null",
     "column DispatchedAt: expected null allowed, found not null"},
    {1, "drop index pawl_queue_due", "table pawl_queue: index pawl_queue_due is missing"},
    {0,
     "drop index pawl_queue_message; "
     "create index pawl_queue_message on pawl_queue (\"Queue\", \"MessageId\")",
     "index pawl_queue_message: expected unique, found not unique"},
    {2,
     "drop index pawl_queue_due; "
     "create unique index pawl_queue_due on pawl_queue (\"Queue\", \"Due\", \"Seq\")",
     "index pawl_queue_due: expected not unique, found unique"},
    {3, "drop index pawl_queue_due; create index pawl_queue_due on pawl_queue (\"Queue\", \"Due\")",
     "index pawl_queue_due: expected \"Queue\", \"Due\", \"Seq\", found \"Queue\", \"Due\""},
    {0, "drop index pawl_outbox_held; create index pawl_outbox_held on pawl_outbox (\"Source\")",
     "index pawl_outbox_held: expected a condition, found all rows"},
    {4, "update pg_index set indisvalid = false where indexrelid = 'pawl_queue_due'::regclass",
     "index pawl_queue_due: expected valid, found not valid"},
    {1, "alter table pawl_leases drop constraint pawl_leases_pkey",
     "table pawl_leases: primary key is missing"},
    {0, "alter table pawl_outbox_attempts drop constraint \"pawl_outbox_attempts_OutboxId_fkey\"",
     "table pawl_outbox_attempts: foreign key with delete cascade is missing"},
    {1, "alter table pawl_inbox replica identity default",
     "table pawl_inbox: a replica identity is missing"},
    {2,
     "drop index pawl_dead_message; "
     "create unique index pawl_dead_message on pawl_dead (\"Endpoint\", \"MessageId\")",
     "table pawl_dead: a replica identity is missing"},
};

#define DIFFERENCE_COUNT (COUNT(differences))

static void verify_round(fixture *p, unsigned round, lines *out)
{
    size_t count = 0;
    apply_schema(p, p->url, both_tables, 2);
    for (size_t i = 0; i < DIFFERENCE_COUNT; i++)
        if (differences[i].round == round) {
            raw_run(p->pg, differences[i].sql);
            count++;
        }
    expect_code(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out), PAWL_ESCHEMA);
    for (size_t i = 0; i < DIFFERENCE_COUNT; i++)
        if (differences[i].round == round && strstr(out->text, differences[i].line) == NULL)
            fail_msg("%s: verify says '%s'", differences[i].sql, out->text);
    if (count == 0 || out->count != count)
        fail_msg("round %u: %zu differences: verify says '%s'", round, count, out->text);
    bool is_left = round == 3 || round == 4; /* an index that is there */
    expect_text(
        p, test_text("the schema has %zu difference%s%s", count, count == 1 ? "" : "s",
                     is_left ? " that `pawl schema apply` does not change: alter the tables by SQL"
                             : "; run: pawl schema apply --store"));
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_DROP, both_tables, 2, out));
}

ON_FIXTURE(verify_names_each_difference, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    expect_code(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out), PAWL_ESCHEMA);
    assert_int_equal(out->count, 16 + 2 + 1);
    for (unsigned i = 0; i < ROUND_COUNT; i++)
        verify_round(p, i, out);
}

/* Apply puts right all that it can. */
ON_FIXTURE(apply_makes_what_is_missing, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    apply_schema(p, p->url, both_tables, 2);
    raw_run(p->pg, "drop table pawl_dead; drop index pawl_queue_due; delete from pawl_schema; "
                   "drop function pawl_send; drop table \"shop_Order\"; alter table "
                   "\"My caf\xC3\xA9 saga\" drop column \"Correlation_n\xC3\xBAmero\"");
    apply_schema(p, p->url, both_tables, 2);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out));
}

/* The server refuses a delete of rows that have no name in a publication. An administrator's own choice stays. */
ON_FIXTURE(rows_of_published_tables_can_be_deleted, fixture *p)
{
    static const char kept[] =
        "select string_agg(relreplident::text, '' order by relname) from pg_class "
        "where oid in ('pawl_dead'::regclass, 'pawl_inbox'::regclass)";
    lines *out = test_zeroed(sizeof *out);
    apply_schema(p, p->url, both_tables, 2);
    raw_run(
        p->pg,
        "alter table pawl_dead replica identity default; alter table pawl_inbox replica identity default");
    apply_schema(p, p->url, both_tables, 2);
    expect_raw_text(p->pg, kept, "ii");
    raw_run(p->pg,
            test_text("create publication \"%s\" for table pawl_dead, pawl_inbox", p->schema));
    raw_run(p->pg, "delete from pawl_dead; delete from pawl_inbox");
    raw_run(p->pg, test_text("drop publication \"%s\"", p->schema));
    raw_run(
        p->pg,
        "alter table pawl_dead replica identity full; alter table pawl_inbox replica identity nothing; "
        "drop index pawl_queue_due");
    apply_schema(p, p->url, both_tables, 2);
    expect_raw_text(p->pg, kept, "fn");
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out));
}

/* ---- Versions, and opening without tables ------------------------------- */

ON_FIXTURE(a_newer_schema_is_left_alone, fixture *p)
{
    lines      *out   = test_zeroed(sizeof *out);
    pawl_store *store = NULL;
    apply_schema(p, p->url, order_tables, 1);
    raw_run(p->pg, "update pawl_schema set \"Version\" = 9; drop table pawl_dead");
    refuses(p, open_with(p, p->url, NULL, 0, &store), PAWL_ESCHEMA,
            "has version 9, this program knows version 5");
    static const pawl_schema_verb verbs[] = {PAWL_SCHEMA_APPLY, PAWL_SCHEMA_VERIFY,
                                             PAWL_SCHEMA_DROP};
    for (size_t i = 0; i < 3; i++) {
        refuses(p, run_schema(p, p->url, verbs[i], order_tables, 1, out), PAWL_ESCHEMA,
                "a newer pawl made it");
    }
    assert_int_equal(raw_number(p->pg, "select count(*) from \"shop_Order\""), 0);
    expect_raw_text(p->pg, "select to_regclass('pawl_dead') is null", "t");
}

ON_FIXTURE(opening_says_what_to_run, fixture *p)
{
    pawl_store *store = NULL;
    const char *url   = test_text("%s&password=open%%20sesame", p->url);
    refuses(p, open_with(p, url, NULL, 0, &store), PAWL_ESCHEMA,
            "run: pawl schema apply --store 'postgres://");
    assert_null(strstr(p->error.text, "sesame"));
    assert_null(strstr(p->error.text, "--prefix"));
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    options.system_prefix      = "shop_";
    refuses(p, fixture_open(p, p->url, &options, &store), PAWL_ESCHEMA, "' --prefix 'shop_'");
    apply_schema(p, p->url, NULL, 0);
    refuses(p, open_with(p, p->url, order_tables, 1, &store), PAWL_ESCHEMA,
            "saga table shop_Order is missing or incomplete; run: pawl schema apply");
    apply_schema(p, p->url, order_tables, 1);
    ok(p, open_with(p, p->url, order_tables, 1, &store));
    test_now(store);
    /* An index that is not unique lets two sagas have one value. */
    char sql[300];
    raw_text(p->pg,
             "select format('drop index %1$I; create index %1$I on \"shop_Order\" "
             "(\"Correlation_order_id\")', indexname) from pg_indexes "
             "where schemaname = current_schema() and indexname like 'Index_%'",
             sql, sizeof sql);
    raw_run(p->pg, sql);
    expect_code(p, open_with(p, p->url, order_tables, 1, &store), PAWL_ESCHEMA);
}

/* ---- Sagas -------------------------------------------------------------- */

/* D27: rows stay and are null in the new column; then it is used. */
ON_FIXTURE(a_correlation_column_is_added, fixture *p)
{
    pawl_saga_table        plain = {.type = TEXT("Order"), .name = TEXT("shop_Order")};
    const pawl_saga_table *list  = &plain;
    pawl_store            *store = NULL;
    apply_schema(p, p->url, &list, 1);
    ok(p, open_with(p, p->url, &list, 1, &store));
    ok(p, begin_saga(p, store, &plain, uuid_of(1), (pawl_value){0}, "{\"a\":1}"));
    test_now(store);

    expect_code(p, open_with(p, p->url, order_tables, 1, &store), PAWL_ESCHEMA);
    apply_schema(p, p->url, order_tables, 1);
    ok(p, open_with(p, p->url, order_tables, 1, &store));
    pawl_saga_row row =
        load_saga(p, store, &order_table, PAWL_SAGA_BY_ID, pawl_value_uuid(uuid_of(1)));
    assert_int_equal(row.version, 1);
    assert_int_equal(row.main.type, PAWL_VALUE_NONE);
    pawl_value value = pawl_value_text(TEXT("order-2"));
    ok(p, begin_saga(p, store, &order_table, uuid_of(2), value, "{}"));
    assert_int_equal(load_saga(p, store, &order_table, PAWL_SAGA_BY_MAIN, value).version, 1);
}

/* D28: nothing is converted, nothing else is made either. */
ON_FIXTURE(another_type_of_correlation_is_refused, fixture *p)
{
    static const char      says[]  = "column Correlation_order_id: incorrect data type: expected "
                                     "timestamp without time zone, found character varying(200)";
    pawl_saga_table        changed = order_table;
    const pawl_saga_table *list[]  = {&changed, &odd_table};
    pawl_store            *store   = NULL;
    lines                 *out     = test_zeroed(sizeof *out);
    changed.main.type              = PAWL_VALUE_TIME;
    apply_schema(p, p->url, order_tables, 1);
    int64_t before = object_count(p);
    refuses(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, list, 2, out), PAWL_ESCHEMA, says);
    assert_int_equal(object_count(p), before);
    refuses(p, open_with(p, p->url, list, 2, &store), PAWL_ESCHEMA, says);
}

/* D26: neither taken for the saga's, nor changed. */
ON_FIXTURE(a_strangers_table_is_refused, fixture *p)
{
    static const char says[] = "is there without the column Metadata, which every saga table has";
    pawl_store       *store  = NULL;
    lines            *out    = test_zeroed(sizeof *out);
    apply_schema(p, p->url, order_tables, 1);
    raw_run(p->pg, test_text("drop table \"%.*s\"; create table \"%.*s\" (\"Id\" text, note text)",
                             PAWL_TEXT_ARGS(order_table.name), PAWL_TEXT_ARGS(order_table.name)));
    int64_t before = object_count(p);
    refuses(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, order_tables, 1, out), PAWL_ESCHEMA, says);
    refuses(p, open_with(p, p->url, order_tables, 1, &store), PAWL_ESCHEMA, says);
    assert_int_equal(object_count(p), before);
}

ON_FIXTURE(quotes_in_names_are_refused, fixture *p)
{
    static const char *const names[] = {"a[b", "a]b", "a`b", "a\"b", ""};
    lines                   *out     = test_zeroed(sizeof *out);
    for (size_t i = 0; i < COUNT(names); i++) {
        pawl_saga_table        bad  = order_table;
        const pawl_saga_table *list = &bad;
        bad.name                    = pawl_text_of(names[i]);
        refuses(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, &list, 1, out), PAWL_EINVAL,
                "saga Order");
        bad               = order_table;
        bad.main.property = pawl_text_of(names[i]);
        expect_code(p, run_schema(p, p->url, PAWL_SCHEMA_PRINT, &list, 1, out), PAWL_EINVAL);
    }
    const char *url = test_text("%s\"", p->url);
    expect_code(p, run_schema(p, url, PAWL_SCHEMA_APPLY, NULL, 0, out), PAWL_EINVAL);
}

/* D5: in bytes, never cut; what just fits works. */
ON_FIXTURE(long_names_are_refused, fixture *p)
{
    static const char      bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                     "abcdefghijklmnopqrstuvwxyz0123456789";
    pawl_saga_table        saga    = order_table;
    const pawl_saga_table *list    = &saga;
    lines                 *out     = test_zeroed(sizeof *out);
    pawl_schema_spec       spec    = {.system_prefix = "abcdefghijklmnopqrstu"};
    refuses(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, keep_line, out, &p->error),
            PAWL_EINVAL, "has 21 bytes, limit 20");
    saga.name = (pawl_text){.data = bytes, .size = 64};
    refuses(p, run_schema(p, p->url, PAWL_SCHEMA_PRINT, &list, 1, out), PAWL_EINVAL,
            "its name has 64 bytes, limit 63");
    expect_text(p, "saga Order");
    saga.name          = (pawl_text){.data = bytes, .size = 63};
    saga.main.property = (pawl_text){.data = bytes, .size = 52};
    refuses(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, &list, 1, out), PAWL_EINVAL,
            "its name has 64 bytes, limit 63");
    saga.main.property = (pawl_text){.data = bytes, .size = 51};
    spec               = (pawl_schema_spec){
                      .system_prefix = "abcdefghijklmnopqrst", .tables = &list, .table_count = 1};
    ok(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, keep_line, out, &p->error));
    ok(p, pawl_store_schema(p->url, PAWL_SCHEMA_VERIFY, &spec, keep_line, out, &p->error));
}

/* D12, D16: types, and what an operator reads with plain SQL. */
ON_FIXTURE(columns_hold_readable_values, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    expect_raw_text(p->pg,
                    "select string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' "
                    "order by attnum) from pg_attribute where attnum > 0 and attrelid = "
                    "'\"shop_Order\"'::regclass",
                    "Id uuid, Metadata text, Data jsonb, PersistenceVersion character varying(23), "
                    "SagaTypeVersion character varying(23), Concurrency bigint, "
                    "Correlation_order_id character varying(200)");
    ok(p, begin_saga(p, store, &order_table, uuid_of(1), pawl_value_text(TEXT("order-1")),
                     "{\"cents\":5}"));
    assert_int_equal(raw_number(p->pg,
                                "select count(*) from \"shop_Order\" where \"Id\" = "
                                "'01000000-0000-0000-0000-000000000001' and \"Concurrency\" = 1 "
                                "and \"Data\" ->> 'cents' = '5' and \"Correlation_order_id\" = "
                                "'order-1' and \"PersistenceVersion\" <> ''"),
                     1);
}

/* D35 */
ON_FIXTURE(schemas_do_not_see_one_another, fixture *p)
{
    char        url[1200];
    pawl_value  value  = pawl_value_text(TEXT("order-1"));
    pawl_store *first  = open_store(p, p->url);
    const char *schema = test_text("%s_2", p->schema);
    fixture_url(schema, url, sizeof url);
    pawl_store *second = open_store(p, url);
    ok(p, begin_saga(p, first, &order_table, uuid_of(1), value, "{}"));
    assert_int_equal(load_saga(p, second, &order_table, PAWL_SAGA_BY_MAIN, value).version, 0);
    ok(p, begin_saga(p, second, &order_table, uuid_of(1), value, "{}"));
    ok(p, send_one(p, first, "orders", "m-1"));
    assert_int_equal(claim_some(p, second, "orders", NOW, 10).count, 0);
    test_now(first);
    test_now(second);
    raw_run(p->pg, test_text("drop schema \"%s\" cascade", schema));
    fixture_url("", url, sizeof url);
    refuses(p, open_with(p, url, NULL, 0, &first), PAWL_EINVAL, "schema is empty");
}

/* The last table's name is taken, which is met when all others are made. */
ON_FIXTURE(d34_a_failed_install_leaves_nothing, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    raw_run(p->pg, test_text("create schema \"%s\"", p->schema));
    raw_run(p->pg, "create view \"My caf\xC3\xA9 saga\" as select 1 as mine");
    pawl_code code = run_schema(p, p->url, PAWL_SCHEMA_APPLY, both_tables, 2, out);
    assert_int_not_equal(code, PAWL_OK);
    assert_int_equal(object_count(p), 1);
    raw_run(p->pg, "drop view \"My caf\xC3\xA9 saga\"");
    apply_schema(p, p->url, both_tables, 2);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out));
}

/* Before anything is sent: the schema is not even made. */
ON_FIXTURE(d34_a_prefix_is_looked_at_first, fixture *p)
{
    pawl_schema_spec spec = {.system_prefix = "a\"b", .tables = both_tables, .table_count = 2};
    expect_code(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error),
                PAWL_ECONFIG);
    assert_int_equal(raw_number(p->pg, "select count(*) from pg_namespace where nspname = "
                                       "current_setting('search_path')"),
                     0);
    assert_int_equal(object_count(p), 0);
}

/* A role's setting that quotes all names counts neither for what is made nor for what is compared. A session of a
 * pooler has the role's settings. */
static void expect_unquoted(fixture *p, const char *pooler)
{
    lines out;
    raw_run(
        p->pg,
        test_text("create role %s login superuser; alter role %s set quote_all_identifiers = on",
                  p->schema, p->schema));
    const char *url = test_text("%s&user=%s%s", p->url, p->schema, pooler);
    apply_schema(p, url, order_tables, 1);
    pawl_code by_role = run_schema(p, url, PAWL_SCHEMA_VERIFY, order_tables, 1, &out);
    size_t    count   = out.count;
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, order_tables, 1, &out));
    raw_run(p->pg, test_text("drop owned by %s cascade; drop role %s", p->schema, p->schema));
    ok(p, by_role);
    assert_int_equal(count, 0);
    assert_int_equal(out.count, 0);
}

ON_FIXTURE(a_role_that_quotes_all_names, fixture *p)
{
    expect_unquoted(p, "");
}

ON_FIXTURE(a_role_that_quotes_all_names_behind_a_pooler, fixture *p)
{
    expect_unquoted(p, "&pooler=transaction");
}
