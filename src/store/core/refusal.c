/* refusal.c - the codes and texts of refusals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/refusal.h"

#include "pawl/store_calls.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- Queue and inbox ---------------------------------------------------- */

pawl_code pawl__why_gone_row(const pawl_queue_settle *settle, const char *text, pawl_error *why)
{
    return pawl_error_set(why, PAWL_EGONE, "queue %.*s: row %lld: %s",
                          PAWL_TEXT_ARGS(settle->queue), (long long)settle->seq, text);
}

pawl_code pawl__why_gone(const void *change, pawl_error *why)
{
    return pawl__why_gone_row(change, "it is no longer there", why);
}

pawl_code pawl__why_not_claimed(const void *change, pawl_error *why)
{
    return pawl__why_gone_row(change, "it is not claimed by this worker", why);
}

pawl_code pawl__why_not_enlisted(const void *change, pawl_error *why)
{
    const pawl_queue_settle *settle = change;
    return pawl_error_set(why, PAWL_EINVAL,
                          "queue %.*s: row %lld: a row is settled by the worker that claimed it, "
                          "not by enlist",
                          PAWL_TEXT_ARGS(settle->queue), (long long)settle->seq);
}

pawl_code pawl__why_handled(const void *change, pawl_error *why)
{
    const pawl_inbox_entry *mark = change;
    return pawl_error_set(why, PAWL_EDUPLICATE, "endpoint %.*s: message %.*s was handled already",
                          PAWL_TEXT_ARGS(mark->endpoint), PAWL_TEXT_ARGS(mark->message_id));
}

pawl_code pawl__why_queued(const void *change, pawl_error *why)
{
    const pawl_queue_send *send = change;
    return pawl_error_set(why, PAWL_EDUPLICATE, "queue %.*s: message %.*s is in it already",
                          PAWL_TEXT_ARGS(send->queue), PAWL_TEXT_ARGS(send->message.id));
}

/* ---- Sagas -------------------------------------------------------------- */

static pawl_code say_version(const pawl_saga_table *table, pawl_saga_id id, const char *text,
                             int64_t version, pawl_error *why)
{
    char name[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id.uuid, name);
    return pawl_error_set(why, PAWL_ECONFLICT, "saga %.*s %s: %s %lld", PAWL_TEXT_ARGS(table->type),
                          name, text, (long long)version);
}

static pawl_code explain_taken(const pawl_saga_table *table, pawl_saga_id id,
                               const pawl_value *main, const pawl_value *transitional,
                               pawl_error *why)
{
    char name[PAWL_UUID_TEXT_SIZE + 1];
    char left[PAWL_VALUE_TEXT_SIZE];
    char right[PAWL_VALUE_TEXT_SIZE];
    pawl_uuid_format(id.uuid, name);
    return pawl_error_set(
        why, PAWL_EDUPLICATE, "saga %.*s %s: its id or a correlation value (%s, %s) exists already",
        PAWL_TEXT_ARGS(table->type), name,
        main != NULL ? pawl_value_format(main, left, sizeof left) : "main unchanged",
        pawl_value_format(transitional, right, sizeof right));
}

pawl_code pawl__why_not_deleted(const void *change, pawl_error *why)
{
    const pawl_saga_delete *gone = change;
    return say_version(gone->table, gone->id, "cannot be deleted: it is not there at version",
                       gone->version, why);
}

pawl_code pawl__why_not_inserted(const void *change, pawl_error *why)
{
    const pawl_saga_insert *row = change;
    return explain_taken(row->table, row->id, &row->main, &row->transitional, why);
}

pawl_code pawl__why_not_updated(const void *change, pawl_error *why)
{
    const pawl_saga_update *row = change;
    return say_version(row->table, row->id,
                       "another worker changed it first: it is not there at version", row->version,
                       why);
}

pawl_code pawl__why_value_taken(const void *change, pawl_error *why)
{
    const pawl_saga_update *row = change;
    return explain_taken(row->table, row->id, NULL, &row->transitional, why);
}

