/* url_oracle.c - oracle://, in the words of Oracle's own driver: the address is a connect descriptor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/url_server.h"

#include <string.h>

enum { NAMES, PROTOCOL, SERVER_DN, SID, WALLET };

static const char *const options[] = {"names", "protocol", "server_dn", "sid", "wallet", NULL};

/* All of them stand in the descriptor, whatever the driver's name is. */
static const pawl__odbc_passed passed[] = {
    {"names", NULL, ""}, {"protocol", NULL, ""}, {"server_dn", NULL, ""},
    {"sid", NULL, ""},   {"wallet", NULL, ""},
};

/* Which of two words the option is; the first, where it is not given. */
static pawl_code read_word(const char *const *given, int option, const char *first,
                           const char *second, bool *is_second, pawl_error *error)
{
    const char *word = given[option] != NULL ? given[option] : first;
    *is_second       = strcmp(word, second) == 0;
    if (*is_second || strcmp(word, first) == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG, "oracle: %s is '%s', may be %s or %s",
                          options[option], word, first, second);
}

/* A parenthesis would begin another part of the descriptor. */
static pawl_code check_text(const char *what, const char *text, pawl_error *error)
{
    return text == NULL || strpbrk(text, "()\"{}") == NULL
               ? PAWL_OK
               : pawl_error_set(error, PAWL_EINVAL,
                                "oracle: %s has a parenthesis, a brace or a quote, which has no "
                                "place in a connect descriptor",
                                what);
}

static void append_security(pawl__sql_text *to, const char *wallet, const char *server_dn)
{
    if (wallet == NULL && server_dn == NULL)
        return;
    pawl__sql_append(to, "(SECURITY=");
    if (wallet != NULL)
        pawl__sql_appendf(to, "(MY_WALLET_DIRECTORY=%s)", wallet);
    if (server_dn != NULL)
        pawl__sql_appendf(to, "(SSL_SERVER_DN_MATCH=yes)(SSL_SERVER_CERT_DN=\"%s\")", server_dn);
    pawl__sql_append(to, ")");
}

static pawl_code append_place(pawl__sql_text *to, const char *driver, pawl__odbc_url *url,
                              const char *const *given, pawl_error *error)
{
    const pawl__url_host *host    = &url->parts.hosts[0];
    bool                  is_tcps = false, is_sid = false, is_short = false;
    pawl_code             code = read_word(given, PROTOCOL, "tcp", "tcps", &is_tcps, error);
    (void)driver;
    if (code == PAWL_OK)
        code = read_word(given, SID, "no", "yes", &is_sid, error);
    if (code == PAWL_OK)
        code = read_word(given, NAMES, "128", "30", &is_short, error);
    if (code == PAWL_OK)
        code = check_text("the host", host->name, error);
    if (code == PAWL_OK)
        code = check_text("the service", url->parts.database, error);
    if (code == PAWL_OK)
        code = check_text("wallet", given[WALLET], error);
    if (code == PAWL_OK)
        code = check_text("server_dn", given[SERVER_DN], error);
    url->names = is_short;
    pawl__sql_appendf(to,
                      ";DBQ=(DESCRIPTION=(ADDRESS=(PROTOCOL=%s)(HOST=%s)(PORT=%u))"
                      "(CONNECT_DATA=(%s=%s))",
                      is_tcps ? "tcps" : "tcp", host->name[0] != '\0' ? host->name : "localhost",
                      host->port, is_sid ? "SID" : "SERVICE_NAME", url->parts.database);
    append_security(to, given[WALLET], given[SERVER_DN]);
    pawl__sql_append(to, ")");
    return code;
}

const pawl__odbc_scheme pawl__odbc_scheme_oracle = {
    .name               = "oracle",
    .dialect            = PAWL__ODBC_ORACLE,
    .driver             = "Oracle",
    .port               = 1521,
    .database_chars_max = 128,
    .database_word      = "service",
    .options            = options,
    .passed             = passed,
    .passed_count       = sizeof passed / sizeof passed[0],
    .append_place       = append_place,
};
