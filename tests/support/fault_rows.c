/* fault_rows.c - how the fault store changes the rows of a claim.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_rows.h"

#include "support/world.h"

/* Copies live until the next plan, since the engine may use them for any time. */
static pawl_arena       *arena_kept;
static pawl_random       chance;
static long              row_count;
static pawl_text         kept_name;
static pawl_queue_rows   kept_messages;
static pawl_timeout_rows kept_timeouts;
static pawl_leased_batch kept_snapshot;
static pawl_outbox_rows  kept_outbox;

void fault_rows_begin(uint64_t seed)
{
    pawl_arena_destroy(arena_kept);
    arena_kept = NULL;
    row_count  = 0;
    pawl_random_seed(&chance, seed);
    kept_messages = (pawl_queue_rows){.count = 0};
    kept_timeouts = (pawl_timeout_rows){.count = 0};
    kept_snapshot = (pawl_leased_batch){.count = 0};
    kept_outbox   = (pawl_outbox_rows){.count = 0};
}

long fault_rows_count(void)
{
    return row_count;
}

/* ---- Copies ---------------------------------------------------------------- */

static void *keep(const void *items, size_t size)
{
    if (arena_kept == NULL)
        arena_kept = pawl_arena_create(0);
    assert_non_null(arena_kept);
    void *made = pawl_arena_copy(arena_kept, items, size);
    assert_non_null(made);
    return made;
}

static void keep_text(pawl_text *text)
{
    if (text->data != NULL)
        *text = pawl_arena_text(arena_kept, *text);
}

static void keep_message(pawl_message *message)
{
    keep_text(&message->id);
    keep_text(&message->type);
    keep_text(&message->body);
    keep_text(&message->headers);
    keep_text(&message->correlation_id);
    keep_text(&message->causation_id);
}

static void keep_name(pawl_text name)
{
    kept_name = name;
    keep_text(&kept_name);
}

void fault_rows_keep_messages(pawl_text queue, const pawl_queue_rows *rows)
{
    kept_messages       = *rows;
    kept_messages.items = keep(rows->items, rows->count * sizeof rows->items[0]);
    for (size_t i = 0; i < rows->count; i++)
        keep_message(&kept_messages.items[i].message);
    keep_name(queue);
}

void fault_rows_keep_timeouts(pawl_text queue, const pawl_timeout_rows *rows)
{
    kept_timeouts       = *rows;
    kept_timeouts.items = keep(rows->items, rows->count * sizeof rows->items[0]);
    for (size_t i = 0; i < rows->count; i++) {
        pawl_timeout_row *row = &kept_timeouts.items[i];
        keep_text(&row->saga_type);
        keep_text(&row->name);
        keep_text(&row->destination);
        keep_text(&row->headers);
        keep_text(&row->correlation_id);
    }
    keep_name(queue);
}

void fault_rows_keep_snapshot(pawl_text partition, const pawl_leased_batch *rows)
{
    kept_snapshot       = *rows;
    kept_snapshot.items = keep(rows->items, rows->count * sizeof rows->items[0]);
    for (size_t i = 0; i < rows->count; i++) {
        keep_message(&kept_snapshot.items[i].message);
        keep_text(&kept_snapshot.items[i].name);
        keep_text(&kept_snapshot.items[i].partition);
        keep_text(&kept_snapshot.items[i].key);
    }
    keep_name(partition);
}

void fault_rows_keep_outbox(const pawl_outbox_rows *rows)
{
    kept_outbox       = *rows;
    kept_outbox.items = keep(rows->items, rows->count * sizeof rows->items[0]);
    for (size_t i = 0; i < rows->count; i++) {
        keep_message(&kept_outbox.items[i].message);
        keep_text(&kept_outbox.items[i].source);
        keep_text(&kept_outbox.items[i].endpoint);
        keep_text(&kept_outbox.items[i].destination);
    }
}

/* ---- Once more -------------------------------------------------------------- */

/* Makes room for the existing rows and for those to add. */
static void *widen(pawl_arena *arena, const void *items, size_t count, size_t more, size_t size)
{
    char *made = pawl_arena_take(arena, (count + more + 1) * size);
    assert_non_null(made);
    for (size_t i = 0; i < count * size; i++)
        made[i] = ((const char *)items)[i];
    return made;
}

void fault_rows_add_messages(pawl_text queue, pawl_arena *arena, pawl_queue_rows *rows)
{
    if (kept_messages.count == 0 || !pawl_text_equal(queue, kept_name))
        return;
    size_t had  = rows->count;
    rows->items = widen(arena, rows->items, had, kept_messages.count, sizeof rows->items[0]);
    for (size_t i = 0; i < kept_messages.count; i++) {
        bool is_there = false;
        for (size_t j = 0; j < had; j++)
            is_there |= rows->items[j].seq == kept_messages.items[i].seq;
        if (!is_there)
            rows->items[rows->count++] = kept_messages.items[i];
    }
    row_count += (long)(rows->count - had);
    kept_messages.count = 0;
}

void fault_rows_add_timeouts(pawl_text queue, pawl_arena *arena, pawl_timeout_rows *rows)
{
    if (kept_timeouts.count == 0 || !pawl_text_equal(queue, kept_name))
        return;
    size_t had  = rows->count;
    rows->items = widen(arena, rows->items, had, kept_timeouts.count, sizeof rows->items[0]);
    for (size_t i = 0; i < kept_timeouts.count; i++) {
        bool is_there = false;
        for (size_t j = 0; j < had; j++)
            is_there |=
                pawl_uuid_compare(rows->items[j].id.uuid, kept_timeouts.items[i].id.uuid) == 0;
        if (!is_there)
            rows->items[rows->count++] = kept_timeouts.items[i];
    }
    row_count += (long)(rows->count - had);
    kept_timeouts.count = 0;
}

