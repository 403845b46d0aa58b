/* scan.c - reads all rows of a kind, page by page; a page begins after the last key of the one before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/operations.h"
#include "store/sql/saga_text.h"
#include "store/sql/write.h"

/* Begins as a pawl__saga_change. */
typedef struct behind {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_scan_row          row;
    int64_t                limit;
    pawl_text              partition, aggregator; /* filters */
    bool                   is_dead;
} behind;

#define BEHIND(member, as) PAWL__AS_OF(behind, row.member, as)
#define LIMIT PAWL__AS_OF(behind, limit, INT)
#define ROW(member, as) PAWL__AS(scan_row, member, as)

static const pawl__field by_id[]        = {BEHIND(id, UUID), LIMIT};
static const pawl__field by_number[]    = {BEHIND(number, INT), LIMIT};
static const pawl__field by_name[]      = {BEHIND(belongs_to, TEXT), LIMIT};
static const pawl__field by_partition[] = {
    BEHIND(belongs_to, TEXT), PAWL__AS_OF(behind, partition, TEXT),
    PAWL__AS_OF(behind, aggregator, TEXT), PAWL__AS_OF(behind, is_dead, FLAG), LIMIT};
static const pawl__field by_letter[] = {BEHIND(belongs_to, TEXT), BEHIND(message.id, TEXT), LIMIT};

static const pawl__field saga_row[]    = {ROW(id, UUID), ROW(persistence_version, TEXT),
                                          ROW(type_version, TEXT), ROW(message.body, JSON)};
static const pawl__field numbered[]    = {ROW(number, INT), ROW(belongs_to, TEXT),
                                          PAWL__AS_MESSAGE(scan_row)};
static const pawl__field timeout_row[] = {ROW(id, UUID), ROW(belongs_to, TEXT), ROW(name, TEXT),
                                          ROW(message.type, TEXT), ROW(saga_id, UUID)};
static const pawl__field stream_snapshot_row[] = {ROW(belongs_to, TEXT), ROW(version, INT32),
                                                  ROW(message.body, TEXT)};
static const pawl__field checkpoint[]          = {ROW(belongs_to, TEXT), ROW(number, INT)};
static const pawl__field partition[] = {ROW(belongs_to, TEXT), ROW(name, TEXT),    ROW(due, TIME),
                                        ROW(attempts, INT32),  ROW(is_dead, FLAG), ROW(error, TEXT),
                                        ROW(count, INT),       ROW(oldest, TIME)};
static const pawl__field letter[]    = {ROW(belongs_to, TEXT), ROW(name, TEXT), ROW(code, TEXT),
                                        PAWL__AS_MESSAGE(scan_row)};

typedef struct kind_row {
    int              statement;
    pawl__field_list parameters;
    pawl__field_list columns;
} kind_row;

#define KIND(statement, parameters, columns)                                             \
    {                                                                                    \
        PAWL__SQL_##statement, PAWL__FIELD_ARRAY(parameters), PAWL__FIELD_ARRAY(columns) \
    }

static const kind_row kinds[PAWL_SCAN_KINDS] = {
    [PAWL_SCAN_SAGAS]            = KIND(ON_SAGA + PAWL__SQL_SAGA_SCAN, by_id, saga_row),
    [PAWL_SCAN_QUEUE]            = KIND(QUEUE_SCAN, by_number, numbered),
    [PAWL_SCAN_TIMEOUTS]         = KIND(TIMEOUT_SCAN, by_id, timeout_row),
    [PAWL_SCAN_STREAM_SNAPSHOTS] = KIND(FOLD_SCAN, by_name, stream_snapshot_row),
    [PAWL_SCAN_AGGREGATORS]      = KIND(AGGREGATOR_SCAN, by_number, numbered),
    [PAWL_SCAN_DEAD]             = KIND(DEAD_SCAN, by_letter, letter),
    [PAWL_SCAN_CHECKPOINTS]      = KIND(CHECKPOINT_SCAN, by_name, checkpoint),
    [PAWL_SCAN_PARTITIONS]       = KIND(PARTITION_SCAN, by_partition, partition),
};

/* Fills the page with dead letters of the endpoints after that of `by`. */
static pawl_code add_next(pawl_store *store, behind *by, pawl_arena *arena, pawl_found *found,
                          pawl_error *error)
{
    static const pawl__field      by_endpoint[] = {BEHIND(belongs_to, TEXT), LIMIT};
    static const pawl__field_list parameters    = PAWL__FIELD_ARRAY(by_endpoint);
    pawl__sql_each                next = {.asked    = {PAWL__SQL_DEAD_SCAN_NEXT, &parameters, by,
                                                       &kinds[PAWL_SCAN_DEAD].columns, sizeof(pawl_scan_row)},
                                          .capacity = found->count};
    by->limit -= (int64_t)found->count;
    return by->limit > 0 ? pawl__sql_read_more(store, &next, arena, found, error) : PAWL_OK;
}

pawl_code pawl__sql_scan(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                         pawl_scan_rows *rows, pawl_error *error)
{
    const kind_row       *kind  = &kinds[scan->kind];
    behind                by    = {.table      = scan->table,
                                   .limit      = pawl__sql_limit(scan->count_max),
                                   .partition  = scan->partition,
                                   .aggregator = scan->aggregator,
                                   .is_dead    = scan->is_dead};
    const pawl__sql_asked asked = {kind->statement, &kind->parameters, &by, &kind->columns,
                                   sizeof *rows->items};
    pawl_found            found;
    if (scan->after != NULL)
        by.row = *scan->after;
    pawl_code code = pawl__sql_read(store, &asked, arena, &found, error);
    if (code == PAWL_OK && scan->kind == PAWL_SCAN_DEAD)
        code = add_next(store, &by, arena, &found, error);
    *rows = (pawl_scan_rows){.items = found.items, .count = found.count};
    return code;
}
