/* wire.c - ends a pipeline and waits for its answers, up to the deadline or an interrupt.
 *
 * The socket is polled for writing too while something is left to send: a server that cannot
 * send its answers stops reading.
 *
 * At the deadline, and at an interrupt, the server is asked to cancel its statement; the answer
 * to the statement decides, since a commit may be through already. Only a server that does not
 * even answer after the cancel is given up.
 *
 * If libpq has no memory for an answer, it drops it, reports that in its error text only, and
 * waits for an answer that does not come: such a connection is given up, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/wire.h"
#include "store/core/wait.h"
#include "store/postgres/postgres.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Longest wait for the answer to a cancel: the request's own deadline, within these bounds. */
#define CANCEL_MS_MIN 1000
#define CANCEL_MS_MAX 5000
#define SLICE_MS 1000 /* longest poll; after it libpq's error text is checked */

pawl__pg_sent *pawl__pg_push(pawl__pg_connection *connection)
{
    /* Room for two syncs behind it, which need no memory then. */
    if (connection->sent_count + 3 > connection->sent_capacity) {
        size_t         capacity = connection->sent_capacity * 2 + 32;
        pawl__pg_sent *grown = pawl_resize(connection->sent, capacity * sizeof *connection->sent);
        if (grown == NULL)
            return NULL;
        connection->sent          = grown;
        connection->sent_capacity = capacity;
    }
    pawl__pg_sent *sent = &connection->sent[connection->sent_count++];
    *sent               = (pawl__pg_sent){0};
    return sent;
}

typedef struct pump {
    pawl__pg_connection *connection;
    size_t               head;     /* the first entry without its answer */
    int64_t              deadline; /* of clock_ms */
    bool                 is_cancelled;
    pawl_code            why; /* why it was cancelled */
    pawl__pg_cancel     *cancel;
    size_t
        told; /* size of libpq's error text that is accounted for, by a result or a failed send */
} pump;

/* ---- Failing ------------------------------------------------------------ */

static void fail_with(pawl__pg_connection *connection, pawl_code code, const char *text)
{
    if (connection->failed == PAWL_OK)
        connection->failed = pawl_error_set(&connection->failed_error, code, "%s", text);
}

/* Marks the connection as lost: no answer can come from it any more. */
static void give_up(pump *p, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (text == NULL)
        (void)pawl__pg_failed(p->connection->pg, NULL, "", &error);
    fail_with(p->connection, PAWL_ELOST, text != NULL ? text : error.text);
    p->connection->is_lost = true;
}

static void cancel(pump *p, pawl_code why)
{
    int64_t patience = p->connection->deadline_ms;
    patience         = patience < CANCEL_MS_MIN   ? CANCEL_MS_MIN
                       : patience > CANCEL_MS_MAX ? CANCEL_MS_MAX
                                                  : patience;
    p->is_cancelled  = true;
    p->why           = why;
    p->deadline      = pawl__clock_ms() + patience;
    p->cancel        = pawl__pg_cancel_begin(p->connection->pg);
}

/* A cancel that arrives late would end the next statement, so the connection is given up. */
static void end_cancel(pump *p)
{
    if (p->cancel != NULL && !pawl__pg_cancel_end(p->cancel, p->deadline) &&
        !p->connection->is_lost)
        give_up(p, "postgres: a cancel is still on its way to the server");
}

/* ---- Answers ------------------------------------------------------------ */

/* A sync has failed. At a sync the server commits requests that came after COMMIT, such as a NOTIFY: the failure is
 * theirs, though they were answered already. */
static void fail_part(pump *p)
{
    pawl__pg_connection *connection = p->connection;
    const void          *commit     = &connection->statements[PAWL__PG_TRANSACTION_COMMIT];
    for (size_t i = p->head; i > 0; i--) {
        const pawl__pg_sent *sent = &connection->sent[i - 1];
        if (sent->kind == PAWL__PG_SENT_SYNC || sent->statement == commit)
            return;
        if (sent->kind == PAWL__PG_SENT_REQUEST)
            sent->request->code = connection->failed;
    }
}

