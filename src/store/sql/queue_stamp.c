/* queue_stamp.c - claims of queue rows as leases in the database, for clusters with several writable nodes, where a
 * row lock excludes only sessions of the same node.
 *
 * A claim is the lease "claim:SEQ" of a worker. It is committed before the handlers run, which succeeds for only one
 * worker, and deleted by the commit that settles the row. Leases of a worker that ends or is found dead are deleted
 * with its row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"
#include "store/sql/operations.h"

#include <inttypes.h>
#include <stdio.h>

#define STAMPS_MAX 64 /* leases that go to the driver at once */

typedef struct stamp {
    char      data[30];
    pawl_text name;
    pawl_uuid worker;
} stamp;

static const pawl__field stamp_fields[] = {PAWL__AS_OF(stamp, name, TEXT),
                                           PAWL__AS_OF(stamp, worker, UUID)};
/* If the lease exists, it may be this worker's, from an earlier claim whose outcome the worker does not know. */
static const pawl__sql_write keep = {
    .statement  = PAWL__SQL_QUEUE_STAMP_KEEP,
    .parameters = PAWL__FIELD_ARRAY(stamp_fields),
};
static const pawl__sql_write make = {
    .statement  = PAWL__SQL_QUEUE_STAMP,
    .parameters = PAWL__FIELD_ARRAY(stamp_fields),
    .then       = {[PAWL__SQL_DUPLICATE] = {.next = &keep}},
};
static const pawl__sql_write end = {
    .statement  = PAWL__SQL_LEASE_DELETE,
    .parameters = PAWL__FIELD_ARRAY(stamp_fields),
};

static void name(stamp *it, const pawl_store *store, int64_t seq)
{
    int size   = snprintf(it->data, sizeof it->data, "claim:%" PRId64, seq);
    it->name   = (pawl_text){.data = it->data, .size = (size_t)size};
    it->worker = store->worker.uuid;
}

/* Writes the leases of some rows, and keeps the rows whose lease this worker has. */
static pawl_code stamp_some(pawl_store *store, const pawl_queue_row *rows, size_t count,
                            pawl_queue_row *kept, size_t *kept_count, pawl_error *error)
{
    stamp stamps[STAMPS_MAX] = {{.worker = store->worker.uuid}}; /* for the compiler: see load.c */
    pawl__sql_result results[STAMPS_MAX];
    for (size_t i = 0; i < count; i++)
        name(&stamps[i], store, rows[i].seq);
    pawl_code code =
        pawl__sql_write_rows(store, &make, stamps, sizeof *stamps, count, results, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        if (results[i] == PAWL__SQL_DUPLICATE)
            code = pawl__sql_write_own(store, &keep, &stamps[i], &results[i], error);
        if (code == PAWL_OK && results[i] == PAWL__SQL_APPLIED)
            kept[(*kept_count)++] = rows[i];
    }
    return code;
}

pawl_code pawl__sql_queue_stamp(pawl_store *store, pawl_queue_rows *rows, pawl_error *error)
{
    size_t    kept = 0;
    pawl_code code = PAWL_OK;
    for (size_t i = 0, some; code == PAWL_OK && i < rows->count; i += some) {
        some = rows->count - i < STAMPS_MAX ? rows->count - i : STAMPS_MAX;
        code = stamp_some(store, rows->items + i, some, rows->items, &kept, error);
    }
    rows->count = kept;
    return code;
}

pawl_code pawl__sql_queue_unstamp(pawl_store *store, const pawl_queue_settle *settle,
                                  pawl_error *why)
{
    stamp            it;
    pawl__sql_result result = PAWL__SQL_APPLIED;
    name(&it, store, settle->seq);
    pawl_code code = pawl__sql_write_own(store, &end, &it, &result, why);
    return code == PAWL_OK && result == PAWL__SQL_MISSED
               ? pawl__why_gone_row(settle, "another worker took it over", why)
               : code;
}
