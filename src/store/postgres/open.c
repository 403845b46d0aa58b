/* open.c - connecting, and the settings of pawl's sessions.
 *
 * Plans: pawl's statements find rows by index, one by one or in an index's order. A plan made
 * while a table was nearly empty would be a sequential scan, and stay in use after the table has
 * grown. So the session allows index scans only, and plans are made once. Sorts are off, too: to
 * sort, a claim would read everything that is due. A handler's own SQL runs without these
 * settings (handler_transaction_begin).
 *
 * Behind a pooler a session is shared: no settings, no named statements, no session locks, no
 * LISTEN. Every statement is planned for its parameters there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/wait.h"
#include "store/postgres/share.h"

#include "store/postgres/hosts.h"
#include "store/postgres/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_MIN 140000 /* can read a range of ctids alone, as the sweep of the inbox does */
#define PARAMETERS_MAX 80
#define OPTIONS_SIZE 1300
#define NUMBER_SIZE ((size_t)10)    /* of IDLE_MS_MAX */
#define CLOSE_MS 1000               /* for the rollback at the end */
#define IDLE_MS 60000               /* if no handlers run on the handle */
#define IDLE_MS_MAX (INT32_MAX / 2) /* a handler transaction has twice as much */

/* idle_in_transaction_session_timeout ends a session whose handler ran too long, or whose process stands still;
 * keepalives and tcp_user_timeout notice within half a minute that a client is gone, also while an
 * answer is still on its way to it. Statements outside of a transaction have the default isolation.
 * quote_all_identifiers is off because names from the catalog are compared without quotes. */
static const char session_options[] =
    "-c jit=off -c enable_seqscan=off -c enable_bitmapscan=off -c enable_hashjoin=off "
    "-c enable_mergejoin=off -c enable_sort=off -c enable_incremental_sort=off -c plan_cache_mode=force_generic_plan "
    "-c client_min_messages=warning -c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 "
    "-c tcp_user_timeout=30000 -c idle_session_timeout=0 -c statement_timeout=0 -c lock_timeout=0 "
    "-c default_transaction_isolation=read\\ committed -c quote_all_identifiers=off "
    "-c idle_in_transaction_session_timeout=";

/* ---- Connecting --------------------------------------------------------- */

typedef struct settings {
    const char *names[PARAMETERS_MAX];
    const char *values[PARAMETERS_MAX];
    size_t      count;
    char        options[OPTIONS_SIZE];
} settings;

static void set(settings *s, const char *name, const char *value)
{
    if (s->count < PARAMETERS_MAX - 1) {
        s->names[s->count]    = name;
        s->values[s->count++] = value;
    }
}

/* Parameters of the URL override pawl's; `options` has pawl's settings first and the user's behind
 * them, since the last one counts. */
static pawl_code fill_settings(const pawl__pg *store, const PQconninfoOption *list,
                               const pawl__pg_hosts *hosts, settings *s, pawl_error *error)
{
    const char *options = "";
    memset(s, 0, sizeof *s);
    set(s, "fallback_application_name", "pawl");
    set(s, "client_encoding", "UTF8");
    set(s, "keepalives_idle", "15");
    set(s, "keepalives_interval", "5");
    set(s, "keepalives_count", "3");
    set(s, "tcp_user_timeout", "30000");
    for (; list->keyword != NULL; list++) {
        const char *value = pawl__pg_hosts_value(hosts, list);
        if (value == NULL || strcmp(list->keyword, "client_encoding") == 0 ||
            strcmp(list->keyword, "fallback_application_name") == 0)
            continue;
        if (strcmp(list->keyword, "options") == 0)
            options = value;
        else
            set(s, list->keyword, value);
    }
    int size = store->is_pooled
                   ? snprintf(s->options, sizeof s->options, "%s", options)
                   : snprintf(s->options, sizeof s->options, "%s%lld%s%s", session_options,
                              (long long)store->idle_ms, options[0] == '\0' ? "" : " ", options);
    if (size >= OPTIONS_SIZE)
        return pawl_error_set(error, PAWL_ECONFIG, "postgres: %s: options has %zu bytes, limit %zu",
                              store->given, strlen(options),
                              OPTIONS_SIZE - sizeof session_options - NUMBER_SIZE);
    if (size > 0)
        set(s, "options", s->options);
    return PAWL_OK;
}

#define STATE_SIZE 6 /* of an SQLSTATE */

/* SQLSTATE of a refused connection: libpq has it in its verbose text only, "...: FATAL:  28P01:
 * password ...". */
