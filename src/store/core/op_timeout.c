/* op_timeout.c - timeouts as single calls: insert, batch, remove, release; and an operator sets, cancels, moves or
 * releases timeouts, or reaps expired leases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"

#define WHAT "batch of timeouts"
#define LOOK_AGAIN PAWL_MINUTES(1) /* when nothing is known to become due */

static pawl_timeout_set set_of(const pawl_timeout_row *timeout)
{
    return (pawl_timeout_set){.id             = timeout->id,
                              .saga_id        = timeout->saga_id,
                              .saga_type      = timeout->saga_type,
                              .name           = timeout->name,
                              .destination    = timeout->destination,
                              .due            = timeout->due,
                              .headers        = timeout->headers,
                              .correlation_id = timeout->correlation_id};
}

pawl_code pawl_store_timeout_insert(pawl_store *store, const pawl_timeout_row *timeout,
                                    pawl_time now, pawl_error *error)
{
    pawl_timeout_set change = set_of(timeout);
    change.is_new           = true;
    pawl_code code          = pawl__texts_check("timeout: headers", timeout->headers, error);
    return code == PAWL_OK ? PAWL__COMMIT_ONE(timeout_set, &change) : code;
}

static pawl_code check_batch(const pawl_store *store, const pawl_timeout_batch_options *options,
                             pawl_error *error)
{
    pawl_code code =
        pawl__store_call_needs(store, store->ops->timeout_claim != NULL, "timeout_claim", error);
    if (code == PAWL_OK)
        code = pawl__operation_size(WHAT, options->size, error);
    if (code == PAWL_OK)
        code = pawl__operation_lease(WHAT, options->lease, error);
    if (code == PAWL_OK && pawl_uuid_is_zero(options->owner.uuid))
        code = pawl_error_set(error, PAWL_EINVAL, WHAT ": the owner is zero");
    return code;
}

pawl_code pawl_store_timeout_batch(pawl_store *store, const pawl_timeout_batch_options *options,
                                   pawl_time now, pawl_arena *arena, pawl_timeout_rows *rows,
                                   pawl_error *error)
{
    *rows          = (pawl_timeout_rows){.next_due = pawl_time_add(now, LOOK_AGAIN)};
    pawl_code code = check_batch(store, options, error);
    if (code == PAWL_OK)
        code = pawl__store_attach(store, now, error);
    if (code != PAWL_OK)
        return code;
    pawl_timeout_claim claim = {
        .destination = options->destination,
        .due_max     = now,
        .count_max   = options->size != PAWL_SIZE_DEFAULT ? (size_t)options->size : 0,
        .owner       = options->owner,
        .now         = now,
        .lease       = options->lease,
    };
    code = pawl_store_timeout_claim(store, &claim, arena, rows, error);
    if (rows->next_due == PAWL_TIME_MAX)
        rows->next_due = pawl_time_add(now, LOOK_AGAIN);
    return code;
}

/* A zero owner is refused, since it would match free rows. */
static pawl_code settle(pawl_store *store, pawl_timeout_action action, pawl_timeout_id id,
                        const pawl_session_id *owner, pawl_time now, pawl_error *error)
{
    pawl_timeout_settle change = {.action = action, .id = id, .has_owner = owner != NULL};
    if (owner != NULL)
        change.owner = *owner;
    if (owner != NULL && pawl_uuid_is_zero(owner->uuid))
        return pawl_error_set(error, PAWL_EINVAL, "%s of a timeout: the owner is zero",
                              action == PAWL_TIMEOUT_REMOVE ? "remove" : "release");
    return PAWL__COMMIT_ONE(timeout_settle, &change);
}

pawl_code pawl_store_timeout_remove(pawl_store *store, pawl_timeout_id id,
                                    const pawl_session_id *owner, pawl_time now, pawl_error *error)
{
    return settle(store, PAWL_TIMEOUT_REMOVE, id, owner, now, error);
}

