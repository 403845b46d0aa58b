/* claims.c - the queue rows that a handle has claimed.
 *
 * The list has their numbers; the row locks of the open transaction keep them from others. A
 * rollback loses the locks: they are taken again before anything else, and rows that another
 * worker has taken leave the list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

static int by_seq(const void *left, const void *right)
{
    const pawl__pg_claim *l = left;
    const pawl__pg_claim *r = right;
    return (l->seq > r->seq) - (l->seq < r->seq);
}

static bool reserve(pawl__pg *store, size_t count)
{
    if (store->claim_count + count <= store->claim_capacity)
        return true;
    size_t          capacity = (store->claim_count + count) * 2;
    pawl__pg_claim *claims   = pawl_resize(store->claims, capacity * sizeof *claims);
    if (claims == NULL)
        return false;
    store->claims         = claims;
    store->claim_capacity = capacity;
    return true;
}

static pawl__pg_claim *find(const pawl__pg *store, int64_t seq)
{
    pawl__pg_claim key = {.seq = seq};
    if (store->claim_count == 0)
        return NULL;
    return bsearch(&key, store->claims, store->claim_count, sizeof key, by_seq);
}

const pawl__pg_claim *pawl__pg_claims_find(const pawl__pg *store, int64_t seq)
{
    return find(store, seq);
}

void pawl__pg_put_claims(pawl__pg_request *request, const pawl__pg *store, size_t count)
{
    PAWL__PG_PUT_COLUMN(request, PAWL__WIRE_INT, store->claims, seq, count);
}

/* Rows that are claimed again stand in the list once. */
pawl_code pawl__pg_claims_add(pawl__pg *store, const pawl__pg_claim *claims, size_t count,
                              pawl_error *error)
{
    if (!reserve(store, count))
        return pawl__pg_no_memory(error);
    size_t before = store->claim_count;
    for (size_t i = 0; i < count; i++) {
        store->claim_count = before; /* the search needs a sorted list: the new ones are not yet */
        pawl__pg_claim *known = find(store, claims[i].seq);
        if (known != NULL)
            *known = claims[i];
    }
    for (size_t i = 0, end = before; i < count; i++) {
        store->claim_count = before;
        if (find(store, claims[i].seq) == NULL)
            store->claims[end++] = claims[i];
        store->claim_count = end;
    }
    if (store->claim_count > 1)
        qsort(store->claims, store->claim_count, sizeof *store->claims, by_seq);
    return PAWL_OK;
}

/* Number 0, which no row has, stands for a claim that goes. */
static void remove_marked(pawl__pg *store)
{
    size_t kept = 0;
    for (size_t i = 0; i < store->claim_count; i++)
        if (store->claims[i].seq != 0)
            store->claims[kept++] = store->claims[i];
    store->claim_count = kept;
}

void pawl__pg_claims_end(pawl__pg *store, const pawl_changes *changes, const bool *is_dropped)
{
    /* The due time first, since the search needs the numbers. */
    for (size_t i = 0; i < changes->queue_settle.count; i++) {
        const pawl_queue_settle *settle = &changes->queue_settle.items[i];
        pawl__pg_claim          *claim  = find(store, settle->seq);
        if (claim != NULL && !is_dropped[settle->group])
            claim->due = INT64_MIN;
    }
    for (size_t i = 0; i < store->claim_count; i++)
        if (store->claims[i].due == INT64_MIN)
            store->claims[i].seq = 0;
    remove_marked(store);
}

pawl_code pawl__pg_claims_lock(pawl__pg *store, pawl_error *error)
{
    pawl__pg_request request;
    size_t           at = 0;
    pawl__pg_begin(&request, &store->main, PAWL__PG_QUEUE_LOCK, error);
    pawl__pg_put_claims(&request, store, store->claim_count);
    PAWL__PG_PUT_COLUMN(&request, PAWL__WIRE_TIME, store->claims, due, store->claim_count);
    pawl_code code = pawl__pg_run(&request);
    if (code != PAWL_OK)
        return code;
    /* The rows and the list are both in the order of the numbers. */
    while (pawl__pg_next(&request)) {
        int64_t seq = pawl__pg_get_int(&request);
        for (; at < store->claim_count && store->claims[at].seq < seq; at++)
            store->claims[at].seq = 0;
        if (at < store->claim_count)
            pawl__pg_get_tid(&request, store->claims[at++].tid);
    }
    for (; at < store->claim_count; at++)
        store->claims[at].seq = 0;
    remove_marked(store);
    return request.code;
}
