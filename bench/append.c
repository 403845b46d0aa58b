/* append.c - one unit appends two events to a stream at the version that it expects,
 * and one dispatch to the outbox, through the change set. Each stream has four units;
 * those of all streams come in random order.
 *
 * No engine runs: what is measured is the way from the change set to the disk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "append.h"

#include "limit.h"
#include "saga_step.h"

#include <stdlib.h>
#include <string.h>

/* ---- Units ---------------------------------------------------------------- */

void pawl__bench_stream(uint64_t seed, int64_t number, char text[PAWL__BENCH_STREAM_SIZE + 1])
{
    memcpy(text, PAWL__BENCH_SAGA "/", PAWL__BENCH_ORDER_AT);
    pawl__bench_order_id(seed, number, text + PAWL__BENCH_ORDER_AT);
}

static int64_t stream_count(const pawl__bench_job *job)
{
    return (job->messages + PAWL__BENCH_UNITS_OF_STREAM - 1) / PAWL__BENCH_UNITS_OF_STREAM;
}

static void shuffle(const pawl__bench_job *job, pawl__bench_unit *units)
{
    pawl_random random;
    pawl_random_seed(&random, job->seed);
    for (int64_t i = 0; i < job->messages; i++) {
        int64_t other       = (int64_t)pawl_random_below(&random, (uint64_t)i + 1);
        units[i].stream     = units[other].stream;
        units[other].stream = i / PAWL__BENCH_UNITS_OF_STREAM;
    }
}

static int by_stream(const void *left, const void *right)
{
    const pawl__bench_unit *l = left;
    const pawl__bench_unit *r = right;
    return (l->stream > r->stream) - (l->stream < r->stream);
}

/* `versions` are those of the streams so far. */
static void number_batch(pawl__bench_unit *units, int64_t count, int64_t *versions)
{
    qsort(units, (size_t)count, sizeof *units, by_stream);
    for (int64_t i = 0; i < count; i++) {
        pawl__bench_unit *unit = &units[i];
        unit->is_first         = i == 0 || unit->stream != units[i - 1].stream;
        unit->version          = versions[unit->stream];
        versions[unit->stream] += PAWL__BENCH_EVENTS_OF_UNIT;
    }
}

static pawl_code make_units(const pawl__bench_job *job, pawl__bench_unit **units, pawl_error *error)
{
    int64_t *versions = pawl_allocate((size_t)stream_count(job) * sizeof *versions);
    *units            = pawl_allocate((size_t)job->messages * sizeof **units);
    bool is_made      = versions != NULL && *units != NULL;
    if (is_made)
        shuffle(job, *units);
    for (int64_t i = 0; is_made && i < job->messages; i += job->batch)
        number_batch(*units + i, pawl__bench_piece(job->messages, i, job->batch), versions);
    pawl_free(versions);
    return is_made ? PAWL_OK
                   : pawl_error_set(error, PAWL_ENOMEM, "no memory for the order of %lld units",
                                    (long long)job->messages);
}

/* ---- One batch ------------------------------------------------------------ */

typedef struct appender {
    const pawl__bench_job *job;
    pawl__bench_handle     handle;
    pawl_random            random;
    pawl_changes           changes; /* of the batch */
} appender;

/* The stream's name ends with the id of the order. */
static pawl_code encode(const appender *a, const pawl__bench_unit *unit, pawl_text stream,
                        int64_t steps, pawl_text *body, pawl_error *error)
{
    pawl_text order_id = {.data = stream.data + PAWL__BENCH_ORDER_AT,
                          .size = stream.size - PAWL__BENCH_ORDER_AT};
    return pawl__bench_moved(a->handle.arena, order_id, steps, pawl__bench_cents(unit->stream),
                             a->changes.now, body, error);
}

static pawl_code add_events(appender *a, const pawl__bench_unit *unit, uint32_t number,
                            pawl_text stream, pawl_text message_id, pawl_error *error)
{
    const pawl_record *record = PAWL_RECORD_OF(bench_moved)();
    pawl_code          code   = PAWL_OK;
    for (int64_t i = 1; code == PAWL_OK && i <= PAWL__BENCH_EVENTS_OF_UNIT; i++) {
        pawl_event_append *append = &a->changes.event_append.items[a->changes.event_append.count++];
        *append                   = (pawl_event_append){.unit     = number,
                                                        .group    = a->changes.group_count - 1,
                                                        .stream   = stream,
                                                        .version  = unit->version + i,
                                                        .is_first = unit->is_first && i == 1,
                                                        .event    = {.type = pawl_text_of(pawl_record_type(record)),
                                                                     .type_version   = pawl_record_version(record),
                                                                     .message_id     = message_id,
                                                                     .correlation_id = message_id,
                                                                     .at             = a->changes.now}};
        code = encode(a, unit, stream, append->version, &append->event.body, error);
    }
    return code;
}

