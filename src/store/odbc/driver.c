/* driver.c - tables of drivers and their servers, codes for SQLSTATEs without a native number, and advice for refused
 * connections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/dialects/families.h"

#include <string.h>

#define STATEMENT PAWL__SQL_STATEMENT_UNDONE
#define TRANSACTION PAWL__SQL_TRANSACTION_UNDONE
#define CONNECTION PAWL__SQL_CONNECTION_LOST

/* ---- The tables -------------------------------------------------------------- */

/* OPTION 2: an update counts the rows that it found, not only those that it changed. CONN_TIMEOUT: MariaDB's driver
 * accepts SQL_ATTR_LOGIN_TIMEOUT, but waits forever for a server that is silent during the handshake. Protocol 7.4-0:
 * the driver neither rolls back nor makes savepoints by itself. LFConversion 0: line ends are not changed. */
const pawl__odbc_kind pawl__odbc_kinds[pawl__odbc_dialect_count] = {
    [PAWL__ODBC_MYSQL] =
        {
            .family        = &pawl__mysql_family,
            .attributes    = ";CHARSET=utf8mb4;OPTION=2;READ_TIMEOUT=%lld;WRITE_TIMEOUT=%lld;"
                             "CONN_TIMEOUT=%lld",
            .asks_prepared = true,
            .text_type     = SQL_C_BINARY,
            .kill          = "kill query %lld",
            .session_check = "do 0",
            .encrypted     = "show session status like 'Ssl_cipher'",
        },
    [PAWL__ODBC_POSTGRES] =
        {
            .family = &pawl__pg_family,
            .attributes =
                ";Protocol=7.4-0;UseServerSidePrepare=1;UseDeclareFetch=0;LFConversion=0;BoolsAsChar=0;"
                "ByteaAsLongVarBinary=1;TextAsLongVarchar=1;MaxLongVarcharSize=0;KeepaliveTime=%lld;"
                "KeepaliveInterval=%lld",
            .has_casts        = true,
            .times_as_texts   = true,
            .has_zones        = true,
            .as_digits        = true,
            .text_type        = SQL_C_CHAR,
            .kill             = "select pg_cancel_backend(%lld)",
            .warns_of_standby = true,
            .session_check    = "select 1",
            .encrypted =
                "select '', case when ssl then 'yes' else '' end from pg_stat_ssl where pid = "
                "pg_backend_pid()",
        },
    [PAWL__ODBC_MSSQL] =
        {
            .family         = &pawl__mssql_family,
            .attributes     = ";ClientCharset=UTF-8;TDS_Version=7.4",
            .times_as_texts = true,
            .text_type      = SQL_C_WCHAR,
            .mark           = PAWL__ODBC_MARK_BEHIND,
            .append_set     = pawl__mssql_append_set,
            .session_check  = "select 1",
            .encrypted = "select '', case encrypt_option when 'TRUE' then 'yes' else '' end from "
                         "sys.dm_exec_connections where session_id = @@spid",
        },
    [PAWL__ODBC_ORACLE] =
        {
            .family           = &pawl__oracle_family,
            .attributes       = "",
            .is_sent_as_block = true,
            .text_type        = SQL_C_CHAR,
            .mark             = PAWL__ODBC_MARK_BEFORE,
            .text_max         = 4000,
            .bytes_max        = 2000,
            .session_check    = "begin null; end;",
            .encrypted =
                "select 'tls', case sys_context('userenv', 'network_protocol') when 'tcps' then "
                "'yes' end from dual",
        },
};

int pawl__odbc_dialect_of(const char *library)
{
    static const struct {
        const char        *library; /* beginning of the library's name */
        pawl__odbc_dialect dialect;
    } drivers[] = {
        {"libmaodbc", PAWL__ODBC_MYSQL}, /* MariaDB Connector/ODBC */
        /* psqlODBC; not psqlodbcw, which converts texts to UTF-16 and back */
        {"psqlodbca", PAWL__ODBC_POSTGRES},
        {"libtdsodbc", PAWL__ODBC_MSSQL}, /* FreeTDS and Microsoft's driver */
        {"libmsodbcsql", PAWL__ODBC_MSSQL},
        {"libsqora", PAWL__ODBC_ORACLE}, /* Oracle Instant Client */
    };
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++)
        if (strncmp(library, drivers[i].library, strlen(drivers[i].library)) == 0)
            return (int)drivers[i].dialect;
    return -1;
}

/* ---- Failures ---------------------------------------------------------------- */

