/* order.c - see order.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/order.h"

#include "engine/lookup.h"
#include "pawl/process.h"
#include "record/record_internal.h"

#include <stdio.h>

/* ---- What is declared ------------------------------------------------------------ */

bool pawl__order_read(const char *text, pawl__order_key *key)
{
    static const char header[] = "header:", property[] = "property:";
    *key = (pawl__order_key){PAWL__ORDER_NONE, NULL};
    if (text == NULL || strcmp(text, "none") == 0)
        return true;
    if (strcmp(text, "saga") == 0)
        key->kind = PAWL__ORDER_SAGA;
    else if (strncmp(text, header, sizeof header - 1) == 0)
        *key = (pawl__order_key){PAWL__ORDER_HEADER, text + sizeof header - 1};
    else if (strncmp(text, property, sizeof property - 1) == 0)
        *key = (pawl__order_key){PAWL__ORDER_PROPERTY, text + sizeof property - 1};
    return key->kind != PAWL__ORDER_NONE && (key->name == NULL || key->name[0] != '\0');
}

/* ---- Keys ------------------------------------------------------------------------ */

/* The key is compared as text, since a record may have the number that another has as a text. An absent
 * text is no key. */
static pawl_code text_of(pawl__batch *batch, const pawl_value *value, pawl_text *key)
{
    char text[PAWL_VALUE_TEXT_SIZE];
    *key = value->type == PAWL_VALUE_TEXT ? value->as.text : (pawl_text){.data = NULL, .size = 0};
    if (value->type == PAWL_VALUE_TEXT || value->type == PAWL_VALUE_NONE)
        return PAWL_OK;
    *key = pawl_arena_text(batch->arena, pawl_text_of(pawl_value_format(value, text, sizeof text)));
    return key->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code from_headers(pawl__batch *batch, const pawl_message *message, const char *name,
                              pawl_text *key)
{
    return pawl__headers_value(message->headers, pawl_text_of(name), batch->arena, key);
}

/* The conversation; of a timeout that was sent to its destination, the saga that set it. */
static pawl_code from_source(pawl__batch *batch, const pawl_message *message, pawl_text *key)
{
    pawl_code code = from_headers(batch, message, PAWL_HEADER_SAGA_ID, key);
    if (code == PAWL_OK && key->size == 0)
        *key = message->correlation_id;
    return code;
}

void pawl__order_warn(const char *text, const pawl__model *model)
{
    pawl__order_key key = {PAWL__ORDER_NONE, NULL};
    if (!pawl__order_read(text, &key) || key.kind != PAWL__ORDER_PROPERTY)
        return; /* how it is written was checked before */
    for (size_t i = 0; i < model->type_count; i++) {
        const pawl_field *field = pawl_record_field(model->types[i]->record, key.name);
        pawl_value_type   type;
        if (field != NULL && pawl_field_value_type(field, &type, NULL) == PAWL_OK)
            return;
    }
    pawl_log(PAWL_LOG_WARNING,
             "endpoint %.*s: option ordered is '%s', and no message that it handles has a property "
             "of that name (in C) which can be a key: none waits for another",
             PAWL_TEXT_ARGS(model->endpoint), text);
}

/* Reads the property from the JSON of a body that this program does not decode. */
static pawl_code from_json(pawl__batch *batch, pawl_text body, const pawl_record *record,
                           const pawl__binding *coerced, const char *path, pawl_text *key)
{
    pawl_value value;
    pawl_code  code = pawl__json_field_value(record, path, body, batch->arena, &value);
    if (code == PAWL_OK && coerced != NULL &&
        pawl_value_coerce(coerced->saga->table.main.type, &value, batch->arena, NULL) ==
            PAWL_ENOMEM)
        code = PAWL_ENOMEM;
    return code == PAWL_OK ? text_of(batch, &value, key) : code;
}

/* Reads the property from the message, or, where that cannot be decoded, from its JSON. `coerced`:
 * as the saga of the lookup compares it; the transitional value where the message has no other. */
static pawl_code from_record(pawl__batch *batch, const pawl_message *message,
                             const pawl_record *record, const pawl__binding *coerced,
                             const char *path, pawl_text *key)
{
    pawl__lookup lookup  = {.binding = coerced};
    void        *decoded = pawl_arena_take(batch->arena, record->size);
    if (decoded == NULL)
        return PAWL_ENOMEM;
    pawl_code code = pawl__version_decode(message, record, batch->arena, decoded, NULL);
    lookup.message = decoded;
    if (code == PAWL_OK)
        code = coerced != NULL ? pawl__lookup_values(batch, &lookup)
                               : pawl_record_value(record, path, decoded, &lookup.value, NULL);
    if (code != PAWL_OK)
        return code == PAWL_ENOMEM ? code
                                   : from_json(batch, message->body, record, coerced, path, key);
    code = text_of(batch, &lookup.value, key);
    return code == PAWL_OK && key->size == 0 ? text_of(batch, &lookup.transitional, key) : code;
}

static pawl_code from_binding(pawl__batch *batch, const pawl_message *message,
                              const pawl__binding *binding, pawl_text *key)
{
    if (binding->kind != PAWL__BINDING_SAGA || binding->find != NULL)
        return PAWL_OK;
    if (binding->answer != PAWL__ANSWER_NONE)
        return pawl__lookup_addressee(batch, message, binding->saga, key);
    if (binding->saga->stream == NULL && binding->saga->saga->correlation == NULL)
        return PAWL_OK;
    return from_record(batch, message, binding->message, binding, binding->key, key);
}

static pawl_code from_saga(pawl__batch *batch, const pawl_message *message,
                           const pawl__lookup_types *types, pawl_text *key)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < types->count && code == PAWL_OK && key->size == 0; i++)
        for (size_t j = 0; j < types->items[i]->count && code == PAWL_OK && key->size == 0; j++)
            code = from_binding(batch, message, types->items[i]->bindings[j], key);
    return code == PAWL_OK && key->size == 0 ? from_source(batch, message, key) : code;
}

