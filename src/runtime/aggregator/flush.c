/* flush.c - passes the messages that aggregators have collected to their handlers.
 *
 *     by size      after a commit that added: is the gate open? The gate counts the rows that can be leased now. It
 *                  is read after the commit, so that of two workers at 48 of 50 at least one sees 50 (E18, E36), again
 *                  after each flush, and after a leased batch was released because it had too few rows.
 *     by period    the partition's flush row is due: flushes all rows that were there, in leased batches up to `max`,
 *                  each in its own commit. Several workers may share them. A worker whose last batch leaves rows to
 *                  others makes the partition due at the end of their leases; the last of all begins the next period.
 *     by request   as by period, now.
 *     after a crash a check of all partitions finds full and due ones.
 *
 * Each flush is a unit: lease a batch, run the handler, then one commit with its effects and the removal of the rows.
 * Partitions share a commit, each in its own group, except with own SQL. After a crash each has its own commit, with an
 * in-flight marker (isolated_timeout.c). A step leaves partitions to the next one when batch_time_max is over, the
 * endpoint stops, or its breaker opens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/aggregator/flush.h"
#include "runtime/worker/isolation/marker.h"

#include <string.h>

#define PARTITIONS_AT_ONCE 32
#define STRANGE_PERIOD PAWL_HOURS(1)
/* Two workers that lease rows of one full partition may each get too few. After so many tries a worker leaves the
 * partition to the next check. */
#define TOO_FEW_MAX 50
/* Pause while other workers have leased the rows of all due partitions, which stay due until then. */
#define VAIN_PAUSE PAWL_SECONDS(1)
#define COUNTED_SELDOM 1000 /* rows from which on a partition may be shut */
#define SHUT_PERIOD PAWL_SECONDS(5)

/* ---- One piece of one partition -------------------------------------------------- */

/* Logs, from time to time, that a partition has rows of unknown types. They stay, and delay nothing (A10). */
static void log_unknown_types(pawl__worker *worker, pawl_text partition,
                              const pawl_aggregator_counts *counts)
{
    if (counts->all == counts->resolved ||
        !pawl__take_due(&worker->endpoint->clock_log_due, worker->engine.machine_now,
                        STRANGE_PERIOD))
        return;
    pawl_log(PAWL_LOG_WARNING,
             "aggregator partition %.*s: %lld of its %lld rows are of types that this program does "
             "not know; they stay",
             PAWL_TEXT_ARGS(partition), (long long)(counts->all - counts->resolved),
             (long long)counts->all);
}

/* The entry for the partition in a small table, in which hashes may collide. */
static pawl__shut_gate *shut_of(pawl__worker *worker, pawl_text partition)
{
    return &worker->shut[pawl__text_hash(partition) % PAWL__SHUT_GATES];
}

/* Is the partition noted as one that need not be checked (see pawl__shut_gate)? Then a commit that adds to it does not
 * count all its rows again; the check of all partitions does. */
static bool is_shut(pawl__worker *worker, pawl_text partition)
{
    const pawl__shut_gate *gate = shut_of(worker, partition);
    return gate->partition == pawl__text_hash(partition) &&
           !pawl__is_due(gate->until, worker->engine.machine_now, SHUT_PERIOD);
}

static void shut(pawl__worker *worker, pawl_text partition)
{
    *shut_of(worker, partition) = (pawl__shut_gate){
        pawl__text_hash(partition), pawl_time_add(worker->engine.machine_now, SHUT_PERIOD)};
}

/* Reads the gate: sets is_done if there is nothing to flush. A flush by size also skips a dead partition and one that
 * waits for its next try. */
static pawl_code check_gate(pawl__worker *worker, pawl__flush_target *item, pawl_error *error)
{
    pawl_store             *store  = worker->store;
    pawl_aggregator_counts *counts = &item->gate;
    memset(counts, 0, sizeof *counts);
    pawl_code code = pawl_store_aggregator_counts(store, item->partition, item->aggregator->types,
                                                  item->aggregator->type_count,
                                                  worker->engine.machine_now, counts, error);
    if (code != PAWL_OK)
        return code;
    log_unknown_types(worker, item->partition, counts);
    bool is_waiting = counts->flush_attempts > 0 && counts->flush_due > worker->engine.business_now;
    if (counts->all >= COUNTED_SELDOM && (counts->flush_is_dead || is_waiting))
        shut(worker, item->partition);
    if (item->is_by_size)
        item->is_done =
            counts->ready < item->aggregator->size || counts->flush_is_dead || is_waiting;
    else
        item->is_done = counts->ready == 0 || (counts->flush_is_dead && item->is_checked);
    if (!item->is_by_size && !item->is_checked) {
        item->is_checked = true;
        item->id_max     = counts->id_last;
        item->left       = counts->resolved;
    }
    return PAWL_OK;
}

