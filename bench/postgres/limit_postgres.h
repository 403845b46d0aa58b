/* limit_postgres.h - the hand-written loops on PostgreSQL: prepared statements in pipeline mode,
 * binary parameters, arrays of them.
 *
 *     pawl__pg_open -> { pg_begin, pg_put_..., pawl__pg_send } for each statement
 *     -> pawl__pg_sync -> pawl__pg_take or pawl__pg_expect, once for each, in
 *     the same order -> pawl__pg_synced -> ... -> pawl__pg_close
 *
 * A loop runs on the connection that the driver opened, so that no setting of
 * the two sides can differ. The first failure is kept in `code`, and nothing is
 * done after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_LIMIT_POSTGRES_H
#define PAWL_BENCH_LIMIT_POSTGRES_H

#include "limit.h"

#include <endian.h>
#include <libpq-fe.h>
#include <string.h>

#define PG_PARAMETERS_MAX 8

/* The shared tables, and the saga's. */
#define TABLE(name) "\"" PAWL__BENCH_PREFIX name "\""
#define SAGA_TABLE "\"" PAWL__BENCH_SAGA_PREFIX PAWL__BENCH_SAGA "\""

/* clang-format off */
#define PG_FENCE                                                                       \
    "update " TABLE("workers") " set \"LastCommit\" = $1, \"Seen\" = $2, "             \
    "\"Messages\" = \"Messages\" + $3::int8 where \"Id\" = $4 and \"Epoch\" = $5::int8"
#define PG_SAGA_UPDATE                                                                 \
    "update " SAGA_TABLE " as saga set \"Concurrency\" = \"Concurrency\" + 1, "        \
    "\"Data\" = row.data from unnest($1::uuid[], $2::int8[], $3::jsonb[]) "            \
    "as row(id, version, data) "                                                       \
    "where saga.\"Id\" = row.id and saga.\"Concurrency\" = row.version"
/* clang-format on */

/* The types of elements, as pg_type.dat numbers them. */
#define PG_BYTEA 17
#define PG_INT8 20
#define PG_TEXT 25
#define PG_TIME 1184 /* timestamptz */
#define PG_UUID 2950
#define PG_JSONB 3802

typedef struct pg_loop {
    pawl_store *store;
    PGconn     *db; /* borrowed from the store */
    uint64_t    commits;
    size_t      syncs; /* under way */
    bool        was_pipelined;
    pawl_code   code;
    pawl_error *error;
} pg_loop;

/* Takes the store of that URL over and prepares the statements. Tables are empty or small
 * while they are planned, and grow: plans that read on past what is wanted are ruled out. */
void pawl__pg_open(pg_loop *l, pawl_store *store, const char *url, const char *const *texts,
                   size_t count, pawl_error *error);
/* Ends what is under way; an open transaction is rolled back. */
void pawl__pg_close(pg_loop *l);
void pawl__pg_failed(pg_loop *l);

/* ---- Values of the wire ---------------------------------------------------- */

/* An array parameter that is built element by element, and built again. */
typedef struct pg_array {
    char  *data;
    size_t size;
    size_t capacity;
    size_t count;
} pg_array;

void pawl__pg_array_begin(pg_loop *l, pg_array *array, uint32_t type);
void pawl__pg_array_add(pg_loop *l, pg_array *array, const void *data, size_t size);
void pawl__pg_array_add_json(pg_loop *l, pg_array *array, const char *json, size_t size);
void pawl__pg_array_free(pg_array *array);

static inline void pg_array_add_int(pg_loop *l, pg_array *array, int64_t value)
{
    uint64_t wire = htobe64((uint64_t)value);
    pawl__pg_array_add(l, array, &wire, sizeof wire);
}

static inline void pg_array_add_uuid(pg_loop *l, pg_array *array, uint64_t high, uint64_t low)
{
    uint64_t wire[2] = {htobe64(high), htobe64(low)};
    pawl__pg_array_add(l, array, wire, sizeof wire);
}

static inline uint64_t pg_read_int(const char *wire)
{
    uint64_t value;
    memcpy(&value, wire, sizeof value);
    return be64toh(value);
}

/* The value behind the text `key` in the JSON; it has to be there. */
int64_t pawl__pg_number(pg_loop *l, const char *json, size_t size, const char *key);
void    pawl__pg_text(pg_loop *l, const char *json, size_t size, const char *key, char *copy,
                      size_t copy_size);

/* ---- Statements ------------------------------------------------------------ */

/* A statement with its parameters. Arrays and bytes are borrowed until it is sent. */
typedef struct pg_call {
    size_t      statement;
    int         count;
    const char *values[PG_PARAMETERS_MAX]; /* NULL: in `numbers` */
    int         sizes[PG_PARAMETERS_MAX];
    uint64_t    numbers[PG_PARAMETERS_MAX];
} pg_call;

static inline pg_call pg_begin(size_t statement)
{
    return (pg_call){.statement = statement};
}

static inline void pg_put_int(pg_call *call, int64_t value)
{
    call->numbers[call->count] = htobe64((uint64_t)value);
    call->sizes[call->count++] = sizeof(uint64_t);
}

/* Microseconds since 2000 on the wire. */
static inline void pg_put_time(pg_call *call, pawl_time time)
{
    pg_put_int(call, time - INT64_C(946684800000000));
}

static inline void pg_put_bytes(pg_call *call, const void *data, size_t size)
{
    call->values[call->count]  = data;
    call->sizes[call->count++] = (int)size;
}

static inline void pg_put_array(pg_call *call, const pg_array *array)
{
    pg_put_bytes(call, array->data, array->size);
}

/* The server begins at once; its answer comes no later than that to the next sync. */
void pawl__pg_send(pg_loop *l, const pg_call *call);
void pawl__pg_send_fence(pg_loop *l, size_t statement, pawl_time now, int64_t messages);
void pawl__pg_sync(pg_loop *l);
/* The caller clears it; NULL after a failure. */
PGresult *pawl__pg_take(pg_loop *l);
/* A statement that changes so many rows, and has to; -1: any number. */
void pawl__pg_expect(pg_loop *l, int64_t rows, const char *what);
void pawl__pg_synced(pg_loop *l);

/* ---- The parts of the module ------------------------------------------------ */

/* The schema of one of its fixtures, which the URL ends with. */
const char *pawl__bench_postgres_schema(const char *url);

/* The loops: one file each. */
pawl__bench_timed_fn pawl__bench_postgres_append;
pawl__bench_timed_fn pawl__bench_postgres_latency;
pawl__bench_timed_fn pawl__bench_postgres_saga_step;
pawl__bench_timed_fn pawl__bench_postgres_outbox_drain;
pawl__bench_timed_fn pawl__bench_postgres_timeouts;

/* snapshot.c: the kind's two operations. */
pawl_code pawl__bench_postgres_hold(const char *url, pawl__bench_snapshot **leased,
                                    pawl_error *error);
pawl_code pawl__bench_postgres_release(pawl__bench_snapshot *leased, pawl_error *error);

#endif
