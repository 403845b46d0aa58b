/* offers.c - offers broker messages to workers, and takes back what they did not handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/inbound/offers.h"
#include "runtime/common/wake_fd.h"

#include <string.h>

void pawl__offers_init(pawl__offers *offers)
{
    pthread_mutex_init(&offers->mutex, NULL);
    offers->reader_fd = -1;
}

static void destroy_all(pawl__inbound_batch *first)
{
    while (first != NULL) {
        pawl__inbound_batch *next = first->next;
        pawl_arena_destroy(first->arena);
        pawl_free(first);
        first = next;
    }
}

void pawl__offers_destroy(pawl__offers *offers)
{
    destroy_all(offers->batches);
    destroy_all(offers->spare);
    pthread_mutex_destroy(&offers->mutex);
}

/* ---- Under the mutex -------------------------------------------------------------------- */

static size_t count_state(const pawl__inbound_batch *batch, pawl__delivery_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->takings.count; i++)
        count += batch->states[i] == state;
    return count;
}

static void move(pawl__inbound_batch *batch, pawl__delivery_state from, pawl__delivery_state to)
{
    for (size_t i = 0; i < batch->takings.count; i++)
        if (batch->states[i] == from)
            batch->states[i] = (unsigned char)to;
}

/* Moves inbound batches with all messages SETTLED to the spare ones. */
static void retire(pawl__offers *offers)
{
    pawl__inbound_batch **at = &offers->batches;
    while (*at != NULL) {
        pawl__inbound_batch *batch = *at;
        if (count_state(batch, PAWL__DELIVERY_SETTLED) < batch->takings.count) {
            at = &batch->next;
            continue;
        }
        *at           = batch->next;
        batch->next   = offers->spare;
        offers->spare = batch;
    }
}

/* Index of the first OFFERED message of the batch; the count: there is none. */
static size_t find_offered(pawl__inbound_batch *batch)
{
    while (batch->offered < batch->takings.count &&
           batch->states[batch->offered] != PAWL__DELIVERY_OFFERED)
        batch->offered++;
    return batch->offered;
}

static pawl__inbound_batch *first_offered(pawl__offers *offers)
{
    pawl__inbound_batch *batch = offers->batches;
    while (batch != NULL && find_offered(batch) == batch->takings.count)
        batch = batch->next;
    return batch;
}

/* ---- The thread that reads ---------------------------------------------------------------- */

void pawl__offers_begin(pawl__offers *offers, int reader_fd)
{
    pthread_mutex_lock(&offers->mutex);
    offers->reader_fd = reader_fd;
    pthread_mutex_unlock(&offers->mutex);
}

void pawl__offers_end(pawl__offers *offers)
{
    pawl__offers_forget(offers);
    pthread_mutex_lock(&offers->mutex);
    offers->reader_fd = -1;
    for (size_t i = 0; i < offers->worker_count; i++)
        pawl__fd_signal(offers->worker_fds[i]);
    pthread_mutex_unlock(&offers->mutex);
}

bool pawl__offers_is_on(pawl__offers *offers)
{
    pthread_mutex_lock(&offers->mutex);
    bool is_on = offers->reader_fd >= 0;
    pthread_mutex_unlock(&offers->mutex);
    return is_on;
}

bool pawl__offers_is_full(pawl__offers *offers, size_t count_max)
{
    size_t batches = 0;
    pthread_mutex_lock(&offers->mutex);
    for (pawl__inbound_batch *batch = first_offered(offers); batch != NULL; batch = batch->next)
        batches++;
    pthread_mutex_unlock(&offers->mutex);
    return batches >= PAWL__INBOUND_PARTS_MAX || atomic_load(&offers->open) >= count_max;
}

pawl__inbound_batch *pawl__offers_new_batch(pawl__offers *offers)
{
    pthread_mutex_lock(&offers->mutex);
    pawl__inbound_batch *batch = offers->spare;
    if (batch != NULL)
        offers->spare = batch->next;
    pthread_mutex_unlock(&offers->mutex);
    pawl_arena *arena = batch != NULL ? batch->arena : pawl_arena_create(0);
    if (batch == NULL)
        batch = pawl_allocate(sizeof *batch);
    if (batch == NULL || arena == NULL) {
        pawl_arena_destroy(arena);
        pawl_free(batch);
        return NULL;
    }
    pawl_arena_reset(arena);
    *batch = (pawl__inbound_batch){.arena = arena};
    return batch;
}

void pawl__offers_drop(pawl__offers *offers, pawl__inbound_batch *batch)
{
    pthread_mutex_lock(&offers->mutex);
    batch->next   = offers->spare;
    offers->spare = batch;
    pthread_mutex_unlock(&offers->mutex);
}

pawl_code pawl__inbound_batch_ready(pawl__inbound_batch *batch)
{
    size_t count   = batch->takings.count + 1;
    batch->states  = pawl_arena_take(batch->arena, count * sizeof batch->states[0]);
    batch->is_done = pawl_arena_take(batch->arena, count * sizeof batch->is_done[0]);
    if (batch->states == NULL || batch->is_done == NULL)
        return PAWL_ENOMEM;
    memset(batch->states, PAWL__DELIVERY_OFFERED, count * sizeof batch->states[0]);
    memset(batch->is_done, 0, count * sizeof batch->is_done[0]);
    return PAWL_OK;
}

