/* test_odbc_errors.c - D37: each failure that a driver of MySQL's, MariaDB's, PostgreSQL's and SQL Server's servers can tell, behind ODBC: its
 * code, and the state in which it leaves the transaction, by the calls that follow. Each is the failure of a
 * statement in an application's own transaction, of one in a commit, and of the commit itself. A scripted
 * driver tells them: no server is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "support/tests.h"

#include <sql.h>
#include <sqlext.h>

#define SCRIPTED_ROW(function, dialect) SCRIPTED_TEST(#function " on " dialect, function, dialect)
#define SCRIPTED(function)                                        \
    TESTS(function, scripted *p, SCRIPTED_ROW(function, "mysql"), \
          SCRIPTED_ROW(function, "postgres"), SCRIPTED_ROW(function, "mssql"))

#define FIRST_COMMIT "'00000000-0000-0001-0000-000000000001'" /* epoch 1, the first of it */
#define DEADLINE_MS 20000

/* ---- The failures --------------------------------------------------------- */

typedef enum left { STATEMENT, TRANSACTION, CONNECTION } left;

typedef struct failure {
    const char *
        record; /* state and native number, behind which the connection may be gone; "": no record */
    pawl_code code;
    left      leaves;
} failure;

/* Numbers of the server and of its library, as their manuals have them; states of the driver and of its manager,
 * beside which there is no number. */
