/* order.c - finds ordering keys, and defers messages behind earlier ones of their bucket; see order.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/order.h"

#include "engine/lookup.h"
#include "pawl/process.h"
#include "record/record_internal.h"

#include <stdio.h>

/* ---- The option ordered ---------------------------------------------------------- */

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

/* Keys are compared as text: one record may have a number where another one has a text. An absent
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

/* The correlation id; for a timeout that was sent as a message, the saga that set it. */
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
        return; /* the syntax was checked before */
    for (size_t i = 0; i < model->type_count; i++) {
        const pawl_field *field = pawl_record_field(model->types[i]->record, key.name);
        pawl_value_type   type;
        if (field != NULL && pawl_field_value_type(field, &type, NULL) == PAWL_OK)
            return;
    }
    pawl_log(PAWL_LOG_WARNING,
             "endpoint %.*s: option ordered is '%s', and no message that it handles has a property "
             "of that name (in C) that can be an ordering key: messages are not ordered",
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

/* Reads the property from the decoded message, or from its JSON if it cannot be decoded. With `coerced` the value is
 * converted as for the lookup of that saga; without a main value the transitional one counts. */
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

/* ---- Buckets ----------------------------------------------------------------------- */

#define LOOK_PERIOD PAWL_SECONDS(5)
#define KEPT_CAPACITY 64 /* messages that an empty bucket keeps room for */

static uint32_t bucket_of(pawl_text key)
{
    return (uint32_t)(pawl__text_hash(key) % PAWL__BUCKETS);
}

static bool is_at(pawl__place left, pawl__place right)
{
    return left.placed == right.placed && left.seq == right.seq;
}

/* Rows are claimed by due time, then by number. */
static bool is_sooner(pawl_time due, int64_t seq, pawl_time other_due, int64_t other_seq)
{
    return due < other_due || (due == other_due && seq < other_seq);
}

static void end_buckets(pawl__order *order)
{
    for (size_t i = 0; order->buckets != NULL && i < PAWL__BUCKETS; i++)
        pawl_free(order->buckets[i].room);
}

void pawl__order_end(pawl__order *order)
{
    end_buckets(order);
    pawl_free(order->buckets);
    order->buckets = NULL;
}

bool pawl__order_begin(pawl__order *order)
{
    end_buckets(order);
    if (order->buckets == NULL)
        order->buckets = pawl_allocate(PAWL__BUCKETS * sizeof order->buckets[0]);
    else
        memset(order->buckets, 0, PAWL__BUCKETS * sizeof order->buckets[0]);
    order->batch = 0;
    return order->buckets != NULL;
}

static pawl__waiting *waiting_of(const pawl__bucket *bucket, size_t index)
{
    return &bucket->room[bucket->first + index];
}

/* Index of the first deferred message that is not older than the place. */
static size_t index_of(const pawl__bucket *bucket, pawl__place place)
{
    size_t low = 0, high = bucket->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pawl__place_is_older(waiting_of(bucket, middle)->place, place))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The deferred message at the place, or NULL. */
static pawl__waiting *find_waiting(const pawl__bucket *bucket, pawl__place place)
{
    size_t index = index_of(bucket, place);
    bool   has   = index < bucket->count && is_at(waiting_of(bucket, index)->place, place);
    return has ? waiting_of(bucket, index) : NULL;
}

/* Reserves room before the commit, so that deferred messages can be added after it without a failure. */
static bool reserve(pawl__bucket *bucket, size_t more)
{
    if (bucket->first + bucket->count + more <= bucket->capacity)
        return true;
    if (bucket->first > 0) {
        memmove(bucket->room, waiting_of(bucket, 0), bucket->count * sizeof *bucket->room);
        bucket->first = 0;
    }
    if (bucket->count + more <= bucket->capacity / 2)
        return true;
    size_t         capacity = 2 * (bucket->count + more);
    pawl__waiting *grown    = pawl_resize(bucket->room, capacity * sizeof *grown);
    if (grown == NULL)
        return bucket->count + more <= bucket->capacity;
    bucket->room     = grown;
    bucket->capacity = capacity;
    return true;
}

static void begin_batch(pawl__bucket *bucket)
{
    bucket->unit_count = 0;
    if (bucket->count > 0 || bucket->capacity <= KEPT_CAPACITY)
        return;
    pawl_free(bucket->room);
    bucket->room  = NULL;
    bucket->first = bucket->capacity = 0;
}

static void note_latest(pawl__bucket *bucket, pawl_time due, int64_t seq)
{
    if (bucket->count > 0 && !is_sooner(bucket->latest_due, bucket->latest_seq, due, seq))
        return;
    bucket->latest_due = due;
    bucket->latest_seq = seq;
}

/* An id that does not fit is cut. */
static void put(pawl__bucket *bucket, pawl__place place, pawl_time due, pawl_text id)
{
    size_t         index = index_of(bucket, place);
    pawl__waiting *it    = waiting_of(bucket, index);
    note_latest(bucket, due, place.seq);
    if (index == bucket->count || !is_at(it->place, place)) {
        memmove(it + 1, it, (bucket->count - index) * sizeof *it);
        *it = (pawl__waiting){.place = place};
        bucket->count++;
    }
    it->due = due;
    if (index > 0)
        return;
    bucket->named = place;
    (void)snprintf(bucket->head_id, sizeof bucket->head_id, "%.*s", PAWL_TEXT_ARGS(id));
}

/* latest_due may stay that of the dropped message: it is in the past. Capacity stays reserved. */
static void drop(pawl__bucket *bucket, pawl__waiting *it)
{
    size_t index = (size_t)(it - waiting_of(bucket, 0));
    bucket->count--;
    if (index == 0)
        bucket->first++;
    else
        memmove(it, it + 1, (bucket->count - index) * sizeof *it);
}

pawl_code pawl__order_note(pawl__batch *batch, const pawl_queue_row *row)
{
    pawl_text key;
    pawl_code code = find_key(batch, &row->message, &key);
    if (code != PAWL_OK || key.size == 0)
        return code;
    pawl__bucket *bucket = &batch->engine->order->buckets[bucket_of(key)];
    if (!reserve(bucket, 1))
        return PAWL_ENOMEM;
    put(bucket, pawl__place_of(row), row->due, row->message.id);
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
    grown[order->absent_count++] = (pawl__absent){bucket_of(key), pawl__place_of(row)};
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
    unit->bucket         = bucket_of(unit->key);
    pawl__bucket *bucket = &order->buckets[unit->bucket];
    if (bucket->batch == order->batch) /* else it is NULL, or of those that ran alone before */
        unit->before = &batch->units[bucket->unit];
    else
        begin_batch(bucket);
    bucket->batch = order->batch;
    bucket->unit  = unit->index;
    if (!reserve(bucket, ++bucket->unit_count))
        return PAWL_ENOMEM;
    pawl__waiting *it = find_waiting(bucket, pawl__place_of(&unit->row));
    if (it != NULL) {
        it->batch = (uint32_t)order->batch;
        it->unit  = unit->index;
    }
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

void pawl__order_release(pawl__batch *batch, size_t first)
{
    for (size_t i = first; i < batch->unit_count; i++)
        if (batch->units[i].key.size > 0 && pawl__unit_is_deferred(&batch->units[i]))
            batch->units[i].end = PAWL__END_RELEASED;
}

static void take_unit(pawl__bucket *bucket, const pawl__unit *unit)
{
    pawl__place    place = pawl__place_of(&unit->row);
    pawl__waiting *over  = pawl__unit_is_done(unit) ? find_waiting(bucket, place) : NULL;
    if (pawl__unit_is_deferred(unit))
        put(bucket, place, unit->due, unit->message.id);
    else if (over != NULL)
        drop(bucket, over);
}

void pawl__order_take(pawl__batch *batch)
{
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].key.size > 0)
            take_unit(&batch->engine->order->buckets[batch->units[i].bucket], &batch->units[i]);
}

