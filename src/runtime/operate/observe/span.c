/* span.c - a ring buffer of spans.
 *
 *     first = 5, count = 6 of 8:    [6][7][8] .  . [3][4][5]
 *                                             ^put ^lend gives 3 4 5, then 6 7 8
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"

#include "pawl/base.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

struct pawl__spans {
    pthread_mutex_t mutex;
    size_t          capacity;
    size_t          first, count, lent; /* under the mutex */
    pawl__span      items[];
};

pawl__spans *pawl__spans_create(size_t capacity)
{
    pawl__spans *spans = pawl_allocate(sizeof *spans + capacity * sizeof spans->items[0]);
    if (spans == NULL)
        return NULL;
    spans->capacity = capacity;
    pthread_mutex_init(&spans->mutex, NULL);
    return spans;
}

void pawl__spans_destroy(pawl__spans *spans)
{
    if (spans == NULL)
        return;
    pthread_mutex_destroy(&spans->mutex);
    pawl_free(spans);
}

/* Under the mutex. */
static void drop(pawl__spans *spans, size_t count)
{
    spans->first = (spans->first + count) % spans->capacity;
    spans->count -= count;
}

bool pawl__spans_put(pawl__spans *spans, const pawl__span *span, size_t *waiting)
{
    pthread_mutex_lock(&spans->mutex);
    bool has_room = spans->count < spans->capacity;
    if (!has_room && spans->lent == 0)
        drop(spans, 1);
    if (spans->count < spans->capacity)
        spans->items[(spans->first + spans->count++) % spans->capacity] = *span;
    *waiting = spans->count;
    pthread_mutex_unlock(&spans->mutex);
    return has_room;
}

size_t pawl__spans_peek(pawl__spans *spans, size_t count_max, const pawl__span **items)
{
    pthread_mutex_lock(&spans->mutex);
    size_t row = spans->capacity - spans->first;
    if (row > spans->count)
        row = spans->count;
    if (row > count_max)
        row = count_max;
    *items      = &spans->items[spans->first];
    spans->lent = row;
    pthread_mutex_unlock(&spans->mutex);
    return row;
}

void pawl__spans_release(pawl__spans *spans, size_t count)
{
    pthread_mutex_lock(&spans->mutex);
    assert(count <= spans->lent);
    drop(spans, count);
    spans->lent = 0;
    pthread_mutex_unlock(&spans->mutex);
}

size_t pawl__spans_again(pawl__spans *spans, uint8_t tries_max)
{
    size_t lost = 0;
    pthread_mutex_lock(&spans->mutex);
    for (size_t i = 0; i < spans->lent; i++) /* an older span has as many tries, or more */
        lost += ++spans->items[spans->first + i].tries == tries_max;
    drop(spans, lost);
    spans->lent = 0;
    pthread_mutex_unlock(&spans->mutex);
    return lost;
}

size_t pawl__spans_waiting(pawl__spans *spans)
{
    pthread_mutex_lock(&spans->mutex);
    size_t count = spans->count;
    pthread_mutex_unlock(&spans->mutex);
    return count;
}

void pawl__span_name(char *to, size_t size, pawl_text from)
{
    size_t used = from.size < size ? from.size : size - 1;
    while (used > 0 && used < from.size && ((unsigned char)from.data[used] & 0xC0) == 0x80)
        used--;
    if (used > 0)
        memcpy(to, from.data, used);
    to[used] = '\0';
}
