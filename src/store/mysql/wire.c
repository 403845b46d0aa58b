/* wire.c - calls of the client library with deadline and interrupt, and the state of the connection after a failure.
 *
 * At the deadline or an interrupt another connection asks the server to end the statement (KILL). The answer to the
 * statement still decides, since a commit may have succeeded. If none comes even then, the socket is shut down, which
 * ends the library's call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include <errmsg.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* Time to wait for the answer after a kill: the call's own deadline, within these bounds. */
#define PATIENCE_MS_MIN 1000
#define PATIENCE_MS_MAX 5000
#define COLUMNS_MAX 8 /* of a row of pawl__mysql_ask */

/* ---- TLS ---------------------------------------------------------------- */

/* Weak: NULL if the client library uses another TLS library than OpenSSL. */
extern void ERR_clear_error(void) __attribute__((weak));

void pawl__mysql_clear_tls_errors(void)
{
    if (ERR_clear_error != NULL)
        ERR_clear_error();
}

/* ---- Waiting ------------------------------------------------------------ */

static void break_off(pawl__mysql_connection *connection, pawl_code why)
{
    int64_t patience = pawl__mysql_store_of(connection)->remote.sql.base.deadline_ms;
    patience         = patience < PATIENCE_MS_MIN   ? PATIENCE_MS_MIN
                       : patience > PATIENCE_MS_MAX ? PATIENCE_MS_MAX
                                                    : patience;
    bool is_second   = connection->session.why != PAWL_OK;
    if (!is_second)
        connection->session.why = why;
    if (!is_second && pawl__mysql_kill(connection, "query")) {
        connection->until_ms = pawl__clock_ms() + patience;
        return;
    }
    /* Ends the session, too: statements sent ahead that have not run yet would wait, and keep the locks of earlier
     * ones. */
    if (is_second && connection->ahead.from + 1 < connection->ahead.count)
        (void)pawl__mysql_kill(connection, "connection");
    connection->until_ms = 0;
    (void)shutdown((int)mysql_get_socket(connection->mysql), SHUT_RDWR);
}

/* Milliseconds until the deadline or, if earlier, the library's own timeout; -1: none. */
static int rest_of(const pawl__mysql_connection *connection, int64_t library_until)
{
    int64_t until = connection->until_ms;
    if (library_until != 0 && (until == 0 || library_until < until))
        until = library_until;
    if (until == 0)
        return -1;
    int64_t rest = until - pawl__clock_ms();
    return rest > 0 ? (int)rest : 0;
}

static int ready_status(short events)
{
    int status = 0;
    if ((events & (POLLIN | POLLERR | POLLHUP | POLLNVAL)) != 0)
        status |= MYSQL_WAIT_READ;
    if ((events & (POLLOUT | POLLERR)) != 0)
        status |= MYSQL_WAIT_WRITE;
    return status;
}

static int await_socket(pawl__mysql_connection *connection, int status)
{
    const pawl__mysql *store         = pawl__mysql_store_of(connection);
    int64_t            library_until = 0;
    if ((status & MYSQL_WAIT_TIMEOUT) != 0)
        library_until = pawl__clock_ms() + mysql_get_timeout_value_ms(connection->mysql);
    for (;;) {
        bool          may_break = connection->session.why == PAWL_OK;
        struct pollfd items[2]  = {
             {.fd = (int)mysql_get_socket(connection->mysql)},
             {.fd     = may_break ? atomic_load(&store->remote.server.wait.interrupt_fd) : -1,
              .events = POLLIN},
        };
        items[0].events |= (status & MYSQL_WAIT_READ) != 0 ? POLLIN : 0;
        items[0].events |= (status & MYSQL_WAIT_WRITE) != 0 ? POLLOUT : 0;
        (void)poll(items, 2, rest_of(connection, library_until));
        int found = ready_status(items[0].revents) & (status | MYSQL_WAIT_EXCEPT);
        if (found != 0)
            return found;
        if (items[1].revents != 0 && pawl__wait_take(&store->remote.server.wait))
            break_off(connection, PAWL_EINTERRUPTED);
        int64_t now = pawl__clock_ms();
        if (library_until != 0 && now >= library_until)
            return MYSQL_WAIT_TIMEOUT;
        if (connection->until_ms != 0 && now >= connection->until_ms)
            break_off(connection, PAWL_ETIMEOUT);
    }
}

