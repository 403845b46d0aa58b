/* odbc_fixture.h - MariaDB and PostgreSQL through their ODBC drivers, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_ODBC_FIXTURE_H
#define PAWL_TESTS_CONTRACT_ODBC_FIXTURE_H

#include "support/required.h"

#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ODBC_URL_SIZE 1000

/* The library's file, as apt has it: no odbcinst.ini is needed then. */
static inline bool odbc_library(const char *name, char *path, size_t size)
{
    char   pattern[200];
    glob_t found;
    snprintf(pattern, sizeof pattern, "/usr/lib/*/odbc/%s", name);
    bool is_there = glob(pattern, 0, NULL, &found) == 0;
    snprintf(path, size, "%s", is_there ? found.gl_pathv[0] : "");
    globfree(&found);
    return is_there;
}

/* Of apt's odbc-mariadb. */
static inline bool odbc_driver(char *path, size_t size)
{
    return odbc_library("libmaodbc.so", path, size);
}

/* The database of a MariaDB's URL; `more` is put behind the attributes. False: there is none, or no driver. */
static inline bool odbc_url_of(const char *server, const char *more, char url[ODBC_URL_SIZE])
{
    char     driver[200], user[100], host[100], database[100];
    unsigned port = 0;
    if (!odbc_driver(driver, sizeof driver) || server == NULL ||
        sscanf(server, "%*[a-z]://%99[^@:]@%99[^:]:%u/%99[^?]", user, host, &port, database) != 4)
        return false;
    snprintf(url, ODBC_URL_SIZE,
             "odbc:Driver=%s;Server=%s;Port=%u;UID=%s;Database=%s%s?dialect=mysql", driver, host,
             port, user, database, more);
    return true;
}

static inline bool odbc_url(const char *more, char url[ODBC_URL_SIZE])
{
    return odbc_url_of(getenv("PAWL_TEST_MARIADB"), more, url);
}

/* The same of PAWL_TEST_POSTGRES, and apt's odbc-postgresql. */
static inline bool odbc_postgres_url(const char *more, char url[ODBC_URL_SIZE])
{
    const char *server = getenv("PAWL_TEST_POSTGRES");
    char        driver[200], user[100], host[100], database[100];
    unsigned    port = 0;
    if (!odbc_library("psqlodbca.so", driver, sizeof driver) || server == NULL ||
        sscanf(server, "%*[a-z]://%99[^@:]@%99[^:]:%u/%99[^?]", user, host, &port, database) != 4)
        return false;
    snprintf(url, ODBC_URL_SIZE,
             "odbc:Driver=%s;Servername=%s;Port=%u;UID=%s;Database=%s%s?dialect=postgres", driver,
             host, port, user, database, more);
    return true;
}

#ifdef PAWL_HAVE_ODBC

#include <sql.h>
#include <sqlext.h>

/* A connection of the test's own, by the attributes of the store's URL; NULL: it was refused. */
static inline SQLHDBC odbc_dial(SQLHENV *env, const char *url)
{
    SQLHDBC dbc = NULL;
    char    text[ODBC_URL_SIZE];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(url + 5, "?"), url + 5);
    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, env);
    SQLSetEnvAttr(*env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)(uintptr_t)SQL_OV_ODBC3, 0);
    SQLAllocHandle(SQL_HANDLE_DBC, *env, &dbc);
    SQLRETURN done =
        SQLDriverConnect(dbc, NULL, (SQLCHAR *)text, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
    return SQL_SUCCEEDED(done) ? dbc : NULL;
}

#endif

#endif
