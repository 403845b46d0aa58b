/* test_sql_golden.c - every statement that a SQL driver may send, in tests/golden/sql/<driver>.sql: a
 * change of a template, of a dialect or of what writes statements is read there as SQL.
 *
 * To write the files anew: PAWL_TEST_WRITE_GOLDEN=1 build/tests/contract/test_sql_golden
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/golden.h"
#include "pawl/pawl.h"
#include "store/sql/commit.h"
#include "store/sql/family.h"
#include "store/sql/tables.h"
#ifdef PAWL_HAVE_SQLITE
#include "store/sqlite/sqlite.h"
#endif
#ifdef PAWL_HAVE_MYSQL
#include "store/sql/dialects/mysql_statements.h"
#endif
#ifdef PAWL_HAVE_ODBC
#include "store/sql/dialects/mssql_statements.h"
#include "store/sql/dialects/oracle_round.h"
#include "store/sql/dialects/oracle_statements.h"
#endif
#ifdef PAWL_HAVE_POSTGRES
#include "store/postgres/postgres.h"
#endif

#include <dlfcn.h>

#define WIDTH 100
static const pawl_saga_table order_table = {
    .type         = PAWL_TEXT_INIT("Order"),
    .name         = PAWL_TEXT_INIT("shop_Order"),
    .main         = {.property = PAWL_TEXT_INIT("OrderId"), .type = PAWL_VALUE_TEXT},
    .transitional = {.property = PAWL_TEXT_INIT("OldId"), .type = PAWL_VALUE_INT},
};
static const pawl_saga_table plain_table = {.type = PAWL_TEXT_INIT("Plain"),
                                            .name = PAWL_TEXT_INIT("shop_Plain")};

/* ---- The page ----------------------------------------------------------- */

/* Functions of the driver's module, which a test's build exports. */
typedef struct page {
    void                    *module;
    const pawl__sql_dialect *dialect;
    FILE                    *to;
} page;

static void load(page *p, const char *driver, const char *dialect)
{
    p->module  = test_module(driver);
    p->dialect = test_symbol(p->module, dialect);
}

/* The version of the day is none of the page's business. */
static void put_text(FILE *to, const char *text, size_t size)
{
    static const char version[] = "'" PAWL_VERSION "'";
    for (size_t i = 0; i < size; i++) {
        if (size - i >= sizeof version - 1 && memcmp(text + i, version, sizeof version - 1) == 0) {
            fputs("'VERSION'", to);
            i += sizeof version - 2;
        } else {
            fputc(text[i], to);
        }
    }
}

/* A long statement is broken at spaces. */
static void put_statement(page *p, const char *name, const char *text)
{
    fprintf(p->to, "\n-- %s\n", name);
    while (strlen(text) > WIDTH) {
        size_t size = WIDTH;
        while (size > 0 && text[size] != ' ')
            size--;
        size = size != 0 ? size : strcspn(text, " ");
        put_text(p->to, text, size);
        fputc('\n', p->to);
        text += size + (text[size] == ' ');
    }
    put_text(p->to, text, strlen(text));
    fputs(text[0] != '\0' && text[strlen(text) - 1] == ';' ? "\n" : ";\n", p->to);
}

static void put_head(page *p)
{
    fputs("-- The script of the tables: tests/golden/schema.\n", p->to);
}

static void put_template(page *p, const char *name, const char *template_text)
{
    void (*expand)(pawl__sql_text *, const pawl__sql_dialect *, const char *, const char *);
    pawl__sql_text text = {0};
    *(void **)&expand   = test_symbol(p->module, "pawl__sql_expand");
    expand(&text, p->dialect, "pawl_", template_text);
    assert_false(text.is_failed);
    put_statement(p, name, text.data);
    pawl_free(text.data);
}

typedef struct statement_row {
    const char *name;
    const char *text;
} statement_row;

