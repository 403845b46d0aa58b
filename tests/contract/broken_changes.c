/* broken_changes.c - defects of writing: what they make of a change set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/broken_store.h"

#include <stdatomic.h>
#include <string.h>

#define SELF (&pawl__memory_driver)

/* ---- Sagas -------------------------------------------------------------- */

static pawl_saga_row load(edit *e, const pawl_saga_table *table, pawl_saga_key key,
                          pawl_value value)
{
    pawl_saga_row row = {0};
    SELF->saga_load(e->store, table, key, &value, 1, PAWL_SAGA_UNLOCKED, e->arena, &row, NULL);
    return row;
}

static void update_at_any_version(edit *e)
{
    for (size_t i = 0; i < e->changes.saga_update.count; i++) {
        pawl_saga_update *change = &e->changes.saga_update.items[i];
        pawl_saga_row     row =
            load(e, change->table, PAWL_SAGA_BY_ID, pawl_value_uuid(change->id.uuid));
        if (row.version != 0)
            change->version = row.version;
    }
}

static void delete_at_any_version(edit *e)
{
    for (size_t i = 0; i < e->changes.saga_delete.count; i++) {
        pawl_saga_delete *change = &e->changes.saga_delete.items[i];
        pawl_saga_row     row =
            load(e, change->table, PAWL_SAGA_BY_ID, pawl_value_uuid(change->id.uuid));
        if (row.version != 0)
            change->version = row.version;
    }
}

static void update_inserts(edit *e)
{
    pawl_changes *all  = &e->changes;
    size_t        kept = 0;
    for (size_t i = 0; i < all->saga_update.count; i++) {
        pawl_saga_update change = all->saga_update.items[i];
        if (load(e, change.table, PAWL_SAGA_BY_ID, pawl_value_uuid(change.id.uuid)).version != 0)
            all->saga_update.items[kept++] = change;
        else
            all->saga_insert.items[all->saga_insert.count++] =
                (pawl_saga_insert){.unit         = change.unit,
                                   .group        = change.group,
                                   .table        = change.table,
                                   .id           = change.id,
                                   .transitional = change.transitional,
                                   .metadata     = change.metadata,
                                   .data         = change.data,
                                   .type_version = change.type_version};
    }
    all->saga_update.count = kept;
}

static void insert_overwrites(edit *e)
{
    pawl_changes *all = &e->changes;
    for (size_t i = 0; i < all->saga_insert.count; i++) {
        const pawl_saga_insert *change = &all->saga_insert.items[i];
        if (change->main.type == PAWL_VALUE_NONE)
            continue;
        pawl_saga_row row = load(e, change->table, PAWL_SAGA_BY_MAIN, change->main);
        if (row.version != 0)
            all->saga_delete.items[all->saga_delete.count++] =
                (pawl_saga_delete){.unit    = change->unit,
                                   .group   = change->group,
                                   .table   = change->table,
                                   .id      = row.id,
                                   .version = row.version};
    }
}

/* An empty column that is not null collides with the next one. */
static void null_is_a_value(edit *e)
{
    for (size_t i = 0; i < e->changes.saga_insert.count; i++) {
        pawl_saga_insert *change = &e->changes.saga_insert.items[i];
        if (change->transitional.type != PAWL_VALUE_NONE)
            continue;
        if (change->table->transitional.type == PAWL_VALUE_INT)
            change->transitional = pawl_value_integer(0);
        else if (change->table->transitional.type == PAWL_VALUE_TEXT)
            change->transitional = pawl_value_text(PAWL_TEXT("null"));
    }
}

#define CUT 65535 /* as a column of type "text" does in one database */
static void state_is_cut(edit *e)
{
    for (size_t i = 0; i < e->changes.saga_insert.count; i++)
        if (e->changes.saga_insert.items[i].data.size > CUT)
            e->changes.saga_insert.items[i].data.size = CUT;
    for (size_t i = 0; i < e->changes.saga_update.count; i++)
        if (e->changes.saga_update.items[i].data.size > CUT)
            e->changes.saga_update.items[i].data.size = CUT;
}

static void transitional_value_is_kept(edit *e)
{
    for (size_t i = 0; i < e->changes.saga_update.count; i++) {
        pawl_saga_update *change = &e->changes.saga_update.items[i];
        change->transitional =
            load(e, change->table, PAWL_SAGA_BY_ID, pawl_value_uuid(change->id.uuid)).transitional;
    }
}

/* ---- Timeouts ----------------------------------------------------------- */