void pawl__offers_offer(pawl__offers *offers, pawl__inbound_batch *batch, int64_t now)
{
    pthread_mutex_lock(&offers->mutex);
    pawl__inbound_batch **last = &offers->batches;
    while (*last != NULL)
        last = &(*last)->next;
    *last        = batch;
    batch->since = now;
    size_t count = count_state(batch, PAWL__DELIVERY_OFFERED);
    /* Wakes workers only for the first one: workers that are awake continue until nothing is left. */
    bool is_first = atomic_fetch_add(&offers->open, count) == 0 && count > 0;
    for (size_t i = 0; i < offers->worker_count && is_first; i++)
        pawl__fd_signal(offers->worker_fds[i]);
    pthread_mutex_unlock(&offers->mutex);
}

void pawl__offers_withdraw(pawl__offers *offers, int64_t until)
{
    pthread_mutex_lock(&offers->mutex);
    for (pawl__inbound_batch *batch = offers->batches; batch != NULL; batch = batch->next) {
        if (batch->since > until)
            continue;
        atomic_fetch_sub(&offers->open, count_state(batch, PAWL__DELIVERY_OFFERED));
        move(batch, PAWL__DELIVERY_OFFERED, PAWL__DELIVERY_BACK);
    }
    pthread_mutex_unlock(&offers->mutex);
}

int64_t pawl__offers_since(pawl__offers *offers)
{
    pthread_mutex_lock(&offers->mutex);
    const pawl__inbound_batch *batch = first_offered(offers);
    int64_t                    since = batch != NULL ? batch->since : INT64_MAX;
    pthread_mutex_unlock(&offers->mutex);
    return since;
}

size_t pawl__offers_count(pawl__offers *offers)
{
    size_t count = 0;
    pthread_mutex_lock(&offers->mutex);
    for (const pawl__inbound_batch *batch = offers->batches; batch != NULL; batch = batch->next)
        count += batch->takings.count - count_state(batch, PAWL__DELIVERY_SETTLED);
    pthread_mutex_unlock(&offers->mutex);
    return count;
}

size_t pawl__offers_collect(pawl__offers *offers, pawl__delivery_state state, pawl_taken *items)
{
    bool   is_back = state == PAWL__DELIVERY_BACK;
    size_t count   = 0;
    pthread_mutex_lock(&offers->mutex);
    for (pawl__inbound_batch *batch = offers->batches; batch != NULL; batch = batch->next) {
        for (size_t i = 0; i < batch->takings.count; i++)
            if (batch->states[i] == state)
                items[count++] = batch->takings.items[i];
        if (state != PAWL__DELIVERY_IN_FLIGHT)
            move(batch, state, is_back ? PAWL__DELIVERY_STORING : PAWL__DELIVERY_ACKNOWLEDGING);
    }
    pthread_mutex_unlock(&offers->mutex);
    return count;
}

void pawl__offers_settled(pawl__offers *offers)
{
    pthread_mutex_lock(&offers->mutex);
    for (pawl__inbound_batch *batch = offers->batches; batch != NULL; batch = batch->next) {
        move(batch, PAWL__DELIVERY_STORING, PAWL__DELIVERY_SETTLED);
        move(batch, PAWL__DELIVERY_ACKNOWLEDGING, PAWL__DELIVERY_SETTLED);
    }
    retire(offers);
    pthread_mutex_unlock(&offers->mutex);
}

void pawl__offers_forget(pawl__offers *offers)
{
    pthread_mutex_lock(&offers->mutex);
    for (pawl__inbound_batch *batch = offers->batches; batch != NULL; batch = batch->next) {
        batch->is_gone = true;
        for (size_t i = 0; i < batch->takings.count; i++)
            if (batch->states[i] != PAWL__DELIVERY_IN_FLIGHT)
                batch->states[i] = PAWL__DELIVERY_SETTLED;
    }
    atomic_store(&offers->open, 0);
    retire(offers);
    pthread_mutex_unlock(&offers->mutex);
}

size_t pawl__offers_in_flight(pawl__offers *offers)
{
    pthread_mutex_lock(&offers->mutex);
    size_t count = offers->in_flight;
    pthread_mutex_unlock(&offers->mutex);
    return count;
}

/* May the message of the batch be the same as `taken`? On a lost connection it was an earlier delivery. */
static bool may_be_same(const pawl__inbound_batch *batch, size_t index, const pawl_taken *taken)
{
    const pawl_taken *item = &batch->takings.items[index];
    return batch->is_gone ? taken->is_redelivered
                          : item->channel == taken->channel && item->tag == taken->tag;
}