/* Is enough left for another leased batch, by the last count? To count all rows again for each batch would be slow. */
static bool is_open(const pawl__flush_target *item)
{
    return item->gate.ready >= (item->is_by_size ? item->aggregator->size : 1);
}

/* Time from a flush to the next one: the period, or, if other workers have leased rows, at most the lease, as they may
 * have died. */
static int64_t pause_of(const pawl__aggregator_model *aggregator, bool is_leased)
{
    int64_t pause = aggregator->period > 0 ? aggregator->period : INT64_MAX;
    return is_leased && pause > aggregator->lease ? aggregator->lease : pause;
}

/* Sets the next due time of a due partition with nothing to flush: its rows are undecodable, removed or too few.
 * Otherwise its flush row would stay the first due for ever. Exceptions: too few rows for a flush by size, if there is
 * a period, which flushes them; and rows that another worker has leased, as it sets the due time. (Undecodable rows are
 * leased, too, by a flush that has not failed: they are tried again after the lease.) For the last worker of a shared
 * flush, the flush is over and the next period begins. */
static pawl_code put_off(pawl__worker *worker, const pawl__flush_target *item, bool *did,
                         pawl_error *error)
{
    const pawl_aggregator_counts *counts    = &item->gate;
    pawl_time                     now       = worker->engine.business_now;
    pawl_refusals                 refused   = {.arena = worker->read};
    bool                          is_leased = counts->ready != counts->resolved;
    bool is_ended = item->is_shared && !is_leased && counts->flush_attempts == 0;
    if ((counts->flush_due > now && !is_ended) || counts->flush_is_dead ||
        (item->is_by_size && item->aggregator->period > 0) ||
        (is_leased && (item->error.size == 0 || counts->flush_attempts > 0)))
        return PAWL_OK;
    *did                   = true;
    pawl_flush_set set     = {.partition = item->partition,
                              .due       = pawl_time_add(now, pause_of(item->aggregator, is_leased)),
                              .is_done   = true,
                              .error     = item->error};
    pawl_changes   changes = {PAWL__ONE_UNIT(worker->engine.machine_now), .flush_set = {&set, 1}};
    return pawl_store_commit(worker->store, &changes, &refused, error);
}

static pawl_code release_snapshot(pawl__worker *worker, const pawl__flush_target *item,
                                  pawl_session_id session, pawl_error *error)
{
    pawl_refusals             refused = {.arena = worker->read};
    pawl_leased_batch_release release = {.partition = item->partition, .session = session};
    pawl_changes              changes = {PAWL__ONE_UNIT(worker->engine.machine_now),
                                         .leased_batch_release = {&release, 1}};
    return pawl_store_commit(worker->store, &changes, &refused, error);
}

/* Ends the flush of a partition whose rows are all taken. Rows that came later wait for the next period, which the last
 * worker of a shared flush begins. */
static pawl_code end_round(pawl__worker *worker, pawl__flush_target *item, bool *did,
                           pawl_error *error)
{
    pawl_code code = item->is_shared ? check_gate(worker, item, error) : PAWL_OK;
    if (code == PAWL_OK && item->is_shared)
        code = put_off(worker, item, did, error);
    item->is_done = true;
    return code;
}

void pawl__flush_check_soon(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->flush_full, PAWL_TIME_MIN);
}

/* Leaves a full partition to the next check, within ten seconds, which then reads all partitions. */
static void leave_to_check(pawl__worker *worker, pawl__flush_target *item)
{
    item->is_done = true;
    pawl__flush_check_soon(worker->endpoint);
}

