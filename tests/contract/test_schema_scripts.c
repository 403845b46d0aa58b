/* test_schema_scripts.c - the scripts of `pawl schema print`, with sagas of every shape, as they
 * stand in tests/golden/schema/<dialect>.sql and <dialect>_drop.sql; tests/system/schema_scripts*.sh
 * run these on the servers, or check their syntax where there is none. And what is no name of a
 * table in a dialect.
 *
 * To write the files anew: PAWL_TEST_WRITE_GOLDEN=1 build/tests/contract/test_schema_scripts
 *
 *     test_schema_scripts verify DIALECT URL     compares tables that such a script has made
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "store/sql/script.h"
#include "support/tests.h"

#define TABLE(suffix) .type = PAWL_TEXT_INIT(suffix), .name = PAWL_TEXT_INIT("shop_" suffix)
#define MAIN(name, value_type) .main = {.property = PAWL_TEXT_INIT(name), .type = value_type}
#define OTHER(name, value_type) \
    .transitional = {.property = PAWL_TEXT_INIT(name), .type = value_type}
#define UMLAUTS_21 "äöüäöüäöüäöüäöüäöüäöü"
#define UMLAUTS_24 UMLAUTS_21 "äöü" /* of 48 bytes */
#define LONG 6
#define UNICODE 7
#define OFFSET 10

/* None, each type, two; the longest names, letters of more than one byte, characters that mean
 * something in a literal, and words of SQL. */
static const pawl_saga_table shapes[] = {
    {TABLE("Plain")},
    {TABLE("Text"), MAIN("OrderId", PAWL_VALUE_TEXT)},
    {TABLE("Int"), MAIN("Number", PAWL_VALUE_INT)},
    {TABLE("Guid"), MAIN("Id", PAWL_VALUE_UUID)},
    {TABLE("Time"), MAIN("At", PAWL_VALUE_TIME)},
    {TABLE("Two"), MAIN("OrderId", PAWL_VALUE_TEXT), OTHER("OrderNumber", PAWL_VALUE_INT)},
    [LONG]    = {TABLE("Long"), MAIN("Long", PAWL_VALUE_TEXT)},
    [UNICODE] = {TABLE("Unicode"), MAIN("Unicode", PAWL_VALUE_TEXT),
                 OTHER("Straße", PAWL_VALUE_UUID)},
    {TABLE("it's a \\ table; -- no?"), MAIN("what's \\ this?", PAWL_VALUE_TIME)},
    {TABLE("select"), MAIN("key", PAWL_VALUE_TEXT), OTHER("index", PAWL_VALUE_TEXT)},
    [OFFSET] = {TABLE("Offset"), .main = {.property    = PAWL_TEXT_INIT("At"),
                                          .type        = PAWL_VALUE_TIME,
                                          .with_offset = true}},
};

/* The longest names there, and names of more than ASCII, as long as they may be or nearly so; where
 * there are none, names with what a client takes for its own. */
typedef struct dialect_row {
    const char *name;
    int         table_size;
    int         property_size;
    const char *unicode_table;
    const char *unicode_property;
    const char *unicode_other;
} dialect_row;

static const dialect_row dialects[] = {
    {"sqlite", 128, 116, "Größe 値 😀 " UMLAUTS_24, "Maß_値" UMLAUTS_24, "Straße"},
    {"postgres", 63, 51, "Größe 値 " UMLAUTS_21 "äö", "Maß_値" UMLAUTS_21, "Straße"},
    {"mysql", 64, 46, "Größe 値 " UMLAUTS_24, "Maß_値" UMLAUTS_24, "Straße"},
    {"mariadb", 64, 46, "Größe 値 " UMLAUTS_24, "Maß_値" UMLAUTS_24, "Straße"},
    {"mssql", 128, 110, "Größe 値 " UMLAUTS_24, "Maß_値" UMLAUTS_24, "Straße"},
    {"oracle", 128, 123, "R&D $(x) %1", "a&b &&c", ":Other"},
};

