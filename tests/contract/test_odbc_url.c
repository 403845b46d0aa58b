/* test_odbc_url.c - URLs and failures of ODBC, and texts as a driver takes them, without a server: what goes to the
 * driver, what is refused, no error text that holds a password, and codes of native numbers and of states.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store.h"
#include "store/odbc/request.h"
#include "store/odbc/url.h"
#include "store/odbc/wide.h"
#include "support/tests.h"

static pawl_code (*url_read)(pawl__odbc_url *url, const char *text, pawl_error *error);
static void (*url_free)(pawl__odbc_url *url);
static int (*dialect_of)(const char *library);
static pawl_code (*code_of)(const pawl__sql_failures   *failures,
                            const pawl__odbc_diagnosis *diagnosis, pawl__sql_left *left);
static pawl_code (*commit_code_of)(const pawl__sql_failures   *failures,
                                   const pawl__odbc_diagnosis *diagnosis);
static const pawl__sql_failures *failures[2]; /* by pawl__odbc_dialect */

static uint16_t *(*to_wide)(pawl_text text, size_t *size);
static size_t (*to_narrow)(const uint16_t *wide, size_t units, char *to);
static pawl_text (*with_extra)(pawl__odbc_mark extra, pawl_text text, void **copy);
static pawl_text (*without_extra)(pawl__odbc_mark extra, pawl_text text);

static int load(void **state)
{
    void *module                  = test_module("odbc");
    *(void **)&url_read           = test_symbol(module, "pawl__odbc_url_read");
    *(void **)&url_free           = test_symbol(module, "pawl__odbc_url_free");
    *(void **)&dialect_of         = test_symbol(module, "pawl__odbc_dialect_of");
    failures[PAWL__ODBC_MYSQL]    = test_symbol(module, "pawl__mysql_failures");
    failures[PAWL__ODBC_POSTGRES] = test_symbol(module, "pawl__pg_failures");
    *(void **)&code_of            = test_symbol(module, "pawl__odbc_code_of");
    *(void **)&commit_code_of     = test_symbol(module, "pawl__odbc_commit_code_of");
    *(void **)&to_wide            = test_symbol(module, "pawl__odbc_to_wide");
    *(void **)&to_narrow          = test_symbol(module, "pawl__odbc_to_narrow");
    *(void **)&with_extra         = test_symbol(module, "pawl__odbc_with_mark");
    *(void **)&without_extra      = test_symbol(module, "pawl__odbc_without_mark");
    return 0;
}

/* ---- URLs ----------------------------------------------------------------- */

static void goes(const char *text, pawl__odbc_dialect dialect, const char *connection)
{
    pawl__odbc_url url;
    pawl_error     error = PAWL_ERROR_INIT;
    pawl_code      code  = url_read(&url, text, &error);
    if (code != PAWL_OK || strcmp(url.connection, connection) != 0 || url.dialect != (int)dialect ||
        strstr(url.given, "secret") != NULL)
        fail_msg("%s: %s, '%s' of '%s'", text, error.text, code == PAWL_OK ? url.connection : "",
                 url.given);
    url_free(&url);
}

/* Refused with this code and these words; "secret" is in no text. */
static void refused(const char *text, pawl_code code, const char *words)
{
    pawl__odbc_url url;
    pawl_error     error = PAWL_ERROR_INIT;
    pawl_code      found = url_read(&url, text, &error);
    if (found != code || strstr(error.text, words) == NULL || strstr(error.text, "secret") != NULL)
        fail_msg("%s: %s, '%s', expected %s, '%s'", text, pawl_code_name(found), error.text,
                 pawl_code_name(code), words);
    url_free(&url);
}

TEST(connection_strings_go_to_the_driver_as_they_are)
{
    goes("odbc:shop?dialect=mysql", PAWL__ODBC_MYSQL, "DSN=shop");
    goes("odbc:My Shop?dialect=mysql&create=no", PAWL__ODBC_MYSQL, "DSN=My Shop");
    goes("odbc:DSN=shop;PWD=a%20b?dialect=mysql", PAWL__ODBC_MYSQL, "DSN=shop;PWD=a%20b");
    goes("odbc:Driver={A?B};PWD={x;y?dialect=z};Server=h?dialect=mysql", PAWL__ODBC_MYSQL,
         "Driver={A?B};PWD={x;y?dialect=z};Server=h");
    goes("odbc:shop?dialect=postgres", PAWL__ODBC_POSTGRES, "DSN=shop");
    goes("odbc:DSN=shop;PWD=a?b?dialect=mysql", PAWL__ODBC_MYSQL, "DSN=shop;PWD=a?b");
}

