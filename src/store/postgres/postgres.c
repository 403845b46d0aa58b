/* postgres.c - the PostgreSQL driver's table of operations, the only name that the module
 * exports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/sql/operations.h"

static void *native(pawl_store *base)
{
    pawl__pg *store = pawl__pg_of(base);
    if (store->main.pg == NULL) /* its session is lent */
        (void)pawl__pg_ready(base, NULL);
    store->main.is_handlers = true;
    return store->main.pg;
}

static pawl_code find(pawl_store *base, const pawl_find *asked, pawl_arena *arena,
                      pawl_found *found, pawl_error *error)
{
    return (asked->kind == PAWL_FIND_EVENTS ? pawl__pg_find_events
                                            : pawl__sql_find)(base, asked, arena, found, error);
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .abi        = PAWL_ABI,
    .scheme     = "postgres",
    .store_size = sizeof(pawl__pg),
    .promises   = PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE | PAWL_STORE_ROW_LOCKS |
                PAWL_STORE_KNOWS_REFUSED | PAWL_STORE_KEEPS_WAKE,

    .open                      = pawl__pg_open,
    .close                     = pawl__pg_close,
    .schema                    = pawl__pg_schema,
    .worker_open               = pawl__pg_worker_open,
    .worker_close              = pawl__pg_worker_close,
    .worker_crashed            = pawl__pg_worker_crashed,
    .worker_beat               = pawl__pg_worker_beat,
    .commit                    = pawl__pg_commit,
    .resolve                   = pawl__pg_resolve,
    .queue_claim               = pawl__pg_queue_claim,
    .queue_oldest              = pawl__pg_queue_oldest,
    .inbox_known               = pawl__pg_inbox_known,
    .saga_load                 = pawl__pg_saga_load,
    .saga_count                = pawl__pg_saga_count,
    .timeout_claim             = pawl__pg_timeout_claim,
    .timeout_reap              = pawl__pg_timeout_reap,
    .leased_batch_claim        = pawl__pg_leased_batch_claim,
    .aggregator_count          = pawl__pg_aggregator_count,
    .outbox_claim              = pawl__pg_outbox_claim,
    .lead                      = pawl__pg_lead,
    .unlead                    = pawl__pg_unlead,
    .next_due                  = pawl__pg_next_due,
    .stats                     = pawl__pg_stats,
    .sweep                     = pawl__pg_sweep,
    .wait                      = pawl__pg_wait,
    .interrupt                 = pawl__pg_interrupt,
    .handler_transaction_begin = pawl__pg_handler_transaction_begin,
    .handler_transaction_end   = pawl__sql_handler_transaction_end,
    .native                    = native,
    .native_type               = "PGconn",
    .enlist                    = pawl__pg_enlist,
    .find                      = find,
    .dead_count                = pawl__sql_dead_count,
    .stream_load               = pawl__pg_stream_load,
    .event_number              = pawl__pg_event_number,
    .checkpoint_get            = pawl__sql_checkpoint_get,
    .scan                      = pawl__sql_scan,
    .diagnose                  = pawl__pg_diagnose,
    .ready                     = pawl__pg_ready,
};
