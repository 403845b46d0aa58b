/* inspect.c - the test kit of applications: reads sagas, streams, messages and counts for assertions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/endpoint/endpoint.h"
#include "runtime/test_kit/test_kit.h"

#include "engine/entry.h"
#include "engine/headers.h"
#include "engine/stream.h"
#include "record/record_internal.h"

#include <string.h>

/* Checks the record of a query and the struct that the answer goes into. */
static pawl_code check_target(pawl_record_fn *record, const void *target, pawl_error *error)
{
    return pawl__value_check(record != NULL ? record() : NULL, target, error);
}

pawl_time pawl_test_now(const pawl_test *test)
{
    return pawl_clock_now(test->business);
}

/* ---- Sagas ----------------------------------------------------------------------- */

static pawl_code find_saga(pawl_test *test, const char *saga, const pawl__saga_model **found,
                           pawl_error *error)
{
    *found = NULL;
    for (size_t i = 0; i < test->endpoint_count && *found == NULL; i++)
        *found = pawl__model_saga(test->endpoints[i]->model, pawl_text_of(saga));
    if (*found == NULL)
        return pawl_error_set(error, PAWL_ENOTFOUND, "application has no saga '%s'",
                              saga != NULL ? saga : "");
    return PAWL_OK;
}

/* The endpoint whose model has the saga: there is one. */
static pawl_text endpoint_of(const pawl_test *test, const pawl__saga_model *model)
{
    size_t i = 0;
    while (pawl__model_saga(test->endpoints[i]->model, model->table.type) != model)
        i++;
    return test->endpoints[i]->model->endpoint;
}

/* Finds a saga that is not a process or an entity. */
static pawl_code find_plain_saga(pawl_test *test, const char *saga, const pawl__saga_model **found,
                                 pawl_error *error)
{
    pawl_code code = find_saga(test, saga, found, error);
    if (code != PAWL_OK || (*found)->stream == NULL)
        return code;
    return pawl_error_set(error, PAWL_EINVAL, "%s is not a saga: read it with pawl_test_state",
                          (*found)->saga->name);
}

static pawl_code load_row(pawl_test *test, const pawl__saga_model *model, const char *key,
                          pawl_saga_row *row, pawl_error *error)
{
    pawl_value value = pawl_value_text(pawl_text_of(key));
    if (model->table.main.type == PAWL_VALUE_NONE)
        return pawl_error_set(error, PAWL_EINVAL, "saga %s has no correlation property",
                              model->saga->name);
    pawl_code code = pawl_value_coerce(model->table.main.type, &value, test->arena, error);
    if (code == PAWL_OK)
        code = pawl_store_saga_load(test->store, &model->table, PAWL_SAGA_BY_MAIN, &value, 1,
                                    PAWL_SAGA_UNLOCKED, test->arena, row, error);
    if (code == PAWL_OK && row->presence == PAWL_SAGA_MISSING)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no %s with %s '%s'",
                              model->saga->name, model->saga->correlation, key);
    return code;
}

pawl_code pawl_test_saga_row(pawl_test *test, const char *saga, const char *key, pawl_saga_row *row,
                             pawl_error *error)
{
    const pawl__saga_model *model = NULL;
    *row                          = (pawl_saga_row){.presence = PAWL_SAGA_MISSING};
    pawl_code code                = find_plain_saga(test, saga, &model, error);
    return code == PAWL_OK ? load_row(test, model, key, row, error) : code;
}

pawl_code pawl_test_saga(pawl_test *test, const char *saga, const char *key, pawl_record_fn *record,
                         void *state, int64_t *version, pawl_error *error)
{
    pawl_saga_row           row   = {.presence = PAWL_SAGA_MISSING};
    const pawl__saga_model *model = NULL;
    if (version != NULL)
        *version = 0;
    pawl_code code = check_target(record, state, error);
    if (code == PAWL_OK)
        code = find_plain_saga(test, saga, &model, error);
    if (code == PAWL_OK && strcmp(pawl_record_type(record()), pawl_record_type(model->state)) != 0)
        return pawl_error_set(error, PAWL_EINVAL, "state of saga %s is of record %s, not %s", saga,
                              pawl_record_type(model->state), pawl_record_type(record()));
    if (code == PAWL_OK)
        code = load_row(test, model, key, &row, error);
    if (code == PAWL_OK)
        code = pawl__state_read(model, record(), &row, test->arena, state, error);
    if (code == PAWL_OK && version != NULL)
        *version = row.version;
    return code;
}

