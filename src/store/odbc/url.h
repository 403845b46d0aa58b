/* url.h - the URL of a store behind an ODBC driver.
 *
 *     odbc:DSN?dialect=mysql
 *     odbc:DSN?dialect=postgres
 *     odbc:Driver={MariaDB Unicode};Server=db;Database=shop;UID=pawl;PWD=...?dialect=mysql
 *     mssql://[user[:password]@]host[:port]/database[?driver=NAME&...]
 *     oracle://[user[:password]@]host[:port]/service[?driver=NAME&...]
 *
 * In odbc:, the text before the last '?' outside of braces is the name of a data source or, if it contains '=', a
 * connection string; the driver gets it undecoded. In the other forms each part may be percent-encoded; `driver` is a
 * name of odbcinst.ini or a file.
 *
 * Threads: plain data. Tests: tests/contract/test_odbc_url.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_URL_H
#define PAWL_STORE_ODBC_URL_H

#include "store/core/url_read.h"

typedef enum pawl__odbc_dialect {
    PAWL__ODBC_MYSQL,
    PAWL__ODBC_POSTGRES,
    PAWL__ODBC_MSSQL,
    PAWL__ODBC_ORACLE,
    pawl__odbc_dialect_count
} pawl__odbc_dialect;

typedef struct pawl__odbc_url {
    char     *text;       /* owned: the options point into it */
    char     *connection; /* owned: the connection string, with the password */
    char     *given;      /* owned: the URL without password, for logs and errors */
    int       dialect;    /* pawl__odbc_dialect */
    int       creates;    /* always 0 */
    int       names;      /* 1: names in Oracle have 30 bytes at most */
    pawl__url parts;      /* of mssql:// and oracle://, else empty */
} pawl__odbc_url;

/* PAWL_ECONFIG for an option, PAWL_EINVAL for anything else; errors never contain the password. The URL must be freed
 * in any case. */
pawl_code pawl__odbc_url_read(pawl__odbc_url *url, const char *text, pawl_error *error);
void      pawl__odbc_url_free(pawl__odbc_url *url);

#endif
