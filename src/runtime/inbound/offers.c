/* offers.c - parcels of taken messages, offered, in hand, given back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/inbound/offers.h"

#include <string.h>
#include <unistd.h>

void pawl__handover_init(pawl__handover *handover)
{
    pthread_mutex_init(&handover->mutex, NULL);
    handover->reader_fd = -1;
}

static void destroy_all(pawl__parcel *first)
{
    while (first != NULL) {
        pawl__parcel *next = first->next;
        pawl_arena_destroy(first->arena);
        pawl_free(first);
        first = next;
    }
}

void pawl__handover_destroy(pawl__handover *handover)
{
    destroy_all(handover->parcels);
    destroy_all(handover->spare);
    pthread_mutex_destroy(&handover->mutex);
}

static void wake(int fd)
{
    static const uint64_t one     = 1;
    ssize_t               ignored = fd >= 0 ? write(fd, &one, sizeof one) : 0;
    (void)ignored;
}

/* ---- Under the mutex -------------------------------------------------------------------- */

static size_t count_state(const pawl__parcel *parcel, pawl__parcel_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < parcel->takings.count; i++)
        count += parcel->states[i] == state;
    return count;
}

static void move(pawl__parcel *parcel, pawl__parcel_state from, pawl__parcel_state to)
{
    for (size_t i = 0; i < parcel->takings.count; i++)
        if (parcel->states[i] == from)
            parcel->states[i] = (unsigned char)to;
}

/* Moves parcels all of whose messages are settled to the spare ones. */
static void retire(pawl__handover *handover)
{
    pawl__parcel **at = &handover->parcels;
    while (*at != NULL) {
        pawl__parcel *parcel = *at;
        if (count_state(parcel, PAWL__PARCEL_SETTLED) < parcel->takings.count) {
            at = &parcel->next;
            continue;
        }
        *at             = parcel->next;
        parcel->next    = handover->spare;
        handover->spare = parcel;
    }
}

/* The first message from the parcel's `offered` on that may be taken; the count: there is none. */
static size_t find_offered(pawl__parcel *parcel)
{
    while (parcel->offered < parcel->takings.count &&
           parcel->states[parcel->offered] != PAWL__PARCEL_OFFERED)
        parcel->offered++;
    return parcel->offered;
}

static pawl__parcel *first_offered(pawl__handover *handover)
{
    pawl__parcel *parcel = handover->parcels;
    while (parcel != NULL && find_offered(parcel) == parcel->takings.count)
        parcel = parcel->next;
    return parcel;
}

/* ---- The thread that reads ---------------------------------------------------------------- */

void pawl__handover_begin(pawl__handover *handover, int reader_fd)
{
    pthread_mutex_lock(&handover->mutex);
    handover->reader_fd = reader_fd;
    pthread_mutex_unlock(&handover->mutex);
}

void pawl__handover_end(pawl__handover *handover)
{
    pawl__handover_forget(handover);
    pthread_mutex_lock(&handover->mutex);
    handover->reader_fd = -1;
    for (size_t i = 0; i < handover->worker_count; i++)
        wake(handover->worker_fds[i]);
    pthread_mutex_unlock(&handover->mutex);
}

bool pawl__handover_is_on(pawl__handover *handover)
{
    pthread_mutex_lock(&handover->mutex);
    bool is_on = handover->reader_fd >= 0;
    pthread_mutex_unlock(&handover->mutex);
    return is_on;
}

bool pawl__handover_is_full(pawl__handover *handover, size_t count_max)
{
    size_t parcels = 0;
    pthread_mutex_lock(&handover->mutex);
    for (pawl__parcel *parcel = first_offered(handover); parcel != NULL; parcel = parcel->next)
        parcels++;
    pthread_mutex_unlock(&handover->mutex);
    return parcels >= PAWL__SLICES_MAX || atomic_load(&handover->open) >= count_max;
}

pawl__parcel *pawl__handover_parcel(pawl__handover *handover)
{
    pthread_mutex_lock(&handover->mutex);
    pawl__parcel *parcel = handover->spare;
    if (parcel != NULL)
        handover->spare = parcel->next;
    pthread_mutex_unlock(&handover->mutex);
    pawl_arena *arena = parcel != NULL ? parcel->arena : pawl_arena_create(0);
    if (parcel == NULL)
        parcel = pawl_allocate(sizeof *parcel);
    if (parcel == NULL || arena == NULL) {
        pawl_arena_destroy(arena);
        pawl_free(parcel);
        return NULL;
    }
    pawl_arena_reset(arena);
    *parcel = (pawl__parcel){.arena = arena};
    return parcel;
}

