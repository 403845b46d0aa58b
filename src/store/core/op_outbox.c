/* op_outbox.c - outbox rows as single calls: insert, settle, find, an operator's action
 * on a dead row, and the outbox of one message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/call.h"

pawl_code pawl_store_outbox_insert(pawl_store *store, const pawl_outbox_row *row, pawl_time now,
                                   pawl_error *error)
{
    pawl_outbox_add change = {
        .dispatch_id = row->dispatch_id,
        .source      = row->source,
        .version     = row->version,
        .index       = row->index,
        .endpoint    = row->endpoint,
        .destination = row->destination,
        .message     = row->message,
        .due         = row->due,
        .at          = now,
    };
    return PAWL__COMMIT_ONE(outbox_add, &change);
}

/* ---- Settle ------------------------------------------------------------- */

static pawl_code check_result(const pawl_outbox_row *row, const pawl_outbox_result *result,
                              pawl_error *error)
{
    if ((unsigned)result->outcome > PAWL_ATTEMPT_POISON)
        return pawl_error_set(error, PAWL_EINVAL, "outbox row %lld: outcome %d is unknown",
                              (long long)row->id, (int)result->outcome);
    if (result->attempts_max < 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "outbox row %lld: the limit of attempts is %d, at least 1 is needed",
                              (long long)row->id, (int)result->attempts_max);
    return PAWL_OK;
}

/* The row's new state, by the table of store_outbox.h. */
static pawl_code decide(const pawl_outbox_row *row, const pawl_outbox_result *result, pawl_time now,
                        pawl_outbox_settle *change, pawl_error *error)
{
    int32_t limit = result->attempts_max != 0 ? result->attempts_max : PAWL_OUTBOX_ATTEMPTS_MAX;
    *change       = (pawl_outbox_settle){
              .id           = row->id,
              .source       = row->source,
              .state        = PAWL_OUTBOX_DISPATCHED,
              .attempts     = row->attempts + 1,
              .next_attempt = now,
              .outcome      = result->outcome,
              .error        = result->error,
              .at           = now,
              .duration     = result->duration,
    };
    if (change->outcome == PAWL_ATTEMPT_TRANSIENT &&
        change->attempts - row->attempts_before >= limit)
        change->outcome = PAWL_ATTEMPT_POISON;
    if (change->outcome == PAWL_ATTEMPT_REJECTED || change->outcome == PAWL_ATTEMPT_POISON)
        change->state = PAWL_OUTBOX_DEAD;
    if (change->outcome != PAWL_ATTEMPT_TRANSIENT)
        return PAWL_OK;
    change->state        = PAWL_OUTBOX_PENDING;
    change->next_attempt = result->next_attempt;
    if (change->next_attempt > now)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "outbox row %lld: the next attempt, %lld, is not after now, %lld",
                          (long long)row->id, (long long)change->next_attempt, (long long)now);
}

pawl_code pawl_store_outbox_settle(pawl_store *store, pawl_outbox_row *row,
                                   const pawl_outbox_result *result, pawl_time now,
                                   pawl_error *error)
{
    pawl_outbox_settle change;
    pawl_code          code = check_result(row, result, error);
    if (code == PAWL_OK)
        code = decide(row, result, now, &change, error);
    if (code != PAWL_OK)
        return code;
    /* A first success or rejection has held nothing back. Of any id: ids need not follow versions. */
    bool              is_waiting = change.state == PAWL_OUTBOX_PENDING;
    pawl_outbox_block hold       = {.source = row->source, .after = 0, .is_unblock = !is_waiting};
    pawl_changes      changes    = {PAWL__ONE_UNIT(now), .outbox_settle = {&change, 1}};
    if (row->source.size != 0 && (is_waiting || row->attempts > 0)) {
        changes.outbox_block.items = &hold;
        changes.outbox_block.count = 1;
    }
    code = pawl_store_commit(store, &changes, NULL, error);
    if (code != PAWL_OK)
        return code;
    row->state        = change.state;
    row->attempts     = change.attempts;
    row->next_attempt = change.next_attempt;
    return PAWL_OK;
}

/* ---- Enable, discard ---------------------------------------------- */

static pawl_code reset(pawl_store *store, int64_t id, pawl_outbox_action action, pawl_text note,
                       pawl_time now, pawl_error *error)
{
    pawl_outbox_reset change = {.id = id, .action = action, .note = note, .at = now};
    return PAWL__COMMIT_ONE(outbox_reset, &change);
}

pawl_code pawl_store_outbox_retry(pawl_store *store, int64_t id, pawl_text note, pawl_time now,
                                  pawl_error *error)
{
    return reset(store, id, PAWL_OUTBOX_RETRY, note, now, error);
}

pawl_code pawl_store_outbox_discard(pawl_store *store, int64_t id, pawl_text note, pawl_time now,
                                    pawl_error *error)
{
    return reset(store, id, PAWL_OUTBOX_DISCARD, note, now, error);
}

/* ---- The outbox of one message ------------------------------------------ */

/* Keeps the pending rows, and the latest time at which another row was dispatched. */
static void take_operations(pawl_outbox_record *record, const pawl_outbox_rows *rows)
{
    record->operations = rows->items;
    for (size_t i = 0; i < rows->count; i++) {
        const pawl_outbox_row *row = &rows->items[i];
        if (row->state != PAWL_OUTBOX_DISPATCHED && row->state != PAWL_OUTBOX_DISCARDED)
            record->operations[record->count++] = *row;
        else if (row->dispatched > record->dispatched)
            record->dispatched = row->dispatched;
    }
    if (record->count != 0)
        record->dispatched = 0;
}

/* Reads the deduplication record first: then the rows of its commit are visible. A pending
 * row also proves that the message was handled, since the record may be swept before it. */
pawl_code pawl_store_outbox_get(pawl_store *store, pawl_text endpoint, pawl_text message_id,
                                pawl_arena *arena, pawl_outbox_record *record, bool *is_found,
                                pawl_error *error)
{
    pawl_outbox_rows  rows  = {0};
    pawl_outbox_query query = {.endpoint = endpoint, .causation_id = message_id};
    bool              known = false;
    *record                 = (pawl_outbox_record){0};
    *is_found               = false;
    if (endpoint.size == 0 || message_id.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "outbox of a message: the %s is empty",
                              endpoint.size == 0 ? "endpoint" : "message id");
    pawl_code code = pawl_store_inbox_known(store, endpoint, &message_id, 1, &known, error);
    if (code == PAWL_OK)
        code = pawl_store_outbox_find(store, &query, arena, &rows, error);
    if (code != PAWL_OK)
        return code;
    take_operations(record, &rows);
    *is_found = known || record->count != 0;
    if (!*is_found)
        *record = (pawl_outbox_record){0};
    return PAWL_OK;
}
