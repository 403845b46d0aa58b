/* postgres.c - the PostgreSQL driver's table of operations, the module's only
 * exported name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"

static void *native(pawl_store *base)
{
    return pawl__postgres_of(base)->main.pg;
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .scheme     = "postgres",
    .store_size = sizeof(pawl__postgres),
    .promises =
        PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE | PAWL_STORE_ROW_LOCKS | PAWL_STORE_KNOWS_REFUSED,

    .open             = pawl__postgres_open,
    .close            = pawl__postgres_close,
    .schema           = pawl__postgres_schema,
    .worker_open      = pawl__postgres_worker_open,
    .worker_close     = pawl__postgres_worker_close,
    .worker_list      = pawl__postgres_worker_list,
    .commit           = pawl__postgres_commit,
    .resolve          = pawl__postgres_resolve,
    .queue_claim      = pawl__postgres_claim_queue,
    .queue_oldest     = pawl__postgres_oldest_queued,
    .inbox_known      = pawl__postgres_inbox_known,
    .saga_load        = pawl__postgres_saga_load,
    .saga_count       = pawl__postgres_saga_count,
    .timeout_claim    = pawl__postgres_timeout_claim,
    .timeout_reap     = pawl__postgres_timeout_reap,
    .snapshot_claim   = pawl__postgres_snapshot_claim,
    .aggregator_get   = pawl__postgres_aggregator_get,
    .aggregator_count = pawl__postgres_aggregator_count,
    .flush_list       = pawl__postgres_flush_list,
    .outbox_claim     = pawl__postgres_outbox_claim,
    .lead             = pawl__postgres_lead,
    .unlead           = pawl__postgres_unlead,
    .subscriptions    = pawl__postgres_subscriptions,
    .next_due         = pawl__postgres_next_due,
    .stats            = pawl__postgres_stats,
    .sweep            = pawl__postgres_sweep,
    .wait             = pawl__postgres_wait,
    .interrupt        = pawl__postgres_interrupt,
    .hold_begin       = pawl__postgres_hold_begin,
    .hold_end         = pawl__postgres_hold_end,
    .native           = native,
    .enlist           = pawl__postgres_enlist,
    .queue_list       = pawl__postgres_list_queue,
    .timeout_list     = pawl__postgres_timeout_list,
    .outbox_list      = pawl__postgres_outbox_list,
    .outbox_attempts  = pawl__postgres_outbox_history,
    .dead_list        = pawl__postgres_dead_list,
    .outbox_find      = pawl__postgres_outbox_find,
    .stream_load      = pawl__postgres_stream_load,
    .event_list       = pawl__postgres_event_list,
    .event_number     = pawl__postgres_event_number,
    .checkpoint_get   = pawl__postgres_checkpoint_get,
    .lead_list        = pawl__postgres_lead_list,
    .timeout_foreign  = pawl__postgres_timeout_foreign,
};