static const pawl_timeout_row *find_timeout(edit *e, pawl_timeout_id id)
{
    pawl_found              found = broken_rows(e, (pawl_find){.kind = PAWL_FIND_TIMEOUTS});
    const pawl_timeout_row *rows  = found.items;
    for (size_t i = 0; i < found.count; i++)
        if (pawl_uuid_compare(rows[i].id.uuid, id.uuid) == 0)
            return &rows[i];
    return NULL;
}

static void remove_asks_for_the_row(edit *e)
{
    for (size_t i = 0; i < e->changes.timeout_settle.count; i++) {
        pawl_timeout_settle *change = &e->changes.timeout_settle.items[i];
        if (!change->has_owner && find_timeout(e, change->id) == NULL)
            change->has_owner = true;
    }
}

static void remove_ignores_the_owner(edit *e)
{
    for (size_t i = 0; i < e->changes.timeout_settle.count; i++)
        e->changes.timeout_settle.items[i].has_owner = false;
}

static void an_ended_lease_has_no_owner(edit *e)
{
    int64_t count;
    SELF->timeout_reap(e->store, e->changes.now, &count, NULL);
}

static void release_leaves_the_owner(edit *e)
{
    pawl_changes *all  = &e->changes;
    size_t        kept = 0;
    for (size_t i = 0; i < all->timeout_settle.count; i++)
        if (all->timeout_settle.items[i].action != PAWL_TIMEOUT_RELEASE)
            all->timeout_settle.items[kept++] = all->timeout_settle.items[i];
    all->timeout_settle.count = kept;
}

static void settling_ignores_the_generation(edit *e)
{
    for (size_t i = 0; i < e->changes.timeout_settle.count; i++) {
        pawl_timeout_settle    *change = &e->changes.timeout_settle.items[i];
        const pawl_timeout_row *row    = find_timeout(e, change->id);
        if (row != NULL && change->generation != 0 && change->generation != row->generation) {
            change->generation = 0;
            change->has_owner  = false;
        }
    }
}

static void a_known_timeout_is_overwritten(edit *e)
{
    for (size_t i = 0; i < e->changes.timeout_set.count; i++)
        e->changes.timeout_set.items[i].is_new = false;
}

static void timeouts_are_not_cancelled(edit *e)
{
    e->changes.timeout_cancel.count = 0;
}

/* ---- Aggregators -------------------------------------------------------- */

static void snapshot_removal_empties_the_partition(edit *e)
{
    pawl_changes *all = &e->changes;
    for (size_t i = 0; i < all->leased_batch_remove.count; i++) {
        const pawl_leased_batch_remove *change = &all->leased_batch_remove.items[i];
        all->aggregator_remove.items[all->aggregator_remove.count++] =
            (pawl_aggregator_remove){.unit      = change->unit,
                                     .group     = change->group,
                                     .partition = change->partition,
                                     .is_all    = true};
    }
}

static void snapshot_removal_ignores_the_session(edit *e)
{
    for (size_t i = 0; i < e->changes.leased_batch_remove.count; i++)
        e->changes.leased_batch_remove.items[i].session = (pawl_session_id){{{0}}};
}

/* As many as one statement has parameters. */
static void snapshot_removal_takes_999(edit *e)
{
    for (size_t i = 0; i < e->changes.leased_batch_remove.count; i++)
        if (e->changes.leased_batch_remove.items[i].id_count > 999)
            e->changes.leased_batch_remove.items[i].id_count = 999;
}

static void release_frees_every_session(edit *e)
{
    pawl_changes *all   = &e->changes;
    size_t        given = all->leased_batch_release.count;
    for (size_t i = 0; i < given; i++) {
        pawl_leased_batch_release change = all->leased_batch_release.items[i];
        pawl_found                found =
            broken_rows(e, (pawl_find){.kind = PAWL_FIND_PARTITION, .name = change.partition});
        const pawl_aggregator_row *rows = found.items;
        for (size_t j = 0; j < found.count && all->leased_batch_release.count < given + EDIT_ROOM;
             j++) {
            change.session                                                     = rows[j].session;
            all->leased_batch_release.items[all->leased_batch_release.count++] = change;
        }
    }
}

static void a_live_key_is_stored_again(edit *e)
{
    static atomic_uint number; /* cases commit from several threads */
    for (size_t i = 0; i < e->changes.aggregator_add.count; i++) {
        pawl_aggregator_add *change = &e->changes.aggregator_add.items[i];
        change->key = pawl_arena_printf(e->arena, "%.*s#%u", PAWL_TEXT_ARGS(change->key),
                                        atomic_fetch_add(&number, 1));
    }
}

