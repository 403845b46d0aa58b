/* open.c - connecting, the settings of pawl's sessions, and the handle.
 *
 * The hosts of a URL are tried in order. If there are several, read-only ones are skipped, since after a fail-over
 * another one is writable. The server decides between the two dialects, not the scheme of the URL: either scheme is
 * used for both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include "store/sql/operations.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define KILL_S 2  /* timeout of each step of a kill */
#define REST_S 60 /* handler_time_max of a handle without handlers */
#define KEEPALIVE_S 15
#define USER_TIMEOUT_MS 30000

/* ---- Connecting ---------------------------------------------------------- */

static void on_pipe(int number)
{
    (void)number;
}

/* mysql_library_init() ignores SIGPIPE in the whole program; this restores the program's own handler. The default
 * action becomes an empty handler, since with TLS the library's writes to a closed connection raise the signal. After
 * exec() a handler is the default again, while an ignored signal would stay ignored. */
static void init_library(void)
{
    struct sigaction given;
    (void)sigaction(SIGPIPE, NULL, &given);
    (void)mysql_library_init(0, NULL, NULL);
    if (given.sa_handler == SIG_DFL)
        given = (struct sigaction){.sa_handler = on_pipe, .sa_flags = SA_RESTART};
    (void)sigaction(SIGPIPE, &given, NULL);
}

/* Called before the options of the URL are set, since mysql_ssl_set() clears keys and certificates. */
static void set_tls(MYSQL *mysql, int tls)
{
    const my_bool yes = 1;
    if (tls == PAWL__MYSQL_TLS_DISABLED)
        return;
    (void)mysql_ssl_set(mysql, NULL, NULL, NULL, NULL, NULL);
    if (tls == PAWL__MYSQL_TLS_VERIFY)
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
}

/* With a server without TLS the library goes on in plain text, even with MYSQL_OPT_SSL_ENFORCE, unless it verifies the
 * server. */