static void note_failure(pump *p, pawl__pg_sent *sent, const PGresult *result)
{
    pawl__pg_connection *connection = p->connection;
    pawl_error           error      = PAWL_ERROR_INIT;
    bool      is_commit = sent->statement == &connection->statements[PAWL__PG_TRANSACTION_COMMIT];
    pawl_code code      = is_commit ? pawl__pg_commit_failed(connection->pg, result, &error)
                                    : pawl__pg_failed(connection->pg, result, "", &error);
    if (code == PAWL_ETIMEOUT && p->is_cancelled && p->why == PAWL_EINTERRUPTED)
        code = pawl_error_set(&error, p->why, "postgres: the call was interrupted");
    else if (code == PAWL_ETIMEOUT && p->is_cancelled)
        code = pawl_error_set(&error, p->why,
                              "postgres: the call took longer than %lld ms, its deadline",
                              (long long)connection->deadline_ms);
    else if (connection->is_callers && pawl__pg_is_read_only(result))
        code = pawl_error_set(&error, PAWL_EINVAL, "postgres: your transaction is read only");
    if (connection->failed == PAWL_OK) {
        connection->failed       = code;
        connection->failed_error = error;
    }
    if (pawl__pg_is_forgotten(result))
        pawl__pg_forget_names(connection);
    /* Without a pipeline it may be a read-only transaction of a handler's own SQL. */
    connection->is_read_only |= connection->is_pipelined && pawl__pg_is_read_only(result);
    if (sent->kind == PAWL__PG_SENT_PREPARE)
        sent->statement->state = PAWL__PG_UNKNOWN;
    else if (sent->kind == PAWL__PG_SENT_REQUEST)
        sent->request->code = connection->failed;
    else
        fail_part(p);
}

/* A result belongs to the first entry without its answer; NULL ends the results of a request. A sync ends with
 * PGRES_PIPELINE_SYNC; if it fails, its error and a NULL come before that. */
static void take_result(pump *p, PGresult *result)
{
    pawl__pg_sent *sent   = &p->connection->sent[p->head];
    ExecStatusType status = PQresultStatus(result);
    if (result == NULL) {
        p->head += sent->is_answered && sent->kind != PAWL__PG_SENT_SYNC;
        sent->is_answered = false;
        return;
    }
    sent->is_answered = true;
    if (p->connection->is_unconfirmed) {
        give_up(p, "postgres: the synchronous standby did not confirm the commit in time");
    } else if (status == PGRES_PIPELINE_SYNC) {
        p->head++;
    } else if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        if (sent->kind == PAWL__PG_SENT_REQUEST) {
            sent->request->result = result;
            return;
        }
    } else {
        note_failure(p, sent, result);
    }
    PQclear(result);
}

/* ---- Waiting ------------------------------------------------------------ */

static size_t error_size(const pump *p)
{
    return strlen(PQerrorMessage(p->connection->pg));
}

/* A whole slice brought nothing. If libpq's error text grew without a result, libpq had no memory for an answer and
 * dropped it: no more answers come, or they would have come by now. */
static void check_error(pump *p)
{
    size_t size = error_size(p);
    if (size > p->told)
        give_up(p, NULL);
    else
        p->told = size; /* a query empties libpq's error text */
}

static void check_time(pump *p)
{
    if (pawl__clock_ms() < p->deadline)
        return;
    if (!p->is_cancelled)
        cancel(p, PAWL_ETIMEOUT);
    else
        give_up(p, "postgres: the server does not answer, not even to a cancel");
}

static void take_interrupt(pump *p)
{
    uint64_t count;
    ssize_t  size = read(p->connection->interrupt_fd, &count, sizeof count);
    if (size == (ssize_t)sizeof count && !p->is_cancelled)
        cancel(p, PAWL_EINTERRUPTED);
}

static void wait_for_socket(pump *p)
{
    PGconn       *pg      = p->connection->pg;
    int           left    = PQflush(pg);
    int64_t       rest    = p->deadline - pawl__clock_ms();
    struct pollfd list[2] = {
        {.fd = PQsocket(pg), .events = (short)(POLLIN | (left == 1 ? POLLOUT : 0))},
        {.fd = p->connection->interrupt_fd, .events = POLLIN},
    };
    if (left < 0 || list[0].fd < 0) {
        give_up(p, NULL);
        return;
    }
    int ready = poll(list, 2, rest > SLICE_MS ? SLICE_MS : rest > 0 ? (int)rest : 0);
    if (ready < 0 && errno != EINTR) {
        give_up(p, strerror(errno));
        return;
    }
    if (ready > 0 && list[1].revents != 0)
        take_interrupt(p);
    if (ready > 0 && (list[0].revents & (POLLIN | POLLERR | POLLHUP)) != 0 &&
        PQconsumeInput(pg) == 0)
        give_up(p, NULL);
    else if (ready == 0)
        check_error(p);
    if (!p->connection->is_lost)
        check_time(p);
}