/* Leases a batch of rows and adds it as a unit. */
static pawl_code lease_batch(pawl__worker *worker, pawl__flush_target *item, bool *did,
                             pawl_error *error)
{
    pawl_store             *store   = worker->store;
    pawl_session_id         session = {pawl_uuid_v7(&worker->random, worker->engine.machine_now)};
    pawl_leased_batch       piece   = {.count = 0};
    pawl_leased_batch_claim claim   = {.partition  = item->partition,
                                       .session    = session,
                                       .types      = item->aggregator->types,
                                       .type_count = item->aggregator->type_count,
                                       .count_max  = (size_t)item->aggregator->max,
                                       .id_max     = item->id_max,
                                       .now        = worker->engine.machine_now,
                                       .lease      = item->aggregator->lease};
    pawl_code               code =
        pawl_store_leased_batch_claim(store, &claim, worker->batch->arena, &piece, error);
    if (code != PAWL_OK)
        return code;
    if (piece.count == 0)
        return end_round(worker, item, did, error);
    item->gate.ready -= (int64_t)piece.count;
    item->left -= (int64_t)piece.count;
    /* Two workers may each have leased too few rows. Both release them; the later one then finds the gate open. */
    if (item->is_by_size && piece.count < (size_t)item->aggregator->size) {
        if (++item->too_few_count == TOO_FEW_MAX)
            leave_to_check(worker, item);
        return release_snapshot(worker, item, session, error);
    }
    pawl_flush_row flush = {.name      = item->aggregator->name,
                            .partition = item->partition,
                            .due       = item->gate.flush_due,
                            .attempts  = item->gate.flush_attempts};
    item->is_shared      = !item->is_by_size && item->left > 0;
    bool    has_more = item->is_shared && item->gate.ready > 0 && piece.count == claim.count_max;
    int64_t pause    = has_more ? 0 : pause_of(item->aggregator, item->is_shared);
    /* Values for the next leased batch, which is taken only after this one is flushed: no failed attempts, and a new
     * period if this was the last. */
    item->gate.flush_attempts = 0;
    item->error               = PAWL__FLUSH_NOT_READ; /* the error was of an earlier try */
    if (!has_more)
        item->gate.flush_due = pawl_time_add(worker->engine.business_now, pause);
    return pawl__batch_add_flush(worker->batch, item->aggregator, &flush, &piece, session,
                                 item->is_by_size, pause);
}

/* Ends the round of a partition whose flush failed: it waits for its next try. If flushes were refused, another worker
 * has the rows, and the next check finds the rest. A partition with too few decodable rows is shut, so that not every
 * commit that adds a row decodes them all. */
static void end_failed(pawl__worker *worker, pawl__flush_list *list, bool is_refused)
{
    for (size_t i = 0; i < worker->batch->unit_count; i++) {
        const pawl__unit *unit = &worker->batch->units[i];
        bool              is_over =
            !is_refused && (unit->end == PAWL__END_HANDLED || unit->end == PAWL__END_DISCARDED);
        if (is_over && unit->is_below_size)
            shut(worker, unit->flush.partition);
        else if (is_over)
            *shut_of(worker, unit->flush.partition) = (pawl__shut_gate){.until = PAWL_TIME_MIN};
        if (is_over && !unit->is_below_size)
            continue;
        for (size_t j = list->first; j < list->count; j++) {
            pawl__flush_target *item = &list->items[j];
            if (!pawl_text_equal(item->partition, unit->flush.partition))
                continue;
            item->is_done = unit->end != PAWL__END_RELEASED;
            if (is_refused)
                leave_to_check(worker, item);
        }
    }
}

/* Has the batch room for another flush? One with own SQL is alone in its batch, as its SQL must be committed or rolled
 * back with that flush only. */
static bool has_room(const pawl__worker *worker, const pawl__flush_target *item)
{
    const pawl__batch *batch = worker->batch;
    size_t limit = worker->batch_max < PARTITIONS_AT_ONCE ? worker->batch_max : PARTITIONS_AT_ONCE;
    if (batch->unit_count == 0)
        return true;
    return !worker->is_isolated_step && batch->unit_count < limit && !item->aggregator->own_sql &&
           !batch->units[0].aggregator->own_sql;
}

/* After a crash: runs the batch's only flush isolated. Releases the rows if another worker runs the partition, or may
 * have crashed in it. */
static pawl_code run_alone(pawl__worker *worker, pawl__flush_list *list, pawl_step *step,
                           pawl_error *error)
{
    pawl__isolated_end    end;
    const pawl_text       partition = worker->batch->units[0].flush.partition;
    const pawl_session_id session   = worker->batch->units[0].session;
    pawl_code             code      = pawl__isolated_run_flush(worker, &end, step, error);
    if (code != PAWL_OK || end == PAWL__ISOLATED_RAN)
        return code;
    worker->has_unsure |= end == PAWL__ISOLATED_UNSURE;
    pawl__batch_reset(worker->batch);
    for (size_t i = list->first; i < list->count && code == PAWL_OK; i++) {
        if (!pawl_text_equal(list->items[i].partition, partition))
            continue;
        leave_to_check(worker, &list->items[i]);
        code = release_snapshot(worker, &list->items[i], session, error);
    }
    return code;
}