void fault_rows_add_snapshot(pawl_text partition, pawl_arena *arena, pawl_leased_batch *rows)
{
    if (kept_snapshot.count == 0 || !pawl_text_equal(partition, kept_name))
        return;
    size_t had  = rows->count;
    rows->items = widen(arena, rows->items, had, kept_snapshot.count, sizeof rows->items[0]);
    for (size_t i = 0; i < kept_snapshot.count; i++) {
        bool is_there = false;
        for (size_t j = 0; j < had; j++)
            is_there |= rows->items[j].id == kept_snapshot.items[i].id;
        if (!is_there)
            rows->items[rows->count++] = kept_snapshot.items[i];
    }
    row_count += (long)(rows->count - had);
    kept_snapshot.count = 0;
}

void fault_rows_add_outbox(pawl_arena *arena, pawl_outbox_rows *rows)
{
    if (kept_outbox.count == 0)
        return;
    size_t had  = rows->count;
    rows->items = widen(arena, rows->items, had, kept_outbox.count, sizeof rows->items[0]);
    for (size_t i = 0; i < kept_outbox.count; i++) {
        bool is_there = false;
        for (size_t j = 0; j < had; j++)
            is_there |= rows->items[j].id == kept_outbox.items[i].id;
        if (!is_there)
            rows->items[rows->count++] = kept_outbox.items[i];
    }
    row_count += (long)(rows->count - had);
    kept_outbox.count = 0;
}

/* ---- Another worker ------------------------------------------------------------ */

static const pawl_session_id thief = {{{0x7e, 0x1e, 0xf0}}};

static pawl_store *open_thief(const char *url, pawl_time now)
{
    pawl_store *store = NULL;
    must(pawl_store_open(url, NULL, &store, world_error()));
    must(pawl_store_worker_open(store, PAWL_TEXT("thief"), PAWL_TEXT("[]"), now, world_error()));
    return store;
}

static void close_thief(pawl_store *store, pawl_time now, pawl_arena *arena)
{
    must(pawl_store_worker_close(store, now, world_error()));
    pawl_store_close(store);
    pawl_arena_destroy(arena);
}

void fault_rows_steal_timeouts(const char *url, const pawl_timeout_claim *claim,
                               const pawl_timeout_rows *rows)
{
    if (rows->count == 0)
        return;
    pawl_arena        *arena  = pawl_arena_create(0);
    pawl_timeout_claim taken  = *claim;
    pawl_timeout_rows  stolen = {.count = 0};
    taken.now += claim->lease;
    taken.owner       = thief;
    pawl_store *store = open_thief(url, taken.now);
    must(pawl_store_timeout_claim(store, &taken, arena, &stolen, world_error()));
    assert_int_equal(stolen.count, rows->count);
    row_count += (long)stolen.count;
    pawl_timeout_settle *settles = pawl_arena_take(arena, stolen.count * sizeof *settles);
    pawl_changes         changes = {ONE_UNIT, .now = taken.now};
    assert_non_null(settles);
    for (size_t i = 0; i < stolen.count; i++)
        settles[i] = (pawl_timeout_settle){.action     = PAWL_TIMEOUT_RELEASE,
                                           .id         = stolen.items[i].id,
                                           .has_owner  = true,
                                           .owner      = thief,
                                           .generation = stolen.items[i].generation};
    changes.timeout_settle.items = settles;
    changes.timeout_settle.count = stolen.count;
    must(pawl_store_commit(store, &changes, NULL, world_error()));
    close_thief(store, taken.now, arena);
}

void fault_rows_steal_snapshot(const char *url, const pawl_leased_batch_claim *claim,
                               const pawl_leased_batch *rows)
{
    if (rows->count == 0)
        return;
    pawl_arena             *arena  = pawl_arena_create(0);
    pawl_leased_batch_claim taken  = *claim;
    pawl_leased_batch       stolen = {.count = 0};
    taken.now += claim->lease;
    taken.session     = thief;
    pawl_store *store = open_thief(url, taken.now);
    must(pawl_store_leased_batch_claim(store, &taken, arena, &stolen, world_error()));
    assert_int_equal(stolen.count, rows->count);
    row_count += (long)stolen.count;
    MUST_COMMIT(store, leased_batch_release, taken.now, .partition = claim->partition,
                .session = thief);
    close_thief(store, taken.now, arena);
}

/* ---- Other chance ----------------------------------------------------------------- */

/* From the end of the claim on, each row is swapped with its neighbour or not, at random. */
void fault_rows_reorder(pawl_queue_rows *rows, fault_independent_fn *is_independent)
{
    for (size_t i = rows->count; is_independent != NULL && i > 1; i--) {
        pawl_queue_row *before = &rows->items[i - 2], *row = &rows->items[i - 1];
        if (before->due != row->due || !is_independent(&before->message, &row->message) ||
            pawl_random_below(&chance, 2) == 0)
            continue;
        pawl_queue_row moved = *row;
        *row                 = *before;
        *before              = moved;
        row_count++;
    }
}
