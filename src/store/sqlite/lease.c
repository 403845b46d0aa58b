/* lease.c - leases of queues; those of leaders are in store/sql/lead.c.
 *
 * One process at a time claims from a queue: the lease row "queue:NAME" has the number of the process, and an epoch
 * that every take-over raises. The lease is free if its process is dead or returned it. Each commit that settles rows
 * of the queue checks the row, in the same transaction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/lead.h"
#include "store/sql/operations.h"
#include "store/sqlite/sqlite.h"

#include <unistd.h>

static pawl_code read_lease(pawl__sqlite *store, pawl_text name, pawl__sql_lease *row,
                            pawl_error *error)
{
    static const pawl__field_list by_name = {pawl__sql_lease_fields, 1};
    static const pawl__field_list columns = {pawl__sql_lease_fields + 1, 5};
    const pawl__sql_asked         asked   = {PAWL__SQL_LEASE_GET, &by_name, row, &columns, 0};
    *row                                  = (pawl__sql_lease){.name = name};
    return pawl__sql_read_first(&store->sql.base, &asked, NULL, row, error);
}

/* Finding out whether a process lives takes no statement, so asking one by one costs nothing extra. */
pawl_code pawl__sqlite_who_lives(pawl_store *base, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error)
{
    const pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code           code  = pawl__program_follow_file(store->program, store->path, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = pawl__program_alive(store->program, store->path, lives[i]->process,
                                   &lives[i]->is_alive, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "sqlite");
}

static pawl_code is_alive(pawl__sqlite *store, int64_t process, bool *alive, pawl_error *error)
{
    pawl__sql_life        life = {.process = process};
    pawl__sql_life *const one  = &life;
    pawl_code             code = pawl__sqlite_who_lives(&store->sql.base, &one, 1, error);
    *alive                     = life.is_alive;
    return code;
}

/* ---- The process and its queues ----------------------------------------- */

/* Called before the first claim. */
static pawl_code join(pawl__sqlite *store, pawl_error *error)
{
    if (store->claim_table != NULL)
        return PAWL_OK;
    pawl_code code = PAWL_OK;
    if (store->program == NULL)
        code = pawl__program_join(store->path, store->device, store->inode, &store->program, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "sqlite");
    store->claim_table = pawl__program_claim_table(store->program, store->sql.base.system_prefix);
    return store->claim_table != NULL ? PAWL_OK
                                      : pawl_error_set(error, PAWL_ENOMEM, "out of memory");
}

pawl_code pawl__sqlite_own_lock(pawl_store *base, int64_t *number, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = join(store, error);
    store->is_leaving   = false;
    if (code == PAWL_OK &&
        (code = pawl__claim_table_attach(store->claim_table, base->worker.uuid, store)) != PAWL_OK)
        code = pawl_error_set(error, code, "sqlite: out of memory");
    if (code == PAWL_OK)
        *number = pawl__program_number(store->program);
    return code;
}

pawl_code pawl__sqlite_take_over(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    (void)error;
    pawl__claim_table_take_over(store->claim_table, base->worker.uuid, store);
    return PAWL_OK;
}

/* Called in a transaction. Sets `row` to the resulting lease. */
static pawl_code take_lease(pawl__sqlite *store, pawl_text name, pawl__sql_lease *row,
                            pawl_error *error)
{
    int64_t   us    = pawl__program_number(store->program);
    bool      alive = false;
    pawl_code code  = read_lease(store, name, row, error);
    if (code == PAWL_OK && row->process != us)
        code = is_alive(store, row->process, &alive, error);
    if (code != PAWL_OK || alive || row->process == us)
        return code;
    /* The previous process is dead, and so are its workers. */
    if (row->process != 0)
        code = pawl__sql_free_dead(&store->sql.base, error);
    bool is_there = row->epoch != 0;
    row->process  = us;
    row->pid      = getpid();
    if (code == PAWL_OK)
        code = pawl__sql_lease_raise(&store->sql.base, row, error);
    return code == PAWL_OK ? pawl__sql_lease_write(&store->sql.base, row, is_there, error) : code;
}

pawl_code pawl__sqlite_queue_lease(pawl__sqlite *store, pawl_text queue, pawl_arena *arena,
                                   int64_t *epoch, pawl_text *holder, pawl_error *error)
{
    pawl__sql_lease_name_text name;
    pawl__sql_lease           row  = {0};
    pawl_code                 code = join(store, error);
    *epoch                         = 0;
    if (code == PAWL_OK)
        code = pawl__sql_lease_name(&store->sql.base, "queue:", queue, &name, error);
    if (code == PAWL_OK)
        code = read_lease(store, name.text, &row, error);
    if (code != PAWL_OK)
        return code;
    int64_t us    = pawl__program_number(store->program);
    bool    alive = row.process == us;
    if (!alive)
        code = is_alive(store, row.process, &alive, error);
    if (code == PAWL_OK && !alive &&
        (code = pawl__sql_stamp_begin(&store->sql.base, error)) == PAWL_OK) {
        code = take_lease(store, name.text, &row, error);
        code = pawl__sql_stamp_end(&store->sql.base, code, error);
    }
    if (code == PAWL_OK && row.process != us) {
        *holder = pawl_arena_printf(arena, "process %lld", (long long)row.pid);
        return PAWL_OK;
    }
    if (code == PAWL_OK &&
        (code = pawl__claim_table_queue_enter(store->claim_table, queue, store)) != PAWL_OK)
        return pawl_error_set(error, code, "sqlite: out of memory");
    if (code == PAWL_OK)
        *epoch = row.epoch;
    return code;
}

pawl_code pawl__sqlite_lease_epoch(pawl__sqlite *store, pawl_text queue, int64_t *epoch,
                                   pawl_error *error)
{
    pawl__sql_lease_name_text name;
    pawl__sql_lease           row;
    pawl_code code = pawl__sql_lease_name(&store->sql.base, "queue:", queue, &name, error);
    if (code == PAWL_OK && (code = read_lease(store, name.text, &row, error)) == PAWL_OK)
        *epoch = row.epoch;
    return code;
}

static const pawl__field_list free_fields = PAWL__FIELDS(
    PAWL__AS_OF(pawl__sql_lease, name, TEXT), PAWL__AS_OF(pawl__sql_lease, process, INT));

static pawl_code give_back(pawl__sqlite *store, pawl_text queue, pawl_error *error)
{
    pawl__sql_lease_name_text name;
    int64_t                   changed;
    pawl_code code = pawl__sql_lease_name(&store->sql.base, "queue:", queue, &name, error);
    if (code == PAWL_OK)
        code = pawl__sql_stamp_begin(&store->sql.base, error);
    if (code != PAWL_OK)
        return code;
    const pawl__sql_lease row   = {.name    = name.text,
                                   .process = pawl__program_number(store->program)};
    const pawl__sql_asked asked = {PAWL__SQL_LEASE_FREE, &free_fields, &row, NULL, 0};
    code                        = pawl__sql_execute(&store->sql.base, &asked, &changed, error);
    return pawl__sql_stamp_end(&store->sql.base, code, error);
}

/* Called first when a worker ends or its handle closes. Later transactions of that end may wait for the lock, too:
 * after the first that waits in vain, the others wait briefly, so that a stop does not take a deadline for each. */
pawl_code pawl__sqlite_leave_queues(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = PAWL_OK;
    store->is_leaving   = true;
    if (store->claim_table == NULL)
        return PAWL_OK;
    pawl__claim_table_end_all(store->claim_table, store);
    pawl__claim_table_detach(store->claim_table, store);
    pawl_text queue;
    bool      is_last;
    while (pawl__claim_table_queue_leave(store->claim_table, store, &queue, &is_last)) {
        if (!is_last)
            continue;
        pawl_code gave = give_back(store, queue, code == PAWL_OK ? error : NULL);
        code           = code == PAWL_OK ? gave : code;
    }
    return code;
}