pawl_code pawl_test_saga_count(pawl_test *test, const char *saga, int64_t *count, pawl_error *error)
{
    const pawl__saga_model *model = NULL;
    *count                        = 0;
    pawl_code code                = find_plain_saga(test, saga, &model, error);
    if (code != PAWL_OK)
        return code;
    return pawl_store_saga_count(test->store, &model->table, count, error);
}

/* ---- Processes and entities --------------------------------------------------------- */

static pawl_code look_at_stream(pawl_test *test, const pawl__saga_model *model, const char *key,
                                pawl__stream_seen *seen, pawl_error *error)
{
    pawl_code code =
        pawl__stream_look(test->store, model, pawl_text_of(key), test->arena, seen, error);
    if (code == PAWL_OK && seen->version == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no %s with key '%s'",
                              model->saga->name, key);
    return code;
}

pawl_code pawl_test_state(pawl_test *test, const char *name, const char *key,
                          pawl_record_fn *record, void *state, int64_t *version, pawl_error *error)
{
    const pawl__saga_model *model = NULL;
    pawl__stream_seen       seen  = {.version = 0};
    if (version != NULL)
        *version = 0;
    pawl_code code = check_target(record, state, error);
    if (code == PAWL_OK)
        code = find_saga(test, name, &model, error);
    if (code == PAWL_OK && model->stream == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "%s is a saga: read it with pawl_test_saga",
                              name);
    if (code == PAWL_OK && strcmp(pawl_record_type(record()), pawl_record_type(model->state)) != 0)
        return pawl_error_set(error, PAWL_EINVAL, "state of %s is of record %s, not %s", name,
                              pawl_record_type(model->state), pawl_record_type(record()));
    if (code == PAWL_OK)
        code = look_at_stream(test, model, key, &seen, error);
    if (code != PAWL_OK)
        return code;
    memcpy(state, seen.state, model->state->size);
    if (version != NULL)
        *version = seen.version;
    return PAWL_OK;
}

pawl_code pawl_test_events(pawl_test *test, const char *stream, pawl_event_rows *rows,
                           pawl_error *error)
{
    const pawl_event_query query = {.stream = pawl_text_of(stream)};
    *rows                        = (pawl_event_rows){.count = 0};
    return pawl_store_event_list(test->store, &query, test->arena, rows, error);
}

static pawl_code read_event(pawl_test *test, const pawl_event *from, const pawl_record *record,
                            void *event, pawl_error *error)
{
    void     *decoded;
    pawl_code code = pawl__event_decode(record, from, test->arena, &decoded, error);
    if (code == PAWL_OK)
        memcpy(event, decoded, record->size);
    return code;
}

pawl_code pawl_test_event(pawl_test *test, const char *stream, pawl_record_fn *record, size_t index,
                          void *event, pawl_error *error)
{
    pawl_event_rows rows;
    size_t          count = 0;
    pawl_code       code  = check_target(record, event, error);
    if (code == PAWL_OK)
        code = pawl_test_events(test, stream, &rows, error);
    if (code != PAWL_OK)
        return code;
    const char *type = pawl_record_type(record());
    for (size_t i = 0; i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].event.type, pawl_text_of(type)) && count++ == index)
            return read_event(test, &rows.items[i].event, record(), event, error);
    return pawl_error_set(error, PAWL_ENOTFOUND,
                          "stream '%s' holds %zu events of type %s, none at %zu",
                          stream != NULL ? stream : "", count, type, index);
}

/* ---- Messages --------------------------------------------------------------------- */

pawl_code pawl_test_sent(pawl_test *test, const char *queue, pawl_queue_rows *rows,
                         pawl_error *error)
{
    *rows = (pawl_queue_rows){.count = 0};
    return pawl_store_queue_list(test->store, pawl_text_of(queue), 0, test->arena, rows, error);
}

static bool is_of(const pawl_message *message, const pawl_record *record)
{
    return pawl_text_equal(message->type, pawl_text_of(pawl_record_type(record)));
}

pawl_code pawl_test_count(pawl_test *test, const char *queue, pawl_record_fn *record, size_t *count,
                          pawl_error *error)
{
    pawl_queue_rows rows;
    *count         = 0;
    pawl_code code = pawl_test_sent(test, queue, &rows, error);
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++)
        *count += record == NULL || is_of(&rows.items[i].message, record());
    return code;
}