/* Has the step to end? Time does not count under a virtual clock, so that runs are repeatable, nor in an isolated step,
 * which flushes all partitions. */
static bool has_to_leave(const pawl__worker *worker, int64_t end)
{
    const pawl_endpoint *endpoint = worker->endpoint;
    bool                 has_end  = !worker->engine.is_virtual && !worker->is_isolated_step;
    return (has_end && pawl__monotonic_now() >= end) || atomic_load(&endpoint->is_stopping) ||
           atomic_load(&endpoint->breaker.state) != PAWL__BREAKER_CLOSED;
}

/* Flushes one leased batch of each of several partitions, in one commit. `*did`: a partition was flushed, or its due
 * time set. */
static pawl_code flush_round(pawl__worker *worker, pawl__flush_list *list, pawl_time now,
                             int64_t end, bool *did, pawl_step *step, pawl_error *error)
{
    pawl__batch_reset(worker->batch);
    pawl__worker_clocks(worker, now);
    pawl_code code = PAWL_OK;
    for (size_t i = list->first; i < list->count && code == PAWL_OK; i++) {
        pawl__flush_target *item = &list->items[i];
        if (item->is_done || !has_room(worker, item))
            continue;
        if (!is_open(item))
            code = check_gate(worker, item, error);
        if (code == PAWL_OK && !item->is_done)
            code = lease_batch(worker, item, did, error);
        else if (code == PAWL_OK)
            code = put_off(worker, item, did, error);
        if (has_to_leave(worker, end))
            break;
    }
    if (code != PAWL_OK || worker->batch->unit_count == 0)
        return code;
    *did = true;
    for (size_t i = 0; i < worker->batch->unit_count; i++)
        worker->batch->units[i].now = now;
    int64_t refused = step->refused;
    code            = worker->is_isolated_step ? run_alone(worker, list, step, error)
                                               : pawl__worker_run(worker, step, error);
    if (code == PAWL_OK)
        end_failed(worker, list, step->refused > refused);
    return code;
}

/* Empties the lists, unless an earlier step left partitions. */
static void begin_lists(pawl__worker *worker)
{
    if (pawl__flush_is_left(worker))
        return;
    pawl_arena_reset(worker->flush_arena);
    for (size_t i = 0; i < PAWL__FLUSH_LISTS; i++)
        worker->flushes[i] = (pawl__flush_list){.arena = worker->flush_arena};
}

static bool is_left(pawl__flush_list *list)
{
    while (list->first < list->count && list->items[list->first].is_done)
        list->first++;
    return list->first < list->count;
}

bool pawl__flush_is_left(const pawl__worker *worker)
{
    size_t left = 0;
    for (size_t i = 0; i < PAWL__FLUSH_LISTS; i++)
        left += worker->flushes[i].count - worker->flushes[i].first;
    return left > 0;
}

/* Flushes the list in rounds. Clears the counts of partitions that are left, so that they are read again. */
static pawl_code flush_list(pawl__worker *worker, pawl__flush_list *list, pawl_time now, bool *did,
                            pawl_step *step, pawl_error *error)
{
    int64_t   end  = pawl__monotonic_now() + worker->endpoint->settings.batch_time_max;
    pawl_code code = PAWL_OK;
    while (code == PAWL_OK && is_left(list)) {
        code = flush_round(worker, list, now, end, did, step, error);
        if (has_to_leave(worker, end))
            break;
    }
    if (is_left(list) && worker->is_isolated_step)
        pawl__isolation_isolate_partitions(worker->endpoint);
    for (size_t i = list->first; i < list->count; i++)
        list->items[i].gate.ready = 0;
    return code;
}

/* If it is not yet known whether a process crashed in a flush, the isolation phase goes on: the step claims nothing
 * else, and the next one checks all partitions again. */
static void wait_for_crash_check(pawl__worker *worker, bool *did, pawl_step *step)
{
    if (!worker->has_unsure)
        return;
    worker->has_unsure = false;
    pawl__isolation_check_partitions(worker->endpoint);
    pawl__worker_pause(worker, PAWL__MARKER_PAUSE);
    step->is_idle = true;
    *did          = true;
}

/* ---- By size -------------------------------------------------------------------------- */