static pawl_code find_key(pawl__batch *batch, const pawl_message *message, pawl_text *key)
{
    const pawl__order_key *by    = &batch->engine->order->key;
    pawl__lookup_types     types = {{NULL}, 0};
    *key                         = (pawl_text){.data = NULL, .size = 0};
    if (by->kind == PAWL__ORDER_HEADER)
        return from_headers(batch, message, by->name, key);
    pawl_code code = pawl__lookup_types_of(batch, message, &types);
    if (code == PAWL_OK && by->kind == PAWL__ORDER_SAGA)
        return from_saga(batch, message, &types, key);
    if (code != PAWL_OK || types.count == 0)
        return code != PAWL_OK ? code : from_json(batch, message->body, NULL, NULL, by->name, key);
    return from_record(batch, message, types.items[0]->record, NULL, by->name, key);
}

/* ---- Lanes ----------------------------------------------------------------------- */

static uint32_t lane_of(pawl_text key)
{
    return (uint32_t)(pawl__text_hash(key) % PAWL__LANES);
}

static bool is_at(pawl__place left, pawl__place right)
{
    return left.placed == right.placed && left.seq == right.seq;
}

bool pawl__order_begin(pawl__order *order)
{
    if (order->lanes == NULL)
        order->lanes = pawl_allocate(PAWL__LANES * sizeof order->lanes[0]);
    else
        memset(order->lanes, 0, PAWL__LANES * sizeof order->lanes[0]);
    order->batch = 0;
    return order->lanes != NULL;
}

/* An id that does not fit is cut. */
static void set_head(pawl__lane *lane, pawl__place place, pawl_time due, pawl_text id)
{
    lane->has_head = true;
    lane->head     = place;
    lane->head_due = due;
    (void)snprintf(lane->head_id, sizeof lane->head_id, "%.*s", PAWL_TEXT_ARGS(id));
}

static void set_last(pawl__lane *lane, pawl__place place, pawl_time due)
{
    if (!lane->has_last || !pawl__place_is_older(place, lane->last)) {
        lane->last     = place;
        lane->last_due = due;
    }
    bool is_later = !lane->has_last || due > lane->latest_due;
    bool is_equal = !is_later && due == lane->latest_due;
    if (is_later || (is_equal && place.seq > lane->latest_seq))
        lane->latest_seq = place.seq;
    if (is_later || (is_equal && pawl__place_is_older(lane->latest, place))) {
        lane->latest     = place;
        lane->latest_due = due;
    }
    lane->has_last = true;
}

/* A message that only waited for an older one is no head: it becomes due in its turn. By its place one that came late
 * could be before others whose turn is sooner. */
