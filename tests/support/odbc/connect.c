/* connect.c - environments and connections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/odbc/handle.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Handles ------------------------------------------------------------- */

SQLRETURN SQLAllocHandle(SQLSMALLINT type, SQLHANDLE from, SQLHANDLE *to)
{
    size_t size = type == SQL_HANDLE_STMT  ? sizeof(scripted_statement)
                  : type == SQL_HANDLE_DBC ? sizeof(scripted_connection)
                                           : sizeof(scripted_handle);
    *to         = calloc(1, size);
    if (*to != NULL && type == SQL_HANDLE_STMT)
        ((scripted_statement *)*to)->connection = from;
    return *to != NULL ? SQL_SUCCESS : SQL_ERROR;
}

SQLRETURN SQLFreeHandle(SQLSMALLINT type, SQLHANDLE handle)
{
    if (type == SQL_HANDLE_STMT)
        free(((scripted_statement *)handle)->text);
    free(handle);
    return SQL_SUCCESS;
}

SQLRETURN SQLSetEnvAttr(SQLHENV env, SQLINTEGER attribute, SQLPOINTER value, SQLINTEGER size)
{
    (void)env, (void)attribute, (void)value, (void)size;
    return SQL_SUCCESS;
}

/* ---- Connecting ---------------------------------------------------------- */

/* Reads the value of the last attribute of that name. */
static void take_attribute(const char *all, const char *name, char *to, size_t size)
{
    size_t name_size = strlen(name);
    to[0]            = '\0';
    for (const char *at = all; *at != '\0';) {
        size_t used = strcspn(at, ";");
        if (strncasecmp(at, name, name_size) == 0 && at[name_size] == '=')
            (void)snprintf(to, size, "%.*s", (int)(used - name_size - 1), at + name_size + 1);
        at += used;
        at += *at == ';';
    }
}

static SQLRETURN connect_to(scripted_connection *to, const char *all)
{
    char path[500];
    take_attribute(all, "Script", path, sizeof path);
    take_attribute(all, "Log", to->log, sizeof to->log);
    to->script = script_of(path);
    if (to->script == NULL || to->script->failure[0] != '\0')
        return scripted_fail(&to->handle, "HY000", path,
                             to->script != NULL ? to->script->failure : "no memory");
    to->number = ++to->script->connections;
    scripted_record(to, "connect", all);
    const script_answer *answer = script_find(to->script, "connect ", all);
    return answer != NULL ? scripted_answer(to, &to->handle, NULL, answer) : SQL_SUCCESS;
}

SQLRETURN SQLDriverConnect(SQLHDBC dbc, SQLHWND window, SQLCHAR *all, SQLSMALLINT size,
                           SQLCHAR *out, SQLSMALLINT out_size, SQLSMALLINT *out_length,
                           SQLUSMALLINT completion)
{
    char text[5000];
    (void)window, (void)completion;
    (void)snprintf(text, sizeof text, "%.*s", size < 0 ? (int)sizeof text : (int)size,
                   (const char *)all);
    if (out != NULL && out_size > 0)
        (void)snprintf((char *)out, (size_t)out_size, "%s", text);
    if (out_length != NULL)
        *out_length = (SQLSMALLINT)strlen(text);
    (void)pthread_mutex_lock(&scripted_lock);
    SQLRETURN result = connect_to(dbc, text);
    (void)pthread_mutex_unlock(&scripted_lock);
    return result;
}

SQLRETURN SQLDisconnect(SQLHDBC dbc)
{
    (void)pthread_mutex_lock(&scripted_lock);
    scripted_record(dbc, "disconnect", "");
    (void)pthread_mutex_unlock(&scripted_lock);
    return SQL_SUCCESS;
}

SQLRETURN SQLEndTran(SQLSMALLINT type, SQLHANDLE handle, SQLSMALLINT how)
{
    scripted_connection *of     = handle;
    const char          *text   = how == SQL_COMMIT ? "commit" : "rollback";
    SQLRETURN            result = SQL_SUCCESS;
    if (type != SQL_HANDLE_DBC)
        return SQL_ERROR;
    (void)pthread_mutex_lock(&scripted_lock);
    scripted_record(of, "end", text);
    const script_answer *answer = script_find(of->script, "end ", text);
    result                      = answer != NULL ? scripted_answer(of, &of->handle, NULL, answer)
                                                 : scripted_missing(of, &of->handle, text);
    (void)pthread_mutex_unlock(&scripted_lock);
    return result;
}

/* ---- Attributes ---------------------------------------------------------- */

SQLRETURN SQLSetConnectAttr(SQLHDBC dbc, SQLINTEGER attribute, SQLPOINTER value, SQLINTEGER size)
{
    (void)size;
    if (attribute == SQL_ATTR_AUTOCOMMIT)
        scripted_record(dbc, "mode", (uintptr_t)value == SQL_AUTOCOMMIT_OFF ? "manual" : "auto");
    return SQL_SUCCESS;
}

SQLRETURN SQLGetConnectAttr(SQLHDBC dbc, SQLINTEGER attribute, SQLPOINTER value, SQLINTEGER size,
                            SQLINTEGER *length)
{
    const scripted_connection *of = dbc;
    (void)size, (void)length;
    *(SQLUINTEGER *)value = attribute == SQL_ATTR_CONNECTION_DEAD && of->is_gone ? SQL_CD_TRUE : 0;
    return SQL_SUCCESS;
}

static SQLRETURN put_text(const char *text, SQLPOINTER value, SQLSMALLINT size, SQLSMALLINT *length)
{
    if (value != NULL && size > 0)
        (void)snprintf(value, (size_t)size, "%s", text);
    if (length != NULL)
        *length = (SQLSMALLINT)strlen(text);
    return SQL_SUCCESS;
}

/* Claims to count each row of an array, as some drivers do that only know the sum. */
SQLRETURN SQLGetInfo(SQLHDBC dbc, SQLUSMALLINT what, SQLPOINTER value, SQLSMALLINT size,
                     SQLSMALLINT *length)
{
    const scripted_connection *of = dbc;
    if (what == SQL_DRIVER_NAME)
        return put_text(of->script != NULL ? of->script->name : "", value, size, length);
    if (what == SQL_DRIVER_ODBC_VER)
        return put_text("03.00", value, size, length);
    if (what == SQL_PARAM_ARRAY_ROW_COUNTS)
        *(SQLUINTEGER *)value = SQL_PARC_BATCH;
    else if (value != NULL && size <= (SQLSMALLINT)sizeof(SQLUSMALLINT))
        *(SQLUSMALLINT *)value = 0;
    else if (value != NULL)
        memset(value, 0, (size_t)size);
    return SQL_SUCCESS;
}
