/* odbc.h - the handle of the store driver that uses an ODBC driver, and the functions that its files share. Servers are
 * MySQL, MariaDB, PostgreSQL, SQL Server and Oracle.
 *
 *     odbc.c         the table of operations
 *     url.c          connection strings
 *     driver.c       drivers by name, servers by dialect, failures
 *     watch.c        deadlines and interrupts of calls that block
 *     call.c         calls, failures, texts
 *     request.c      prepared statements and their parameters
 *     row.c          rows, and what a request of the generic store reads of them
 *     set.c          items of a write that go together
 *     round.c        the writes of a round as one block
 *     open.c         connecting, settings
 *
 * The rest is in the generic store (store/sql/session.h), or shared by all drivers for a server (store/sql/dialects).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_ODBC_H
#define PAWL_STORE_ODBC_ODBC_H

#include "store/odbc/request.h"
#include "store/odbc/url.h"
#include "store/odbc/wide.h"

#include <pthread.h>

/* The call in progress, and the thread that watches its deadline. */
typedef struct pawl__odbc_watch {
    pthread_mutex_t mutex;
    pthread_t       thread;
    bool            is_started;
    bool            is_ending;
    int             wake_fd;  /* an eventfd; -1: none */
    int64_t         wakes_ms; /* monotonic: the time at which the thread wakes up by itself */
    pawl__odbc_connection *connection; /* connection of the call; NULL: no call */
    int64_t                until_ms;   /* monotonic: its deadline */
    int64_t                ended_ms;   /* monotonic: end of the last call */
    bool                   is_broken;  /* the server was asked to end the call */
} pawl__odbc_watch;

/* Properties of the servers of one family and their drivers. */
typedef struct pawl__odbc_kind {
    const pawl__sql_family *family;
    /* Appended to every connection string; drivers ignore attributes that they do not know. %lld are seconds: the first
     * two are longer than any call may take, the third limits connecting. */
    const char *attributes;
    bool        has_casts; /* the statement's text states the types of parameters */
    /* Queries are prepared: MariaDB's driver 3.1 crashes if the connection is lost during the answer to an unprepared
     * one. */
    bool asks_prepared;
    /* Times are sent as texts: FreeTDS miscounts the days before March 1600, and 1 January 1 becomes -1. PostgreSQL
     * reads a time without a zone in the session's zone, which a caller may have set. */
    bool times_as_texts;
    bool has_zones; /* times as texts include the zone */
    /* Columns are read as texts without asking for their types, bytes as two hex digits each: psqlODBC asks the server
     * for all columns of a table before it describes one, and frees that memory only with the connection. */
    bool as_digits;
    SQLSMALLINT
    text_type; /* C type for reading texts; SQL_C_WCHAR: texts are transferred as UTF-16 */
    pawl__odbc_mark mark; /* how texts are marked, see wide.h */
    /* Numbers are sent as texts, the driver commits by itself unless told otherwise, and a round is sent as one
     * block. */
    bool        is_sent_as_block;
    size_t      text_max;  /* longer texts are long values; 0: all texts are */
    size_t      bytes_max; /* the same for bytes */
    const char *kill;      /* ends the statement of session %lld; NULL: SQLCancel does */
    /* A commit that was ended while it waited for a standby is durable, and returns a warning. */
    bool        warns_of_standby;
    const char *session_check; /* a cheap statement that checks whether the session still exists */
    const char *encrypted;     /* asks for encryption: the second column is empty without it */
    /* Joins several executions of a write into one text, which returns one row with a letter of PAWL__ODBC_RESULTS for
     * each item. NULL: only inserts are joined, as rows (set.c). */
    void (*append_set)(pawl__sql_text *to, const char *one, int count);
} pawl__odbc_kind;

/* Indexed by pawl__odbc_dialect. */
extern const pawl__odbc_kind pawl__odbc_kinds[];

typedef struct pawl__odbc {
    pawl__sql_remote       remote; /* first */
    pawl__odbc_connection  main;
    pawl__odbc_connection  side;
    pawl__odbc_url         url;
    pawl__odbc_watch       watch;
    const pawl__odbc_kind *kind;
} pawl__odbc;

static inline pawl__odbc *pawl__odbc_store_of(const pawl__odbc_connection *connection)
{
    return (pawl__odbc *)connection->session.store;
}
static inline pawl__odbc *pawl__odbc_of(pawl_store *store)
{
    return (pawl__odbc *)store;
}

static inline const pawl__odbc_kind *pawl__odbc_kind_of(const pawl__sql_session *session)
{
    return ((const pawl__odbc *)session->store)->kind;
}

/* How texts of the form are marked. Correlation values need no mark, as another column has their exact size, nor do
 * documents, which end with a brace. */
static inline pawl__odbc_mark pawl__odbc_mark_of(const pawl__odbc_kind *kind, int wire)
{
    bool is_exact =
        wire == PAWL__WIRE_VALUE || wire == PAWL__WIRE_JSON || wire == PAWL__WIRE_JSON_TEXT;
    return wire == PAWL__WIRE_BYTES || (is_exact && kind->mark == PAWL__ODBC_MARK_BEHIND)
               ? PAWL__ODBC_NO_MARK
               : kind->mark;
}

/* watch.c */
pawl_code pawl__odbc_watch_start(pawl__odbc *store, pawl_error *error);
void      pawl__odbc_watch_stop(pawl__odbc *store);
void      pawl__odbc_interrupt(pawl_store *base);

/* open.c */
pawl_code pawl__odbc_open(pawl_store *base, const char *url, const pawl_store_options *options,
                          pawl_error *error);
void      pawl__odbc_close(pawl_store *base);
/* Of pawl__sql_ops. */
pawl_code pawl__odbc_connect(pawl__sql_session *session, pawl_error *error);
void      pawl__odbc_disconnect(pawl__sql_session *session);
/* Called at the beginning of each operation: reconnects a lost connection, and clears earlier interrupts. */
pawl_code pawl__odbc_ready(pawl_store *base, pawl_error *error);
/* Ends the session's statement, over another connection; any thread. False: the server could not be reached. */
bool pawl__odbc_kill_query(const pawl__odbc *store, int64_t session);

/* odbc.c */
const pawl__sql_ops *pawl__odbc_ops_of(const pawl__odbc_kind *kind);

#endif
