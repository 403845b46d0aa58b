/* load.c - reads for a batch: known message ids, streams with their snapshots, and the next due times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"

/* ---- The inbox ---------------------------------------------------------- */

#define RANGE_IDS_MIN 8   /* for fewer, a statement for each id is as fast */
#define RANGE_ROWS_MAX 32 /* if the range has more records, the ids are looked up instead */

typedef struct mark_range {
    pawl_text endpoint;
    pawl_text first;
    pawl_text last;
    int64_t   limit;
} mark_range;

typedef struct mark_key {
    pawl_text endpoint;
    pawl_text id;
} mark_key;

typedef struct mark_keys {
    pawl_text endpoint;
    pawl_text ids[PAWL__SQL_INBOX_IDS_MAX];
} mark_keys;

static const pawl__field range_fields[] = {
    PAWL__AS_OF(mark_range, endpoint, TEXT), PAWL__AS_OF(mark_range, first, TEXT),
    PAWL__AS_OF(mark_range, last, TEXT), PAWL__AS_OF(mark_range, limit, INT)};
static const pawl__field_list by_range      = PAWL__FIELD_ARRAY(range_fields);
static const pawl__field      peek_column[] = {PAWL__AS_ONE(PEEK)};
static const pawl__field_list one_peek      = PAWL__FIELD_ARRAY(peek_column);
static const pawl__field      key_fields[]  = {PAWL__AS_OF(mark_key, endpoint, TEXT),
                                               PAWL__AS_OF(mark_key, id, TEXT)};
#define ID(i)                                                                        \
    {                                                                                \
        offsetof(mark_keys, ids) + (i) * sizeof(pawl_text), NULL, PAWL__WIRE_TEXT, 0 \
    }
#define IDS(i) ID(i), ID((i) + 1), ID((i) + 2), ID((i) + 3)
static const pawl__field      keys_fields[] = {PAWL__AS_OF(mark_keys, endpoint, TEXT),
                                               IDS(0),
                                               IDS(4),
                                               IDS(8),
                                               IDS(12),
                                               IDS(16),
                                               IDS(20),
                                               IDS(24),
                                               IDS(28)};
static const pawl__field_list by_keys       = PAWL__FIELD_ARRAY(keys_fields);
static const pawl__sql_write  find_mark     = {
         .statement  = PAWL__SQL_INBOX_KNOWN,
         .parameters = PAWL__FIELD_ARRAY(key_fields),
};

static mark_range range_of(pawl_text endpoint, const pawl_text *ids, size_t count)
{
    mark_range range = {endpoint, ids[0], ids[0], RANGE_ROWS_MAX};
    for (size_t i = 1; i < count; i++) {
        if (pawl_text_compare(ids[i], range.first) < 0)
            range.first = ids[i];
        if (pawl_text_compare(ids[i], range.last) > 0)
            range.last = ids[i];
    }
    return range;
}

static void note_known(pawl_text id, const pawl_text *ids, size_t count, bool *known)
{
    for (size_t i = 0; i < count; i++)
        known[i] |= pawl_text_equal(ids[i], id);
}

/* Runs a statement that returns known ids; sets `known` for those of the batch. */
static pawl_code find_marks(pawl_store *store, const pawl__sql_asked *asked, const pawl_text *ids,
                            size_t count, bool *known, size_t *found, pawl_error *error)
{
    const pawl__sql_ops *ops     = pawl__sql_ops_of(store);
    pawl__sql_request   *request = NULL;
    pawl_code            code    = pawl__sql_run(store, asked, NULL, &request, error);
    for (*found = 0; code == PAWL_OK && ops->next(request); (*found)++) {
        pawl_text id;
        ops->get(request, &one_peek, &id);
        note_known(id, ids, count, known);
    }
    pawl_code ended = ops->end(request);
    return code != PAWL_OK ? code : ended;
}

