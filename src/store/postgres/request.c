/* request.c - makes and prepares the statements of a connection, and sends requests.
 *
 * A statement's text is made at first use and, where no pooler stands between, prepared by name
 * in the same round trip as its first request. A prepare that failed, or came after a failure
 * in the pipeline, is sent again next time. When the server has forgotten its prepared
 * statements (a handler's DEALLOCATE ALL), or a table was altered under them, all are prepared
 * anew, under other names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/connection.h"

#include "store/postgres/set.h"
#include "store/postgres/wire.h"

#include <stdio.h>
#include <string.h>

static const char *const templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__PG_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof templates / sizeof templates[0] == PAWL__PG_SET_FIRST,
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
    pawl__sql_text text = {0}, set = {0};
    if (which >= PAWL__PG_SET_FIRST)
        pawl__pg_set_template(&set, which);
    if (!set.is_failed)
        pawl__sql_expand(&text, &connection->dialect, connection->prefix,
                         set.data != NULL ? set.data : templates[which]);
    text.is_failed |= set.is_failed;
    pawl__sql_text_free(&set);
    if (text.is_failed) {
        pawl__sql_text_free(&text);
        return pawl__pg_no_memory(error);
    }
    statement->text = text.data;
    (void)snprintf(statement->name, sizeof statement->name, "pawl_%d", which);
    return PAWL_OK;
}

/* ---- Beginning ---------------------------------------------------------- */

void pawl__pg_begin_with(pawl__pg_request *request, pawl__pg_connection *connection,
                         pawl__pg_statement *statement, pawl_error *error)
{
    request->connection = connection;
    request->statement  = statement;
    request->error      = error;
    request->code       = PAWL_OK;
    request->arena      = NULL;
    request->count      = 0;
    request->result     = NULL;
    request->row        = -1;
    request->column     = 0;
    /* The buffer can be reused: libpq copied the parameters of earlier requests when they were sent. */
    connection->parameters.size      = 0;
    connection->parameters.is_failed = false;
}

void pawl__pg_begin(pawl__pg_request *request, pawl__pg_connection *connection, int statement,
                    pawl_error *error)
{
    pawl__pg_statement *found = &connection->statements[statement];
    pawl__pg_begin_with(request, connection, found, error);
    if (found->text == NULL)
        request->code = make_text(connection, found, statement, error);
}

/* ---- Sending ------------------------------------------------------------ */

/* The parameters as libpq takes them: pointers into the connection's bytes. */
typedef struct arguments {
    const char *values[PAWL__PG_PARAMETERS_MAX];
    int         formats[PAWL__PG_PARAMETERS_MAX];
} arguments;

static void find_arguments(const pawl__pg_request *request, arguments *found)
{
    for (int i = 0; i < request->count; i++) {
        const char *base  = request->connection->parameters.data;
        found->values[i]  = request->offsets[i] == SIZE_MAX ? NULL
                            : base == NULL                  ? ""
                                                            : base + request->offsets[i];
        found->formats[i] = 1;
    }
}

/* A pipeline is aborted by its first failure: after it nothing more is sent. */
static void fail(pawl__pg_request *request, pawl_code code)
{
    pawl__pg_connection *connection = request->connection;
    request->code                   = code;
    if (connection->failed != PAWL_OK)
        return;
    connection->failed = code;
    if (request->error != NULL)
        connection->failed_error = *request->error;
    else
        (void)pawl_error_set(&connection->failed_error, code, "postgres: %s", pawl_code_text(code));
}

static bool push(pawl__pg_request *request, int kind)
{
    pawl__pg_sent *sent = pawl__pg_push(request->connection);
    if (sent == NULL) {
        fail(request, pawl__pg_no_memory(request->error));
        return false;
    }
    sent->kind      = kind;
    sent->request   = request;
    sent->statement = request->statement;
    return true;
}

static bool sent_well(pawl__pg_request *request, int result)
{
    if (result != 0)
        return true;
    request->connection->sent_count--;
    request->connection->is_lost |= PQstatus(request->connection->pg) == CONNECTION_BAD;
    fail(request, pawl__pg_failed(request->connection->pg, NULL, "", request->error));
    return false;
}