void pawl__handover_drop(pawl__handover *handover, pawl__parcel *parcel)
{
    pthread_mutex_lock(&handover->mutex);
    parcel->next    = handover->spare;
    handover->spare = parcel;
    pthread_mutex_unlock(&handover->mutex);
}

pawl_code pawl__parcel_ready(pawl__parcel *parcel)
{
    size_t count    = parcel->takings.count + 1;
    parcel->states  = pawl_arena_take(parcel->arena, count * sizeof parcel->states[0]);
    parcel->is_done = pawl_arena_take(parcel->arena, count * sizeof parcel->is_done[0]);
    if (parcel->states == NULL || parcel->is_done == NULL)
        return PAWL_ENOMEM;
    memset(parcel->states, PAWL__PARCEL_OFFERED, count * sizeof parcel->states[0]);
    memset(parcel->is_done, 0, count * sizeof parcel->is_done[0]);
    return PAWL_OK;
}

void pawl__handover_offer(pawl__handover *handover, pawl__parcel *parcel, int64_t now)
{
    pthread_mutex_lock(&handover->mutex);
    pawl__parcel **last = &handover->parcels;
    while (*last != NULL)
        last = &(*last)->next;
    *last         = parcel;
    parcel->since = now;
    size_t count  = count_state(parcel, PAWL__PARCEL_OFFERED);
    /* Workers that were woken before look until nothing is left. */
    bool is_first = atomic_fetch_add(&handover->open, count) == 0 && count > 0;
    for (size_t i = 0; i < handover->worker_count && is_first; i++)
        wake(handover->worker_fds[i]);
    pthread_mutex_unlock(&handover->mutex);
}

void pawl__handover_withdraw(pawl__handover *handover, int64_t until)
{
    pthread_mutex_lock(&handover->mutex);
    for (pawl__parcel *parcel = handover->parcels; parcel != NULL; parcel = parcel->next) {
        if (parcel->since > until)
            continue;
        atomic_fetch_sub(&handover->open, count_state(parcel, PAWL__PARCEL_OFFERED));
        move(parcel, PAWL__PARCEL_OFFERED, PAWL__PARCEL_BACK);
    }
    pthread_mutex_unlock(&handover->mutex);
}

int64_t pawl__handover_since(pawl__handover *handover)
{
    pthread_mutex_lock(&handover->mutex);
    const pawl__parcel *parcel = first_offered(handover);
    int64_t             since  = parcel != NULL ? parcel->since : INT64_MAX;
    pthread_mutex_unlock(&handover->mutex);
    return since;
}

size_t pawl__handover_count(pawl__handover *handover)
{
    size_t count = 0;
    pthread_mutex_lock(&handover->mutex);
    for (const pawl__parcel *parcel = handover->parcels; parcel != NULL; parcel = parcel->next)
        count += parcel->takings.count - count_state(parcel, PAWL__PARCEL_SETTLED);
    pthread_mutex_unlock(&handover->mutex);
    return count;
}

size_t pawl__handover_collect(pawl__handover *handover, pawl__parcel_state state, pawl_taken *items)
{
    bool   is_back = state == PAWL__PARCEL_BACK;
    size_t count   = 0;
    pthread_mutex_lock(&handover->mutex);
    for (pawl__parcel *parcel = handover->parcels; parcel != NULL; parcel = parcel->next) {
        for (size_t i = 0; i < parcel->takings.count; i++)
            if (parcel->states[i] == state)
                items[count++] = parcel->takings.items[i];
        if (state != PAWL__PARCEL_IN_HAND)
            move(parcel, state, is_back ? PAWL__PARCEL_STORING : PAWL__PARCEL_ACKNOWLEDGING);
    }
    pthread_mutex_unlock(&handover->mutex);
    return count;
}

void pawl__handover_settled(pawl__handover *handover)
{
    pthread_mutex_lock(&handover->mutex);
    for (pawl__parcel *parcel = handover->parcels; parcel != NULL; parcel = parcel->next) {
        move(parcel, PAWL__PARCEL_STORING, PAWL__PARCEL_SETTLED);
        move(parcel, PAWL__PARCEL_ACKNOWLEDGING, PAWL__PARCEL_SETTLED);
    }
    retire(handover);
    pthread_mutex_unlock(&handover->mutex);
}

void pawl__handover_forget(pawl__handover *handover)
{
    pthread_mutex_lock(&handover->mutex);
    for (pawl__parcel *parcel = handover->parcels; parcel != NULL; parcel = parcel->next) {
        parcel->is_gone = true;
        for (size_t i = 0; i < parcel->takings.count; i++)
            if (parcel->states[i] != PAWL__PARCEL_IN_HAND)
                parcel->states[i] = PAWL__PARCEL_SETTLED;
    }
    atomic_store(&handover->open, 0);
    retire(handover);
    pthread_mutex_unlock(&handover->mutex);
}