/* ---- Looking for messages that did not come --------------------------------------------- */

static bool is_in_batch(const pawl__batch *batch, const pawl__waiting *it)
{
    return it->batch == (uint32_t)batch->engine->order->batch;
}

/* May answer true for a unit that will run: the older messages may be done in this batch, or gone. */
bool pawl__order_waits(const pawl__batch *batch, const pawl__unit *unit)
{
    if (unit->key.size == 0)
        return false;
    const pawl__bucket *bucket = &batch->engine->order->buckets[unit->bucket];
    return bucket->count > 0 &&
           pawl__place_is_older(waiting_of(bucket, 0)->place, pawl__place_of(&unit->row));
}

/* The unit of the bucket that was claimed last. */
static const pawl_queue_row *last_row(const pawl__batch *batch, const pawl__bucket *bucket)
{
    const pawl_queue_row *last = &batch->units[bucket->unit].row;
    for (const pawl__unit *other = batch->units[bucket->unit].before; other != NULL;
         other                   = other->before)
        if (is_sooner(last->due, last->seq, other->row.due, other->row.seq))
            last = &other->row;
    return last;
}

/* Drops the messages whose claim position is that of `it` or later, and before the other position. */
static void drop_gone(const pawl__batch *batch, pawl__bucket *bucket, const pawl__waiting *it,
                      pawl_time due, int64_t seq)
{
    const pawl__waiting from  = *it;
    size_t              count = bucket->count;
    bucket->count             = 0;
    for (size_t i = 0; i < count; i++) {
        const pawl__waiting one = *waiting_of(bucket, i);
        if (!is_in_batch(batch, &one) && is_sooner(one.due, one.place.seq, due, seq) &&
            !is_sooner(one.due, one.place.seq, from.due, from.place.seq))
            continue;
        note_latest(bucket, one.due, one.place.seq);
        *waiting_of(bucket, bucket->count++) = one;
    }
}