bool pawl__offers_has_other(pawl__offers *offers, const pawl_taken *taken)
{
    bool has = false;
    pthread_mutex_lock(&offers->mutex);
    for (const pawl__inbound_batch *batch = offers->batches; batch != NULL; batch = batch->next)
        for (size_t i = 0; i < batch->takings.count && !has; i++)
            has = batch->states[i] <= PAWL__DELIVERY_BACK &&
                  batch->states[i] != PAWL__DELIVERY_DONE && !may_be_same(batch, i, taken) &&
                  pawl_text_equal(batch->takings.items[i].message.id, taken->message.id);
    pthread_mutex_unlock(&offers->mutex);
    return has;
}

/* ---- Workers ------------------------------------------------------------------------------- */

void pawl__offers_remove_worker(pawl__offers *offers, int worker_fd)
{
    size_t kept = 0;
    pthread_mutex_lock(&offers->mutex);
    for (size_t i = 0; i < offers->worker_count; i++)
        if (offers->worker_fds[i] != worker_fd)
            offers->worker_fds[kept++] = offers->worker_fds[i];
    offers->worker_count = kept;
    pthread_mutex_unlock(&offers->mutex);
}

void pawl__offers_add_worker(pawl__offers *offers, int worker_fd)
{
    pawl__offers_remove_worker(offers, worker_fd);
    pthread_mutex_lock(&offers->mutex);
    if (offers->worker_count < PAWL_WORKERS_MAX)
        offers->worker_fds[offers->worker_count++] = worker_fd;
    pthread_mutex_unlock(&offers->mutex);
}

/* Gives messages of the first batch with OFFERED ones to the worker. False: there are none. */
static bool claim_offered(pawl__offers *offers, size_t count_max, pawl__deliveries *deliveries)
{
    pawl__inbound_batch *batch = first_offered(offers);
    if (batch == NULL)
        return false;
    pawl__inbound_part *part = &deliveries->parts[deliveries->part_count++];
    *part                    = (pawl__inbound_part){.batch = batch, .first = batch->offered};
    while (part->count < count_max && batch->offered < batch->takings.count &&
           batch->states[batch->offered] == PAWL__DELIVERY_OFFERED) {
        batch->states[batch->offered++] = PAWL__DELIVERY_IN_FLIGHT;
        part->count++;
    }
    deliveries->count += part->count;
    return true;
}

bool pawl__offers_take(pawl__offers *offers, size_t count_max, pawl__deliveries *deliveries)
{
    deliveries->part_count = deliveries->count = 0;
    if (atomic_load(&offers->open) == 0)
        return false;
    pthread_mutex_lock(&offers->mutex);
    while (deliveries->count < count_max && deliveries->part_count < PAWL__INBOUND_PARTS_MAX &&
           claim_offered(offers, count_max - deliveries->count, deliveries))
        continue;
    offers->in_flight += deliveries->count;
    atomic_fetch_sub(&offers->open, deliveries->count);
    pthread_mutex_unlock(&offers->mutex);
    return deliveries->count > 0;
}

static void return_part(const pawl__inbound_part *part)
{
    pawl__inbound_batch *batch = part->batch;
    for (size_t i = part->first; i < part->first + part->count; i++)
        batch->states[i] = batch->is_gone      ? PAWL__DELIVERY_SETTLED
                           : batch->is_done[i] ? PAWL__DELIVERY_DONE
                                               : PAWL__DELIVERY_BACK;
}

void pawl__offers_give(pawl__offers *offers, pawl__deliveries *deliveries)
{
    pthread_mutex_lock(&offers->mutex);
    for (size_t i = 0; i < deliveries->part_count; i++)
        return_part(&deliveries->parts[i]);
    offers->in_flight -= deliveries->count;
    deliveries->part_count = deliveries->count = 0;
    retire(offers);
    if (offers->reader_fd >= 0)
        pawl__fd_signal(offers->reader_fd);
    pthread_mutex_unlock(&offers->mutex);
}

static bool is_own(const pawl__deliveries *own, const pawl__inbound_batch *batch, size_t index)
{
    for (size_t i = 0; i < own->part_count; i++) {
        const pawl__inbound_part *part = &own->parts[i];
        if (part->batch == batch && index >= part->first && index - part->first < part->count)
            return true;
    }
    return false;
}

/* Does the message still have to be handled, without being a row of the store? */
static bool is_unhandled(pawl__delivery_state state)
{
    return state == PAWL__DELIVERY_OFFERED || state == PAWL__DELIVERY_IN_FLIGHT ||
           state == PAWL__DELIVERY_BACK || state == PAWL__DELIVERY_STORING;
}

pawl_time pawl__offers_oldest(pawl__offers *offers, const pawl__deliveries *own)
{
    pawl_time oldest = PAWL_TIME_MAX;
    pthread_mutex_lock(&offers->mutex);
    for (const pawl__inbound_batch *batch = offers->batches; batch != NULL; batch = batch->next)
        for (size_t i = 0; i < batch->takings.count; i++)
            if (is_unhandled(batch->states[i]) && !is_own(own, batch, i) &&
                batch->takings.items[i].due < oldest)
                oldest = batch->takings.items[i].due;
    pthread_mutex_unlock(&offers->mutex);
    return oldest;
}
