/* broken_event_store.c - defects of the event store, and of the outbox as an operator and a
 * message see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/broken_store.h"

#include <string.h>

#define SELF (&pawl__memory_driver)

/* ---- Appending ---------------------------------------------------------- */

static pawl_stream load(edit *e, pawl_text name)
{
    pawl_stream      stream = {0};
    pawl_stream_read read   = {.stream = name, .snapshot_version_max = INT32_MAX};
    SELF->stream_load(e->store, &read, 1, e->arena, &stream, NULL);
    return stream;
}

/* Events whose first version `is_wrong` go behind the stream's last one instead. */
static void append_behind(edit *e, bool (*is_wrong)(int64_t version, int64_t last))
{
    int64_t moved_by = 0;
    for (size_t i = 0; i < e->changes.event_append.count; i++) {
        pawl_event_append *change = &e->changes.event_append.items[i];
        if (change->is_first) {
            int64_t last = load(e, change->stream).version;
            moved_by     = is_wrong(change->version, last) ? last + 1 - change->version : 0;
        }
        change->version += moved_by;
    }
}

static bool is_taken(int64_t version, int64_t last)
{
    return version <= last;
}

static bool is_behind_a_gap(int64_t version, int64_t last)
{
    return version > last + 1;
}

static void the_expected_version_is_ignored(edit *e)
{
    append_behind(e, is_taken);
}

static void a_gap_is_not_noticed(edit *e)
{
    append_behind(e, is_behind_a_gap);
}

/* As two transactions: the dispatches stay when the events are refused. */
static void dispatches_have_a_commit_of_their_own(edit *e)
{
    for (size_t i = 0; i < e->changes.outbox_add.count; i++)
        e->changes.outbox_add.items[i].group = e->changes.group_count;
    e->changes.group_count++;
}

static void events_have_a_commit_of_their_own(edit *e)
{
    for (size_t i = 0; i < e->changes.event_append.count; i++)
        e->changes.event_append.items[i].group += e->changes.group_count;
    e->changes.group_count *= 2;
}

static void the_dispatch_id_is_not_kept(edit *e)
{
    for (size_t i = 0; i < e->changes.event_append.count; i++)
        e->changes.event_append.items[i].event.dispatch_id = (pawl_dispatch_id){{{0}}};
}

static void a_body_ends_at_its_first_zero(edit *e)
{
    for (size_t i = 0; i < e->changes.event_append.count; i++) {
        pawl_text  *body = &e->changes.event_append.items[i].event.body;
        const char *zero = body->size > 0 ? memchr(body->data, 0, body->size) : NULL;
        if (zero != NULL)
            body->size = (size_t)(zero - body->data);
    }
}

static void a_replay_is_added_again(edit *e)
{
    for (size_t i = 0; i < e->changes.outbox_add.count; i++) {
        pawl_outbox_add *change = &e->changes.outbox_add.items[i];
        pawl_found       found  = broken_rows(
                   e, (pawl_find){.kind = PAWL_FIND_OUTBOX, .outbox.dispatch_id = change->dispatch_id});
        const pawl_outbox_row *rows = found.items;
        if (found.count > 0 && rows[0].state != PAWL_OUTBOX_PENDING)
            change->dispatch_id.uuid.bytes[0] ^= 0xff;
    }
}

/* ---- Folds and checkpoints ---------------------------------------------- */

/* An older fold's state, under a version that passes for a newer one. */
static void an_older_fold_overwrites(edit *e)
{
    for (size_t i = 0; i < e->changes.stream_snapshot_set.count; i++) {
        pawl_stream_snapshot_set *change = &e->changes.stream_snapshot_set.items[i];
        pawl_stream_snapshot_row  stored = load(e, change->stream).snapshot;
        if (change->version <= stored.version)
            change->version = stored.version + 1;
    }
}

static void a_checkpoint_moves_from_anywhere(edit *e)
{
    for (size_t i = 0; i < e->changes.checkpoint_set.count; i++) {
        pawl_checkpoint_set *change = &e->changes.checkpoint_set.items[i];
        SELF->checkpoint_get(e->store, change->name, &change->from, NULL);
    }
}

/* ---- Reading streams ---------------------------------------------------- */

#define READS_MAX 16

