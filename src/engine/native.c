/* native.c - pawl_native: gives handlers with own SQL the store's connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

/* Does the running handler declare .own_sql? In a filter and in a call before the commit, one handler of the message is
 * enough. */
static bool has_sql(const pawl_context *ctx)
{
    return ctx->lookup != NULL ? ctx->lookup->binding->has_sql : ctx->unit->has_sql;
}

/* Only the test kit comes here with a store without SQL: elsewhere such an endpoint is refused. */
void *pawl_native(pawl_context *ctx, const char *type)
{
    pawl_store *store = ctx->batch->engine->store;
    if (!has_sql(ctx))
        return NULL;
    if ((pawl_store_promises(store) & PAWL_STORE_HAS_SQL) == 0)
        (void)pawl__context_refuse(
            ctx, PAWL_EUNSUPPORTED,
            "a handler with .own_sql asks for its connection, and a %s store "
            "has no SQL: test it on one that has (.store of the test's options)",
            pawl_store_scheme(store));
    void *native = ctx->is_sql_open ? pawl_store_native(store, type) : NULL;
    ctx->unit->has_run_sql |= native != NULL;
    return native;
}

struct sqlite3 *pawl_sqlite(pawl_context *ctx)
{
    return pawl_native(ctx, "sqlite3");
}

struct pg_conn *pawl_postgres(pawl_context *ctx)
{
    return pawl_native(ctx, "PGconn");
}

struct st_mysql *pawl_mysql(pawl_context *ctx)
{
    return pawl_native(ctx, "MYSQL");
}
