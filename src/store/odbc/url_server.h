/* url_server.h - URLs of servers that are reached by ODBC alone, as connection strings.
 *
 *     mssql://[user[:password]@]host[:port]/database[?driver=NAME&...]
 *     oracle://[user[:password]@]host[:port]/service[?driver=NAME&...]
 *
 * Each part may be percent-encoded. A driver is named as odbcinst.ini has it, or by its file.
 *
 * Threads: plain data. Tests: tests/contract/test_odbc_url_server.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_URL_SERVER_H
#define PAWL_STORE_ODBC_URL_SERVER_H

#include "store/odbc/url.h"
#include "store/sql/dialect.h"

/* How a driver writes an option that it is passed; the first whose driver fits. */
typedef struct pawl__odbc_passed {
    const char *option;
    const char *driver; /* the driver's name has it, in any case; NULL: every other one */
    const char *
        keyword; /* of the connection string; NULL: the driver has no such option; "": it is of the place */
} pawl__odbc_passed;

/* URLs of one scheme. */
typedef struct pawl__odbc_scheme {
    const char              *name;
    pawl__odbc_dialect       dialect;
    const char              *driver; /* without the option */
    unsigned                 port;
    size_t                   database_chars_max;
    const char              *database_word;
    const char *const       *options; /* names that are passed on; NULL ends them */
    const pawl__odbc_passed *passed;
    size_t                   passed_count;
    /* Appends where the server and the database are; `given` has a value, or NULL, for each of the options.
     * PAWL_ECONFIG: one that is none. */
    pawl_code (*append_place)(pawl__sql_text *to, const char *driver, pawl__odbc_url *url,
                              const char *const *given, pawl_error *error);
} pawl__odbc_scheme;

extern const pawl__odbc_scheme pawl__odbc_scheme_mssql;  /* url_mssql.c */
extern const pawl__odbc_scheme pawl__odbc_scheme_oracle; /* url_oracle.c */

/* The scheme of a URL; NULL: it is odbc:. */
const pawl__odbc_scheme *pawl__odbc_scheme_of(const char *url);
/* Sets url->connection and its dialect; errors as pawl__odbc_url_read. */
pawl_code pawl__odbc_url_of_server(const pawl__odbc_scheme *scheme, pawl__odbc_url *url,
                                   const char *text, pawl_error *error);
/* ";KEYWORD=value", in braces where the value needs them. */
void pawl__odbc_append_pair(pawl__sql_text *to, const char *keyword, const char *value);
/* Whether the driver's name has the word in it, in any case. */
bool pawl__odbc_is_driver(const char *driver, const char *word);

#endif
