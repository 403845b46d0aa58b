/* odbc.c - the driver's table of operations, the module's only exported name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/operations.h"
#include "store/sql/session_rows.h"

static void *native(pawl_store *base)
{
    return pawl__odbc_of(base)->main.made.dbc;
}

/* -1, as ODBC does not expose the socket. */
static int session_fd(pawl_store *base)
{
    (void)base;
    return -1;
}

static pawl_code schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                        pawl_line_fn *line, void *context, pawl_error *error)
{
    if (pawl__odbc_of(base)->kind == NULL) /* a script is printed without a URL */
        return pawl_error_set(error, PAWL_EINVAL,
                              "odbc: a script is of a dialect, which no scheme says: print that of "
                              "mysql, postgres, mssql or oracle");
    return pawl__sql_family_schema(base, verb, spec, line, context, error);
}

static pawl_code diagnose(pawl_store *base, const pawl_diagnosis *asked, pawl_arena *arena,
                          pawl_finding_rows *rows, pawl_error *error)
{
    return pawl__sql_family_diagnose(base, NULL, asked, arena, rows, error);
}

/* Enlists in a transaction of the application's connection (an SQLHDBC), whose calls keep the application's
 * deadlines. */
static pawl_code check_open(pawl__sql_session *own, pawl_error *error)
{
    bool      is_open = false;
    pawl_code code    = own->store->family->is_open(own, &is_open, error);
    if (code == PAWL_OK && !is_open)
        code = pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection has no open transaction: start one first");
    return code;
}

static pawl_code enlist(pawl_store *base, void *native, const pawl_changes *changes,
                        pawl_error *error)
{
    pawl__odbc           *store = pawl__odbc_of(base);
    pawl__odbc_connection own   = {.made.dbc = native};
    own.session                 = (pawl__sql_session){.store      = &store->remote.sql,
                                                      .is_made    = native != NULL,
                                                      .is_callers = true,
                                                      .packet_max = store->main.session.packet_max};
    if (native == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "enlist: the connection is NULL");
    pawl_code code = check_open(&own.session, error);
    if (code == PAWL_OK)
        code = pawl__sql_check_database(&own.session, error);
    if (code == PAWL_OK)
        code = pawl__sql_session_enlist(&own.session, changes, error);
    pawl__odbc_disconnect(&own.session);
    return code;
}

#define OPS                                                                                        \
    PAWL__SQL_REMOTE_OPS,                                                                          \
        .rollback = pawl__sql_session_rollback, .name = "odbc", .session_fd = session_fd,          \
        .statement_size = sizeof(pawl__odbc_statement), .connect = pawl__odbc_connect,             \
        .disconnect = pawl__odbc_disconnect, .ask = pawl__odbc_ask, .prepare = pawl__odbc_prepare, \
        .close = pawl__odbc_close_statement, .execute = pawl__odbc_execute,                        \
        .found = pawl__odbc_found, .fetch = pawl__odbc_fetch, .read = pawl__odbc_read,             \
        .free_rows = pawl__odbc_free_rows, .write_set = pawl__odbc_write_set,                      \
        .ended = pawl__odbc_round_forget, .is_open = pawl__sql_is_open

static const pawl__sql_ops plain_ops = {OPS};
static const pawl__sql_ops block_ops = {OPS, .write_ahead = pawl__odbc_write_ahead,
                                        .settle = pawl__odbc_settle};

const pawl__sql_ops *pawl__odbc_ops_of(const pawl__odbc_kind *kind)
{
    return kind->is_sent_as_block ? &block_ops : &plain_ops;
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size         = sizeof(pawl_store_ops),
    .abi              = PAWL_ABI,
    .scheme           = "odbc",
    .store_size       = sizeof(pawl__odbc),
    .open             = pawl__odbc_open,
    .close            = pawl__odbc_close,
    .schema           = schema,
    .interrupt        = pawl__odbc_interrupt,
    .native           = native,
    .native_type      = "SQLHDBC",
    .enlist           = enlist,
    .ready            = pawl__odbc_ready,
    .wait             = pawl__sql_wait,
    .diagnose         = diagnose,
    .worker_crashed   = pawl__sql_worker_crashed,
    .worker_heartbeat = pawl__sql_worker_heartbeat,
    PAWL__SQL_REMOTE_OPERATIONS,
    PAWL__SQL_OPERATIONS,
};