/* The last one is for the database that has times with an offset. */
static size_t count_of(const dialect_row *dialect)
{
    return strcmp(dialect->name, "mssql") == 0 ? COUNT(shapes) : OFFSET;
}

typedef struct saga_list {
    pawl_saga_table        sagas[COUNT(shapes)];
    const pawl_saga_table *list[COUNT(shapes)];
    char                   texts[4][200];
} saga_list;

/* The first bytes of a long name. */
static pawl_text long_name(char text[200], const char *before, int size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789_"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                  "abcdefghijklmnopqrstuvwxyz_0123456789_"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    snprintf(text, 200, "%s%.*s", before, size - (int)strlen(before), letters);
    assert_int_equal(strlen(text), size);
    return pawl_text_of(text);
}

static void fill_sagas(saga_list *list, const dialect_row *dialect)
{
    memcpy(list->sagas, shapes, sizeof shapes);
    for (size_t i = 0; i < COUNT(shapes); i++)
        list->list[i] = &list->sagas[i];
    pawl_saga_table *saga = &list->sagas[LONG];
    saga->name            = long_name(list->texts[0], "shop_", dialect->table_size);
    saga->main.property   = long_name(list->texts[1], "", dialect->property_size);
    saga                  = &list->sagas[UNICODE];
    snprintf(list->texts[2], sizeof list->texts[2], "shop_%s", dialect->unicode_table);
    saga->name                  = pawl_text_of(list->texts[2]);
    saga->type                  = pawl_text_of(dialect->unicode_table);
    saga->main.property         = pawl_text_of(dialect->unicode_property);
    saga->transitional.property = pawl_text_of(dialect->unicode_other);
}

/* ---- Scripts ------------------------------------------------------------ */

static void put_line(pawl_text line, void *context)
{
    fprintf(context, "%.*s\n", PAWL_TEXT_ARGS(line));
}

static pawl__sql_script script_of(const dialect_row *dialect, const saga_list *list)
{
    pawl__sql_script script = {.dialect    = pawl__sql_dialect_find(pawl_text_of(dialect->name)),
                               .prefix     = "pawl_",
                               .sagas      = (const pawl_saga_table *const *)list->list,
                               .saga_count = count_of(dialect)};
    assert_non_null(script.dialect);
    return script;
}

static char *print_script(const pawl__sql_script *script)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to   = open_memstream(&text, &size);
    must(pawl__sql_script_print(script, put_line, to, world_error()));
    fclose(to);
    return text;
}

