/* claims.c - linear probing; a removal moves later rows of its run back, so
 * that there are no graves and a miss ends at the first empty slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/program/program.h"

#include <assert.h>

#define CAPACITY_MIN ((size_t)1024)

/* Rows of one batch follow one another; the factor spreads them (2^64 divided
 * by the golden ratio). */
static size_t home_of(const pawl__claims *claims, int64_t seq)
{
    return (size_t)(((uint64_t)seq * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (claims->capacity - 1);
}

pawl__claim_row *pawl__claims_find(const pawl__claims *claims, int64_t seq)
{
    if (claims->count == 0)
        return NULL;
    for (size_t at = home_of(claims, seq);; at = (at + 1) & (claims->capacity - 1)) {
        pawl__claim_row *row = &claims->rows[at];
        if (row->seq == seq)
            return row;
        if (row->seq == 0)
            return NULL;
    }
}

static void put(pawl__claims *claims, pawl__claim_row row)
{
    size_t at = home_of(claims, row.seq);
    while (claims->rows[at].seq != 0)
        at = (at + 1) & (claims->capacity - 1);
    claims->rows[at] = row;
    claims->count++;
}

static pawl_code enlarge(pawl__claims *claims)
{
    pawl__claims larger = {NULL, claims->capacity != 0 ? claims->capacity * 2 : CAPACITY_MIN, 0};
    larger.rows         = pawl_allocate(larger.capacity * sizeof *larger.rows);
    if (larger.rows == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < claims->capacity; i++)
        if (claims->rows[i].seq != 0)
            put(&larger, claims->rows[i]);
    pawl_free(claims->rows);
    *claims = larger;
    return PAWL_OK;
}

pawl_code pawl__claims_add(pawl__claims *claims, int64_t seq, const void *owner, int64_t epoch)
{
    assert(seq != 0);
    if (claims->count * 2 >= claims->capacity && enlarge(claims) != PAWL_OK)
        return PAWL_ENOMEM;
    put(claims, (pawl__claim_row){seq, owner, epoch});
    return PAWL_OK;
}

/* Whether a row whose home is `home` may move from `at` back to `hole`: not
 * when its home lies behind the hole, going round. */
static bool may_move(size_t hole, size_t home, size_t at)
{
    return hole <= at ? (home <= hole || home > at) : (home <= hole && home > at);
}

void pawl__claims_remove(pawl__claims *claims, int64_t seq)
{
    pawl__claim_row *row = pawl__claims_find(claims, seq);
    if (row == NULL)
        return;
    size_t mask = claims->capacity - 1;
    size_t hole = (size_t)(row - claims->rows);
    for (size_t at = (hole + 1) & mask; claims->rows[at].seq != 0; at = (at + 1) & mask) {
        if (!may_move(hole, home_of(claims, claims->rows[at].seq), at))
            continue;
        claims->rows[hole] = claims->rows[at];
        hole               = at;
    }
    claims->rows[hole] = (pawl__claim_row){0, NULL, 0};
    claims->count--;
}

void pawl__claims_remove_owner(pawl__claims *claims, const void *owner)
{
    size_t i = 0;
    while (claims->count != 0 && i < claims->capacity) {
        /* A removal may move another row of the owner to this slot, so it is
         * compared again. A row that moves here from the table's start was passed
         * before and belongs to others. */
        if (claims->rows[i].seq != 0 && claims->rows[i].owner == owner) {
            pawl__claims_remove(claims, claims->rows[i].seq);
            continue;
        }
        i++;
    }
}

void pawl__claims_free(pawl__claims *claims)
{
    pawl_free(claims->rows);
    *claims = (pawl__claims){0};
}