/* Shared ones are left out where the driver has its own text; that one says so. */
static void put_templates(page *p, const statement_row *rows, int count, int shared_count,
                          const int *overrides)
{
    for (int i = 0; i < count; i++) {
        int stands_for = -1;
        if (i < shared_count && overrides[i] != 0)
            continue;
        for (int shared = 0; shared < shared_count; shared++)
            if (overrides[shared] == i && i != 0)
                stands_for = shared;
        const char *name = test_text("%s%s%s", rows[i].name, stands_for >= 0 ? ", for " : "",
                                     stands_for >= 0 ? rows[stands_for].name : "");
        put_template(p, name, rows[i].text);
    }
}

/* ---- Comparing ---------------------------------------------------------- */

static void end_page(page *p, const char *driver, char *text)
{
    char path[1000];
    golden_path(path, sizeof path, driver);
    if (getenv("PAWL_TEST_WRITE_GOLDEN") != NULL) {
        FILE *to = fopen(path, "wb");
        assert_non_null(to);
        fputs(text, to);
        assert_int_equal(fclose(to), 0);
    }
    char *was = read_file(path);
    compare_lines(path, text, was);
    free(was);
    free(text);
    dlclose(p->module);
}

/* ---- The drivers -------------------------------------------------------- */

#define ROW_OF(name, text) {#name, text},

/* Left out: loads by a correlation that the table lacks, and locked loads without row locks. */
static void put_sagas(page *p)
{
    void (*saga_text)(pawl__sql_text *, const pawl__sql_dialect *, const pawl_saga_table *,
                      pawl__sql_saga_statement);
    *(void **)&saga_text = test_symbol(p->module, "pawl__sql_saga_text");
    for (int i = 0; i < 2 * pawl__sql_saga_statement_count; i++) {
        pawl__sql_text made  = {0};
        int            which = i % pawl__sql_saga_statement_count;
        bool           first = i == which;
        bool           locks = which >= PAWL__SQL_SAGA_LOCKED;
        int            key   = which - (locks ? PAWL__SQL_SAGA_LOCKED : PAWL__SQL_SAGA_BY_ID);
        bool           loads = locks || key < 3;
        if ((!first && loads && key % 3 != PAWL_SAGA_BY_ID) ||
            (locks && p->dialect->locks[PAWL_SAGA_LOCKED][0] == '\0' &&
             p->dialect->hints[PAWL_SAGA_LOCKED] == NULL))
            continue;
        saga_text(&made, p->dialect, first ? &order_table : &plain_table,
                  (pawl__sql_saga_statement)which);
        put_statement(p, test_text("saga %s %d", first ? "Order" : "Plain", which), made.data);
        pawl_free(made.data);
    }
}

#ifdef PAWL_HAVE_SQLITE
TEST(statements_of_sqlite)
{
    static const statement_row rows[] = {PAWL__SQL_STATEMENTS(ROW_OF) PAWL__SQL_ROW_STATEMENTS(
        ROW_OF) PAWL__SQLITE_STATEMENTS(ROW_OF)};
    char                      *text   = NULL;
    size_t                     size   = 0;
    page                       p      = {.to = open_memstream(&text, &size)};
    load(&p, "sqlite", "pawl__sqlite_dialect");
    put_head(&p);
    put_templates(&p, rows, (int)COUNT(rows), PAWL__SQL_ROW_STATEMENT_END,
                  test_symbol(p.module, "pawl__sqlite_overrides"));
    put_sagas(&p);
    fclose(p.to);
    end_page(&p, "sqlite", text);
}
#endif

#ifdef PAWL_HAVE_POSTGRES
/* Statements over arrays, made of those of one row. */
static void put_sets(page *p)
{
    static const char *const names[] = {
#define NAME_OF(name, end) #name,
        PAWL__PG_SETS(NAME_OF)
#undef NAME_OF
    };
    void (*make)(pawl__sql_text *, int);
    *(void **)&make = test_symbol(p->module, "pawl__pg_set_template");
    for (int i = 0; i < (int)COUNT(names); i++) {
        pawl__sql_text made = {0};
        make(&made, PAWL__PG_SET_FIRST + i);
        assert_false(made.is_failed);
        put_template(p, names[i], made.data);
        pawl_free(made.data);
    }
}

