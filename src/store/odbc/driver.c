/* driver.c - the table of drivers, and states of failures that have no number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/driver.h"

#include "store/sql/dialects/mssql_family.h"
#include "store/sql/dialects/mysql_family.h"
#include "store/sql/dialects/oracle_family.h"
#include "store/sql/dialects/postgres_family.h"

#include <string.h>

#define STATEMENT PAWL__SQL_STATEMENT_UNDONE
#define TRANSACTION PAWL__SQL_TRANSACTION_UNDONE
#define CONNECTION PAWL__SQL_CONNECTION_LOST

/* OPTION 2: an update counts the rows that it found, not those that it changed. Protocol 7.4-0: the driver
 * neither rolls back nor makes savepoints by itself. LFConversion 0: line ends stay as they are. */
const char *const pawl__odbc_attributes[pawl__odbc_dialect_count] = {
    [PAWL__ODBC_MYSQL] = ";CHARSET=utf8mb4;OPTION=2;READ_TIMEOUT=%lld;WRITE_TIMEOUT=%lld",
    [PAWL__ODBC_POSTGRES] =
        ";Protocol=7.4-0;UseServerSidePrepare=1;UseDeclareFetch=0;LFConversion=0;BoolsAsChar=0;"
        "ByteaAsLongVarBinary=1;TextAsLongVarchar=1;MaxLongVarcharSize=0;KeepaliveTime=%lld;"
        "KeepaliveInterval=%lld",
    [PAWL__ODBC_MSSQL]  = ";ClientCharset=UTF-8;TDS_Version=7.4",
    [PAWL__ODBC_ORACLE] = "",
};

static const pawl__odbc_driver drivers[] = {
    /* MariaDB Connector/ODBC */
    {.library     = "libmaodbc",
     .dialect     = PAWL__ODBC_MYSQL,
     .null_number = 1048,
     .failures    = &pawl__mysql_failures},
    /* psqlODBC; psqlodbcw, which turns texts into UTF-16 and back, is none of them. */
    {.library = "psqlodbca", .dialect = PAWL__ODBC_POSTGRES, .code_of_state = pawl__pg_state_code},
    /* FreeTDS, and Microsoft's */
    {.library     = "libtdsodbc",
     .dialect     = PAWL__ODBC_MSSQL,
     .null_number = 515,
     .failures    = &pawl__mssql_failures},
    {.library     = "libmsodbcsql",
     .dialect     = PAWL__ODBC_MSSQL,
     .null_number = 515,
     .failures    = &pawl__mssql_failures},
    /* Oracle Instant Client */
    {.library     = "libsqora",
     .dialect     = PAWL__ODBC_ORACLE,
     .null_number = 1400,
     .failures    = &pawl__oracle_failures},
};

const pawl__odbc_driver *pawl__odbc_driver_of(pawl__odbc_dialect dialect)
{
    size_t i = 0;
    while (drivers[i].dialect != dialect)
        i++;
    return &drivers[i];
}

const pawl__odbc_driver *pawl__odbc_driver_find(const char *library)
{
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++)
        if (strncmp(library, drivers[i].library, strlen(drivers[i].library)) == 0)
            return &drivers[i];
    return NULL;
}

typedef struct state_row {
    const char    *state; /* begins so */
    pawl_code      code;
    pawl__sql_left left;
} state_row;

/* The first that fits. */
static const state_row states[] = {
    {"08001", PAWL_EUNREACHABLE, CONNECTION}, /* no server there */
    {"08004", PAWL_EDENIED, CONNECTION},      /* the server refuses the connection */
    {"08", PAWL_ELOST, CONNECTION},
    {"28", PAWL_EDENIED, CONNECTION},      /* user or password */
    {"HY001", PAWL_ENOMEM, STATEMENT},     /* out of memory, here */
    {"HY013", PAWL_ENOMEM, STATEMENT},     /* the same */
    {"HY008", PAWL_ETIMEOUT, TRANSACTION}, /* cancelled */
    {"HYT00", PAWL_ETIMEOUT, CONNECTION},  /* a time-out of the driver: nobody knows what runs on */
    {"HYT01", PAWL_ETIMEOUT, CONNECTION},  /* the same of the connection */
    {"IM", PAWL_EUNREACHABLE, CONNECTION}, /* no such data source or driver */
    {"01000", PAWL_EUNREACHABLE, CONNECTION}, /* a driver that could not be loaded */
    {"22003", PAWL_EINVAL, STATEMENT},        /* number out of range */
};

static const state_row *find_state(const char *state)
{
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0)
            return &states[i];
    return NULL;
}

pawl_code pawl__odbc_code_of(const pawl__odbc_driver *driver, const pawl__odbc_diagnosis *diagnosis,
                             pawl__sql_left *left)
{
    pawl__sql_left   any   = STATEMENT;
    const state_row *row   = find_state(diagnosis->state);
    pawl__sql_left  *found = left != NULL ? left : &any;
    pawl_code        code  = PAWL_EPERSIST;
    *found                 = CONNECTION;
    if (diagnosis->state[0] == '\0')
        return PAWL_ELOST;
    if (driver != NULL && driver->code_of_state != NULL)
        code = driver->code_of_state(diagnosis->state, found);
    else if (driver != NULL && diagnosis->number != 0)
        return pawl__sql_code_of(driver->failures, diagnosis->number, found);
    else
        *found = STATEMENT;
    if (code != PAWL_EPERSIST || row == NULL)
        return code;
    *found = row->left;
    return row->code;
}

pawl_code pawl__odbc_commit_code_of(const pawl__odbc_driver    *driver,
                                    const pawl__odbc_diagnosis *diagnosis)
{
    pawl__sql_left left;
    bool           has_number = diagnosis->state[0] != '\0' && diagnosis->number != 0;
    if (has_number && driver != NULL && driver->failures != NULL)
        return pawl__sql_commit_code_of(driver->failures, diagnosis->number);
    pawl_code code = pawl__odbc_code_of(driver, diagnosis, &left);
    return left == CONNECTION ? PAWL_EUNKNOWN : code;
}
