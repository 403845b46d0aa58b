/* locks.c - row locks before a store that has none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/locks.h"

#include "support/world.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LOCKS_MAX 1000

typedef struct row_lock {
    const pawl_store *owner;
    char              table[200];
    pawl_saga_id      id;
} row_lock;

static const pawl_store_ops *inner;
static pawl_store_ops        outer;
static char                  inner_url[1100];

static pthread_mutex_t   mutex = PTHREAD_MUTEX_INITIALIZER; /* of everything below */
static row_lock          locks[LOCKS_MAX];
static size_t            lock_count;
static char              held[200]; /* by the stranger */
static locks_counts      counts;
static const pawl_store *ignored;
static world_log         loads, loads_shown;
static pawl_saga_lock    taken_as;
static bool              loses;

static pawl_code open_inner(pawl_store *store, const char *url, const pawl_store_options *options,
                            pawl_error *error)
{
    (void)url;
    return inner->open(store, inner_url, options, error);
}

/* ---- Locks ------------------------------------------------------------------ */

static bool is_held(const pawl_saga_row *row)
{
    return held[0] != '\0' && row->main.type == PAWL_VALUE_TEXT &&
           pawl_text_equal(row->main.as.text, pawl_text_of(held));
}

/* Takes the lock, or says whose it is. */
static bool take(const pawl_store *store, const pawl_saga_table *table, const pawl_saga_row *row)
{
    char name[sizeof locks[0].table];
    snprintf(name, sizeof name, "%.*s", PAWL_TEXT_ARGS(table->name));
    if (is_held(row))
        return false;
    for (size_t i = 0; i < lock_count; i++)
        if (strcmp(locks[i].table, name) == 0 &&
            pawl_uuid_compare(locks[i].id.uuid, row->id.uuid) == 0)
            return locks[i].owner == store;
    assert_true(lock_count < LOCKS_MAX);
    row_lock *made = &locks[lock_count++];
    *made          = (row_lock){.owner = store, .id = row->id};
    memcpy(made->table, name, sizeof name);
    return true;
}

static void drop_all(const pawl_store *store)
{
    size_t kept = 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < lock_count; i++)
        if (locks[i].owner != store)
            locks[kept++] = locks[i];
    lock_count = kept;
    pthread_mutex_unlock(&mutex);
}

/* ---- Calls ------------------------------------------------------------------ */

static void note_load(const pawl_saga_table *table, pawl_saga_key key, pawl_saga_lock lock,
                      size_t count)
{
    static const char *const keys[]  = {"id", "main", "transitional"};
    static const char *const modes[] = {"none", "wait", "skip"};
    if (loads.size + 200 > sizeof loads.text)
        world_forget(&loads); /* a long run, which looks at counts alone */
    world_note(&loads, "%.*s:%s:%s(%zu)", PAWL_TEXT_ARGS(table->type), keys[key], modes[lock],
               count);
}

/* The lock is taken before the row that counts is read, as in a database. */
static pawl_code load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                      const pawl_value *values, size_t count, pawl_saga_lock lock,
                      pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    pthread_mutex_lock(&mutex);
    if (lock == PAWL_SAGA_SKIP_LOCKED)
        lock = taken_as;
    if (store != ignored)
        note_load(table, key, lock, count);
    pawl_code code = inner->saga_load(store, table, key, values, count, lock, arena, rows, error);
    bool     *is_elsewhere = pawl_arena_take(arena, (count + 1) * sizeof *is_elsewhere);
    for (size_t i = 0; i < count && code == PAWL_OK && lock == PAWL_SAGA_SKIP_LOCKED; i++)
        is_elsewhere[i] = rows[i].version != 0 && !take(store, table, &rows[i]);
    if (code == PAWL_OK && lock == PAWL_SAGA_SKIP_LOCKED)
        code = inner->saga_load(store, table, key, values, count, lock, arena, rows, error);
    for (size_t i = 0; i < count && code == PAWL_OK && lock == PAWL_SAGA_SKIP_LOCKED; i++)
        if (is_elsewhere[i]) {
            rows[i] = (pawl_saga_row){.version = PAWL_SAGA_ELSEWHERE};
            counts.elsewhere++;
        }
    pthread_mutex_unlock(&mutex);
    return code;
}