static void remove_takes_every_row_of_the_id(edit *e)
{
    pawl_changes *all   = &e->changes;
    size_t        given = all->aggregator_remove.count;
    for (size_t i = 0; i < given; i++) {
        pawl_aggregator_remove again = all->aggregator_remove.items[i];
        again.is_checked             = false;
        for (size_t j = 0; j < 3 && !again.is_all; j++)
            all->aggregator_remove.items[all->aggregator_remove.count++] = again;
    }
}

static void a_remove_of_nothing_succeeds(edit *e)
{
    for (size_t i = 0; i < e->changes.aggregator_remove.count; i++)
        e->changes.aggregator_remove.items[i].is_checked = false;
}

/* ---- Inbox, dead letters, queue ----------------------------------------- */

static void a_remove_removes_nothing(edit *e)
{
    e->changes.aggregator_remove.count = 0;
}

static void marks_are_not_unique(edit *e)
{
    pawl_changes *all  = &e->changes;
    size_t        kept = 0;
    for (size_t i = 0; i < all->inbox_entry.count; i++) {
        const pawl_inbox_entry *change   = &all->inbox_entry.items[i];
        bool                    is_known = false;
        SELF->inbox_known(e->store, change->endpoint, &change->message_id, 1, &is_known, NULL);
        if (!is_known)
            all->inbox_entry.items[kept++] = *change;
    }
    all->inbox_entry.count = kept;
}

static void a_dead_letter_is_overwritten(edit *e)
{
    size_t         count = 0;
    pawl_dead_set *items =
        pawl_arena_take(e->arena, (2 * e->changes.dead_set.count + 1) * sizeof *items);
    for (size_t i = 0; items != NULL && i < e->changes.dead_set.count; i++) {
        items[count]             = e->changes.dead_set.items[i];
        items[count++].is_remove = true;
        items[count++]           = e->changes.dead_set.items[i];
    }
    e->changes.dead_set.items = items;
    e->changes.dead_set.count = count;
}

static bool is_live(edit *e, pawl_text queue, pawl_text id)
{
    pawl_found found = broken_rows(
        e, (pawl_find){.kind = PAWL_FIND_MESSAGES, .messages.queue = queue, .is_by_place = true});
    const pawl_queue_message *rows = found.items;
    for (size_t i = 0; i < found.count; i++)
        if (pawl_text_equal(rows[i].row.message.id, id))
            return true;
    return false;
}

static void a_live_message_is_sent_again(edit *e)
{
    for (size_t i = 0; i < e->changes.queue_send.count; i++) {
        pawl_queue_send *change = &e->changes.queue_send.items[i];
        if (is_live(e, change->queue, change->message.id))
            change->message.id =
                pawl_arena_printf(e->arena, "%.*s#2", PAWL_TEXT_ARGS(change->message.id));
    }
}

static void a_send_need_not_be_new(edit *e)
{
    for (size_t i = 0; i < e->changes.queue_send.count; i++)
        e->changes.queue_send.items[i].is_new = false;
}

static void a_retry_is_due_at_once(edit *e)
{
    for (size_t i = 0; i < e->changes.queue_settle.count; i++)
        e->changes.queue_settle.items[i].due = 0;
}

/* ---- Outbox ------------------------------------------------------------- */

/* The row of a dispatch id, or of a number when it is not 0; NULL. */
static const pawl_outbox_row *find_outbox(edit *e, const pawl_dispatch_id *dispatch_id, int64_t id)
{
    pawl_find asked = {.kind = PAWL_FIND_OUTBOX, .outbox.id = id};
    if (dispatch_id != NULL)
        asked.outbox.dispatch_id = *dispatch_id;
    const pawl_found found = broken_rows(e, asked);
    return found.count != 0 ? found.items : NULL;
}

static void a_known_dispatch_is_added_again(edit *e)
{
    for (size_t i = 0; i < e->changes.outbox_add.count; i++) {
        pawl_outbox_add *change = &e->changes.outbox_add.items[i];
        if (find_outbox(e, &change->dispatch_id, 0) != NULL)
            change->dispatch_id.uuid.bytes[0] ^= 0xff;
    }
}

static void a_mismatch_is_not_noticed(edit *e)
{
    pawl_changes *all  = &e->changes;
    size_t        kept = 0;
    for (size_t i = 0; i < all->outbox_add.count; i++)
        if (find_outbox(e, &all->outbox_add.items[i].dispatch_id, 0) == NULL)
            all->outbox_add.items[kept++] = all->outbox_add.items[i];
    all->outbox_add.count = kept;
}

static void a_settled_row_is_settled_again(edit *e)
{
    pawl_changes *all  = &e->changes;
    size_t        kept = 0;
    for (size_t i = 0; i < all->outbox_settle.count; i++) {
        const pawl_outbox_row *row = find_outbox(e, NULL, all->outbox_settle.items[i].id);
        if (row == NULL || row->state == PAWL_OUTBOX_PENDING)
            all->outbox_settle.items[kept++] = all->outbox_settle.items[i];
    }
    all->outbox_settle.count = kept;
}

