/* timeout_set.c - setting timeouts, and setting them anew.
 *
 * Sets are applied as if one after another, yet in as few statements as there are ways of
 * setting in the change set, as a rule one:
 *
 *     by name   the row of (saga, name) is written anew, or inserted
 *     by id     the row of the id is written anew, or inserted
 *     new       inserted; a row that exists refuses it
 *
 * A run of sets of one way is one statement, and ON CONFLICT takes a key once. A set that meets
 * a key of its own run is folded into the earlier one where the row is written over anyway, and
 * begins a run of its own where it is not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/writer.h"

#include <stdlib.h>

typedef enum way {
    BY_NAME,
    BY_ID,
    NEW,
} way;

/* A row to be written, and how many sets it stands for. The set comes first: refusals read it. */
typedef struct arming {
    pawl_timeout_set set;
    int64_t          count;
} arming;

/* A set of the change set. Numbers count from 1 in its order; 0 is none. */
typedef struct entry {
    const pawl_timeout_set *set;
    size_t                  number;
    size_t                  same_id;   /* the nearest earlier set with the same id ... */
    size_t                  same_name; /* ... or the same saga and name */
    arming                 *arming;
} entry;

typedef struct run {
    pawl__pg_writer *writer;
    entry           *entries;
    way              way;
    size_t           first; /* number of the first set of the run */
    const void     **items; /* armings */
    size_t           count;
} run;

static bool has_name(const pawl_timeout_set *set)
{
    return !pawl_uuid_is_zero(set->saga_id.uuid) && set->name.size != 0;
}

static way way_of(const pawl_timeout_set *set)
{
    return set->is_new ? NEW : has_name(set) ? BY_NAME : BY_ID;
}

static int compare_ids(const pawl_timeout_set *a, const pawl_timeout_set *b)
{
    return pawl_uuid_compare(a->id.uuid, b->id.uuid);
}

static int compare_names(const pawl_timeout_set *a, const pawl_timeout_set *b)
{
    int order = pawl_uuid_compare(a->saga_id.uuid, b->saga_id.uuid);
    return order != 0 ? order : pawl_text_compare(a->name, b->name);
}

/* ---- Sending ------------------------------------------------------------ */

static int compare_items_by_id(const void *left, const void *right)
{
    return compare_ids(left, right);
}

static int compare_items_by_name(const void *left, const void *right)
{
    return compare_names(left, right);
}

/* Whether the answer's row, which has the id, the saga and the name, is this item's. */
static bool is_row_of(pawl__pg_request *request, const pawl_timeout_set *set)
{
    request->column     = 0;
    pawl_timeout_set is = {.id.uuid = pawl__pg_get_uuid(request)};
    is.saga_id.uuid     = pawl__pg_get_uuid(request);
    is.name             = pawl__pg_peek_text(request);
    return (set->is_new ? compare_ids(&is, set) : compare_names(&is, set)) == 0;
}

/* INSERT returns the rows in the order of the items; items without a row are refused. */
static pawl_code check_set(pawl__pg_writer *writer, pawl__pg_write *write)
{
    pawl__pg_request *request = &write->request;
    pawl_code         code    = PAWL_OK;
    if (pawl__pg_rows(request) == (int64_t)write->count)
        return PAWL_OK;
    bool has_row = pawl__pg_next(request);
    for (size_t i = 0; code == PAWL_OK && i < write->count; i++) {
        if (has_row && is_row_of(request, write->items[i])) {
            has_row = pawl__pg_next(request);
            continue;
        }
        code = pawl__pg_refuse_for(writer, write->kind, write->items[i], pawl__why_timeout_exists);
    }
    return code != PAWL_OK ? code : request->code;
}

