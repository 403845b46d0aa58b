/* alone.c - the stamps of a timeout that runs alone after a death.
 *
 * A timeout's row has no room for them: they are the body of the last event of a stream of its own, in
 * the form of a message's history. Deaths are as many as the list has entries, a stamp included: the
 * death of its worker is counted ahead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/stamp.h"
#include "pawl/store_calls.h"
#include "record/record_internal.h"
#include "runtime/runtime.h"

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "no memory for the stamp of a timeout");
}

/* Set anew it is another timeout. data NULL: no memory. */
static pawl_text stream_of(pawl__worker *worker, const pawl_timeout_row *row)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(row->id.uuid, id);
    return pawl_arena_printf(worker->read, PAWL_ALONE_STREAMS "/%s/%lld", id,
                             (long long)row->generation);
}

static int32_t count_deaths(pawl_arena *arena, pawl_text history)
{
    yyjson_doc *doc = NULL;
    if (history.size == 0 || pawl__json_read(history, arena, &doc, NULL) != PAWL_OK)
        return 0;
    return (int32_t)yyjson_arr_size(yyjson_doc_get_root(doc));
}

/* A store without events counts no deaths of timeouts. */
pawl_code pawl__alone_read(pawl__worker *worker, pawl__alone *alone, pawl_error *error)
{
    char                   id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_event_rows        rows  = {.count = 0};
    const pawl_event_query query = {
        .stream = stream_of(worker, alone->timeout), .is_backward = true, .count_max = 1};
    pawl_uuid_format(alone->timeout->id.uuid, id);
    alone->stream  = query.stream;
    alone->version = 0;
    alone->row = (pawl_queue_row){.message = {.id = pawl_arena_text(worker->read, pawl_text_of(id)),
                                              .type = alone->timeout->name},
                                  .history = PAWL_TEXT("")};
    if (alone->stream.data == NULL || alone->row.message.id.data == NULL)
        return no_memory(error);
    pawl_code code = pawl_store_event_list(worker->store, &query, worker->read, &rows, error);
    if (code == PAWL_EUNSUPPORTED) {
        alone->stream.size = 0;
        return PAWL_OK;
    }
    if (code != PAWL_OK || rows.count == 0)
        return code;
    alone->version     = rows.items[0].version;
    alone->row.history = rows.items[0].event.body;
    alone->row.deaths  = count_deaths(worker->read, alone->row.history);
    return PAWL_OK;
}

pawl_code pawl__alone_write(pawl__worker *worker, pawl__alone *alone, pawl_text history,
                            pawl_error *error)
{
    pawl_event_append append  = {.stream   = alone->stream,
                                 .version  = alone->version + 1,
                                 .is_first = true,
                                 .event    = {.type         = PAWL_TEXT(PAWL_ALONE_STAMPED),
                                              .type_version = 1,
                                              .message_id   = alone->row.message.id,
                                              .headers      = PAWL_TEXT("{}"),
                                              .body = history.size > 0 ? history : PAWL_TEXT("[]"),
                                              .at   = worker->engine.machine_now}};
    pawl_changes      changes = {.group_count  = 1,
                                 .unit_count   = 1,
                                 .now          = worker->engine.machine_now,
                                 .event_append = {&append, 1}};
    if (alone->stream.size == 0)
        return PAWL_OK;
    pawl_code code = pawl_store_commit(worker->store, &changes, NULL, error);
    alone->version += code == PAWL_OK;
    return code;
}
