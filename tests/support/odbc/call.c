/* call.c - records calls and returns their answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/odbc/handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK_S_MAX 20 /* a call that nobody ends is a defect of the test */

pthread_mutex_t       scripted_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken         = PTHREAD_COND_INITIALIZER;
static bool           is_woken; /* ends the blocked call; lost if there is none, as on a server */

void scripted_record(const scripted_connection *connection, const char *call, const char *text)
{
    FILE *file = connection->log[0] != '\0' ? fopen(connection->log, "a") : NULL;
    if (file == NULL)
        return;
    (void)fprintf(file, "%d %s %s\n", connection->number, call, text);
    (void)fclose(file);
}

SQLRETURN scripted_fail(scripted_handle *handle, const char *state, const char *why,
                        const char *text)
{
    handle->own = (script_record){.native = 0};
    (void)snprintf(handle->own.state, sizeof handle->own.state, "%.5s", state);
    (void)snprintf(handle->own.text, sizeof handle->own.text, "[scripted] %s: %.150s", why, text);
    handle->records = &handle->own;
    return SQL_ERROR;
}

SQLRETURN scripted_missing(const scripted_connection *connection, scripted_handle *handle,
                           const char *text)
{
    scripted_record(connection, "missing", text);
    (void)fprintf(stderr, "the script has no answer to: %s\n", text);
    return scripted_fail(handle, "HY000", "the script has no answer to", text);
}

static SQLRETURN block(scripted_handle *handle, scripted_statement *statement)
{
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += BLOCK_S_MAX;
    int failed = 0;
    is_woken   = false;
    while (!is_woken && failed == 0 && (statement == NULL || !statement->is_cancelled))
        failed = pthread_cond_timedwait(&woken, &scripted_lock, &end);
    if (failed != 0) {
        (void)fprintf(stderr, "nobody ended a call that blocks\n");
        return scripted_fail(handle, "HY000", "nobody ended a call that blocks", "");
    }
    if (statement != NULL && statement->is_cancelled)
        statement->is_cancelled = false;
    return SQL_SUCCESS;
}

void scripted_cancel(scripted_statement *statement)
{
    statement->is_cancelled = statement->deaf-- <= 0;
    (void)pthread_cond_broadcast(&woken);
}

SQLRETURN scripted_answer(scripted_connection *connection, scripted_handle *handle,
                          scripted_statement *statement, const script_answer *answer)
{
    handle->records = NULL;
    if (connection->is_gone)
        return SQL_ERROR;
    if (answer->wakes) {
        is_woken = true;
        (void)pthread_cond_broadcast(&woken);
    }
    if (answer->blocks) {
        if (statement != NULL)
            statement->deaf = answer->deaf;
        scripted_record(connection, "blocks", "");
        if (block(handle, statement) != SQL_SUCCESS)
            return SQL_ERROR;
    }
    connection->is_gone = answer->is_gone;
    handle->records     = answer->records;
    switch (answer->result) {
    case SCRIPT_INFO: return SQL_SUCCESS_WITH_INFO;
    case SCRIPT_NO_DATA: return SQL_NO_DATA;
    case SCRIPT_ERROR: return SQL_ERROR;
    case SCRIPT_DONE: break;
    }
    return SQL_SUCCESS;
}

SQLRETURN SQLGetDiagRec(SQLSMALLINT type, SQLHANDLE handle, SQLSMALLINT number, SQLCHAR *state,
                        SQLINTEGER *native, SQLCHAR *text, SQLSMALLINT size, SQLSMALLINT *length)
{
    const script_record *record = ((scripted_handle *)handle)->records;
    (void)type;
    for (SQLSMALLINT i = 1; record != NULL && i < number; i++)
        record = record->next;
    if (record == NULL)
        return SQL_NO_DATA;
    if (state != NULL)
        memcpy(state, record->state, sizeof record->state);
    if (native != NULL)
        *native = (SQLINTEGER)record->native;
    if (length != NULL)
        *length = (SQLSMALLINT)strlen(record->text);
    if (text != NULL && size > 0)
        (void)snprintf((char *)text, (size_t)size, "%s", record->text);
    return SQL_SUCCESS;
}

/* The driver manager reads fields of each record; without this function it reports no records. */
SQLRETURN SQLGetDiagField(SQLSMALLINT type, SQLHANDLE handle, SQLSMALLINT number, SQLSMALLINT field,
                          SQLPOINTER value, SQLSMALLINT size, SQLSMALLINT *length)
{
    (void)type, (void)handle, (void)number, (void)field, (void)value, (void)size, (void)length;
    return SQL_NO_DATA;
}