/* Reads the queue from the message's due time on: an operator may have removed it, or another session claimed it. */
static pawl_code look_for(pawl__batch *batch, pawl__bucket *bucket, const pawl__waiting *it,
                          pawl_time due_max, pawl_error *error)
{
    const pawl_queue_row   before = {.due = it->due, .seq = it->place.seq - 1};
    const pawl_queue_query query  = {
         .queue = batch->engine->model->queue, .due_max = due_max, .after = &before, .count_max = 1};
    pawl_queue_messages found = {.count = 0};
    pawl_code           code =
        pawl_store_queue_find(batch->engine->store, &query, batch->arena, &found, error);
    if (code != PAWL_OK)
        return code;
    if (found.count == 0) {
        drop_gone(batch, bucket, it, PAWL_TIME_MAX, INT64_MAX);
    } else if (found.items[0].row.seq != it->place.seq) {
        drop_gone(batch, bucket, it, found.items[0].row.due, found.items[0].row.seq);
    } else if (due_max != PAWL_TIME_MAX) { /* due, and not claimed */
        bucket->stuck                  = batch->engine->order->batch;
        bucket->stuck_place            = it->place;
        batch->engine->order->is_stuck = true;
    }
    return PAWL_OK;
}

/* The oldest deferred message outside of the batch blocks the bucket: looks for it if it was due, otherwise every 5
 * s. */
static pawl_code look_at(pawl__batch *batch, pawl__bucket *bucket, pawl_error *error)
{
    const pawl_queue_row *last = last_row(batch, bucket);
    pawl_time             now  = batch->engine->machine_now;
    pawl_code             code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < bucket->count;) {
        const pawl__waiting *it     = waiting_of(bucket, i);
        bool                 is_due = is_sooner(it->due, it->place.seq, last->due, last->seq);
        if (is_in_batch(batch, it)) {
            i++;
        } else if (is_due && bucket->stuck != batch->engine->order->batch) {
            code = look_for(batch, bucket, it, last->due, error);
        } else if (!is_due && now >= bucket->next_look) {
            bucket->next_look = pawl_time_add(now, LOOK_PERIOD);
            code              = look_for(batch, bucket, it, PAWL_TIME_MAX, error);
        } else {
            break;
        }
    }
    return code;
}

