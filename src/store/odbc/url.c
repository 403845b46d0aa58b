/* url.c - a connection string, or a data source's name, and the options behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/url_server.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define CONNECTION_SIZE_MAX 4000
#define NOT_GIVEN (-1)

static const char *const dialects[] = {"mysql", "postgres", "mssql", "oracle", NULL};
static const char *const creates[]  = {"no", NULL};
static const char *const names[]    = {"128", "30", NULL};

#define AT(member) offsetof(pawl__odbc_url, member)

static const pawl__url_option options[] = {
    {"create", PAWL__URL_WORD, AT(creates), "no: a server's tables are made by 'pawl schema apply'",
     .words = creates},
    {"dialect", PAWL__URL_WORD, AT(dialect),
     "mysql, for MySQL and MariaDB, postgres, mssql or oracle", .words = dialects},
    {"names", PAWL__URL_WORD, AT(names), "128 or 30, of Oracle's names", .words = names},
};

static const pawl__url_kind kind = {
    .driver = "odbc", .options = options, .option_count = sizeof options / sizeof options[0]};

/* The last '?' outside of braces; or NULL. */
static char *find_options(char *text)
{
    char *found  = NULL;
    bool  inside = false;
    for (char *at = text; *at != '\0'; at++) {
        if (*at == '{' && at > text && at[-1] == '=')
            inside = true;
        else if (*at == '}')
            inside = false;
        else if (*at == '?' && !inside)
            found = at;
    }
    return found;
}

static pawl_code refuse(const pawl__odbc_url *url, pawl_code code, const char *why,
                        pawl_error *error)
{
    return pawl_error_set(error, code, "odbc: %s: %s", url->given, why);
}

static pawl_code make_connection(pawl__odbc_url *url, const char *before, pawl_error *error)
{
    bool   is_name = strchr(before, '=') == NULL;
    size_t size    = strlen(before) + sizeof "DSN=";
    if (before[0] == '\0')
        return refuse(url, PAWL_EINVAL,
                      "neither a data source nor a connection string stands before '?': "
                      "odbc:NAME?dialect=mysql",
                      error);
    if (size > CONNECTION_SIZE_MAX)
        return pawl_error_set(error, PAWL_EINVAL,
                              "odbc: a connection string of %zu bytes, limit %d", strlen(before),
                              CONNECTION_SIZE_MAX);
    url->connection = pawl_allocate(size);
    if (url->connection == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory for the URL");
    (void)snprintf(url->connection, size, "%s%s", is_name ? "DSN=" : "", before);
    return PAWL_OK;
}

pawl_code pawl__odbc_url_read(pawl__odbc_url *url, const char *text, pawl_error *error)
{
    size_t size = strlen(text) + 1;
    *url        = (pawl__odbc_url){
               .dialect = NOT_GIVEN, .text = pawl_allocate(size), .given = pawl__url_given(text)};
    if (url->text == NULL || url->given == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory for the URL");
    const pawl__odbc_scheme *scheme = pawl__odbc_scheme_of(text);
    if (scheme != NULL)
        return pawl__odbc_url_of_server(scheme, url, text, error);
    memcpy(url->text, text, size);
    char *before = strchr(url->text, ':') + 1;
    char *behind = find_options(before);
    if (behind != NULL)
        *behind++ = '\0';
    pawl_code code = make_connection(url, before, error);
    if (code == PAWL_OK)
        code = pawl__url_options(&kind, url->given, behind, url, error);
    if (code == PAWL_OK && url->dialect == NOT_GIVEN)
        code = refuse(url, PAWL_ECONFIG,
                      "'?dialect=mysql' or '?dialect=postgres' is missing at the end", error);
    return code;
}

void pawl__odbc_url_free(pawl__odbc_url *url)
{
    pawl_free(url->text);
    pawl_free(url->connection);
    pawl_free(url->given);
    pawl__url_free(&url->parts);
    *url = (pawl__odbc_url){0};
}
