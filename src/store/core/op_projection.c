/* op_projection.c - progress of projections, the event at which one fails, and rebuilding.
 *
 * Three tables have rows of projections; a name may be in any of them:
 *
 *     checkpoints   "projection/NAME"        the position that it has reached
 *     leases        "projection/NAME"        the worker that runs it
 *     folds         "pawl.projection/NAME"   the failed event, current if the checkpoint is before it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "base/calm.h"
#include "pawl/store_calls.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_ROWS 100
#define STATE_VERSION 1  /* of the record in the fold */
#define REBUILD_TRIES 50 /* commits, each of which a running worker may refuse */

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "out of memory for projections");
}

/* ---- The failure as a fold ---------------------------------------------- */

static bool put_all(yyjson_mut_doc *doc, pawl_text name, const pawl_projection_failure *failure,
                    pawl_text text)
{
    return pawl__texts_put(doc, "name", name) &&
           pawl__texts_put_number(doc, "position", failure->position) &&
           pawl__texts_put(doc, "stream", failure->stream) &&
           pawl__texts_put_number(doc, "version", failure->version) &&
           pawl__texts_put(doc, "type", failure->type) &&
           pawl__texts_put_number(doc, "since", failure->since) &&
           pawl__texts_put_number(doc, "at", failure->at) &&
           pawl__texts_put_number(doc, "next", failure->next) &&
           pawl__texts_put_number(doc, "attempts", failure->attempts) &&
           pawl__texts_put(doc, "code", failure->code) && pawl__texts_put(doc, "error", text) &&
           pawl__texts_put(doc, "endpoint", failure->endpoint);
}

static pawl_text make_state(pawl_text name, const pawl_projection_failure *failure,
                            pawl_arena *arena)
{
    pawl_text text = pawl_arena_text(arena, failure->error);
    if (text.data == NULL)
        return text;
    pawl__make_utf8((char *)(uintptr_t)text.data, text.size);
    yyjson_mut_doc *doc = pawl__texts_begin();
    return pawl__texts_done(doc, doc != NULL && put_all(doc, name, failure, text), arena);
}

static int64_t number_of(yyjson_val *object, const char *key)
{
    return yyjson_get_sint(yyjson_obj_get(object, key));
}

/* A state in another format leaves the results empty; that is no error. */
static void read_state(pawl_text state, pawl_arena *arena, pawl_text *name,
                       pawl_projection_failure *failure)
{
    yyjson_doc *doc  = pawl__texts_read(state);
    yyjson_val *root = yyjson_doc_get_root(doc);
    *name            = pawl__texts_text(root, "name", arena);
    *failure         = (pawl_projection_failure){.position = number_of(root, "position"),
                                                 .stream   = pawl__texts_text(root, "stream", arena),
                                                 .version  = number_of(root, "version"),
                                                 .type     = pawl__texts_text(root, "type", arena),
                                                 .since    = number_of(root, "since"),
                                                 .at       = number_of(root, "at"),
                                                 .next     = number_of(root, "next"),
                                                 .attempts = number_of(root, "attempts"),
                                                 .code     = pawl__texts_text(root, "code", arena),
                                                 .error    = pawl__texts_text(root, "error", arena),
                                                 .endpoint = pawl__texts_text(root, "endpoint", arena)};
    yyjson_doc_free(doc);
}

/* ---- Leaving one -------------------------------------------------------- */

/* Reads the fold; `*stream` is its name. */
static pawl_code read_fold(pawl_store *store, pawl_text name, pawl_arena *arena, pawl_text *stream,
                           pawl_stream_snapshot_row *snapshot, pawl_error *error)
{
    pawl_stream_read read = {.stream = pawl__action_stream(PAWL_PROJECTION_STREAMS, name, arena),
                             .after  = 0,
                             .snapshot_version_max = STATE_VERSION};
    pawl_stream      seen = {.version = 0};
    if (read.stream.data == NULL)
        return no_memory(error);
    pawl_code code = pawl_store_stream_read(store, &read, arena, &seen, error);
    *stream        = read.stream;
    *snapshot      = seen.snapshot;
    return code;
}

