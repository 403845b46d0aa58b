/* memory.c - operations on the whole store (schema, next due time, statistics, sweep, wait, hold),
 * and their table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include "store/core/core.h"

#include <poll.h>
#include <time.h>

/* Creates nothing, but may refuse a program's sagas. Drop empties the whole data set, whatever tables the
 * specification names. */
static pawl_code schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                        pawl_line_fn *line, void *context, pawl_error *error)
{
    if (verb == PAWL_SCHEMA_PLAN)
        return pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "memory: this store has no tables: there is no statement to say");
    if (verb == PAWL_SCHEMA_APPLY || verb == PAWL_SCHEMA_VERIFY) {
        pawl_code code = pawl__memory_check_reach(store, spec->tables, spec->table_count, error);
        if (code == PAWL_ESCHEMA && verb == PAWL_SCHEMA_VERIFY && line != NULL && error != NULL)
            line(pawl_text_of(error->text), context);
        return code;
    }
    if (verb == PAWL_SCHEMA_PRINT && line != NULL)
        line(PAWL_TEXT("-- the memory store has no schema"), context);
    if (verb != PAWL_SCHEMA_DROP)
        return PAWL_OK;
    memory_data *data = pawl__memory_enter(store);
    pawl__memory_empty(data);
    pawl__memory_leave(data);
    return PAWL_OK;
}

static void look_at_flushes(const memory_data *data, const pawl_text *aggregators, size_t count,
                            pawl_next_due *next)
{
    for (size_t i = 0; i < count; i++) {
        pawl_time due = pawl__memory_flush_next_due(data, aggregators[i]);
        if (due < next->flush)
            next->flush = due;
    }
}

pawl_code pawl__memory_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                                size_t aggregator_count, pawl_next_due *next, pawl_error *error)
{
    (void)error;
    memory_data *data = pawl__memory_enter(store);
    next->queue       = pawl__memory_queue_next_due(data, queue);
    next->timeout     = pawl__memory_timeout_next_due(data, queue);
    look_at_flushes(data, aggregators, aggregator_count, next);
    pawl__memory_leave(data);
    return PAWL_OK;
}

pawl_code pawl__memory_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                             pawl_error *error)
{
    memory_data *data = pawl__memory_enter(store);
    pawl_code    code = pawl__memory_queue_stats(data, now, arena, stats);
    pawl__memory_timeout_stats(data, now, stats);
    pawl__memory_outbox_stats(data, stats);
    pawl__memory_flush_stats(data, now, stats);
    pawl__memory_worker_stats(data, stats);
    stats->aggregator_rows = (int64_t)data->aggregator.trees[0].count;
    stats->dead            = (int64_t)data->dead.trees[0].count;
    stats->inbox           = (int64_t)data->inbox.trees[0].count;
    pawl__memory_leave(data);
    return code == PAWL_OK ? PAWL_OK : pawl__memory_out_of_memory("statistics", error);
}

pawl_code pawl__memory_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                             pawl_error *error)
{
    (void)error;
    memory_data *data  = pawl__memory_enter(store);
    size_t       marks = pawl__memory_inbox_sweep(data, sweep->inbox_before, sweep->count_max);
    size_t       rows  = pawl__memory_outbox_sweep(data, sweep->outbox_before, sweep->count_max);
    size_t       ended = pawl__memory_worker_sweep(data, sweep->workers_before, sweep->count_max);
    *more = marks == sweep->count_max || rows == sweep->count_max || ended == sweep->count_max;
    size_t bodies = pawl__memory_bodies_sweep(data, sweep, more);
    *count        = (int64_t)(marks + rows + ended + bodies) +
             pawl__memory_history_sweep(data, sweep->history_before, sweep->count_max, more);
    if (sweep->outbox_count != NULL)
        *sweep->outbox_count = (int64_t)rows;
    pawl__memory_leave(data);
    return PAWL_OK;
}

/* No other process can commit, so only the descriptor can end the wait early. An
 * interrupt from before the call is ignored. A signal may end it early, too, which
 * callers must expect anyway. */
pawl_code pawl__memory_wait(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    const memory_store *self   = (const memory_store *)store;
    int64_t             left   = microseconds > 0 ? microseconds : 0;
    struct timespec     span   = {.tv_sec  = (time_t)(left / 1000000),
                                  .tv_nsec = (long)(left % 1000000 * 1000)};
    struct pollfd       ends[] = {{.fd = atomic_load(&self->wait.interrupt_fd), .events = POLLIN},
                                  {.fd = wake_fd, .events = POLLIN}};
    (void)pawl__wait_take(&self->wait);
    ppoll(ends, 2, &span, NULL); /* passes over a negative descriptor */
    if (pawl__wait_take(&self->wait))
        return pawl_error_set(error, PAWL_EINTERRUPTED, "wait: interrupted");
    return PAWL_OK;
}

/* wait() is the only call that blocks for longer than another thread's call. */
static void interrupt(pawl_store *store)
{
    pawl__wait_interrupt(&((const memory_store *)store)->wait);
}

static pawl_code handler_transaction_begin(pawl_store *store, pawl_error *error)
{
    (void)store;
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "the memory store has no connection of its own");
}

static void handler_transaction_end(pawl_store *store)
{
    (void)store;
}

static void *native_of(pawl_store *store)
{
    (void)store;
    return NULL;
}

/* No findings: there is no server, and there are no settings. */
pawl_code pawl__memory_diagnose(pawl_store *store, const pawl_diagnosis *asked, pawl_arena *arena,
                                pawl_finding_rows *rows, pawl_error *error)
{
    (void)store;
    if (asked->is_brief)
        return PAWL_OK;
    rows->items = pawl_arena_take(arena, sizeof *rows->items);
    if (rows->items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "memory: out of memory for findings");
    rows->items[rows->count++] = (pawl_finding){
        .name = PAWL_TEXT("memory"), .text = PAWL_TEXT("all is gone when this program ends")};
    return PAWL_OK;
}

/* No heartbeats: a handle ends with its process, as does the data. */
#define pawl__memory_worker_heartbeat NULL

const pawl_store_ops pawl__memory_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .abi        = PAWL_ABI,
    .scheme     = "memory",
    .store_size = sizeof(memory_store),
    .promises   = PAWL_STORE_CREATES | PAWL_STORE_HAS_WAKE | PAWL_STORE_FREE_CLAIMS |
                PAWL_STORE_KNOWS_REFUSED | PAWL_STORE_IN_PROCESS,
    .open                      = pawl__memory_open,
    .close                     = pawl__memory_close,
    .schema                    = schema,
    .commit                    = pawl__memory_commit,
    .interrupt                 = interrupt,
    .handler_transaction_begin = handler_transaction_begin,
    .handler_transaction_end   = handler_transaction_end,
    .native                    = native_of,
    .worker_crashed            = pawl__memory_worker_crashed,
#define ENTRY(name, ...) .name = pawl__memory_##name,
#include "store/core/entries.h"
#undef ENTRY
};
