/* dead.c - dead letters, and subscriptions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/operations.h"

/* Two texts that name a row. */
static pawl_code run_with_key(pawl__sqlite_writer *writer, int statement, pawl_text first,
                              pawl_text second, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, writer->connection, statement, error);
    pawl__sqlite_put_text(&request, first);
    pawl__sqlite_put_text(&request, second);
    return pawl__sqlite_run(&request);
}

static pawl_code insert(pawl__sqlite_writer *writer, const pawl_dead_set *dead, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, writer->connection, PAWL__SQL_DEAD_INSERT, error);
    pawl__sqlite_put_text(&request, dead->endpoint);
    pawl__sqlite_put_text(&request, dead->queue);
    pawl__sqlite_put_text(&request, dead->code);
    pawl__sqlite_put_text(&request, dead->error);
    pawl__sqlite_put_int(&request, dead->attempts);
    pawl__sqlite_put_int(&request, dead->deaths);
    pawl__sqlite_put_text(&request, dead->history);
    pawl__sqlite_put_int(&request, dead->at);
    pawl__sqlite_put_message(&request, &dead->message);
    return pawl__sqlite_run(&request);
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