pawl_code pawl__order_look(pawl__batch *batch, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < batch->unit_count && code == PAWL_OK; i++) {
        const pawl__unit *unit = &batch->units[i];
        if (unit->key.size == 0)
            continue;
        pawl__bucket *bucket = &batch->engine->order->buckets[unit->bucket];
        if (bucket->unit == i && bucket->count > 0)
            code = look_at(batch, bucket, error);
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

/* Claims are ordered by due time, then number: with equal due times the later message must have the higher number. */
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

/* Looks for an older message among the units of the batch. If it comes after the unit, it has not run yet: the unit is
 * released. */
static bool find_obstacle_in_batch(const pawl__batch *batch, const pawl__unit *unit,
                                   const pawl__bucket *bucket, obstacle *found)
{
    bool              has   = false;
    pawl__place       place = pawl__place_of(&unit->row);
    bool              is_in = bucket->batch == batch->engine->order->batch;
    const pawl__unit *other = is_in ? &batch->units[bucket->unit] : unit->before;
    for (; other != NULL; other = other->before) {
        if (pawl__unit_is_done(other) || !pawl__place_is_older(pawl__place_of(&other->row), place))
            continue;
        has = true;
        if (pawl__unit_is_deferred(other))
            wait_for(found, other->due, other->row.seq, unit, other->message.id);
        else
            found->is_released = true;
    }
    return has;
}

/* Looks among the deferred messages of the bucket: the unit is due after all older ones. */
static bool meet_waiting(const pawl__batch *batch, const pawl__unit *unit,
                         const pawl__bucket *bucket, obstacle *found)
{
    size_t               index = 0;
    const pawl__waiting *it    = NULL;
    for (; index < bucket->count; index++) {
        it = waiting_of(bucket, index);
        if (!is_in_batch(batch, it) || !pawl__unit_is_done(&batch->units[it->unit]))
            break;
    }
    if (index == bucket->count || !pawl__place_is_older(it->place, pawl__place_of(&unit->row)))
        return false;
    wait_for(found, bucket->latest_due, bucket->latest_seq, unit,
             is_at(it->place, bucket->named) ? pawl_text_of(bucket->head_id) : found->id);
    return true;
}

/* A unit behind a message that another session has claimed is released unchanged. If it were deferred, later messages
 * could become due before it. */
static bool is_behind_absent(const pawl__order *order, const pawl__unit *unit)
{
    const pawl__bucket *bucket = &order->buckets[unit->bucket];
    if (bucket->stuck == order->batch &&
        pawl__place_is_older(bucket->stuck_place, pawl__place_of(&unit->row)))
        return true;
    for (size_t i = 0; i < order->absent_count; i++)
        if (order->absent[i].bucket == unit->bucket &&
            pawl__place_is_older(order->absent[i].place, pawl__place_of(&unit->row)))
            return true;
    return false;
}

static bool find_obstacle(const pawl__batch *batch, const pawl__unit *unit, obstacle *found)
{
    const pawl__order  *order  = batch->engine->order;
    const pawl__bucket *bucket = &order->buckets[unit->bucket];
    bool                has    = find_obstacle_in_batch(batch, unit, bucket, found);
    has |= meet_waiting(batch, unit, bucket, found);
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
    bool     may   = unit->end == PAWL__END_NEW || pawl__unit_is_deferred(unit);
    if (unit->key.size == 0 || !may || !find_obstacle(batch, unit, &found))
        return false;
    unit->end   = found.is_released ? PAWL__END_RELEASED : PAWL__END_HELD;
    unit->due   = found.due;
    unit->error = describe(batch, unit, found.id);
    return true;
}
