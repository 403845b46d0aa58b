/* rows.c - columns of rows that are read with the life of their worker. See rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/rows.h"

#include <stdlib.h>

#define LIFE(of, member, as) PAWL__AS_OF(pawl__sql_##of, member, as)

const pawl__field_list pawl__sql_worker_row = PAWL__FIELDS(
    LIFE(worker, info.id, UUID), LIFE(worker, info.endpoint, TEXT), LIFE(worker, info.types, TEXT),
    LIFE(worker, info.epoch, INT), LIFE(worker, info.pid, INT), LIFE(worker, info.seen, TIME),
    LIFE(worker, life.process, INT), LIFE(worker, life.seen, TIME),
    LIFE(worker, info.counters.messages, INT), LIFE(worker, info.counters.timeouts, INT),
    LIFE(worker, info.counters.flushes, INT), LIFE(worker, info.counters.failures, INT),
    LIFE(worker, info.counters.conflicts, INT), LIFE(worker, info.counters.dead, INT),
    LIFE(worker, info.host, TEXT), LIFE(worker, info.program, TEXT),
    LIFE(worker, info.program_version, TEXT), LIFE(worker, info.pawl_version, TEXT),
    LIFE(worker, info.started, TIME));

const pawl__field_list pawl__sql_lead_row =
    PAWL__FIELDS(LIFE(found_lead, row.name, TEXT), LIFE(found_lead, row.worker, UUID),
                 LIFE(found_lead, row.expires, TIME), LIFE(found_lead, life.process, INT),
                 LIFE(found_lead, life.seen, TIME));

const pawl__field_list pawl__sql_life_row =
    PAWL__FIELDS(LIFE(life, process, INT), LIFE(life, seen, TIME));

static int by_place(const void *left, const void *right)
{
    const pawl_queue_row *l     = left;
    const pawl_queue_row *r     = right;
    int                   order = (l->due > r->due) - (l->due < r->due);
    return order != 0 ? order : (l->seq > r->seq) - (l->seq < r->seq);
}

void pawl__sql_sort_rows(pawl_queue_rows *rows)
{
    if (rows->count > 1)
        qsort(rows->items, rows->count, sizeof *rows->items, by_place);
}
