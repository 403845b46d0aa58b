/* call.c - statements of a connection, and putting calls on their way.
 *
 * A statement's text is made at first use and, where no pooler stands between,
 * prepared by name in the same round trip as its first call. One whose prepare
 * failed, or stood behind a failure, is prepared again next time. When the server
 * has forgotten them (a handler's DEALLOCATE ALL), or a table was altered under
 * them, all are prepared anew, under other names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/connection.h"

#include "store/postgres/wire.h"

#include <stdio.h>
#include <string.h>

static const char *const templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__PG_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof templates / sizeof templates[0] == PAWL__PG_STATEMENT_COUNT,
               "one template for each statement");

/* ---- Statements --------------------------------------------------------- */

static void clear_statement(pawl__pg_statement *statement)
{
    if (statement->guarded != NULL)
        pawl_free(statement->guarded->text);
    pawl_free(statement->guarded);
    pawl_free(statement->text);
    *statement = (pawl__pg_statement){0};
}

void pawl__pg_connection_clear(pawl__pg_connection *connection)
{
    for (int i = 0; i < PAWL__PG_STATEMENT_COUNT; i++)
        clear_statement(&connection->statements[i]);
    while (connection->sagas != NULL) {
        pawl__pg_saga *saga = connection->sagas;
        connection->sagas   = saga->next;
        for (int i = 0; i < pawl__pg_saga_statement_count; i++)
            clear_statement(&saga->statements[i]);
        pawl_free(saga->texts);
        pawl_free(saga);
    }
    for (unsigned i = 0; i < PAWL__PG_PLAIN_MAX; i++)
        pawl__pg_end(&connection->plain[i]);
    pawl_free(connection->parameters.data);
    pawl_free(connection->sent);
    connection->parameters    = (pawl__pg_bytes){0};
    connection->sent          = NULL;
    connection->sent_count    = 0;
    connection->sent_capacity = 0;
    connection->saga_count    = 0;
}

static void forget(pawl__pg_statement *statement)
{
    statement->state = PAWL__PG_UNKNOWN;
    if (statement->guarded != NULL)
        statement->guarded->state = PAWL__PG_UNKNOWN;
}

void pawl__pg_forget_names(pawl__pg_connection *connection)
{
    for (int i = 0; i < PAWL__PG_STATEMENT_COUNT; i++)
        forget(&connection->statements[i]);
    for (pawl__pg_saga *saga = connection->sagas; saga != NULL; saga = saga->next)
        for (int i = 0; i < pawl__pg_saga_statement_count; i++)
            forget(&saga->statements[i]);
    connection->generation++;
}

static pawl_code make_text(pawl__pg_connection *connection, pawl__pg_statement *statement,
                           int which, pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__sql_expand(&text, &connection->dialect, connection->prefix, templates[which]);
    if (text.is_failed) {
        pawl__sql_text_free(&text);
        return pawl__pg_no_memory(error);
    }
    statement->text = text.data;
    (void)snprintf(statement->name, sizeof statement->name, "pawl_%d", which);
    return PAWL_OK;
}

/* ---- Beginning ---------------------------------------------------------- */

void pawl__pg_begin_with(pawl__pg_call *call, pawl__pg_connection *connection,
                         pawl__pg_statement *statement, pawl_error *error)
{
    call->connection = connection;
    call->statement  = statement;
    call->error      = error;
    call->code       = PAWL_OK;
    call->arena      = NULL;
    call->count      = 0;
    call->result     = NULL;
    call->row        = -1;
    call->column     = 0;
    /* What was sent before is copied already. */
    connection->parameters.size      = 0;
    connection->parameters.is_failed = false;
}

void pawl__pg_begin(pawl__pg_call *call, pawl__pg_connection *connection, int statement,
                    pawl_error *error)
{
    pawl__pg_statement *found = &connection->statements[statement];
    pawl__pg_begin_with(call, connection, found, error);
    if (found->text == NULL)
        call->code = make_text(connection, found, statement, error);
}

/* ---- Sending ------------------------------------------------------------ */

/* Where the parameters stand, for the library. */
typedef struct arguments {
    const char *values[PAWL__PG_PARAMETERS_MAX];
    int         formats[PAWL__PG_PARAMETERS_MAX];
} arguments;

static void find_arguments(const pawl__pg_call *call, arguments *found)
{
    for (int i = 0; i < call->count; i++) {
        const char *base  = call->connection->parameters.data;
        found->values[i]  = call->offsets[i] == SIZE_MAX ? NULL
                            : base == NULL               ? ""
                                                         : base + call->offsets[i];
        found->formats[i] = 1;
    }
}

