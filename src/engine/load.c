/* load.c - reads what a batch needs, with one query each: deduplication records, sagas,
 * and whether "no saga" is final.
 *
 * "No saga" is final for a message that cannot start one if first the queue showed no older due message,
 * and then a second read of the saga still finds none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

#include "engine/stream.h"

/* Keys of one read, and the entries or lookups that its rows are for. */
typedef struct read_list {
    pawl_value    *values;
    pawl__entry  **entries;
    pawl__lookup **lookups;
    pawl_saga_row *rows;
    size_t         count;
} read_list;

static bool read_list_make(pawl__batch *batch, size_t capacity, read_list *list)
{
    list->count   = 0;
    list->values  = pawl_arena_take(batch->arena, (capacity + 1) * sizeof list->values[0]);
    list->entries = pawl_arena_take(batch->arena, (capacity + 1) * sizeof list->entries[0]);
    list->lookups = pawl_arena_take(batch->arena, (capacity + 1) * sizeof list->lookups[0]);
    return list->values != NULL && list->entries != NULL && list->lookups != NULL;
}

static pawl_code read_rows(pawl__batch *batch, const pawl__saga_model *saga, pawl_saga_key key,
                           pawl_saga_lock lock, read_list *list, pawl_error *error)
{
    pawl_store *store = batch->engine->store;
    list->rows        = pawl_arena_take(batch->arena, (list->count + 1) * sizeof list->rows[0]);
    if (list->rows == NULL)
        return PAWL_ENOMEM;
    return pawl_store_saga_load(store, &saga->table, key, list->values, list->count, lock,
                                batch->arena, list->rows, error);
}

static size_t lookup_count(const pawl__batch *batch)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->unit_count; i++)
        count += batch->units[i].lookup_count;
    return count;
}

/* ---- By main value ------------------------------------------------------------ */

static pawl_code load_main(pawl__batch *batch, const pawl__saga_model *saga, pawl_saga_lock lock,
                           pawl_error *error)
{
    read_list list;
    if (!read_list_make(batch, batch->entry_count, &list))
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->entry_count; i++) {
        pawl__entry *entry = batch->entries[i];
        if (entry->model != saga || entry->is_loaded || entry->main.type == PAWL_VALUE_NONE)
            continue;
        list.values[list.count]    = entry->main;
        list.entries[list.count++] = entry;
    }
    if (list.count == 0)
        return PAWL_OK;
    pawl_code code = read_rows(batch, saga, PAWL_SAGA_BY_MAIN, lock, &list, error);
    for (size_t i = 0; i < list.count && code == PAWL_OK; i++)
        code = pawl__identity_fill(batch, list.entries[i], &list.rows[i], error);
    return code;
}

/* ---- By transitional value ------------------------------------------------------ */

/* Has the main value found a saga? If not, the transitional value is read next. */
static bool is_found_by_main(const pawl__lookup *lookup)
{
    return lookup->entry != NULL && (lookup->entry->exists || lookup->entry->is_busy);
}

static pawl_code load_transitional(pawl__batch *batch, const pawl__saga_model *saga,
                                   pawl_saga_lock lock, pawl_error *error)
{
    read_list list;
    if (saga->saga->transitional == NULL)
        return PAWL_OK;
    if (!read_list_make(batch, lookup_count(batch), &list))
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->unit_count; i++)
        for (size_t j = 0; j < batch->units[i].lookup_count; j++) {
            pawl__lookup *lookup = &batch->units[i].lookups[j];
            if (lookup->binding->saga != saga || lookup->transitional.type == PAWL_VALUE_NONE ||
                is_found_by_main(lookup))
                continue;
            list.values[list.count]    = lookup->transitional;
            list.lookups[list.count++] = lookup;
        }
    if (list.count == 0)
        return PAWL_OK;
    pawl_code code = read_rows(batch, saga, PAWL_SAGA_BY_TRANSITIONAL, lock, &list, error);
    for (size_t i = 0; i < list.count && code == PAWL_OK; i++)
        if (list.rows[i].presence == PAWL_SAGA_LOCKED_BY_ANOTHER)
            code = pawl__identity_leave(batch, saga, PAWL_SAGA_BY_TRANSITIONAL, &list.values[i],
                                        error);
        else if (list.rows[i].presence == PAWL_SAGA_THERE)
            code = pawl__identity_adopt(batch, saga, &list.rows[i],
                                        &list.lookups[i]->transitional_entry, error);
    return code;
}

