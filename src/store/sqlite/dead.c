/* dead.c - dead letters, and subscriptions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/operations.h"

/* Two texts that name a row. */
static pawl_code run_with_key(pawl__sqlite_writer *writer, int statement, pawl_text first,
                              pawl_text second, pawl_error *error)
{
    pawl__sqlite_call call;
    pawl__sqlite_call_begin(&call, writer->connection, statement, error);
    pawl__sqlite_put_text(&call, first);
    pawl__sqlite_put_text(&call, second);
    return pawl__sqlite_run(&call);
}

static pawl_code insert(pawl__sqlite_writer *writer, const pawl_dead_set *dead, pawl_error *error)
{
    pawl__sqlite_call call;
    pawl__sqlite_call_begin(&call, writer->connection, PAWL__SQL_DEAD_INSERT, error);
    pawl__sqlite_put_text(&call, dead->endpoint);
    pawl__sqlite_put_text(&call, dead->queue);
    pawl__sqlite_put_text(&call, dead->code);
    pawl__sqlite_put_text(&call, dead->error);
    pawl__sqlite_put_int(&call, dead->attempts);
    pawl__sqlite_put_int(&call, dead->deaths);
    pawl__sqlite_put_text(&call, dead->history);
    pawl__sqlite_put_int(&call, dead->at);
    pawl__sqlite_put_message(&call, &dead->message);
    return pawl__sqlite_run(&call);
}

pawl_code pawl__sqlite_apply_dead_set(pawl__sqlite_writer *writer, const void *change,
                                      pawl_error *error)
{
    const pawl_dead_set *dead = change;
    if (!dead->is_remove)
        return insert(writer, dead, error);
    pawl_code code =
        run_with_key(writer, PAWL__SQL_DEAD_DELETE, dead->endpoint, dead->message.id, error);
    if (code == PAWL_OK)
        code =
            run_with_key(writer, PAWL__SQL_INBOX_DELETE, dead->endpoint, dead->message.id, error);
    return code;
}

/* ---- Subscriptions ------------------------------------------------------ */

pawl_code pawl__sqlite_apply_subscription_set(pawl__sqlite_writer *writer, const void *change,
                                              pawl_error *error)
{
    const pawl_subscription_set *set = change;
    return run_with_key(writer,
                        set->is_remove ? PAWL__SQL_SUBSCRIPTION_DELETE : PAWL__SQL_SUBSCRIPTION_ADD,
                        set->type, set->queue, error);
}
