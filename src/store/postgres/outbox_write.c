/* outbox_write.c - the changes to outbox rows.
 *
 * No index has the source of a pending row. Holding back the rows behind a failed one is
 * therefore a walk over the pending rows behind it, one walk for all holds of a change set:
 * when a destination is down there are as many holds as rows in a batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/rows.h"
#include "store/postgres/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Adding ------------------------------------------------------------- */

static const pawl__field add_fields[] = {
    PAWL__AS(outbox_add, dispatch_id.uuid, UUID),
    PAWL__AS(outbox_add, at, TIME),
    PAWL__AS(outbox_add, due, TIME),
    PAWL__AS(outbox_add, source, TEXT),
    PAWL__AS(outbox_add, version, INT),
    PAWL__AS(outbox_add, index, INT32),
    PAWL__AS(outbox_add, endpoint, TEXT),
    PAWL__AS(outbox_add, destination, TEXT),
    PAWL__AS_MESSAGE(outbox_add),
};

static const pawl__field content_fields[] = {
    PAWL__AS(outbox_add, dispatch_id.uuid, UUID),
    PAWL__AS(outbox_add, message.type, TEXT),
    PAWL__AS(outbox_add, message.body, BYTES),
};

/* Dispatch ids that are there already: refuses those with another type or body. */
static pawl_code check_known(pawl__pg_writer *writer, const void **items, size_t count)
{
    pawl__pg_write differing = {.kind = pawl_change_outbox_add, .items = items, .count = count};
    pawl__pg_begin(&differing.request, writer->connection, PAWL__PG_OUTBOX_DIFFERS, writer->error);
    pawl__pg_write_fields(&differing, content_fields, COUNT(content_fields));
    pawl_code code = pawl__pg_run(&differing.request);
    if (code != PAWL_OK)
        return code;
    bool *is_different = pawl__pg_applied(writer, &differing);
    if (is_different == NULL || differing.request.code != PAWL_OK) {
        pawl__pg_end(&differing.request);
        return is_different == NULL ? PAWL_ENOMEM : differing.request.code;
    }
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (is_different[i])
            code = pawl__pg_refuse_for(writer, differing.kind, items[i], pawl__why_differs);
    return code;
}

/* INSERT returns the dispatch ids in the order of the items, without those that were there. Of an
 * id that stands in the set twice the first was inserted. */
static pawl_code check_added(pawl__pg_writer *writer, pawl__pg_write *write)
{
    pawl__pg_request *request = &write->request;
    size_t            left    = 0;
    if (pawl__pg_rows(request) == (int64_t)write->count)
        return PAWL_OK;
    const void **known = pawl_arena_take(writer->arena, (write->count + 1) * sizeof *known);
    if (known == NULL)
        return pawl__pg_no_memory(writer->error);
    bool      has_row = pawl__pg_next(request);
    pawl_uuid id      = has_row ? pawl__pg_get_uuid(request) : (pawl_uuid){{0}};
    for (size_t i = 0; i < write->count; i++) {
        const pawl_outbox_add *add = write->items[i];
        if (!has_row || pawl_uuid_compare(add->dispatch_id.uuid, id) != 0) {
            known[left++] = add;
            continue;
        }
        has_row = pawl__pg_next(request);
        if (has_row)
            id = pawl__pg_get_uuid(request);
    }
    pawl__pg_end(request);
    return request->code == PAWL_OK ? check_known(writer, known, left) : request->code;
}

/* Id follows the order of the change set. */
pawl_code pawl__pg_send_outbox_add(pawl__pg_writer *writer)
{
    return pawl__pg_write_all(writer, PAWL__PG_OUTBOX_ADD, pawl_change_outbox_add, NULL, NULL,
                              add_fields, COUNT(add_fields), check_added);
}

/* ---- Settling ----------------------------------------------------------- */

static const pawl__field settle_fields[] = {
    PAWL__AS(outbox_settle, id, INT),
    PAWL__AS(outbox_settle, attempts, INT32),
    PAWL__AS(outbox_settle, next_attempt, TIME),
    PAWL__AS(outbox_settle, at, TIME),
    PAWL__AS(outbox_settle, duration, INT),
    PAWL__AS(outbox_settle, error, ERROR_TEXT),
};

static const pawl__field id_field       = PAWL__AS(outbox_settle, id, INT);
static const pawl__field duration_field = PAWL__AS(outbox_settle, duration, INT);

static int by_row(const void *left, const void *right)
{
    const pawl_outbox_settle *l = left, *r = right;
    return (l->id > r->id) - (l->id < r->id);
}

