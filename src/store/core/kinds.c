/* kinds.c - the table of kinds of change, waves, refusals, keys of a run; see kinds.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/kinds.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ---------------------------------------------------------- */

const pawl__kind pawl__kinds[pawl_change_kind_count] = {
#define KIND_ROW(name, is_refusable)                                                              \
    {sizeof(pawl_##name), offsetof(pawl_changes, name.items), offsetof(pawl_changes, name.count), \
     is_refusable},
    PAWL_CHANGE_KINDS(KIND_ROW)
#undef KIND_ROW
};

const char *pawl_change_kind_name(pawl_change_kind kind)
{
    static const char *const names[] = {
#define KIND_NAME(name, is_refusable) #name,
        PAWL_CHANGE_KINDS(KIND_NAME)
#undef KIND_NAME
    };
    _Static_assert(sizeof names / sizeof names[0] == pawl_change_kind_count, "one name for each");
    return (unsigned)kind < pawl_change_kind_count ? names[kind] : "?";
}

size_t pawl__change_count(const pawl_changes *changes, pawl_change_kind kind)
{
    size_t count;
    memcpy(&count, (const char *)changes + pawl__kinds[kind].count_offset, sizeof count);
    return count;
}

const char *pawl__change_items(const pawl_changes *changes, pawl_change_kind kind)
{
    const char *items;
    memcpy(&items, (const char *)changes + pawl__kinds[kind].items_offset, sizeof items);
    return items;
}

uint32_t pawl__change_group(const void *change)
{
    pawl__change base;
    memcpy(&base, change, sizeof base);
    return base.group;
}

bool pawl__changes_has(const pawl_changes *changes, pawl_change_kind kind, uint32_t unit,
                       uint32_t group)
{
    if ((unsigned)kind >= pawl_change_kind_count)
        return false;
    const char *item  = pawl__change_items(changes, kind);
    size_t      count = pawl__change_count(changes, kind);
    for (size_t i = 0; i < count; i++, item += pawl__kinds[kind].size) {
        pawl__change base;
        memcpy(&base, item, sizeof base);
        if (base.unit == unit && base.group == group)
            return true;
    }
    return false;
}

bool pawl__changes_only_release(const pawl_changes *changes)
{
    static const pawl_counters none;
    for (int kind = 0; kind < pawl_change_kind_count; kind++)
        if (kind != pawl_change_queue_settle &&
            pawl__change_count(changes, (pawl_change_kind)kind) != 0)
            return false;
    for (size_t i = 0; i < changes->queue_settle.count; i++)
        if (changes->queue_settle.items[i].action != PAWL_QUEUE_RELEASE)
            return false;
    return memcmp(&changes->counters, &none, sizeof none) == 0;
}

bool pawl__changes_free_leases(const pawl_changes *changes)
{
    bool is_free = changes->leased_batch_release.count != 0;
    for (size_t i = 0; i < changes->timeout_settle.count; i++)
        is_free |= changes->timeout_settle.items[i].action != PAWL_TIMEOUT_REMOVE;
    for (size_t i = 0; i < changes->flush_set.count; i++)
        is_free |= !changes->flush_set.items[i].is_done && !changes->flush_set.items[i].is_dead;
    return is_free;
}

/* ---- Waves -------------------------------------------------------------- */

size_t pawl__take_firsts(const void **items, size_t count, const void **firsts,
                         pawl__compare_fn *compare)
{
    size_t      left = 0;
    const void *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const void *item = items[i];
        if (last == NULL || compare(last, item) != 0)
            firsts[i - left] = item;
        else
            items[left++] = item;
        last = item;
    }
    return left;
}

size_t pawl__take_equal(const void **items, size_t count, const void **alike,
                        pawl__compare_fn *compare)
{
    size_t      left  = 0;
    const void *least = items[0];
    for (size_t i = 1; i < count; i++)
        if (compare(items[i], least) < 0)
            least = items[i];
    for (size_t i = 0; i < count; i++) {
        const void *item = items[i];
        if (compare(item, least) == 0)
            alike[i - left] = item;
        else
            items[left++] = item;
    }
    return left;
}

int pawl__compare_by_table(const void *left, const void *right)
{
    const pawl_saga_table *l = pawl__saga_table_of(left);
    const pawl_saga_table *r = pawl__saga_table_of(right);
    return l == r ? 0 : pawl_text_compare(l->name, r->name);
}

/* Sorts with qsort_r instead of a thread-local variable: a driver is a module, and LeakSanitizer crashes on a
 * thread-local variable of a module that was closed. */