/* Results that libpq has read already come first, then those that the socket brings. */
static void pump_all(pump *p)
{
    pawl__pg_connection *connection = p->connection;
    while (p->head < connection->sent_count && !connection->is_lost) {
        if (PQisBusy(connection->pg)) {
            wait_for_socket(p);
            continue;
        }
        PGresult *result = PQgetResult(connection->pg);
        if (result == NULL && !connection->sent[p->head].is_answered) {
            give_up(p, "postgres: an answer is missing");
            continue;
        }
        take_result(p, result);
        p->told = error_size(p);
        if (PQstatus(connection->pg) == CONNECTION_BAD)
            give_up(p, NULL);
    }
}

static void forget_unanswered(pawl__pg_connection *connection, size_t head)
{
    for (size_t i = head; i < connection->sent_count; i++) {
        pawl__pg_sent *sent = &connection->sent[i];
        if (sent->kind == PAWL__PG_SENT_PREPARE)
            sent->statement->state = PAWL__PG_UNKNOWN;
        else if (sent->kind == PAWL__PG_SENT_REQUEST && sent->request->result == NULL)
            sent->request->code = connection->failed;
    }
}

static void pump_and_end(pump *p)
{
    pump_all(p);
    end_cancel(p);
    forget_unanswered(p->connection, p->head);
}

static pump make_pump(pawl__pg_connection *connection)
{
    pump made = {.connection = connection, .deadline = pawl__clock_ms() + connection->deadline_ms};
    made.told = error_size(&made);
    return made;
}

/* Needs no memory: push has left room. */
static bool send_sync(pawl__pg_connection *connection)
{
    if (PQpipelineSync(connection->pg) == 0)
        return false;
    connection->sent[connection->sent_count++] = (pawl__pg_sent){.kind = PAWL__PG_SENT_SYNC};
    return true;
}

void pawl__pg_part(pawl__pg_connection *connection)
{
    if (send_sync(connection))
        return;
    fail_with(connection, PAWL_ELOST, PQerrorMessage(connection->pg));
    connection->is_lost = true;
}

static void sync_and_pump(pawl__pg_connection *connection)
{
    pump p = make_pump(connection);
    if (!send_sync(connection))
        give_up(&p, NULL); /* without its sync the pipeline never ends */
    pump_and_end(&p);
}

void pawl__pg_pump_one(pawl__pg_connection *connection)
{
    pump p = make_pump(connection);
    pump_and_end(&p);
    connection->sent_count = 0;
}

/* PQtransactionStatus decides: a begin may have failed, and a failed statement leaves a transaction
 * in which every later statement would be refused. A transaction that belongs to a handler's own
 * SQL or to the caller of enlist is left to them. */
static void follow_transaction(pawl__pg_connection *connection)
{
    PGTransactionStatusType status = PQtransactionStatus(connection->pg);
    if (status == PQTRANS_IDLE)
        connection->in_transaction = false;
    else if (status == PQTRANS_INERROR)
        pawl__pg_rollback_transaction(connection);
}

pawl_code pawl__pg_await(pawl__pg_connection *connection, pawl_error *error)
{
    bool was_sent = connection->is_pipelined && connection->sent_count > 0;
    if (was_sent)
        sync_and_pump(connection);
    connection->sent_count  = 0;
    connection->is_gathered = false;
    pawl_code code          = connection->failed;
    if (code != PAWL_OK && error != NULL)
        *error = connection->failed_error;
    connection->failed = PAWL_OK;
    if (connection->is_lost)
        connection->in_transaction = false;
    else if (was_sent || (connection->is_pipelined && code != PAWL_OK))
        follow_transaction(connection);
    return code;
}

pawl_code pawl__pg_set_pipeline(pawl__pg_connection *connection, bool is_on, pawl_error *error)
{
    if (connection->is_pipelined == is_on)
        return PAWL_OK;
    int done =
        is_on ? PQsetnonblocking(connection->pg, 1) == 0 && PQenterPipelineMode(connection->pg) == 1
              : PQexitPipelineMode(connection->pg) == 1 && PQsetnonblocking(connection->pg, 0) == 0;
    if (!done) {
        connection->is_lost = true;
        return pawl__pg_failed(connection->pg, NULL, "pipeline", error);
    }
    connection->is_pipelined = is_on;
    return PAWL_OK;
}
