/* test_postgres_plans_slow.c - no hot statement scans a table: with a million rows
 * in each, every statement of the PostgreSQL driver is explained and executed, in
 * a transaction that is rolled back, and the pages that it touched are counted.
 *
 *     from empty   planned while the tables were known to be empty, as by a worker
 *                  that was there first; then they were filled, not analyzed
 *     analyzed     planned anew with statistics
 *     pooled       for its parameters, with the server's own settings
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_HAVE_POSTGRES
#include <stdio.h>

int main(void)
{
    puts("skipped: built without libpq");
    return 77;
}
#else

#include "contract/postgres_place.h"

#include "store/postgres/postgres.h"
#include "store/postgres/saga.h"
#include "system/postgres_fill.h"
#include "system/postgres_plans.h"

#include <dlfcn.h>
#include <poll.h>
#include <yyjson.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SQL_SIZE 120000

enum { NAMED, POOLED, SESSIONS };

static const pawl_saga_table move_table = {
    .type         = {"Move", 4},
    .name         = {"shop_Move", 9},
    .main         = {.property = {"order_id", 8}, .type = PAWL_VALUE_TEXT},
    .transitional = {.property = {"old_id", 6}, .type = PAWL_VALUE_TEXT},
};
static const pawl_saga_table *const tables[] = {&order_table, &move_table};

/* A statement of the driver, as it is prepared in a session. */
typedef struct statement {
    char            name[60];
    char            text[6000];
    const plan_row *row; /* NULL: there is none */
    char           *values;
    bool            is_ours; /* reads or writes a table of pawl's */
    bool            is_prepared;
} statement;

typedef struct session {
    const char *name;
    pawl_store *store;
    PGconn     *pg; /* the driver's own */
} session;

#define STATEMENTS_MAX (pawl__postgres_statement_count + 2 * pawl__postgres_saga_statement_count)

typedef struct plans {
    place     *p;
    void      *module;
    session    sessions[SESSIONS];
    statement *statements;
    size_t     count;
    unsigned   bad;
} plans;

static plans all;

/* ---- What the driver has -------------------------------------------------- */

static const char *const names[] = {
#define NAME_OF(name, text) #name,
    PAWL__SQL_STATEMENTS(NAME_OF) PAWL__POSTGRES_STATEMENTS(NAME_OF)
#undef NAME_OF
};

/* Internal functions, which a test's build exports. */
static void *find(const char *name)
{
    void *found = dlsym(all.module, name);
    if (found == NULL)
        fail_msg("the driver exports no %s", name);
    return found;
}

static void load_driver(void)
{
    const char *folder = getenv("PAWL_DRIVER_PATH");
    char        path[1000];
    snprintf(path, sizeof path, "%s/libpawl-postgres.so", folder != NULL ? folder : ".");
    all.module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (all.module == NULL)
        fail_msg("%s", dlerror());
}

static void open_session(session *s, const char *name, const char *parameters)
{
    pawl_code (*set_pipeline)(pawl__postgres_connection *, bool, pawl_error *);
    char url[1300];
    s->name = name;
    snprintf(url, sizeof url, "%s%s", all.p->url, parameters);
    expect_code(all.p, open_with(all.p, url, tables, COUNT(tables), &s->store), PAWL_OK);
    *(void **)&set_pipeline               = find("pawl__postgres_set_pipeline");
    pawl__postgres_connection *connection = &pawl__postgres_of(s->store)->main;
    expect_code(all.p, set_pipeline(connection, false, &all.p->error), PAWL_OK);
    s->pg = connection->pg;
}

static statement *add_statement(const char *table, const char *name, const plan_row *row,
                                const pawl__postgres_call *call)
{
    statement *s = &all.statements[all.count++];
    assert_int_equal(call->code, PAWL_OK);
    snprintf(s->name, sizeof s->name, "%s%s", table, name);
    assert_true(strlen(call->statement->text) < sizeof s->text);
    snprintf(s->text, sizeof s->text, "%s", call->statement->text);
    s->row     = row->types != NULL ? row : NULL;
    s->is_ours = strstr(s->text, "\"pawl_") != NULL || strstr(s->text, "\"shop_") != NULL;
    return s;
}

static void list_shared(pawl__postgres_connection *connection)
{
    void (*begin)(pawl__postgres_call *, pawl__postgres_connection *, int, pawl_error *);
    *(void **)&begin = find("pawl__postgres_begin");
    for (int i = 0; i < pawl__postgres_statement_count; i++) {
        pawl__postgres_call call;
        begin(&call, connection, i, &all.p->error);
        add_statement(i < pawl__sql_statement_count ? "sql_" : "", names[i], &plan_rows[i], &call);
    }
}

