/* lives.c - finds the workers and leaders that live: reads their rows, then checks
 * all their locks at once (which_are_alive).
 *
 * A worker takes its lock before it inserts its row, and deletes its row before it
 * releases the lock. So if rows are read before locks are checked, no living
 * worker seems dead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/operations.h"
#include "store/sql/rows.h"

#include <stdlib.h>

/* Sets `life.is_alive` of each row, by one call of which_are_alive. */
static pawl_code ask(pawl_store *store, const pawl_found *rows, size_t row_size, size_t life_offset,
                     pawl_arena *arena, pawl_error *error)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(store);
    if (rows->count == 0)
        return PAWL_OK;
    pawl__sql_life **lives = pawl_arena_take(arena, rows->count * sizeof(pawl__sql_life *));
    if (lives == NULL)
        return pawl__sql_no_memory(store, "rows", error);
    for (size_t i = 0; i < rows->count; i++)
        lives[i] = (void *)((char *)rows->items + i * row_size + life_offset);
    return ops->which_are_alive(store, lives, rows->count, error);
}

/* ---- Workers ------------------------------------------------------------ */

/* The rows of living workers; usually fewer than those left by crashes. */
typedef struct living {
    const pawl__sql_worker **items;
    size_t                   count;
} living;

typedef bool wanted_fn(const pawl__sql_worker *worker, const living *others);

static bool lives(const pawl__sql_worker *worker, const living *others)
{
    (void)others;
    return worker->life.is_alive;
}

static bool is_dead(const pawl__sql_worker *worker, const living *others)
{
    (void)others;
    return !worker->life.is_alive;
}

/* Is it another worker of the same process? Then the process lives, and only one session was ended. A restarted
 * container may have the same host and process id, but its workers started after the crashed one was seen last. */
static bool shares_process(const pawl_worker_info *worker, const pawl_worker_info *other)
{
    return worker->pid != 0 && worker->pid == other->pid && worker->host.size != 0 &&
           pawl_text_equal(worker->host, other->host) && other->started <= worker->seen;
}

/* A worker without a lock may live even if its heartbeats are late. */
static bool has_crashed(const pawl__sql_worker *worker, const living *others)
{
    if (worker->life.is_alive || worker->life.process == 0)
        return false;
    for (size_t i = 0; i < others->count; i++)
        if (shares_process(&worker->info, &others->items[i]->info))
            return false;
    return true;
}

/* PostgreSQL's store makes Pid negative once the worker's timeouts were freed. From -2^62 down its 22 low bits are the
 * process id; older programs wrote other numbers, which have none. */
static int64_t pid_of(int64_t pid)
{
    const int64_t mark = INT64_C(1) << 62, pid_max = (1 << 22) - 1;
    if (pid <= -mark)
        return -(pid + mark) & pid_max;
    return pid > 0 ? pid : 0;
}

static pawl_code read_workers(pawl_store *store, pawl_arena *arena, pawl_found *rows,
                              pawl_error *error)
{
    static const pawl__sql_asked asked = {PAWL__SQL_WORKER_LIST, NULL, NULL, &pawl__sql_worker_row,
                                          sizeof(pawl__sql_worker)};
    pawl_code                    code  = pawl__sql_read(store, &asked, arena, rows, error);
    pawl__sql_worker            *items = rows->items;
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++)
        items[i].info.pid = pid_of(items[i].info.pid);
    return code;
}

/* Compares pawl_worker_info, or rows that begin with one. */
static int compare_ids(const void *left, const void *right)
{
    return pawl_uuid_compare(((const pawl_worker_info *)left)->id.uuid,
                             ((const pawl_worker_info *)right)->id.uuid);
}
_Static_assert(offsetof(pawl__sql_worker, info) == 0, "a row begins with its info");