pawl_code pawl_store_timeout_release(pawl_store *store, pawl_timeout_id id,
                                     const pawl_session_id *owner, pawl_time now, pawl_error *error)
{
    return settle(store, PAWL_TIMEOUT_RELEASE, id, owner, now, error);
}

/* ---- Timeouts that an operator amends ---------------------------------------- *
 *
 * One commit contains the changes and an event (who, when, why, which timeouts). The event must not
 * list a timeout that was refused. So a refusal refuses the whole commit, which is then tried again
 * without the refused timeouts.
 *
 * Each change requires the generation that was read. A claim does not raise it, so the operator also
 * changes timeouts that a worker has claimed; that worker's commit is then refused.
 * A lease that is reaped must still be the expired one. */

#define NOUN "timeouts"

static pawl_code no_memory(size_t count, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu timeouts", count);
}

static pawl__action action_of(const pawl_timeout_amend *amend, pawl_text name)
{
    static const char *const types[] = {[PAWL_AMEND_CANCEL]  = PAWL_TIMEOUTS_CANCELLED,
                                        [PAWL_AMEND_MOVE]    = PAWL_TIMEOUTS_MOVED,
                                        [PAWL_AMEND_SHIFT]   = PAWL_TIMEOUTS_MOVED,
                                        [PAWL_AMEND_RUN_NOW] = PAWL_TIMEOUTS_RUN_NOW,
                                        [PAWL_AMEND_REAP]    = PAWL_TIMEOUTS_REAPED};
    return (pawl__action){PAWL_TIMEOUTS_STREAMS, NOUN,      name,
                          types[amend->action],  amend->by, amend->reason};
}

static pawl_code check(const pawl_timeout_amend *amend, size_t count, pawl_error *error)
{
    if ((unsigned)amend->action > PAWL_AMEND_REAP)
        return pawl_error_set(error, PAWL_EINVAL, NOUN ": action %d is unknown",
                              (int)amend->action);
    if (count > PAWL_BATCH_MESSAGES_MAX)
        return pawl_error_set(error, PAWL_EINVAL, NOUN ": %zu to change in one commit, limit %d",
                              count, PAWL_BATCH_MESSAGES_MAX);
    const pawl__action action = action_of(amend, PAWL_TEXT("all"));
    return pawl__action_check(&action, error);
}

/* ---- The changes ---------------------------------------------------------- */

/* False: the row has no expired lease to reap. */
static bool make_settle(const pawl_timeout_amend *amend, const pawl_timeout_row *row, pawl_time now,
                        pawl_timeout_settle *settle)
{
    *settle = (pawl_timeout_settle){.action     = PAWL_TIMEOUT_RETRY,
                                    .id         = row->id,
                                    .generation = row->generation,
                                    .attempts   = row->attempts,
                                    .due        = row->due};
    switch (amend->action) {
    case PAWL_AMEND_CANCEL: settle->action = PAWL_TIMEOUT_REMOVE; break;
    case PAWL_AMEND_MOVE: settle->due = amend->due; break;
    case PAWL_AMEND_SHIFT: settle->due = pawl_time_add(row->due, amend->shift); break;
    case PAWL_AMEND_RUN_NOW:
        settle->due      = row->due < now ? row->due : now;
        settle->attempts = 0;
        break;
    case PAWL_AMEND_REAP:
        settle->action    = PAWL_TIMEOUT_RELEASE;
        settle->has_owner = true;
        settle->owner     = row->owner;
        return !pawl_uuid_is_zero(row->owner.uuid) && row->lease_expires <= now;
    }
    return true;
}

static bool put_text(yyjson_mut_doc *doc, yyjson_mut_val *item, const char *key, pawl_text text)
{
    return yyjson_mut_obj_add_strncpy(doc, item, key, text.size != 0 ? text.data : "", text.size);
}

/* The timeouts before the change: [{"id":"...","name":"...","due":"...","saga_type":"...","saga_id":"..."},
 * ...]; data NULL: out of memory. */