static void find_state(const char *text, char state[STATE_SIZE])
{
    state[0] = '\0';
    for (const char *at = strstr(text, ":  "); at != NULL; at = strstr(at + 3, ":  "))
        if (strspn(at + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 && at[8] == ':') {
            memcpy(state, at + 3, 5);
            state[5] = '\0';
        }
}

static pawl_code refused(const pawl__pg *store, const PGconn *pg, pawl_error *error)
{
    const char *text = PQerrorMessage(pg);
    pawl_code   code = PAWL_EUNREACHABLE;
    char        state[STATE_SIZE];
    find_state(text, state);
    if (state[0] != '\0')
        code = pawl__pg_code_of(state);
    if (PQconnectionNeedsPassword(pg))
        code = PAWL_EDENIED;
    if (code == PAWL_ELOST || code == PAWL_EPERSIST)
        code = PAWL_EUNREACHABLE;
    const char *end  = strstr(text, "\nLOCATION:");
    int         size = end != NULL ? (int)(end - text) : (int)strlen(text);
    while (size > 0 && text[size - 1] == '\n')
        size--;
    return pawl_error_set(error, code, "postgres: %s: %.*s", store->given, size, text);
}

/* Polls until the connection is established, or interrupted. `*is_late`: the time of the current host is over,
 * other hosts may be left. */
static pawl_code wait_for_connection(const pawl__pg *store, PGconn *pg, pawl__pg_hosts *hosts,
                                     int64_t deadline, bool *is_late, pawl_error *error)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK) {
        int64_t now = pawl__clock_ms();
        pawl__pg_hosts_note(hosts, pg, now);
        int64_t       host_rest = pawl__pg_hosts_rest(hosts, now);
        int64_t       rest      = deadline - now < host_rest ? deadline - now : host_rest;
        struct pollfd list[2]   = {
              {.fd = PQsocket(pg), .events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT},
              {.fd = atomic_load(&store->wait.interrupt_fd), .events = POLLIN},
        };
        if (status == PGRES_POLLING_FAILED || PQstatus(pg) == CONNECTION_BAD)
            return refused(store, pg, error);
        *is_late = host_rest <= 0 && now < deadline;
        if (rest <= 0)
            return pawl_error_set(
                error, PAWL_EUNREACHABLE, "postgres: %s: no connection to %s:%s within %lld ms",
                store->given, PQhost(pg), PQport(pg),
                (long long)(*is_late ? hosts->limit_ms : store->sql.base.deadline_ms));
        if (poll(list, 2, rest < 1000 ? (int)rest : 1000) < 0 && errno != EINTR)
            return pawl_error_set(error, PAWL_EUNREACHABLE, "postgres: %s: %s", store->given,
                                  strerror(errno));
        if (list[1].revents != 0)
            return pawl_error_set(error, PAWL_EINTERRUPTED,
                                  "postgres: %s: connecting was interrupted", store->given);
        if (list[0].revents != 0)
            status = PQconnectPoll(pg);
    }
    return PAWL_OK;
}

/* A synchronous standby's confirmation cannot be cancelled: when that wait is interrupted, the
 * server warns that the commit is durable on one server only, and says COMMIT. The warning is known
 * by the function in the server's source: texts are translated. */
#define STANDBY_WAIT "SyncRepWaitForLSN"

static void take_notice(void *context, const PGresult *result)
{
    pawl__pg_connection *connection = context;
    const char          *function   = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    const char          *text       = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    pawl_log(PAWL_LOG_DEBUG, "postgres: %s", text != NULL ? text : "");
    connection->is_unconfirmed |= function != NULL && strcmp(function, STANDBY_WAIT) == 0;
}

/* Begins to connect to the hosts that are left. Over TCP nothing is sent before the first poll. */
static pawl_code begin_dial(const pawl__pg *store, const PQconninfoOption *list,
                            const pawl__pg_hosts *hosts, PGconn **pg, pawl_error *error)
{
    settings  s;
    pawl_code code = fill_settings(store, list, hosts, &s, error);
    if (code != PAWL_OK)
        return code;
    *pg = PQconnectStartParams(s.names, s.values, 0);
    return *pg != NULL ? PAWL_OK : pawl__pg_no_memory(error);
}

/* Connects to the first of the remaining hosts that accepts. */
static pawl_code finish_dial(const pawl__pg *store, PGconn *pg, pawl__pg_hosts *hosts,
                             int64_t deadline, bool *is_late, pawl_error *error)
{
    *is_late = false;
    (void)PQsetErrorVerbosity(pg, PQERRORS_VERBOSE);
    pawl_code code = wait_for_connection(store, pg, hosts, deadline, is_late, error);
    (void)PQsetErrorVerbosity(pg, PQERRORS_DEFAULT);
    return code;
}