static bool has_main(int which)
{
    return which < PAWL__PG_SAGA_INSERT && which % 3 != 0;
}

TEST(statements_of_postgres)
{
    static const statement_row rows[] = {PAWL__SQL_STATEMENTS(ROW_OF) PAWL__PG_STATEMENTS(ROW_OF)};
    char                      *text   = NULL;
    size_t                     size   = 0;
    page                       p      = {.to = open_memstream(&text, &size)};
    load(&p, "postgres", "pawl__pg_dialect");
    put_head(&p);
    put_templates(&p, rows, (int)COUNT(rows), PAWL__SQL_STATEMENT_COUNT,
                  test_symbol(p.module, "pawl__pg_overrides"));
    put_sets(&p);
    void (*saga_text)(pawl__sql_text *, const pawl__sql_dialect *, const pawl_saga_table *, int);
    *(void **)&saga_text = test_symbol(p.module, "pawl__pg_saga_text");
    for (int i = 0; i < 2 * pawl__pg_saga_statement_count; i++) {
        pawl__sql_text made  = {0};
        int            which = i % pawl__pg_saga_statement_count;
        bool           first = i == which;
        if (!first && has_main(which))
            continue; /* the table has no correlation */
        saga_text(&made, p.dialect, first ? &order_table : &plain_table, which);
        put_statement(&p, test_text("saga %s %d", first ? "Order" : "Plain", which), made.data);
        pawl_free(made.data);
    }
    fclose(p.to);
    end_page(&p, "postgres", text);
}
#endif

#if defined(PAWL_HAVE_MYSQL) || defined(PAWL_HAVE_ODBC)
static bool is_of_saga(int kind)
{
    return kind == pawl_change_saga_insert || kind == pawl_change_saga_update ||
           kind == pawl_change_saga_delete;
}

/* Parameters have no numbers there: a line says which parameter each marker takes. */
static void put_orders(page *p, const statement_row *rows, int count, const int *overrides)
{
    size_t (*order_of)(const char *, unsigned *, size_t);
    *(void **)&order_of = test_symbol(p->module, "pawl__sql_parameter_order");
    fputs("\n-- Statements whose parameters are not taken once and in their order\n", p->to);
    for (int i = 0; i < count; i++) {
        unsigned order[64];
        size_t   size     = order_of(rows[i].text, order, COUNT(order));
        bool     is_plain = true;
        assert_true(size <= COUNT(order));
        for (size_t k = 0; k < size; k++)
            is_plain = is_plain && order[k] == k + 1;
        if (is_plain || (i < PAWL__SQL_ROW_STATEMENT_END && overrides[i] != 0))
            continue;
        fprintf(p->to, "-- %s:", rows[i].name);
        for (size_t k = 0; k < size; k++)
            fprintf(p->to, " %u", order[k]);
        fputc('\n', p->to);
    }
}