static void put_words(pawl__pg_write *write)
{
    pawl__pg_array_begin(&write->request, PAWL__WIRE_TEXT, PAWL_VALUE_NONE, write->count);
    for (size_t i = 0; i < write->count; i++) {
        const pawl_outbox_settle *settle = write->items[i];
        pawl__pg_array_put(&write->request, PAWL__WIRE_TEXT, &pawl__state_words[settle->state]);
    }
    pawl__pg_array_end(&write->request);
    pawl__pg_array_begin(&write->request, PAWL__WIRE_TEXT, PAWL_VALUE_NONE, write->count);
    for (size_t i = 0; i < write->count; i++) {
        const pawl_outbox_settle *settle = write->items[i];
        pawl__pg_array_put(&write->request, PAWL__WIRE_TEXT, &pawl__outcome_words[settle->outcome]);
    }
    pawl__pg_array_end(&write->request);
}

static pawl_code check_settled(pawl__pg_writer *writer, pawl__pg_write *write)
{
    return pawl__pg_check_numbers(writer, write, pawl__why_not_pending);
}

static pawl_code send_any_settles(pawl__pg_writer *writer, const void **items, size_t count)
{
    bool            is_sure = writer->is_guarded;
    pawl__pg_write *write =
        pawl__pg_write_add(writer, is_sure ? PAWL__PG_OUTBOX_SETTLE_SURE : PAWL__PG_OUTBOX_SETTLE,
                           pawl_change_outbox_settle, items, count, is_sure ? NULL : check_settled);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, settle_fields, COUNT(settle_fields));
    put_words(write);
    if (is_sure)
        pawl__pg_put_int(&write->request, (int64_t)count);
    return pawl__pg_write_send(write);
}

/* Whether the settles are equal but for their ids, as those of rows that were delivered at the
 * first attempt are. */
static bool are_alike(const void **items, size_t count)
{
    const pawl_outbox_settle *first    = items[0];
    bool                      is_alike = true;
    for (size_t i = 0; i < count && is_alike; i++) {
        const pawl_outbox_settle *other = items[i];
        is_alike = other->state == first->state && other->outcome == first->outcome &&
                   other->attempts == first->attempts && other->at == first->at &&
                   other->next_attempt == first->next_attempt && other->error.size == 0;
    }
    return is_alike;
}

/* Equal values go over the wire once, not once for each row. The history is a statement of its own:
 * it need not wait for the rows that were settled, since all of them are or the commit fails. */
static pawl_code send_alike(pawl__pg_writer *writer, const void **items, size_t count)
{
    const pawl_outbox_settle *first = items[0];
    pawl__pg_write           *write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_SETTLE_ALIKE,
                                                         pawl_change_outbox_settle, items, count, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, &id_field, 1);
    pawl__pg_put_text(&write->request, pawl__state_words[first->state]);
    pawl__pg_put_int(&write->request, first->attempts);
    pawl__pg_put_time(&write->request, first->next_attempt);
    pawl__pg_put_time(&write->request, first->at);
    pawl__pg_put_int(&write->request, (int64_t)count);
    pawl_code code = pawl__pg_write_send(write);
    if (code != PAWL_OK)
        return code;
    write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_ATTEMPT_ALIKE, pawl_change_outbox_settle,
                               items, count, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, &id_field, 1);
    pawl__pg_write_fields(write, &duration_field, 1);
    pawl__pg_put_int(&write->request, first->attempts);
    pawl__pg_put_text(&write->request, pawl__outcome_words[first->outcome]);
    pawl__pg_put_time(&write->request, first->at);
    return pawl__pg_write_send(write);
}

static pawl_code send_settles(pawl__pg_writer *writer, pawl_change_kind kind, const void **items,
                              size_t count)
{
    (void)kind;
    return writer->is_guarded && are_alike(items, count) ? send_alike(writer, items, count)
                                                         : send_any_settles(writer, items, count);
}

pawl_code pawl__pg_send_outbox_settle(pawl__pg_writer *writer)
{
    return pawl__pg_send_waves(writer, pawl_change_outbox_settle, by_row, send_settles);
}

/* ---- Resetting ---------------------------------------------------------- */

static const pawl__field reset_fields[] = {
    PAWL__AS(outbox_reset, id, INT),
    PAWL__AS(outbox_reset, at, TIME),
    PAWL__AS(outbox_reset, note, ERROR_TEXT),
};

static int by_reset_row(const void *left, const void *right)
{
    const pawl_outbox_reset *l = left, *r = right;
    return (l->id > r->id) - (l->id < r->id);
}

static pawl_code check_reset(pawl__pg_writer *writer, pawl__pg_write *write)
{
    return pawl__pg_check_numbers(writer, write, pawl__why_not_dead);
}

static void put_enabled(pawl__pg_write *write)
{
    pawl__pg_array_begin(&write->request, PAWL__WIRE_BOOL, PAWL_VALUE_NONE, write->count);
    for (size_t i = 0; i < write->count; i++) {
        const pawl_outbox_reset *reset      = write->items[i];
        bool                     is_enabled = reset->action == PAWL_OUTBOX_RETRY;
        pawl__pg_array_put(&write->request, PAWL__WIRE_BOOL, &is_enabled);
    }
    pawl__pg_array_end(&write->request);
}