pawl_code pawl__order_note(pawl__batch *batch, const pawl_queue_message *message)
{
    const pawl_queue_row *row = &message->row;
    pawl_text             key;
    pawl_code             code = find_key(batch, &row->message, &key);
    if (code != PAWL_OK || key.size == 0)
        return code;
    pawl__lane *lane  = &batch->engine->order->lanes[lane_of(key)];
    pawl__place place = pawl__place_of(row);
    if (!pawl__order_is_held(message->error) &&
        (!lane->has_head || pawl__place_is_older(place, lane->head)))
        set_head(lane, place, row->due, row->message.id);
    set_last(lane, place, row->due);
    return PAWL_OK;
}

pawl_code pawl__order_note_absent(pawl__batch *batch, const pawl_queue_row *row, pawl_arena *arena)
{
    pawl__order  *order = batch->engine->order;
    pawl__absent *grown;
    pawl_text     key;
    pawl_code     code = find_key(batch, &row->message, &key);
    if (code != PAWL_OK || key.size == 0)
        return code;
    grown = pawl_arena_grow(arena, order->absent, order->absent_count, &order->absent_capacity,
                            sizeof *grown);
    if (grown == NULL)
        return PAWL_ENOMEM;
    order->absent                = grown;
    grown[order->absent_count++] = (pawl__absent){lane_of(key), pawl__place_of(row)};
    return PAWL_OK;
}

static pawl_code find(pawl__batch *batch, pawl__unit *unit)
{
    pawl__order *order = batch->engine->order;
    if (unit->kind != PAWL__UNIT_MESSAGE)
        return PAWL_OK;
    pawl_code code = find_key(batch, &unit->message, &unit->key);
    if (code != PAWL_OK || unit->key.size == 0)
        return code;
    unit->lane       = lane_of(unit->key);
    pawl__lane *lane = &order->lanes[unit->lane];
    if (lane->batch == order->batch) /* else it is NULL, or of those that ran alone before */
        unit->before = &batch->units[lane->unit];
    lane->batch = order->batch;
    lane->unit  = unit->index;
    return PAWL_OK;
}

pawl_code pawl__order_find(pawl__batch *batch, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    batch->engine->order->batch++;
    for (size_t i = 0; i < batch->unit_count && code == PAWL_OK; i++)
        code = find(batch, &batch->units[i]);
    return code == PAWL_OK ? code : pawl_error_set(error, code, "no memory for keys of messages");
}

/* ---- Ends ------------------------------------------------------------------------ */

static bool is_put_off(const pawl__unit *unit)
{
    return unit->end == PAWL__END_RETRY || unit->end == PAWL__END_WAIT ||
           unit->end == PAWL__END_UNREAD || unit->end == PAWL__END_ELSEWHERE ||
           unit->end == PAWL__END_HELD;
}

void pawl__order_release(pawl__batch *batch, size_t first)
{
    for (size_t i = first; i < batch->unit_count; i++)
        if (batch->units[i].key.size > 0 && is_put_off(&batch->units[i]))
            batch->units[i].end = PAWL__END_RELEASED;
}

static void take_unit(pawl__lane *lane, const pawl__unit *unit)
{
    pawl__place place = pawl__place_of(&unit->row);
    if (pawl__unit_is_done(unit)) {
        if (lane->has_head && is_at(lane->head, place))
            lane->has_head = false;
        if (lane->has_last && is_at(lane->last, place))
            lane->has_last = lane->has_head = false;
    } else if (is_put_off(unit)) {
        if (unit->end != PAWL__END_HELD &&
            (!lane->has_head || !pawl__place_is_older(lane->head, place)))
            set_head(lane, place, unit->due, unit->message.id);
        set_last(lane, place, unit->due);
    }
}

void pawl__order_take(pawl__batch *batch)
{
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].key.size > 0)
            take_unit(&batch->engine->order->lanes[batch->units[i].lane], &batch->units[i]);
}

/* ---- Looking for a head that did not come --------------------------------------------- */

static bool is_in_batch(const pawl__unit *unit, pawl__place place)
{
    for (; unit != NULL; unit = unit->before)
        if (is_at(pawl__place_of(&unit->row), place))
            return true;
    return false;
}

/* Rows are claimed by due time and number: the head was due before the unit, and was not claimed. */
static bool is_head_missing(const pawl__lane *lane, const pawl__unit *unit)
{
    const pawl_queue_row *row = &unit->row;
    return lane->has_head && pawl__place_is_older(lane->head, pawl__place_of(row)) &&
           (row->due > lane->head_due ||
            (row->due == lane->head_due && row->seq > lane->head.seq)) &&
           !is_in_batch(unit, lane->head);
}