TEST(others_are_refused)
{
    char *text = malloc(5000);
    assert_non_null(text);
    refused("odbc:DSN=shop;PWD=secret", PAWL_ECONFIG,
            "PWD=***: '?dialect=' is missing at the end: mysql, postgres, mssql or oracle");
    refused("odbc:?dialect=mysql", PAWL_EINVAL, "neither a data source nor a connection string");
    refused("odbc:shop?dialect=db2", PAWL_ECONFIG, "dialect is 'db2', may be mysql");
    refused("odbc:shop?dialect=mysql&create=yes", PAWL_ECONFIG, "pawl schema apply");
    refused("odbc:DSN=shop;PWD=secret?dialects=mysql", PAWL_ECONFIG, "dialect");
    memset(text, 'a', 4999);
    memcpy(text, "odbc:", 5);
    memcpy(text + 4900, "?dialect=mysql", sizeof "?dialect=mysql");
    refused(text, PAWL_EINVAL, "4895 bytes, limit 4000");
    free(text);
}

TEST(mssql_goes_to_freetds)
{
    goes("mssql://sa:secret@db/shop", PAWL__ODBC_MSSQL,
         "Driver=FreeTDS;Server=db;Port=1433;Database=shop;UID=sa;PWD=secret");
    goes("mssql:///shop?encrypt=require&application_name=orders", PAWL__ODBC_MSSQL,
         "Driver=FreeTDS;Server=localhost;Port=1433;Database=shop;APP=orders;Encryption=require");
    goes(
        "mssql://a%3Bb:secret%7D%3Bx@db:99/my%20shop?driver=/opt/libtdsodbc.so", PAWL__ODBC_MSSQL,
        "Driver=/opt/libtdsodbc.so;Server=db;Port=99;Database={my shop};UID={a;b};PWD={secret}};x}");
}

TEST(mssql_goes_to_microsofts_driver)
{
    goes("mssql://sa:secret@db:1444/shop?driver=ODBC%20Driver%2018%20for%20SQL%20Server"
         "&encrypt=strict&trust_server_certificate=no&hostname-in-certificate=db.example"
         "&server_certificate=/etc/db.pem&attributes=MultiSubnetFailover%3DYes",
         PAWL__ODBC_MSSQL,
         "Driver={ODBC Driver 18 for SQL Server};Server=tcp:db,1444;Database=shop;UID=sa;PWD=secret"
         ";Encrypt=strict;HostNameInCertificate=db.example;ServerCertificate=/etc/db.pem"
         ";TrustServerCertificate=no;MultiSubnetFailover=Yes");
}

TEST(others_of_servers_are_refused)
{
    refused("mssql://sa:secret@db", PAWL_EINVAL, "no database is named: mssql://host/database");
    refused("mssql://sa:secret@a,b/shop", PAWL_EINVAL, "one host alone");
    refused("mssql://sa:secret@db:x/shop", PAWL_EINVAL, "a port is 1 to 65535");
    refused("mssql://sa:secret@db/shop?create=yes", PAWL_ECONFIG, "pawl schema apply");
    refused("mssql://sa:secret@db/shop?encryption=yes", PAWL_ECONFIG,
            "unknown option 'encryption', known: attributes, create, driver");
    refused("mssql://sa:secret@db/shop?driver=", PAWL_ECONFIG, "odbcinst -q -d");
    refused("mssql://sa:secret@db/shop?trust_server_certificate=yes", PAWL_ECONFIG,
            "the driver 'FreeTDS' has no option 'trust_server_certificate'");
    refused("oracle://sa:secret@db/shop?protocol=udp", PAWL_ECONFIG,
            "oracle: protocol is 'udp', may be tcp or tcps");
    refused("oracle://sa:secret@db/shop?sid=maybe", PAWL_ECONFIG,
            "sid is 'maybe', may be no or yes");
    refused("oracle://sa:secret@db", PAWL_EINVAL, "no service is named: oracle://host/service");
}

/* ---- One more character ----------------------------------------------------- */

static void is_taken_as(pawl__odbc_mark extra, const char *text, const char *taken)
{
    void     *copy = NULL;
    pawl_text made = with_extra(extra, pawl_text_of(text), &copy);
    assert_true(pawl_text_equal(made, pawl_text_of(taken)));
    assert_true(pawl_text_equal(without_extra(extra, made), pawl_text_of(text)));
    assert_true((copy != NULL) == (strcmp(text, taken) != 0));
    pawl_free(copy);
}

