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

#include "pawl/base.h"

#include <mysql.h>

#define PAWL__MYSQL_HOSTS_MAX 16
#define PAWL__MYSQL_PASSED_MAX 9

typedef enum pawl__mysql_tls {
    PAWL__MYSQL_TLS_PREFERRED, /* where the server has it */
    PAWL__MYSQL_TLS_DISABLED,
    PAWL__MYSQL_TLS_REQUIRED,
    PAWL__MYSQL_TLS_VERIFY, /* its certificate is of a known authority and for this host */
} pawl__mysql_tls;

typedef struct pawl__mysql_host {
    const char *name; /* "": the library's default, a socket */
    unsigned    port;
} pawl__mysql_host;

/* An option of the client library that is a text. */
typedef struct pawl__mysql_passed {
    enum mysql_option option;
    const char       *value;
} pawl__mysql_passed;

typedef struct pawl__mysql_url {
    char              *text;     /* owned: all parts stand in it */
    char              *given;    /* owned: the URL for people, without its password */
    const char        *user;     /* NULL: the library's default, as of the password */
    const char        *password; /* NULL: MYSQL_PWD or the file of options */
    const char        *database;
    const char        *socket;           /* or NULL */
    const char        *application_name; /* or NULL */
    pawl__mysql_host   hosts[PAWL__MYSQL_HOSTS_MAX];
    size_t             host_count; /* 1 at least */
    pawl__mysql_passed passed[PAWL__MYSQL_PASSED_MAX];
    size_t             passed_count;
    unsigned           connect_timeout_s; /* of one host; 0: the call's deadline alone */
    pawl__mysql_tls    tls;
    bool               has_tls; /* ssl-mode was given */
    bool               is_pooled;
} pawl__mysql_url;

/* ECONFIG for an option, EINVAL for anything else, with a text that holds no password. To be
 * freed in any case. */
pawl_code pawl__mysql_url_read(pawl__mysql_url *parts, const char *url, pawl_error *error);
void      pawl__mysql_url_free(pawl__mysql_url *parts);

#endif
