/* limit.c - opening a loop, its statements, and its commits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "limit_sqlite.h"

#include "pawl/store_driver.h"

#include <stdlib.h>

void pawl__loop_failed(loop *l)
{
    if (l->code == PAWL_OK)
        l->code =
            pawl_error_set(l->error, PAWL_EPERSIST, "the loop: sqlite: %s", sqlite3_errmsg(l->db));
}

static void prepare(loop *l, const char *text, sqlite3_stmt **statement)
{
    if (l->code == PAWL_OK && sqlite3_prepare_v3(l->db, text, -1, SQLITE_PREPARE_PERSISTENT,
                                                 statement, NULL) != SQLITE_OK)
        pawl__loop_failed(l);
}

void pawl__loop_open(loop *l, pawl_store *store, const char *const *texts, size_t count,
                     const char *fence, pawl_error *error)
{
    *l      = (loop){.store = store, .db = pawl_store_native(store, "sqlite3"), .error = error};
    l->code = pawl_store_worker_open(store, PAWL_TEXT(PAWL__BENCH_QUEUE), PAWL_TEXT("[]"),
                                     pawl_clock_now(NULL), error);
    pawl_uuid_format(pawl_store_worker(store).uuid, l->worker);
    prepare(l, "begin immediate", &l->begin);
    prepare(l, "commit", &l->commit);
    prepare(l, fence, &l->fence);
    for (size_t i = 0; i < count; i++)
        prepare(l, texts[i], &l->statements[i]);
}

void pawl__loop_close(loop *l)
{
    for (size_t i = 0; i < LOOP_STATEMENTS_MAX; i++)
        (void)sqlite3_finalize(l->statements[i]);
    (void)sqlite3_finalize(l->begin);
    (void)sqlite3_finalize(l->commit);
    (void)sqlite3_finalize(l->fence);
    if (l->db != NULL && !sqlite3_get_autocommit(l->db))
        (void)sqlite3_exec(l->db, "rollback", NULL, NULL, NULL);
    memset(l->statements, 0, sizeof l->statements);
}

void pawl__loop_begin(loop *l)
{
    (void)loop_next(l, l->begin);
}

void pawl__loop_commit(loop *l, pawl_time now, int64_t messages)
{
    char id[PAWL_UUID_TEXT_SIZE];
    pawl__loop_uuid(id, 1, ++l->commits);
    loop_text(l->fence, 1, id, sizeof id);
    loop_int(l->fence, 2, now);
    loop_int(l->fence, 3, messages);
    loop_text(l->fence, 4, l->worker, PAWL_UUID_TEXT_SIZE);
    loop_int(l->fence, 5, l->store->epoch);
    loop_change(l, l->fence);
    (void)loop_next(l, l->commit);
}

static const char *find(loop *l, const char *json, size_t size, const char *key)
{
    const char *found = pawl__loop_find(json, size, key);
    if (found == NULL && l->code == PAWL_OK)
        l->code = pawl_error_set(l->error, PAWL_EBUG, "the loop found no %s in %.*s", key,
                                 (int)size, json);
    return found;
}

int64_t pawl__loop_number(loop *l, const char *json, size_t size, const char *key)
{
    const char *found = find(l, json, size, key);
    return found != NULL ? strtoll(found, NULL, 10) : 0;
}

void pawl__loop_take(loop *l, const char *json, size_t size, const char *key, char *copy,
                     size_t copy_size)
{
    const char *found = find(l, json, size, key);
    if (found != NULL && found + copy_size <= json + size)
        memcpy(copy, found, copy_size);
}
