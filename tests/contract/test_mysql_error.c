/* test_mysql_error.c - D37: failures that MariaDB and MySQL really answer with, as codes of pawl,
 * and what each left of the transaction; the numbers that no test brings about, by themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#include "pawl/base.h"

#include "support/required.h"
#ifdef PAWL_HAVE_MYSQL
#include "store/sql/failure.h"

#include <mysql.h>
#include <unistd.h>

static const pawl__sql_failures *failures;
static pawl_code (*find_code)(const pawl__sql_failures *in, unsigned number, pawl__sql_left *left);
static pawl_code (*find_commit_code)(const pawl__sql_failures *in, unsigned number);

static pawl_code code_of(unsigned number, pawl__sql_left *left)
{
    return find_code(failures, number, left);
}

static pawl_code commit_code_of(unsigned number)
{
    return find_commit_code(failures, number);
}

static int load(void **state)
{
    void *module                = test_module("mysql");
    failures                    = test_symbol(module, "pawl__mysql_failures");
    *(void **)&find_code        = test_symbol(module, "pawl__sql_code_of");
    *(void **)&find_commit_code = test_symbol(module, "pawl__sql_commit_code_of");
    return 0;
}

static void expect(unsigned number, pawl_code code, pawl__sql_left left)
{
    pawl__sql_left found;
    if (code_of(number, &found) != code || found != left)
        fail_msg("%u is %s and leaves %d, not %s and %d", number,
                 pawl_code_name(code_of(number, NULL)), (int)found, pawl_code_name(code),
                 (int)left);
}

/* ---- Numbers ------------------------------------------------------------ */

TEST(d37_numbers_have_codes)
{
    static const unsigned about_json[] = {3140, 3141, 3150, 3157, 3158, 4025};
    expect(1213, PAWL_EBUSY, PAWL__SQL_TRANSACTION_UNDONE);
    expect(1205, PAWL_EBUSY, PAWL__SQL_STATEMENT_UNDONE);
    expect(1467, PAWL_EBUSY, PAWL__SQL_TRANSACTION_UNDONE);
    expect(3101, PAWL_EBUSY, PAWL__SQL_TRANSACTION_UNDONE);
    expect(1290, PAWL_EUNREACHABLE, PAWL__SQL_STATEMENT_UNDONE);
    expect(1461, PAWL_EUNREACHABLE, PAWL__SQL_STATEMENT_UNDONE);
    expect(1836, PAWL_EUNREACHABLE, PAWL__SQL_STATEMENT_UNDONE);
    expect(1047, PAWL_EUNREACHABLE, PAWL__SQL_CONNECTION_LOST);
    expect(1129, PAWL_EUNREACHABLE, PAWL__SQL_CONNECTION_LOST);
    expect(1130, PAWL_EDENIED, PAWL__SQL_CONNECTION_LOST);
    expect(1820, PAWL_EDENIED, PAWL__SQL_STATEMENT_UNDONE);
    expect(1862, PAWL_EDENIED, PAWL__SQL_CONNECTION_LOST);
    expect(3118, PAWL_EDENIED, PAWL__SQL_CONNECTION_LOST);
    expect(4151, PAWL_EDENIED, PAWL__SQL_CONNECTION_LOST);
    expect(1044, PAWL_EDENIED, PAWL__SQL_STATEMENT_UNDONE);
    expect(1048, PAWL_EINVAL, PAWL__SQL_STATEMENT_UNDONE);
    for (unsigned i = 0; i < COUNT(about_json); i++)
        expect(about_json[i], PAWL_EINVAL, PAWL__SQL_STATEMENT_UNDONE);
    expect(1712, PAWL_ENOTSTORE, PAWL__SQL_STATEMENT_UNDONE);
    expect(2006, PAWL_ELOST, PAWL__SQL_CONNECTION_LOST);
    expect(1020, PAWL_EBUSY, PAWL__SQL_STATEMENT_UNDONE); /* the first row */
    expect(5013, PAWL_ELOST, PAWL__SQL_CONNECTION_LOST);
    expect(5014, PAWL_ELOST, PAWL__SQL_CONNECTION_LOST); /* the last one */
    expect(1, PAWL_EPERSIST, PAWL__SQL_STATEMENT_UNDONE);
    expect(9999, PAWL_EPERSIST, PAWL__SQL_STATEMENT_UNDONE);
}