/* ---- By id, for timeouts and answers ------------------------------------------------ */

static bool is_answer_to(const pawl__lookup *lookup, const pawl__saga_model *saga)
{
    return lookup->binding->saga == saga && lookup->binding->answer != PAWL__ANSWER_NONE;
}

/* Keeps in each timeout's unit, and in each answer's lookup, the entry found by id. If the saga completes and begins
 * again in the batch, the entry has another id, but the unit still belongs to its group. */
static void set_entries(pawl__batch *batch, const pawl__saga_model *saga)
{
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit *unit = &batch->units[i];
        if (unit->kind == PAWL__UNIT_TIMEOUT &&
            pawl_text_equal(unit->timeout.saga_type, saga->table.type))
            unit->entry = pawl__identity_find_id(batch, saga, unit->timeout.saga_id);
        for (size_t j = 0; j < unit->lookup_count; j++)
            if (is_answer_to(&unit->lookups[j], saga))
                unit->lookups[j].entry = pawl__identity_find_id(
                    batch, saga, (pawl_saga_id){unit->lookups[j].value.as.uuid});
    }
}

static bool is_timeout_of(const pawl__unit *unit, const pawl__saga_model *saga)
{
    return unit->kind == PAWL__UNIT_TIMEOUT && unit->end == PAWL__END_NEW &&
           pawl_text_equal(unit->timeout.saga_type, saga->table.type);
}

static void add_missing_id(pawl__batch *batch, const pawl__saga_model *saga, pawl_value value,
                           read_list *list)
{
    if (pawl__identity_find_id(batch, saga, (pawl_saga_id){value.as.uuid}) == NULL)
        list->values[list->count++] = value;
}

static pawl_code load_ids(pawl__batch *batch, const pawl__saga_model *saga, pawl_saga_lock lock,
                          pawl_error *error)
{
    read_list list;
    if (!read_list_make(batch, batch->unit_count + lookup_count(batch), &list))
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *unit = &batch->units[i];
        if (is_timeout_of(unit, saga))
            add_missing_id(batch, saga, pawl_value_uuid(unit->timeout.saga_id.uuid), &list);
        for (size_t j = 0; j < unit->lookup_count; j++)
            if (is_answer_to(&unit->lookups[j], saga))
                add_missing_id(batch, saga, unit->lookups[j].value, &list);
    }
    pawl_code code = PAWL_OK;
    if (list.count > 0)
        code = read_rows(batch, saga, PAWL_SAGA_BY_ID, lock, &list, error);
    for (size_t i = 0; i < list.count && code == PAWL_OK; i++) {
        pawl__entry *entry;
        if (list.rows[i].presence == PAWL_SAGA_LOCKED_BY_ANOTHER)
            code = pawl__identity_leave(batch, saga, PAWL_SAGA_BY_ID, &list.values[i], error);
        else if (list.rows[i].presence == PAWL_SAGA_THERE)
            code = pawl__identity_adopt(batch, saga, &list.rows[i], &entry, error);
    }
    set_entries(batch, saga);
    return code;
}

/* ---- Is "no saga" final? -------------------------------------------------------------- */

static bool is_missing(const pawl__lookup *lookup)
{
    bool is_asked = lookup->entry != NULL ? !lookup->entry->exists
                                          : lookup->transitional.type != PAWL_VALUE_NONE;
    return lookup->binding->kind == PAWL__BINDING_SAGA && !lookup->binding->starts &&
           lookup->binding->find == NULL && is_asked && lookup->transitional_entry == NULL;
}

