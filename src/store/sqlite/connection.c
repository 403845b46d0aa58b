/* connection.c - SQLite as the generic store's connection. A request is its
 * statement: nothing travels, and a row is computed when it is asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

struct pawl__sql_request {
    pawl__sqlite_request own;
};

/* The same parameters and columns under a text of SQLite's own; 0 is none. */
const int pawl__sqlite_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    [PAWL__SQL_TIMEOUT_CLAIM]            = PAWL__SQLITE_TIMEOUT_CLAIM,
    [PAWL__SQL_TIMEOUT_CLAIM_ANY]        = PAWL__SQL_TIMEOUT_DUE_ANY,
    [PAWL__SQL_AGGREGATOR_CLAIM]         = PAWL__SQL_AGGREGATOR_GET,
    [PAWL__SQL_INBOX_SWEEP]              = PAWL__SQLITE_INBOX_SWEEP,
    [PAWL__SQL_EVENT_BEHIND]             = PAWL__SQLITE_EVENT_BEHIND,
    [PAWL__SQL_OUTBOX_PENDING]           = PAWL__SQLITE_OUTBOX_PENDING,
    [PAWL__SQL_OUTBOX_OLDEST]            = PAWL__SQLITE_OUTBOX_OLDEST,
    [PAWL__SQL_EVENT_LIST_STREAM]        = PAWL__SQLITE_EVENT_STREAM,
    [PAWL__SQL_EVENT_LIST_STREAM_BACK]   = PAWL__SQLITE_EVENT_STREAM_BACK,
    [PAWL__SQL_EVENT_LIST_POSITION]      = PAWL__SQLITE_EVENT_ALL,
    [PAWL__SQL_EVENT_LIST_POSITION_BACK] = PAWL__SQLITE_EVENT_ALL_BACK,
    [PAWL__SQL_EVENT_LIST_SEQ]           = PAWL__SQLITE_EVENT_ALL,
    [PAWL__SQL_EVENT_LIST_SEQ_BACK]      = PAWL__SQLITE_EVENT_ALL_BACK,
};

static pawl_code send(pawl_store *base, const pawl__sql_asked *asked, pawl_arena *arena,
                      pawl__sql_request **request, pawl_error *error)
{
    pawl__sqlite_connection *connection = ((pawl__sql_store *)base)->connection;
    *request = connection->spare != NULL ? connection->spare : pawl_allocate(sizeof **request);
    connection->spare = NULL;
    if (*request == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory for a request");
    pawl__sqlite_request *own = &(*request)->own;
    if (asked->statement >= PAWL__SQL_ON_SAGA)
        pawl__sqlite_saga_begin(own, connection, pawl__saga_table_of(asked->item),
                                asked->statement - PAWL__SQL_ON_SAGA, error);
    else
        pawl__sqlite_request_begin(own, connection, pawl__sqlite_statement(asked->statement),
                                   error);
    own->arena = arena;
    if (asked->parameters != NULL)
        pawl__sqlite_put_fields(own, asked->parameters, asked->item);
    return own->code;
}

static bool next(pawl__sql_request *request)
{
    return pawl__sqlite_next(&request->own);
}

static void get(pawl__sql_request *request, const pawl__field_list *columns, void *row)
{
    request->own.column = 0;
    pawl__sqlite_get_fields(&request->own, columns, row);
}

static int64_t changed(pawl__sql_request *request)
{
    return pawl__sqlite_run(&request->own) == PAWL_OK ? request->own.changes : 0;
}

static pawl_code end(pawl__sql_request *request)
{
    if (request == NULL)
        return PAWL_OK;
    pawl__sqlite_connection *connection = request->own.connection;
    pawl_code                code       = request->own.code;
    pawl__sqlite_stop(&request->own);
    if (connection->spare != NULL)
        pawl_free(request);
    else
        connection->spare = request;
    return code;
}

/* A process is asked about without a statement, so one by one is as good as at once. */
static pawl_code who_lives(pawl_store *base, pawl__sql_life *const *lives, size_t count,
                           pawl_error *error)
{
    const pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code           code  = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = pawl__program_alive(store->program, store->path, lives[i]->process,
                                   &lives[i]->is_alive, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "sqlite");
}

static pawl_code own_lock(pawl_store *base, int64_t *number, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_join(store, error);
    if (code == PAWL_OK &&
        (code = pawl__book_attach(store->book, base->worker.uuid, store)) != PAWL_OK)
        code = pawl_error_set(error, code, "sqlite: out of memory");
    if (code == PAWL_OK)
        *number = pawl__program_number(store->program);
    return code;
}

const pawl__sql_ops pawl__sqlite_ops = {
    .name         = "sqlite",
    .read_begin   = pawl__sqlite_read_begin,
    .send         = send,
    .next         = next,
    .get          = get,
    .changed      = changed,
    .end          = end,
    .who_lives    = who_lives,
    .own_lock     = own_lock,
    .take_over    = pawl__sqlite_take_over,
    .claims_leave = pawl__sqlite_leave_queues,
    .resolved     = pawl__sqlite_resolved,
    .write        = pawl__sqlite_write,
    .begin        = pawl__sqlite_begin,
    .commit       = pawl__sqlite_commit,
    .is_open      = pawl__sqlite_is_open,
    .stamps_begin = pawl__sqlite_stamps_begin,
    .stamps_end   = pawl__sqlite_stamps_end,
    .writes_alone = true,
    .rollback     = pawl__sqlite_rollback,
    .claim_check  = pawl__sqlite_claim_check,
    .claims_end   = pawl__sqlite_claims_settled,
};
