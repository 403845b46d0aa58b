/* recent.c - a bounded set of ids, first in first out.
 *
 * A load adds as many ids as are remembered; a hash table with chains keeps that from
 * being quadratic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/entry.h"

#include <stdio.h>
#include <string.h>

#define CAPACITY_FIRST 16
#define QUOTED_SIZE (PAWL_UUID_TEXT_SIZE + 2) /* size of an id in JSON */
#define SECOND_DIGITS_MAX 12                  /* of PAWL_TIME_MAX */
#define SECOND_SIZE (SECOND_DIGITS_MAX + 2)   /* with a comma and a NUL */

/* ---- Chains ----------------------------------------------------------------- */

static uint32_t *chain_of(const pawl__recent *recent, pawl_uuid id)
{
    uint64_t half[2];
    memcpy(half, id.bytes, sizeof half);
    uint64_t hash =
        (half[0] ^ (half[1] * UINT64_C(0x9E3779B97F4A7C15))) * UINT64_C(0xD6E8FEB86659FD93);
    return &recent->chains[(hash >> 32) & (recent->chain_count - 1)];
}

static void link_item(pawl__recent *recent, size_t index)
{
    uint32_t *chain           = chain_of(recent, recent->items[index].id);
    recent->items[index].next = *chain;
    *chain                    = (uint32_t)index + 1;
}

static void unlink_item(pawl__recent *recent, size_t index)
{
    uint32_t *link = chain_of(recent, recent->items[index].id);
    while (*link != index + 1)
        link = &recent->items[*link - 1].next;
    *link = recent->items[index].next;
}

bool pawl__recent_has(const pawl__recent *recent, pawl_uuid id)
{
    if (recent->count == 0)
        return false;
    uint32_t next = *chain_of(recent, id);
    while (next != 0 && memcmp(recent->items[next - 1].id.bytes, id.bytes, sizeof id.bytes) != 0)
        next = recent->items[next - 1].next;
    return next != 0;
}

void pawl__recent_clear(pawl__recent *recent)
{
    recent->count = recent->first = 0;
    if (recent->chain_count > 0)
        memset(recent->chains, 0, recent->chain_count * sizeof recent->chains[0]);
}

/* ---- Adding ------------------------------------------------------------------- */

static bool grow(pawl__recent *recent, pawl_arena *arena)
{
    size_t larger = recent->capacity != 0 ? recent->capacity * 2 : CAPACITY_FIRST;
    size_t chains = larger; /* a power of two, as CAPACITY_FIRST is */
    if (larger > recent->bound)
        larger = recent->bound;
    pawl__recent_item *grown = pawl_arena_take(arena, larger * sizeof *grown);
    uint32_t          *made  = pawl_arena_take(arena, chains * sizeof *made);
    if (grown == NULL || made == NULL)
        return false;
    if (recent->count > 0)
        memcpy(grown, recent->items, recent->count * sizeof *grown);
    recent->items       = grown;
    recent->capacity    = larger;
    recent->chains      = made;
    recent->chain_count = chains;
    for (size_t i = 0; i < recent->count; i++)
        link_item(recent, i);
    return true;
}

static void put(pawl__recent *recent, size_t index, pawl_uuid id, pawl_time at)
{
    recent->items[index] = (pawl__recent_item){.id = id, .at = at};
    link_item(recent, index);
}

pawl_code pawl__recent_add(pawl__recent *recent, pawl_uuid id, pawl_time at, pawl_arena *arena,
                           pawl__recent_item *pushed_out)
{
    if (pushed_out != NULL)
        *pushed_out = (pawl__recent_item){.at = 0};
    if (recent->bound == 0 || pawl__recent_has(recent, id))
        return PAWL_OK;
    if (recent->count < recent->bound) {
        if (recent->count == recent->capacity && !grow(recent, arena))
            return PAWL_ENOMEM;
        put(recent, recent->count++, id, at);
        return PAWL_OK;
    }
    if (pushed_out != NULL)
        *pushed_out = recent->items[recent->first];
    unlink_item(recent, recent->first);
    put(recent, recent->first, id, at);
    recent->first = (recent->first + 1) % recent->bound;
    return PAWL_OK;
}

