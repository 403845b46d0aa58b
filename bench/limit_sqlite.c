/* limit_sqlite.c - opening a loop, its statements, and its commits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#ifdef PAWL_HAVE_SQLITE

#include "limit_sqlite.h"

#include <stdio.h>
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
    *l      = (loop){.store = store, .db = store->ops->native(store), .error = error};
    l->code = store->ops->worker_open(store, PAWL_TEXT(PAWL__BENCH_QUEUE), PAWL_TEXT("[]"),
                                      pawl_clock_now(NULL), error);
    store->is_attached = l->code == PAWL_OK;
    pawl_uuid_format(store->worker.uuid, l->worker);
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

void pawl__loop_uuid(char *text, uint64_t high, uint64_t low)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        int at   = i + (i >= 8) + (i >= 12);
        text[at] = digits[(high >> (60 - 4 * i)) & 15];
    }
    for (int i = 0; i < 16; i++) {
        int at   = 19 + i + (i >= 4);
        text[at] = digits[(low >> (60 - 4 * i)) & 15];
    }
    text[8] = text[13] = text[18] = text[23] = '-';
}

static const char *find(loop *l, const char *json, size_t size, const char *key)
{
    size_t      key_size = strlen(key);
    const char *found    = memmem(json, size, key, key_size);
    if (found != NULL)
        return found + key_size;
    if (l->code == PAWL_OK)
        l->code = pawl_error_set(l->error, PAWL_EBUG, "the loop found no %s in %.*s", key,
                                 (int)size, json);
    return NULL;
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

size_t pawl__loop_body(char       body[LOOP_BODY_SIZE_MAX],
                       const char order_id[PAWL__BENCH_ORDER_ID_SIZE], int64_t steps, int64_t cents,
                       const char at[PAWL_TIME_TEXT_SIZE])
{
    int size =
        snprintf(body, LOOP_BODY_SIZE_MAX,
                 "{\"order_id\":\"%.*s\",\"steps\":%lld,\"cents\":%lld,"
                 "\"customer\":\"" PAWL__BENCH_CUSTOMER "\",\"product\":\"" PAWL__BENCH_PRODUCT
                 "\",\"at\":\"%.*s\",\"note\":\"" PAWL__BENCH_NOTE "\"}",
                 PAWL__BENCH_ORDER_ID_SIZE, order_id, (long long)steps, (long long)cents,
                 PAWL_TIME_TEXT_SIZE, at);
    return (size_t)size;
}

#endif