size_t pawl__handover_in_hand(pawl__handover *handover)
{
    pthread_mutex_lock(&handover->mutex);
    size_t count = handover->in_hand;
    pthread_mutex_unlock(&handover->mutex);
    return count;
}

/* ---- Workers ------------------------------------------------------------------------------- */

void pawl__handover_remove_worker(pawl__handover *handover, int worker_fd)
{
    size_t kept = 0;
    pthread_mutex_lock(&handover->mutex);
    for (size_t i = 0; i < handover->worker_count; i++)
        if (handover->worker_fds[i] != worker_fd)
            handover->worker_fds[kept++] = handover->worker_fds[i];
    handover->worker_count = kept;
    pthread_mutex_unlock(&handover->mutex);
}

void pawl__handover_add_worker(pawl__handover *handover, int worker_fd)
{
    pawl__handover_remove_worker(handover, worker_fd);
    pthread_mutex_lock(&handover->mutex);
    if (handover->worker_count < PAWL_WORKERS_MAX)
        handover->worker_fds[handover->worker_count++] = worker_fd;
    pthread_mutex_unlock(&handover->mutex);
}

/* Moves messages of the first parcel that has some to the hand. False: there are none. */
static bool take_slice(pawl__handover *handover, size_t count_max, pawl__handful *hand)
{
    pawl__parcel *parcel = first_offered(handover);
    if (parcel == NULL)
        return false;
    pawl__slice *slice = &hand->slices[hand->slice_count++];
    *slice             = (pawl__slice){.parcel = parcel, .first = parcel->offered};
    while (slice->count < count_max && parcel->offered < parcel->takings.count &&
           parcel->states[parcel->offered] == PAWL__PARCEL_OFFERED) {
        parcel->states[parcel->offered++] = PAWL__PARCEL_IN_HAND;
        slice->count++;
    }
    hand->count += slice->count;
    return true;
}

bool pawl__handover_take(pawl__handover *handover, size_t count_max, pawl__handful *hand)
{
    hand->slice_count = hand->count = 0;
    if (atomic_load(&handover->open) == 0)
        return false;
    pthread_mutex_lock(&handover->mutex);
    while (hand->count < count_max && hand->slice_count < PAWL__SLICES_MAX &&
           take_slice(handover, count_max - hand->count, hand))
        continue;
    handover->in_hand += hand->count;
    atomic_fetch_sub(&handover->open, hand->count);
    pthread_mutex_unlock(&handover->mutex);
    return hand->count > 0;
}

static void give_slice(const pawl__slice *slice)
{
    pawl__parcel *parcel = slice->parcel;
    for (size_t i = slice->first; i < slice->first + slice->count; i++)
        parcel->states[i] = parcel->is_gone      ? PAWL__PARCEL_SETTLED
                            : parcel->is_done[i] ? PAWL__PARCEL_DONE
                                                 : PAWL__PARCEL_BACK;
}

void pawl__handover_give(pawl__handover *handover, pawl__handful *hand)
{
    pthread_mutex_lock(&handover->mutex);
    for (size_t i = 0; i < hand->slice_count; i++)
        give_slice(&hand->slices[i]);
    handover->in_hand -= hand->count;
    hand->slice_count = hand->count = 0;
    retire(handover);
    wake(handover->reader_fd);
    pthread_mutex_unlock(&handover->mutex);
}

static bool is_own(const pawl__handful *own, const pawl__parcel *parcel, size_t index)
{
    for (size_t i = 0; i < own->slice_count; i++) {
        const pawl__slice *slice = &own->slices[i];
        if (slice->parcel == parcel && index >= slice->first && index - slice->first < slice->count)
            return true;
    }
    return false;
}

/* Is the message still to be handled, and known to no reader of the store? */
static bool is_unhandled(pawl__parcel_state state)
{
    return state == PAWL__PARCEL_OFFERED || state == PAWL__PARCEL_IN_HAND ||
           state == PAWL__PARCEL_BACK || state == PAWL__PARCEL_STORING;
}

pawl_time pawl__handover_oldest(pawl__handover *handover, const pawl__handful *own)
{
    pawl_time oldest = PAWL_TIME_MAX;
    pthread_mutex_lock(&handover->mutex);
    for (const pawl__parcel *parcel = handover->parcels; parcel != NULL; parcel = parcel->next)
        for (size_t i = 0; i < parcel->takings.count; i++)
            if (is_unhandled(parcel->states[i]) && !is_own(own, parcel, i) &&
                parcel->takings.items[i].due < oldest)
                oldest = parcel->takings.items[i].due;
    pthread_mutex_unlock(&handover->mutex);
    return oldest;
}
