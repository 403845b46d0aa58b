/* url.c - the options of a URL, and what depends on several of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/url.h"

#include <string.h>

#define CONNECT_TIMEOUT_S_OF_SEVERAL 10 /* of a host, if the next one can be tried */
#define TLS_NOT_GIVEN (-1)
#define LENIENT_LIBRARY 30400 /* first version with the gaps of check_verified */

static const char *const poolers[]   = {"none", "transaction", NULL};
static const char *const creates[]   = {"no", NULL};
static const char *const tls_modes[] = {"preferred", "disabled", "required", "verify-identity",
                                        NULL};

#define AT(member) offsetof(pawl__mysql_url, member)
#define PASSED(which) \
    PAWL__URL_FILLED, AT(passed[PAWL__MYSQL_##which]), .allowed = "anything but empty"

static const pawl__url_option options[] = {
    {"application_name", PAWL__URL_TEXT, AT(application_name), .allowed = "any text"},
    {"connect_timeout", PAWL__URL_NUMBER, AT(connect_timeout_s), "1 to 3600 seconds", .min = 1,
     .max = 3600},
    {"create", PAWL__URL_WORD, AT(creates), "no: a server's tables are made by 'pawl schema apply'",
     .words = creates},
    {"defaults-file", PASSED(DEFAULTS_FILE)},
    {"pooler", PAWL__URL_WORD, AT(is_pooled), "none or transaction", .words = poolers},
    {"socket", PAWL__URL_PATH, AT(socket), .allowed = "the path of a socket, from '/' on"},
    {"ssl-ca", PASSED(SSL_CA)},
    {"ssl-capath", PASSED(SSL_CAPATH)},
    {"ssl-cert", PASSED(SSL_CERT)},
    {"ssl-cipher", PASSED(SSL_CIPHER)},
    {"ssl-crl", PASSED(SSL_CRL)},
    {"ssl-crlpath", PASSED(SSL_CRLPATH)},
    {"ssl-key", PASSED(SSL_KEY)},
    {"ssl-mode", PAWL__URL_WORD, AT(tls),
     "disabled, preferred, required or verify-identity, which checks the authority and the host's "
     "name",
     .words = tls_modes},
    {"tls-version", PASSED(TLS_VERSION)},
};

static const pawl__url_kind kind = {.driver             = "mysql",
                                    .options            = options,
                                    .option_count       = sizeof options / sizeof options[0],
                                    .schemes            = "mysql:// or mariadb://",
                                    .port               = 3306,
                                    .database_chars_max = 64};

/* Since 3.4 libmariadb accepts any certificate from 127.0.0.1 and ::1. Unless an authority is named, it takes any
 * server that knows the password for verified. */
static pawl_code check_verified(const pawl__mysql_url *url, bool has_own, pawl_error *error)
{
    for (size_t i = 0; i < url->parts.host_count; i++)
        if (strcmp(url->parts.hosts[i].name, "127.0.0.1") == 0 ||
            strcmp(url->parts.hosts[i].name, "::1") == 0)
            return pawl_error_set(
                error, PAWL_ECONFIG,
                "mysql: %s: libmariadb 3.4 does not verify a server by the address %s: name it "
                "'localhost', or set ssl-mode=required",
                url->parts.given, url->parts.hosts[i].name);
    if (has_own)
        return PAWL_OK;
    return pawl_error_set(
        error, PAWL_ECONFIG,
        "mysql: %s: with ssl-mode=verify-identity libmariadb 3.4 verifies the authority only if "
        "ssl-ca or ssl-capath names one (ssl-capath=/etc/ssl/certs: the system's)",
        url->parts.given);
}

/* Refuses options that exclude each other, and sets the defaults that depend on others. */
static pawl_code check(pawl__mysql_url *url, unsigned long library, pawl_error *error)
{
    const char *host    = url->parts.hosts[0].name;
    bool        has_own = url->passed[PAWL__MYSQL_SSL_CA] != NULL ||
                   url->passed[PAWL__MYSQL_SSL_CAPATH] != NULL; /* an authority is named */
    static const pawl__url_tls promised[] = {
        [PAWL__MYSQL_TLS_PREFERRED] = PAWL__URL_TLS_NONE,
        [PAWL__MYSQL_TLS_DISABLED]  = PAWL__URL_TLS_NONE,
        [PAWL__MYSQL_TLS_REQUIRED]  = PAWL__URL_TLS_ENCRYPTED,
        [PAWL__MYSQL_TLS_VERIFY]    = PAWL__URL_TLS_VERIFIED,
    };
    url->tls_is_chosen = url->tls != TLS_NOT_GIVEN || has_own;
    if (url->tls == TLS_NOT_GIVEN)
        url->tls = has_own ? PAWL__MYSQL_TLS_VERIFY : PAWL__MYSQL_TLS_PREFERRED;
    if (url->parts.host_count > 1 && url->connect_timeout_s == 0)
        url->connect_timeout_s = CONNECT_TIMEOUT_S_OF_SEVERAL;
    if (url->socket != NULL &&
        (url->parts.host_count > 1 || (host[0] != '\0' && strcmp(host, "localhost") != 0)))
        return pawl__url_refuse(&kind, &url->parts,
                                "a socket is on this machine: no other host may be named beside it",
                                error);
    if (url->socket != NULL)
        return PAWL_OK;
    pawl_code code =
        pawl__url_require_tls("mysql", promised[url->tls], PAWL__MYSQL_TLS_REMEDY, error);
    return code == PAWL_OK && url->tls == PAWL__MYSQL_TLS_VERIFY && library >= LENIENT_LIBRARY
               ? check_verified(url, has_own, error)
               : code;
}

pawl_code pawl__mysql_url_read(pawl__mysql_url *url, const char *text, unsigned long library,
                               pawl_error *error)
{
    *url           = (pawl__mysql_url){.tls = TLS_NOT_GIVEN};
    pawl_code code = pawl__url_read(&kind, text, &url->parts, url, error);
    return code == PAWL_OK ? check(url, library, error) : code;
}

void pawl__mysql_url_free(pawl__mysql_url *url)
{
    pawl__url_free(&url->parts);
    *url = (pawl__mysql_url){0};
}

void pawl__mysql_url_pass(const pawl__mysql_url *url, MYSQL *mysql)
{
    static const enum mysql_option names[pawl__mysql_passed_count] = {
        [PAWL__MYSQL_DEFAULTS_FILE] = MYSQL_READ_DEFAULT_FILE,
        [PAWL__MYSQL_SSL_CA]        = MYSQL_OPT_SSL_CA,
        [PAWL__MYSQL_SSL_CAPATH]    = MYSQL_OPT_SSL_CAPATH,
        [PAWL__MYSQL_SSL_CERT]      = MYSQL_OPT_SSL_CERT,
        [PAWL__MYSQL_SSL_CIPHER]    = MYSQL_OPT_SSL_CIPHER,
        [PAWL__MYSQL_SSL_CRL]       = MYSQL_OPT_SSL_CRL,
        [PAWL__MYSQL_SSL_CRLPATH]   = MYSQL_OPT_SSL_CRLPATH,
        [PAWL__MYSQL_SSL_KEY]       = MYSQL_OPT_SSL_KEY,
        [PAWL__MYSQL_TLS_VERSION]   = MARIADB_OPT_TLS_VERSION,
    };
    for (size_t i = 0; i < pawl__mysql_passed_count; i++)
        if (url->passed[i] != NULL)
            (void)mysql_optionsv(mysql, names[i], url->passed[i]);
    if (url->passed[PAWL__MYSQL_DEFAULTS_FILE] != NULL)
        (void)mysql_optionsv(mysql, MYSQL_READ_DEFAULT_GROUP, "pawl");
}