/* The forms of a write's parameters; each marker of its text has one of them. */
static void put_parameters_of(page *p, const statement_row *rows, const int *overrides,
                              const pawl__sql_write *write)
{
    static const char *const forms[PAWL__WIRE_COUNT] = {
        [PAWL__WIRE_INT] = "int",     [PAWL__WIRE_INT32] = "int32",
        [PAWL__WIRE_BOOL] = "bool",   [PAWL__WIRE_FLAG] = "flag",
        [PAWL__WIRE_TIME] = "time",   [PAWL__WIRE_TIME_OR_NEVER] = "time_or_never",
        [PAWL__WIRE_TEXT] = "text",   [PAWL__WIRE_ERROR_TEXT] = "error_text",
        [PAWL__WIRE_BYTES] = "bytes", [PAWL__WIRE_UUID] = "uuid",
        [PAWL__WIRE_JSON] = "json",   [PAWL__WIRE_UUID_OR_NULL] = "uuid_or_null",
        [PAWL__WIRE_VALUE] = "value", [PAWL__WIRE_JSON_TEXT] = "json_text",
        [PAWL__WIRE_STATE] = "state", [PAWL__WIRE_OUTCOME] = "outcome",
        [PAWL__WIRE_INBOX] = "inbox", [PAWL__WIRE_RESET] = "reset",
        [PAWL__WIRE_ZERO] = "zero",   [PAWL__WIRE_NULL] = "null",
    };
    size_t (*order_of)(const char *, unsigned *, size_t);
    unsigned order[64], last = 0;
    int      own        = overrides[write->statement];
    *(void **)&order_of = test_symbol(p->module, "pawl__sql_parameter_order");
    size_t size = order_of(rows[own != 0 ? own : write->statement].text, order, COUNT(order));
    for (size_t i = 0; i < size; i++)
        last = order[i] > last ? order[i] : last;
    assert_int_equal(last, write->parameters.count);
    fprintf(p->to, "-- %s:", rows[write->statement].name);
    for (size_t i = 0; i < write->parameters.count; i++) {
        int wire = write->parameters.items[i].wire;
        assert_true(wire >= 0 && wire < PAWL__WIRE_COUNT && forms[wire] != NULL);
        fprintf(p->to, " %s", forms[wire]);
    }
    fputc('\n', p->to);
}

static void put_parameters(page *p, const statement_row *rows, const int *overrides)
{
    static char                change[2000];
    const pawl__sql_kind_rule *ways = test_symbol(p->module, "pawl__sql_kind_rules");
    fputs("\n-- Parameters of the writes\n", p->to);
    put_parameters_of(p, rows, overrides, test_symbol(p->module, "pawl__sql_write_fence"));
    for (int kind = 0; kind < pawl_change_kind_count; kind++) {
        const pawl__sql_write *write = ways[kind].write;
        if (write == NULL && ways[kind].choose != NULL && !is_of_saga(kind))
            write = ways[kind].choose(change);
        if (write != NULL && !write->is_saga)
            put_parameters_of(p, rows, overrides, write);
    }
}

#ifdef PAWL_HAVE_ODBC
/* The block of a round with 17 times one change: the types of its parameters stand in it. */
static void put_round(page *p, const char *name, const pawl__sql_write *write, const void *item)
{
    const void        *items[17];
    pawl__sql_session  session  = {0};
    pawl__sql_remote   remote   = {.sql.dialect = p->dialect, .main = &session};
    pawl__oracle_round round    = {0};
    pawl__sql_text     text     = {0};
    bool               is_added = false;
    pawl_code (*add)(pawl__oracle_round *, const pawl__sql_remote *, const pawl__sql_write *,
                     const void *const *, size_t, bool *, pawl_error *);
    void (*text_of)(const pawl__oracle_round *, pawl__sql_text *);
    void (*clear)(pawl__oracle_round *);
    *(void **)&add                = test_symbol(p->module, "pawl__oracle_round_add");
    *(void **)&text_of            = test_symbol(p->module, "pawl__oracle_round_text");
    *(void **)&clear              = test_symbol(p->module, "pawl__oracle_round_clear");
    remote.sql.family             = test_symbol(p->module, "pawl__oracle_family");
    session.store                 = &remote.sql;
    remote.sql.base.system_prefix = "pawl_";
    for (size_t i = 0; i < COUNT(items); i++)
        items[i] = item;
    assert_int_equal(add(&round, &remote, write, items, COUNT(items), &is_added, NULL), PAWL_OK);
    if (is_added) {
        text_of(&round, &text);
        put_statement(p, name, text.data);
        pawl_free(text.data);
    }
    clear(&round);
}