/* Not so if the head comes to its end in this batch, or is gone. */
bool pawl__order_waits(const pawl__batch *batch, const pawl__unit *unit)
{
    const pawl__lane *lane = &batch->engine->order->lanes[unit->lane];
    return unit->key.size > 0 && lane->has_head &&
           pawl__place_is_older(lane->head, pawl__place_of(&unit->row));
}

/* The oldest of the lane's units holds the others back: younger ones may be due before it, when the
 * head was put off anew and not yet all behind it. */
static void take_next_head(const pawl__batch *batch, pawl__lane *lane)
{
    const pawl__unit *oldest = &batch->units[lane->unit];
    for (const pawl__unit *other = oldest->before; other != NULL; other = other->before)
        if (pawl__place_is_older(pawl__place_of(&other->row), pawl__place_of(&oldest->row)))
            oldest = other;
    set_head(lane, pawl__place_of(&oldest->row), oldest->row.due, oldest->message.id);
}

static pawl_code look_for_head(pawl__batch *batch, pawl__lane *lane, pawl_error *error)
{
    const pawl_queue_row   before = {.due = lane->head_due, .seq = lane->head.seq - 1};
    const pawl_queue_query query  = {.queue     = batch->engine->model->queue,
                                     .due_max   = lane->head_due,
                                     .seq_max   = lane->head.seq,
                                     .after     = &before,
                                     .count_max = 1};
    pawl_queue_messages    found  = {.count = 0};
    pawl_code              code =
        pawl_store_queue_find(batch->engine->store, &query, batch->arena, &found, error);
    if (code != PAWL_OK)
        return code;
    if (found.count > 0)
        lane->stuck = batch->engine->order->batch;
    else
        take_next_head(batch, lane);
    batch->engine->order->is_stuck |= found.count > 0;
    return PAWL_OK;
}

pawl_code pawl__order_look(pawl__batch *batch, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < batch->unit_count && code == PAWL_OK; i++) {
        const pawl__unit *unit = &batch->units[i];
        if (unit->key.size == 0 || unit->end == PAWL__END_RELEASED)
            continue;
        pawl__lane *lane = &batch->engine->order->lanes[unit->lane];
        if (lane->stuck != batch->engine->order->batch && is_head_missing(lane, unit))
            code = look_for_head(batch, lane, error);
    }
    return code;
}

/* ---- Holding --------------------------------------------------------------------- */

/* The message that a unit waits for. */
typedef struct obstacle {
    pawl_time due;         /* the unit's, by that */
    pawl_text id;          /* or empty */
    bool      is_released; /* not run, and neither is the unit */
} obstacle;

/* Queues are read by due time and number: due at one time, the younger one has to come second. */
static void wait_for(obstacle *found, pawl_time due, int64_t seq, const pawl__unit *unit,
                     pawl_text id)
{
    if (seq > unit->row.seq)
        due = pawl_time_add(due, 1);
    if (due < found->due)
        return;
    found->due = due;
    found->id  = id;
}

/* Places of the lane whose messages the batch has brought to their ends. */
typedef struct over {
    bool is_head, is_last, is_latest;
} over;

/* Among the units of the batch. An older one may be claimed behind it: the unit is given back then, as that one has
 * not run yet. */
static bool meet_units(const pawl__batch *batch, const pawl__unit *unit, const pawl__lane *lane,
                       over *ended, obstacle *found)
{
    bool              has   = false;
    pawl__place       place = pawl__place_of(&unit->row);
    bool              is_in = lane->batch == batch->engine->order->batch;
    const pawl__unit *other = is_in ? &batch->units[lane->unit] : unit->before;
    for (; other != NULL; other = other->before) {
        pawl__place its = pawl__place_of(&other->row);
        if (pawl__unit_is_done(other)) {
            ended->is_head |= is_at(lane->head, its);
            ended->is_last |= is_at(lane->last, its);
            ended->is_latest |= is_at(lane->latest, its);
        } else if (pawl__place_is_older(its, place)) {
            has = true;
            if (is_put_off(other))
                wait_for(found, other->due, other->row.seq, unit, other->message.id);
            else
                found->is_released = true;
        }
    }
    return has;
}