static void a_hold_is_never_released(edit *e)
{
    pawl_changes *all  = &e->changes;
    size_t        kept = 0;
    for (size_t i = 0; i < all->outbox_block.count; i++)
        if (!all->outbox_block.items[i].is_unblock)
            all->outbox_block.items[kept++] = all->outbox_block.items[i];
    all->outbox_block.count = kept;
}

static void a_rejection_is_tried_again(edit *e)
{
    for (size_t i = 0; i < e->changes.outbox_settle.count; i++)
        if (e->changes.outbox_settle.items[i].outcome == PAWL_ATTEMPT_REJECTED)
            e->changes.outbox_settle.items[i].state = PAWL_OUTBOX_PENDING;
}

/* ---- Groups ------------------------------------------------------------- */

#define GROUP_IS_UNIT(name, is_refusable)              \
    for (size_t i = 0; i < e->changes.name.count; i++) \
        e->changes.name.items[i].group = e->changes.name.items[i].unit;
static void refusal_is_by_unit(edit *e)
{
    PAWL_CHANGE_KINDS(GROUP_IS_UNIT)
    e->changes.group_count = e->changes.unit_count;
}

#define GROUP_IS_ONE(name, is_refusable)               \
    for (size_t i = 0; i < e->changes.name.count; i++) \
        e->changes.name.items[i].group = 0;
static void refusal_is_of_everything(edit *e)
{
    PAWL_CHANGE_KINDS(GROUP_IS_ONE)
    e->changes.group_count = 1;
}

const defect broken_changes[] = {
    {"version check left out", "S7", update_at_any_version, {0}},
    {"delete without version check", "S14", delete_at_any_version, {0}},
    {"update that inserts", "S12", update_inserts, {0}},
    {"duplicate insert overwrites", "S11", insert_overwrites, {0}},
    {"null values collide", "D23", null_is_a_value, {0}},
    {"long state is cut", "S15", state_is_cut, {0}},
    {"transitional value is written once", "S20", transitional_value_is_kept, {0}},
    {"unconditional remove that throws", "T12", remove_asks_for_the_row, {0}},
    {"owner ignored", "T9", remove_ignores_the_owner, {0}},
    {"lease lost at its end", "T10", an_ended_lease_has_no_owner, {0}},
    {"release leaves the owner", "T13", release_leaves_the_owner, {0}},
    {"generation ignored", "E13", settling_ignores_the_generation, {0}},
    {"known timeout overwritten", "T2", a_known_timeout_is_overwritten, {0}},
    {"timeouts not cancelled", "E35", timeouts_are_not_cancelled, {0}},
    {"snapshot removal by partition", "A11", snapshot_removal_empties_the_partition, {0}},
    {"snapshot removal without session", "A27", snapshot_removal_ignores_the_session, {0}},
    {"snapshot removal of 999 rows", "A13", snapshot_removal_takes_999, {0}},
    {"release frees every session", "A15", release_frees_every_session, {0}},
    {"live key stored again", "A2", a_live_key_is_stored_again, {0}},
    {"remove takes all of an id", "A20", remove_takes_every_row_of_the_id, {0}},
    {"remove of nothing succeeds", "A22", a_remove_of_nothing_succeeds, {0}},
    {"remove that removes nothing", "A20", a_remove_removes_nothing, {0}},
    {"inbox mark not unique", "O25", marks_are_not_unique, {0}},
    {"dead letter overwritten", "E34", a_dead_letter_is_overwritten, {0}},
    {"live message sent again", "E34", a_live_message_is_sent_again, {0}},
    {"live message sent as a new one", "E34", a_send_need_not_be_new, {0}},
    {"retry due at once", "E26", a_retry_is_due_at_once, {0}},
    {"outbox duplicate not a no-op", "O6", a_known_dispatch_is_added_again, {0}},
    {"mismatch not noticed", "O5", a_mismatch_is_not_noticed, {0}},
    {"settled row settled again", "O16", a_settled_row_is_settled_again, {0}},
    {"hold not released", "O14", a_hold_is_never_released, {0}},
    {"rejection tried again", "O11", a_rejection_is_tried_again, {0}},
    {"refusal by unit instead of group", "E35", refusal_is_by_unit, {0}},
    {"refusal of the whole set", "E35", refusal_is_of_everything, {0}},
};
const size_t broken_changes_count = sizeof broken_changes / sizeof broken_changes[0];
