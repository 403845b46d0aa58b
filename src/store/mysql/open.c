/* open.c - connecting, the settings of pawl's sessions, and the handle.
 *
 * The hosts of a URL are tried in their order. Where there are several, one that can only be read is
 * passed over: after a fail-over another one can be written to. Which of the two dialects is spoken
 * is what the server says, not the scheme of the URL: both are used for both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define MYSQL_VERSION_MIN 80001 /* skip locked */
#define MARIADB_VERSION_MIN 100600
#define KILL_S 2        /* for each step of a connection that ends a statement */
#define CLOSE_MS 2000   /* a rollback that takes longer is left to the server */
#define IDLE_S 31536000 /* a sender that rests keeps its session, and with it its worker's lock */
#define IN_HANDLER_S 60 /* a transaction that rests is ended, where the server can do that */
#define KEEPALIVE_S 15
#define USER_TIMEOUT_MS 30000

/* ---- Connecting ---------------------------------------------------------- */

static void init_library(void)
{
    (void)mysql_library_init(0, NULL, NULL);
}

static void set_tls(MYSQL *mysql, int tls)
{
    const my_bool yes = 1;
    if (tls == PAWL__MYSQL_TLS_DISABLED)
        return;
    (void)mysql_ssl_set(mysql, mysql->options.ssl_key, mysql->options.ssl_cert,
                        mysql->options.ssl_ca, mysql->options.ssl_capath,
                        mysql->options.ssl_cipher);
    if (tls != PAWL__MYSQL_TLS_PREFERRED)
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
    if (tls == PAWL__MYSQL_TLS_VERIFY)
        (void)mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
}