/* 'a' and 'a ' are equal to SQL Server, under any collation. */
TEST(a_text_that_ends_with_a_space_has_one_behind)
{
    is_taken_as(PAWL__ODBC_MARK_BEHIND, "", "");
    is_taken_as(PAWL__ODBC_MARK_BEHIND, "a", "a");
    is_taken_as(PAWL__ODBC_MARK_BEHIND, "a ", "a \x01");
    is_taken_as(PAWL__ODBC_MARK_BEHIND, " ", " \x01");
    is_taken_as(PAWL__ODBC_MARK_BEHIND, "a \x01", "a \x01\x01");
    is_taken_as(PAWL__ODBC_MARK_BEHIND, "\x01", "\x01\x01");
}

/* '' is null to Oracle. */
TEST(the_empty_text_has_one_before)
{
    is_taken_as(PAWL__ODBC_MARK_BEFORE, "", "\x01");
    is_taken_as(PAWL__ODBC_MARK_BEFORE, "a ", "a ");
    is_taken_as(PAWL__ODBC_MARK_BEFORE, "\x01", "\x01\x01");
    is_taken_as(PAWL__ODBC_MARK_BEFORE, "\x01z", "\x01\x01z");
}

TEST(other_databases_take_a_text_as_it_is)
{
    is_taken_as(PAWL__ODBC_NO_MARK, "", "");
    is_taken_as(PAWL__ODBC_NO_MARK, "a ", "a ");
    is_taken_as(PAWL__ODBC_NO_MARK, "\x01", "\x01");
}

/* ---- UTF-16 ---------------------------------------------------------------- */

static void survives(const char *text, size_t units)
{
    size_t    size = 0;
    char      back[100];
    uint16_t *wide = to_wide(pawl_text_of(text), &size);
    assert_non_null(wide);
    assert_int_equal(size, units * 2);
    assert_int_equal(wide[units], 0);
    back[to_narrow(wide, units, back)] = '\0';
    assert_string_equal(back, text);
    pawl_free(wide);
}

TEST(characters_survive)
{
    survives("", 0);
    survives("a ", 2);
    survives("\xC3\xA4\xE2\x82\xAC", 2);
    survives("\xF0\x9F\x98\x80z", 3); /* beyond the first 65,536 */
    survives("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF", 5);
}

static void becomes(const char *text, size_t count, const uint16_t *expected)
{
    size_t    size = 0;
    uint16_t *wide = to_wide(pawl_text_of(text), &size);
    assert_non_null(wide);
    assert_int_equal(size, count * 2);
    assert_memory_equal(wide, expected, size);
    pawl_free(wide);
}

TEST(bytes_that_are_no_text_are_replaced)
{
    static const uint16_t none[] = {0xFFFD, 0xFFFD, 0xFFFD, 'a'};
    char                  back[10];
    becomes("\xFF"
            "a",
            2, none + 2);
    becomes("\xC0\x80"
            "a",
            3, none + 1);
    becomes("\xED\xA0\x80"
            "a",
            4, none);
    becomes("\xE2\x82", 2, none);
    const uint16_t half[] = {0xD83D, 'a'};
    assert_int_equal(to_narrow(half, 2, back), 4);
    assert_memory_equal(back,
                        "\xEF\xBF\xBD"
                        "a",
                        4);
}

/* ---- Failures --------------------------------------------------------------- */

static pawl__odbc_diagnosis record(const char *state, unsigned number)
{
    pawl__odbc_diagnosis made = {.number = number};
    snprintf(made.state, sizeof made.state, "%s", state);
    return made;
}

static void expect_of(const char *library, const char *state, unsigned number, pawl_code code,
                      pawl__sql_left left)
{
    const pawl__odbc_diagnosis given  = record(state, number);
    const pawl__sql_failures  *driver = failures[dialect_of(library)];
    pawl__sql_left             found;
    pawl_code                  is = code_of(driver, &given, &found);
    if (is != code || found != left || code_of(driver, &given, NULL) != code)
        fail_msg("%s %u is %s and leaves %d, not %s and %d", state, number, pawl_code_name(is),
                 (int)found, pawl_code_name(code), (int)left);
}

static void expect(const char *state, unsigned number, pawl_code code, pawl__sql_left left)
{
    expect_of("libmaodbc.so", state, number, code, left);
}

/* States of one kind stand beside numbers of another: the number decides. */
TEST(d37_the_native_number_decides)
{
    expect("23000", 1062, PAWL_EDUPLICATE, PAWL__SQL_STATEMENT_UNDONE);
    expect("23000", 1048, PAWL_EINVAL, PAWL__SQL_STATEMENT_UNDONE);
    expect("40001", 1213, PAWL_EBUSY, PAWL__SQL_TRANSACTION_UNDONE);
    expect("HY000", 1205, PAWL_EBUSY, PAWL__SQL_STATEMENT_UNDONE);
    expect("08S01", 1205, PAWL_EBUSY, PAWL__SQL_STATEMENT_UNDONE);
    expect("HY000", 2013, PAWL_ELOST, PAWL__SQL_CONNECTION_LOST);
    expect("28000", 1045, PAWL_EDENIED, PAWL__SQL_CONNECTION_LOST);
    expect("HY000", 9999, PAWL_EPERSIST, PAWL__SQL_STATEMENT_UNDONE);
}