static pawl_code load_changed(pawl_store *store, const pawl_stream_read *reads, size_t count,
                              pawl_arena *arena, pawl_stream *streams, pawl_error *error,
                              void (*change)(pawl_stream_read *read))
{
    pawl_stream_read changed[READS_MAX];
    if (count > READS_MAX)
        return PAWL_ELIMIT;
    for (size_t i = 0; i < count; i++) {
        changed[i] = reads[i];
        change(&changed[i]);
    }
    return SELF->stream_load(store, changed, count, arena, streams, error);
}

static void take_any_fold(pawl_stream_read *read)
{
    read->snapshot_version_max = read->snapshot_version_max > 0 ? INT32_MAX : 0;
}

static pawl_code load_any_fold(pawl_store *store, const pawl_stream_read *reads, size_t count,
                               pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    return load_changed(store, reads, count, arena, streams, error, take_any_fold);
}

static void forget_what_is_known(pawl_stream_read *read)
{
    read->after = 0;
}

static pawl_code load_from_the_start(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                     pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    return load_changed(store, reads, count, arena, streams, error, forget_what_is_known);
}

/* The version of what is returned, which is not the stream's when nothing is. */
static pawl_code load_version_of_the_rows(pawl_store *store, const pawl_stream_read *reads,
                                          size_t count, pawl_arena *arena, pawl_stream *streams,
                                          pawl_error *error)
{
    pawl_code code = SELF->stream_load(store, reads, count, arena, streams, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (streams[i].count == 0)
            streams[i].version = streams[i].snapshot.version;
    return code;
}

/* ---- Lists and positions ------------------------------------------------ */

BROKEN_FIND(list_without_filter, PAWL_FIND_EVENTS, changed.events.type.size = 0, )

BROKEN_FIND(list_forward, PAWL_FIND_EVENTS, changed.events.is_backward = false, )

BROKEN_FIND(list_from_after, PAWL_FIND_EVENTS, changed.after.number -= asked->events.after > 0, )

BROKEN_FIND(list_without_limit, PAWL_FIND_EVENTS, changed.limit = INT64_MAX, )

/* Rows that were inserted in another order than they were committed: positions with
 * holes. */
static void leave_gaps(pawl_event_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rows[i].position += rows[i].position > 2;
}
BROKEN_FIND(list_with_gaps, PAWL_FIND_EVENTS, , leave_gaps(found->items, found->count))

/* Every fourth event comes too late for who reads by position. */
static size_t skip_fourths(pawl_event_row *rows, size_t count, bool is_by_position)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_by_position || rows[i].position % 4 != 0)
            rows[kept++] = rows[i];
    return kept;
}
BROKEN_FIND(list_and_skip, PAWL_FIND_EVENTS, ,
            found->count = skip_fourths(found->items, found->count, asked->events.is_by_position))

/* ---- The outbox, by hand ------------------------------------------------ */

static void any_row_is_enabled(edit *e)
{
    pawl_changes *all  = &e->changes;
    size_t        kept = 0;
    for (size_t i = 0; i < all->outbox_reset.count; i++) {
        pawl_found found = broken_rows(
            e, (pawl_find){.kind = PAWL_FIND_OUTBOX, .outbox.id = all->outbox_reset.items[i].id});
        const pawl_outbox_row *rows = found.items;
        if (found.count > 0 && rows[0].state == PAWL_OUTBOX_DEAD)
            all->outbox_reset.items[kept++] = all->outbox_reset.items[i];
    }
    all->outbox_reset.count = kept;
}

static void what_is_discarded_is_delivered(edit *e)
{
    for (size_t i = 0; i < e->changes.outbox_reset.count; i++)
        e->changes.outbox_reset.items[i].action = PAWL_OUTBOX_RETRY;
}

static void count_all_attempts(pawl_outbox_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rows[i].attempts_before = 0;
}
BROKEN_FIND(find_with_all_attempts, PAWL_FIND_OUTBOX, ,
            count_all_attempts(found->items, found->count))

static void forget_the_time(pawl_outbox_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rows[i].dispatched = 0;
}
BROKEN_FIND(find_without_time, PAWL_FIND_OUTBOX, , forget_the_time(found->items, found->count))

/* ---- The outbox of a message -------------------------------------------- */

BROKEN_FIND(find_of_every_endpoint, PAWL_FIND_OUTBOX, changed.outbox.endpoint.size = 0, )

BROKEN_FIND(find_of_every_message, PAWL_FIND_OUTBOX, changed.outbox.causation_id.size = 0, )