int64_t pawl__pg_rest_ms(const pawl__pg *store)
{
    int64_t whole = store->sql.base.deadline_ms;
    int64_t rest  = store->until_ms != 0 ? store->until_ms - pawl__clock_ms() : whole;
    return rest < 1 ? 1 : rest < whole ? rest : whole;
}

static pawl_code dial_hosts(pawl__pg *store, const PQconninfoOption *list, PGconn **pg,
                            pawl_error *error)
{
    pawl__pg_hosts    hosts    = {.count = 1};
    PQconninfoOption *all      = NULL;
    int64_t           deadline = pawl__clock_ms() + pawl__pg_rest_ms(store);
    bool              is_late  = false;
    pawl_code         code     = begin_dial(store, list, &hosts, pg, error);
    if (code == PAWL_OK && (all = PQconninfo(*pg)) == NULL)
        code = pawl__pg_no_memory(error);
    if (code == PAWL_OK)
        code = pawl__pg_require_tls(all, error);
    if (code != PAWL_OK) {
        PQconninfoFree(all);
        return code;
    }
    pawl__pg_hosts_init(&hosts, all);
    code = finish_dial(store, *pg, &hosts, deadline, &is_late, error);
    while (code == PAWL_EUNREACHABLE && is_late && pawl__pg_hosts_next(&hosts)) {
        PQfinish(*pg);
        *pg  = NULL;
        code = begin_dial(store, list, &hosts, pg, error);
        if (code == PAWL_OK)
            code = finish_dial(store, *pg, &hosts, deadline, &is_late, error);
    }
    PQconninfoFree(all);
    return code;
}

static pawl_code dial_once(pawl__pg *store, PGconn **pg, pawl_error *error)
{
    PQconninfoOption *list = PQconninfoParse(store->conninfo, NULL);
    if (list == NULL) /* no memory: url.c has parsed it once */
        return pawl__pg_no_memory(error);
    pawl_code code = dial_hosts(store, list, pg, error);
    PQconninfoFree(list);
    return code;
}

static void suspect_pooler(pawl__pg *store, const char *why)
{
    store->is_pooled = true;
    pawl_log(
        PAWL_LOG_WARNING,
        "postgres: %s: this is probably a connection pooler (%s): leases and polling are used; add "
        "pooler=transaction to the URL",
        store->given, why);
}

/* Recognizes a pooler: it refuses session options with 08P01, a server takes them. */
static pawl_code dial(pawl__pg *store, PGconn **pg, pawl_error *error)
{
    char      state[STATE_SIZE];
    pawl_code code = dial_once(store, pg, error);
    if (code != PAWL_EUNREACHABLE || store->is_pooled || *pg == NULL)
        return code;
    find_state(PQerrorMessage(*pg), state);
    if (strcmp(state, "08P01") != 0)
        return code;
    PQfinish(*pg);
    *pg              = NULL;
    store->is_pooled = true;
    code             = dial_once(store, pg, error);
    store->is_pooled = false;
    if (code == PAWL_OK)
        suspect_pooler(store, "session options are refused");
    return code;
}

/* ---- Checking the server ------------------------------------------------ */

static pawl_code check_encoding(const pawl__pg *store, const PGconn *pg, pawl_error *error)
{
    const char *encoding = PQparameterStatus(pg, "server_encoding");
    if (PQserverVersion(pg) < VERSION_MIN)
        return pawl_error_set(error, PAWL_ENOTSTORE,
                              "postgres: %s: the server has version %d, at least 14 is needed",
                              store->given, PQserverVersion(pg) / 10000);
    if (encoding != NULL && strcmp(encoding, "UTF8") != 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "postgres: %s: the database's encoding is %s, UTF8 is needed",
                              store->given, encoding);
    return PAWL_OK;
}

/* Not prepared by name: a pooler would keep the prepared statement for the next client. */
static pawl_code ask_session(pawl__pg *store, pawl__pg_connection *connection, int64_t *pid,
                             pawl_error *error)
{
    pawl__pg_request request;
    bool             is_named = connection->is_named;
    connection->is_named      = false;
    pawl__pg_begin(&request, connection, PAWL__PG_SESSION, error);
    pawl__pg_put_text(&request, pawl_text_of(store->schema));
    pawl__pg_put_text(&request, pawl_text_of(store->sql.base.system_prefix));
    pawl__pg_put_int(&request, PQbackendPID(connection->pg));
    pawl_code code       = pawl__pg_run(&request);
    connection->is_named = is_named;
    if (code == PAWL_OK && pawl__pg_next(&request)) {
        *pid              = pawl__pg_get_int(&request);
        pawl_text channel = pawl__pg_peek_text(&request);
        (void)snprintf(store->channel, sizeof store->channel, "%.*s", PAWL_TEXT_ARGS(channel));
    }
    pawl__pg_end(&request);
    return code;
}