static const failure mysql_failures[] = {
    {"HY000 1020", PAWL_EBUSY, STATEMENT},
    {"HY000 1021", PAWL_EFULL, STATEMENT},
    {"23000 1022", PAWL_EDUPLICATE, STATEMENT},
    {"HY001 1037", PAWL_ENOMEM, STATEMENT},
    {"HY001 1038", PAWL_ENOMEM, STATEMENT},
    {"08004 1040", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 1041", PAWL_ENOMEM, STATEMENT},
    {"42000 1044", PAWL_EDENIED, STATEMENT},
    {"28000 1045", PAWL_EDENIED, CONNECTION},
    {"08S01 1047", PAWL_EUNREACHABLE, CONNECTION},
    {"23000 1048", PAWL_EINVAL, STATEMENT},
    {"42000 1049", PAWL_ENOTSTORE, STATEMENT},
    {"08S01 1053", PAWL_ELOST, CONNECTION},
    {"42S22 1054", PAWL_ESCHEMA, STATEMENT},
    {"23000 1062", PAWL_EDUPLICATE, STATEMENT},
    {"HY000 1114", PAWL_EFULL, STATEMENT},
    {"42000 1142", PAWL_EDENIED, STATEMENT},
    {"42000 1143", PAWL_EDENIED, STATEMENT},
    {"42S02 1146", PAWL_ESCHEMA, STATEMENT},
    {"08S01 1152", PAWL_ELOST, CONNECTION},
    {"08S01 1153", PAWL_ELIMIT, CONNECTION},
    {"08S01 1158", PAWL_ELOST, CONNECTION},
    {"08S01 1159", PAWL_ELOST, CONNECTION},
    {"08S01 1160", PAWL_ELOST, CONNECTION},
    {"08S01 1161", PAWL_ELOST, CONNECTION},
    {"42000 1176", PAWL_ESCHEMA, STATEMENT},
    {"42000 1203", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 1205", PAWL_EBUSY, STATEMENT},
    {"HY000 1206", PAWL_EBUSY, TRANSACTION},
    {"40001 1213", PAWL_EBUSY, TRANSACTION},
    {"42000 1226", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 1227", PAWL_EDENIED, STATEMENT},
    {"42000 1235", PAWL_EUNSUPPORTED, STATEMENT},
    {"21000 1242", PAWL_EFENCED, STATEMENT},
    {"22003 1264", PAWL_EINVAL, STATEMENT},
    {"HY000 1290", PAWL_EUNREACHABLE, STATEMENT},
    {"22007 1292", PAWL_EINVAL, STATEMENT},
    {"70100 1317", PAWL_ETIMEOUT, STATEMENT},
    {"HY000 1366", PAWL_EINVAL, STATEMENT},
    {"22001 1406", PAWL_EINVAL, STATEMENT},
    {"HY000 1412", PAWL_EBUSY, STATEMENT},
    {"42000 1461", PAWL_EUNREACHABLE, STATEMENT},
    {"HY000 1467", PAWL_EBUSY, TRANSACTION},
    {"23000 1586", PAWL_EDUPLICATE, STATEMENT},
    {"HY000 1615", PAWL_EBUSY, STATEMENT},
    {"HY000 1637", PAWL_EBUSY, STATEMENT},
    {"28000 1698", PAWL_EDENIED, CONNECTION},
    {"25006 1792", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 1836", PAWL_EUNREACHABLE, STATEMENT},
    {"70100 1927", PAWL_ELOST, CONNECTION},
    {"70100 1969", PAWL_ETIMEOUT, STATEMENT},
    {"HY000 2002", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 2003", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 2005", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 2006", PAWL_ELOST, CONNECTION},
    {"HY000 2008", PAWL_ENOMEM, STATEMENT},
    {"HY000 2012", PAWL_EUNREACHABLE, CONNECTION},
    {"08S01 2013", PAWL_ELOST, CONNECTION},
    {"HY000 2020", PAWL_ELIMIT, CONNECTION},
    {"HY000 2026", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 2027", PAWL_ELOST, CONNECTION},
    {"HY000 2055", PAWL_ELOST, CONNECTION},
    {"HY000 2059", PAWL_EDENIED, CONNECTION},
    {"HY000 2061", PAWL_EDENIED, CONNECTION},
    {"HY000 3024", PAWL_ETIMEOUT, STATEMENT},
    {"22032 3140", PAWL_EINVAL, STATEMENT},
    {"HY000 3572", PAWL_EBUSY, STATEMENT},
    {"23000 4025", PAWL_EINVAL, STATEMENT},
    {"HY000 4031", PAWL_ELOST, CONNECTION},
    {"HY000 5013", PAWL_ELOST, CONNECTION},
    {"HY000 5014", PAWL_ELOST, CONNECTION},
    /* A number that nobody knows is one of the statement, whatever stands beside it. */
    {"08S01 9999", PAWL_EPERSIST, STATEMENT},
    {"08001 0", PAWL_EUNREACHABLE, CONNECTION},
    {"08004 0", PAWL_EDENIED, CONNECTION},
    {"08S01 0", PAWL_ELOST, CONNECTION},
    {"28000 0", PAWL_EDENIED, CONNECTION},
    {"HY001 0", PAWL_ENOMEM, STATEMENT},
    {"HY013 0", PAWL_ENOMEM, STATEMENT},
    {"HYT00 0", PAWL_ETIMEOUT, CONNECTION},
    {"HYT01 0", PAWL_ETIMEOUT, CONNECTION},
    {"IM001 0", PAWL_EUNREACHABLE, CONNECTION},
    {"01000 0", PAWL_EUNREACHABLE, CONNECTION},
    {"22003 0", PAWL_EINVAL, STATEMENT},
    {"HY000 0", PAWL_EPERSIST, STATEMENT},
    {"HY000 0 gone", PAWL_ELOST, CONNECTION},
    {"", PAWL_ELOST, CONNECTION},
};

/* Numbers of SQL Server, and from 20000 on of FreeTDS; a number that nobody knows may have ended the batch, and
 * with it the transaction. */
static const failure mssql_failures[] = {
    {"42000 207", PAWL_ESCHEMA, STATEMENT},
    {"42000 208", PAWL_ESCHEMA, STATEMENT},
    {"42000 220", PAWL_EINVAL, TRANSACTION},
    {"42000 229", PAWL_EDENIED, STATEMENT},
    {"42000 230", PAWL_EDENIED, STATEMENT},
    {"42000 233", PAWL_ELOST, CONNECTION},
    {"42000 241", PAWL_EINVAL, TRANSACTION},
    {"42000 242", PAWL_EINVAL, TRANSACTION},
    {"42000 245", PAWL_EINVAL, TRANSACTION},
    {"42000 262", PAWL_EDENIED, STATEMENT},
    {"25000 266", PAWL_EBUSY, TRANSACTION},
    {"42000 297", PAWL_EDENIED, STATEMENT},
    {"42000 300", PAWL_EDENIED, STATEMENT},
    {"42000 334", PAWL_EUNSUPPORTED, STATEMENT},
    {"23000 515", PAWL_EINVAL, STATEMENT},
    {"23000 547", PAWL_EINVAL, STATEMENT},
    {"HY000 605", PAWL_ENOTSTORE, CONNECTION},
    {"HY000 823", PAWL_ENOTSTORE, CONNECTION},
    {"HY000 824", PAWL_ENOTSTORE, CONNECTION},
    {"42000 596", PAWL_ELOST, CONNECTION},
    {"42000 628", PAWL_EBUSY, TRANSACTION},
    {"42000 701", PAWL_ENOMEM, TRANSACTION},
    {"42000 802", PAWL_ENOMEM, TRANSACTION},
    {"42000 911", PAWL_ENOTSTORE, CONNECTION},
    {"42000 916", PAWL_EDENIED, CONNECTION},
    {"42000 927", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 942", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 976", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 978", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 983", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 1101", PAWL_EFULL, TRANSACTION},
    {"42000 1105", PAWL_EFULL, TRANSACTION},
    {"42000 1204", PAWL_EBUSY, TRANSACTION},
    {"42000 1205", PAWL_EBUSY, TRANSACTION},
    {"42000 1222", PAWL_EBUSY, STATEMENT},
    {"42000 1505", PAWL_EDUPLICATE, STATEMENT},
    {"42000 1934", PAWL_ECONFIG, STATEMENT},
    {"23000 2601", PAWL_EDUPLICATE, STATEMENT},
    {"23000 2627", PAWL_EDUPLICATE, STATEMENT},
    {"22001 2628", PAWL_EINVAL, STATEMENT},
    {"42000 3609", PAWL_EPERSIST, TRANSACTION},
    {"42000 3621", PAWL_EPERSIST, STATEMENT},
    {"42000 3902", PAWL_EBUSY, TRANSACTION},
    {"42000 3903", PAWL_EBUSY, TRANSACTION},
    {"42000 3906", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 3930", PAWL_EBUSY, TRANSACTION},
    {"42000 3960", PAWL_EBUSY, TRANSACTION},
    {"42000 3961", PAWL_EBUSY, TRANSACTION},
    {"42000 3998", PAWL_EBUSY, TRANSACTION},
    {"42000 4060", PAWL_ENOTSTORE, CONNECTION},
    {"42000 4064", PAWL_ENOTSTORE, CONNECTION},
    {"42000 6005", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 6102", PAWL_EDENIED, STATEMENT},
    {"42000 6401", PAWL_EBUSY, TRANSACTION},
    {"42000 8003", PAWL_ELIMIT, STATEMENT},
    {"42000 8114", PAWL_EINVAL, TRANSACTION},
    {"42000 8115", PAWL_EINVAL, TRANSACTION},
    {"22001 8152", PAWL_EINVAL, STATEMENT},
    {"42000 8628", PAWL_EBUSY, STATEMENT},
    {"42000 8645", PAWL_EBUSY, STATEMENT},
    {"42000 8651", PAWL_EBUSY, STATEMENT},
    {"42000 9001", PAWL_EPERSIST, CONNECTION},
    {"42000 9002", PAWL_EFULL, TRANSACTION},
    {"42000 10053", PAWL_ELOST, CONNECTION},
    {"42000 10054", PAWL_ELOST, CONNECTION},
    {"42000 10060", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 10061", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 10928", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 10929", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 11001", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 17142", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 17809", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 18452", PAWL_EDENIED, CONNECTION},
    {"42000 18456", PAWL_EDENIED, CONNECTION},
    {"42000 18461", PAWL_EUNREACHABLE, CONNECTION},
    {"42000 18470", PAWL_EDENIED, CONNECTION},
    {"42000 18486", PAWL_EDENIED, CONNECTION},
    {"42000 18487", PAWL_EDENIED, CONNECTION},
    {"42000 18488", PAWL_EDENIED, CONNECTION},
    {"HY000 20003", PAWL_ETIMEOUT, CONNECTION},
    {"HY000 20004", PAWL_ELOST, CONNECTION},
    {"HY000 20006", PAWL_ELOST, CONNECTION},
    {"08S01 20009", PAWL_EUNREACHABLE, CONNECTION},
    {"01000 20013", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 20014", PAWL_EDENIED, CONNECTION},
    {"01000 20017", PAWL_ELOST, CONNECTION},
    {"HY000 40197", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 40501", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 40613", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 50001", PAWL_EBUSY, TRANSACTION},
    {"42000 99999", PAWL_EPERSIST, TRANSACTION},
    {"08001 0", PAWL_EUNREACHABLE, CONNECTION},
    {"08S01 0", PAWL_ELOST, CONNECTION},
    {"HY008 0", PAWL_ETIMEOUT, TRANSACTION},
    {"HY010 0", PAWL_ETIMEOUT, TRANSACTION},
    {"HYT00 0", PAWL_ETIMEOUT, CONNECTION},
    {"01000 0", PAWL_EUNREACHABLE, CONNECTION},
    {"IM002 0", PAWL_EUNREACHABLE, CONNECTION},
    {"HY000 0", PAWL_EPERSIST, STATEMENT},
    {"HY000 0 gone", PAWL_ELOST, CONNECTION}, /* FreeTDS of a link that is dead */
    {"", PAWL_ELOST, CONNECTION},
};

/* States of PostgreSQL: each statement that fails undoes its transaction, or the part of it behind a savepoint. */
static const failure postgres_failures[] = {
    {"23502 1", PAWL_EINVAL, TRANSACTION},       {"40001 1", PAWL_EBUSY, TRANSACTION},
    {"40P01 1", PAWL_EBUSY, TRANSACTION},        {"55P03 1", PAWL_EBUSY, TRANSACTION},
    {"55006 1", PAWL_EBUSY, TRANSACTION},        {"57014 1", PAWL_ETIMEOUT, TRANSACTION},
    {"57P01 1", PAWL_ELOST, CONNECTION},         {"57P02 1", PAWL_ELOST, CONNECTION},
    {"57P03 1", PAWL_EUNREACHABLE, CONNECTION},  {"25P02 1", PAWL_EBUSY, TRANSACTION},
    {"25P03 1", PAWL_ELOST, CONNECTION},         {"25P04 1", PAWL_ELOST, CONNECTION},
    {"25006 1", PAWL_EUNREACHABLE, CONNECTION},  {"28P01 1", PAWL_EDENIED, CONNECTION},
    {"42501 1", PAWL_EDENIED, TRANSACTION},      {"3D000 1", PAWL_ENOTSTORE, CONNECTION},
    {"3F000 1", PAWL_ESCHEMA, TRANSACTION},      {"42P01 1", PAWL_ESCHEMA, TRANSACTION},
    {"42703 1", PAWL_ESCHEMA, TRANSACTION},      {"42804 1", PAWL_ESCHEMA, TRANSACTION},
    {"42P10 1", PAWL_ESCHEMA, TRANSACTION},      {"53100 1", PAWL_EFULL, TRANSACTION},
    {"53200 1", PAWL_ENOMEM, TRANSACTION},       {"53300 1", PAWL_EUNREACHABLE, CONNECTION},
    {"54000 1", PAWL_ELIMIT, TRANSACTION},       {"HY000 1", PAWL_EPERSIST, TRANSACTION},
    {"HY000 1 gone", PAWL_ELOST, CONNECTION}, /* psqlODBC of a link that is dead where it prepares */
    {"23503 1", PAWL_EPERSIST, TRANSACTION},     {"22021 1", PAWL_EINVAL, TRANSACTION},
    {"0A000 1", PAWL_EUNSUPPORTED, TRANSACTION}, {"XX000 1", PAWL_EPERSIST, TRANSACTION},
    {"XX001 1", PAWL_ENOTSTORE, TRANSACTION},    {"XX002 1", PAWL_ENOTSTORE, TRANSACTION},
    {"08S01 0", PAWL_ELOST, CONNECTION},         {"HYT00 0", PAWL_ETIMEOUT, CONNECTION},
    {"HY001 0", PAWL_ENOMEM, STATEMENT},         {"", PAWL_ELOST, CONNECTION},
};

typedef struct failure_list {
    const char    *dialect;
    const failure *items;
    size_t         count;
} failure_list;

static const failure_list lists[] = {
    {"mysql", mysql_failures, COUNT(mysql_failures)},
    {"postgres", postgres_failures, COUNT(postgres_failures)},
    {"mssql", mssql_failures, COUNT(mssql_failures)},
};

static const failure_list *list_of(const scripted *p)
{
    size_t i = 0;
    while (strcmp(lists[i].dialect, p->dialect->name) != 0)
        i++;
    return &lists[i];
}

#define TAKEN "select 1 from *pawl_queue*" /* behind a key that is there: by this row? It is */

/* The statement's first run fails so. */
static const char *rules_for(const char *statement, const failure *f, const char *more)
{
    static char rules[1000];
    snprintf(rules, sizeof rules, "%son %s\n times 1\n error %s%s\n%son " TAKEN "\n row '1'\n",
             more, statement, f->record, f->record[0] != '\0' ? " Failed" : "",
             strstr(f->record, " gone") != NULL ? " gone\n" : "");
    return rules;
}

static void check_code(const scripted *p, const failure *f, pawl_code code, pawl_code expected)
{
    if (code != expected)
        fail_msg("'%s' is %s, expected %s: %s", f->record, pawl_code_name(code),
                 pawl_code_name(expected), p->error.text);
}

/* A message that is there already is left as it is. */
static pawl_code code_of_send(const failure *f)
{
    return f->code == PAWL_EDUPLICATE ? PAWL_OK : f->code;
}

/* As they came since the mark, without what goes before the failure. */
static void check_calls(scripted *p, const failure *f, const char *from,
                        const char *const *expected)
{
    const char *calls = scripted_calls(p);
    const char *at    = strstr(calls, from);
    if (at == NULL)
        fail_msg("'%s': no '%s' in\n%s", f->record, from, calls);
    p->mark += (size_t)(at - calls);
    scripted_expect(p, expected);
}

#define CHECK_CALLS(p, f, from, ...) \
    check_calls((p), (f), (from), (const char *const[]){__VA_ARGS__, NULL})

/* ---- In a transaction of the application's --------------------------------- */

typedef struct own_connection {
    SQLHENV env;
    SQLHDBC dbc;
} own_connection;

static own_connection dial(const scripted *p)
{
    own_connection own;
    char           text[1000];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(p->url + 5, "?"), p->url + 5);
    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &own.env);
    SQLSetEnvAttr(own.env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)(uintptr_t)SQL_OV_ODBC3, 0);
    SQLAllocHandle(SQL_HANDLE_DBC, own.env, &own.dbc);
    assert_true(SQL_SUCCEEDED(SQLDriverConnect(own.dbc, NULL, (SQLCHAR *)text, SQL_NTS, NULL, 0,
                                               NULL, SQL_DRIVER_NOPROMPT)));
    return own;
}

static void hang_up(own_connection *own)
{
    SQLDisconnect(own->dbc);
    SQLFreeHandle(SQL_HANDLE_DBC, own->dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, own->env);
}

static const char *rules_of_enlist(const scripted_dialect *d)
{
    static char rules[600];
    snprintf(rules, sizeof rules, "%son %s\non %s\n%s%s\n", d->is_open, d->save, d->undo,
             d->release != NULL ? "on " : "#", d->release != NULL ? d->release : "");
    return rules;
}

/* "* run " and the pattern. */
static const char *run_of(const char *pattern)
{
    static char texts[8][200];
    static int  at;
    at = (at + 1) % 8;
    snprintf(texts[at], sizeof texts[at], "* run %s", pattern);
    return texts[at];
}

/* PostgreSQL's savepoint is there behind whatever undid the transaction to it. */
static bool has_savepoints(const scripted_dialect *d)
{
    return strcmp(d->name, "postgres") == 0;
}

static void check_enlisted(scripted *p, const failure *of_a_store)
{
    /* A transaction that only reads is the caller's mistake, and goes on. */
    const failure  read_only = {of_a_store->record, PAWL_EINVAL, STATEMENT};
    const failure *f = strncmp(of_a_store->record, "25006", 5) == 0 ? &read_only : of_a_store;
    scripted_open(p, rules_for("insert into *pawl_queue*", f, rules_of_enlist(p->dialect)),
                  DEADLINE_MS);
    own_connection own = dial(p);
    check_code(p, f,
               pawl_store_enlist(p->store, own.dbc,
                                 ONE_CHANGE(queue_send, SCRIPTED_NOW, .queue = PAWL_TEXT("orders"),
                                            .due     = SCRIPTED_NOW,
                                            .message = {.id   = PAWL_TEXT("m-1"),
                                                        .type = PAWL_TEXT("t"),
                                                        .body = PAWL_TEXT("{}")}),
                                 &p->error),
               code_of_send(f));
    const char             *insert  = "run insert into ";
    const scripted_dialect *d       = p->dialect;
    const char             *release = d->release != NULL ? run_of(d->release) : NULL;
    if (f->code == PAWL_EDUPLICATE)
        CHECK_CALLS(p, f, insert, "*", "* run " TAKEN, release);
    else if (f->leaves == STATEMENT || (f->leaves == TRANSACTION && has_savepoints(d)))
        CHECK_CALLS(p, f, insert, "*", run_of(d->undo), release);
    else if (f->leaves == TRANSACTION)
        CHECK_CALLS(p, f, insert, "*", run_of(d->rollback));
    else
        CHECK_CALLS(p, f, insert, "*");
    hang_up(&own);
}

/* The savepoint undoes a statement, and on PostgreSQL whatever failed behind it; elsewhere a transaction that is gone
 * is rolled back whole, before anything else is sent, and on a connection that is lost nothing is sent. */
SCRIPTED(d37_a_failure_in_ones_own_transaction)
{
    const failure_list *list = list_of(p);
    for (size_t i = 0; i < list->count; i++)
        check_enlisted(p, &list->items[i]);
}

/* ---- In a commit ----------------------------------------------------------- */

/* The store is as good as before: where the connection was lost a new one is made. */
static void check_after(scripted *p, bool is_lost)
{
    scripted_mark(p);
    scripted_code(p, scripted_send(p), PAWL_OK);
    assert_int_equal(scripted_count(p, "* connect *"), is_lost);
    assert_int_equal(scripted_count(p, "* run insert into *pawl_queue*"), 1);
}

static void check_statement(scripted *p, const failure *f)
{
    const char             *insert = "run insert into ";
    const scripted_dialect *d      = p->dialect;
    scripted_open(p, rules_for("insert into *pawl_queue*", f, ""), DEADLINE_MS);
    check_code(p, f, scripted_send(p), f->code == PAWL_EBUSY ? PAWL_OK : code_of_send(f));
    if (f->code == PAWL_EDUPLICATE)
        CHECK_CALLS(p, f, insert, "*", "* run " TAKEN, run_of(d->commit));
    else if (f->code == PAWL_EBUSY)
        CHECK_CALLS(p, f, insert, "*", run_of(d->rollback), run_of(d->begin),
                    "* run update *pawl_workers*", "* run insert into *pawl_queue*",
                    run_of(d->commit));
    else if (f->leaves == CONNECTION)
        CHECK_CALLS(p, f, insert, "*");
    else
        CHECK_CALLS(p, f, insert, "*", run_of(d->rollback));
    check_after(p, f->leaves == CONNECTION);
}

/* A deadlock is tried again, whole; behind any other failure nothing of the transaction is there. */
SCRIPTED(d37_a_failure_in_a_commit)
{
    const failure_list *list = list_of(p);
    for (size_t i = 0; i < list->count; i++)
        check_statement(p, &list->items[i]);
}

/* ---- At the commit ---------------------------------------------------------- */

#define ERROR_DURING_COMMIT "HY000 1180"
#define COUNT_CHANGED "25000 266" /* after the commit is done */
#define SAYS_NOTHING "HY000 0"
#define SAYS_NOTHING_PG "HY000 1"

static bool is_unknown(const failure *f)
{
    static const char *const unknown[] = {ERROR_DURING_COMMIT, COUNT_CHANGED, "42000 3609",
                                          "42000 3621",        "42000 99999", SAYS_NOTHING,
                                          SAYS_NOTHING_PG,     "HY008 0",     "HY010 0"};
    /* A node without its cluster, and servers that can only be read, refuse before they begin. */
    static const char *const refused[] = {"08S01 1047", "HY000 1290", "HY000 1836", "42000 3906"};
    for (size_t i = 0; i < COUNT(unknown); i++)
        if (strcmp(f->record, unknown[i]) == 0)
            return true;
    for (size_t i = 0; i < COUNT(refused); i++)
        if (strcmp(f->record, refused[i]) == 0)
            return false;
    return f->leaves == CONNECTION;
}

/* On PostgreSQL a constraint may be deferred to the commit. */
static pawl_code code_at_commit(const scripted *p, const failure *f)
{
    bool is_deferred = strcmp(p->dialect->name, "postgres") == 0 && f->leaves == TRANSACTION &&
                       pawl_code_retry(f->code) != PAWL_RETRY_LATER &&
                       strncmp(f->record, "XX", 2) != 0;
    return is_deferred ? PAWL_ECONFLICT : f->code;
}

/* Each outcome in doubt is there, or is not: the fence row says it, with the id of the commit. */
static void check_commit(scripted *p, const failure *f, bool is_applied)
{
    char more[300];
    snprintf(more, sizeof more,
             "on select *Epoch*, *LastCommit*\n times 1\n row '1' null\n"
             "on select *Epoch*, *LastCommit*\n row '2' %s\n"
             "on %s\n times 1\n", /* the worker's own */
             is_applied ? FIRST_COMMIT : "null", p->dialect->commit);
    scripted_open(p, rules_for(p->dialect->commit, f, more), DEADLINE_MS);
    pawl_code expected = is_applied ? PAWL_OK : PAWL_ELOST;
    if (!is_unknown(f))
        expected = f->code == PAWL_EBUSY ? PAWL_OK : code_at_commit(p, f);
    check_code(p, f, scripted_send(p), expected);
    int raised = scripted_count(p, "* run update *pawl_workers* set *Epoch* = *Epoch* + 1*");
    if (raised != is_unknown(f))
        fail_msg("'%s': the epoch was raised %d times:\n%s", f->record, raised, scripted_calls(p));
    int sent  = scripted_count(p, "* run insert into *pawl_queue*");
    int tries = f->code == PAWL_EBUSY && !is_unknown(f) ? 2 : 1;
    if (sent != tries)
        fail_msg("'%s': sent %d times, not %d", f->record, sent, tries);
}

SCRIPTED(d37_a_failure_at_the_commit)
{
    static const failure during = {ERROR_DURING_COMMIT, PAWL_EPERSIST, STATEMENT};
    const failure_list  *list   = list_of(p);
    bool                 is_own = strcmp(list->dialect, "mysql") == 0;
    for (size_t i = 0; i < list->count + is_own; i++) {
        const failure *f = i < list->count ? &list->items[i] : &during;
        check_commit(p, f, true);
        if (is_unknown(f))
            check_commit(p, f, false);
    }
}