static pawl_code save_failure(pawl_store *store, pawl_text name,
                              const pawl_projection_failure *failure, pawl_time now,
                              pawl_arena *arena, pawl_error *error)
{
    pawl_stream_snapshot_row last = {0};
    pawl_projection_failure  before, made = *failure;
    pawl_text                before_name, stream;
    pawl_code                code = read_fold(store, name, arena, &stream, &last, error);
    if (code != PAWL_OK)
        return code;
    read_state(last.state, arena, &before_name, &before);
    made.since                        = before.position == made.position ? before.since : now;
    made.at                           = now;
    pawl_stream_snapshot_row snapshot = {.version      = last.version + 1,
                                         .type_version = STATE_VERSION,
                                         .state        = make_state(name, &made, arena),
                                         .dispatches   = PAWL_TEXT("[]")};
    return snapshot.state.data != NULL
               ? pawl_store_stream_snapshot_save(store, stream, &snapshot, now, error)
               : no_memory(error);
}

pawl_code pawl_store_projection_fail(pawl_store *store, pawl_text name,
                                     const pawl_projection_failure *failure, pawl_time now,
                                     pawl_error *error)
{
    if (name.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "projection: the name is empty");
    if (failure->position <= 0)
        return pawl_error_set(
            error, PAWL_EINVAL,
            "projection '%.*s': the event that failed has global position %lld, the "
            "first one is 1",
            PAWL_TEXT_ARGS(name), (long long)failure->position);
    pawl_arena *arena = pawl_arena_create(0);
    pawl_code   code =
        arena != NULL ? save_failure(store, name, failure, now, arena, error) : no_memory(error);
    pawl_arena_destroy(arena);
    return code;
}

/* ---- Listing ------------------------------------------------------------ */

typedef struct row_list {
    pawl_store          *store;
    pawl_time            now;
    pawl_arena          *arena;
    pawl_projection_row *items;
    size_t               count, capacity;
} row_list;

/* The row of that name, made when there is none; NULL: out of memory. */
static pawl_projection_row *row_of(row_list *it, pawl_text name)
{
    pawl_projection_row *found =
        PAWL__ROW_OF(pawl_projection_row, name, it->items, it->count, name);
    if (found != NULL)
        return found;
    pawl_projection_row *grown =
        pawl_arena_grow(it->arena, it->items, it->count, &it->capacity, sizeof *grown);
    if (grown == NULL)
        return NULL;
    it->items        = grown;
    grown[it->count] = (pawl_projection_row){.name = name};
    return &grown[it->count++];
}

/* Takes the prefix away; false where the text does not begin so. */
static bool cut_prefix(pawl_text *text, const char *prefix)
{
    *text = pawl__text_behind(*text, prefix);
    return text->size > 0;
}

typedef bool take_fn(row_list *it, const pawl_scan_row *scanned, pawl_text name);

static bool take_position(row_list *it, const pawl_scan_row *scanned, pawl_text name)
{
    pawl_projection_row *row = row_of(it, name);
    if (row != NULL)
        row->position = scanned->number > 0 ? scanned->number : 0;
    return row != NULL;
}

/* Called after the checkpoints were read: a failure at or before its checkpoint is over. */
static bool take_failure(row_list *it, const pawl_scan_row *scanned, pawl_text cut)
{
    pawl_projection_failure failure;
    pawl_text               name;
    (void)cut;
    read_state(scanned->message.body, it->arena, &name, &failure);
    if (failure.position == 0 || name.size == 0)
        return true;
    pawl_projection_row *row = row_of(it, name);
    if (row != NULL && failure.position > row->position)
        row->failure = failure;
    return row != NULL;
}

