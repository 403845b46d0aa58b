/* transaction.c - begin and end; the second connection; the writes of a commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/commit.h"

#define NUMBER_NULL 1048

/* ---- Begin and end ------------------------------------------------------- */

static pawl__odbc_connection *current(pawl_store *base)
{
    return pawl__odbc_of(base)->sql.connection;
}

/* A connection that cannot roll back is of no use any more: closed, it frees its locks. */
void pawl__odbc_rollback(pawl__odbc_connection *connection)
{
    if (!connection->in_transaction)
        return;
    connection->is_undone = false; /* the rollback of nothing is harmless */
    if (!connection->is_lost && pawl__odbc_query(connection, "rollback", NULL) != PAWL_OK)
        connection->is_lost = true;
    connection->is_undone      = false;
    connection->in_transaction = false;
}

/* On `main` it takes the row locks of the claims, too. By a text: the driver's own transactions would begin
 * the next one by themselves. */
pawl_code pawl__odbc_begin(pawl_store *base, pawl_error *error)
{
    pawl__odbc            *store      = pawl__odbc_of(base);
    pawl__odbc_connection *connection = current(base);
    if (connection->in_transaction && !connection->is_undone)
        return PAWL_OK;
    pawl__odbc_rollback(connection);
    pawl_code code = pawl__odbc_query(connection, "start transaction", error);
    if (code != PAWL_OK)
        return code;
    connection->in_transaction = true;
    if (connection == &store->main)
        code = pawl__sql_lock_keep(base, error);
    if (code != PAWL_OK)
        pawl__odbc_rollback(connection);
    return code;
}

/* The server may have committed although its answer did not come. */
pawl_code pawl__odbc_commit(pawl_store *base, bool *is_unknown, pawl_error *error)
{
    pawl__odbc_connection *connection = current(base);
    connection->last                  = (pawl__odbc_diagnosis){.state = "00000"};
    *is_unknown                       = false;
    if (connection->is_lost || connection->is_undone)
        return pawl__odbc_call_begin(connection, error);
    pawl_code code             = pawl__odbc_query(connection, "commit", error);
    connection->in_transaction = code != PAWL_OK;
    bool was_sent              = code != PAWL_OK && connection->last.state[0] != '0';
    *is_unknown                = was_sent &&
                  pawl__odbc_commit_code_of(connection->driver, &connection->last) == PAWL_EUNKNOWN;
    return code;
}

/* The handler's own SQL may have ended the transaction, or a deadlock has: the server is asked. */
pawl_code pawl__odbc_is_open(pawl_store *base, bool *is_open, pawl_error *error)
{
    int64_t   number = 0;
    pawl_code code =
        pawl__odbc_ask_number(current(base), "select @@in_transaction", &number, error);
    *is_open = code == PAWL_OK && number != 0;
    return code;
}

/* ---- The second connection ----------------------------------------------- */

static bool main_is_open(const pawl_store *base)
{
    return ((const pawl__odbc *)base)->main.in_transaction;
}

static void rollback_main(pawl_store *base)
{
    pawl__odbc_rollback(&pawl__odbc_of(base)->main);
}

static pawl_code aside(pawl_store *base, pawl_error *error)
{
    pawl__odbc *store = pawl__odbc_of(base);
    pawl_code   code  = PAWL_OK;
    if (store->side.dbc == NULL || store->side.is_lost)
        code = pawl__odbc_connect(store, &store->side, error);
    if (code == PAWL_OK)
        store->sql.connection = &store->side;
    return code;
}

static void back(pawl_store *base)
{
    pawl__odbc *store     = pawl__odbc_of(base);
    store->sql.connection = &store->main;
}

const pawl__sql_lock_ops pawl__odbc_lock_ops = {
    .claim       = PAWL__MYSQL_QUEUE_CLAIM,
    .claim_more  = PAWL__MYSQL_QUEUE_CLAIM_MORE,
    .claim_free  = PAWL__MYSQL_QUEUE_CLAIM_FREE,
    .claim_again = PAWL__MYSQL_QUEUE_CLAIM_AGAIN,
    .count_due   = PAWL__MYSQL_QUEUE_COUNT_DUE,
    .lock        = PAWL__MYSQL_QUEUE_LOCK,
    .is_open     = main_is_open,
    .rollback    = rollback_main,
    .aside       = aside,
    .back        = back,
};

/* ---- Writes -------------------------------------------------------------- */

/* Whether a unique key, or a column that takes no null, refused the row: an end of the item where
 * the write expects it, or where the statement leaves such rows. */
static bool is_refusal(const pawl__odbc_connection *connection,
                       const pawl__odbc_statement *statement, const pawl__sql_write *write,
                       pawl_code code, pawl__sql_fate *fate)
{
    bool is_null = code != PAWL_OK && connection->last.number == NUMBER_NULL;
    *fate        = code == PAWL_EDUPLICATE ? PAWL__SQL_DUPLICATE : PAWL__SQL_NULL;
    if (code == PAWL_EDUPLICATE && statement->ignores) {
        *fate = PAWL__SQL_MISSED;
        return true;
    }
    return (code == PAWL_EDUPLICATE || is_null) && pawl__sql_expects(write, *fate);
}