static pawl_code check_server(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error)
{
    int64_t   pid  = 0;
    pawl_code code = check_encoding(store, connection->pg, error);
    if (code == PAWL_OK)
        code = ask_session(store, connection, &pid, error);
    if (code != PAWL_OK || connection != &store->main)
        return code;
    store->backend_pid = (int)pid;
    if (pid != PQbackendPID(connection->pg) && !store->is_pooled)
        suspect_pooler(store, "its process is another one");
    connection->is_named = !store->is_pooled;
    return PAWL_OK;
}

void pawl__pg_disconnect(pawl__pg_connection *connection)
{
    PQfinish(connection->pg);
    connection->pg             = NULL;
    connection->is_pipelined   = false;
    connection->in_transaction = false;
    connection->is_lost        = false;
    connection->is_read_only   = false;
    connection->is_unconfirmed = false;
    connection->failed         = PAWL_OK;
    connection->session_number = 0;
    connection->is_handlers    = false;
    pawl__pg_connection_clear(connection);
}

void pawl__pg_adopt(pawl__pg *store, pawl__pg_connection *connection)
{
    connection->prefix         = store->sql.base.system_prefix;
    connection->dialect        = pawl__pg_dialect;
    connection->dialect.schema = store->schema;
    connection->is_ours        = true;
    connection->idle_ms        = store->idle_ms;
    connection->deadline_ms    = pawl__pg_rest_ms(store);
    connection->interrupt_fd   = atomic_load(&store->wait.interrupt_fd);
    if (connection->pg != NULL)
        (void)PQsetNoticeReceiver(connection->pg, take_notice, connection);
    int pid = connection->pg != NULL ? PQbackendPID(connection->pg) : 0;
    if (connection != &store->main || (pid != 0 && pid == store->backend_pid))
        return;
    store->backend_pid = pid; /* another server may have answered */
    store->numbering   = (pawl__pg_numbering){0};
    pawl__pg_outbox_front_forget(&store->outbox);
}

pawl_code pawl__pg_connect(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error)
{
    pawl__pg_disconnect(connection);
    pawl__pg_adopt(store, connection);
    pawl_code code = dial(store, &connection->pg, error);
    if (connection->pg != NULL)
        (void)PQsetNoticeReceiver(connection->pg, take_notice, connection);
    connection->is_named = !store->is_pooled;
    if (code == PAWL_OK)
        pawl__pg_warn_tls(store, connection->pg);
    if (code == PAWL_OK)
        code = pawl__pg_set_pipeline(connection, true, error);
    if (code == PAWL_OK)
        code = check_server(store, connection, error);
    if (code != PAWL_OK)
        pawl__pg_disconnect(connection);
    return code;
}

/* Connects, or with a share (share.h) takes a session that handles of the process lend one another. */
static pawl_code get_session(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error)
{
    return store->member.share != NULL ? pawl__pg_share_take(store, connection, error)
                                       : pawl__pg_connect(store, connection, error);
}

pawl_code pawl__pg_side(pawl__pg *store, pawl__pg_connection **connection, pawl_error *error)
{
    *connection   = &store->side;
    bool is_again = store->side.is_lost || store->side.is_read_only;
    if (store->side.pg != NULL && !is_again)
        return PAWL_OK;
    pawl_code code = get_session(store, &store->side, error);
    if (code == PAWL_OK && is_again)
        pawl__pg_end_holder(store, &store->side);
    return code;
}

/* ---- The handle --------------------------------------------------------- */

/* A lost connection took the row locks of the claims, the advisory locks and LISTEN with it. */
static pawl_code connect_again(pawl__pg *store, pawl_error *error)
{
    pawl__pg_seen_clear(store);
    store->claims.count = 0;
    store->listens      = false;
    if (store->member.share == NULL) /* else the keeper has the locks */
        store->sleeps = false;
    store->has_worker_tid = false;
    pawl_code code        = get_session(store, &store->main, error);
    if (code == PAWL_OK && store->lock_number != 0 && store->member.share == NULL)
        code = pawl__pg_session_lock(&store->main, store->lock_number, error);
    if (code == PAWL_OK && store->sql.base.is_attached)
        pawl__pg_end_holder(store, &store->main);
    if (code != PAWL_OK)
        store->main.is_lost = true; /* the next operation tries again */
    else
        pawl_log(PAWL_LOG_INFO, "postgres: %s: connected again", store->given);
    return code;
}