static void put_rounds(page *p, const statement_row *rows)
{
    static char                change[2000];
    const pawl__sql_kind_rule *ways = test_symbol(p->module, "pawl__sql_kind_rules");
    put_round(p, "round: fence", test_symbol(p->module, "pawl__sql_write_fence"), change);
    for (int kind = 0; kind < pawl_change_kind_count; kind++) {
        bool is_saga                                 = is_of_saga(kind);
        ((pawl__saga_change *)(void *)change)->table = is_saga ? &order_table : NULL;
        const pawl__sql_write *write =
            ways[kind].choose != NULL ? ways[kind].choose(change) : ways[kind].write;
        if (write == NULL)
            continue;
        put_round(p, test_text("round: %s", is_saga ? "saga Order" : rows[write->statement].name),
                  write, change);
    }
    static char         text[3900]; /* 8 go into a set, and 3 sets are as many as 4 */
    pawl_checkpoint_set set = {.name = {.data = memset(text, 'n', sizeof text), sizeof text}};
    put_round(p, "round: three sets", ways[pawl_change_checkpoint_set].choose(&set), &set);
}

/* A saga that is found by a time with an offset, and one by a time from before pawl. */
static void put_timed(page *p)
{
    pawl_saga_table table = {.name = PAWL_TEXT("shop_Alarm"),
                             .main = {.property = PAWL_TEXT("At"), .type = PAWL_VALUE_TIME}};
    void (*saga_text)(pawl__sql_text *, const pawl__sql_dialect *, const pawl_saga_table *, int);
    *(void **)&saga_text = test_symbol(p->module, "pawl__sql_saga_text");
    for (int i = 0; i < 4; i++) {
        pawl__sql_text text    = {0};
        table.main.with_offset = i < 2;
        table.main.is_coarse   = i >= 2;
        saga_text(&text, p->dialect, &table,
                  i % 2 == 0 ? PAWL__SQL_SAGA_BY_MAIN : PAWL__SQL_SAGA_INSERT);
        put_statement(p, i < 2 ? "saga with an offset" : "saga from before pawl", text.data);
        pawl_free(text.data);
    }
}

/* Two runs of a write as one text. */
static void put_mssql(page *p)
{
    pawl__sql_text text = {0};
    void (*append_set)(pawl__sql_text *, const char *, int);
    *(void **)&append_set = test_symbol(p->module, "pawl__mssql_append_set");
    append_set(&text, "delete from [dbo].[pawl_queue] where [Seq] = ? and [Queue] = ?", 2);
    assert_false(text.is_failed);
    put_statement(p, "a round of two", text.data);
    pawl_free(text.data);
    put_timed(p);
}
#endif

/* ---- Families ------------------------------------------------------------- */

/* With a wait or a savepoint's name, where it has one. */
static void put_word(page *p, const char *name, const char *text)
{
    const char *marker = text != NULL ? strchr(text, '%') : NULL;
    if (marker != NULL) {
        bool is_number = strncmp(marker, "%lld", 4) == 0;
        text = test_text("%.*s%s%s", (int)(marker - text), text, is_number ? "27000" : "pawl_set",
                         marker + (is_number ? 4 : 2));
    }
    if (text != NULL)
        put_statement(p, name, text);
}

/* A worker with a lock, and one that lives by its heartbeat. */
static void put_lives(page *p, const pawl__sql_family *family)
{
    static pawl__sql_remote remote;
    const pawl__sql_life    lives[] = {{.process = 81985529216486895},
                                       {.seen = INT64_C(1700000000123456)}};
    pawl__sql_text          text    = {0};
    void (*append)(pawl__sql_text *, const char *);
    *(void **)&append = test_symbol(p->module, "pawl__sql_append");
    memcpy(remote.database, "shop", sizeof "shop");
    remote.sql.base.system_prefix = "pawl_";
    remote.sql.family             = family;
    remote.sql.dialect            = p->dialect;
    append(&text, family->lives.begin);
    family->lives.append(&remote, &text, &lives[0]);
    append(&text, family->lives.between);
    family->lives.append(&remote, &text, &lives[1]);
    append(&text, family->lives.end);
    assert_false(text.is_failed);
    put_statement(p, "who lives", text.data);
    pawl_free(text.data);
}