static char *print(const dialect_row *dialect, bool is_drop)
{
    saga_list list;
    fill_sagas(&list, dialect);
    pawl__sql_script script = script_of(dialect, &list);
    script.is_drop          = is_drop;
    return print_script(&script);
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
static void check_script(const dialect_row *dialect, bool is_drop)
{
    const char *root = getenv("PAWL_SOURCE_DIR");
    char       *text = print(dialect, is_drop), *again = print(dialect, is_drop);
    assert_string_equal(text, again);
    assert_null(strchr(text, '\r'));
    const char *path = test_text("%s/tests/golden/schema/%s%s.sql", root != NULL ? root : ".",
                                 dialect->name, is_drop ? "_drop" : "");
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

TEST(d33_scripts_stay_as_they_are)
{
    for (size_t i = 0; i < COUNT(dialects); i++) {
        check_script(&dialects[i], false);
        check_script(&dialects[i], true);
    }
}

/* A driver has the same dialect. */
static void check_driver(const char *name, bool is_drop)
{
    const dialect_row *dialect = dialects;
    while (strcmp(dialect->name, name) != 0)
        dialect++;
    saga_list list;
    fill_sagas(&list, dialect);
    pawl_schema_spec spec = {.tables      = (const pawl_saga_table *const *)list.list,
                             .table_count = count_of(dialect),
                             .is_drop     = is_drop};
    char            *text = NULL;
    size_t           size = 0;
    FILE            *to   = open_memstream(&text, &size);
    must(pawl_store_schema(test_text("%s:", name), PAWL_SCHEMA_PRINT, &spec, put_line, to,
                           world_error()));
    fclose(to);
    char *own = print(dialect, is_drop);
    assert_string_equal(text, own);
    free(own);
    free(text);
}

TEST(d33_drivers_print_the_same)
{
    static const char *const built[] = {
#ifdef PAWL_HAVE_SQLITE
        "sqlite",
#endif
#ifdef PAWL_HAVE_POSTGRES
        "postgres",
#endif
#ifdef PAWL_HAVE_MYSQL
        "mysql",    "mariadb",
#endif
        NULL,
    };
    for (size_t i = 0; built[i] != NULL; i++) {
        check_driver(built[i], false);
        check_driver(built[i], true);
    }
}

/* ---- One file for each table -------------------------------------------- */

/* Behind its head each is a part of the whole script, and together they have all tables. */
static void check_pieces(const dialect_row *dialect, bool is_drop)
{
    const char      *word = is_drop ? "drop table " : "create table ";
    saga_list        list;
    pawl__sql_script piece;
    char             name[PAWL__SQL_PIECE_NAME_SIZE];
    size_t           count = 0;
    fill_sagas(&list, dialect);
    pawl__sql_script script = script_of(dialect, &list);
    script.is_drop          = is_drop;
    char *whole             = print_script(&script);
    for (; pawl__sql_script_piece(&script, count, &piece, name); count++) {
        char  *text = print_script(&piece);
        char  *body = strstr(text, word);
        size_t head = strcspn(text, "\n");
        assert_non_null(body);
        assert_null(strstr(body + 1, word));
        assert_memory_equal(text, whole, head);
        body[strcspn(body, "(;")] = '\0';
        assert_non_null(strstr(whole, body));
        free(text);
    }
    assert_int_equal(count, 16 + count_of(dialect));
    free(whole);
}

TEST(d34_each_table_has_a_file_to_create_and_one_to_drop)
{
    for (size_t i = 0; i < COUNT(dialects); i++) {
        check_pieces(&dialects[i], false);
        check_pieces(&dialects[i], true);
    }
}

static void expect_piece(const pawl__sql_script *script, size_t number, const char *wanted)
{
    pawl__sql_script piece;
    char             name[PAWL__SQL_PIECE_NAME_SIZE];
    if (!pawl__sql_script_piece(script, number, &piece, name))
        strcpy(name, "");
    assert_string_equal(name, wanted);
}

/* Files run in the order of their names: attempts behind the outbox, the version behind all. */
TEST(d34_files_are_in_the_order_of_their_names)
{
    saga_list list;
    fill_sagas(&list, &dialects[0]);
    pawl__sql_script script = script_of(&dialects[0], &list);
    expect_piece(&script, 0, "01_pawl_queue.sql");
    expect_piece(&script, 3, "04_pawl_outbox.sql");
    expect_piece(&script, 4, "05_pawl_outbox_attempts.sql");
    expect_piece(&script, 15, "99_pawl_schema.sql");
    expect_piece(&script, 16, "50_shop_Plain.sql");
    expect_piece(&script, 24, "50_shop_it%27s%20a%20%5C%20table%3B%20--%20no%3F.sql");
    expect_piece(&script, 26, "");
    script.is_drop = true;
    expect_piece(&script, 3, "95_pawl_outbox.sql");
    expect_piece(&script, 4, "94_pawl_outbox_attempts.sql");
    expect_piece(&script, 15, "00_pawl_schema.sql");
    expect_piece(&script, 16, "49_shop_Plain.sql");
    script.kinds = 1U << PAWL__SQL_TABLES_OF_TIMEOUTS | 1U << PAWL__SQL_TABLES_OF_SAGAS;
    expect_piece(&script, 0, "90_pawl_timeouts.sql");
    expect_piece(&script, 1, "49_shop_Plain.sql");
    expect_piece(&script, 11, "");
}

TEST(d34_kinds_are_switched_off)
{
    saga_list list;
    for (size_t i = 0; i < COUNT(dialects); i++) {
        size_t all = 0;
        fill_sagas(&list, &dialects[i]);
        for (unsigned kind = 0; kind < pawl__sql_table_kind_count; kind++) {
            pawl__sql_script script = script_of(&dialects[i], &list);
            script.kinds            = 1U << kind;
            script.is_drop          = true;
            char  *text             = print_script(&script);
            size_t count            = 0;
            for (const char *at = text; (at = strstr(at, "drop table ")) != NULL; at++)
                count++;
            assert_true(count > 0);
            all += count;
            free(text);
        }
        assert_int_equal(all, 16 + count_of(&dialects[i]));
    }
}

/* ---- Schemas ------------------------------------------------------------ */

static pawl_code check(const char *dialect, const char *schema, const pawl_saga_table *one,
                       const pawl_saga_table *other, pawl_error *error)
{
    const pawl_saga_table *list[] = {one, other};
    pawl__sql_script       script = {.dialect    = pawl__sql_dialect_find(pawl_text_of(dialect)),
                                     .prefix     = "pawl_",
                                     .schema     = schema,
                                     .sagas      = list,
                                     .saga_count = (one != NULL) + (size_t)(other != NULL)};
    return pawl__sql_script_check(&script, error);
}

TEST(d35_a_schema_is_made_and_used)
{
    static const char *const wanted[][3] = {
        {"postgres", "create schema if not exists \"Shop's\";",
         "select set_config('search_path', quote_ident('Shop''s'), true);"},
        {"mssql", "if schema_id(N'Shop''s') is null\n    exec (N'create schema ' + N'[Shop''s]');",
         "create table [Shop's].[pawl_queue] ("},
        {"oracle", "alter session set current_schema = \"SHOP'S\";", "create table \"PAWL_QUEUE\""},
    };
    for (size_t i = 0; i < COUNT(wanted); i++) {
        pawl__sql_script script = {.dialect = pawl__sql_dialect_find(pawl_text_of(wanted[i][0])),
                                   .prefix  = "pawl_",
                                   .schema  = "Shop's"};
        char            *text   = print_script(&script);
        assert_non_null(strstr(text, wanted[i][1]));
        assert_non_null(strstr(text, wanted[i][2]));
        assert_null(strstr(text, "dbo"));
        free(text);
    }
}

TEST(d35_a_schema_is_refused_where_there_is_none)
{
    static const char *const without[] = {"sqlite", "mysql", "mariadb"};
    static const char *const with[]    = {"postgres", "mssql", "oracle"};
    for (size_t i = 0; i < 3; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        assert_int_equal(check(without[i], "s", NULL, NULL, &error), PAWL_EINVAL);
        assert_non_null(strstr(error.text, "has no schemas within a database: 's' is none"));
        assert_int_equal(check(with[i], "", NULL, NULL, &error), PAWL_EINVAL);
        assert_string_equal(error.text, "schema is empty");
        assert_int_equal(check(with[i], "a\"b", NULL, NULL, &error), PAWL_EINVAL);
        assert_int_equal(check(with[i], "a]b", NULL, NULL, &error), PAWL_EINVAL);
    }
}

/* ---- Names -------------------------------------------------------------- */

static void expect_refused(const char *dialect, const pawl_saga_table *one,
                           const pawl_saga_table *other, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(check(dialect, NULL, one, other, &error), PAWL_EINVAL);
    if (strstr(error.text, text) == NULL)
        fail_msg("%s: '%s' has no '%s'", dialect, error.text, text);
}

static void expect_accepted(const char *dialect, const pawl_saga_table *one,
                            const pawl_saga_table *other)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (check(dialect, NULL, one, other, &error) != PAWL_OK)
        fail_msg("%s: %s", dialect, error.text);
}

/* Names of a table and of a property, longer by one than the longest: D5, D6. */
TEST(d5_names_that_are_too_long_are_refused)
{
    static const char *const texts[][2] = {
        {"has 129 bytes, limit 128", NULL},
        {"has 64 bytes, limit 63 of postgres", "has 64 bytes, limit 63 of postgres"},
        {"has 65 characters, limit 64 in mysql", "has 65 characters, limit 64 in mysql"},
        {"has 65 characters, limit 64 in mariadb", "has 65 characters, limit 64 in mariadb"},
        {"has 129 bytes, limit 128", "has 129 characters, limit 128 in mssql"},
        {"has 129 bytes, limit 128", "has 129 bytes, limit 128 of oracle"},
    };
    char text[200];
    for (size_t i = 0; i < COUNT(dialects); i++) {
        pawl_saga_table saga = {TABLE("Long"), MAIN("Long", PAWL_VALUE_TEXT)};
        saga.name            = long_name(text, "shop_", dialects[i].table_size + 1);
        expect_refused(dialects[i].name, &saga, NULL, texts[i][0]);
        saga.name          = PAWL_TEXT("shop_Long");
        saga.main.property = long_name(text, "", dialects[i].property_size + 1);
        if (texts[i][1] != NULL)
            expect_refused(dialects[i].name, &saga, NULL, texts[i][1]);
    }
}

/* The queue of all endpoints would have the columns of a saga, or the saga those of the queue. */
TEST(d5_a_saga_table_is_no_shared_table)
{
    static const pawl_saga_table same   = {.type = PAWL_TEXT_INIT("Queue"),
                                           .name = PAWL_TEXT_INIT("pawl_outbox_attempts")};
    static const pawl_saga_table cased  = {.type = PAWL_TEXT_INIT("Queue"),
                                           .name = PAWL_TEXT_INIT("Pawl_Queue")};
    static const pawl_saga_table longer = {.type = PAWL_TEXT_INIT("Queue"),
                                           .name = PAWL_TEXT_INIT("pawl_queues")};
    static const pawl_saga_table other  = {TABLE("queue")};
    for (size_t i = 0; i < COUNT(dialects); i++) {
        const char *name = dialects[i].name;
        expect_refused(name, &other, &same,
                       "saga Queue: table name 'pawl_outbox_attempts' is that of a table that all "
                       "endpoints share");
        expect_accepted(name, &longer, &other);
        if (strcmp(name, "postgres") == 0)
            expect_accepted(name, &cased, NULL);
        else
            expect_refused(name, &cased, NULL, "table name 'Pawl_Queue'");
    }
}

TEST(d5_names_that_are_none_are_refused)
{
    static const pawl_saga_table no_utf8           = {TABLE("\xff")};
    static const pawl_saga_table smile             = {TABLE("\xF0\x9F\x98\x80")};
    static const pawl_saga_table ends              = {TABLE("Ends ")};
    static const pawl_saga_table line              = {TABLE("A\nB")};
    static const pawl_saga_table no_ascii          = {TABLE("Größe")};
    static const pawl_saga_table no_ascii_property = {TABLE("T"), MAIN("Größe", PAWL_VALUE_INT)};
    static const char *const     counting[]        = {"mysql", "mariadb", "mssql"};
    for (size_t i = 0; i < COUNT(counting); i++) {
        expect_refused(counting[i], &smile, NULL, "has a character above U+FFFF");
        expect_refused(counting[i], &ends, NULL, "saga table 'shop_Ends ' ends with a space");
    }
    expect_accepted("postgres", &smile, NULL);
    expect_accepted("sqlite", &ends, NULL);
    for (size_t i = 0; i < COUNT(dialects); i++)
        expect_refused(dialects[i].name, &line, NULL, "has a character at byte 6 that");
    for (size_t i = 0; i < COUNT(dialects); i++)
        expect_refused(dialects[i].name, &no_utf8, NULL, "has bytes that are not UTF-8");
    expect_refused("oracle", &no_ascii, NULL,
                   "has a character at byte 7 that oracle has in no name");
    expect_refused("oracle", &no_ascii_property, NULL, "column 'CORR_GR");
}

/* Names that are told apart by case alone are one, but for PostgreSQL: D8. */
TEST(d8_names_that_collide_are_refused)
{
    static const pawl_saga_table alike = {TABLE("Alike"), MAIN("OrderId", PAWL_VALUE_TEXT),
                                          OTHER("orderid", PAWL_VALUE_TEXT)};
    static const pawl_saga_table one   = {TABLE("Order")};
    static const pawl_saga_table other = {.type = PAWL_TEXT_INIT("Other"),
                                          .name = PAWL_TEXT_INIT("shop_ORDER")};
    static const pawl_saga_table same  = {.type = PAWL_TEXT_INIT("Same"),
                                          .name = PAWL_TEXT_INIT("shop_Order")};
    /* Index_a_Correlation_b_Correlation_c, of each. */
    static const pawl_saga_table left  = {.type = PAWL_TEXT_INIT("Left"),
                                          .name = PAWL_TEXT_INIT("a"),
                                          MAIN("b_Correlation_c", PAWL_VALUE_INT)};
    static const pawl_saga_table right = {.type = PAWL_TEXT_INIT("Right"),
                                          .name = PAWL_TEXT_INIT("a_Correlation_b"),
                                          MAIN("c", PAWL_VALUE_INT)};
    for (size_t i = 0; i < COUNT(dialects); i++) {
        const char *name     = dialects[i].name;
        bool        has_case = strcmp(name, "postgres") == 0;
        expect_refused(
            name, &one, &same,
            "sagas Order and Same: their tables shop_Order and shop_Order have one name");
        if (has_case) {
            expect_accepted(name, &alike, NULL);
            expect_accepted(name, &one, &other);
        } else {
            expect_refused(name, &alike, NULL,
                           "the columns of properties 'OrderId' and 'orderid' have one name");
            expect_refused(name, &one, &other, "shop_Order and shop_ORDER have one name");
        }
    }
    expect_refused("sqlite", &left, &right,
                   "indexes of their tables a and a_Correlation_b have one");
    expect_refused("postgres", &left, &right, "have one name in postgres");
    expect_accepted("oracle", &left, &right);
    expect_accepted("mssql", &left, &right);
    expect_accepted("mysql", &left, &right);
}

/* ---- Without a server ---------------------------------------------------- */

#ifdef PAWL_HAVE_MYSQL
TEST(a_server_that_is_not_there_is_named)
{
    static const char *const urls[] = {"mysql://root@127.0.0.1:1/x",
                                       "mariadb://root@127.0.0.1:1/x"};
    for (size_t i = 0; i < COUNT(urls); i++) {
        pawl_error  error = PAWL_ERROR_INIT;
        pawl_store *store = NULL;
        const char *text =
            test_text("%.*s: %s: no connection to 127.0.0.1:1: ", (int)strcspn(urls[i], ":"),
                      urls[i], urls[i]);
        assert_int_equal(pawl_store_open(urls[i], NULL, &store, &error), PAWL_EUNREACHABLE);
        assert_memory_equal(error.text, text, strlen(text));
        assert_int_equal(pawl_store_schema(urls[i], PAWL_SCHEMA_APPLY, NULL, NULL, NULL, &error),
                         PAWL_EUNREACHABLE);
        assert_memory_equal(error.text, text, strlen(text));
    }
}

#endif

/* ---- Verify -------------------------------------------------------------- */

/* For a shell script that has run a golden file: the differences, and 1 when there are some. */
static int verify(const char *name, const char *url)
{
    const dialect_row *dialect = dialects;
    pawl_error         error   = PAWL_ERROR_INIT;
    saga_list          list;
    while (strcmp(dialect->name, name) != 0)
        dialect++;
    fill_sagas(&list, dialect);
    pawl_schema_spec spec = {.tables      = (const pawl_saga_table *const *)list.list,
                             .table_count = count_of(dialect)};
    pawl_code code = pawl_store_schema(url, PAWL_SCHEMA_VERIFY, &spec, put_line, stdout, &error);
    if (code != PAWL_OK)
        fprintf(stderr, "%s\n", error.text);
    return code != PAWL_OK;
}

int main(int count, char **words)
{
    if (count == 4 && strcmp(words[1], "verify") == 0)
        return verify(words[2], words[3]);
    return tests_run(NULL, NULL);
}