/* ---- The event store -------------------------------------------------------- */

pawl_code pawl__why_version_taken(const void *change, pawl_error *why)
{
    const pawl_event_append *append = change;
    return pawl_error_set(why, PAWL_ECONFLICT,
                          "stream %.*s: version %lld is taken: another worker appended first",
                          PAWL_TEXT_ARGS(append->stream), (long long)append->version);
}

pawl_code pawl__why_version_missing(const void *change, pawl_error *why)
{
    const pawl_event_append *append = change;
    return pawl_error_set(why, PAWL_ECONFLICT, "stream %.*s: version %lld is missing",
                          PAWL_TEXT_ARGS(append->stream), (long long)append->version - 1);
}

pawl_code pawl__why_not_moved(const void *change, pawl_error *why)
{
    const pawl_checkpoint_set *set = change;
    return pawl_error_set(why, PAWL_ECONFLICT,
                          "checkpoint %.*s: it is not at %lld: another worker moved it first",
                          PAWL_TEXT_ARGS(set->name), (long long)set->from);
}

/* ---- Timeouts ----------------------------------------------------------- */

static pawl_code say_timeout(pawl_timeout_id id, pawl_code code, const char *text, pawl_error *why)
{
    char name[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id.uuid, name);
    return pawl_error_set(why, code, "timeout %s: %s", name, text);
}

pawl_code pawl__why_not_leased(const void *change, pawl_error *why)
{
    const pawl_timeout_settle *settle = change;
    return say_timeout(settle->id, PAWL_EGONE,
                       "it is no longer leased by this owner, or was set anew", why);
}

pawl_code pawl__why_timeout_exists(const void *change, pawl_error *why)
{
    const pawl_timeout_set *set = change;
    return say_timeout(set->id, PAWL_EDUPLICATE,
                       "its id exists already, or its saga has set a timeout of this name", why);
}

/* ---- The outbox --------------------------------------------------------- */

pawl_code pawl__why_not_pending(const void *change, pawl_error *why)
{
    const pawl_outbox_settle *settle = change;
    return pawl_error_set(why, PAWL_EGONE, "outbox row %lld is not pending", (long long)settle->id);
}

pawl_code pawl__why_not_dead(const void *change, pawl_error *why)
{
    const pawl_outbox_reset *reset = change;
    return pawl_error_set(why, PAWL_EGONE, "outbox row %lld is not dead", (long long)reset->id);
}

pawl_code pawl__why_no_letter(const void *change, pawl_error *why)
{
    const pawl_dead_set *letter = change;
    char                 at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(letter->at, at);
    return pawl_error_set(why, PAWL_EGONE, "there is no dead letter %.*s of %.*s from %s any more",
                          PAWL_TEXT_ARGS(letter->message.id), PAWL_TEXT_ARGS(letter->endpoint), at);
}

/* Logs one per hour: a rebuild of a projection may meet many. */
static void say_differs(const pawl_outbox_add *add, const char *id)
{
    static _Atomic pawl_time due = PAWL_TIME_MIN;
    if (add->at < atomic_load(&due))
        return;
    atomic_store(&due, pawl_time_add(add->at, PAWL_HOURS(1)));
    pawl_log(PAWL_LOG_WARNING,
             "dispatch %s of %.*s was sent before with another type or body: the first form stays, "
             "and this one is passed over, as are others like it",
             id, PAWL_TEXT_ARGS(add->source));
}

pawl_code pawl__why_differs(const void *change, pawl_error *why)
{
    const pawl_outbox_add *add = change;
    char                   id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(add->dispatch_id.uuid, id);
    if (add->may_differ) {
        say_differs(add, id);
        return PAWL_OK;
    }
    return pawl_error_set(why, PAWL_EMISMATCH,
                          "dispatch %s of %.*s: the id is known with another type or body", id,
                          PAWL_TEXT_ARGS(add->source));
}

/* ---- Aggregators -------------------------------------------------------- */