/* A connection that was not made yet; NULL: no memory. */
static MYSQL *prepare(const pawl__mysql_url *url)
{
    static pthread_once_t once     = PTHREAD_ONCE_INIT;
    const unsigned        no_files = 0; /* the server may ask for no file of this machine */
    (void)pthread_once(&once, init_library);
    MYSQL *mysql = mysql_init(NULL);
    if (mysql == NULL)
        return NULL;
    (void)mysql_optionsv(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    (void)mysql_optionsv(mysql, MYSQL_OPT_LOCAL_INFILE, &no_files);
    (void)mysql_optionsv(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name",
                         url->application_name != NULL ? url->application_name : "pawl");
    pawl__mysql_url_pass(url, mysql);
    set_tls(mysql, url->tls);
    return mysql;
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* A host that has a port is reached by it, "localhost", too, for which the library takes a socket. */
static void use_protocol(MYSQL *mysql, const pawl__mysql_url *url, const pawl__url_host *host)
{
    const unsigned tcp = MYSQL_PROTOCOL_TCP;
    if (host->name[0] != '\0' && url->socket == NULL)
        (void)mysql_optionsv(mysql, MYSQL_OPT_PROTOCOL, &tcp);
}

static pawl_code refused(const pawl__mysql *store, const pawl__mysql_connection *connection,
                         const pawl__url_host *host, pawl_error *error)
{
    MYSQL    *mysql = connection->mysql;
    pawl_code code  = pawl__mysql_code_of(mysql_errno(mysql), NULL);
    if (connection->why == PAWL_EINTERRUPTED)
        return pawl_error_set(error, connection->why, "%s: %s: connecting was interrupted",
                              store->sql.base.scheme, store->url.parts.given);
    if (connection->why != PAWL_OK || code == PAWL_ELOST || code == PAWL_ETIMEOUT)
        code = PAWL_EUNREACHABLE;
    return pawl_error_set(
        error, code, "%s: %s: no connection to %s:%u: %s (error %u)", store->sql.base.scheme,
        store->url.parts.given, host->name[0] != '\0' ? host->name : "localhost", host->port,
        connection->why != PAWL_OK ? "no answer in time" : mysql_error(mysql), mysql_errno(mysql));
}

/* A network that is gone is noticed, and a server that left. The library makes the socket block for
 * TLS and leaves it so: a read would wait past the deadline of its call, and past an interrupt. */
static void watch_peer(MYSQL *mysql)
{
    int fd = (int)mysql_get_socket(mysql), seconds = KEEPALIVE_S, milliseconds = USER_TIMEOUT_MS;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

static pawl_code dial(pawl__mysql *store, pawl__mysql_connection *connection,
                      const pawl__url_host *host, pawl_error *error)
{
    const pawl__mysql_url *url  = &store->url;
    MYSQL                 *made = NULL;
    int64_t                now  = pawl__sql_clock_ms();
    int64_t                end  = now + (int64_t)url->connect_timeout_s * 1000;
    connection->mysql           = prepare(url);
    if (connection->mysql == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory", store->sql.base.scheme);
    (void)mysql_optionsv(connection->mysql, MYSQL_OPT_NONBLOCK, NULL);
    use_protocol(connection->mysql, url, host);
    connection->id  = 0;
    connection->why = PAWL_OK;
    connection->until_ms =
        store->server.until_ms != 0 ? store->server.until_ms : now + store->sql.base.deadline_ms;
    if (end > now && end < connection->until_ms)
        connection->until_ms = end;
    PAWL__MYSQL_CALL(connection, made, mysql_real_connect, connection->mysql, connection->mysql,
                     or_null(host->name), url->parts.user, url->parts.password, url->parts.database,
                     host->port, url->socket, CLIENT_FOUND_ROWS);
    if (made == NULL)
        return refused(store, connection, host, error);
    connection->id = mysql_thread_id(made);
    watch_peer(made);
    return PAWL_OK;
}

#define SESSION "select @@max_allowed_packet, @@global.read_only or @@innodb_read_only"
/* A server that was built without Galera has no such variable. */
#define WSREP_ON                                                                \
    "select max(global_value = 'ON') from information_schema.system_variables " \
    "where variable_name = 'wsrep_on'"
/* The same on all nodes. */
#define CLUSTER_ID                                                  \
    "(select variable_value from information_schema.global_status " \
    "where variable_name = 'wsrep_cluster_state_uuid')"
#define DATABASE_ID(of) "select left(sha2(concat_ws('/', " of ", database()), 256), 32)"

/* ---- The session --------------------------------------------------------- */

static pawl_code check_version(pawl__mysql *store, MYSQL *mysql, pawl_error *error)
{
    unsigned long version    = mysql_get_server_version(mysql);
    bool          is_mariadb = mariadb_connection(mysql);
    store->dialect           = is_mariadb ? &pawl__mariadb_dialect : &pawl__mysql_dialect;
    if (version >= (is_mariadb ? MARIADB_VERSION_MIN : MYSQL_VERSION_MIN))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "%s: %s: the server is %s %s, at least %s is needed (skip locked)",
                          store->sql.base.scheme, store->url.parts.given,
                          is_mariadb ? "MariaDB" : "MySQL", mysql_get_server_info(mysql),
                          is_mariadb ? "10.6" : "8.0.1");
}

/* Settings of the session, whatever the server's are: with those a select loses rows without a word, `is null` finds the row that was
 * inserted last, a commit begins a transaction or hangs up, or statements are refused. */
#define OURS                                                                           \
    ", session sql_select_limit = 18446744073709551615, session sql_auto_is_null = 0," \
    " session completion_type = 'NO_CHAIN', session sql_safe_updates = 0,"             \
    " session sql_big_selects = 1, session group_concat_max_len = 1048576"

/* Texts compare byte for byte also where no column stands beside them. The deadline of a call
 * decides before a wait for a lock does. */
static pawl_code set_session(pawl__mysql *store, pawl__mysql_connection *connection,
                             pawl_error *error)
{
    char      text[1000];
    bool      is_mariadb = pawl__mysql_is_mariadb(store);
    long long wait       = (long long)((store->sql.base.deadline_ms + 999) / 1000 + 1);
    (void)snprintf(text, sizeof text,
                   "set names utf8mb4 collate %s, session sql_mode = 'TRADITIONAL', "
                   "session time_zone = '+00:00', session autocommit = 1, "
                   "session innodb_lock_wait_timeout = %lld, session lock_wait_timeout = %lld, "
                   "session wait_timeout = %d" OURS "%s",
                   is_mariadb ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin", wait, wait, IDLE_S,
                   is_mariadb ? ", session idle_transaction_timeout = 60" : "");
    pawl_code code = pawl__mysql_query(connection, text, error);
    if (code == PAWL_OK)
        code = pawl__mysql_query(connection,
                                 "set session transaction isolation level read committed", error);
    return code;
}

pawl_code pawl__mysql_database_id(pawl__mysql_connection *connection,
                                  char database_id[PAWL__MYSQL_DATABASE_ID_SIZE], pawl_error *error)
{
    MYSQL_RES  *rows;
    const char *text = connection->store->is_cluster ? DATABASE_ID(CLUSTER_ID)
                                                     : DATABASE_ID("@@hostname, @@port, @@datadir");
    pawl_code   code = pawl__mysql_ask(connection, text, &rows, error);
    MYSQL_ROW   row  = code == PAWL_OK ? mysql_fetch_row(rows) : NULL;
    (void)snprintf(database_id, PAWL__MYSQL_DATABASE_ID_SIZE, "%s",
                   row != NULL && row[0] != NULL ? row[0] : "");
    mysql_free_result(rows);
    return code;
}

static pawl_code ask_session(pawl__mysql_connection *connection, bool *is_read_only,
                             pawl_error *error)
{
    MYSQL_RES   *rows;
    pawl__mysql *store = connection->store;
    const char  *text  = pawl__mysql_is_mariadb(store) ? SESSION ", (" WSREP_ON ")" : SESSION ", 0";
    pawl_code    code  = pawl__mysql_ask(connection, text, &rows, error);
    MYSQL_ROW    row   = code == PAWL_OK ? mysql_fetch_row(rows) : NULL;
    if (row != NULL && row[0] != NULL && row[1] != NULL) {
        connection->packet_max = strtoul(row[0], NULL, 10);
        *is_read_only          = row[1][0] == '1';
        store->is_cluster      = row[2] != NULL && row[2][0] == '1';
    }
    mysql_free_result(rows);
    /* No lock of a session reaches through a pooler, or another node. */
    store->server.beats |= store->url.is_pooled || store->is_cluster;
    store->server.frees_dead = store->claims.are_stamps = store->is_cluster;
    return code;
}

/* Handles on the same data have the same identity, by whatever name they reached the server. */
static pawl_code identify(pawl__mysql *store, pawl_error *error)
{
    pawl_code code = pawl__mysql_database_id(&store->main, store->database_id, error);
    (void)snprintf(store->sql.base.identity, sizeof store->sql.base.identity, "mysql:%s/%s",
                   store->database_id, store->sql.base.system_prefix);
    return code;
}

static pawl_code connect_to(pawl__mysql *store, pawl__mysql_connection *connection,
                            const pawl__url_host *host, pawl_error *error)
{
    bool      is_read_only = false;
    pawl_code code         = dial(store, connection, host, error);
    if (code == PAWL_OK)
        code = check_version(store, connection->mysql, error);
    if (code == PAWL_OK)
        code = set_session(store, connection, error);
    if (code == PAWL_OK)
        code = ask_session(connection, &is_read_only, error);
    if (code == PAWL_OK && is_read_only && store->url.parts.host_count > 1)
        code =
            pawl_error_set(error, PAWL_EUNREACHABLE,
                           "%s: %s: %s:%u can only be read now, and no host before it can be "
                           "written to",
                           store->sql.base.scheme, store->url.parts.given, host->name, host->port);
    if (code == PAWL_OK && connection == &store->main)
        code = identify(store, error);
    return code;
}

pawl_code pawl__mysql_connect(pawl__mysql *store, pawl__mysql_connection *connection,
                              pawl_error *error)
{
    pawl_code code    = PAWL_EUNREACHABLE;
    connection->store = store;
    for (size_t i = 0; code == PAWL_EUNREACHABLE && i < store->url.parts.host_count; i++) {
        pawl__mysql_disconnect(connection);
        code = connect_to(store, connection, &store->url.parts.hosts[i], error);
    }
    if (code == PAWL_OK && store->lock_number != 0)
        code = pawl__mysql_worker_lock(connection, error);
    if (code != PAWL_OK)
        pawl__mysql_disconnect(connection);
    return code;
}

bool pawl__mysql_kill(pawl__mysql_connection *connection, const char *what)
{
    const pawl__mysql_url *url     = &connection->store->url;
    const MYSQL           *of      = connection->mysql;
    const unsigned         seconds = KILL_S;
    MYSQL                 *mysql   = connection->id != 0 ? prepare(url) : NULL;
    char                   text[40];
    bool                   is_done = false;
    if (mysql == NULL)
        return false;
    (void)mysql_optionsv(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    (void)mysql_optionsv(mysql, MYSQL_OPT_READ_TIMEOUT, &seconds);
    (void)mysql_optionsv(mysql, MYSQL_OPT_WRITE_TIMEOUT, &seconds);
    (void)snprintf(text, sizeof text, "kill %s %lu", what, connection->id);
    if (mysql_real_connect(mysql, of->host, url->parts.user, url->parts.password, NULL, of->port,
                           of->unix_socket, 0) != NULL)
        is_done = mysql_query(mysql, text) == 0;
    mysql_close(mysql);
    return is_done;
}

/* ---- The handle ---------------------------------------------------------- */

/* A lost connection took the row locks of the claims and the worker's lock with it. */
static pawl_code connect_again(pawl__mysql *store, pawl_error *error)
{
    pawl__sql_lock_lost(&store->claims);
    store->sql.in_hold  = false;
    pawl_code code      = pawl__mysql_connect(store, &store->main, error);
    store->main.is_lost = code != PAWL_OK; /* the next operation tries again */
    if (code == PAWL_OK)
        pawl_log(PAWL_LOG_INFO, "%s: %s: connected again", store->sql.base.scheme,
                 store->url.parts.given);
    return code;
}

/* The only thing that a session at rest can read is its end. */
static bool has_hung_up(const pawl__mysql_connection *connection)
{
    struct pollfd item = {.fd = (int)mysql_get_socket(connection->mysql), .events = POLLIN};
    return poll(&item, 1, 0) > 0;
}

pawl_code pawl__mysql_ready(pawl_store *base, pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    pawl__sql_server_calm(&store->server);
    if (store->main.mysql != NULL && !store->main.is_lost)
        store->main.is_lost = has_hung_up(&store->main);
    return store->main.is_lost || store->main.mysql == NULL ? connect_again(store, error) : PAWL_OK;
}

pawl_code pawl__mysql_open(pawl_store *base, const char *url, const pawl_store_options *options,
                           pawl_error *error)
{
    pawl__mysql *store    = pawl__mysql_of(base);
    store->sql.ops        = &pawl__mysql_ops;
    store->sql.connection = &store->main;
    store->sql.claims     = &store->claims;
    store->claims.ops     = &pawl__mysql_lock_ops;
    store->main.store     = store;
    store->side.store     = store;
    pawl_code code        = pawl__sql_server_open(base, &store->server, error);
    if (code == PAWL_OK)
        code = pawl__mysql_url_read(&store->url, url, error);
    if (code != PAWL_OK || options->mode == PAWL_OPEN_SCHEMA)
        return code; /* schema() connects when it is called */
    code = pawl__mysql_connect(store, &store->main, error);
    if (code == PAWL_OK)
        code = pawl__mysql_schema_check(store, options, error);
    return code;
}

void pawl__mysql_close(pawl_store *base)
{
    pawl__mysql *store = pawl__mysql_of(base);
    if (pawl__sql_server_is_ours(&store->server)) {
        base->deadline_ms = base->deadline_ms < CLOSE_MS ? base->deadline_ms : CLOSE_MS;
        /* A goodbye frees the locks of the claims now. */
        pawl__mysql_disconnect(&store->side);
        pawl__mysql_disconnect(&store->main);
    } /* else the socket is the parent's: a goodbye on it would end the parent's session */
    pawl__sql_server_close(&store->server);
    pawl__mysql_url_free(&store->url);
    pawl__sql_lock_free(&store->claims);
}