/* States of drivers and of the driver manager. */
static const pawl__sql_state states[] = {
    {"08001", PAWL_EUNREACHABLE, CONNECTION}, /* no server at the address */
    {"08004", PAWL_EDENIED, CONNECTION},      /* the server refuses the connection */
    {"08", PAWL_ELOST, CONNECTION},
    {"28", PAWL_EDENIED, CONNECTION},      /* user or password */
    {"HY001", PAWL_ENOMEM, STATEMENT},     /* out of memory in this process */
    {"HY013", PAWL_ENOMEM, STATEMENT},     /* the same */
    {"HY008", PAWL_ETIMEOUT, TRANSACTION}, /* cancelled */
    {"HY010", PAWL_ETIMEOUT, TRANSACTION}, /* cancelled after it had finished: the driver manager drops the result */
    {"HYT00", PAWL_ETIMEOUT, CONNECTION}, /* a time-out of the driver: the statement may still be running */
    {"HYT01", PAWL_ETIMEOUT, CONNECTION},     /* a time-out of the connection */
    {"IM", PAWL_EUNREACHABLE, CONNECTION},    /* no such data source or driver */
    {"01000", PAWL_EUNREACHABLE, CONNECTION}, /* a driver that could not be loaded */
    {"22003", PAWL_EINVAL, STATEMENT},        /* number out of range */
};

pawl_code pawl__odbc_code_of(const pawl__sql_failures   *failures,
                             const pawl__odbc_diagnosis *diagnosis, pawl__sql_left *left)
{
    pawl__sql_left         any;
    pawl__sql_left        *found = left != NULL ? left : &any;
    const pawl__sql_state *row =
        pawl__sql_find_state(failures->states, failures->state_count, diagnosis->state);
    *found = CONNECTION;
    if (diagnosis->state[0] == '\0')
        return PAWL_ELOST;
    if (failures->states == NULL && diagnosis->number != 0)
        return pawl__sql_code_of(failures, diagnosis->number, found);
    if (row == NULL)
        row = pawl__sql_find_state(states, sizeof states / sizeof states[0], diagnosis->state);
    *found = row != NULL ? row->left : failures->states != NULL ? failures->left : STATEMENT;
    return row != NULL ? row->code : PAWL_EPERSIST;
}

/* Did the driver abandon the commit? The server may have done it. */
static bool is_cancelled(const pawl__odbc_diagnosis *diagnosis)
{
    return strcmp(diagnosis->state, "HY008") == 0 || strcmp(diagnosis->state, "HY010") == 0;
}

pawl_code pawl__odbc_commit_code_of(const pawl__sql_failures   *failures,
                                    const pawl__odbc_diagnosis *diagnosis)
{
    pawl__sql_left left;
    if (pawl__odbc_is_vague(failures, diagnosis))
        return PAWL_EUNKNOWN;
    if (diagnosis->state[0] != '\0' && diagnosis->number != 0 && failures->states == NULL)
        return pawl__sql_commit_code_of(failures, diagnosis->number);
    pawl_code code = pawl__odbc_code_of(failures, diagnosis, &left);
    return left == CONNECTION || is_cancelled(diagnosis) ? PAWL_EUNKNOWN : code;
}

/* ---- Advice ------------------------------------------------------------------ */

typedef struct remedy_row {
    pawl_code   code;
    const char *state; /* beginning of the SQLSTATE */
    const char *text;
} remedy_row;

/* The first row that matches is used. */
static const remedy_row remedies[] = {
    {PAWL_EUNREACHABLE, "IM002",
     "; 'odbcinst -q -s' lists the data sources that there are, 'odbcinst -q -d' the drivers"},
    {PAWL_EUNREACHABLE, "01000",
     "; install the driver, or name its file by driver= or Driver=: 'odbcinst -q -d' lists those that are "
     "known"},
    {PAWL_EUNREACHABLE, "08001", /* psqlODBC also reports this if the server refused */
     "; see that the server runs there and lets this user in from here, that user and password are "
     "right, and that the database is there"},
    {PAWL_EUNREACHABLE, "",
     "; see that the server runs, and that host and port of the connection string or the data "
     "source are its own"},
    {PAWL_EDENIED, "",
     "; see that user and password are right, and that the server lets this user in from here"},
    {PAWL_ENOTSTORE, "", "; make the database, or name another one by Database="},
    {PAWL_ECONFIG, "", "; see that the connection string is as the driver wants it"},
};

const char *pawl__odbc_remedy(pawl_code code, const char *state)
{
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (remedies[i].code == code &&
            strncmp(state, remedies[i].state, strlen(remedies[i].state)) == 0)
            return remedies[i].text;
    return "";
}
