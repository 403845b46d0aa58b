/* locks.c - adds row locks to a store without them. In a store with row locks, the stranger is another handle, whose
 * open transaction locks the row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/locks.h"

#include "support/world.h"

#include <pthread.h>

#define LOCKS_MAX 1000
#define TABLES_MAX 8

typedef struct row_lock {
    const pawl_store *owner;
    char              table[200];
    pawl_saga_id      id;
} row_lock;

static const pawl_store_ops *inner;
static pawl_store_ops        outer;
static char                  inner_url[1100];

static pthread_mutex_t        mutex = PTHREAD_MUTEX_INITIALIZER; /* guards everything below */
static row_lock               locks[LOCKS_MAX];
static size_t                 lock_count;
static char                   held[200]; /* locked by the stranger */
static locks_counts           counts;
static const pawl_store      *ignored;
static world_log              loads, loads_shown;
static pawl_saga_lock         taken_as;
static bool                   loses, loses_all;
static const pawl_saga_table *tables[TABLES_MAX]; /* tables from which sagas were loaded */
static size_t                 table_count;
static pawl_store            *stranger;

static bool has_locks(void)
{
    return (inner->promises & PAWL_STORE_ROW_LOCKS) != 0;
}

static pawl_code open_inner(pawl_store *store, const char *url, const pawl_store_options *options,
                            pawl_error *error)
{
    return inner->open(store, inner_url, options, error);
}

/* ---- Locks ------------------------------------------------------------------ */

/* Reads the next name of "a c"; false: the end. */
static bool next_name(const char **at, pawl_text *name)
{
    *at += strspn(*at, " ");
    *name = (pawl_text){.data = *at, .size = strcspn(*at, " ")};
    *at += name->size;
    return name->size != 0;
}

static bool is_held(const pawl_saga_row *row)
{
    const char *at = held;
    for (pawl_text name; row->main.type == PAWL_VALUE_TEXT && next_name(&at, &name);)
        if (pawl_text_equal(row->main.as.text, name))
            return true;
    return false;
}

/* Takes the lock; false: another handle has it. */
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
        world_forget(&loads); /* a long run, which checks only counts */
    world_note(&loads, "%.*s:%s:%s(%zu)", PAWL_TEXT_ARGS(table->type), keys[key], modes[lock],
               count);
}

/* Keeps the first description of a table, which belongs to the endpoint; others may be freed earlier. */
static void note_table(const pawl_saga_table *table)
{
    for (size_t i = 0; i < table_count; i++)
        if (pawl_text_equal(tables[i]->name, table->name))
            return;
    if (table_count < TABLES_MAX)
        tables[table_count++] = table;
}