static bool has_missing(const pawl__unit *unit)
{
    if (unit->kind != PAWL__UNIT_MESSAGE || unit->end != PAWL__END_NEW)
        return false;
    for (size_t i = 0; i < unit->lookup_count; i++)
        if (is_missing(&unit->lookups[i]))
            return true;
    return false;
}

/* Is the unit's queue order before that of the oldest message outside of the batch? */
static bool is_before(const pawl__unit *unit, pawl_time placed, int64_t seq)
{
    return unit->row.placed < placed || (unit->row.placed == placed && unit->row.seq < seq);
}

/* Older messages need not be due: one that was deferred because another worker has its saga is due in 20 ms, one with
 * an unreadable version somewhat later. So queue_oldest looks ahead, by a second at least. It leaves out messages that
 * wait for a saga or are retried. */
#define LOOK_AHEAD PAWL_SECONDS(1)

static int64_t look_ahead(const pawl__engine *engine)
{
    int64_t unread = engine->version_delay + engine->version_delay / 10;
    return unread > LOOK_AHEAD ? unread : LOOK_AHEAD;
}

static pawl_code find_oldest(pawl__batch *batch, const int64_t *except, size_t count,
                             pawl_time *placed, int64_t *seq, pawl_error *error)
{
    pawl_store *store = batch->engine->store;
    pawl_time   due   = pawl_time_add(batch->engine->business_now, look_ahead(batch->engine));
    *placed           = PAWL_TIME_MAX;
    *seq              = INT64_MAX;
    /* Before the rows are read, and these before the sagas: a message that becomes a row or is handled meanwhile is
     * seen. */
    pawl_time without_row = batch->engine->oldest_without_row != NULL
                                ? batch->engine->oldest_without_row(batch->engine->runtime)
                                : PAWL_TIME_MAX;
    pawl_code code = pawl_store_queue_oldest(store, batch->engine->model->queue, due, except, count,
                                             placed, seq, error);
    if (code == PAWL_OK && without_row <= *placed && without_row < PAWL_TIME_MAX) {
        *placed = without_row;
        *seq    = INT64_MIN;
    }
    return code;
}

/* The batch's own messages are left out: pawl__load_has_older asks for them at the time they are
 * needed. */
static pawl_code find_oldest_outside(pawl__batch *batch, pawl_time *placed, int64_t *seq,
                                     pawl_error *error)
{
    int64_t *except = pawl_arena_take(batch->arena, batch->unit_count * sizeof *except);
    size_t   count  = 0;
    if (except == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].kind == PAWL__UNIT_MESSAGE)
            except[count++] = batch->units[i].row.seq;
    return find_oldest(batch, except, count, placed, seq, error);
}

/* May the unit's message still begin a saga? By the rule of queue_oldest: no other message waits for one that
 * waits for a saga itself, or is retried. */
static bool is_open(const pawl__unit *unit)
{
    return unit->kind == PAWL__UNIT_MESSAGE && unit->row.attempts == 0 &&
           unit->row.waiting_since == 0 &&
           (unit->end == PAWL__END_NEW || unit->end == PAWL__END_SAGA_BUSY ||
            unit->end == PAWL__END_RELEASED);
}

bool pawl__load_has_older(const pawl__batch *batch, const pawl__unit *unit)
{
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *other = &batch->units[i];
        if (other != unit && is_open(other) && !is_before(unit, other->row.placed, other->row.seq))
            return true;
    }
    return false;
}

pawl_code pawl__load_is_oldest(pawl__batch *batch, const pawl__unit *unit, bool *is_oldest,
                               pawl_error *error)
{
    pawl_time placed;
    int64_t   seq;
    pawl_code code = find_oldest(batch, &unit->row.seq, 1, &placed, &seq, error);
    *is_oldest     = code == PAWL_OK && is_before(unit, placed, seq);
    return code;
}