TEST(d37_without_a_number_the_state_does)
{
    expect("", 0, PAWL_ELOST, PAWL__SQL_CONNECTION_LOST);
    expect("08001", 0, PAWL_EUNREACHABLE, PAWL__SQL_CONNECTION_LOST);
    expect("08004", 0, PAWL_EDENIED, PAWL__SQL_CONNECTION_LOST);
    expect("08S01", 0, PAWL_ELOST, PAWL__SQL_CONNECTION_LOST);
    expect("28000", 0, PAWL_EDENIED, PAWL__SQL_CONNECTION_LOST);
    expect("HY001", 0, PAWL_ENOMEM, PAWL__SQL_STATEMENT_UNDONE);
    expect("HY013", 0, PAWL_ENOMEM, PAWL__SQL_STATEMENT_UNDONE);
    expect("HYT00", 0, PAWL_ETIMEOUT, PAWL__SQL_CONNECTION_LOST);
    expect("HYT01", 0, PAWL_ETIMEOUT, PAWL__SQL_CONNECTION_LOST);
    expect("IM002", 0, PAWL_EUNREACHABLE, PAWL__SQL_CONNECTION_LOST);
    expect("01000", 0, PAWL_EUNREACHABLE, PAWL__SQL_CONNECTION_LOST);
    expect("22003", 0, PAWL_EINVAL, PAWL__SQL_STATEMENT_UNDONE);
    expect("HY000", 0, PAWL_EPERSIST, PAWL__SQL_STATEMENT_UNDONE);
}

static void expect_commit(const char *state, unsigned number, pawl_code code)
{
    const pawl__odbc_diagnosis given = record(state, number);
    assert_int_equal(commit_code_of(failures[PAWL__ODBC_MYSQL], &given), code);
}

/* psqlODBC has a number of its own for each failure of a statement. */
TEST(d37_postgres_is_read_by_its_states)
{
    static const char driver[] = "psqlodbca.so";
    expect_of(driver, "23505", 7, PAWL_EDUPLICATE, PAWL__SQL_TRANSACTION_UNDONE);
    expect_of(driver, "40P01", 7, PAWL_EBUSY, PAWL__SQL_TRANSACTION_UNDONE);
    expect_of(driver, "25P02", 7, PAWL_EBUSY, PAWL__SQL_TRANSACTION_UNDONE);
    expect_of(driver, "57014", 7, PAWL_ETIMEOUT, PAWL__SQL_TRANSACTION_UNDONE);
    expect_of(driver, "57P01", 7, PAWL_ELOST, PAWL__SQL_CONNECTION_LOST);
    expect_of(driver, "42P01", 7, PAWL_ESCHEMA, PAWL__SQL_TRANSACTION_UNDONE);
    expect_of(driver, "42501", 1, PAWL_EDENIED, PAWL__SQL_TRANSACTION_UNDONE);
    expect_of(driver, "99999", 1, PAWL_EPERSIST, PAWL__SQL_TRANSACTION_UNDONE);
    expect_of(driver, "08S01", 35, PAWL_ELOST, PAWL__SQL_CONNECTION_LOST);
    expect_of(driver, "08001", 101, PAWL_EUNREACHABLE, PAWL__SQL_CONNECTION_LOST);
    expect_of(driver, "", 0, PAWL_ELOST, PAWL__SQL_CONNECTION_LOST);
    const pawl__odbc_diagnosis ended = record("57P01", 7), busy = record("40001", 7);
    assert_int_equal(commit_code_of(failures[PAWL__ODBC_POSTGRES], &ended), PAWL_EUNKNOWN);
    assert_int_equal(commit_code_of(failures[PAWL__ODBC_POSTGRES], &busy), PAWL_EBUSY);
}

TEST(d37_a_commit_that_is_lost_is_unknown)
{
    expect_commit("", 0, PAWL_EUNKNOWN);
    expect_commit("08S01", 0, PAWL_EUNKNOWN);
    expect_commit("HYT00", 0, PAWL_EUNKNOWN);
    expect_commit("HY000", 2013, PAWL_EUNKNOWN);
    expect_commit("40001", 1213, PAWL_EBUSY);
    expect_commit("HY000", 0, PAWL_EUNKNOWN); /* the driver does not say what became of it */
    assert_int_equal(dialect_of("psqlodbcw.so"), -1);
    assert_int_equal(dialect_of("lib"), -1);
}

int main(void)
{
    return tests_run(load, NULL);
}