/* Reads the rows whose names begin with the prefix; they are adjacent in name order. */
static pawl_code take_scan(row_list *it, pawl_scan_kind kind, const char *prefix, take_fn *take,
                           pawl_error *error)
{
    pawl_scan_row  after = {.belongs_to = pawl_text_of(prefix)};
    pawl_scan      scan  = {.kind = kind, .after = &after, .count_max = PAGE_ROWS};
    pawl_scan_rows rows;
    do {
        pawl_code code = pawl_store_scan(it->store, &scan, it->arena, &rows, error);
        if (code != PAWL_OK)
            return code;
        for (size_t i = 0; i < rows.count; i++) {
            pawl_text name = rows.items[i].belongs_to;
            if (!cut_prefix(&name, prefix))
                return PAWL_OK;
            if (!take(it, &rows.items[i], name))
                return no_memory(error);
            after.belongs_to = rows.items[i].belongs_to;
        }
    } while (rows.count == PAGE_ROWS);
    return PAWL_OK;
}

/* A store without a list of leases leaves the workers unknown. */
static pawl_code take_workers(row_list *it, pawl_error *error)
{
    pawl_lead_row *leads = NULL;
    size_t         count = 0;
    pawl_code code = pawl_store_lead_list(it->store, it->now, it->arena, &leads, &count, error);
    if (code == PAWL_EUNSUPPORTED)
        return PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl_text name = leads[i].name;
        if (!cut_prefix(&name, PAWL_PROJECTION_SOURCES))
            continue;
        pawl_projection_row *row = row_of(it, name);
        if (row == NULL)
            return no_memory(error);
        row->worker = leads[i].worker;
    }
    return code;
}

static int by_name(const void *left, const void *right)
{
    const pawl_projection_row *a = left, *b = right;
    return pawl_text_compare(a->name, b->name);
}

/* Reads the newest event last, so that no checkpoint read before can be greater. */
static pawl_code take_lags(row_list *it, pawl_error *error)
{
    const pawl_event_query query  = {.is_by_position = true, .is_backward = true, .count_max = 1};
    pawl_event_rows        newest = {.count = 0};
    pawl_code code = pawl_store_event_list(it->store, &query, it->arena, &newest, error);
    int64_t   last = code == PAWL_OK && newest.count > 0 ? newest.items[0].position : 0;
    for (size_t i = 0; i < it->count; i++) {
        it->items[i].last = last;
        it->items[i].lag  = last > it->items[i].position ? last - it->items[i].position : 0;
    }
    return code;
}

pawl_code pawl_store_projection_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                                     pawl_projection_rows *rows, pawl_error *error)
{
    row_list it = {.store = store, .now = now, .arena = arena};
    *rows       = (pawl_projection_rows){.count = 0};
    pawl_code code =
        take_scan(&it, PAWL_SCAN_CHECKPOINTS, PAWL_PROJECTION_SOURCES, take_position, error);
    if (code == PAWL_OK)
        code = take_scan(&it, PAWL_SCAN_STREAM_SNAPSHOTS, PAWL_PROJECTION_STREAMS "/", take_failure,
                         error);
    if (code == PAWL_OK)
        code = take_workers(&it, error);
    if (code == PAWL_OK)
        code = take_lags(&it, error);
    if (code != PAWL_OK)
        return code;
    if (it.count > 0)
        qsort(it.items, it.count, sizeof *it.items, by_name);
    *rows = (pawl_projection_rows){.items = it.items, .count = it.count};
    return PAWL_OK;
}