static int by_key_and_index(const void *left, const void *right, void *context)
{
    pawl__compare_fn *const *compare = context;
    const char              *l       = *(const char *const *)left;
    const char              *r       = *(const char *const *)right;
    int                      order   = (*compare)(l, r);
    return order != 0 ? order : (l > r) - (l < r);
}

void pawl__sort_changes(const void **items, size_t count, pawl__compare_fn *compare)
{
    if (count > 1)
        qsort_r(items, count, sizeof *items, by_key_and_index, &compare);
}

/* ---- Refusing ----------------------------------------------------------- */

pawl_code pawl_refusals_add(pawl_refusals *refusals, pawl_change_kind kind, uint32_t unit,
                            uint32_t group, pawl_code reason, pawl_text text)
{
    /* A refusal always has a text; without data the caller could not allocate
     * it. */
    if (text.data == NULL)
        return PAWL_ENOMEM;
    pawl_text copy = pawl_arena_text(refusals->arena, text);
    if (copy.data == NULL)
        return PAWL_ENOMEM;
    pawl_refusal *items = pawl_arena_grow(refusals->arena, refusals->items, refusals->count,
                                          &refusals->capacity, sizeof *items);
    if (items == NULL)
        return PAWL_ENOMEM;
    refusals->items          = items;
    items[refusals->count++] = (pawl_refusal){kind, unit, group, reason, copy};
    return PAWL_OK;
}

pawl_code pawl__refuse(pawl_refusals *refused, pawl_change_kind kind, const void *change,
                       const pawl_error *why)
{
    pawl__change base;
    memcpy(&base, change, sizeof base);
    pawl_text text = pawl_arena_text(refused->arena, pawl_text_of(why->text));
    return text.data == NULL
               ? PAWL_ENOMEM
               : pawl_refusals_add(refused, kind, base.unit, base.group, why->code, text);
}

pawl_code pawl__refuse_all(pawl_refusals *refused, const pawl_changes *changes, bool *is_dropped)
{
    pawl_error why = PAWL_ERROR_INIT;
    (void)pawl_error_set(&why, PAWL_ECONFLICT,
                         "rolled back with the handler transaction it was in");
    return pawl__refuse_others(refused, changes, is_dropped, &why);
}

pawl_code pawl__refuse_others(pawl_refusals *refused, const pawl_changes *changes, bool *is_dropped,
                              const pawl_error *why)
{
    for (int kind = 0; kind < pawl_change_kind_count; kind++) {
        const char *item  = pawl__change_items(changes, (pawl_change_kind)kind);
        size_t      count = pawl__change_count(changes, (pawl_change_kind)kind);
        for (size_t i = 0; i < count; i++, item += pawl__kinds[kind].size) {
            uint32_t  group = pawl__change_group(item);
            pawl_code code  = PAWL_OK;
            if (!is_dropped[group])
                code = pawl__refuse(refused, (pawl_change_kind)kind, item, why);
            if (code != PAWL_OK)
                return code;
            is_dropped[group] = true;
        }
    }
    return PAWL_OK;
}

void pawl__drop_refused(const pawl_refusals *refused, size_t before, bool *is_dropped)
{
    for (size_t i = before; i < refused->count; i++)
        is_dropped[refused->items[i].group] = true;
}

pawl_code pawl__refusal_error(const pawl_refusal *refusal, pawl_error *error)
{
    return pawl_error_set(error, refusal->reason, "enlist: %s %.*s",
                          pawl_change_kind_name(refusal->kind), PAWL_TEXT_ARGS(refusal->text));
}

/* ---- Keys of a run -------------------------------------------------------- */

/* FNV-1a, with a bit that is always set. */
uint32_t pawl__key_hash(uint32_t from, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        from = (from ^ bytes[i]) * UINT32_C(16777619);
    return from | UINT32_C(0x80000000);
}

bool pawl__keys_add(pawl__keys *keys, const uint32_t *items, size_t count, bool is_first)
{
    bool is_met = false;
    for (size_t i = 0; !is_first && i < count; i++) {
        uint32_t bit = items[i] % PAWL__KEY_BITS;
        is_met |= items[i] != 0 && (keys->bits[bit / 64] & UINT64_C(1) << bit % 64) != 0;
    }
    if (is_first || is_met)
        memset(keys, 0, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        if (items[i] != 0)
            keys->bits[items[i] % PAWL__KEY_BITS / 64] |= UINT64_C(1) << items[i] % 64;
    return is_met;
}