/* A table without a transitional value has other statements that write. */
static void list_sagas(pawl__postgres_connection *connection)
{
    void (*begin)(pawl__postgres_call *, pawl__postgres_connection *, const pawl_saga_table *, int,
                  pawl_error *);
    *(void **)&begin = find("pawl__postgres_saga_begin");
    for (int i = 0; i < pawl__postgres_saga_statement_count; i++) {
        pawl__postgres_call call;
        char                name[20];
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

/* As a server that has vacuumed empty tables knows them. */
static void make_empty_tables(void)
{
    apply_schema(all.p, all.p->url, tables, COUNT(tables));
    for (size_t i = 0; i < COUNT(fill_functions); i++)
        raw_run(all.p->pg, fill_functions[i]);
    for (size_t i = 0; i < COUNT(fill_tables); i++) {
        on_table("alter table % set unlogged, set (autovacuum_enabled = false)", fill_tables[i]);
        on_table("vacuum %", fill_tables[i]);
    }
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
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            fail_msg("%s", PQerrorMessage(pg));
        PQclear(result);
    }
}

/* Two at a time. */
static void fill(void)
{
    PGconn *pg[2] = {raw_open(all.p->schema), raw_open(all.p->schema)};
    size_t  next  = 0;
    for (size_t way = 0; next < COUNT(fill_statements); way = !way) {
        if (is_busy(pg[way])) {
            struct pollfd sockets[2] = {{PQsocket(pg[0]), POLLIN, 0}, {PQsocket(pg[1]), POLLIN, 0}};
            (void)poll(sockets, 2, 1000);
            continue;
        }
        end_fill(pg[way]);
        assert_int_equal(PQsendQuery(pg[way], fill_statements[next++]), 1);
    }
    for (size_t way = 0; way < 2; way++) {
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

/* ---- Explaining ----------------------------------------------------------- */

static void prepare(const session *in, statement *s)
{
    static char sql[SQL_SIZE];
    snprintf(sql, sizeof sql, "prepare %s%s%s%s as %s", s->name,
             s->row->types[0] != '\0' ? "(" : "", s->row->types,
             s->row->types[0] != '\0' ? ")" : "", s->text);
    raw_run(in->pg, sql);
}

static yyjson_doc *explain(const session *in, const statement *s, const char *options,
                           const char *values)
{
    static char sql[SQL_SIZE];
    bool        has_values = s->row->types[0] != '\0';
    snprintf(sql, sizeof sql, "explain (format json%s) execute %s%s%s%s", options, s->name,
             has_values ? "(" : "", has_values ? values : "", has_values ? ")" : "");
    PGresult *result = PQexec(in->pg, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", s->name, PQerrorMessage(in->pg));
    const char *text = PQgetvalue(result, 0, 0);
    yyjson_doc *doc  = yyjson_read(text, strlen(text), 0);
    assert_non_null(doc);
    PQclear(result);
    return doc;
}

typedef struct look {
    const session   *in;
    const statement *of;
    double           rows; /* that scans looked at */
    unsigned         bad;
} look;

static const char *text_of(yyjson_val *node, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(node, key));
    return text != NULL ? text : "";
}

static double number_of(yyjson_val *node, const char *key)
{
    yyjson_val *value = yyjson_obj_get(node, key);
    return value != NULL ? yyjson_get_num(value) : 0;
}

/* Of all loops together. */
static double rows_of(yyjson_val *node)
{
    return number_of(node, "Actual Rows") * number_of(node, "Actual Loops");
}

static void complain(look *l, const char *what, const char *where, double number)
{
    printf("%s: %s: %s %s %.0f\n", l->in->name, l->of->name, what, where, number);
    l->bad++;
}

static bool is_small(const char *table)
{
    static const char *const small[] = {"pawl_workers", "pawl_leases", "pawl_schema"};
    bool                     found   = false;
    for (size_t i = 0; i < COUNT(small); i++)
        found |= strcmp(small[i], table) == 0;
    return found;
}

static void look_at_scan(look *l, yyjson_val *node, const char *type)
{
    const char *table = text_of(node, "Relation Name");
    if (strcmp(type, "Seq Scan") == 0 && !is_small(table))
        complain(l, "scans", table, rows_of(node));
    if (strstr(type, "Index") != NULL && strstr(type, "Scan") != NULL && !is_small(table) &&
        yyjson_obj_get(node, "Index Cond") == NULL && !l->of->row->walks)
        complain(l, "walks through", text_of(node, "Index Name"), rows_of(node));
    l->rows += rows_of(node);
    l->rows += number_of(node, "Rows Removed by Filter") * number_of(node, "Actual Loops");
}

static void look_at_node(look *l, yyjson_val *node)
{
    const char *type   = text_of(node, "Node Type");
    yyjson_val *inner  = yyjson_obj_get(node, "Plans");
    size_t      number = 0, count = 0;
    yyjson_val *plan;
    if (yyjson_obj_get(node, "Relation Name") != NULL || strcmp(type, "Bitmap Index Scan") == 0)
        look_at_scan(l, node, type);
    yyjson_arr_foreach(inner, number, count, plan)
    {
        if (strstr(type, "Sort") != NULL && rows_of(plan) > ROWS_MAX)
            complain(l, "sorts", "rows", rows_of(plan));
        l->rows += number_of(node, "Rows Removed by Join Filter") * (number == 0);
        look_at_node(l, plan);
    }
}

/* Pages of tables and indexes that the transaction asked for so far. */
static int64_t pages(const session *in)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "select sum(pg_stat_get_xact_blocks_fetched(oid)) from pg_class "
             "where relnamespace = '\"%s\"'::regnamespace",
             all.p->schema);
    return raw_number(in->pg, sql);
}

static void check(const session *in, statement *s)
{
    look l        = {.in = in, .of = s};
    int  rows_max = s->row->rows != 0 ? s->row->rows : ROWS_MAX;
    raw_run(in->pg, "begin");
    int64_t     before = pages(in);
    yyjson_doc *doc    = explain(in, s, ", analyze, timing off, summary off", s->values);
    int64_t     count  = pages(in) - before;
    raw_run(in->pg, "rollback");
    yyjson_val *plan = yyjson_obj_get(yyjson_arr_get_first(yyjson_doc_get_root(doc)), "Plan");
    assert_non_null(plan);
    look_at_node(&l, plan);
    if (l.rows > rows_max)
        complain(&l, "looks at", "rows", l.rows);
    if (count > s->row->blocks)
        complain(&l, "touches", "pages", (double)count);
    if (l.bad != 0 && getenv("PAWL_TEST_SHOW") != NULL) {
        char *text = yyjson_val_write(plan, YYJSON_WRITE_PRETTY, NULL);
        printf("%s\n%s\n", s->text, text);
        free(text);
    }
    if (getenv("PAWL_TEST_SHOW") != NULL)
        printf("= %s %s pages %lld of %d rows %.0f\n", in->name, s->name, (long long)count,
               s->row->blocks, l.rows);
    all.bad += l.bad != 0;
    yyjson_doc_free(doc);
}

static void check_all(const session *in)
{
    all.bad = 0;
    for (size_t i = 0; i < all.count; i++)
        if (all.statements[i].values != NULL)
            check(in, &all.statements[i]);
    if (all.bad != 0)
        fail_msg("%s: %u statements", in->name, all.bad);
}

/* ---- The group ------------------------------------------------------------ */

static void prepare_all(const session *in)
{
    for (size_t i = 0; i < all.count; i++)
        if (all.statements[i].row != NULL)
            prepare(in, &all.statements[i]);
}

/* Plans are made at the first execution, those of foreign keys at the first row. */
static void plan_all(const session *in)
{
    char nulls[400], sql[500];
    for (size_t i = 0; i < all.count; i++) {
        if (all.statements[i].row == NULL)
            continue;
        write_nulls(all.statements[i].row->types, nulls);
        yyjson_doc_free(explain(in, &all.statements[i], "", nulls));
    }
    snprintf(sql, sizeof sql,
             "begin; set local search_path = \"%s\"; insert into pawl_outbox values (1, key(1), "
             "'pending', 0, at(0), at(0), at(0), null, '', 0, 0, '', '', '', '', '', '', '', ''); "
             "insert into pawl_outbox_attempts values (1, 1, 'success', at(0), 1, ''); "
             "delete from pawl_outbox; rollback",
             all.p->schema);
    raw_run(in->pg, sql);
}

static void evaluate_all(void)
{
    for (size_t i = 0; i < all.count; i++)
        if (all.statements[i].row != NULL && all.statements[i].row->values != NULL)
            all.statements[i].values = evaluate(all.statements[i].row->values);
}

static int setup(void **state)
{
    (void)state;
    void *made = NULL;
    if (place_setup(&made) != 0)
        return -1;
    all.p          = made;
    all.statements = calloc(STATEMENTS_MAX, sizeof *all.statements);
    load_driver();
    make_empty_tables();
    open_session(&all.sessions[NAMED], "named", "");
    open_session(&all.sessions[POOLED], "pooled", "&pooler=transaction");
    list_shared(&pawl__postgres_of(all.sessions[NAMED].store)->main);
    list_sagas(&pawl__postgres_of(all.sessions[NAMED].store)->main);
    raw_run(all.sessions[POOLED].pg, "set plan_cache_mode = force_custom_plan");
    for (size_t i = 0; i < SESSIONS; i++)
        prepare_all(&all.sessions[i]);
    plan_all(&all.sessions[NAMED]);
    fill();
    evaluate_all();
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
    return place_teardown(&made);
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

static void every_statement_has_a_row(void **state)
{
    (void)state;
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

static void plans_made_for_empty_tables_hold(void **state)
{
    (void)state;
    check_all(&all.sessions[NAMED]);
}

static void no_hot_statement_scans_a_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fill_tables); i++)
        on_table("analyze %", fill_tables[i]);
    check_all(&all.sessions[NAMED]);
}

static void nor_does_one_behind_a_pooler(void **state)
{
    (void)state;
    check_all(&all.sessions[POOLED]);
}

int main(void)
{
    if (place_server() == NULL)
        return place_skip();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_has_a_row),
        cmocka_unit_test(plans_made_for_empty_tables_hold),
        cmocka_unit_test(no_hot_statement_scans_a_table),
        cmocka_unit_test(nor_does_one_behind_a_pooler),
    };
    return cmocka_run_group_tests_name("postgres_plans", tests, setup, teardown);
}

#endif