static pawl_code add_dispatch(appender *a, const pawl__bench_unit *unit, uint32_t number,
                              pawl_text stream, pawl_text message_id, pawl_error *error)
{
    char             id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_outbox_add *add = &a->changes.outbox_add.items[a->changes.outbox_add.count++];
    *add                 = (pawl_outbox_add){.unit        = number,
                                             .group       = a->changes.group_count - 1,
                                             .source      = stream,
                                             .version     = unit->version + PAWL__BENCH_EVENTS_OF_UNIT,
                                             .endpoint    = PAWL_TEXT(PAWL__BENCH_QUEUE),
                                             .destination = PAWL_TEXT(PAWL__BENCH_OUTSIDE),
                                             .due         = a->changes.now,
                                             .at          = a->changes.now};
    add->dispatch_id     = pawl_dispatch_id_make(add->endpoint, stream, add->version, add->index);
    pawl_uuid_format(add->dispatch_id.uuid, id);
    add->message =
        (pawl_message){.id      = pawl_arena_text(a->handle.arena, pawl_text_of(id)),
                       .type    = pawl_text_of(pawl_record_type(PAWL_RECORD_OF(bench_moved)())),
                       .headers = PAWL_TEXT(LOOP_HEADERS),
                       .correlation_id = message_id,
                       .causation_id   = message_id};
    if (add->message.id.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for an outbox row");
    return encode(a, unit, stream, add->version, &add->message.body, error);
}

static pawl_code add_unit(appender *a, const pawl__bench_unit *unit, pawl_error *error)
{
    char text[PAWL__BENCH_STREAM_SIZE + 1];
    char id[PAWL_UUID_TEXT_SIZE + 1];
    pawl__bench_stream(a->job->seed, unit->stream, text);
    pawl_uuid_format(pawl_uuid_v7(&a->random, a->changes.now), id);
    pawl_text stream     = pawl_arena_text(a->handle.arena, pawl_text_of(text));
    pawl_text message_id = pawl_arena_text(a->handle.arena, pawl_text_of(id));
    uint32_t  number     = a->changes.unit_count++;
    a->changes.group_count += unit->is_first;
    if (stream.data == NULL || message_id.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the names of a unit");
    pawl_code code = add_events(a, unit, number, stream, message_id, error);
    return code == PAWL_OK ? add_dispatch(a, unit, number, stream, message_id, error) : code;
}

static pawl_code append(void *side, const pawl__bench_unit *units, int64_t count, pawl_error *error)
{
    appender     *a       = side;
    pawl_arena   *arena   = a->handle.arena;
    pawl_refusals refused = {.arena = arena};
    pawl_code     code    = PAWL_OK;
    pawl_arena_reset(arena);
    a->changes = (pawl_changes){.now = pawl_clock_now(NULL), .counters = {.messages = count}};
    a->changes.event_append.items = pawl_arena_take(
        arena, (size_t)count * PAWL__BENCH_EVENTS_OF_UNIT * sizeof(pawl_event_append));
    a->changes.outbox_add.items = pawl_arena_take(arena, (size_t)count * sizeof(pawl_outbox_add));
    if (a->changes.event_append.items == NULL || a->changes.outbox_add.items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
    for (int64_t i = 0; code == PAWL_OK && i < count; i++)
        code = add_unit(a, &units[i], error);
    if (code == PAWL_OK)
        code = pawl_store_commit(a->handle.store, &a->changes, &refused, error);
    if (code == PAWL_OK && refused.count != 0)
        code = pawl_error_set(error, PAWL_EBUG, "%zu refusals, should be none: %.*s", refused.count,
                              PAWL_TEXT_ARGS(refused.items[0].text));
    return code;
}

/* ---- Running -------------------------------------------------------------- */

pawl_code pawl__bench_append_all(const pawl__bench_job *job, pawl__bench_append_fn *append_batch,
                                 void *side, int64_t *microseconds, pawl_error *error)
{
    pawl__bench_unit *units = NULL;
    pawl_code         code  = make_units(job, &units, error);
    int64_t           begin = pawl__bench_clock();
    for (int64_t i = 0; code == PAWL_OK && i < job->messages; i += job->batch) {
        int64_t count = pawl__bench_piece(job->messages, i, job->batch);
        code          = append_batch(side, units + i, count, error);
        if (code == PAWL_OK)
            code = pawl__bench_go_on(error);
    }
    *microseconds = pawl__bench_clock() - begin;
    pawl_free(units);
    return code;
}

static pawl_code attach(pawl_store *store, pawl_error *error)
{
    pawl_code code = pawl_store_worker_open(store, PAWL_TEXT(PAWL__BENCH_QUEUE), PAWL_TEXT("[]"),
                                            pawl_clock_now(NULL), error);
    return code;
}

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    appender a = {.job = job};
    pawl_random_seed(&a.random, job->seed);
    pawl_code code = pawl__bench_open(job->url, &a.handle, error);
    if (code == PAWL_OK)
        code = attach(a.handle.store, error);
    if (code == PAWL_OK)
        code = pawl__bench_append_all(job, append, &a, microseconds, error);
    pawl__bench_close(&a.handle);
    return code;
}

/* ---- Checking ------------------------------------------------------------- */

static int64_t versions_of(const pawl__bench_job *job, int64_t number)
{
    return PAWL__BENCH_EVENTS_OF_UNIT * pawl__bench_piece(job->messages,
                                                          number * PAWL__BENCH_UNITS_OF_STREAM,
                                                          PAWL__BENCH_UNITS_OF_STREAM);
}

static pawl_code check_stream(pawl_arena *arena, const pawl_stream *stream, int64_t wanted,
                              pawl_error *error)
{
    bench_moved moved;
    pawl_code   code = pawl__bench_expect("version of a stream", stream->version, wanted, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("events of a stream", (int64_t)stream->count, wanted, error);
    if (code == PAWL_OK)
        code = pawl_record_decode(PAWL_RECORD_OF(bench_moved)(),
                                  stream->events[stream->count - 1].event.body, 0, arena, &moved,
                                  error);
    return code == PAWL_OK ? pawl__bench_expect("steps of an event", moved.steps, wanted, error)
                           : code;
}

static pawl_code check_streams(const pawl__bench_handle *handle, const pawl__bench_job *job,
                               int64_t first, pawl_error *error)
{
    char             names[PAWL__BENCH_CHECK_COUNT][PAWL__BENCH_STREAM_SIZE + 1];
    pawl_stream_read reads[PAWL__BENCH_CHECK_COUNT];
    pawl_stream      streams[PAWL__BENCH_CHECK_COUNT];
    size_t           count = 0;
    pawl_store      *store = handle->store;
    pawl_arena_reset(handle->arena);
    for (; count < PAWL__BENCH_CHECK_COUNT && first + (int64_t)count < stream_count(job); count++) {
        pawl__bench_stream(job->seed, first + (int64_t)count, names[count]);
        reads[count] = (pawl_stream_read){.stream = pawl_text_of(names[count])};
    }
    pawl_code code = pawl_store_stream_load(store, reads, count, handle->arena, streams, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code =
            check_stream(handle->arena, &streams[i], versions_of(job, first + (int64_t)i), error);
    return code;
}

static pawl_code check_row(const pawl__bench_job *job, const pawl__bench_unit *unit,
                           const pawl_outbox_row *row, pawl_error *error)
{
    char stream[PAWL__BENCH_STREAM_SIZE + 1];
    pawl__bench_stream(job->seed, unit->stream, stream);
    if (!pawl_text_equal(row->source, pawl_text_of(stream)))
        return pawl_error_set(error, PAWL_EBUG, "a dispatch is of '%.*s', should be of '%s'",
                              PAWL_TEXT_ARGS(row->source), stream);
    return pawl__bench_expect("version of a dispatch", row->version,
                              unit->version + PAWL__BENCH_EVENTS_OF_UNIT, error);
}

/* The dispatches stand in the order of their units; the first are looked at. */
static pawl_code check_dispatches(const pawl__bench_handle *handle, const pawl__bench_job *job,
                                  pawl_error *error)
{
    pawl_store       *store  = handle->store;
    pawl__bench_unit *units  = NULL;
    pawl_outbox_rows  rows   = {.count = 0};
    int64_t           wanted = pawl__bench_piece(job->messages, 0, PAWL__BENCH_CHECK_COUNT);
    pawl_code         code   = make_units(job, &units, error);
    if (code == PAWL_OK)
        code = pawl_store_outbox_list(store, PAWL_OUTBOX_PENDING, PAWL__BENCH_CHECK_COUNT,
                                      handle->arena, &rows, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("pending dispatches", (int64_t)rows.count, wanted, error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        code = check_row(job, &units[i], &rows.items[i], error);
    pawl_free(units);
    return code;
}

static pawl_code check(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_stats         stats = PAWL_STATS_INIT;
    pawl_code          code  = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_stats(&handle, &stats, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("outbox rows", stats.outbox_pending, job->messages, error);
    if (code == PAWL_OK)
        code = check_dispatches(&handle, job, error);
    for (int64_t i = 0; code == PAWL_OK && i < stream_count(job); i += PAWL__BENCH_CHECK_COUNT)
        code = check_streams(&handle, job, i, error);
    pawl__bench_close(&handle);
    return code;
}

const pawl__bench_workload pawl__bench_append = {.name   = "append",
                                                 .fill   = pawl__bench_tables_fill,
                                                 .run    = run,
                                                 .check  = check,
                                                 .rounds = PAWL__BENCH_ROUNDS};
