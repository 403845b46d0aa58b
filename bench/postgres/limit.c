/* limit.c - opening a loop, its statements, and what goes over the wire.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "limit_postgres.h"

#include "pawl/store_driver.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE_MAX 32
#define ARRAY_HEAD_SIZE 20 /* dimensions, nulls, type, count, first index */

/* ---- Failures -------------------------------------------------------------- */

static void set_failed(pg_loop *l, const char *text)
{
    if (l->code == PAWL_OK)
        l->code = pawl_error_set(l->error, PAWL_EPERSIST, "the loop: postgres: %.*s",
                                 (int)strcspn(text, "\n"), text);
}

void pawl__pg_failed(pg_loop *l)
{
    set_failed(l, PQerrorMessage(l->db));
}

/* ---- Opening and closing --------------------------------------------------- */

static const char *name_of(size_t statement, char name[NAME_SIZE_MAX])
{
    (void)snprintf(name, NAME_SIZE_MAX, "pawl_loop_%zu", statement);
    return name;
}

static void set_session(pg_loop *l, const char *url)
{
    const char *schema = pawl__bench_postgres_schema(url);
    if (l->code == PAWL_OK &&
        !PQsendQueryParams(l->db,
                           "select set_config('search_path', $1, false), "
                           "set_config('enable_seqscan', 'off', false), "
                           "set_config('enable_hashjoin', 'off', false), "
                           "set_config('enable_mergejoin', 'off', false), "
                           "set_config('enable_incremental_sort', 'off', false)",
                           1, NULL, &schema, NULL, NULL, 0))
        pawl__pg_failed(l);
    pawl__pg_sync(l);
    pawl__pg_expect(l, -1, "settings");
    pawl__pg_synced(l);
}

static void prepare(pg_loop *l, const char *const *texts, size_t count)
{
    char name[NAME_SIZE_MAX];
    for (size_t i = 0; l->code == PAWL_OK && i < count; i++)
        if (!PQsendPrepare(l->db, name_of(i, name), texts[i], 0, NULL))
            pawl__pg_failed(l);
    pawl__pg_sync(l);
    for (size_t i = 0; i < count; i++)
        pawl__pg_expect(l, -1, texts[i]);
    pawl__pg_synced(l);
}

void pawl__pg_open(pg_loop *l, pawl_store *store, const char *url, const char *const *texts,
                   size_t count, pawl_error *error)
{
    *l      = (pg_loop){.store = store, .db = pawl_store_native(store, "PGconn"), .error = error};
    l->code = pawl_store_worker_open(store, PAWL_TEXT(PAWL__BENCH_QUEUE), PAWL_TEXT("[]"),
                                     pawl_clock_now(NULL), error);
    l->was_pipelined = PQpipelineStatus(l->db) != PQ_PIPELINE_OFF;
    if (l->code == PAWL_OK && PQsetnonblocking(l->db, 0) != 0)
        pawl__pg_failed(l);
    if (l->code == PAWL_OK && !l->was_pipelined && !PQenterPipelineMode(l->db))
        pawl__pg_failed(l);
    set_session(l, url);
    prepare(l, texts, count);
}

/* Reads on until the server has answered everything. */
static void drain(pg_loop *l)
{
    if (l->syncs == 0 && PQpipelineSync(l->db))
        l->syncs = 1;
    while (l->syncs > 0 && PQstatus(l->db) == CONNECTION_OK) {
        PGresult *result = PQgetResult(l->db);
        if (PQresultStatus(result) == PGRES_PIPELINE_SYNC)
            l->syncs--;
        PQclear(result);
    }
}

void pawl__pg_close(pg_loop *l)
{
    if (l->db == NULL || PQstatus(l->db) != CONNECTION_OK)
        return;
    drain(l);
    if (PQtransactionStatus(l->db) != PQTRANS_IDLE &&
        PQsendQueryParams(l->db, "rollback", 0, NULL, NULL, NULL, NULL, 0))
        drain(l);
    if (!l->was_pipelined)
        (void)PQexitPipelineMode(l->db);
}

/* ---- Arrays ---------------------------------------------------------------- */

static void reserve(pg_loop *l, pg_array *array, size_t size)
{
    if (l->code != PAWL_OK || array->capacity - array->size >= size)
        return;
    size_t capacity = (array->size + size) * 2;
    char  *data     = pawl_resize(array->data, capacity);
    if (data == NULL) {
        l->code = pawl_error_set(l->error, PAWL_ENOMEM, "no memory for a batch");
        return;
    }
    array->data     = data;
    array->capacity = capacity;
}

static void put_number(pg_array *array, size_t at, uint32_t value)
{
    uint32_t wire = htobe32(value);
    memcpy(array->data + at, &wire, sizeof wire);
}

