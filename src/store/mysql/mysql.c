/* mysql.c - the driver's table of operations, the module's only exported name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"
#include "store/sql/operations.h"

static void *native(pawl_store *base)
{
    return pawl__mysql_of(base)->main.mysql;
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .scheme     = "mysql",
    .store_size = sizeof(pawl__mysql),
    .promises =
        PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE | PAWL_STORE_ROW_LOCKS | PAWL_STORE_KNOWS_REFUSED,

    .open             = pawl__mysql_open,
    .close            = pawl__mysql_close,
    .schema           = pawl__mysql_schema,
    .worker_open      = pawl__sql_worker_open,
    .worker_close     = pawl__sql_worker_close,
    .worker_list      = pawl__sql_worker_list,
    .commit           = pawl__sql_lock_commit,
    .resolve          = pawl__sql_resolve,
    .queue_claim      = pawl__sql_lock_claim,
    .inbox_known      = pawl__sql_inbox_known,
    .saga_load        = pawl__sql_saga_load,
    .saga_count       = pawl__sql_saga_count,
    .timeout_claim    = pawl__sql_timeout_claim,
    .timeout_reap     = pawl__sql_timeout_reap,
    .snapshot_claim   = pawl__sql_snapshot_claim,
    .aggregator_get   = pawl__sql_aggregator_get,
    .aggregator_count = pawl__sql_aggregator_count,
    .flush_list       = pawl__sql_flush_list,
    .outbox_claim     = pawl__sql_outbox_claim,
    .lead             = pawl__sql_lead,
    .unlead           = pawl__sql_unlead,
    .subscriptions    = pawl__sql_subscriptions,
    .next_due         = pawl__sql_lock_next_due,
    .stats            = pawl__sql_stats,
    .queue_oldest     = pawl__sql_queue_oldest,
    .outbox_find      = pawl__sql_outbox_find,
    .sweep            = pawl__sql_sweep,
    .wait             = pawl__sql_wait,
    .interrupt        = pawl__sql_interrupt,
    .hold_begin       = pawl__mysql_hold_begin,
    .hold_end         = pawl__mysql_hold_end,
    .native           = native,
    .native_type      = "MYSQL",
    .enlist           = pawl__mysql_enlist,
    .queue_list       = pawl__sql_queue_list,
    .timeout_list     = pawl__sql_timeout_list,
    .outbox_list      = pawl__sql_outbox_list,
    .outbox_attempts  = pawl__sql_outbox_attempts,
    .dead_list        = pawl__sql_dead_list,
    .dead_find        = pawl__sql_dead_find,
    .stream_load      = pawl__sql_stream_load,
    .event_list       = pawl__sql_event_list,
    .event_number     = pawl__sql_event_number,
    .checkpoint_get   = pawl__sql_checkpoint_get,
    .lead_list        = pawl__sql_lead_list,
    .timeout_foreign  = pawl__sql_timeout_foreign,
    .walk             = pawl__sql_walk,
    .ready            = pawl__mysql_ready,
};
