/* hook.c - a store driver that wraps another one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"

#include "support/world.h"

static const pawl_store_ops *inner;
static pawl_store_ops        outer;
static char                  inner_url[1100];
static hook_fn              *hook_call;
static void                 *hook_context;

atomic_int hook_opened_ahead, hook_given_back;

static pawl_code run(hook_point point)
{
    return hook_call != NULL ? hook_call(point, hook_context) : PAWL_OK;
}

static pawl_code fail_call(pawl_code code, pawl_error *error)
{
    return pawl_error_set(error, code, "the test says %s", pawl_code_name(code));
}

static pawl_code hooked_open(pawl_store *store, const char *url, const pawl_store_options *options,
                             pawl_error *error)
{
    atomic_fetch_add(&hook_opened_ahead, options->claims_ahead);
    return inner->open(store, inner_url, options, error);
}

static pawl_code hooked_commit(pawl_store *store, const pawl_changes *changes,
                               pawl_refusals *refused, pawl_error *error)
{
    pawl_code code = run(HOOK_BEFORE_COMMIT);
    if (code != PAWL_OK)
        return fail_call(code, error);
    code = inner->commit(store, changes, refused, error);
    if (code != PAWL_OK)
        return code;
    code = run(HOOK_AFTER_COMMIT);
    return code == PAWL_OK ? code : fail_call(code, error);
}

static pawl_code hooked_count(pawl_store *store, pawl_text partition, const pawl_text *types,
                              size_t type_count, pawl_time now, pawl_aggregator_counts *counts,
                              pawl_error *error)
{
    pawl_code code = run(HOOK_BEFORE_COUNT);
    if (code != PAWL_OK)
        return fail_call(code, error);
    return inner->aggregator_count(store, partition, types, type_count, now, counts, error);
}

static pawl_code hooked_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                             const pawl_value *values, size_t count, pawl_saga_lock lock,
                             pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    pawl_code code = run(HOOK_BEFORE_LOAD);
    if (code != PAWL_OK)
        return fail_call(code, error);
    return inner->saga_load(store, table, key, values, count, lock, arena, rows, error);
}

static pawl_code hooked_claim(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                              pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code code = run(HOOK_BEFORE_CLAIM);
    return code == PAWL_OK ? inner->queue_claim(store, claim, arena, rows, error)
                           : fail_call(code, error);
}

static pawl_code hooked_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                             pawl_found *found, pawl_error *error)
{
    pawl_code code = asked->kind == PAWL_FIND_EVENTS ? run(HOOK_BEFORE_READ) : PAWL_OK;
    return code == PAWL_OK ? inner->find(store, asked, arena, found, error)
                           : fail_call(code, error);
}

static pawl_code hooked_lease(pawl_store *store, const pawl_leased_batch_claim *claim,
                              pawl_arena *arena, pawl_leased_batch *leased, pawl_error *error)
{
    pawl_code code = run(HOOK_BEFORE_LEASE);
    if (code != PAWL_OK)
        return fail_call(code, error);
    return inner->leased_batch_claim(store, claim, arena, leased, error);
}

static pawl_code hooked_end(pawl_store *store, pawl_time now, pawl_error *error)
{
    pawl_code code = run(HOOK_BEFORE_END);
    return code == PAWL_OK ? inner->worker_close(store, now, error) : fail_call(code, error);
}

static pawl_code hooked_wait(pawl_store *store, int64_t microseconds, int wake_fd,
                             pawl_error *error)
{
    atomic_fetch_add(&hook_given_back, microseconds == 0);
    return inner->wait(store, microseconds, wake_fd, error);
}

const char *hook_url(const char *url)
{
    static bool is_registered;
    pawl_store *store = NULL;
    must(pawl_store_open(url, NULL, &store, world_error()));
    inner = store->ops;
    pawl_store_close(store);
    outer                    = *inner;
    outer.scheme             = "hooked";
    outer.open               = hooked_open;
    outer.commit             = hooked_commit;
    outer.aggregator_count   = hooked_count;
    outer.saga_load          = hooked_load;
    outer.queue_claim        = hooked_claim;
    outer.find               = hooked_find;
    outer.leased_batch_claim = hooked_lease;
    outer.worker_close       = hooked_end;
    outer.wait               = inner->wait != NULL ? hooked_wait : NULL;
    snprintf(inner_url, sizeof inner_url, "%s", url);
    hook_set(NULL, NULL);
    if (!is_registered)
        must(pawl_store_register(&outer, world_error()));
    is_registered = true;
    return "hooked:store";
}

void hook_set(hook_fn *call, void *context)
{
    hook_call    = call;
    hook_context = context;
}
