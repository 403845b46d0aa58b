/* saga_owners.c - a hash table of fixed size: a saga may use one of eight slots. If others have all of them, it is not
 * in the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/saga_owners.h"

#include "runtime/common/clock.h"

#include <pthread.h>

#define PLACES 8

typedef struct slot {
    uint64_t           hash;
    const pawl__owned *owner;     /* NULL: free */
    pawl_time          until;     /* machine time */
    bool               is_wanted; /* another worker asked for it meanwhile */
} slot;

struct pawl__owners {
    pthread_mutex_t mutex;
    slot            slots[PAWL__OWNERS_MAX];
};

pawl__owners *pawl__owners_create(void)
{
    pawl__owners *owners = pawl_allocate(sizeof *owners);
    if (owners != NULL)
        pthread_mutex_init(&owners->mutex, NULL);
    return owners;
}

void pawl__owners_destroy(pawl__owners *owners)
{
    if (owners == NULL)
        return;
    pthread_mutex_destroy(&owners->mutex);
    pawl_free(owners);
}

/* Workers pass the time at which their batch began. So `now` may be earlier than the time at which the slot was
 * taken. */
static bool is_free(const slot *at, pawl_time now)
{
    return at->owner == NULL || pawl__is_due(at->until, now, 2 * PAWL__OWNER_COMMIT);
}

/* The slot of the hash, else a free one, else NULL. */
static slot *find(pawl__owners *owners, uint64_t hash, pawl_time now)
{
    slot *room = NULL;
    for (size_t i = 0; i < PLACES; i++) {
        slot *at = &owners->slots[(hash + i) % PAWL__OWNERS_MAX];
        if (at->owner != NULL && at->hash == hash)
            return at;
        if (is_free(at, now) && room == NULL)
            room = at;
    }
    return room;
}

static bool take(pawl__owners *owners, pawl__owned *owned, uint64_t hash, pawl_time now)
{
    slot *at = find(owners, hash, now);
    if (at == NULL)
        return true;
    bool is_there = at->hash == hash && !is_free(at, now);
    if (is_there && at->owner != owned) {
        at->is_wanted = true;
        return false;
    }
    if (owned->count == PAWL__OWNERS_MAX)
        return true;
    *at                          = (slot){hash, owned, pawl_time_add(now, PAWL__OWNER_TIME), false};
    owned->slots[owned->count++] = (uint16_t)(at - owners->slots);
    return true;
}

bool pawl__owners_take(pawl__owners *owners, pawl__owned *owned, uint64_t hash, pawl_time now)
{
    pthread_mutex_lock(&owners->mutex);
    bool is_taken = take(owners, owned, hash, now);
    pthread_mutex_unlock(&owners->mutex);
    return is_taken;
}

void pawl__owners_hold(pawl__owners *owners, const pawl__owned *owned, pawl_time now)
{
    if (owned->count == 0)
        return;
    pthread_mutex_lock(&owners->mutex);
    for (size_t i = 0; i < owned->count; i++) {
        slot *at = &owners->slots[owned->slots[i]];
        if (at->owner == owned)
            at->until = pawl_time_add(now, PAWL__OWNER_COMMIT);
    }
    pthread_mutex_unlock(&owners->mutex);
}

/* Skips slots that another worker has taken over. */
void pawl__owners_release(pawl__owners *owners, pawl__owned *owned, pawl_time now)
{
    if (owned->count == 0)
        return;
    pthread_mutex_lock(&owners->mutex);
    for (size_t i = 0; i < owned->count; i++) {
        slot *at = &owners->slots[owned->slots[i]];
        if (at->owner == owned && at->is_wanted)
            at->until = pawl_time_add(now, PAWL__OWNER_KEEP);
        else if (at->owner == owned)
            at->owner = NULL;
    }
    owned->count = 0;
    pthread_mutex_unlock(&owners->mutex);
}