void pawl__pg_array_begin(pg_loop *l, pg_array *array, uint32_t type)
{
    array->size = array->count = 0;
    reserve(l, array, ARRAY_HEAD_SIZE);
    if (l->code != PAWL_OK)
        return;
    array->size = ARRAY_HEAD_SIZE;
    put_number(array, 0, 1);
    put_number(array, 4, 0);
    put_number(array, 8, type);
    put_number(array, 12, 0);
    put_number(array, 16, 1);
}

void pawl__pg_array_add(pg_loop *l, pg_array *array, const void *data, size_t size)
{
    reserve(l, array, 4 + size);
    if (l->code != PAWL_OK)
        return;
    put_number(array, array->size, (uint32_t)size);
    memcpy(array->data + array->size + 4, data, size);
    array->size += 4 + size;
    put_number(array, 12, (uint32_t)++array->count);
}

/* The server's own form of JSON goes over the wire as a text behind its version. */
void pawl__pg_array_add_json(pg_loop *l, pg_array *array, const char *json, size_t size)
{
    pawl__pg_array_add(l, array, "\1", 1);
    reserve(l, array, size);
    if (l->code != PAWL_OK)
        return;
    put_number(array, array->size - 5, (uint32_t)size + 1);
    memcpy(array->data + array->size, json, size);
    array->size += size;
}

void pawl__pg_array_free(pg_array *array)
{
    pawl_free(array->data);
    *array = (pg_array){.data = NULL};
}

static const char *find(pg_loop *l, const char *json, size_t size, const char *key)
{
    const char *found = pawl__loop_find(json, size, key);
    if (found == NULL && l->code == PAWL_OK)
        l->code = pawl_error_set(l->error, PAWL_EBUG, "the loop found no %s in %.*s", key,
                                 (int)size, json);
    return found;
}

int64_t pawl__pg_number(pg_loop *l, const char *json, size_t size, const char *key)
{
    const char *found = find(l, json, size, key);
    return found != NULL ? strtoll(found, NULL, 10) : 0;
}

void pawl__pg_text(pg_loop *l, const char *json, size_t size, const char *key, char *copy,
                   size_t copy_size)
{
    const char *found = find(l, json, size, key);
    if (found != NULL && found + copy_size <= json + size)
        memcpy(copy, found, copy_size);
}

/* ---- Statements ------------------------------------------------------------ */

void pawl__pg_send(pg_loop *l, const pg_call *call)
{
    char             name[NAME_SIZE_MAX];
    const char      *values[PG_PARAMETERS_MAX];
    static const int binary[PG_PARAMETERS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < call->count; i++)
        values[i] = call->values[i] != NULL ? call->values[i] : (const char *)&call->numbers[i];
    if (l->code == PAWL_OK && (!PQsendQueryPrepared(l->db, name_of(call->statement, name),
                                                    call->count, values, call->sizes, binary, 1) ||
                               PQflush(l->db) != 0))
        pawl__pg_failed(l);
}

void pawl__pg_send_fence(pg_loop *l, size_t statement, pawl_time now, int64_t messages)
{
    pg_call  call      = pg_begin(statement);
    uint64_t commit[2] = {htobe64(1), htobe64(++l->commits)};
    pg_put_bytes(&call, commit, sizeof commit);
    pg_put_time(&call, now);
    pg_put_int(&call, messages);
    pg_put_bytes(&call, &l->store->worker.uuid, 16);
    pg_put_int(&call, l->store->epoch);
    pawl__pg_send(l, &call);
}

void pawl__pg_sync(pg_loop *l)
{
    if (l->code == PAWL_OK && !PQpipelineSync(l->db))
        pawl__pg_failed(l);
    else if (l->code == PAWL_OK)
        l->syncs++;
}

PGresult *pawl__pg_take(pg_loop *l)
{
    if (l->code != PAWL_OK)
        return NULL;
    PGresult      *result = PQgetResult(l->db);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
        PGresult *end = PQgetResult(l->db); /* NULL, behind each statement's result */
        assert(end == NULL);
        PQclear(end);
        return result;
    }
    set_failed(l, result != NULL ? PQresultErrorMessage(result) : PQerrorMessage(l->db));
    PQclear(result);
    return NULL;
}

void pawl__pg_expect(pg_loop *l, int64_t rows, const char *what)
{
    PGresult *result = pawl__pg_take(l);
    if (result != NULL && rows >= 0 && strtoll(PQcmdTuples(result), NULL, 10) != rows)
        l->code = pawl_error_set(l->error, PAWL_EBUG, "the loop: %s: %s rows, should be %lld", what,
                                 PQcmdTuples(result), (long long)rows);
    PQclear(result);
}

void pawl__pg_synced(pg_loop *l)
{
    if (l->code != PAWL_OK)
        return;
    PGresult *result = PQgetResult(l->db);
    if (PQresultStatus(result) == PGRES_PIPELINE_SYNC)
        l->syncs--;
    else
        pawl__pg_failed(l);
    PQclear(result);
}