/* bsearch finds every row of a sorted table: each number up to the largest is asked for, and as
 * many are known as there are rows. */
TEST(d37_every_number_is_found)
{
    int known = 0;
    for (unsigned number = 0; number < 10000; number++)
        known += code_of(number, NULL) != PAWL_EPERSIST;
    assert_int_equal(known, 86);
}

TEST(d37_a_commit_that_is_lost_is_unknown)
{
    assert_int_equal(commit_code_of(2013), PAWL_EUNKNOWN);
    assert_int_equal(commit_code_of(2006), PAWL_EUNKNOWN);
    assert_int_equal(commit_code_of(1053), PAWL_EUNKNOWN);
    assert_int_equal(commit_code_of(1180), PAWL_EUNKNOWN);
    assert_int_equal(commit_code_of(1047), PAWL_EUNREACHABLE); /* refused before it began */
    assert_int_equal(commit_code_of(1213), PAWL_EBUSY);
    assert_int_equal(commit_code_of(3101), PAWL_EBUSY);
    assert_int_equal(commit_code_of(1290), PAWL_EUNREACHABLE);
    assert_int_equal(commit_code_of(1836), PAWL_EUNREACHABLE);
    assert_int_equal(commit_code_of(1), PAWL_EPERSIST);
}

/* ---- Servers ------------------------------------------------------------ */

static MYSQL *try_connect(const char *variable, const char *user, const char *database)
{
    char     host[100];
    unsigned port = 0;
    MYSQL   *made = mysql_init(NULL);
    assert_non_null(made);
    assert_int_equal(sscanf(getenv(variable), "%*[a-z]://root@%99[^:]:%u/", host, &port), 2);
    (void)mysql_real_connect(made, host, user, NULL, database, port, NULL, 0);
    return made;
}

static MYSQL *connect_to(const char *variable)
{
    MYSQL *made = try_connect(variable, "root", "test");
    if (mysql_errno(made) != 0)
        fail_msg("%s", mysql_error(made));
    return made;
}