/* ---- Writing ------------------------------------------------------------------ */

static int64_t second_of(pawl_time at)
{
    return at > 0 ? at / PAWL_SECONDS(1) : 0;
}

static char *write_id(char *out, pawl_uuid id)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id, text);
    *out++ = '"';
    memcpy(out, text, PAWL_UUID_TEXT_SIZE);
    out += PAWL_UUID_TEXT_SIZE;
    *out++ = '"';
    return out;
}

pawl_text pawl__recent_write(const pawl__recent *recent, pawl_arena *arena)
{
    char   *json   = pawl_arena_take(arena, recent->count * (QUOTED_SIZE + 1 + SECOND_SIZE) + 3);
    char   *out    = json;
    int64_t second = 0;
    if (json == NULL)
        return (pawl_text){0};
    *out++ = '[';
    for (size_t i = 0; i < recent->count; i++) {
        const pawl__recent_item *item = &recent->items[(recent->first + i) % recent->count];
        if (i > 0)
            *out++ = ',';
        out = write_id(out, item->id);
        if (second_of(item->at) != second) {
            second = second_of(item->at);
            out += snprintf(out, SECOND_SIZE, ",%lld", (long long)second);
        }
    }
    *out++ = ']';
    *out   = '\0';
    return (pawl_text){.data = json, .size = (size_t)(out - json)};
}

/* ---- Reading ---------------------------------------------------------------- */

typedef struct reader {
    pawl_text json;
    size_t    index;
} reader;

/* Takes the wanted character if it is next. A database may have put spaces before it. */
static bool take(reader *from, char wanted)
{
    while (from->index < from->json.size && from->json.data[from->index] == ' ')
        from->index++;
    if (from->index == from->json.size || from->json.data[from->index] != wanted)
        return false;
    from->index++;
    return true;
}

static bool take_id(reader *from, pawl_uuid *id)
{
    if (!take(from, '"') || from->json.size - from->index < PAWL_UUID_TEXT_SIZE)
        return false;
    const pawl_text text = {.data = from->json.data + from->index, .size = PAWL_UUID_TEXT_SIZE};
    from->index += PAWL_UUID_TEXT_SIZE;
    return pawl_uuid_parse(text, id, NULL) == PAWL_OK && take(from, '"');
}

/* Reads the second that may stand behind an id. */
static bool take_second(reader *from, int64_t *second)
{
    int64_t number = 0;
    size_t  digits = 0;
    while (from->index < from->json.size && digits <= SECOND_DIGITS_MAX &&
           from->json.data[from->index] >= '0' && from->json.data[from->index] <= '9') {
        number = number * 10 + (from->json.data[from->index] - '0');
        from->index++;
        digits++;
    }
    *second = number;
    return digits > 0 && digits <= SECOND_DIGITS_MAX;
}

/* Goes on to the next element of the array, or over its end. */
static bool take_next(reader *from, bool *is_over)
{
    *is_over = take(from, ']');
    if (*is_over)
        return true;
    if (!take(from, ','))
        return false;
    while (from->index < from->json.size && from->json.data[from->index] == ' ')
        from->index++;
    return true;
}

static bool is_id_next(const reader *from)
{
    return from->index < from->json.size && from->json.data[from->index] == '"';
}

/* Accepts only arrays as pawl__recent_write makes them: half a set would let a command that was
 * handled run again. */
pawl_code pawl__recent_read(pawl__recent *recent, pawl_text json, pawl_arena *arena)
{
    reader  from   = {json, 0};
    int64_t second = 0;
    if (!take(&from, '['))
        return PAWL_EDECODE;
    bool is_over = take(&from, ']');
    while (!is_over) {
        pawl_uuid id;
        if (!take_id(&from, &id) || !take_next(&from, &is_over))
            return PAWL_EDECODE;
        if (!is_over && !is_id_next(&from) &&
            (!take_second(&from, &second) || !take_next(&from, &is_over)))
            return PAWL_EDECODE;
        if (pawl__recent_add(recent, id, PAWL_SECONDS(second), arena, NULL) != PAWL_OK)
            return PAWL_ENOMEM;
    }
    return from.index == json.size ? PAWL_OK : PAWL_EDECODE;
}
