/* test_schema_scripts.c - the scripts of `pawl schema print`, with sagas of every shape, as they
 * stand in tests/golden/schema/<dialect>.sql and <dialect>_drop.sql; tests/system/schema_scripts.sh
 * runs these on the servers. And what is no name of a table in a dialect.
 *
 * To write the files anew: PAWL_TEST_WRITE_GOLDEN=1 build/tests/contract/test_schema_scripts
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TABLE(suffix) .type = PAWL_TEXT_INIT(suffix), .name = PAWL_TEXT_INIT("shop_" suffix)
#define MAIN(name, value_type) .main = {.property = PAWL_TEXT_INIT(name), .type = value_type}
#define OTHER(name, value_type) \
    .transitional = {.property = PAWL_TEXT_INIT(name), .type = value_type}
#define X46 "abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH"
#define UMLAUTS "äöüäöüäöüäöüäöüäöüäöüäöü" /* 24, of 48 bytes */
#define X59 X46 "IJKLMNOPQRSTU"

/* None, each type, two; names of 64 characters, with letters of more than one byte, with
 * characters that mean something in a literal, and words of SQL. */
static const pawl_saga_table sagas[] = {
    {TABLE("Plain")},
    {TABLE("Text"), MAIN("OrderId", PAWL_VALUE_TEXT)},
    {TABLE("Int"), MAIN("Number", PAWL_VALUE_INT)},
    {TABLE("Guid"), MAIN("Id", PAWL_VALUE_UUID)},
    {TABLE("Time"), MAIN("At", PAWL_VALUE_TIME)},
    {TABLE("Two"), MAIN("OrderId", PAWL_VALUE_TEXT), OTHER("OrderNumber", PAWL_VALUE_INT)},
    {TABLE(X59), MAIN(X46, PAWL_VALUE_TEXT)},
    {TABLE("Größe 値 " UMLAUTS), MAIN("Maß_値" UMLAUTS, PAWL_VALUE_TEXT),
     OTHER("Straße", PAWL_VALUE_UUID)},
    {TABLE("it's a \\ table; -- no?"), MAIN("what's \\ this?", PAWL_VALUE_TIME)},
    {TABLE("select"), MAIN("key", PAWL_VALUE_TEXT), OTHER("index", PAWL_VALUE_TEXT)},
};

/* ---- Scripts ------------------------------------------------------------ */

static void put_line(pawl_text line, void *context)
{
    fprintf(context, "%.*s\n", PAWL_TEXT_ARGS(line));
}

static char *print(const char *dialect, bool is_drop)
{
    const pawl_saga_table *tables[COUNT(sagas)];
    pawl_schema_spec spec  = {.tables = tables, .table_count = COUNT(sagas), .is_drop = is_drop};
    pawl_error       error = PAWL_ERROR_INIT;
    char             url[40];
    char            *text = NULL;
    size_t           size = 0;
    FILE            *to   = open_memstream(&text, &size);
    for (size_t i = 0; i < COUNT(sagas); i++)
        tables[i] = &sagas[i];
    snprintf(url, sizeof url, "%s:", dialect);
    if (pawl_store_schema(url, PAWL_SCHEMA_PRINT, &spec, put_line, to, &error) != PAWL_OK)
        fail_msg("%s", error.text);
    fclose(to);
    return text;
}

static char *read_file(const char *path)
{
    char *text = calloc(1, 1000000);
    FILE *from = fopen(path, "rb");
    assert_non_null(text);
    if (from == NULL)
        fail_msg("%s is missing", path);
    (void)!fread(text, 1, 999999, from);
    fclose(from);
    return text;
}

/* The first line that is another. */
static void compare(const char *path, const char *is)
{
    char       *all = read_file(path);
    const char *was = all;
    for (int line = 1; *is != '\0' || *was != '\0'; line++) {
        size_t is_size = strcspn(is, "\n"), was_size = strcspn(was, "\n");
        if (is_size != was_size || memcmp(is, was, is_size) != 0)
            fail_msg("%s:%d:\nit was: %.*s\nit is:  %.*s\nwhen that is meant: "
                     "PAWL_TEST_WRITE_GOLDEN=1 test_schema_scripts, and look at the difference",
                     path, line, (int)was_size, was, (int)is_size, is);
        is += is_size + (is[is_size] != '\0');
        was += was_size + (was[was_size] != '\0');
    }
    free(all);
}