static void run(MYSQL *db, const char *sql)
{
    if (mysql_query(db, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(db));
    mysql_free_result(mysql_store_result(db));
}

static void runf(MYSQL *db, const char *format, const char *table)
{
    run(db, test_text(format, table));
}

/* The statement fails with this code and leaves this. */
static void fails(MYSQL *db, const char *format, const char *table, pawl_code code,
                  pawl__sql_left left)
{
    const char *sql = test_text(format, table);
    if (mysql_query(db, sql) == 0)
        fail_msg("it was done: %s", sql);
    expect(mysql_errno(db), code, left);
}

static void check_statements(MYSQL *db, const char *table)
{
    pawl__sql_left left = PAWL__SQL_STATEMENT_UNDONE;
    runf(db, "create table %s (id int primary key, t varchar(3), j json) engine = innodb", table);
    run(db, "begin");
    runf(db, "insert into %s values (1, 'a', '{}')", table);
    fails(db, "insert into %s values (1, 'b', '{}')", table, PAWL_EDUPLICATE, left);
    fails(db, "insert into %s values (2, 'long', '{}')", table, PAWL_EINVAL, left);
    fails(db, "insert into %s values (2, 'a', '{')", table, PAWL_EINVAL, left);
    fails(db, "insert into %s values (null, 'a', '{}')", table, PAWL_EINVAL, left);
    fails(db, "insert into %s values (5000000000, 'a', '{}')", table, PAWL_EINVAL, left);
    fails(db, "insert into %s_none values (1)", table, PAWL_ESCHEMA, left);
    fails(db, "select none from %s", table, PAWL_ESCHEMA, left);
    fails(db, "select * from %s force index (none)", table, PAWL_ESCHEMA, left);
    fails(db, "select * from %s where 1 = (select 1 union all select 2)", table, PAWL_EFENCED,
          left);
    fails(db, "use %s_none", table, PAWL_ENOTSTORE, left);
    run(db, "commit"); /* the row outlived them all */
    runf(db, "update %s set t = 'x' where id = 1", table);
    assert_int_equal(mysql_affected_rows(db), 1);
    run(db, "start transaction read only");
    fails(db, "delete from %s", table, PAWL_EUNREACHABLE, PAWL__SQL_CONNECTION_LOST);
    run(db, "rollback");
}

static void check_locks(MYSQL *a, MYSQL *b, const char *table)
{
    runf(a, "replace into %s values (1, 'a', '{}'), (2, 'a', '{}')", table);
    run(a, "begin");
    runf(a, "update %s set t = 'b' where id = 1", table);
    run(b, "begin");
    runf(b, "update %s set t = 'b' where id = 2", table);
    fails(b, "select * from %s where id = 1 for update nowait", table, PAWL_EBUSY,
          PAWL__SQL_STATEMENT_UNDONE);
    /* Each waits for the other: one of them is ended, whichever the server takes. */
    const char *sql = test_text("update %s set t = 'c' where id = 2", table);
    assert_int_equal(mysql_send_query(a, sql, strlen(sql)), 0);
    bool     is_b   = mysql_query(b, test_text("update %s set t = 'c' where id = 1", table)) != 0;
    unsigned number = is_b ? mysql_errno(b) : 0;
    if (is_b)
        run(b, "rollback");
    bool is_a = mysql_read_query_result(a) != 0;
    assert_true(is_a != is_b);
    expect(is_a ? mysql_errno(a) : number, PAWL_EBUSY, PAWL__SQL_TRANSACTION_UNDONE);
    run(a, "rollback");
    run(b, "rollback");
}

static void check_connections(const char *variable, MYSQL *a, MYSQL *b)
{
    MYSQL *refused = try_connect(variable, "nobody_of_this_name", "test");
    expect(mysql_errno(refused), PAWL_EDENIED, PAWL__SQL_CONNECTION_LOST);
    mysql_close(refused);
    refused = try_connect(variable, "root", "no_database_of_this_name");
    assert_int_equal(code_of(mysql_errno(refused), NULL), PAWL_ENOTSTORE);
    mysql_close(refused);
    run(a, test_text("kill connection %lu", mysql_thread_id(b)));
    assert_int_not_equal(mysql_query(b, "select 1"), 0);
    expect(mysql_errno(b), PAWL_ELOST, PAWL__SQL_CONNECTION_LOST);
}

static void skip_server(const char *variable, const char *server)
{
    if (!server_may_be_missing(server))
        fail_msg("%s names no server", variable);
    print_message("skipped: %s names no server\n", variable);
    skip();
}

static void check_server(const char *variable, const char *server)
{
    const char *url = getenv(variable);
    if (url == NULL || url[0] == '\0')
        skip_server(variable, server);
    MYSQL      *a = connect_to(variable), *b = connect_to(variable);
    const char *table = test_text("mysql_error_%d", (int)getpid());
    runf(a, "drop table if exists %s", table);
    check_statements(a, table);
    check_locks(a, b, table);
    check_connections(variable, a, b);
    runf(a, "drop table %s", table);
    mysql_close(a);
    mysql_close(b);
}

TEST(d37_failures_of_mariadb)
{
    check_server("PAWL_TEST_MARIADB", "mariadb");
}

TEST(d37_failures_of_mysql)
{
    check_server("PAWL_TEST_MYSQL", "mysql");
}
#endif

int main(void)
{
#ifdef PAWL_HAVE_MYSQL
    return tests_run(load, NULL);
#else
    printf("skipped: the driver of MySQL and MariaDB was not built\n");
    return 77;
#endif
}
