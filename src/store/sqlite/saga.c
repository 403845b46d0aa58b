/* saga.c - the statements of each saga table, prepared at first use and kept.
 *
 * A loaded row carries its rowid; the update goes straight to it and checks id
 * and version there. Where the hint does not fit (VACUUM may give rows of these
 * tables new numbers) the update by id decides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

/* ---- The tables of a connection ----------------------------------------- */

static pawl_code add_table(pawl__sqlite_connection *connection, const pawl_saga_table *table,
                           pawl__sqlite_saga **saga, pawl_error *error)
{
    pawl__sqlite_saga *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    pawl_code code =
        pawl__sql_saga_copy(&pawl__sqlite_dialect, table, &made->table, &made->texts, error);
    if (code != PAWL_OK) {
        pawl_free(made);
        return code;
    }
    made->next        = connection->sagas;
    connection->sagas = made;
    *saga             = made;
    return PAWL_OK;
}

static pawl_code prepare(pawl__sqlite_connection *connection, pawl__sqlite_saga *saga, int which,
                         pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__sql_saga_text(&text, &pawl__sqlite_dialect, &saga->table,
                        (pawl__sql_saga_statement)which);
    pawl_code code = text.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory")
                                    : pawl__sqlite_prepare(connection->db, text.data,
                                                           &saga->statements[which], error);
    pawl__sql_text_free(&text);
    if (code == PAWL_OK)
        return PAWL_OK;
    return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(saga->table.type));
}

void pawl__sqlite_saga_begin(pawl__sqlite_request *request, pawl__sqlite_connection *connection,
                             const pawl_saga_table *table, int which, pawl_error *error)
{
    pawl__sqlite_saga *saga = connection->sagas;
    pawl_code          code = PAWL_OK;
    while (saga != NULL && !pawl__sql_saga_same(&saga->table, table))
        saga = saga->next;
    if (saga == NULL)
        code = add_table(connection, table, &saga, error);
    if (code == PAWL_OK && saga->statements[which] == NULL)
        code = prepare(connection, saga, which, error);
    pawl__sqlite_request_statement(request, connection,
                                   code == PAWL_OK ? saga->statements[which] : NULL, error);
    request->code = code;
}