/* The library does the TLS handshake on a blocking socket, whose reads and writes get what is left of the time. */
static void limit_handshake(const pawl__mysql_connection *connection)
{
    int            fd   = (int)mysql_get_socket(connection->mysql);
    int64_t        rest = connection->until_ms - pawl__clock_ms();
    struct timeval time = {.tv_sec = rest / 1000, .tv_usec = rest % 1000 * 1000};
    if (rest <= 0)
        time = (struct timeval){.tv_usec = 1000};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

int pawl__mysql_poll(pawl__mysql_connection *connection, int status)
{
    int ready = await_socket(connection, status);
    if (connection->session.id == 0) /* while connecting; later the socket does not block */
        limit_handshake(connection);
    pawl__mysql_clear_tls_errors(); /* for example of a connection that sent a kill */
    return ready;
}

/* ---- Failures ----------------------------------------------------------- */

pawl_code pawl__mysql_failed(pawl__mysql_connection *connection, unsigned number, const char *text,
                             pawl_error *error)
{
    pawl__sql_left left;
    pawl_code      code = pawl__sql_code_of(&pawl__mysql_failures, number, &left);
    connection->session.is_unsure =
        pawl__sql_commit_code_of(&pawl__mysql_failures, number) == PAWL_EUNKNOWN;
    if (number == 1792 && connection->session.is_callers)
        return pawl__sql_session_read_only(&connection->session, error);
    /* The server has become read-only: a lost connection makes pawl try the other hosts. */
    if (code == PAWL_EUNREACHABLE && !connection->session.is_callers &&
        pawl__mysql_store_of(connection)->url.parts.host_count > 1)
        left = PAWL__SQL_CONNECTION_LOST;
    return pawl__sql_session_failed(&connection->session, code, left, number, text, error);
}

pawl_code pawl__mysql_begin_call(pawl__sql_session *session, pawl_error *error)
{
    const pawl__sql_remote *remote = pawl__sql_remote_at(session);
    pawl_code               code   = pawl__sql_session_check(session, error);
    if (code == PAWL_ELOST)
        return code;
    session->why = PAWL_OK;
    pawl__mysql_connection_of(session)->until_ms =
        remote->server.until_ms != 0 ? remote->server.until_ms
                                     : pawl__clock_ms() + remote->sql.base.deadline_ms;
    return code;
}

/* ---- Ahead -------------------------------------------------------------- */

/* mysql_read_query_result also reads the answer to a prepared statement that returns no rows. */
pawl_code pawl__mysql_read_answer(pawl__sql_session *session, uint64_t *found, pawl_error *error)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    MYSQL                  *mysql      = connection->mysql;
    my_bool                 failed     = 0;
    PAWL__MYSQL_CALL(connection, failed, mysql_read_query_result, mysql, mysql);
    *found = mysql_affected_rows(mysql);
    return failed ? pawl__mysql_failed(connection, mysql_errno(mysql), mysql_error(mysql), error)
                  : PAWL_OK;
}

pawl_code pawl__mysql_may_send(pawl__mysql_connection *connection, pawl_error *error)
{
    pawl__mysql_come_back(connection);
    pawl_code code = pawl__sql_read_answers(&connection->session, error);
    return code == PAWL_OK ? pawl__mysql_begin_call(&connection->session, error) : code;
}

/* If a statement ends its transaction (a deadlock, a commit that a cluster refuses), the server runs the statements
 * sent after it all the same. With autocommit they would be committed; without, they are in a transaction that is
 * rolled back. So nothing is sent ahead before the server has confirmed that autocommit is off. (That statement may
 * itself be the one that fails.) */
pawl_code pawl__mysql_go_ahead(pawl__sql_session *session, pawl_error *error)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    if (connection->is_surely_manual)
        return PAWL_OK;
    connection->is_manual        = true; /* perhaps, if the statement fails */
    pawl_code code               = pawl__mysql_query(connection, "set autocommit = 0", error);
    connection->is_surely_manual = code == PAWL_OK;
    return code;
}