/* The ids that pawl makes ascend, so usually no deduplication record lies between the first and the last id of a new
 * batch, and one statement shows that. With other ids, and with ids of several programs, there may be any number:
 * `*is_whole` is false if not all were read. */
static pawl_code find_in_range(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                               size_t count, bool *known, bool *is_whole, pawl_error *error)
{
    const mark_range      range = range_of(endpoint, ids, count);
    const pawl__sql_asked asked = {PAWL__SQL_INBOX_RANGE, &by_range, &range, &one_peek, 0};
    size_t                found = 0;
    pawl_code             code  = find_marks(store, &asked, ids, count, known, &found, error);
    *is_whole                   = found < RANGE_ROWS_MAX;
    return code;
}

/* The first id fills parameters of the statement that are left over. */
static pawl_code find_among(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                            size_t count, bool *known, pawl_error *error)
{
    mark_keys             keys  = {.endpoint = endpoint};
    const pawl__sql_asked asked = {PAWL__SQL_INBOX_AMONG, &by_keys, &keys, &one_peek, 0};
    size_t                found;
    for (size_t i = 0; i < PAWL__SQL_INBOX_IDS_MAX; i++)
        keys.ids[i] = ids[i < count ? i : 0];
    return find_marks(store, &asked, ids, count, known, &found, error);
}

static pawl_code find_few(pawl_store *store, pawl_text endpoint, const pawl_text *ids, size_t count,
                          bool *known, pawl_error *error)
{
    mark_key keys[RANGE_IDS_MIN] = {
        {.endpoint = endpoint}}; /* the compiler does not know that count > 0 */
    pawl__sql_result results[RANGE_IDS_MIN];
    for (size_t i = 0; i < count; i++)
        keys[i] = (mark_key){endpoint, ids[i]};
    pawl_code code =
        pawl__sql_write_rows(store, &find_mark, keys, sizeof *keys, count, results, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        known[i] |= results[i] == PAWL__SQL_APPLIED;
    return code;
}

static pawl_code find_each(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                           size_t count, bool *known, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0, some; code == PAWL_OK && i < count; i += some) {
        some = count - i < PAWL__SQL_INBOX_IDS_MAX ? count - i : PAWL__SQL_INBOX_IDS_MAX;
        code = (some < RANGE_IDS_MIN ? find_few : find_among)(store, endpoint, ids + i, some,
                                                              known + i, error);
    }
    return code;
}

/* The ends of the range are found here, by bytes: the database must order texts by their bytes, too. */
static bool has_byte_order(const pawl_store *store)
{
    const pawl__sql_dialect *dialect = ((const pawl__sql_store *)store)->dialect;
    return dialect == NULL || !dialect->own_order;
}

pawl_code pawl__sql_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                size_t count, bool *known, pawl_error *error)
{
    bool      is_whole = false;
    pawl_code code     = pawl__sql_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    if (count >= RANGE_IDS_MIN && has_byte_order(store))
        code = find_in_range(store, endpoint, ids, count, known, &is_whole, error);
    if (code == PAWL_OK && !is_whole)
        code = find_each(store, endpoint, ids, count, known, error);
    return pawl__sql_read_end(store, code, error);
}

/* ---- Streams ------------------------------------------------------------ */

typedef struct stream_by {
    pawl_text stream;
    int64_t   snapshot_version_max;
    int64_t   after;
} stream_by;

static const pawl__field      fold_fields[]   = {PAWL__AS_OF(stream_by, stream, TEXT),
                                                 PAWL__AS_OF(stream_by, snapshot_version_max, INT),
                                                 PAWL__AS_OF(stream_by, after, INT)};
static const pawl__field_list by_fold         = PAWL__FIELD_ARRAY(fold_fields);
static const pawl__field      behind_fields[] = {PAWL__AS_OF(stream_by, stream, TEXT),
                                                 PAWL__AS_OF(stream_by, after, INT)};
