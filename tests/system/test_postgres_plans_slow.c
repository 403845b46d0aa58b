/* test_postgres_plans_slow.c - no hot statement scans a table: with 250,000 rows
 * in each, every statement of the PostgreSQL driver is explained and executed, in
 * a transaction that is rolled back, and the pages that it touched are counted.
 *
 *     empty      planned while the tables were known to be empty, as by a worker
 *                that was there first
 *     few        planned when they had a few rows
 *                Then they are filled, and not analyzed.
 *     analyzed   planned anew with statistics
 *     pooled     for its parameters, with the server's own settings
 *
 * With PAWL_TEST_SHOW set, all plans are printed and how many pages each touched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#ifdef PAWL_HAVE_POSTGRES

#include "contract/postgres_fixture.h"
#include "store/postgres/postgres.h"
#include "system/postgres_explain.h"
#include "system/postgres_fill.h"
#include "system/postgres_saga_plans.h"

#include <poll.h>

#define FEW_ROWS 20
#define GIVE_UP "20s" /* on a statement that goes over a table for each key */

enum { EMPTY, FEW, POOLED, SESSIONS };

static const pawl_saga_table move_table = {
    .type         = PAWL_TEXT_INIT("Move"),
    .name         = PAWL_TEXT_INIT("shop_Move"),
    .main         = {.property = PAWL_TEXT_INIT("order_id"), .type = PAWL_VALUE_TEXT},
    .transitional = {.property = PAWL_TEXT_INIT("old_id"), .type = PAWL_VALUE_TEXT},
};
static const pawl_saga_table *const tables[] = {&order_table, &move_table};

#define STATEMENTS_MAX (PAWL__PG_STATEMENT_COUNT + 2 * pawl__pg_saga_statement_count)

typedef struct plans {
    fixture   *p;
    void      *module;
    session    sessions[SESSIONS];
    statement *statements;
    size_t     count;
} plans;

static plans all;
static pawl_code (*set_pipeline)(pawl__pg_connection *connection, bool is_on, pawl_error *error);

/* ---- What the driver has -------------------------------------------------- */

static const char *const names[] = {
#define NAME_OF(name, text) #name,
    PAWL__SQL_STATEMENTS(NAME_OF) PAWL__PG_STATEMENTS(NAME_OF)
#undef NAME_OF
#define NAME_OF(name, end) #name,
        PAWL__PG_SETS(NAME_OF)
#undef NAME_OF
};

static void load_driver(void)
{
    all.module              = test_module("postgres");
    *(void **)&set_pipeline = test_symbol(all.module, "pawl__pg_set_pipeline");
}

static void open_session(session *s, const char *name, const char *parameters)
{
    char url[1300];
    s->name   = name;
    s->schema = all.p->schema;
    snprintf(url, sizeof url, "%s%s", all.p->url, parameters);
    expect_code(all.p, open_with(all.p, url, tables, COUNT(tables), &s->store), PAWL_OK);
    pawl__pg_connection *connection = &pawl__pg_of(s->store)->main;
    expect_code(all.p, set_pipeline(connection, false, &all.p->error), PAWL_OK);
    s->pg = connection->pg;
}

static void add_statement(const char *table, const char *name, const plan_row *row,
                          const pawl__pg_request *call)
{
    statement *s = &all.statements[all.count++];
    assert_int_equal(call->code, PAWL_OK);
    snprintf(s->name, sizeof s->name, "%s%s", table, name);
    assert_true(strlen(call->statement->text) < sizeof s->text);
    snprintf(s->text, sizeof s->text, "%s", call->statement->text);
    s->row     = row->types != NULL ? row : NULL;
    s->is_ours = strstr(s->text, "\"pawl_") != NULL || strstr(s->text, "\"shop_") != NULL;
}

static void list_shared(pawl__pg_connection *connection)
{
    void (*begin)(pawl__pg_request *, pawl__pg_connection *, int, pawl_error *);
    *(void **)&begin = test_symbol(all.module, "pawl__pg_begin");
    for (int i = 0; i < PAWL__PG_STATEMENT_COUNT; i++) {
        pawl__pg_request call;
        begin(&call, connection, i, &all.p->error);
        add_statement(i < PAWL__SQL_STATEMENT_COUNT ? "sql_" : "", names[i], &plan_rows[i], &call);
    }
}

/* A table without a transitional value has other statements that write. */
static void list_sagas(pawl__pg_connection *connection)
{
    void (*begin)(pawl__pg_request *, pawl__pg_connection *, const pawl_saga_table *, int,
                  pawl_error *);
    *(void **)&begin = test_symbol(all.module, "pawl__pg_saga_begin");
    for (int i = 0; i < pawl__pg_saga_statement_count; i++) {
        pawl__pg_request call;
        char             name[20];
        snprintf(name, sizeof name, "%d", i);
        begin(&call, connection, &move_table, i, &all.p->error);
        add_statement("move_", name, &saga_rows[i], &call);
        if (plain_saga_rows[i].types == NULL)
            continue;
        begin(&call, connection, &order_table, i, &all.p->error);
        add_statement("order_", name, &plain_saga_rows[i], &call);
    }
}