/* Texts of a family beside its statements. */
static void put_family(page *p, const pawl__sql_family *family)
{
    const pawl__sql_words *words = family->words;
    put_word(p, "settings", family->settings.text);
    if (words != NULL) {
        put_word(p, "begin", words->begin);
        put_word(p, "commit", words->commit);
        put_word(p, "rollback", words->rollback);
        put_word(p, "savepoint", words->save);
        put_word(p, "to the savepoint", words->undo);
    }
    put_lives(p, family);
    put_word(p, "script: lock", family->run.lock);
    put_word(p, "script: locked", family->run.locked);
    put_word(p, "script: unlock", family->run.unlock);
    put_word(p, "script: join", family->run.join);
    put_word(p, "script: leave", family->run.leave);
    for (size_t i = 0; i < family->checks->count; i++) {
        const char *name = test_text("doctor: %s", family->checks->items[i].name);
        put_template(p, name, family->checks->items[i].select);
    }
}

static void statements_with_orders(const char *driver, const char *file, const char *dialect,
                                   const char *family, const char *own, const statement_row *rows,
                                   int count)
{
    char  *text = NULL;
    size_t size = 0;
    page   p    = {.to = open_memstream(&text, &size)};
    load(&p, driver, dialect);
    put_head(&p);
    const int *overrides = test_symbol(p.module, own);
    put_templates(&p, rows, count, PAWL__SQL_ROW_STATEMENT_END, overrides);
    put_sagas(&p);
#ifdef PAWL_HAVE_ODBC
    if (strcmp(file, "oracle") == 0)
        put_rounds(&p, rows);
    if (strcmp(file, "mssql") == 0)
        put_mssql(&p);
#endif
    put_family(&p, test_symbol(p.module, family));
    put_orders(&p, rows, count, overrides);
    put_parameters(&p, rows, overrides);
    fclose(p.to);
    end_page(&p, file, text);
}
#endif

#ifdef PAWL_HAVE_MYSQL
static void statements_of_dialect(const char *dialect, const char *file)
{
    static const statement_row rows[] = {PAWL__SQL_STATEMENTS(ROW_OF) PAWL__SQL_ROW_STATEMENTS(
        ROW_OF) PAWL__MYSQL_STATEMENTS(ROW_OF)};
    statements_with_orders("mysql", file, dialect, "pawl__mysql_family", "pawl__mysql_overrides",
                           rows, (int)COUNT(rows));
}

TEST(statements_of_mysql)
{
    statements_of_dialect("pawl__mysql_dialect", "mysql");
}

TEST(statements_of_mariadb)
{
    statements_of_dialect("pawl__mariadb_dialect", "mysql"); /* MySQL's are the same. */
}
#endif

#ifdef PAWL_HAVE_ODBC
TEST(statements_of_mssql)
{
    static const statement_row rows[] = {PAWL__SQL_STATEMENTS(ROW_OF) PAWL__SQL_ROW_STATEMENTS(
        ROW_OF) PAWL__MSSQL_STATEMENTS(ROW_OF)};
    statements_with_orders("odbc", "mssql", "pawl__mssql_dialect", "pawl__mssql_family",
                           "pawl__mssql_overrides", rows, (int)COUNT(rows));
}

TEST(statements_of_oracle)
{
    static const statement_row rows[] = {PAWL__SQL_STATEMENTS(ROW_OF) PAWL__SQL_ROW_STATEMENTS(
        ROW_OF) PAWL__ORACLE_STATEMENTS(ROW_OF)};
    statements_with_orders("odbc", "oracle", "pawl__oracle_dialect", "pawl__oracle_family",
                           "pawl__oracle_overrides", rows, (int)COUNT(rows));
}
#endif
