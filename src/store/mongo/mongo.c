/* mongo.c - the driver's table of operations, the module's only exported name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"
#include "store/mongo/operations.h"

static pawl_code hold_begin(pawl_store *store, pawl_error *error)
{
    (void)store;
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "mongodb: no transaction is open while handlers run");
}

static void hold_end(pawl_store *store)
{
    (void)store;
}

static void *native(pawl_store *store)
{
    (void)store;
    return NULL;
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .scheme     = "mongo",
    .store_size = sizeof(pawl__mongo),
    .promises   = PAWL_STORE_CREATES | PAWL_STORE_HAS_WAKE | PAWL_STORE_KNOWS_REFUSED,

    .open             = pawl__mongo_open,
    .close            = pawl__mongo_close,
    .ready            = pawl__mongo_ready,
    .schema           = pawl__mongo_schema,
    .worker_open      = pawl__mongo_worker_open,
    .worker_close     = pawl__mongo_worker_close,
    .worker_list      = pawl__mongo_worker_list,
    .worker_died      = pawl__mongo_worker_died,
    .commit           = pawl__mongo_commit,
    .resolve          = pawl__mongo_resolve,
    .enlist           = pawl__mongo_enlist,
    .queue_claim      = pawl__mongo_queue_claim,
    .queue_oldest     = pawl__mongo_queue_oldest,
    .queue_retried    = pawl__mongo_queue_retried,
    .queue_list       = pawl__mongo_queue_list,
    .queue_find       = pawl__mongo_queue_find,
    .inbox_known      = pawl__mongo_inbox_known,
    .saga_load        = pawl__mongo_saga_load,
    .saga_count       = pawl__mongo_saga_count,
    .timeout_claim    = pawl__mongo_timeout_claim,
    .timeout_reap     = pawl__mongo_timeout_reap,
    .timeout_list     = pawl__mongo_timeout_list,
    .timeout_foreign  = pawl__mongo_timeout_foreign,
    .snapshot_claim   = pawl__mongo_snapshot_claim,
    .aggregator_get   = pawl__mongo_aggregator_get,
    .aggregator_count = pawl__mongo_aggregator_count,
    .flush_list       = pawl__mongo_flush_list,
    .outbox_claim     = pawl__mongo_outbox_claim,
    .outbox_list      = pawl__mongo_outbox_list,
    .outbox_attempts  = pawl__mongo_outbox_attempts,
    .outbox_find      = pawl__mongo_outbox_find,
    .lead             = pawl__mongo_lead,
    .unlead           = pawl__mongo_unlead,
    .lead_list        = pawl__mongo_lead_list,
    .subscriptions    = pawl__mongo_subscriptions,
    .next_due         = pawl__mongo_next_due,
    .stats            = pawl__mongo_stats,
    .sweep            = pawl__mongo_sweep,
    .wait             = pawl__mongo_wait,
    .interrupt        = pawl__mongo_interrupt,
    .hold_begin       = hold_begin,
    .hold_end         = hold_end,
    .native           = native,
    .dead_list        = pawl__mongo_dead_list,
    .dead_find        = pawl__mongo_dead_find,
    .dead_count       = pawl__mongo_dead_count,
    .stream_load      = pawl__mongo_stream_load,
    .event_list       = pawl__mongo_event_list,
    .event_number     = pawl__mongo_event_number,
    .checkpoint_get   = pawl__mongo_checkpoint_get,
    .walk             = pawl__mongo_walk,
    .diagnose         = pawl__mongo_diagnose,
    .history_find     = pawl__mongo_history_find,
};
