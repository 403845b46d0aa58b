/* url_read.h - takes the URL of a store apart, by the table of options that its driver has.
 *
 *     scheme://[user[:password]@][host[:port],...]/database[?option=value&...]
 *
 * The URL of a broker has its virtual host in the place of the database.
 *
 * Each part may be percent-encoded. A driver whose URLs have another form in front of the options
 * reads that itself and the options by pawl__url_options.
 *
 * Threads: plain data. Tests: tests/unit/store/test_store_url_read.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_URL_READ_H
#define PAWL_STORE_CORE_URL_READ_H

#include "pawl/base.h"

/* Whether the whole text is one that a URL may begin with, before its colon. NULL is none. */
bool pawl__url_is_scheme(const char *scheme);

#define PAWL__URL_HOSTS_MAX 16
#define PAWL__URL_OPTIONS_MAX 40 /* of a driver */

/* How an option is read, and the member of the driver's settings that it sets. */
typedef enum pawl__url_form {
    PAWL__URL_TEXT,   /* const char *: any text */
    PAWL__URL_FILLED, /* const char *: any but the empty one */
    PAWL__URL_PATH,   /* const char *: from '/' on */
    PAWL__URL_NUMBER, /* int: from `min` to `max` */
    PAWL__URL_WORD,   /* int: the index in `words` */
} pawl__url_form;

typedef struct pawl__url_option {
    const char        *name; /* '-' stands for '_', too */
    pawl__url_form     form;
    size_t             offset;  /* of the member, which stays where the option is not given */
    const char        *allowed; /* "cache_mb is 'x', may be ..." */
    int                min;
    int                max;
    const char *const *words; /* NULL ends them */
} pawl__url_option;

/* The URLs of a driver. */
typedef struct pawl__url_kind {
    const char             *driver; /* as its error texts begin */
    const pawl__url_option *options;
    size_t                  option_count;
    /* Only for pawl__url_read. */
    const char *schemes;            /* "mysql:// or mariadb://" */
    unsigned    port;               /* of a host without one */
    size_t      database_chars_max; /* of the database's name */
    const char *database_word;      /* in error texts; NULL: "database" */
    const char *database_default;   /* where the URL names none or the empty one; NULL: it has to */
} pawl__url_kind;

typedef struct pawl__url_host {
    const char *name; /* "": none is named */
    unsigned    port;
} pawl__url_host;

typedef struct pawl__url {
    char          *text;     /* owned: all parts, and texts of the settings, stand in it */
    char          *given;    /* owned: the URL for people, without its password */
    const char    *user;     /* or NULL */
    const char    *password; /* or NULL */
    const char    *database;
    pawl__url_host hosts[PAWL__URL_HOSTS_MAX];
    size_t         host_count; /* 1 at least */
} pawl__url;

/* ECONFIG for an option, EINVAL for anything else. No piece in front of the options is quoted in an
 * error: it may be a part of a password with an unescaped '/', '?' or '@'. To be freed in any case. */
pawl_code pawl__url_read(const pawl__url_kind *kind, const char *url, pawl__url *parts,
                         void *settings, pawl_error *error);
void      pawl__url_free(pawl__url *parts);

/* Reads "option=value&option=value", which is cut into its pieces; NULL: there are none. Where `given` is NULL
 * the URL has no password. */
pawl_code pawl__url_options(const pawl__url_kind *kind, const char *given, char *text,
                            void *settings, pawl_error *error);
/* The end of another part that the driver found unfit. */
pawl_code pawl__url_refuse(const pawl__url_kind *kind, const pawl__url *parts, const char *why,
                           pawl_error *error);
/* The URL for error texts: without its password, and cut. The caller frees it; NULL: memory. */
char *pawl__url_given(const char *url);
/* A connection, as far as its settings promise. */
typedef enum pawl__url_tls {
    PAWL__URL_TLS_NONE,      /* others may read along */
    PAWL__URL_TLS_ENCRYPTED, /* nobody checks that it leads to the right server */
    PAWL__URL_TLS_VERIFIED,  /* the server's certificate is checked */
} pawl__url_tls;

/* ECONFIG where the environment's PAWL_REQUIRE_TLS (yes: encrypted; verify: and verified) asks for more than
 * `promised`; to be asked before anything is sent. `remedy` is how the URL asks for it. */
pawl_code pawl__url_require_tls(const char *driver, pawl__url_tls promised, const char *remedy,
                                pawl_error *error);
/* What PAWL_REQUIRE_TLS asks for; ECONFIG: another word. */
pawl_code pawl__url_required_tls(const char *driver, pawl__url_tls *required, pawl_error *error);
/* A warning in the log, once in a process for each `given`, where the library chose for a server on another
 * machine what is less than verified. */
void pawl__url_warn_tls(const char *driver, const char *given, const char *host, pawl__url_tls is,
                        const char *remedy);
/* 0 to 15, or -1. */
int pawl__url_hex_digit(char c);

#endif