static pawl_code write_item(pawl__odbc_connection *connection, const pawl__sql_write *write,
                            const void *item, pawl__sql_fate *fate, pawl_error *error)
{
    pawl_code             code;
    pawl__odbc_statement *statement =
        pawl__odbc_prepared(connection, write->statement,
                            write->is_saga ? pawl__sql_saga_of(item) : NULL, &code, error);
    if (statement == NULL)
        return code;
    connection->last = (pawl__odbc_diagnosis){.state = "00000"};
    code             = pawl__odbc_execute(connection, statement, &write->parameters, item, error);
    if (code != PAWL_OK)
        return is_refusal(connection, statement, write, code, fate) ? PAWL_OK : code;
    *fate = pawl__odbc_found(statement) != 0 ? PAWL__SQL_APPLIED : PAWL__SQL_MISSED;
    return PAWL_OK;
}

/* ---- Versions, looked at before ------------------------------------------- */

/* An update waits for a row that another session has locked, also where its version is past, and that
 * session may keep the lock for as long as its handlers run. A plain read waits for nobody. */

/* Id and version are the last parameters of each write that expects a version. */
static const void *member_of(const pawl__sql_write *write, const void *item, size_t from_end)
{
    const pawl__sql_fields *fields = &write->parameters;
    return (const char *)item + fields->items[fields->count - from_end].offset;
}

/* An id is digits and hyphens: it may stand in the text. */
static pawl_code look(pawl__odbc_connection *connection, const pawl__sql_write *write,
                      const void *item, bool *is_past, pawl_error *error)
{
    const pawl_saga_table *table = pawl__sql_saga_of(item);
    pawl__sql_text         text  = {0};
    pawl_code              code;
    int64_t                found = 0;
    char                   id[PAWL_UUID_TEXT_SIZE + 1];
    /* Preparing checks the table's names, too, before they stand in a text. */
    if (pawl__odbc_prepared(connection, write->statement, table, &code, error) == NULL)
        return code;
    pawl_uuid_format(*(const pawl_uuid *)member_of(write, item, 2), id);
    pawl__sql_append(&text, "select coalesce(max(`Concurrency`), 9223372036854775807) from ");
    pawl__sql_append_table(&text, connection->store->dialect, "", table->name);
    pawl__sql_appendf(&text, " where `Id` = '%s'", id);
    code = text.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory")
                          : pawl__odbc_ask_number(connection, text.data, &found, error);
    pawl__sql_text_free(&text);
    *is_past = code == PAWL_OK && found > *(const int64_t *)member_of(write, item, 1);
    return code;
}

/* Inserts in sets, the rest one by one: arrays of ODBC tell only the sum of the rows, and leave the others where one fails. */
pawl_code pawl__odbc_write(pawl__odbc_connection *connection, const pawl__sql_write *write,
                           const void *const *items, size_t count, pawl__sql_fate *fates,
                           size_t *failed, pawl_error *error)
{
    pawl_code code  = PAWL_OK;
    bool      looks = write->is_saga && pawl__sql_expects(write, PAWL__SQL_MISSED) &&
                 !connection->is_callers; /* whose transaction may read an older state */
    for (size_t i = 0; code == PAWL_OK && i < count;) {
        bool is_past = false, is_done = false;
        *failed = i;
        code    = pawl__odbc_write_set(connection, write, items + i, count - i, &is_done, error);
        for (size_t end = i + PAWL__ODBC_SET_ROWS; is_done && i < end;)
            fates[i++] = PAWL__SQL_APPLIED;
        if (is_done || code != PAWL_OK)
            continue;
        if (looks)
            code = look(connection, write, items[i], &is_past, error);
        if (code == PAWL_OK && is_past)
            fates[i] = PAWL__SQL_MISSED;
        else if (code == PAWL_OK)
            code = write_item(connection, write, items[i], &fates[i], error);
        i++;
    }
    return code;
}

/* ---- Holding back ------------------------------------------------------- */

static const pawl__sql_field hold_fields[] = {PAWL__SQL_FIELD(outbox_hold, source, TEXT),
                                              PAWL__SQL_FIELD(outbox_hold, after, INT)};
static const pawl__sql_write hold_source   = {
      .statement  = PAWL__MYSQL_OUTBOX_HOLD_BACK,
      .parameters = PAWL__SQL_LIST(hold_fields),
};

pawl_code pawl__odbc_hold_back(pawl__odbc_connection         *connection,
                               const pawl_outbox_hold *const *holds, size_t count,
                               pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl__sql_fate fate;
        code = write_item(connection, &hold_source, holds[i], &fate, error);
    }
    return code;
}
