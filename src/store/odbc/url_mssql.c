/* url_mssql.c - mssql://, in the words of FreeTDS and of Microsoft's driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/url_server.h"

#include <stdio.h>

#define TDS "tds" /* "FreeTDS", "libtdsodbc.so" */

static const char *const options[] = {"application_name",         "encrypt",
                                      "hostname_in_certificate",  "server_certificate",
                                      "trust_server_certificate", NULL};

/* FreeTDS takes the authority and the host's name from freetds.conf. */
static const pawl__odbc_passed passed[] = {
    {"application_name", NULL, "APP"},
    {"encrypt", TDS, "Encryption"},
    {"encrypt", NULL, "Encrypt"},
    {"hostname_in_certificate", TDS, NULL},
    {"hostname_in_certificate", NULL, "HostNameInCertificate"},
    {"server_certificate", TDS, NULL},
    {"server_certificate", NULL, "ServerCertificate"},
    {"trust_server_certificate", TDS, NULL},
    {"trust_server_certificate", NULL, "TrustServerCertificate"},
};

static pawl_code append_place(pawl__sql_text *to, const char *driver, pawl__odbc_url *url,
                              const char *const *given, pawl_error *error)
{
    const pawl__url_host *host = &url->parts.hosts[0];
    const char           *name = host->name[0] != '\0' ? host->name : "localhost";
    char                  text[300];
    if (pawl__odbc_is_driver(driver, TDS)) {
        pawl__odbc_append_pair(to, "Server", name);
        (void)snprintf(text, sizeof text, "%u", host->port);
        pawl__odbc_append_pair(to, "Port", text);
    } else {
        (void)snprintf(text, sizeof text, "tcp:%.255s,%u", name, host->port);
        pawl__sql_appendf(to, ";Server=%s", text); /* its comma needs no braces */
    }
    (void)given;
    (void)error;
    pawl__odbc_append_pair(to, "Database", url->parts.database);
    return PAWL_OK;
}

const pawl__odbc_scheme pawl__odbc_scheme_mssql = {
    .name               = "mssql",
    .dialect            = PAWL__ODBC_MSSQL,
    .driver             = "FreeTDS",
    .port               = 1433,
    .database_chars_max = 128,
    .options            = options,
    .passed             = passed,
    .passed_count       = sizeof passed / sizeof passed[0],
    .append_place       = append_place,
};