pawl_code pawl__flush_after_commit(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    pawl__flush_list  list = {.arena = worker->read};
    pawl__flush_list *full = &worker->flushes[PAWL__FLUSH_FULL];
    pawl_code         code = PAWL_OK;
    bool              did  = false;
    pawl_time now = worker->engine.is_virtual ? worker->virtual_now : worker->engine.business_now;
    for (size_t i = 0; i < worker->grown_count && code == PAWL_OK; i++)
        if (worker->grown[i].aggregator->size > 0 && !is_shut(worker, worker->grown[i].partition))
            code = pawl__flush_list_add(&list, list.count, worker->grown[i].aggregator,
                                        worker->grown[i].partition, PAWL__FLUSH_NOT_READ, true);
    if (code == PAWL_OK)
        code = flush_list(worker, &list, now, &did, step, error);
    begin_lists(worker);
    for (size_t i = list.first; i < list.count && code == PAWL_OK; i++)
        if (!list.items[i].is_done)
            code = pawl__flush_list_add(full, full->count, list.items[i].aggregator,
                                        list.items[i].partition, PAWL__FLUSH_NOT_READ, true);
    wait_for_crash_check(worker, &did, step);
    return code;
}

/* ---- By period, by request, after a crash ------------------------------------------------ */

bool pawl__flush_is_due(pawl__worker *worker, pawl_time business_now)
{
    pawl_endpoint *endpoint = worker->endpoint;
    worker->has_check = worker->has_full_check = false;
    if (endpoint->model->aggregator_count == 0 ||
        (worker->was_flush && !worker->engine.is_virtual && !worker->is_isolated_step))
        return false;
    if (pawl__flush_is_left(worker) && !worker->is_isolated_step)
        return true;
    pthread_mutex_lock(&endpoint->mutex);
    bool is_requested = endpoint->request_count > 0;
    pthread_mutex_unlock(&endpoint->mutex);
    worker->has_check = pawl__flush_list_takes_check(worker);
    if (worker->is_isolated_step && pawl__isolation_take_partitions(endpoint))
        worker->has_check = worker->has_full_check = true;
    return is_requested || worker->has_check ||
           (!worker->engine.is_virtual && business_now >= pawl__flush_next(worker, business_now));
}

/* Flushes the lists. Under a virtual clock `now` is the end of the period for flushes by period, and the time of the
 * last unit for others. */
static pawl_code flush_lists(pawl__worker *worker, pawl_time due_max, bool *did, pawl_step *step,
                             pawl_error *error)
{
    pawl_time now  = worker->engine.is_virtual ? due_max : worker->engine.business_now;
    pawl_time last = worker->engine.is_virtual && worker->virtual_now != PAWL_TIME_MIN
                         ? worker->virtual_now
                         : now;
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < PAWL__FLUSH_LISTS && code == PAWL_OK; i++) {
        pawl__flush_list *list = &worker->flushes[i];
        code = flush_list(worker, list, i == PAWL__FLUSH_DUE ? now : last, did, step, error);
        if (list->first < list->count)
            break;
    }
    return code;
}

pawl_code pawl__flush_due(pawl__worker *worker, pawl_time due_max, bool *did, pawl_step *step,
                          pawl_error *error)
{
    bool      is_check = worker->has_check;
    pawl_code code     = PAWL_OK;
    /* Lists are filled only when nothing is left; an isolated step lists all again. */
    if (worker->is_isolated_step || !pawl__flush_is_left(worker)) {
        begin_lists(worker);
        code = pawl__flush_list_asked(worker, error);
        if (code == PAWL_OK)
            code = is_check ? pawl__flush_list_checked(worker, due_max, error)
                            : pawl__flush_list_due(worker, due_max, error);
    }
    if (code == PAWL_OK)
        code = flush_lists(worker, due_max, did, step, error);
    wait_for_crash_check(worker, did, step);
    bool is_over = !pawl__flush_is_left(worker);
    if (code == PAWL_OK && is_over && (!is_check || *did))
        code = pawl__flush_list_next(worker, error);
    pawl_time now      = pawl__business_now(worker->endpoint);
    bool      is_vain  = is_over && !*did && !worker->engine.is_virtual && worker->flush_due <= now;
    worker->flush_rest = is_vain ? pawl_time_add(now, VAIN_PAUSE) : PAWL_TIME_MIN;
    return code;
}

pawl_time pawl__flush_next(const pawl__worker *worker, pawl_time business_now)
{
    pawl_time rest  = worker->flush_rest;
    bool      rests = !pawl__is_due(rest, business_now, VAIN_PAUSE);
    return rests && worker->flush_due < rest ? rest : worker->flush_due;
}