/* Switching autocommit on commits an open transaction, but there is none here. */
void pawl__mysql_come_back(pawl__mysql_connection *connection)
{
    if (!connection->is_manual || connection->session.in_transaction || connection->session.is_lost)
        return;
    connection->is_manual = connection->is_surely_manual = false;
    if (pawl__mysql_query(connection, "set autocommit = 1", NULL) != PAWL_OK)
        connection->session.is_lost = true;
}

/* ---- Texts -------------------------------------------------------------- */

pawl_code pawl__mysql_query(pawl__mysql_connection *connection, const char *sql, pawl_error *error)
{
    MYSQL    *mysql  = connection->mysql;
    int       failed = 0;
    pawl_code code   = pawl__mysql_may_send(connection, error);
    if (code != PAWL_OK)
        return code;
    if (connection->session.is_callers)
        failed = mysql_real_query(mysql, sql, strlen(sql));
    else
        PAWL__MYSQL_CALL(connection, failed, mysql_real_query, mysql, mysql, sql, strlen(sql));
    return failed == 0
               ? PAWL_OK
               : pawl__mysql_failed(connection, mysql_errno(mysql), mysql_error(mysql), error);
}

static void give_row(MYSQL_RES *rows, MYSQL_ROW row, pawl__sql_row_fn *each, void *context)
{
    pawl_text            columns[COLUMNS_MAX];
    const unsigned long *sizes = mysql_fetch_lengths(rows);
    for (unsigned i = 0; i < mysql_num_fields(rows) && i < COLUMNS_MAX; i++)
        columns[i] = (pawl_text){.data = row[i], .size = sizes[i]};
    each(context, columns);
}

pawl_code pawl__mysql_ask(pawl__sql_session *session, const char *text, pawl__sql_row_fn *each,
                          void *context, pawl_error *error)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    MYSQL                  *mysql      = connection->mysql;
    MYSQL_RES              *rows       = NULL;
    MYSQL_ROW               row;
    pawl_code               code = pawl__mysql_query(connection, text, error);
    if (code != PAWL_OK || mysql_field_count(mysql) == 0)
        return code;
    if (session->is_callers)
        rows = mysql_store_result(mysql);
    else
        PAWL__MYSQL_CALL(connection, rows, mysql_store_result, mysql, mysql);
    if (rows == NULL)
        return pawl__mysql_failed(connection, mysql_errno(mysql), mysql_error(mysql), error);
    while (each != NULL && (row = mysql_fetch_row(rows)) != NULL)
        give_row(rows, row, each, context);
    mysql_free_result(rows);
    return PAWL_OK;
}

bool pawl__mysql_has_rows_left(MYSQL *mysql)
{
    return mysql != NULL && (mysql->status != MYSQL_STATUS_READY || mysql_more_results(mysql));
}

/* The library skips rows without a deadline, so the server is asked to stop sending them (KILL QUERY). */
bool pawl__mysql_pass_over(pawl__mysql_connection *connection)
{
    MYSQL *mysql  = connection->mysql;
    int    failed = 0;
    if (!pawl__mysql_has_rows_left(mysql) ||
        pawl__mysql_begin_call(&connection->session, NULL) == PAWL_ELOST)
        return false;
    (void)pawl__mysql_kill(connection, "query");
    while (failed <= 0 && pawl__mysql_has_rows_left(mysql)) {
        if (mysql->status == MYSQL_STATUS_READY) {
            PAWL__MYSQL_CALL(connection, failed, mysql_next_result, mysql, mysql);
        } else {
            mysql->methods->db_skip_result(mysql);
            mysql->status = MYSQL_STATUS_READY;
        }
    }
    return true;
}

void pawl__mysql_disconnect(pawl__sql_session *session)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    pawl__sql_session_closed(session);
    if (connection->mysql != NULL && !session->is_callers)
        mysql_close(connection->mysql);
    pawl_free(connection->set);
    connection->mysql    = NULL;
    connection->set      = NULL;
    connection->set_size = 0;
    session->ahead       = NULL;
}