pawl_code pawl_test_message(pawl_test *test, const char *queue, pawl_record_fn *record,
                            size_t index, void *message, pawl_error *error)
{
    pawl_queue_rows rows;
    size_t          count = 0;
    pawl_code       code  = check_target(record, message, error);
    if (code == PAWL_OK)
        code = pawl_test_sent(test, queue, &rows, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; i < rows.count; i++)
        if (is_of(&rows.items[i].message, record()) && count++ == index)
            return pawl_test_read(test, &rows.items[i].message, record, message, error);
    return pawl_error_set(error, PAWL_ENOTFOUND,
                          "queue '%s' holds %zu messages of type %s, none at %zu", queue, count,
                          pawl_record_type(record()), index);
}

pawl_code pawl_test_read(pawl_test *test, const pawl_message *from, pawl_record_fn *record,
                         void *message, pawl_error *error)
{
    pawl_code code = check_target(record, message, error);
    if (code != PAWL_OK)
        return code;
    if (!is_of(from, record()))
        return pawl_error_set(error, PAWL_EINVAL, "message %.*s is of type %.*s, not %s",
                              PAWL_TEXT_ARGS(from->id), PAWL_TEXT_ARGS(from->type),
                              pawl_record_type(record()));
    return pawl__version_decode(from, record(), test->arena, message, error);
}

/* ---- Everything else ---------------------------------------------------------------- */

pawl_code pawl_test_timeouts(pawl_test *test, const char *saga, const char *key,
                             pawl_timeout_rows *rows, pawl_error *error)
{
    const pawl__saga_model *model = NULL;
    pawl_saga_row           row   = {.presence = PAWL_SAGA_MISSING};
    pawl__stream_seen       seen  = {.version = 0};
    *rows                         = (pawl_timeout_rows){.next_due = PAWL_TIME_MAX};
    pawl_code code                = saga != NULL ? find_saga(test, saga, &model, error) : PAWL_OK;
    if (code == PAWL_OK && model != NULL && model->stream != NULL) {
        code   = look_at_stream(test, model, key, &seen, error);
        row.id = pawl__stream_id(endpoint_of(test, model), seen.name);
    } else if (code == PAWL_OK && model != NULL)
        code = load_row(test, model, key, &row, error);
    if (code != PAWL_OK)
        return code;
    return pawl_store_timeout_list(test->store, row.id, 0, test->arena, rows, error);
}

pawl_code pawl_test_aggregated(pawl_test *test, const char *partition, pawl_leased_batch *rows,
                               pawl_error *error)
{
    *rows = (pawl_leased_batch){.count = 0};
    return pawl_store_aggregator_get(test->store, pawl_text_of(partition), test->arena, rows,
                                     error);
}

pawl_code pawl_test_outbox(pawl_test *test, pawl_outbox_state state, pawl_outbox_rows *rows,
                           pawl_error *error)
{
    *rows = (pawl_outbox_rows){.next_attempt = PAWL_TIME_MAX};
    return pawl_store_outbox_list(test->store, state, 0, test->arena, rows, error);
}

pawl_code pawl_test_dead(pawl_test *test, const char *endpoint, pawl_dead_rows *rows,
                         pawl_error *error)
{
    *rows = (pawl_dead_rows){.count = 0};
    return pawl_store_dead_list(test->store, pawl_text_of(endpoint), 0, test->arena, rows, error);
}

pawl_code pawl_test_stats(pawl_test *test, pawl_stats *stats, pawl_error *error)
{
    return pawl_store_stats(test->store, pawl_test_now(test), test->arena, stats, error);
}

pawl_endpoint *pawl_test_endpoint(pawl_test *test, const char *name)
{
    if (name == NULL)
        return test->endpoint_count == 1 ? test->endpoints[0] : NULL;
    for (size_t i = 0; i < test->endpoint_count; i++)
        if (pawl_text_equal(test->endpoints[i]->model->endpoint, pawl_text_of(name)))
            return test->endpoints[i];
    return NULL;
}

pawl_store *pawl_test_store(pawl_test *test)
{
    return test->store;
}

const char *pawl_test_url(const pawl_test *test)
{
    return test->url;
}