static const pawl__field_list by_behind       = PAWL__FIELD_ARRAY(behind_fields);
static const pawl__field      fold_columns[]  = {
          PAWL__AS(stream_snapshot_row, version, INT), PAWL__AS(stream_snapshot_row, type_version, INT32),
          PAWL__AS(stream_snapshot_row, state, TEXT), PAWL__AS(stream_snapshot_row, dispatches, TEXT),
          PAWL__AS(stream_snapshot_row, at, TIME)};
static const pawl__field_list stream_snapshot_row = PAWL__FIELD_ARRAY(fold_columns);

static pawl_code read_last(pawl_store *store, const stream_by *by, int64_t *version,
                           pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_EVENT_LAST, &pawl__one_text, &by->stream,
                                   &pawl__one_int, 0};
    return pawl__sql_read_first(store, &asked, NULL, version, error);
}

static pawl_code read_behind(pawl_store *store, const stream_by *by, pawl_arena *arena,
                             pawl_stream *loaded, pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_EVENT_BEHIND, &by_behind, by, &pawl__event_row_fields,
                                   sizeof *loaded->events};
    pawl_found            found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    loaded->events             = found.items;
    loaded->count              = found.count;
    if (loaded->count != 0)
        loaded->version = loaded->events[loaded->count - 1].version;
    return code;
}

/* If the caller has read a part of the stream (`after`), usually nothing was appended since: one index look-up shows
 * that. */
static pawl_code load_stream(pawl_store *store, const pawl_stream_read *read, pawl_arena *arena,
                             pawl_stream *loaded, pawl_error *error)
{
    stream_by             by       = {read->stream, read->snapshot_version_max, read->after};
    const pawl__sql_asked snapshot = {PAWL__SQL_FOLD_GET, &by_fold, &by, &stream_snapshot_row, 0};
    pawl_code             code     = PAWL_OK;
    if (read->after > 0) {
        code = read_last(store, &by, &loaded->version, error);
        if (code != PAWL_OK || loaded->version <= read->after)
            return code;
    }
    if (read->snapshot_version_max > 0)
        code = pawl__sql_read_first(store, &snapshot, arena, &loaded->snapshot, error);
    if (loaded->snapshot.version != 0)
        by.after = loaded->snapshot.version;
    if (code == PAWL_OK)
        code = read_behind(store, &by, arena, loaded, error);
    if (code == PAWL_OK && loaded->count == 0 && loaded->snapshot.version != 0)
        code = read_last(store, &by, &loaded->version, error);
    /* Without a common snapshot an event may have been appended between the statements. */
    if (code == PAWL_OK && loaded->count == 0 && loaded->version > by.after)
        code = read_behind(store, &by, arena, loaded, error);
    return code;
}

pawl_code pawl__sql_stream_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    pawl_code code = pawl__sql_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = load_stream(store, &reads[i], arena, &streams[i], error);
    return pawl__sql_read_end(store, code, error);
}

/* ---- Next due times ----------------------------------------------------- */

static pawl_code first_of(pawl_store *store, int statement, pawl_text name, pawl_time *first,
                          pawl_error *error)
{
    const pawl__sql_asked asked = {statement, &pawl__one_text, &name, &pawl__one_time, 0};
    pawl_time             found = PAWL_TIME_MAX;
    pawl_code             code  = pawl__sql_read_first(store, &asked, NULL, &found, error);
    if (found < *first)
        *first = found;
    return code;
}

pawl_code pawl__sql_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                             size_t aggregator_count, pawl_next_due *next, pawl_error *error)
{
    pawl_code code = pawl__sql_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = first_of(store, PAWL__SQL_QUEUE_FIRST, queue, &next->queue, error);
    if (code == PAWL_OK)
        code = first_of(store, PAWL__SQL_TIMEOUT_FIRST, queue, &next->timeout, error);
    for (size_t i = 0; code == PAWL_OK && i < aggregator_count; i++)
        code = first_of(store, PAWL__SQL_FLUSH_FIRST, aggregators[i], &next->flush, error);
    return pawl__sql_read_end(store, code, error);
}