/* The whole pipeline fails with its first failure: what follows is not sent. */
static void fail(pawl__pg_call *call, pawl_code code)
{
    pawl__pg_connection *connection = call->connection;
    call->code                      = code;
    if (connection->failed != PAWL_OK)
        return;
    connection->failed = code;
    if (call->error != NULL)
        connection->failed_error = *call->error;
    else
        (void)pawl_error_set(&connection->failed_error, code, "postgres: %s", pawl_code_text(code));
}

static bool push(pawl__pg_call *call, int kind)
{
    pawl__pg_sent *sent = pawl__pg_push(call->connection);
    if (sent == NULL) {
        fail(call, pawl__pg_no_memory(call->error));
        return false;
    }
    sent->kind      = kind;
    sent->call      = call;
    sent->statement = call->statement;
    return true;
}

static bool sent_well(pawl__pg_call *call, int result)
{
    if (result != 0)
        return true;
    call->connection->sent_count--;
    call->connection->is_lost |= PQstatus(call->connection->pg) == CONNECTION_BAD;
    fail(call, pawl__pg_failed(call->connection->pg, NULL, "", call->error));
    return false;
}

#define NAME_SIZE 40

static bool prepare(pawl__pg_call *call, char name[NAME_SIZE])
{
    pawl__pg_statement *statement = call->statement;
    (void)snprintf(name, NAME_SIZE, "%s_%u", statement->name, call->connection->generation);
    if (statement->state != PAWL__PG_UNKNOWN)
        return true;
    if (!push(call, PAWL__PG_SENT_PREPARE) ||
        !sent_well(call, PQsendPrepare(call->connection->pg, name, statement->text, call->count,
                                       call->types)))
        return false;
    statement->state = PAWL__PG_PREPARED;
    return true;
}

static void send_pipelined(pawl__pg_call *call)
{
    pawl__pg_connection *connection = call->connection;
    pawl__pg_statement  *statement  = call->statement;
    arguments            list;
    char                 name[NAME_SIZE];
    if (connection->is_named && !prepare(call, name))
        return;
    if (!push(call, PAWL__PG_SENT_CALL))
        return;
    find_arguments(call, &list);
    int result = connection->is_named
                     ? PQsendQueryPrepared(connection->pg, name, call->count, list.values,
                                           call->sizes, list.formats, 1)
                     : PQsendQueryParams(connection->pg, statement->text, call->count, call->types,
                                         list.values, call->sizes, list.formats, 1);
    /* On its way now: the server works while the next call is made. */
    if (sent_well(call, result) && !connection->is_gathered)
        (void)PQflush(connection->pg);
}

static void send_alone(pawl__pg_call *call)
{
    arguments list;
    find_arguments(call, &list);
    if (push(call, PAWL__PG_SENT_CALL) &&
        sent_well(call, PQsendQueryParams(call->connection->pg, call->statement->text, call->count,
                                          call->types, list.values, call->sizes, list.formats, 1)))
        pawl__pg_pump_one(call->connection);
}

void pawl__pg_send(pawl__pg_call *call)
{
    pawl__pg_connection *connection = call->connection;
    if (call->code == PAWL_OK && connection->parameters.is_failed)
        call->code = pawl__pg_no_memory(call->error);
    if (call->code != PAWL_OK)
        fail(call, call->code);
    else if (connection->failed != PAWL_OK)
        call->code = connection->failed;
    else if (connection->is_lost)
        fail(call, pawl_error_set(call->error, PAWL_ELOST, "postgres: the connection was lost"));
    else if (connection->is_pipelined)
        send_pipelined(call);
    else
        send_alone(call);
}

pawl_code pawl__pg_run(pawl__pg_call *call)
{
    call->connection->is_gathered = true;
    pawl__pg_send(call);
    pawl_code code = pawl__pg_flush(call->connection, call->error);
    if (call->code == PAWL_OK)
        call->code = code;
    if (call->code != PAWL_OK)
        pawl__pg_end(call);
    return call->code;
}

pawl_code pawl__pg_execute(pawl__pg_connection *connection, const char *statement,
                           pawl_error *error)
{
    /* Not kept, so it has no name. */
    bool               is_named = connection->is_named;
    pawl__pg_statement once     = {.text = (char *)(uintptr_t)statement};
    pawl__pg_call      call;
    connection->is_named = false;
    pawl__pg_begin_with(&call, connection, &once, error);
    pawl_code code       = pawl__pg_run(&call);
    connection->is_named = is_named;
    pawl__pg_end(&call);
    return code;
}