static pawl_code list_workers(pawl_store *store, wanted_fn *is_wanted, pawl_arena *arena,
                              pawl_found *found, pawl_error *error)
{
    pawl_found all;
    *found         = (pawl_found){.count = 0};
    pawl_code code = read_workers(store, arena, &all, error);
    if (code == PAWL_OK)
        code = ask(store, &all, sizeof(pawl__sql_worker), offsetof(pawl__sql_worker, life), arena,
                   error);
    pawl_worker_info *items  = pawl_arena_take(arena, all.count * sizeof *items);
    living            others = {pawl_arena_take(arena, all.count * sizeof *others.items), 0};
    if (code == PAWL_OK && (items == NULL || others.items == NULL))
        code = pawl__sql_no_memory(store, "rows", error);
    const pawl__sql_worker *workers = all.items;
    for (size_t i = 0; code == PAWL_OK && i < all.count; i++)
        if (workers[i].life.is_alive)
            others.items[others.count++] = &workers[i];
    for (size_t i = 0; code == PAWL_OK && i < all.count; i++)
        if (is_wanted(&workers[i], &others))
            items[found->count++] = workers[i].info;
    found->items = items;
    return code;
}

pawl_code pawl__sql_workers(pawl_store *store, bool is_alive, pawl_arena *arena, pawl_found *found,
                            pawl_error *error)
{
    return list_workers(store, is_alive ? lives : is_dead, arena, found, error);
}

/* Drops workers whose rows were deleted after they were read: these ended properly, without a crash. */
static pawl_code drop_ended(pawl_store *store, pawl_found *found, pawl_arena *arena,
                            pawl_error *error)
{
    pawl_worker_info *items = found->items;
    size_t            count = found->count;
    pawl_found        rows;
    pawl_code         code = read_workers(store, arena, &rows, error);
    found->count           = 0;
    if (code == PAWL_OK && rows.count > 0)
        qsort(rows.items, rows.count, sizeof(pawl__sql_worker), compare_ids);
    for (size_t i = 0; code == PAWL_OK && i < count && rows.count > 0; i++)
        if (bsearch(&items[i], rows.items, rows.count, sizeof(pawl__sql_worker), compare_ids) !=
            NULL)
            items[found->count++] = items[i];
    return code;
}

pawl_code pawl__sql_worker_crashed(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                   size_t *count, pawl_error *error)
{
    pawl_found found;
    pawl_code  code = list_workers(store, has_crashed, arena, &found, error);
    if (code == PAWL_OK && found.count > 0)
        code = drop_ended(store, &found, arena, error);
    *items = found.items;
    *count = found.count;
    return code;
}

pawl_code pawl__sql_count_living(pawl_store *store, const pawl_found *lives, pawl_arena *arena,
                                 int64_t *count, pawl_error *error)
{
    *count         = 0;
    pawl_code code = ask(store, lives, sizeof(pawl__sql_life), 0, arena, error);
    for (size_t i = 0; code == PAWL_OK && i < lives->count; i++)
        *count += ((const pawl__sql_life *)lives->items)[i].is_alive;
    return code;
}

/* ---- Leaders ------------------------------------------------------------ */

static int compare_names(const void *left, const void *right)
{
    return pawl_text_compare(((const pawl__sql_found_lead *)left)->row.name,
                             ((const pawl__sql_found_lead *)right)->row.name);
}

/* For a worker without a lock only the lease's expiry decides. */
static bool leads(const pawl__sql_found_lead *lead)
{
    return lead->life.process == 0 || lead->life.is_alive;
}

/* Sorts here by the bytes of the names, since no database does so for texts of any length. */
pawl_code pawl__sql_leads(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_found *found,
                          pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_LEAD_LIST, &pawl__one_time, &now, &pawl__sql_lead_row,
                                   sizeof(pawl__sql_found_lead)};
    pawl_found            all;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &all, error);
    if (code == PAWL_OK)
        code = ask(store, &all, sizeof(pawl__sql_found_lead), offsetof(pawl__sql_found_lead, life),
                   arena, error);
    pawl_lead_row *items = pawl_arena_take(arena, all.count * sizeof *items);
    if (code == PAWL_OK && items == NULL)
        code = pawl__sql_no_memory(store, "rows", error);
    if (code != PAWL_OK || all.count == 0)
        return code;
    const pawl__sql_found_lead *leaders = all.items;
    qsort(all.items, all.count, sizeof *leaders, compare_names);
    for (size_t i = 0; i < all.count; i++)
        if (leads(&leaders[i]))
            items[found->count++] = leaders[i].row;
    found->items = items;
    return PAWL_OK;
}