pawl_code pawl__why_no_row(const void *change, pawl_error *why)
{
    const pawl_aggregator_remove *gone = change;
    return pawl_error_set(why, PAWL_ECONFLICT, "partition %.*s: there is no row to remove",
                          PAWL_TEXT_ARGS(gone->partition));
}

pawl_code pawl__why_not_removed(const pawl_leased_batch_remove *removal, size_t index,
                                pawl_error *why)
{
    return pawl_error_set(
        why, PAWL_ECONFLICT,
        "partition %.*s: row %lld of the leased batch (%zu of %zu) is gone or leased "
        "by another session",
        PAWL_TEXT_ARGS(removal->partition), (long long)removal->ids[index], index + 1,
        removal->id_count);
}

/* ---- What is no refusal of a change ------------------------------------- */

pawl_code pawl__why_fenced(const pawl_store *store, const char *driver, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EFENCED,
                          "%s: this worker was replaced (its epoch %lld is over)", driver,
                          (long long)store->epoch);
}

/* ---- Programs ------------------------------------------------------------- */

/* As a whole name: "order" is not in "order_id". */
static bool is_named(const char *names, pawl_text property)
{
    char all[PAWL__REACH_NAMES_SIZE + 8], one[PAWL__REACH_NAMES_SIZE + 8];
    (void)snprintf(all, sizeof all, " or %s or ", names);
    (void)snprintf(one, sizeof one, " or %.*s or ", PAWL_TEXT_ARGS(property));
    return strstr(all, one) != NULL;
}

void pawl__reach_name(char names[PAWL__REACH_NAMES_SIZE], pawl_text property)
{
    size_t size = strlen(names);
    if (is_named(names, property))
        return;
    (void)snprintf(names + size, PAWL__REACH_NAMES_SIZE - size, "%s%.*s", size == 0 ? "" : " or ",
                   PAWL_TEXT_ARGS(property));
}

pawl_code pawl__reach_refuse(const pawl_saga_table *table, const char names[PAWL__REACH_NAMES_SIZE],
                             int64_t count, pawl_error *error)
{
    char own[PAWL__REACH_NAMES_SIZE] = "";
    pawl__reach_name(own, table->main.property);
    if (table->transitional.type != PAWL_VALUE_NONE)
        pawl__reach_name(own, table->transitional.property);
    return pawl_error_set(
        error, PAWL_ESCHEMA,
        "saga %.*s: in table %.*s %lld%s row%s a value of %s and none of %s: no message would find "
        "the saga, and a second one would begin; first run the program that has %s as correlation "
        "and %.*s as transitional property, until every row has a value of it",
        PAWL_TEXT_ARGS(table->type), PAWL_TEXT_ARGS(table->name), (long long)count,
        count >= PAWL__REACH_COUNT_MAX ? " or more" : "", count == 1 ? " has" : "s have", names,
        own, names, PAWL_TEXT_ARGS(table->main.property));
}

pawl_code pawl__refuse_offset(const pawl_saga_table *table, const char *product, pawl_error *error)
{
    const pawl_correlation *asks = table->main.with_offset           ? &table->main
                                   : table->transitional.with_offset ? &table->transitional
                                                                     : NULL;
    if (asks == NULL)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "property '%.*s' asks for a time with an offset, which %s has no type "
                          "for: only SQL Server has datetimeoffset; leave out .with_offset",
                          PAWL_TEXT_ARGS(asks->property), product);
}

pawl_code pawl__refuse_offsets(const pawl_store *store, const pawl_saga_table *const *tables,
                               size_t count, pawl_error *error)
{
    if ((store->ops->promises & PAWL_STORE_HAS_OFFSETS) != 0)
        return PAWL_OK;
    for (size_t i = 0; i < count; i++) {
        pawl_code code = pawl__refuse_offset(tables[i], store->scheme, error);
        if (code != PAWL_OK)
            return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(tables[i]->type));
    }
    return PAWL_OK;
}