BROKEN_FIND(find_of_any_attempts, PAWL_FIND_OUTBOX, changed.outbox.attempts_min = 0, )

/* A second receiver gets what another one has in hand. */
static pawl_code claim_what_is_claimed(pawl_store *store, const pawl_queue_claim *claim,
                                       pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code code = SELF->queue_claim(store, claim, arena, rows, error);
    if (code == PAWL_OK && rows->count == 0)
        code = pawl_store_queue_list(store, claim->queue, claim->count_max, arena, rows, error);
    return code;
}

static pawl_code sweep_at_the_cut_off(pawl_store *store, const pawl_sweep *sweep, int64_t *count,
                                      bool *more, pawl_error *error)
{
    pawl_sweep changed = *sweep;
    changed.outbox_before++;
    return SELF->sweep(store, &changed, count, more, error);
}

static pawl_code sweep_all_at_once(pawl_store *store, const pawl_sweep *sweep, int64_t *count,
                                   bool *more, pawl_error *error)
{
    pawl_sweep changed = *sweep;
    changed.count_max  = 1000;
    return SELF->sweep(store, &changed, count, more, error);
}

/* Two prefixes share their tables. */
static pawl_code open_without_prefix(pawl_store *store, const char *url,
                                     const pawl_store_options *options, pawl_error *error)
{
    char               memory_url[200];
    pawl_store_options changed = *options;
    const char        *name    = strchr(url, ':');
    changed.system_prefix      = "pawl_";
    store->system_prefix       = changed.system_prefix;
    strcpy(memory_url, "memory");
    strncat(memory_url, name, sizeof memory_url - sizeof "memory");
    return SELF->open(store, memory_url, &changed, error);
}

const defect broken_event_store[] = {
    {"expected version ignored", "O4", the_expected_version_is_ignored, {0}},
    {"gap of versions not noticed", "O4", a_gap_is_not_noticed, {0}},
    {"expected version ignored in a race", "O3", the_expected_version_is_ignored, {0}},
    {"dispatches outlive their events", "O4", dispatches_have_a_commit_of_their_own, {0}},
    {"events outlive their dispatches", "O1", events_have_a_commit_of_their_own, {0}},
    {"event without its dispatch id", "O18", the_dispatch_id_is_not_kept, {0}},
    {"event's body cut at a zero", "O1", a_body_ends_at_its_first_zero, {0}},
    {"replay delivered again", "O7", a_replay_is_added_again, {0}},
    {"older fold overwrites", "O18", an_older_fold_overwrites, {0}},
    {"checkpoint moved from anywhere", "O3", a_checkpoint_moves_from_anywhere, {0}},
    {"fold of a newer program loaded", "O18", NULL, {.stream_load = load_any_fold}},
    {"known events loaded again", "O4", NULL, {.stream_load = load_from_the_start}},
    {"version of the rows loaded", "O4", NULL, {.stream_load = load_version_of_the_rows}},
    {"events not filtered by type", "O18", NULL, {.find = list_without_filter}},
    {"backward list goes forward", "O4", NULL, {.find = list_forward}},
    {"list with what is known", "O4", NULL, {.find = list_from_after}},
    {"list without its limit", "O4", NULL, {.find = list_without_limit}},
    {"positions with a gap", "O4", NULL, {.find = list_with_gaps}},
    {"position skipped", "O3", NULL, {.find = list_and_skip}},
    {"row that is not dead enabled", "O19", any_row_is_enabled, {0}},
    {"discarded row delivered", "O19", what_is_discarded_is_delivered, {0}},
    {"attempts of before counted", "O19", NULL, {.find = find_with_all_attempts}},
    {"dispatched without a time", "O27", NULL, {.find = find_without_time}},
    {"operations of another endpoint", "O33", NULL, {.find = find_of_every_endpoint}},
    {"operations of another message", "O24", NULL, {.find = find_of_every_message}},
    {"what was never tried among the tried", "O14", NULL, {.find = find_of_any_attempts}},
    {"claimed message claimed again", "O26", NULL, {.queue_claim = claim_what_is_claimed}},
    {"sweep at the cut-off", "O28", NULL, {.sweep = sweep_at_the_cut_off}},
    {"sweep without batches", "O28", NULL, {.sweep = sweep_all_at_once}},
    {"prefixes share their tables", "O31", NULL, {.open = open_without_prefix}},
};
const size_t broken_event_store_count = sizeof broken_event_store / sizeof broken_event_store[0];