static pawl_code read_streams_again(pawl__batch *batch, read_list *list, pawl_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        list->entries[i] = list->lookups[i]->entry;
    pawl_code code = pawl__stream_read(batch, list->entries, list->count, error);
    for (size_t i = 0; i < list->count && code == PAWL_OK; i++)
        list->lookups[i]->is_final = list->entries[i]->stored.presence == PAWL_SAGA_MISSING;
    return code;
}

/* Would the message be dropped if its saga is still missing? Yes if there is no older message, or if
 * it has waited for not_found_wait. */
static bool is_at_its_end(const pawl__batch *batch, const pawl__unit *unit, pawl_time placed,
                          int64_t seq)
{
    const pawl__engine *engine = batch->engine;
    pawl_time           since  = unit->row.waiting_since;
    return is_before(unit, placed, seq) ||
           (since != 0 && engine->machine_now - since >= engine->not_found_wait);
}

static pawl_code read_again(pawl__batch *batch, const pawl__saga_model *saga, pawl_time placed,
                            int64_t seq, pawl_error *error)
{
    read_list list;
    if (!read_list_make(batch, lookup_count(batch), &list))
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->unit_count; i++)
        for (size_t j = 0; j < batch->units[i].lookup_count; j++) {
            pawl__lookup *lookup = &batch->units[i].lookups[j];
            if (!has_missing(&batch->units[i]) || !is_missing(lookup) ||
                lookup->binding->saga != saga ||
                !is_at_its_end(batch, &batch->units[i], placed, seq))
                continue;
            if (lookup->entry == NULL) {
                lookup->is_final = true; /* unless the transitional value finds it */
                continue;
            }
            list.values[list.count]    = lookup->value;
            list.lookups[list.count++] = lookup;
        }
    if (list.count == 0)
        return PAWL_OK;
    if (saga->stream != NULL)
        return read_streams_again(batch, &list, error);
    pawl_code code =
        read_rows(batch, saga, PAWL_SAGA_BY_MAIN, pawl__identity_lock(batch), &list, error);
    for (size_t i = 0; i < list.count && code == PAWL_OK; i++) {
        pawl__entry *entry        = list.lookups[i]->entry;
        list.lookups[i]->is_final = list.rows[i].presence == PAWL_SAGA_MISSING;
        if (list.rows[i].presence != PAWL_SAGA_MISSING && !entry->exists)
            code = pawl__identity_fill(batch, entry, &list.rows[i], error);
    }
    return code;
}

/* Reads the saga's starters in delayed retry, if a message would be dropped otherwise. The saga is read
 * afterwards: if a starter succeeds in between, that read finds the saga. */
static pawl_code read_starters(pawl__batch *batch, const pawl__saga_model *saga, pawl_time placed,
                               int64_t seq, pawl_error *error)
{
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *unit = &batch->units[i];
        if (!has_missing(unit) || !is_at_its_end(batch, unit, placed, seq))
            continue;
        for (size_t j = 0; j < unit->lookup_count; j++)
            if (is_missing(&unit->lookups[j]) && unit->lookups[j].binding->saga == saga)
                return pawl__starters_read(batch, saga, error);
    }
    return PAWL_OK;
}

static pawl_code settle_missing(pawl__batch *batch, pawl_error *error)
{
    bool is_needed = false;
    for (size_t i = 0; i < batch->unit_count && !is_needed; i++)
        is_needed = has_missing(&batch->units[i]);
    if (!is_needed)
        return PAWL_OK;
    pawl_time placed;
    int64_t   seq;
    pawl_code code = find_oldest_outside(batch, &placed, &seq, error);
    for (size_t i = 0; i < batch->engine->model->saga_count && code == PAWL_OK; i++)
        code = read_starters(batch, &batch->engine->model->sagas[i], placed, seq, error);
    for (size_t i = 0; i < batch->engine->model->saga_count && code == PAWL_OK; i++)
        code = read_again(batch, &batch->engine->model->sagas[i], placed, seq, error);
    if (code == PAWL_OK)
        for (size_t i = 0; i < batch->engine->model->saga_count && code == PAWL_OK; i++)
            code = load_transitional(batch, &batch->engine->model->sagas[i],
                                     pawl__identity_lock(batch), error);
    return code;
}

