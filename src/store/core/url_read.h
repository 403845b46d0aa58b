/* url_read.h - parses the URL of a store with the driver's table of options.
 *
 *     scheme://[user[:password]@][host[:port],...]/database[?option=value&...]
 *
 * The URL of a broker has its virtual host in the place of the database.
 *
 * Each part may be percent-encoded. A driver with another form before the '?' parses that part itself,
 * and the options by pawl__url_options.
 *
 * Threads: plain data. Tests: tests/unit/store/test_store_url_read.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_URL_READ_H
#define PAWL_STORE_CORE_URL_READ_H

#include "pawl/base.h"

/* Is the whole text a valid scheme (without the colon)? False for NULL. */
bool pawl__url_is_scheme(const char *scheme);

#define PAWL__URL_HOSTS_MAX 16
#define PAWL__URL_OPTIONS_MAX 40 /* of a driver */

/* How an option is read, and the member of the driver's settings that it sets. */
typedef enum pawl__url_form {
    PAWL__URL_TEXT,   /* const char *: any text */
    PAWL__URL_FILLED, /* const char *: any text but the empty one */
    PAWL__URL_PATH,   /* const char *: an absolute path */
    PAWL__URL_NUMBER, /* int: from `min` to `max` */
    PAWL__URL_WORD,   /* int: the index in `words` */
} pawl__url_form;

typedef struct pawl__url_option {
    const char        *name; /* '-' stands for '_', too */
    pawl__url_form     form;
    size_t             offset;  /* of the member; unchanged if the option is not given */
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
    const char *database_default;   /* if the URL names none; NULL: it must name one */
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

/* ECONFIG: an option is wrong; EINVAL: anything else. Errors quote no text before the options, since it may be
 * part of a password with an unescaped '/', '?' or '@'. Always call pawl__url_free afterwards. */
pawl_code pawl__url_read(const pawl__url_kind *kind, const char *url, pawl__url *parts,
                         void *settings, pawl_error *error);
void      pawl__url_free(pawl__url *parts);

/* Parses "option=value&option=value" in place; NULL: no options. `given` is NULL if the URL has no
 * password. */
pawl_code pawl__url_options(const pawl__url_kind *kind, const char *given, char *text,
                            void *settings, pawl_error *error);
/* Refuses another part of the URL, for a reason that the driver gives. */
pawl_code pawl__url_refuse(const pawl__url_kind *kind, const pawl__url *parts, const char *why,
                           pawl_error *error);
/* The URL for error texts: without its password, and cut. The caller frees it; NULL: memory. */
char *pawl__url_given(const char *url);
/* How well a connection is protected, according to its settings. */
typedef enum pawl__url_tls {
    PAWL__URL_TLS_NONE,      /* not encrypted */
    PAWL__URL_TLS_ENCRYPTED, /* encrypted; the server's certificate is not checked */
    PAWL__URL_TLS_VERIFIED,  /* encrypted; the server's certificate is checked */
} pawl__url_tls;

/* ECONFIG if the environment variable PAWL_REQUIRE_TLS (yes: encrypted; verify: also verified) asks for more than
 * `promised`. Call it before anything is sent. `remedy`: how to ask for it in the URL. */
pawl_code pawl__url_require_tls(const char *driver, pawl__url_tls promised, const char *remedy,
                                pawl_error *error);
/* The protection that PAWL_REQUIRE_TLS asks for; ECONFIG: invalid value. */
pawl_code pawl__url_required_tls(const char *driver, pawl__url_tls *required, pawl_error *error);
/* Logs a warning, once per process and `given`, if a connection to another machine is not verified because neither URL
 * nor environment said anything. */
void pawl__url_warn_tls(const char *driver, const char *given, const char *host, pawl__url_tls is,
                        const char *remedy);
/* 0 to 15, or -1. */
int pawl__url_hex_digit(char c);

#endif