#define NAME_SIZE 40

static bool prepare(pawl__pg_request *request, char name[NAME_SIZE])
{
    pawl__pg_statement *statement = request->statement;
    (void)snprintf(name, NAME_SIZE, "%s_%u", statement->name, request->connection->generation);
    if (statement->state != PAWL__PG_UNKNOWN)
        return true;
    if (!push(request, PAWL__PG_SENT_PREPARE) ||
        !sent_well(request, PQsendPrepare(request->connection->pg, name, statement->text,
                                          request->count, request->types)))
        return false;
    statement->state = PAWL__PG_PREPARED;
    return true;
}

static void send_pipelined(pawl__pg_request *request)
{
    pawl__pg_connection *connection = request->connection;
    pawl__pg_statement  *statement  = request->statement;
    arguments            list;
    char                 name[NAME_SIZE];
    if (connection->is_named && !prepare(request, name))
        return;
    if (!push(request, PAWL__PG_SENT_REQUEST))
        return;
    find_arguments(request, &list);
    int result =
        connection->is_named
            ? PQsendQueryPrepared(connection->pg, name, request->count, list.values, request->sizes,
                                  list.formats, 1)
            : PQsendQueryParams(connection->pg, statement->text, request->count, request->types,
                                list.values, request->sizes, list.formats, 1);
    /* PQflush sends at once, so that the server works while the next request is made. */
    if (sent_well(request, result) && !connection->is_gathered)
        (void)PQflush(connection->pg);
}

static void send_alone(pawl__pg_request *request)
{
    arguments list;
    find_arguments(request, &list);
    if (push(request, PAWL__PG_SENT_REQUEST) &&
        sent_well(request, PQsendQueryParams(request->connection->pg, request->statement->text,
                                             request->count, request->types, list.values,
                                             request->sizes, list.formats, 1)))
        pawl__pg_pump_one(request->connection);
}

void pawl__pg_send(pawl__pg_request *request)
{
    pawl__pg_connection *connection = request->connection;
    if (request->code == PAWL_OK && connection->parameters.is_failed)
        request->code = pawl__pg_no_memory(request->error);
    if (request->code != PAWL_OK)
        fail(request, request->code);
    else if (connection->failed != PAWL_OK)
        request->code = connection->failed;
    else if (connection->is_lost)
        fail(request,
             pawl_error_set(request->error, PAWL_ELOST, "postgres: the connection was lost"));
    else if (connection->is_pipelined)
        send_pipelined(request);
    else
        send_alone(request);
}

void pawl__pg_send_with(pawl__pg_request *request, pawl__pg_connection *connection, int statement,
                        const pawl__field_list *parameters, const void *item, pawl_error *error)
{
    pawl__pg_begin(request, connection, statement, error);
    pawl__pg_put_fields(request, parameters, item);
    pawl__pg_send(request);
}

pawl_code pawl__pg_run(pawl__pg_request *request)
{
    request->connection->is_gathered = true;
    pawl__pg_send(request);
    pawl_code code = pawl__pg_await(request->connection, request->error);
    if (request->code == PAWL_OK)
        request->code = code;
    if (request->code != PAWL_OK)
        pawl__pg_end(request);
    return request->code;
}

pawl_code pawl__pg_run_once(pawl__pg_request *request, pawl__pg_connection *connection,
                            const char *text, pawl_error *error)
{
    bool               is_named = connection->is_named;
    pawl__pg_statement once     = {.text = (char *)(uintptr_t)text};
    connection->is_named        = false; /* a text that runs once needs no name */
    pawl__pg_begin_with(request, connection, &once, error);
    pawl_code code       = pawl__pg_run(request);
    connection->is_named = is_named;
    request->statement   = NULL;
    return code;
}

pawl_code pawl__pg_execute(pawl__pg_connection *connection, const char *statement,
                           pawl_error *error)
{
    pawl__pg_request request;
    pawl_code        code = pawl__pg_run_once(&request, connection, statement, error);
    pawl__pg_end(&request);
    return code;
}