static bool lacks_tls(const pawl__mysql_url *url, MYSQL *mysql)
{
    return url->tls == PAWL__MYSQL_TLS_REQUIRED && mysql_get_ssl_cipher(mysql) == NULL;
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* Uses TCP for a host that is named, even for "localhost", for which the library would use a socket. */
static void use_protocol(MYSQL *mysql, const pawl__mysql_url *url, const pawl__url_host *host)
{
    const unsigned tcp = MYSQL_PROTOCOL_TCP;
    if (host->name[0] != '\0' && url->socket == NULL)
        (void)mysql_optionsv(mysql, MYSQL_OPT_PROTOCOL, &tcp);
}

/* A connection object, not connected yet, with all options that decide which server it reaches and how. A kill must
 * reach the server that runs the statement, so it uses them, too. NULL: out of memory. */
static MYSQL *prepare(const pawl__mysql_url *url, const pawl__url_host *host)
{
    static pthread_once_t once     = PTHREAD_ONCE_INIT;
    const unsigned        no_files = 0; /* the server may not ask for local files */
    (void)pthread_once(&once, init_library);
    MYSQL *mysql = mysql_init(NULL);
    if (mysql == NULL)
        return NULL;
    (void)mysql_optionsv(mysql, MYSQL_SET_CHARSET_NAME, PAWL__MYSQL_CHARSET);
    (void)mysql_optionsv(mysql, MYSQL_OPT_LOCAL_INFILE, &no_files);
    (void)mysql_optionsv(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name",
                         url->application_name != NULL ? url->application_name : "pawl");
    set_tls(mysql, url->tls);
    pawl__mysql_url_pass(url, mysql);
    use_protocol(mysql, url, host);
    return mysql;
}

/* The arguments of the library's call that name the server, the user and the database. */
#define PLACE(url, host)                                                                    \
    or_null((host)->name), (url)->parts.user, (url)->parts.password, (url)->parts.database, \
        (host)->port, (url)->socket

static pawl_code refused(const pawl__mysql *store, const pawl__mysql_connection *connection,
                         const pawl__url_host *host, pawl_error *error)
{
    MYSQL    *mysql = connection->mysql;
    pawl_code code  = pawl__sql_code_of(&pawl__mysql_failures, mysql_errno(mysql), NULL);
    if (connection->session.why == PAWL_EINTERRUPTED)
        return pawl_error_set(error, connection->session.why, "%s: %s: connecting was interrupted",
                              store->remote.sql.base.scheme, store->url.parts.given);
    const char *why = mysql_error(mysql);
    if (connection->session.why != PAWL_OK || code == PAWL_ELOST || code == PAWL_ETIMEOUT)
        code = PAWL_EUNREACHABLE;
    if (connection->session.why != PAWL_OK ||
        (code == PAWL_EUNREACHABLE && pawl__clock_ms() >= connection->until_ms))
        why = "no answer in time";
    else if (store->url.tls != PAWL__MYSQL_TLS_VERIFY && strstr(why, "self-signed") != NULL)
        why = "cut off during the TLS handshake"; /* the library's word; nothing is verified */
    return pawl_error_set(error, code, "%s: %s: no connection to %s:%u: %s (error %u)",
                          store->remote.sql.base.scheme, store->url.parts.given,
                          host->name[0] != '\0' ? host->name : "localhost", host->port, why,
                          mysql_errno(mysql));
}

/* Keepalive and the user timeout detect a network or a server that is gone. With TLS the library leaves the socket
 * blocking, and a read would wait past its call's deadline, and past an interrupt: so O_NONBLOCK is set again. */
static void watch_peer(MYSQL *mysql)
{
    int fd = (int)mysql_get_socket(mysql), seconds = KEEPALIVE_S, milliseconds = USER_TIMEOUT_MS;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

/* Without a limit in seconds the library waits for the rest of a TLS handshake for ever, after a read that reached the
 * socket's limit (wire.c). Rounded up, so that elsewhere the limit in milliseconds comes first. */
static void limit_connect(MYSQL *mysql, int64_t milliseconds)
{
    const unsigned seconds = milliseconds > 0 ? (unsigned)((milliseconds + 999) / 1000) : 1;
    (void)mysql_optionsv(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
}

static pawl_code dial(pawl__mysql *store, pawl__mysql_connection *connection,
                      const pawl__url_host *host, pawl_error *error)
{
    const pawl__mysql_url *url  = &store->url;
    MYSQL                 *made = NULL;
    int64_t                now  = pawl__clock_ms();
    int64_t                end  = now + (int64_t)url->connect_timeout_s * 1000;
    connection->host            = host;
    connection->mysql           = prepare(url, host);
    if (connection->mysql == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory",
                              store->remote.sql.base.scheme);
    (void)mysql_optionsv(connection->mysql, MYSQL_OPT_NONBLOCK, NULL);
    connection->session.id = connection->session.server = 0;
    connection->session.why                             = PAWL_OK;
    connection->until_ms                                = store->remote.server.until_ms != 0
                                                              ? store->remote.server.until_ms
                                                              : now + store->remote.sql.base.deadline_ms;
    if (end > now && end < connection->until_ms)
        connection->until_ms = end;
    limit_connect(connection->mysql, connection->until_ms - now);
    PAWL__MYSQL_CALL(connection, made, mysql_real_connect, connection->mysql, connection->mysql,
                     PLACE(url, host), CLIENT_FOUND_ROWS);
    if (made == NULL)
        return refused(store, connection, host, error);
    if (lacks_tls(url, made))
        return pawl_error_set(error, PAWL_EUNREACHABLE,
                              "%s: %s: %s:%u has no TLS, and ssl-mode=required",
                              store->remote.sql.base.scheme, url->parts.given,
                              host->name[0] != '\0' ? host->name : "localhost", host->port);
    connection->session.id      = (int64_t)mysql_thread_id(made);
    connection->session.is_made = true;
    connection->is_manual = connection->is_surely_manual = false;
    connection->ahead         = (pawl__sql_ahead){.go         = pawl__mysql_go_ahead,
                                                  .begin_call = pawl__mysql_begin_call,
                                                  .read       = pawl__mysql_read_answer};
    connection->session.ahead = &connection->ahead;
    watch_peer(made);
    return PAWL_OK;
}

/* Warns that by default the library uses TLS only if the server has it, and does not verify the server. */
static void warn_of_tls(const pawl__mysql *store, const pawl__mysql_connection *connection)
{
    if (!store->url.tls_is_chosen && store->url.socket == NULL)
        pawl__url_warn_tls(store->remote.sql.base.scheme, store->url.parts.given,
                           connection->host->name,
                           mysql_get_ssl_cipher(connection->mysql) != NULL ? PAWL__URL_TLS_ENCRYPTED
                                                                           : PAWL__URL_TLS_NONE,
                           PAWL__MYSQL_TLS_REMEDY);
}

static pawl_code connect_to(pawl__mysql *store, pawl__mysql_connection *connection,
                            const pawl__url_host *host, pawl_error *error)
{
    pawl__sql_server *server = &store->remote.server;
    pawl_code         code   = dial(store, connection, host, error);
    if (code == PAWL_OK)
        warn_of_tls(store, connection);
    if (code == PAWL_OK)
        code = store->remote.sql.family->begin(&connection->session, error);
    /* A session's lock does not hold through a pooler, and other nodes do not see it. */
    server->beats |= store->url.is_pooled || store->remote.is_cluster;
    server->frees_dead = store->remote.claims.are_stamps = store->remote.is_cluster;
    if (code == PAWL_OK && store->remote.is_read_only && store->url.parts.host_count > 1)
        code = pawl_error_set(error, PAWL_EUNREACHABLE,
                              "%s: %s: %s:%u can only be read now, and no earlier host is writable",
                              store->remote.sql.base.scheme, store->url.parts.given, host->name,
                              host->port);
    return code;
}

pawl_code pawl__mysql_connect(pawl__sql_session *session, pawl_error *error)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    pawl__mysql            *store      = pawl__mysql_store_of(connection);
    pawl_code               code       = PAWL_EUNREACHABLE;
    for (size_t i = 0; code == PAWL_EUNREACHABLE && i < store->url.parts.host_count; i++) {
        pawl__mysql_disconnect(session);
        code = connect_to(store, connection, &store->url.parts.hosts[i], error);
    }
    return code;
}

/* A host name may lead to several servers: on another server this number is another session, which must not be ended.
 * A pooler ends its own session, by the number alone. */
static bool say_kill(const pawl__mysql_connection *connection, MYSQL *mysql, const char *what,
                     bool is_pooled)
{
    long long server = connection->session.server, id = connection->session.id;
    char      text[200];
    if (is_pooled)
        (void)snprintf(text, sizeof text, "kill %s %lld", what, id);
    else
        (void)snprintf(text, sizeof text, "kill %s if(" PAWL__MYSQL_SERVER " = %lld, %lld, 0)",
                       what, server, id);
    return mysql_query(mysql, text) == 0;
}

bool pawl__mysql_kill(pawl__mysql_connection *connection, const char *what)
{
    const pawl__mysql_url *url     = &pawl__mysql_store_of(connection)->url;
    const pawl__url_host  *host    = connection->host;
    const unsigned         seconds = KILL_S;
    MYSQL                 *mysql   = connection->session.id != 0 ? prepare(url, host) : NULL;
    bool                   is_done = false;
    if (mysql == NULL)
        return false;
    (void)mysql_optionsv(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    (void)mysql_optionsv(mysql, MYSQL_OPT_READ_TIMEOUT, &seconds);
    (void)mysql_optionsv(mysql, MYSQL_OPT_WRITE_TIMEOUT, &seconds);
    if (mysql_real_connect(mysql, PLACE(url, host), 0) != NULL)
        is_done = say_kill(connection, mysql, what, url->is_pooled);
    mysql_close(mysql);
    return is_done;
}

/* ---- The handle ---------------------------------------------------------- */

/* The socket of an idle session is readable only if the session has ended, or has rows that a handler did not read. */
static bool has_hung_up(const pawl__mysql_connection *connection)
{
    struct pollfd item = {.fd = (int)mysql_get_socket(connection->mysql), .events = POLLIN};
    return !pawl__mysql_has_rows_left(connection->mysql) && poll(&item, 1, 0) > 0;
}

pawl_code pawl__mysql_ready(pawl_store *base, pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    (void)pawl__wait_take(&store->remote.server.wait);
    if (store->main.mysql != NULL && !store->main.session.is_lost)
        store->main.session.is_lost = has_hung_up(&store->main);
    return pawl__sql_remote_ready(base, error);
}

/* After a switch-over the old primary keeps its sessions and answers reads. So an idle worker asks if it is
 * read-only. */
pawl_code pawl__mysql_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error)
{
    pawl__mysql *store        = pawl__mysql_of(base);
    int64_t      is_read_only = 0;
    pawl_code    code         = PAWL_OK;
    if (store->url.parts.host_count > 1)
        code = pawl__sql_ask_number(&store->main.session, "select " PAWL__MYSQL_READ_ONLY,
                                    &is_read_only, error);
    if (code == PAWL_OK && is_read_only == 0)
        return pawl__sql_wait(base, microseconds, wake_fd, error);
    store->main.session.is_lost |= is_read_only != 0;
    return code != PAWL_OK
               ? code
               : pawl_error_set(error, PAWL_ELOST,
                                "%s: %s: the server can only be read now: another host is tried",
                                base->scheme, store->url.parts.given);
}

pawl_code pawl__mysql_open(pawl_store *base, const char *url, const pawl_store_options *options,
                           pawl_error *error)
{
    pawl__mysql *store       = pawl__mysql_of(base);
    store->remote.sql.family = &pawl__mysql_family;
    store->remote.rest_s     = REST_S;
    pawl_code code           = pawl__sql_remote_open(base, &pawl__mysql_ops, &store->main.session,
                                                     &store->side.session, error);
    if (code == PAWL_OK)
        code = pawl__mysql_url_read(&store->url, url, mysql_get_client_version(), error);
    store->remote.given = store->url.parts.given;
    return code == PAWL_OK ? pawl__sql_family_open(&store->remote, options, error) : code;
}

void pawl__mysql_close(pawl_store *base)
{
    pawl__sql_remote_close(base);
    pawl__mysql_url_free(&pawl__mysql_of(base)->url);
}
