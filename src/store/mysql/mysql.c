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

/* ---- Undone by the server ------------------------------------------------ */

/* A deadlock is told to one of its transactions, and Galera tells it to whoever changed what another
 * node had changed: it is undone, and done again at once. A wait for a lock that took the
 * whole deadline is none of these. */
#define TRIES_MAX 20
static bool is_again(pawl_store *base, pawl_code code, int64_t begun_ms, int *tries)
{
    bool is_early = pawl__mysql_clock_ms() - begun_ms < base->deadline_ms;
    return code == PAWL_EBUSY && is_early && !pawl__mysql_of(base)->sql.in_hold &&
           ++*tries < TRIES_MAX;
}

#define AGAIN(name, inner, parameters, ...)            \
    static pawl_code name parameters                   \
    {                                                  \
        int64_t   begun_ms = pawl__mysql_clock_ms();   \
        int       tries    = 0;                        \
        pawl_code code     = inner(__VA_ARGS__);       \
        while (is_again(base, code, begun_ms, &tries)) \
            code = inner(__VA_ARGS__);                 \
        return code;                                   \
    }

AGAIN(queue_claim, pawl__mysql_queue_claim,
      (pawl_store * base, const pawl_queue_claim *claim, pawl_arena *arena, pawl_queue_rows *rows,
       pawl_error *error),
      base, claim, arena, rows, error)
AGAIN(timeout_claim, pawl__sql_timeout_claim,
      (pawl_store * base, const pawl_timeout_claim *claim, pawl_arena *arena,
       pawl_timeout_rows *rows, pawl_error *error),
      base, claim, arena, rows, error)
AGAIN(snapshot_claim, pawl__sql_snapshot_claim,
      (pawl_store * base, const pawl_snapshot_claim *claim, pawl_arena *arena, pawl_snapshot *rows,
       pawl_error *error),
      base, claim, arena, rows, error)
AGAIN(worker_open, pawl__sql_worker_open,
      (pawl_store * base, pawl_text endpoint, pawl_text types, pawl_time now, pawl_error *error),
      base, endpoint, types, now, error)
AGAIN(worker_close, pawl__sql_worker_close, (pawl_store * base, pawl_time now, pawl_error *error),
      base, now, error)
AGAIN(lead, pawl__sql_lead,
      (pawl_store * base, pawl_text name, pawl_time now, int64_t time, bool *is_ours,
       pawl_error *error),
      base, name, now, time, is_ours, error)
AGAIN(unlead, pawl__sql_unlead, (pawl_store * base, pawl_text name, pawl_error *error), base, name,
      error)

/* Refusals of a round that was undone are found again. */
static pawl_code commit(pawl_store *base, const pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error)
{
    int64_t   begun_ms = pawl__mysql_clock_ms();
    size_t    before   = refused->count;
    int       tries    = 0;
    bool      in_hold  = pawl__mysql_of(base)->sql.in_hold;
    pawl_code code     = pawl__mysql_commit(base, changes, refused, error);
    while (!in_hold && is_again(base, code, begun_ms, &tries)) {
        refused->count = before;
        code           = pawl__mysql_commit(base, changes, refused, error);
    }
    return code;
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
    .worker_open      = worker_open,
    .worker_close     = worker_close,
    .worker_list      = pawl__sql_worker_list,
    .commit           = commit,
    .resolve          = pawl__mysql_resolve,
    .queue_claim      = queue_claim,
    .inbox_known      = pawl__sql_inbox_known,
    .saga_load        = pawl__sql_saga_load,
    .saga_count       = pawl__sql_saga_count,
    .timeout_claim    = timeout_claim,
    .timeout_reap     = pawl__sql_timeout_reap,
    .snapshot_claim   = snapshot_claim,
    .aggregator_get   = pawl__sql_aggregator_get,
    .aggregator_count = pawl__sql_aggregator_count,
    .flush_list       = pawl__sql_flush_list,
    .outbox_claim     = pawl__sql_outbox_claim,
    .lead             = lead,
    .unlead           = unlead,
    .subscriptions    = pawl__sql_subscriptions,
    .next_due         = pawl__mysql_next_due,
    .stats            = pawl__sql_stats,
    .queue_oldest     = pawl__sql_queue_oldest,
    .outbox_find      = pawl__sql_outbox_find,
    .sweep            = pawl__sql_sweep,
    .wait             = pawl__mysql_wait,
    .interrupt        = pawl__mysql_interrupt,
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
    .stream_load      = pawl__sql_stream_load,
    .event_list       = pawl__sql_event_list,
    .event_number     = pawl__sql_event_number,
    .checkpoint_get   = pawl__sql_checkpoint_get,
    .lead_list        = pawl__sql_lead_list,
    .timeout_foreign  = pawl__sql_timeout_foreign,
    .ready            = pawl__mysql_ready,
};