static pawl_text body_of(const pawl_timeout_row *const *rows, size_t count, pawl_arena *arena)
{
    yyjson_mut_doc *doc   = pawl__texts_begin();
    yyjson_mut_val *list  = doc != NULL ? yyjson_mut_arr(doc) : NULL;
    bool            is_ok = list != NULL;
    if (is_ok)
        yyjson_mut_doc_set_root(doc, list);
    for (size_t i = 0; is_ok && i < count; i++) {
        char            id[PAWL_UUID_TEXT_SIZE + 1], due[PAWL_TIME_TEXT_SIZE + 1];
        char            saga[PAWL_UUID_TEXT_SIZE + 1];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        pawl_uuid_format(rows[i]->id.uuid, id);
        pawl_uuid_format(rows[i]->saga_id.uuid, saga);
        pawl_time_format(rows[i]->due, due);
        is_ok = item != NULL && yyjson_mut_obj_add_strcpy(doc, item, "id", id) &&
                put_text(doc, item, "name", rows[i]->name) &&
                yyjson_mut_obj_add_strcpy(doc, item, "due", due) &&
                put_text(doc, item, "saga_type", rows[i]->saga_type) &&
                yyjson_mut_obj_add_strcpy(doc, item, "saga_id", saga);
    }
    return pawl__texts_done(doc, is_ok, arena);
}

/* ---- The commit ------------------------------------------------------------ */

typedef struct parts {
    const pawl_timeout_row **rows; /* still to be changed */
    pawl_timeout_settle     *settles;
    bool                    *is_refused;
    size_t                   count;
} parts;

/* Each commit has a stream of its own, so that concurrent commits do not conflict. */
static pawl_code make_event(pawl_store *store, pawl__action action,
                            const pawl_timeout_row *const *rows, size_t count, pawl_time now,
                            pawl_arena *arena, pawl_event_append *event, pawl_error *error)
{
    char stream[PAWL_UUID_TEXT_SIZE + 1], id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(pawl__store_new_id(store, now), stream);
    pawl_uuid_format(rows[0]->id.uuid, id);
    action.name = pawl_text_of(stream);
    pawl_code code =
        pawl__action_event(store, &action, pawl__texts_begin(), now, arena, event, error);
    if (code != PAWL_OK)
        return code;
    event->event.message_id = pawl_arena_text(arena, pawl_text_of(id));
    event->event.body       = body_of(rows, count, arena);
    return event->event.message_id.data != NULL && event->event.body.data != NULL
               ? PAWL_OK
               : no_memory(count, error);
}

static pawl_code commit(pawl_store *store, const pawl_timeout_amend *amend, parts *made,
                        pawl_time now, pawl_arena *arena, pawl_refusals *refused, pawl_error *error)
{
    pawl_event_append event = {.unit = 0};
    *refused                = (pawl_refusals){.arena = arena};
    pawl_code code = make_event(store, action_of(amend, PAWL_TEXT("")), made->rows, made->count,
                                now, arena, &event, error);
    if (code != PAWL_OK)
        return code;
    event.unit = (uint32_t)made->count;
    for (size_t i = 0; i < made->count; i++)
        made->settles[i].unit = (uint32_t)i;
    pawl_changes changes = {.now            = now,
                            .unit_count     = (uint32_t)made->count + 1,
                            .group_count    = 1,
                            .event_append   = {&event, 1},
                            .timeout_settle = {made->settles, made->count}};
    return pawl_store_commit(store, &changes, refused, error);
}

/* Removes the refused timeouts. False: another change than a timeout's was refused. */
static bool leave_out(const pawl_refusals *refused, parts *made)
{
    size_t count = 0;
    for (size_t i = 0; i < made->count; i++)
        made->is_refused[i] = false;
    for (size_t i = 0; i < refused->count; i++) {
        if (refused->items[i].kind != pawl_change_timeout_settle)
            return false;
        made->is_refused[refused->items[i].unit] = true;
    }
    for (size_t i = 0; i < made->count; i++) {
        if (made->is_refused[i])
            continue;
        made->rows[count]      = made->rows[i];
        made->settles[count++] = made->settles[i];
    }
    made->count = count;
    return true;
}