static pawl_code send_run(run *r)
{
    static const struct {
        int                statement;
        pawl__pg_check_fn *check;
        int (*compare)(const void *left, const void *right);
    } ways[] = {
        [BY_NAME] = {PAWL__PG_TIMEOUT_REARM_SAGA, check_set, compare_items_by_name},
        [BY_ID]   = {PAWL__PG_TIMEOUT_REARM, NULL, compare_items_by_id},
        [NEW]     = {PAWL__PG_TIMEOUT_INSERT, check_set, compare_items_by_id},
    };
    static const pawl__field fields[] = {
        PAWL__AS_OF(arming, set.id, UUID),
        PAWL__AS_OF(arming, count, INT),
        PAWL__AS_OF(arming, set.saga_id, UUID_OR_NULL),
        PAWL__AS_OF(arming, set.saga_type, TEXT),
        PAWL__AS_OF(arming, set.name, TEXT),
        PAWL__AS_OF(arming, set.destination, TEXT),
        PAWL__AS_OF(arming, set.due, TIME),
        PAWL__AS_OF(arming, set.correlation_id, TEXT),
        PAWL__AS_OF(arming, set.headers, TEXT),
    };
    if (r->count == 0)
        return PAWL_OK;
    pawl__sort_changes(r->items, r->count, ways[r->way].compare);
    pawl__pg_write *write =
        pawl__pg_write_add(r->writer, ways[r->way].statement, pawl_change_timeout_set, r->items,
                           r->count, ways[r->way].check);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, fields, sizeof fields / sizeof fields[0]);
    r->items += r->count; /* the write keeps its part */
    r->count = 0;
    return pawl__pg_write_send(write);
}

/* ---- Runs --------------------------------------------------------------- */

/* Folds the later set's values into the earlier one, which keeps its id: when the id is refused,
 * the earlier set is. */
static void snapshot(entry *earlier, entry *later)
{
    arming          *kept   = earlier->arming;
    pawl_timeout_set folded = *later->set;
    folded.id               = kept->set.id;
    folded.unit             = kept->set.unit;
    folded.group            = kept->set.group;
    kept->set               = folded;
    kept->count++;
    later->arming = kept;
}

static pawl_code add(run *r, entry *e, arming *room)
{
    way       wanted = way_of(e->set);
    size_t    same   = wanted == BY_NAME ? e->same_name : wanted == BY_ID ? e->same_id : 0;
    bool      fits   = wanted == r->way;
    pawl_code code   = PAWL_OK;
    if (fits && same >= r->first && same != 0) {
        snapshot(&r->entries[same - 1], e);
        return PAWL_OK;
    }
    bool is_met = e->same_id >= r->first || e->same_name >= r->first;
    if (!fits || is_met) {
        code     = send_run(r);
        r->way   = wanted;
        r->first = e->number;
    }
    *room                = (arming){*e->set, 1};
    e->arming            = room;
    r->items[r->count++] = room;
    return code;
}

static int sort_by_id(const void *left, const void *right)
{
    const entry *a = *(entry *const *)left, *b = *(entry *const *)right;
    int          order = compare_ids(a->set, b->set);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static int sort_by_name(const void *left, const void *right)
{
    const entry *a = *(entry *const *)left, *b = *(entry *const *)right;
    int          order = compare_names(a->set, b->set);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* Links each entry to the nearest earlier ones with its keys. `sorted` is room for the entries. */
static void link_entries(entry *entries, size_t count, entry **sorted)
{
    size_t named = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &entries[i];
    qsort(sorted, count, sizeof *sorted, sort_by_id);
    for (size_t i = 1; i < count; i++)
        if (compare_ids(sorted[i - 1]->set, sorted[i]->set) == 0)
            sorted[i]->same_id = sorted[i - 1]->number;
    for (size_t i = 0; i < count; i++)
        if (has_name(entries[i].set))
            sorted[named++] = &entries[i];
    qsort(sorted, named, sizeof *sorted, sort_by_name);
    for (size_t i = 1; i < named; i++)
        if (compare_names(sorted[i - 1]->set, sorted[i]->set) == 0)
            sorted[i]->same_name = sorted[i - 1]->number;
}

pawl_code pawl__pg_send_timeout_set(pawl__pg_writer *writer)
{
    size_t       count;
    const void **items = pawl__pg_select(writer, pawl_change_timeout_set, NULL, NULL, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    entry    *entries = pawl_arena_take(writer->arena, (count + 1) * sizeof *entries);
    arming   *rooms   = pawl_arena_take(writer->arena, (count + 1) * sizeof *rooms);
    entry   **sorted  = pawl_arena_take(writer->arena, (count + 1) * sizeof(entry *));
    run       r       = {.writer = writer, .entries = entries, .first = 1, .items = items};
    pawl_code code    = PAWL_OK;
    if (entries == NULL || rooms == NULL || sorted == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < count; i++)
        entries[i] = (entry){.set = items[i], .number = i + 1};
    link_entries(entries, count, sorted);
    /* The array of items is written over by armings, never ahead of its reading. */
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = add(&r, &entries[i], &rooms[i]);
    return code == PAWL_OK ? send_run(&r) : code;
}