/* Drops NOTIFYs, which would pile up in a handle that always has work. A handle that sleeps keeps them; none is
 * missed, because a handle checks for work once more before it sleeps. */
static void drop_notifies(const pawl__pg *store)
{
    PGnotify *notify;
    while (store->listens && !store->sleeps && (notify = PQnotifies(store->main.pg)) != NULL)
        PQfreemem(notify);
}

pawl_code pawl__pg_ready(pawl_store *base, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    (void)pawl__wait_take(&store->wait);
    bool is_over = store->main.is_lost || store->main.is_read_only;
    /* A new session would commit without what the handler wrote. */
    if (is_over && store->sql.in_handler_transaction)
        return pawl_error_set(
            error, PAWL_ELOST,
            "postgres: the connection was lost, and the handler transaction with it");
    if (is_over)
        return connect_again(store, error);
    if (store->main.pg == NULL)
        return get_session(store, &store->main, error);
    drop_notifies(store);
    return PAWL_OK;
}

void pawl__pg_note_now(pawl__pg *store, pawl_time now)
{
    if (now > store->last_now) {
        store->last_now    = now;
        store->last_now_ms = pawl__clock_ms();
    }
}

static void write_identity(pawl__pg *store)
{
    const PGconn *pg   = store->main.pg;
    const char   *host = PQhost(pg) != NULL ? PQhost(pg) : "";
    const char   *port = PQport(pg) != NULL ? PQport(pg) : "";
    (void)snprintf(store->sql.base.identity, sizeof store->sql.base.identity,
                   "postgres:%.60s:%.10s/%.60s/%.40s/%s", host, port, PQdb(pg), store->schema,
                   store->sql.base.system_prefix);
}

pawl_code pawl__pg_open(pawl_store *base, const char *url, const pawl_store_options *options,
                        pawl_error *error)
{
    pawl__pg *store        = pawl__pg_of(base);
    store->sql.ops         = &pawl__pg_ops;
    store->last_now        = PAWL_TIME_MIN;
    store->ahead.is_wanted = options->claims_ahead;
    store->idle_ms =
        options->handler_time_max != 0 ? (options->handler_time_max - 1) / 1000 + 1 : IDLE_MS;
    if (store->idle_ms > IDLE_MS_MAX)
        store->idle_ms = IDLE_MS_MAX;
    pawl__pg_use(store, &store->main);
    pawl_code code     = pawl__wait_open(&store->wait, "postgres", error);
    store->round.arena = pawl_arena_create(0);
    if (code == PAWL_OK && store->round.arena == NULL)
        code = pawl__pg_no_memory(error);
    if (code == PAWL_OK)
        code = pawl__pg_url(store, url, error);
    if (code != PAWL_OK || options->mode == PAWL_OPEN_SCHEMA)
        return code; /* schema() connects when it is called */
    if (store->member.session_max > 0)
        code = pawl__pg_share_join(store, error);
    if (code == PAWL_OK)
        code = get_session(store, &store->main, error);
    if (code != PAWL_OK)
        return code;
    write_identity(store);
    pawl__sql_schema schema = pawl__pg_schema_of(store);
    return pawl__sql_schema_check(&schema, options->tables, options->table_count, error);
}

void pawl__pg_close(pawl_store *base)
{
    pawl__pg *store = pawl__pg_of(base);
    if (pawl__wait_is_ours(&store->wait)) {
        /* A rollback frees the locks of the claims now, not when the server notices that the client
         * is gone. */
        store->main.deadline_ms =
            store->main.deadline_ms < CLOSE_MS ? store->main.deadline_ms : CLOSE_MS;
        if (!store->sql.in_handler_transaction)
            pawl__pg_rollback_transaction(&store->main);
        pawl__pg_share_leave(store);
        pawl__pg_disconnect(&store->main);
        pawl__pg_disconnect(&store->side);
    } else {
        /* The socket is shared with the parent process: a goodbye on it would end the parent's
         * session. */
        pawl__pg_connection_clear(&store->main);
        pawl__pg_connection_clear(&store->side);
    }
    pawl__pg_end(&store->ahead.request);
    pawl__wait_close(&store->wait);
    pawl_free(store->given);
    pawl_free(store->conninfo);
    pawl__sql_claims_free(&store->claims);
    pawl_free(store->seen);
    store->seen = NULL;
    pawl_arena_destroy(store->round.arena);
    store->round.arena = NULL;
    store->given       = NULL;
    store->conninfo    = NULL;
}