static pawl_code refuse_name(const pawl_projection_rows *rows, pawl_text name, pawl_error *error)
{
    char   names[PAWL_ERROR_TEXT_SIZE_MAX / 2] = "";
    size_t size                                = 0;
    for (size_t i = 0; i < rows->count && size < sizeof names; i++)
        size += (size_t)snprintf(names + size, sizeof names - size, "%s%.*s", i > 0 ? ", " : "",
                                 PAWL_TEXT_ARGS(rows->items[i].name));
    return pawl_error_set(error, PAWL_ENOTFOUND, "there is no projection '%.*s'; %s%s",
                          PAWL_TEXT_ARGS(name), rows->count > 0 ? "there are: " : "none ran here",
                          names);
}

pawl_code pawl_store_projection_find(pawl_store *store, pawl_text name, pawl_time now,
                                     pawl_arena *arena, pawl_projection_row *row, pawl_error *error)
{
    pawl_projection_rows rows;
    *row                            = (pawl_projection_row){.position = 0};
    pawl_code                  code = pawl_store_projection_list(store, now, arena, &rows, error);
    const pawl_projection_row *found =
        PAWL__ROW_OF(pawl_projection_row, name, rows.items, rows.count, name);
    if (found != NULL)
        *row = *found;
    return code == PAWL_OK && found == NULL ? refuse_name(&rows, name, error) : code;
}

/* ---- Actions ------------------------------------------------------------ */

/* Replaces the stored failure by this one in the change set; writes nothing if none is
 * stored. */
static pawl_code replace_failure(pawl__act *it, const pawl_projection_failure *failure,
                                 pawl_stream_snapshot_set *made, pawl_error *error)
{
    pawl_stream_snapshot_row last = {0};
    pawl_text                stream;
    pawl_code code = read_fold(it->store, it->action.name, it->arena, &stream, &last, error);
    if (code != PAWL_OK || last.version == 0)
        return code;
    *made = (pawl_stream_snapshot_set){.stream       = stream,
                                       .version      = last.version + 1,
                                       .type_version = STATE_VERSION,
                                       .state = make_state(it->action.name, failure, it->arena),
                                       .dispatches = PAWL_TEXT("[]"),
                                       .at         = it->now};
    if (made->state.data == NULL)
        return no_memory(error);
    it->changes.stream_snapshot_set.items = made;
    it->changes.stream_snapshot_set.count = 1;
    return PAWL_OK;
}

static yyjson_mut_doc *headers_of(const char *first, int64_t first_value, const char *second,
                                  int64_t second_value)
{
    yyjson_mut_doc *doc = pawl__texts_begin();
    return pawl__texts_kept(doc, doc != NULL && pawl__texts_put_number(doc, first, first_value) &&
                                     pawl__texts_put_number(doc, second, second_value));
}

static pawl_code restart(pawl__act *it, pawl_error *error)
{
    pawl_text                name = it->action.name;
    pawl_stream_snapshot_set made;
    pawl_projection_row      row;
    pawl_code code = pawl_store_projection_find(it->store, name, it->now, it->arena, &row, error);
    if (code == PAWL_OK && row.failure.position == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND,
                              "nothing blocks projection %.*s: it is at global position %lld",
                              PAWL_TEXT_ARGS(name), (long long)row.position);
    row.failure.next = it->now;
    if (code == PAWL_OK)
        code = replace_failure(it, &row.failure, &made, error);
    if (code == PAWL_OK)
        code = pawl__act_commit(
            it,
            headers_of("event_position", row.failure.position, "attempts", row.failure.attempts),
            error);
    return code;
}

pawl_code pawl_store_projection_restart(pawl_store *store, pawl_text name, pawl_text by,
                                        pawl_text reason, pawl_time now, pawl_error *error)
{
    const pawl__action action = {PAWL_PROJECTION_ACTIONS,   "projection", name,
                                 PAWL_PROJECTION_RESTARTED, by,           reason};
    pawl__act          it;
    pawl_code          code = pawl__act_begin(&it, store, &action, now, error);
    if (code == PAWL_OK)
        code = restart(&it, error);
    pawl_arena_destroy(it.arena);
    return code;
}