/* Is the last one yet to be claimed, before the unit, and to be put off to the time of the head? A unit that was never
 * put off comes behind it, so that those that were keep their order. */
static bool is_before_last(const pawl__unit *unit, const pawl__lane *lane)
{
    const pawl_queue_row *row = &unit->row;
    return lane->has_last && lane->last_due < lane->head_due &&
           (row->due < lane->last_due ||
            (row->due == lane->last_due && row->seq < lane->last.seq)) &&
           (row->due == row->placed || pawl__place_is_older(lane->last, pawl__place_of(row)));
}

/* Did the unit come late, while those behind a head that is over wait for their turns? Older ones may be among them. */
static bool is_late(const pawl__unit *unit, const pawl__lane *lane)
{
    return unit->row.due == unit->row.placed && unit->row.due < lane->latest_due &&
           pawl__place_is_older(lane->head, pawl__place_of(&unit->row));
}

static bool meet_lane(const pawl__unit *unit, const pawl__lane *lane, const over *ended,
                      obstacle *found)
{
    pawl__place place      = pawl__place_of(&unit->row);
    bool        has_head   = lane->has_head && !ended->is_head;
    bool        has_latest = lane->has_last && !ended->is_latest;
    bool        is_behind  = has_latest && (pawl__place_is_older(lane->latest, place) ||
                                    (!has_head && is_late(unit, lane)));
    pawl_text   head_id    = has_head ? pawl_text_of(lane->head_id) : found->id;
    has_head               = has_head && pawl__place_is_older(lane->head, place);
    if (!has_head && !is_behind)
        return false;
    if (has_head && !ended->is_last && is_before_last(unit, lane)) {
        found->due = unit->row.due;
        wait_for(found, lane->last_due, lane->last.seq, unit, head_id);
        return true;
    }
    if (has_head)
        wait_for(found, lane->head_due, lane->head.seq, unit, head_id);
    if (has_latest)
        wait_for(found, lane->latest_due, is_behind ? lane->latest_seq : 0, unit, head_id);
    return true;
}

/* Such a unit is given back as it was: if it were put off, those behind it could become due before
 * it. */
static bool is_behind_absent(const pawl__order *order, const pawl__unit *unit)
{
    const pawl__lane *lane = &order->lanes[unit->lane];
    if (lane->has_head && lane->stuck == order->batch &&
        pawl__place_is_older(lane->head, pawl__place_of(&unit->row)))
        return true;
    for (size_t i = 0; i < order->absent_count; i++)
        if (order->absent[i].lane == unit->lane &&
            pawl__place_is_older(order->absent[i].place, pawl__place_of(&unit->row)))
            return true;
    return false;
}

static bool find_obstacle(const pawl__batch *batch, const pawl__unit *unit, obstacle *found)
{
    const pawl__order *order = batch->engine->order;
    const pawl__lane  *lane  = &order->lanes[unit->lane];
    over               ended = {false, false, false};
    bool               has   = meet_units(batch, unit, lane, &ended, found);
    has |= meet_lane(unit, lane, &ended, found);
    if (is_behind_absent(order, unit)) {
        has                = true;
        found->is_released = true;
    }
    return has;
}

static pawl_text describe(pawl__batch *batch, const pawl__unit *unit, pawl_text id)
{
    pawl_text text =
        id.size > 0
            ? pawl_arena_printf(batch->arena, PAWL_ORDER_WAITS "%.*s of its key '%.*s'",
                                PAWL_TEXT_ARGS(id), PAWL_TEXT_ARGS(unit->key))
            : pawl_arena_printf(batch->arena, PAWL_ORDER_WAITS "before it, of its key '%.*s'",
                                PAWL_TEXT_ARGS(unit->key));
    return text.data != NULL ? text : PAWL_TEXT(PAWL_ORDER_WAITS "before it");
}

bool pawl__order_hold(pawl__batch *batch, pawl__unit *unit)
{
    obstacle found = {.due = unit->row.due, .id = {.data = "", .size = 0}};
    bool     may   = unit->end == PAWL__END_NEW || is_put_off(unit);
    if (unit->key.size == 0 || !may || !find_obstacle(batch, unit, &found))
        return false;
    unit->end   = found.is_released ? PAWL__END_RELEASED : PAWL__END_HELD;
    unit->due   = found.due;
    unit->error = describe(batch, unit, found.id);
    return true;
}
