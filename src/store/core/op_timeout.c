/* op_timeout.c - timeouts as single calls: insert, batch, remove, release, reap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"
#include "store/core/call.h"

#define WHAT "batch of timeouts"
#define LOOK_AGAIN PAWL_MINUTES(1) /* when nothing is known to become due */

pawl_code pawl_store_timeout_insert(pawl_store *store, const pawl_timeout_row *timeout,
                                    pawl_time now, pawl_error *error)
{
    pawl_timeout_set change = {
        .id             = timeout->id,
        .saga_id        = timeout->saga_id,
        .saga_type      = timeout->saga_type,
        .name           = timeout->name,
        .destination    = timeout->destination,
        .due            = timeout->due,
        .headers        = timeout->headers,
        .correlation_id = timeout->correlation_id,
        .is_new         = true,
    };
    pawl_code code = pawl__texts_check("timeout: headers", timeout->headers, error);
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
