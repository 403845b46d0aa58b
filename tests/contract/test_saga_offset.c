/* test_saga_offset.c - a saga that is found by a time with an offset (D17) is refused where there are no columns for it:
 * when a script is made, and when a store is opened, before anything is asked of a server. SQL Server, which has them:
 * test_odbc_mssql.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "store/sql/script.h"
#include "support/tests.h"

static pawl_saga_table *alarm_with(bool is_main)
{
    static pawl_saga_table alarm = {
        .type         = PAWL_TEXT_INIT("Alarm"),
        .name         = PAWL_TEXT_INIT("shop_Alarm"),
        .main         = {.property = PAWL_TEXT_INIT("RingsAt"), .type = PAWL_VALUE_TIME},
        .transitional = {.property = PAWL_TEXT_INIT("RingsNext"), .type = PAWL_VALUE_TIME}};
    alarm.main.with_offset         = is_main;
    alarm.transitional.with_offset = !is_main;
    return &alarm;
}

static void refused(pawl_code code, const pawl_error *error, bool is_main, const char *product)
{
    const char *says = test_text(
        "saga Alarm: property '%s' asks for a time with an offset, which %s has no type for",
        is_main ? "RingsAt" : "RingsNext", product);
    if (code != PAWL_ECONFIG || strstr(error->text, says) == NULL)
        fail_msg("%s: %s, not: %s", pawl_code_name(code), error->text, says);
}

/* As `pawl schema print --dialect` asks, without a driver. */
TEST(d17_scripts_of_other_dialects_are_refused)
{
    static const char *const names[] = {"sqlite", "postgres", "mysql", "mariadb", "oracle"};
    for (size_t i = 0; i < 2 * COUNT(names); i++) {
        const pawl_saga_table *sagas[] = {alarm_with(i % 2 == 0)};
        pawl_error             error   = PAWL_ERROR_INIT;
        pawl__sql_script script = {.dialect    = pawl__sql_dialect_find(pawl_text_of(names[i / 2])),
                                   .prefix     = "pawl_",
                                   .sagas      = sagas,
                                   .saga_count = 1};
        assert_non_null(script.dialect);
        refused(pawl__sql_script_check(&script, &error), &error, i % 2 == 0, names[i / 2]);
    }
}

TEST(d17_sql_server_makes_the_column)
{
    const pawl_saga_table *sagas[] = {alarm_with(true)};
    pawl__sql_script       script  = {.dialect    = pawl__sql_dialect_find(PAWL_TEXT("mssql")),
                                      .prefix     = "pawl_",
                                      .sagas      = sagas,
                                      .saga_count = 1};
    must(pawl__sql_script_check(&script, world_error()));
}

typedef struct store_row {
    const char *url;
    const char *product;
} store_row;

/* Of the drivers that the build has; those of servers are told before a connection is made. */
static const store_row stores[] = {
    {"memory:", "memory"},
#ifdef PAWL_HAVE_SQLITE
    {"sqlite:/nowhere/at/all.db", "sqlite"},
#endif
#ifdef PAWL_HAVE_POSTGRES
    {"postgres://127.0.0.1:1/none", "postgres"},
#endif
#ifdef PAWL_HAVE_MONGOC
    {"mongodb://127.0.0.1:1/none", "mongodb"},
#endif
};

TEST(d17_stores_without_such_columns_are_not_opened)
{
    static const pawl_schema_verb verbs[] = {PAWL_SCHEMA_PRINT, PAWL_SCHEMA_APPLY,
                                             PAWL_SCHEMA_VERIFY};
    for (size_t i = 0; i < COUNT(stores); i++) {
        const pawl_saga_table *sagas[] = {alarm_with(i % 2 == 0)};
        pawl_schema_spec       spec    = {.tables = sagas, .table_count = 1};
        pawl_store_options     options = PAWL_STORE_OPTIONS_INIT;
        pawl_error             error   = PAWL_ERROR_INIT;
        pawl_store            *store   = NULL;
        options.tables                 = sagas;
        options.table_count            = 1;
        refused(pawl_store_open(stores[i].url, &options, &store, &error), &error, i % 2 == 0,
                stores[i].product);
        assert_null(store);
        for (size_t v = 0; v < COUNT(verbs); v++)
            refused(pawl_store_schema(stores[i].url, verbs[v], &spec, NULL, NULL, &error), &error,
                    i % 2 == 0, stores[i].product);
    }
}

/* Drivers of several dialects look at that of the URL; those of ODBC: test_odbc_oracle.c. */
#ifdef PAWL_HAVE_MYSQL
TEST(d17_drivers_of_several_dialects_refuse_by_dialect)
{
    static const store_row rows[] = {
        {"mysql:", "mysql"},
        {"mariadb:", "mariadb"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const pawl_saga_table *sagas[] = {alarm_with(true)};
        pawl_schema_spec       spec    = {.tables = sagas, .table_count = 1};
        pawl_error             error   = PAWL_ERROR_INIT;
        refused(pawl_store_schema(rows[i].url, PAWL_SCHEMA_PRINT, &spec, NULL, NULL, &error),
                &error, true, rows[i].product);
    }
}
#endif