/* Reads and locks the found rows, then reads them again under the lock, as a database does. Called with the mutex. */
static pawl_code load_and_lock(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                               const pawl_value *values, size_t count, pawl_arena *arena,
                               pawl_saga_row *rows, pawl_error *error)
{
    const pawl_saga_lock none    = PAWL_SAGA_UNLOCKED;
    bool                *is_busy = pawl_arena_take(arena, (count + 1) * sizeof *is_busy);
    pawl_code code = inner->saga_load(store, table, key, values, count, none, arena, rows, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        is_busy[i] = rows[i].presence == PAWL_SAGA_THERE && !take(store, table, &rows[i]);
    if (code == PAWL_OK)
        code = inner->saga_load(store, table, key, values, count, none, arena, rows, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        if (is_busy[i])
            rows[i] = (pawl_saga_row){.presence = PAWL_SAGA_LOCKED_BY_ANOTHER};
    return code;
}

static pawl_code load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                      const pawl_value *values, size_t count, pawl_saga_lock lock,
                      pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    if (lock == PAWL_SAGA_SKIP_LOCKED)
        lock = taken_as;
    bool is_ours = lock == PAWL_SAGA_SKIP_LOCKED && !has_locks();
    pthread_mutex_lock(&mutex);
    if (store != ignored)
        note_load(table, key, lock, count);
    note_table(table);
    pawl_code code = PAWL_OK;
    if (is_ours)
        code = load_and_lock(store, table, key, values, count, arena, rows, error);
    pthread_mutex_unlock(&mutex);
    if (!is_ours) /* without the mutex, as the store may wait for the row */
        code = inner->saga_load(store, table, key, values, count, lock, arena, rows, error);
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        counts.elsewhere += rows[i].presence == PAWL_SAGA_LOCKED_BY_ANOTHER;
    pthread_mutex_unlock(&mutex);
    return code;
}

static bool is_unblock(const pawl_changes *changes)
{
    static const pawl_counters none;
    size_t                     others = 0;
#define COUNT_OTHERS(name, is_refusable) others += changes->name.count;
    PAWL_CHANGE_KINDS(COUNT_OTHERS)
#undef COUNT_OTHERS
    for (size_t i = 0; i < changes->queue_settle.count; i++)
        if (changes->queue_settle.items[i].action == PAWL_QUEUE_RELEASE)
            others--;
    return others == 0 && changes->queue_settle.count > 0 &&
           memcmp(&changes->counters, &none, sizeof none) == 0;
}

/* Loses claims by a commit of the same handle: releases the first, or settles all as handled. */
static void lose(pawl_store *store, const pawl_changes *changes)
{
    pawl_changes      set   = {ONE_UNIT, .now = changes->now};
    size_t            count = loses_all ? changes->queue_settle.count : 1;
    pawl_queue_settle lost[20];
    assert_true(count <= COUNT(lost));
    for (size_t i = 0; i < count; i++) {
        lost[i]        = changes->queue_settle.items[i];
        lost[i].action = loses_all ? PAWL_QUEUE_DONE : PAWL_QUEUE_RELEASE;
        lost[i].group = lost[i].unit = 0;
    }
    set.queue_settle.items = lost;
    set.queue_settle.count = count;
    loses = loses_all = false;
    must(pawl_store_commit(store, &set, NULL, world_error()));
}

static pawl_code commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error)
{
    if (loses && changes->queue_settle.count > 1)
        lose(store, changes);
    pawl_code code = inner->commit(store, changes, refused, error);
    drop_all(store);
    pthread_mutex_lock(&mutex);
    if (is_unblock(changes))
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
    pawl_store *store = NULL;
    must(pawl_store_open(url, NULL, &store, world_error()));
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
    loses = loses_all = false;
    table_count       = 0;
    locks_hold(NULL);
    locks_loads();
    if (!is_registered)
        must(pawl_store_register(&outer, world_error()));
    is_registered = true;
    return "locks:store";
}

/* Locks the row in each table that has it. */
static void hold_row(pawl_text name, pawl_arena *arena)
{
    pawl_value    value = pawl_value_text(name);
    pawl_saga_row row;
    int           found = 0;
    for (size_t i = 0; i < table_count; i++) {
        must(pawl_store_saga_load(stranger, tables[i], PAWL_SAGA_BY_MAIN, &value, 1,
                                  PAWL_SAGA_LOCKED, arena, &row, world_error()));
        found += row.version > 0;
    }
    assert_true(found > 0);
}

/* Locks the rows in the stranger's transaction. */
static void hold_rows(const char *names)
{
    pawl_arena *arena = pawl_arena_create(0);
    must(pawl_store_open(inner_url, NULL, &stranger, world_error()));
    must(pawl_store_handler_transaction_begin(stranger, world_error()));
    for (pawl_text name; next_name(&names, &name);)
        hold_row(name, arena);
    pawl_arena_destroy(arena);
}

void locks_hold(const char *names)
{
    pthread_mutex_lock(&mutex);
    snprintf(held, sizeof held, "%s", names != NULL && !has_locks() ? names : "");
    pthread_mutex_unlock(&mutex);
    if (stranger != NULL)
        pawl_store_handler_transaction_end(stranger);
    pawl_store_close(stranger);
    stranger = NULL;
    if (names != NULL && has_locks())
        hold_rows(names);
}

void locks_take_as(pawl_saga_lock lock)
{
    taken_as = lock;
}

void locks_lose(void)
{
    loses = true;
}

void locks_lose_all(void)
{
    loses = loses_all = true;
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
