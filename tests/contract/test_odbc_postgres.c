/* test_odbc_postgres.c - PostgreSQL behind an ODBC driver: what is refused at open, and in which words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#ifdef PAWL_HAVE_ODBC

#include "contract/odbc_ground.h"
#include "pawl/base.h"
#include "pawl/pawl.h"

#define SKIPPED 77

static void refused_at(const char *url, pawl_code code, const char *words)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    pawl_error         error   = PAWL_ERROR_INIT;
    options.system_prefix      = "pawl_none_";
    pawl_code found            = pawl_store_open(url, &options, &store, &error);
    if (found != code || strstr(error.text, words) == NULL || strstr(error.text, "secret") != NULL)
        fail_msg("%s, '%s', expected %s, '%s'", pawl_code_name(found), error.text,
                 pawl_code_name(code), words);
    pawl_store_close(store);
}

/* The last of two attributes counts. */
static void refused_with(const char *more, pawl_code code, const char *words)
{
    char url[ODBC_URL_SIZE];
    assert_true(odbc_postgres_url(more, url));
    refused_at(url, code, words);
}

TEST(a_refusal_says_why)
{
    char url[ODBC_URL_SIZE], path[200];
    refused_with(";Port=1;PWD=secret", PAWL_EUNREACHABLE, "port 1");
    refused_with(";UID=pawl_nobody;PWD=secret", PAWL_EUNREACHABLE, "pawl_nobody");
    refused_with(";Database=pawl_none;PWD=secret", PAWL_EUNREACHABLE, "\"pawl_none\"");
    refused_with(";PWD=secret", PAWL_ESCHEMA, "run: pawl schema apply");
    refused_at("odbc:Driver=/nowhere.so;PWD=secret?dialect=postgres", PAWL_EUNREACHABLE,
               "Can't open lib '/nowhere.so'");
    assert_true(odbc_postgres_url(";PWD=secret", url));
    memcpy(strstr(url, "?dialect="), "?dialect=mysql", sizeof "?dialect=mysql");
    refused_at(url, PAWL_ECONFIG, "is for servers of another dialect");
    if (odbc_library("psqlodbcw.so", path, sizeof path)) {
        char *name = strstr(url, "psqlodbca");
        name[8]    = 'w';
        refused_at(url, PAWL_EUNSUPPORTED, "whose failures pawl cannot read");
    }
}

int main(void)
{
    char url[ODBC_URL_SIZE];
    if (!odbc_postgres_url("", url)) {
        puts("skipped: PAWL_TEST_POSTGRES names no server, or odbc-postgresql is not installed");
        return server_may_be_missing("postgres") ? SKIPPED : 1;
    }
    return tests_run(NULL, NULL);
}

#endif