/* Printed twice: D33. */
static void check_script(const char *dialect, bool is_drop)
{
    const char *root = getenv("PAWL_SOURCE_DIR");
    char        path[1000];
    char       *text = print(dialect, is_drop), *again = print(dialect, is_drop);
    assert_string_equal(text, again);
    assert_null(strchr(text, '\r'));
    snprintf(path, sizeof path, "%s/tests/golden/schema/%s%s.sql", root != NULL ? root : ".",
             dialect, is_drop ? "_drop" : "");
    if (getenv("PAWL_TEST_WRITE_GOLDEN") != NULL) {
        FILE *to = fopen(path, "wb");
        assert_non_null(to);
        fputs(text, to);
        assert_int_equal(fclose(to), 0);
    }
    compare(path, text);
    free(text);
    free(again);
}

static void d33_scripts_stay_as_they_are(void **state)
{
    (void)state;
    check_script("mysql", false);
    check_script("mysql", true);
    check_script("mariadb", false);
    check_script("mariadb", true);
}

/* ---- Names -------------------------------------------------------------- */

static void expect_refused(const pawl_saga_table *table, bool is_drop, const char *text)
{
    static const char *const dialects[] = {"mysql:", "mariadb:"};
    for (size_t i = 0; i < COUNT(dialects); i++) {
        pawl_error             error  = PAWL_ERROR_INIT;
        const pawl_saga_table *list[] = {table};
        pawl_schema_spec       spec   = {.tables = list, .table_count = 1, .is_drop = is_drop};
        char                  *script = NULL;
        size_t                 size   = 0;
        FILE                  *to     = open_memstream(&script, &size);
        pawl_code              code =
            pawl_store_schema(dialects[i], PAWL_SCHEMA_PRINT, &spec, put_line, to, &error);
        fclose(to);
        assert_int_equal(code, PAWL_EINVAL);
        if (strstr(error.text, text) == NULL)
            fail_msg("'%s' has no '%s'", error.text, text);
        assert_null(strstr(script, "release_lock")); /* half a script says no end */
        free(script);
    }
}

static void d5_names_that_are_none_are_refused(void **state)
{
    static const pawl_saga_table long_table = {TABLE(X59 "x")};
    static const pawl_saga_table long_index = {TABLE("Long"), MAIN(X46 "x", PAWL_VALUE_TEXT)};
    static const pawl_saga_table smile      = {TABLE("\xF0\x9F\x98\x80")};
    static const pawl_saga_table ends       = {TABLE("Ends ")};
    static const pawl_saga_table alike      = {TABLE("Alike"), MAIN("OrderId", PAWL_VALUE_TEXT),
                                               OTHER("orderid", PAWL_VALUE_TEXT)};
    (void)state;
    expect_refused(&long_table, false,
                   "saga " X59 "x: saga table 'shop_" X59 "x' has 65 characters, limit 64 in m");
    expect_refused(&long_table, true, "has 65 characters, limit 64 in m");
    expect_refused(&long_index, false,
                   "index 'Index_Correlation_" X46 "x' has 65 characters, limit 64");
    expect_refused(&smile, false, "has a character above U+FFFF");
    expect_refused(&ends, false, "saga table 'shop_Ends ' ends with a space");
    expect_refused(&alike, false,
                   "the columns of properties 'OrderId' and 'orderid' have one name");
}

/* ---- Without a server ---------------------------------------------------- */

static void a_server_that_is_not_there_is_named(void **state)
{
    static const char *const urls[] = {"mysql://root@127.0.0.1:1/x",
                                       "mariadb://root@127.0.0.1:1/x"};
    (void)state;
    for (size_t i = 0; i < COUNT(urls); i++) {
        pawl_error  error = PAWL_ERROR_INIT;
        pawl_store *store = NULL;
        char        text[200];
        snprintf(text, sizeof text,
                 "%.*s: %s: no connection to 127.0.0.1:1: ", (int)strcspn(urls[i], ":"), urls[i],
                 urls[i]);
        assert_int_equal(pawl_store_open(urls[i], NULL, &store, &error), PAWL_EUNREACHABLE);
        assert_memory_equal(error.text, text, strlen(text));
        assert_int_equal(pawl_store_schema(urls[i], PAWL_SCHEMA_APPLY, NULL, NULL, NULL, &error),
                         PAWL_EUNREACHABLE);
        assert_memory_equal(error.text, text, strlen(text));
    }
}

int main(void)
{
#ifdef PAWL_HAVE_MYSQL
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(d33_scripts_stay_as_they_are),
        cmocka_unit_test(d5_names_that_are_none_are_refused),
        cmocka_unit_test(a_server_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    (void)d33_scripts_stay_as_they_are;
    (void)d5_names_that_are_none_are_refused;
    (void)a_server_that_is_not_there_is_named;
    printf("skipped: the driver of MySQL and MariaDB was not built\n");
    return 77;
#endif
}