/* Two resets of one row: the second finds it not dead any more, and is refused. */
pawl_code pawl__pg_send_outbox_reset(pawl__pg_writer *writer)
{
    size_t       count;
    const void **items = pawl__pg_select(writer, pawl_change_outbox_reset, NULL, NULL, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    if (count == 0)
        return PAWL_OK;
    pawl__sort_changes(items, count, by_reset_row);
    pawl__pg_write *write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_RESET,
                                               pawl_change_outbox_reset, items, count, check_reset);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, reset_fields, COUNT(reset_fields));
    put_enabled(write);
    if (writer->store != NULL)
        pawl__pg_outbox_front_restart(&writer->store->outbox);
    return pawl__pg_write_send(write);
}

/* ---- Holding back ------------------------------------------------------- */

/* The sum of all holds of a change set on one source. */
typedef struct sum {
    pawl_text source;
    bool      is_released; /* at first: its held rows become pending */
    bool      is_held;     /* and then: its rows behind `after` are held */
    int64_t   after;
} sum;

static int by_source(const void *left, const void *right)
{
    const pawl_outbox_block *l = left, *r = right;
    return pawl_text_compare(l->source, r->source);
}

/* Rows without a source have no order, so nothing is held behind them. */
static bool has_source(const void *change, const void *context)
{
    const pawl_outbox_block *hold = change;
    (void)context;
    return hold->source.size != 0;
}

/* A release undoes the holds before it in the set, whatever they held. */
static void add_hold(sum *all, const pawl_outbox_block *hold)
{
    if (hold->is_unblock) {
        all->is_released = true;
        all->is_held     = false;
    } else if (!all->is_held || hold->after < all->after) {
        all->is_held = true;
        all->after   = hold->after;
    }
}

static size_t add_holds(const void **items, size_t count, sum *sums)
{
    size_t sum_count = 0;
    for (size_t i = 0; i < count; i++) {
        const pawl_outbox_block *hold = items[i];
        if (sum_count == 0 || !pawl_text_equal(sums[sum_count - 1].source, hold->source))
            sums[sum_count++] = (sum){.source = hold->source};
        add_hold(&sums[sum_count - 1], hold);
    }
    return sum_count;
}

static pawl_code send_releases(pawl__pg_writer *writer, const sum *sums, size_t count)
{
    size_t     source_count = 0;
    pawl_text *sources      = pawl_arena_take(writer->arena, (count + 1) * sizeof *sources);
    if (sources == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < count; i++)
        if (sums[i].is_released)
            sources[source_count++] = sums[i].source;
    if (source_count == 0)
        return PAWL_OK;
    pawl__pg_write *write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_RELEASE,
                                               pawl_change_outbox_block, NULL, 0, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_put_texts(&write->request, sources, source_count);
    if (writer->store != NULL)
        pawl__pg_outbox_front_restart(&writer->store->outbox);
    return pawl__pg_write_send(write);
}

static pawl_code send_holds(pawl__pg_writer *writer, const sum *sums, size_t count)
{
    size_t     source_count = 0;
    int64_t    after        = INT64_MAX;
    pawl_text *sources      = pawl_arena_take(writer->arena, (count + 1) * sizeof *sources);
    int64_t   *afters       = pawl_arena_take(writer->arena, (count + 1) * sizeof *afters);
    if (sources == NULL || afters == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < count; i++) {
        if (!sums[i].is_held)
            continue;
        after                  = sums[i].after < after ? sums[i].after : after;
        sources[source_count]  = sums[i].source;
        afters[source_count++] = sums[i].after;
    }
    if (source_count == 0)
        return PAWL_OK;
    pawl__pg_write *write =
        pawl__pg_write_add(writer, PAWL__PG_OUTBOX_HOLD, pawl_change_outbox_block, NULL, 0, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_put_int(&write->request, after);
    pawl__pg_put_texts(&write->request, sources, source_count);
    pawl__pg_put_ints(&write->request, afters, source_count);
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_outbox_block(pawl__pg_writer *writer)
{
    size_t       count;
    const void **items =
        pawl__pg_select(writer, pawl_change_outbox_block, has_source, NULL, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    sum *sums = pawl_arena_take(writer->arena, (count + 1) * sizeof *sums);
    if (sums == NULL)
        return pawl__pg_no_memory(writer->error);
    pawl__sort_changes(items, count, by_source);
    size_t    sum_count = add_holds(items, count, sums);
    pawl_code code      = send_releases(writer, sums, sum_count);
    return code == PAWL_OK ? send_holds(writer, sums, sum_count) : code;
}
