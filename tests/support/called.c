/* called.c - driver entries that check their output parameters and return what the test sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/called.h"

/* Entries ignore some parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct called  called;
pawl_store_ops called_ops;

static pawl_code answer(const char *entry, bool is_empty, pawl_error *error)
{
    called.calls++;
    called.called = entry;
    assert_true(is_empty);
    return minimal_answer(called.code, error);
}

static pawl_code fake_ready(pawl_store *store, pawl_error *error)
{
    called.ready_calls++;
    return minimal_answer(called.ready_code, error);
}

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    return answer("commit", true, error);
}

static void fake_interrupt(pawl_store *store)
{
    called.void_calls++;
}

static void fake_handler_transaction_end(pawl_store *store)
{
    called.void_calls++;
}

static void *fake_native(pawl_store *store)
{
    called.void_calls++;
    return store;
}

static pawl_queue_message some[7]; /* rows of the largest type that is read */
#define ARRAY (called.has_no_array ? NULL : (void *)some)

#define ENTRY(name, parameters, empty, spoil)  \
    static pawl_code fake_##name parameters    \
    {                                          \
        bool is_empty = (empty);               \
        spoil;                                 \
        return answer(#name, is_empty, error); \
    }
ENTRY(worker_open,
      (pawl_store * store, pawl_text endpoint, pawl_text types, pawl_time now, pawl_error *error),
      true, )
ENTRY(worker_close, (pawl_store * store, pawl_time now, pawl_error *error), true, )
ENTRY(worker_heartbeat,
      (pawl_store * store, const pawl_worker_id *workers, size_t count, pawl_time now,
       pawl_error *error),
      true, )
ENTRY(unlead, (pawl_store * store, pawl_text lead, pawl_error *error), true, )
ENTRY(wait, (pawl_store * store, int64_t microseconds, int wake_fd, pawl_error *error), true, )
ENTRY(handler_transaction_begin, (pawl_store * store, pawl_error *error), true, )
ENTRY(enlist, (pawl_store * store, void *native, const pawl_changes *changes, pawl_error *error),
      true, )
ENTRY(worker_crashed,
      (pawl_store * store, pawl_arena *arena, pawl_worker_info **items, size_t *count,
       pawl_error *error),
      *items == NULL && *count == 0, (*count = 7, *items = (void *)store))
ENTRY(find,
      (pawl_store * store, const pawl_find *asked, pawl_arena *arena, pawl_found *found,
       pawl_error *error),
      found->items == NULL && found->count == 0, (found->count = 7, found->items = ARRAY))
ENTRY(dead_count,
      (pawl_store * store, pawl_arena *arena, pawl_dead_counts *counts, pawl_error *error),
      counts->items == NULL && counts->count == 0,
      (counts->count = 7, counts->items = (void *)store))
ENTRY(diagnose,
      (pawl_store * store, const pawl_diagnosis *asked, pawl_arena *arena, pawl_finding_rows *rows,
       pawl_error *error),
      rows->items == NULL && rows->count == 0, (rows->count = 7, rows->items = (void *)store))
ENTRY(scan,
      (pawl_store * store, const pawl_scan *scan, pawl_arena *arena, pawl_scan_rows *rows,
       pawl_error *error),
      rows->items == NULL && rows->count == 0, (rows->count = 7, rows->items = ARRAY))
ENTRY(queue_claim,
      (pawl_store * store, const pawl_queue_claim *claim, pawl_arena *arena, pawl_queue_rows *rows,
       pawl_error *error),
      rows->count == 0 && !rows->is_taken,
      (rows->count = 7, rows->items = ARRAY, rows->is_taken = true))
ENTRY(queue_oldest,
      (pawl_store * store, pawl_text queue, pawl_time due_max, const int64_t *except,
       size_t except_count, pawl_time *placed, int64_t *seq, pawl_error *error),
      *placed == PAWL_TIME_MAX && *seq == INT64_MAX, *placed = *seq = 7)
ENTRY(inbox_known,
      (pawl_store * store, pawl_text endpoint, const pawl_text *ids, size_t count, bool *known,
       pawl_error *error),
      !known[0] && !known[1], known[0] = known[1] = true)
ENTRY(saga_load,
      (pawl_store * store, const pawl_saga_table *sagas, pawl_saga_key key,
       const pawl_value *values, size_t count, pawl_saga_lock lock, pawl_arena *arena,
       pawl_saga_row *rows, pawl_error *error),
      rows[0].version == 0 && rows[1].version == 0 && rows[1].presence == PAWL_SAGA_MISSING,
      rows[0].version = rows[1].version = 7)
ENTRY(saga_count,
      (pawl_store * store, const pawl_saga_table *sagas, int64_t *count, pawl_error *error),
      *count == 0, *count = 7)
ENTRY(timeout_claim,
      (pawl_store * store, const pawl_timeout_claim *claim, pawl_arena *arena,
       pawl_timeout_rows *rows, pawl_error *error),
      rows->count == 0 && rows->next_due == PAWL_TIME_MAX, (rows->count = 7, rows->items = ARRAY))
ENTRY(timeout_reap, (pawl_store * store, pawl_time now, int64_t *count, pawl_error *error),
      *count == 0, *count = 7)
ENTRY(leased_batch_claim,
      (pawl_store * store, const pawl_leased_batch_claim *claim, pawl_arena *arena,
       pawl_leased_batch *leased, pawl_error *error),
      leased->count == 0, (leased->count = 7, leased->items = ARRAY))
ENTRY(aggregator_count,
      (pawl_store * store, pawl_text partition, const pawl_text *types, size_t type_count,
       pawl_time now, pawl_aggregator_counts *counts, pawl_error *error),
      counts->all == 0 && !counts->flush_is_dead, counts->all = 7)
ENTRY(outbox_claim,
      (pawl_store * store, pawl_text endpoint, pawl_time now, size_t count_max, pawl_arena *arena,
       pawl_outbox_rows *rows, pawl_error *error),
      rows->count == 0 && rows->next_attempt == PAWL_TIME_MAX,
      (rows->count = 7, rows->items = ARRAY))
ENTRY(lead,
      (pawl_store * store, pawl_text lead, pawl_time now, int64_t lease, bool *is_ours,
       pawl_error *error),
      !*is_ours, *is_ours = true)
ENTRY(next_due,
      (pawl_store * store, pawl_text queue, const pawl_text *aggregators, size_t aggregator_count,
       pawl_next_due *next, pawl_error *error),
      next->queue == PAWL_TIME_MAX && next->timeout == PAWL_TIME_MAX &&
          next->flush == PAWL_TIME_MAX,
      next->queue = next->timeout = next->flush = 7)
ENTRY(stats,
      (pawl_store * store, pawl_time now, pawl_arena *arena, pawl_stats *stats, pawl_error *error),
      stats->stats_size == sizeof *stats && stats->dead == 0 && stats->queue_count == 0,
      stats->dead = 7)
ENTRY(sweep,
      (pawl_store * store, const pawl_sweep *sweep, int64_t *count, bool *more, pawl_error *error),
      *count == 0 && !*more, (*count = 7, *more = true))
ENTRY(stream_load,
      (pawl_store * store, const pawl_stream_read *reads, size_t count, pawl_arena *arena,
       pawl_stream *streams, pawl_error *error),
      streams[0].version == 0 && streams[1].version == 0,
      streams[0].version = streams[1].version = 7)
ENTRY(event_number, (pawl_store * store, size_t count_max, int64_t *count, pawl_error *error),
      *count == 0, *count = 7)
ENTRY(checkpoint_get,
      (pawl_store * store, pawl_text checkpoint, int64_t *position, pawl_error *error),
      *position == 0, *position = 7)

static const pawl_store_ops whole = {
    MINIMAL_STORE,
    .scheme                  = "called",
    .commit                  = fake_commit,
    .ready                   = fake_ready,
    .interrupt               = fake_interrupt,
    .handler_transaction_end = fake_handler_transaction_end,
    .native                  = fake_native,
    .native_type             = "fake",
    .promises                = PAWL_STORE_HAS_SQL,
};

void called_fill(pawl_store_ops *ops)
{
    *ops      = whole;
    ops->find = fake_find;
#define SET(entry) ops->entry = fake_##entry;
    CALLED_ENTRIES(SET)
#undef SET
}

pawl_store *called_open(const char *url)
{
    static bool is_registered;
    pawl_store *store = NULL;
    called_fill(&called_ops);
    memset(&called, 0, sizeof called);
    if (!is_registered)
        assert_int_equal(pawl_store_register(&called_ops, NULL), PAWL_OK);
    is_registered = true;
    assert_int_equal(pawl_store_open(url, NULL, &store, NULL), PAWL_OK);
    return test_store(store);
}