static pawl_code take_parts(size_t count, pawl_arena *arena, parts *made, pawl_error *error)
{
    made->rows       = pawl_arena_take(arena, count * sizeof *made->rows);
    made->settles    = pawl_arena_take(arena, count * sizeof *made->settles);
    made->is_refused = pawl_arena_take(arena, count * sizeof *made->is_refused);
    return made->rows != NULL && made->settles != NULL && made->is_refused != NULL
               ? PAWL_OK
               : no_memory(count, error);
}

static pawl_code amend_all(pawl_store *store, const pawl_timeout_row *rows, size_t count,
                           const pawl_timeout_amend *amend, pawl_time now, pawl_arena *arena,
                           parts *made, pawl_error *error)
{
    pawl_refusals refused = {.count = 0};
    pawl_code     code    = take_parts(count, arena, made, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; i < count; i++)
        if (make_settle(amend, &rows[i], now, &made->settles[made->count]))
            made->rows[made->count++] = &rows[i];
    while (made->count > 0) {
        code = commit(store, amend, made, now, arena, &refused, error);
        if (code != PAWL_OK || refused.count == 0)
            return code;
        if (!leave_out(&refused, made))
            return pawl_error_set(error, refused.items[0].reason, NOUN ": %.*s",
                                  PAWL_TEXT_ARGS(refused.items[0].text));
    }
    return PAWL_OK;
}

pawl_code pawl_store_timeout_amend(pawl_store *store, const pawl_timeout_row *rows, size_t count,
                                   const pawl_timeout_amend *amend, pawl_time now, size_t *amended,
                                   pawl_error *error)
{
    parts     made = {.count = 0};
    pawl_code code = check(amend, count, error);
    *amended       = 0;
    if (code != PAWL_OK || count == 0)
        return code;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    code = amend_all(store, rows, count, amend, now, arena, &made, error);
    if (code == PAWL_OK)
        *amended = made.count;
    pawl_arena_destroy(arena);
    return code;
}

/* ---- One that is set --------------------------------------------------------- */

static pawl_code set_one(pawl_store *store, pawl_timeout_row *row, const pawl__action *action,
                         pawl_time now, pawl_arena *arena, pawl_error *error)
{
    const pawl_timeout_row *rows[] = {row};
    pawl_event_append       event  = {.unit = 0};
    if (pawl_uuid_is_zero(row->id.uuid))
        row->id.uuid = pawl__store_new_id(store, now);
    pawl_code code = make_event(store, *action, rows, 1, now, arena, &event, error);
    if (code != PAWL_OK)
        return code;
    pawl_timeout_set set     = set_of(row);
    pawl_changes     changes = {PAWL__ONE_UNIT(now), .event_append = {&event, 1},
                                .timeout_set = {&set, 1}};
    return pawl_store_commit(store, &changes, NULL, error);
}

pawl_code pawl_store_timeout_set(pawl_store *store, const pawl_timeout_row *timeout, pawl_text by,
                                 pawl_text reason, pawl_time now, pawl_timeout_id *id,
                                 pawl_error *error)
{
    const pawl__action action = {PAWL_TIMEOUTS_STREAMS, NOUN, PAWL_TEXT("set"),
                                 PAWL_TIMEOUTS_SET,     by,   reason};
    pawl_timeout_row   row    = *timeout;
    pawl_code          code   = pawl__action_check(&action, error);
    if (code != PAWL_OK)
        return code;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return no_memory(1, error);
    code = set_one(store, &row, &action, now, arena, error);
    if (code == PAWL_OK && id != NULL)
        *id = row.id;
    pawl_arena_destroy(arena);
    return code;
}