/* ---- Filling -------------------------------------------------------------- */

/* The table stands where % is. */
static void on_table(const char *format, const char *table)
{
    char   sql[200];
    size_t head = strcspn(format, "%");
    snprintf(sql, sizeof sql, "%.*s%s%s", (int)head, format, table, format + head + 1);
    raw_run(all.p->pg, sql);
}

static void make_tables(void)
{
    apply_schema(all.p, all.p->url, tables, COUNT(tables));
    for (size_t i = 0; i < COUNT(fill_functions); i++)
        raw_run(all.p->pg, fill_functions[i]);
    for (size_t i = 0; i < COUNT(fill_tables); i++)
        on_table("alter table % set unlogged, set (autovacuum_enabled = false)", fill_tables[i]);
}

/* As a server that has vacuumed empty tables knows them. */
static void empty_tables(void)
{
    for (size_t i = 0; i < COUNT(fill_tables); i++)
        on_table("truncate % cascade", fill_tables[i]);
    for (size_t i = 0; i < COUNT(fill_tables); i++)
        on_table("vacuum %", fill_tables[i]);
}

static bool is_busy(PGconn *pg)
{
    if (PQconsumeInput(pg) != 1)
        fail_msg("%s", PQerrorMessage(pg));
    return PQisBusy(pg) != 0;
}

static void end_fill(PGconn *pg)
{
    for (PGresult *result = PQgetResult(pg); result != NULL; result = PQgetResult(pg)) {
        if (PQresultStatus(result) == PGRES_FATAL_ERROR)
            fail_msg("%s", PQerrorMessage(pg));
        PQclear(result);
    }
}

/* For the rows from `first` to `last`. */
static void send_fill(PGconn *pg, const char *text, int first, int last)
{
    static char sql[4000];
    size_t      head = strcspn(text, "@");
    if (text[head] == '\0')
        snprintf(sql, sizeof sql, "%s", text);
    else
        snprintf(sql, sizeof sql, "%.*s%d::bigint, %d%s", (int)head, text, first, last,
                 text + head + 1);
    assert_int_equal(PQsendQuery(pg, sql), 1);
}

/* A few rows, from which the server has no statistics either. */
static void fill_few(void)
{
    for (size_t i = 0; i < COUNT(fill_statements); i++)
        if (strchr(fill_statements[i], '@') != NULL) {
            send_fill(all.p->pg, fill_statements[i], 1, FEW_ROWS);
            end_fill(all.p->pg);
        }
}

/* A session that is asleep while others work forgets all its plans at once when it
 * has missed too much: it is kept awake. */
static void keep_awake(void)
{
    raw_run(all.sessions[EMPTY].pg, "select 1");
    raw_run(all.sessions[FEW].pg, "select 1");
}

/* Two statements at a time. */
static void fill(void)
{
    PGconn *pg[2] = {raw_open(all.p->schema), raw_open(all.p->schema)};
    size_t  next  = 0;
    for (size_t way = 0; next < COUNT(fill_statements); way = !way) {
        if (is_busy(pg[way])) {
            struct pollfd sockets[2] = {{PQsocket(pg[0]), POLLIN, 0}, {PQsocket(pg[1]), POLLIN, 0}};
            (void)poll(sockets, 2, 20);
            keep_awake();
            continue;
        }
        end_fill(pg[way]);
        send_fill(pg[way], fill_statements[next++], FEW_ROWS + 1, FILL_ROWS);
    }
    for (size_t way = 0; way < 2; way++) {
        while (is_busy(pg[way]))
            keep_awake();
        end_fill(pg[way]);
        PQfinish(pg[way]);
    }
}

/* ---- Values --------------------------------------------------------------- */

