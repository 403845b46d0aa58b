/* connection.c - the functions by which store/sql uses the current connection (pawl__sql_ops). Requests
 * that are sent before an await are one round trip.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/set.h"
#include "store/sql/saga_text.h"

#include <assert.h>

struct pawl__sql_request {
    pawl__pg_request own;
};

/* PostgreSQL's own statements in place of shared ones with the same parameters and columns; 0: the shared one is
 * used. */
const int pawl__pg_overrides[PAWL__SQL_STATEMENT_COUNT] = {
    [PAWL__SQL_TIMEOUT_LIST_SAGA]    = PAWL__PG_TIMEOUT_LIST_SAGA,
    [PAWL__SQL_TIMEOUT_FOREIGN]      = PAWL__PG_TIMEOUT_FOREIGN_DUE,
    [PAWL__SQL_DEAD_FIND]            = PAWL__PG_DEAD_FIND,
    [PAWL__SQL_OUTBOX_OLDEST]        = PAWL__PG_OUTBOX_OLDEST,
    [PAWL__SQL_OUTBOX_FIND_PENDING]  = PAWL__PG_OUTBOX_FIND_PENDING,
    [PAWL__SQL_OUTBOX_FIND_TRIED]    = PAWL__PG_OUTBOX_FIND_TRIED,
    [PAWL__SQL_OUTBOX_FIND_HELD]     = PAWL__PG_OUTBOX_FIND_HELD,
    [PAWL__SQL_OUTBOX_FIND_DISPATCH] = PAWL__PG_OUTBOX_FIND_DISPATCH,
};

/* Of the shared statements on a saga table only the count and the scan come here; the others are sets (set.h). */
static void begin(pawl__pg_request *request, pawl__pg_connection *connection,
                  const pawl__sql_asked *asked, pawl_error *error)
{
    if (asked->statement >= PAWL__SQL_ON_SAGA) {
        bool is_scan = asked->statement == PAWL__SQL_ON_SAGA + PAWL__SQL_SAGA_SCAN;
        assert(is_scan || asked->statement == PAWL__SQL_ON_SAGA + PAWL__SQL_SAGA_COUNT);
        pawl__pg_saga_begin(request, connection, pawl__saga_table_of(asked->item),
                            is_scan ? PAWL__PG_SAGA_SCAN : PAWL__PG_SAGA_COUNT, error);
        return;
    }
    int override = pawl__pg_overrides[asked->statement];
    pawl__pg_begin(request, connection, override != 0 ? override : asked->statement, error);
}

static pawl_code send(pawl_store *base, const pawl__sql_asked *asked, pawl_arena *arena,
                      pawl__sql_request **request, pawl_error *error)
{
    *request = pawl_allocate(sizeof **request);
    if (*request == NULL)
        return pawl__pg_no_memory(error);
    pawl__pg_request *own = &(*request)->own;
    begin(own, pawl__pg_in_use(pawl__pg_of(base)), asked, error);
    own->arena = arena;
    if (asked->parameters != NULL)
        pawl__pg_put_fields(own, asked->parameters, asked->item);
    pawl__pg_send(own);
    return own->code;
}

static pawl_code await(pawl_store *base, pawl_error *error)
{
    return pawl__pg_await(pawl__pg_in_use(pawl__pg_of(base)), error);
}

static int64_t changed(pawl__sql_request *request)
{
    return pawl__pg_rows(&request->own);
}

static bool next(pawl__sql_request *request)
{
    return pawl__pg_next(&request->own);
}

static void get(pawl__sql_request *request, const pawl__field_list *columns, void *row)
{
    pawl__pg_get_fields(&request->own, columns, row);
}

static pawl_code end(pawl__sql_request *request)
{
    pawl_code code = PAWL_OK;
    if (request != NULL) {
        pawl__pg_end(&request->own);
        code = request->own.code;
    }
    pawl_free(request);
    return code;
}

static pawl_code which_are_alive(pawl_store *base, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error)
{
    pawl__pg        *store = pawl__pg_of(base);
    pawl__pg_request request;
    pawl__pg_begin(&request, &store->main, PAWL__PG_WORKER_LIVES, error);
    pawl__pg_put_time(&request, store->last_now);
    pawl__pg_array_begin(&request, PAWL__WIRE_INT, PAWL_VALUE_NONE, count);
    for (size_t i = 0; i < count; i++)
        pawl__pg_array_put(&request, PAWL__WIRE_INT, &lives[i]->process);
    pawl__pg_array_end(&request);
    pawl__pg_array_begin(&request, PAWL__WIRE_TIME, PAWL_VALUE_NONE, count);
    for (size_t i = 0; i < count; i++)
        pawl__pg_array_put(&request, PAWL__WIRE_TIME, &lives[i]->seen);
    pawl__pg_array_end(&request);
    pawl_code code = pawl__pg_run(&request);
    while (code == PAWL_OK && pawl__pg_next(&request)) {
        size_t at = pawl__pg_get_index(&request, count);
        if (at != SIZE_MAX)
            lives[at]->is_alive = true;
    }
    pawl__pg_end(&request);
    return code;
}

const pawl__sql_ops pawl__pg_ops = {
    .name            = "postgres",
    .send            = send,
    .await           = await,
    .next            = next,
    .get             = get,
    .changed         = changed,
    .end             = end,
    .which_are_alive = which_are_alive,
    .begin           = pawl__pg_begin_round,
    .fence           = pawl__pg_fence,
    .write_kind      = pawl__pg_write_kind,
    .finish          = pawl__pg_finish,
    .rollback        = pawl__pg_rollback,
    .is_open         = pawl__pg_is_open,
    .is_lost         = pawl__pg_is_lost,
    .claims_end      = pawl__pg_settled,
    .bodies_begin    = pawl__pg_bodies_begin,
};