/* A worker that reads writes rows, too, while an operator clears them. */
static pawl_code check_rebuild(const pawl_projection_rebuild *rebuild,
                               const pawl_projection_row *row, int64_t reached, pawl_error *error)
{
    char worker[PAWL_UUID_TEXT_SIZE + 1];
    if (reached > row->position || rebuild->from < 0)
        return pawl_error_set(
            error, PAWL_EINVAL,
            "projection %.*s has read up to global position %lld, so it cannot go back "
            "to %lld",
            PAWL_TEXT_ARGS(rebuild->name), (long long)row->position, (long long)rebuild->from);
    if (rebuild->while_read || pawl_uuid_is_zero(row->worker.uuid))
        return PAWL_OK;
    pawl_uuid_format(row->worker.uuid, worker);
    return pawl_error_set(error, PAWL_ECONFLICT,
                          "worker %s reads for projection %.*s: stop the programs that run it, "
                          "clear what it wrote, and rebuild it then",
                          worker, PAWL_TEXT_ARGS(rebuild->name));
}

/* Reads the stored checkpoint: position 0 in a row differs from a missing row. */
static pawl_code go_back(pawl__act *it, int64_t reached, pawl_checkpoint_set *back,
                         pawl_error *error)
{
    *back =
        (pawl_checkpoint_set){.name = pawl_arena_printf(it->arena, PAWL_PROJECTION_SOURCES "%.*s",
                                                        PAWL_TEXT_ARGS(it->action.name)),
                              .to   = reached > 0 ? reached : PAWL_CHECKPOINT_START,
                              .at   = it->now,
                              .is_back = true};
    if (back->name.data == NULL)
        return no_memory(error);
    pawl_code code = pawl_store_checkpoint_get(it->store, back->name, &back->from, error);
    if (code != PAWL_OK || back->from <= reached)
        return code;
    it->changes.checkpoint_set.items = back;
    it->changes.checkpoint_set.count = 1;
    return PAWL_OK;
}

/* "No failure" is stored as a failure at position 0. The checkpoint is read last, since a running worker moves it all
 * the time. `*back`: the checkpoint that the commit expects. */
static pawl_code rebuild_to(pawl__act *it, const pawl_projection_rebuild *rebuild,
                            pawl_checkpoint_set *back, int64_t *count, pawl_error *error)
{
    const pawl_projection_failure none    = {.position = 0};
    int64_t                       reached = rebuild->from > 0 ? rebuild->from - 1 : 0;
    pawl_stream_snapshot_set      made;
    pawl_projection_row           row;
    *back = (pawl_checkpoint_set){.from = INT64_MAX};
    pawl_code code =
        pawl_store_projection_find(it->store, rebuild->name, it->now, it->arena, &row, error);
    if (code == PAWL_OK)
        code = check_rebuild(rebuild, &row, reached, error);
    if (code == PAWL_OK)
        code = replace_failure(it, &none, &made, error);
    if (code == PAWL_OK)
        code = go_back(it, reached, back, error);
    if (code == PAWL_OK)
        code =
            pawl__act_commit(it, headers_of("position", row.position, "from", reached + 1), error);
    if (code == PAWL_OK && count != NULL)
        *count = row.position - reached;
    return code;
}

/* Did a worker move the checkpoint forward since? (Another operator's rebuild would have set it back.) */
static bool has_moved_forward(const pawl__act *it, const pawl_checkpoint_set *back)
{
    int64_t position = 0;
    return pawl_store_checkpoint_get(it->store, back->name, &position, NULL) == PAWL_OK &&
           position > back->from;
}

static pawl_code rebuild_while_read(pawl__act *it, const pawl_projection_rebuild *rebuild,
                                    int64_t *count, pawl_error *error)
{
    pawl_checkpoint_set back;
    pawl_code           code = rebuild_to(it, rebuild, &back, count, error);
    for (int tries = 1; code == PAWL_ECONFLICT && rebuild->while_read && tries < REBUILD_TRIES &&
                        back.from < INT64_MAX && has_moved_forward(it, &back);
         tries++)
        code = rebuild_to(it, rebuild, &back, count, error);
    return code;
}