/* The expressions' values as literals, so that reading them counts for nothing. */
static char *evaluate(const char *values)
{
    static char sql[SQL_SIZE];
    size_t      size = 0;
    snprintf(sql, sizeof sql, "select %s", values);
    PGresult *result = PQexec(all.p->pg, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", values, PQerrorMessage(all.p->pg));
    for (int i = 0; i < PQnfields(result); i++) {
        char *literal =
            PQescapeLiteral(all.p->pg, PQgetvalue(result, 0, i), (size_t)PQgetlength(result, 0, i));
        size += (size_t)snprintf(sql + size, sizeof sql - size, "%s%s", i != 0 ? ", " : "",
                                 PQgetisnull(result, 0, i) ? "null" : literal);
        assert_true(size < sizeof sql);
        PQfreemem(literal);
    }
    PQclear(result);
    return strdup(sql);
}

/* As many nulls as there are types: for a plan that is made for any value. */
static void write_nulls(const char *types, char *text)
{
    if (types[0] != '\0')
        text += sprintf(text, "null");
    for (; *types != '\0'; types++)
        if (*types == ',')
            text += sprintf(text, ", null");
}

/* How many are bad. */
static unsigned check_all(const session *in)
{
    unsigned bad = 0;
    for (size_t i = 0; i < all.count; i++)
        if (all.statements[i].values != NULL)
            bad += !is_good(in, &all.statements[i]);
    return bad;
}

/* ---- The group ------------------------------------------------------------ */

static void prepare_all(const session *in)
{
    for (size_t i = 0; i < all.count; i++)
        if (all.statements[i].row != NULL)
            prepare(in, &all.statements[i]);
}

static void read_plan(const session *in, char *plan, size_t size)
{
    raw_text(in->pg, "explain execute inbox_known (null, null)", plan, size);
}

/* Plans are made at the first execution, those of foreign keys at the first row. */
static void plan_all(session *in)
{
    char nulls[400], sql[500];
    for (size_t i = 0; i < all.count; i++) {
        if (all.statements[i].row == NULL)
            continue;
        write_nulls(all.statements[i].row->types, nulls);
        yyjson_doc *doc = explain(in, &all.statements[i], "", nulls);
        if (doc == NULL)
            fail_msg("%s cannot be planned", all.statements[i].name);
        yyjson_doc_free(doc);
    }
    snprintf(
        sql, sizeof sql,
        "begin; set local search_path = \"%s\"; insert into pawl_outbox values (-1, key(-1), "
        "'pending', 0, at(0), at(0), at(0), null, '', 0, 0, '', '', 0, '', '', '', '', '', ''); "
        "insert into pawl_outbox_attempts values (-1, 1, 'success', at(0), 1, ''); "
        "delete from pawl_outbox where \"Id\" = -1; rollback",
        all.p->schema);
    raw_run(in->pg, sql);
    read_plan(in, in->plan, sizeof in->plan);
}

/* Planned anew it would have other costs. */
static bool is_same_plan(const session *in)
{
    char plan[sizeof in->plan];
    read_plan(in, plan, sizeof plan);
    return strcmp(plan, in->plan) == 0;
}

static void evaluate_all(void)
{
    for (size_t i = 0; i < all.count; i++)
        if (all.statements[i].row != NULL && all.statements[i].row->values != NULL) {
            free(all.statements[i].values);
            all.statements[i].values = evaluate(all.statements[i].row->values);
        }
}

/* Plans are made before the tables are filled. */
static void plan_and_fill(void)
{
    empty_tables();
    plan_all(&all.sessions[EMPTY]);
    fill_few();
    plan_all(&all.sessions[FEW]);
    fill();
    evaluate_all();
}

static int setup(void **state)
{
    (void)state;
    void *made = NULL;
    if (fixture_setup(&made) != 0)
        return -1;
    all.p          = made;
    all.statements = calloc(STATEMENTS_MAX, sizeof *all.statements);
    load_driver();
    make_tables();
    open_session(&all.sessions[EMPTY], "empty", "");
    open_session(&all.sessions[FEW], "few", "");
    open_session(&all.sessions[POOLED], "pooled", "&pooler=transaction");
    list_shared(&pawl__pg_of(all.sessions[EMPTY].store)->main);
    list_sagas(&pawl__pg_of(all.sessions[EMPTY].store)->main);
    raw_run(all.sessions[POOLED].pg, "set plan_cache_mode = force_custom_plan");
    for (size_t i = 0; i < SESSIONS; i++) {
        raw_run(all.sessions[i].pg, "set statement_timeout = '" GIVE_UP "'");
        prepare_all(&all.sessions[i]);
    }
    plan_and_fill();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    void *made = all.p;
    for (size_t i = 0; i < SESSIONS; i++)
        pawl_store_close(all.sessions[i].store);
    for (size_t i = 0; i < all.count; i++)
        free(all.statements[i].values);
    free(all.statements);
    return fixture_teardown(&made);
}

/* ---- Tests ---------------------------------------------------------------- */

/* Is the shared statement named in a source of the driver? */
static bool is_used(const char *name)
{
    char command[1000];
    snprintf(command, sizeof command, "grep -qw pawl__%s '%s'/src/store/postgres/*.c", name,
             getenv("PAWL_SOURCE_DIR"));
    return system(command) == 0;
}

TEST(every_statement_has_a_row)
{
    unsigned bad = 0;
    if (getenv("PAWL_SOURCE_DIR") == NULL)
        fail_msg("PAWL_SOURCE_DIR is not set");
    for (size_t i = 0; i < all.count; i++) {
        const statement *s = &all.statements[i];
        if (s->row != NULL || !s->is_ours ||
            (strncmp(s->name, "sql_", 4) == 0 && !is_used(s->name)))
            continue;
        printf("%s has no row in postgres_plans.h: %s\n", s->name, s->text);
        bad++;
    }
    assert_int_equal(bad, 0);
}

/* A server where others work may have planned anew meanwhile: then all begins anew. */
static void check_kept(const session *in)
{
    unsigned bad = 0;
    for (int i = 0; i < 2; i++) {
        if (!is_same_plan(in))
            plan_and_fill();
        bad = check_all(in);
        if (is_same_plan(in)) {
            assert_int_equal(bad, 0);
            return;
        }
    }
    fail_msg("%s: the server plans anew all the time", in->name);
}

TEST(plans_made_for_empty_tables_hold)
{
    check_kept(&all.sessions[EMPTY]);
}

TEST(plans_made_for_a_few_rows_hold)
{
    check_kept(&all.sessions[FEW]);
}

/* Rows that were rolled back so far would be in the way. */
static void clean(const char *how)
{
    for (size_t i = 0; i < COUNT(fill_tables); i++)
        on_table(how, fill_tables[i]);
}

TEST(no_hot_statement_scans_a_table)
{
    clean("vacuum (analyze, index_cleanup on) %");
    all.sessions[EMPTY].name = "analyzed";
    assert_int_equal(check_all(&all.sessions[EMPTY]), 0);
}

TEST(nor_does_one_behind_a_pooler)
{
    clean("vacuum (index_cleanup on) %");
    assert_int_equal(check_all(&all.sessions[POOLED]), 0);
}

/* ---- Claims beside a snapshot ---------------------------------------------- */

/* The handle's own connection, for a moment without the pipeline. */
static int64_t read_pages(pawl_store *store, const char *first)
{
    pawl__pg_connection *connection = &pawl__pg_of(store)->main;
    expect_code(all.p, set_pipeline(connection, false, &all.p->error), PAWL_OK);
    raw_run(connection->pg, first);
    int64_t count = pages_touched(connection->pg, all.p->schema);
    expect_code(all.p, set_pipeline(connection, true, &all.p->error), PAWL_OK);
    connection->in_transaction = true;
    return count;
}

/* Claims 256 rows and settles them; the pages that the claim touched. */
static int64_t claim_pages(pawl_store *store, const char *queue)
{
    pawl_queue_settle settles[256];
    pawl_changes      changes = {.now = NOW, ONE_UNIT};
    int64_t           before  = read_pages(store, "begin");
    pawl_queue_rows   rows    = claim_some(all.p, store, queue, NOW, COUNT(settles));
    int64_t           after   = read_pages(store, "select 1");
    assert_int_equal(rows.count, COUNT(settles));
    for (size_t i = 0; i < rows.count; i++)
        settles[i] = (pawl_queue_settle){.queue = pawl_text_of(queue), .seq = rows.items[i].seq};
    changes.queue_settle.items = settles;
    changes.queue_settle.count = rows.count;
    expect_code(all.p, pawl_store_commit(store, &changes, NULL, &all.p->error), PAWL_OK);
    return after - before;
}

/* The first claim took long, so the whole is not looked at for a while: here for as long
 * as the commits to come take. */
static void make_pause_last(pawl_store *store)
{
    pawl__pg *driver = pawl__pg_of(store);
    assert_int_equal(driver->front_count, 1);
    assert_true(driver->fronts[0].pause_ms > 0);
    driver->fronts[0].pause_ms = INT64_MAX / 2;
    driver->fronts[0].whole_ms = clock_ms(); /* as the due times of this test, which stand still */
}

/* Entries of handled rows stay in the index while somebody's snapshot can see it: the
 * first claim scans over it, the others begin behind it. */
TEST(claims_begin_behind_what_was_handled)
{
    PGconn *leased = raw_open(all.p->schema);
    raw_run(leased, "begin isolation level repeatable read; select 1 from pawl_queue limit 1");
    raw_run(all.p->pg, "delete from pawl_queue where \"Queue\" = 'spread' and \"Seq\" <= 220000");
    pawl_store *store = open_store(all.p, all.p->url);
    assert_true(claim_pages(store, "spread") > 3000);
    for (int i = 0; i < 5; i++) {
        make_pause_last(store);
        assert_in_range(claim_pages(store, "spread"), 0, 2000);
    }
    test_now(store);
    raw_run(leased, "rollback");
    PQfinish(leased);
}

int main(void)
{
    if (fixture_server() == NULL)
        return fixture_skip();
    return tests_run(setup, teardown);
}

#endif
