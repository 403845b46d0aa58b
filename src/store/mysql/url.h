/* url.h - the URL of a store on MySQL or MariaDB.
 *
 *     mysql://[user[:password]@][host[:port],...]/database[?option=value&...]
 *
 * mariadb:// is the same with the other dialect. Each part may be percent-encoded.
 *
 * Threads: plain data. Tests: tests/contract/test_mysql_url.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_MYSQL_URL_H
#define PAWL_STORE_MYSQL_URL_H

#include "store/core/url_read.h"

#include <mysql.h>

typedef enum pawl__mysql_tls {
    PAWL__MYSQL_TLS_PREFERRED, /* TLS if the server has it */
    PAWL__MYSQL_TLS_DISABLED,
    PAWL__MYSQL_TLS_REQUIRED,
    PAWL__MYSQL_TLS_VERIFY, /* the certificate is for this host, from a known authority */
} pawl__mysql_tls;

/* Options passed to the client library as texts. */
typedef enum pawl__mysql_passed {
    PAWL__MYSQL_DEFAULTS_FILE,
    PAWL__MYSQL_SSL_CA,
    PAWL__MYSQL_SSL_CAPATH,
    PAWL__MYSQL_SSL_CERT,
    PAWL__MYSQL_SSL_CIPHER,
    PAWL__MYSQL_SSL_CRL,
    PAWL__MYSQL_SSL_CRLPATH,
    PAWL__MYSQL_SSL_KEY,
    PAWL__MYSQL_TLS_VERSION,
    pawl__mysql_passed_count
} pawl__mysql_passed;

typedef struct pawl__mysql_url {
    pawl__url   parts;            /* a user or password of NULL: the library's default */
    const char *socket;           /* or NULL */
    const char *application_name; /* or NULL */
    const char *passed[pawl__mysql_passed_count]; /* or NULL */
    int         connect_timeout_s;                /* of one host; 0: the call's deadline alone */
    int         tls;                              /* a pawl__mysql_tls */
    int         tls_is_chosen;                    /* by the URL; else the default */
    int         is_pooled;
    int         creates; /* always 0 */
} pawl__mysql_url;

/* How the URL asks for TLS, for error texts and the log. */
#define PAWL__MYSQL_TLS_REMEDY                                                                \
    "ssl-mode=verify-identity asks for both, beside ssl-ca where the authority is your own, " \
    "ssl-mode=required for encryption alone"

/* PAWL_ECONFIG for an option, PAWL_EINVAL for anything else; the error's text has no password. Free the URL even
 * then. */
/* `library`: mysql_get_client_version(), since some versions do not verify all servers. */
pawl_code pawl__mysql_url_read(pawl__mysql_url *url, const char *text, unsigned long library,
                               pawl_error *error);
void      pawl__mysql_url_free(pawl__mysql_url *url);
/* Sets the library's options of a connection object that is not connected yet. */
void pawl__mysql_url_pass(const pawl__mysql_url *url, MYSQL *mysql);

#endif
