/* native.c - the store's connection, for what has SQL of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

/* Does the running handler declare .own_sql? An event and a flush are alone in their
 * transactions. */
static bool has_sql(const pawl_context *ctx)
{
    if (ctx->lookup != NULL)
        return ctx->lookup->binding->has_sql;
    return ctx->unit->kind == PAWL__UNIT_EVENT || ctx->unit->kind == PAWL__UNIT_FLUSH;
}

void *pawl_native(pawl_context *ctx, const char *type)
{
    pawl_store *store = ctx->batch->engine->store;
    return ctx->is_sql_open && has_sql(ctx) ? pawl_store_native(store, type) : NULL;
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