static bool is_release(const pawl_changes *changes)
{
    static const pawl_counters none;
    size_t                     others = 0;
#define COUNT(name, is_refusable) others += changes->name.count;
    PAWL_CHANGE_KINDS(COUNT)
#undef COUNT
    for (size_t i = 0; i < changes->queue_settle.count; i++)
        if (changes->queue_settle.items[i].action == PAWL_QUEUE_RELEASE)
            others--;
    return others == 0 && changes->queue_settle.count > 0 &&
           memcmp(&changes->counters, &none, sizeof none) == 0;
}

static void lose_first(pawl_store *store, const pawl_changes *changes)
{
    pawl_error        error = PAWL_ERROR_INIT;
    pawl_changes      set   = {.group_count = 1, .unit_count = 1, .now = changes->now};
    pawl_queue_settle first = changes->queue_settle.items[0];
    first.action            = PAWL_QUEUE_RELEASE;
    first.group = first.unit = 0;
    set.queue_settle.items   = &first;
    set.queue_settle.count   = 1;
    loses                    = false;
    world_ok(pawl_store_commit(store, &set, NULL, &error), &error);
}

static pawl_code commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error)
{
    if (loses && changes->queue_settle.count > 1)
        lose_first(store, changes);
    pawl_code code = inner->commit(store, changes, refused, error);
    drop_all(store);
    pthread_mutex_lock(&mutex);
    if (is_release(changes))
        counts.releases++;
    else
        counts.commits++;
    pthread_mutex_unlock(&mutex);
    return code;
}

static pawl_code end_worker(pawl_store *store, pawl_time now, pawl_error *error)
{
    drop_all(store);
    return inner->worker_close(store, now, error);
}

/* ---- For tests -------------------------------------------------------------- */

const char *locks_url(const char *url)
{
    static bool is_registered;
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *store = NULL;
    world_ok(pawl_store_open(url, NULL, &store, &error), &error);
    inner = store->ops;
    pawl_store_close(store);
    outer              = *inner;
    outer.scheme       = "locks";
    outer.promises     = inner->promises | PAWL_STORE_ROW_LOCKS;
    outer.open         = open_inner;
    outer.saga_load    = load;
    outer.commit       = commit;
    outer.worker_close = end_worker;
    snprintf(inner_url, sizeof inner_url, "%s", url);
    lock_count = 0;
    counts     = (locks_counts){0};
    ignored    = NULL;
    taken_as   = PAWL_SAGA_SKIP_LOCKED;
    loses      = false;
    locks_hold(NULL);
    locks_loads();
    if (!is_registered)
        world_ok(pawl_store_register(&outer, &error), &error);
    is_registered = true;
    return "locks:store";
}

void locks_hold(const char *main)
{
    pthread_mutex_lock(&mutex);
    snprintf(held, sizeof held, "%s", main != NULL ? main : "");
    pthread_mutex_unlock(&mutex);
}

void locks_take_as(pawl_saga_lock lock)
{
    taken_as = lock;
}

void locks_lose(void)
{
    loses = true;
}

void locks_ignore(const pawl_store *store)
{
    ignored = store;
}

locks_counts locks_counted(void)
{
    pthread_mutex_lock(&mutex);
    locks_counts answer = counts;
    pthread_mutex_unlock(&mutex);
    return answer;
}

const char *locks_loads(void)
{
    pthread_mutex_lock(&mutex);
    loads_shown = loads;
    world_forget(&loads);
    pthread_mutex_unlock(&mutex);
    return loads_shown.text;
}