pawl_code pawl_store_projection_rebuild(pawl_store *store, const pawl_projection_rebuild *rebuild,
                                        pawl_time now, int64_t *count, pawl_error *error)
{
    const pawl__action action = {PAWL_PROJECTION_ACTIONS, "projection", rebuild->name,
                                 PAWL_PROJECTION_REBUILT, rebuild->by,  rebuild->reason};
    pawl__act          it;
    if (count != NULL)
        *count = 0;
    pawl_code code = pawl__act_begin(&it, store, &action, now, error);
    if (code == PAWL_OK)
        code = rebuild_while_read(&it, rebuild, count, error);
    pawl_arena_destroy(it.arena);
    return code;
}

pawl_code pawl_store_projection_actions(pawl_store *store, pawl_text name, pawl_arena *arena,
                                        pawl_event_rows *rows, pawl_error *error)
{
    return pawl__action_list(store, PAWL_PROJECTION_ACTIONS, name, arena, rows, error);
}

pawl_code pawl_store_projection_action_count(pawl_store *store, pawl_text name, int64_t *count,
                                             pawl_error *error)
{
    pawl_arena      *arena  = pawl_arena_create(0);
    pawl_stream_read read   = {.after = INT64_MAX};
    pawl_stream      stream = {.version = 0};
    pawl_code        code   = PAWL_OK;
    *count                  = 0;
    if (arena != NULL)
        read.stream = pawl__action_stream(PAWL_PROJECTION_ACTIONS, name, arena);
    code = read.stream.data != NULL ? pawl_store_stream_load(store, &read, 1, arena, &stream, error)
                                    : no_memory(error);
    if (code == PAWL_OK)
        *count = stream.version;
    pawl_arena_destroy(arena);
    return code;
}

/* ---- Positions of times ------------------------------------------------- */

/* The first event behind the position; position 0: there is none. */
static pawl_code event_behind(pawl_store *store, int64_t after, bool is_last, pawl_arena *arena,
                              pawl_event_row *event, pawl_error *error)
{
    const pawl_event_query query = {
        .is_by_position = true, .after = after, .is_backward = is_last, .count_max = 1};
    pawl_event_rows rows = {.count = 0};
    *event               = (pawl_event_row){.position = 0};
    pawl_code code       = pawl_store_event_list(store, &query, arena, &rows, error);
    if (code == PAWL_OK && rows.count > 0)
        *event = rows.items[0];
    return code;
}

/* Binary search: events up to `before` are earlier than the time; that at `found` is not, or is the newest. */
static pawl_code search_by_time(pawl_store *store, pawl_time time, pawl_arena *arena,
                                int64_t *position, pawl_error *error)
{
    pawl_event_row event;
    int64_t        before = 0;
    pawl_code      code   = event_behind(store, 0, true, arena, &event, error);
    int64_t        found  = event.position;
    bool           is_any = found > 0 && event.event.at >= time;
    while (code == PAWL_OK && is_any && found - before > 1) {
        int64_t middle = before + (found - before) / 2;
        pawl_arena_reset(arena);
        code = event_behind(store, middle - 1, false, arena, &event, error);
        if (event.event.at >= time)
            found = middle;
        else
            before = middle;
    }
    *position = code == PAWL_OK && is_any ? found : 0;
    return code;
}

pawl_code pawl_store_global_position_at(pawl_store *store, pawl_time time, int64_t *position,
                                        pawl_error *error)
{
    pawl_arena *arena = pawl_arena_create(0);
    *position         = 0;
    pawl_code code =
        arena != NULL ? search_by_time(store, time, arena, position, error) : no_memory(error);
    pawl_arena_destroy(arena);
    return code;
}