static bool is_hot(const pawl__batch *batch, const pawl__saga_model *saga, pawl_saga_key key,
                   pawl_value value)
{
    return value.type != PAWL_VALUE_NONE &&
           batch->engine->is_hot(batch->engine->runtime, &saga->table, key, &value);
}

static bool unit_is_hot(const pawl__batch *batch, const pawl__unit *unit,
                        const pawl__saga_model *saga)
{
    bool is_one = is_timeout_of(unit, saga) &&
                  is_hot(batch, saga, PAWL_SAGA_BY_ID, pawl_value_uuid(unit->timeout.saga_id.uuid));
    for (size_t i = 0; i < unit->lookup_count && !is_one; i++) {
        const pawl__lookup *lookup = &unit->lookups[i];
        if (lookup->binding->saga != saga)
            continue;
        is_one =
            is_hot(batch, saga, PAWL_SAGA_BY_TRANSITIONAL, lookup->transitional) ||
            (is_answer_to(lookup, saga) && is_hot(batch, saga, PAWL_SAGA_BY_ID, lookup->value)) ||
            (lookup->entry != NULL && is_hot(batch, saga, PAWL_SAGA_BY_MAIN, lookup->entry->main));
    }
    return is_one;
}

/* Whether a saga of the batch is hot. Then all existing sagas are loaded with their rows locked. If only the hot rows
 * were, two workers could deadlock: each has locked one hot saga, and at its commit waits for the row that the other
 * has locked. */
static bool has_hot(const pawl__batch *batch)
{
    const pawl__engine *engine = batch->engine;
    bool                is_one = false;
    for (size_t i = 0; i < engine->model->saga_count && engine->has_hot && !is_one; i++)
        for (size_t j = 0; j < batch->unit_count && !is_one; j++)
            is_one = unit_is_hot(batch, &batch->units[j], &engine->model->sagas[i]);
    return is_one;
}

static pawl_code load_all(pawl__batch *batch, pawl_saga_lock lock, pawl_error *error)
{
    const pawl__model *model = batch->engine->model;
    pawl_code          code  = PAWL_OK;
    for (size_t i = 0; i < model->saga_count && code == PAWL_OK; i++) {
        if (model->sagas[i].stream != NULL) {
            code = pawl__stream_load(batch, &model->sagas[i], error);
            continue;
        }
        code = load_main(batch, &model->sagas[i], lock, error);
        if (code == PAWL_OK)
            code = load_transitional(batch, &model->sagas[i], lock, error);
        if (code == PAWL_OK)
            code = load_ids(batch, &model->sagas[i], lock, error);
    }
    return code;
}

pawl_code pawl__load_sagas(pawl__batch *batch, pawl_error *error)
{
    pawl_saga_lock lock = pawl__identity_lock(batch);
    pawl_code      code = PAWL_OK;
    pawl__busy_sagas_mark(batch, PAWL__BY_MAIN);
    if (lock == PAWL_SAGA_UNLOCKED && has_hot(batch))
        code = load_all(batch, PAWL_SAGA_SKIP_LOCKED, error);
    if (code == PAWL_OK)
        code = load_all(batch, lock, error);
    pawl__busy_sagas_mark(batch, PAWL__BY_ID);
    pawl__busy_sagas_put_back(batch);
    if (code == PAWL_OK)
        code = settle_missing(batch, error);
    pawl__busy_sagas_put_back(batch); /* sagas that another worker had at the second read */
    return code;
}
