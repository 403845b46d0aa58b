/* lease.c - leases of queues; those of leaders are in store/sql/lead.c.
 *
 * One process at a time claims from a queue: the lease row "queue:NAME" has its
 * number and an epoch that every take-over raises. It is free when its process
 * no longer lives, or gave it back. Each commit that settles rows of the queue
 * looks at the row again, in its own transaction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/lead.h"
#include "store/sql/worker.h"
#include "store/sqlite/operations.h"

#include <unistd.h>

static pawl_code read_lease(pawl__sqlite *store, pawl_text name, pawl__sql_lease *row,
                            pawl_error *error)
{
    static const pawl__sql_fields by_name = {pawl__sql_lease_fields, 1};
    static const pawl__sql_fields columns = {pawl__sql_lease_fields + 1, 5};
    const pawl__sql_asked         asked   = {PAWL__SQL_LEASE_GET, &by_name, row, &columns, 0};
    *row                                  = (pawl__sql_lease){.name = name};
    return pawl__sql_read_first(&store->sql.base, &asked, NULL, row, error);
}

static pawl_code is_alive(const pawl__sqlite *store, int64_t process, bool *alive,
                          pawl_error *error)
{
    return pawl__sqlite_program_alive(store->program, store->path, process, alive, error);
}

/* ---- The process and its queues ----------------------------------------- */

pawl_code pawl__sqlite_join(pawl__sqlite *store, pawl_error *error)
{
    if (store->book != NULL)
        return PAWL_OK;
    pawl_code code = PAWL_OK;
    if (store->program == NULL)
        code = pawl__sqlite_program_join(store->path, store->device, store->inode, &store->program,
                                         error);
    if (code != PAWL_OK)
        return code;
    store->book = pawl__sqlite_book_find(store->program, store->connection.prefix);
    return store->book != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "out of memory");
}

pawl__sqlite_use *pawl__sqlite_use_find(const pawl__sqlite *store, pawl_text queue)
{
    pawl__sqlite_use *use = store->uses;
    while (use != NULL && !pawl_text_equal(pawl__sqlite_queue_name(use->queue), queue))
        use = use->next;
    return use;
}

static pawl_code use_add(pawl__sqlite *store, pawl_text queue, pawl__sqlite_use **use,
                         pawl_error *error)
{
    pawl__sqlite_use *made = pawl_allocate(sizeof *made);
    if (made != NULL)
        made->queue = pawl__sqlite_queue_enter(store->book, queue, store);
    if (made == NULL || made->queue == NULL) {
        pawl_free(made);
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    }
    made->next  = store->uses;
    store->uses = made;
    *use        = made;
    return PAWL_OK;
}

/* Claims of a handle of this process that was this worker until now are free, and where that was
 * the last to claim from a queue, this one gives the queue back when it closes. */
pawl_code pawl__sqlite_take_over(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    for (;;) {
        pawl__sqlite_use *made = pawl_allocate(sizeof *made);
        if (made == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
        made->queue = pawl__sqlite_queue_take_over(store->book, store->sql.base.worker.uuid, store);
        if (made->queue == NULL) {
            pawl_free(made);
            return PAWL_OK;
        }
        made->next  = store->uses;
        store->uses = made;
    }
}

/* Inside a stamp. Leaves `row` as it stands after. */
static pawl_code take_lease(pawl__sqlite *store, pawl_text name, pawl__sql_lease *row,
                            pawl_error *error)
{
    int64_t   us    = pawl__sqlite_program_number(store->program);
    bool      alive = false;
    pawl_code code  = read_lease(store, name, row, error);
    if (code == PAWL_OK && row->process != us)
        code = is_alive(store, row->process, &alive, error);
    if (code != PAWL_OK || alive || row->process == us)
        return code;
    /* Its last process is dead: so are workers that it had. */
    if (row->process != 0)
        code = pawl__sql_free_dead(&store->sql.base, error);
    bool is_there = row->epoch != 0;
    row->process  = us;
    row->pid      = getpid();
    row->epoch++;
    return code == PAWL_OK ? pawl__sql_lease_write(&store->sql.base, row, is_there, error) : code;
}

pawl_code pawl__sqlite_queue_lease(pawl__sqlite *store, pawl_text queue, pawl_arena *arena,
                                   pawl__sqlite_use **use, pawl_text *holder, pawl_error *error)
{
    pawl__sql_lease_name_text name;
    pawl__sql_lease           row  = {0};
    pawl_code                 code = pawl__sqlite_join(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_lease_name(&store->sql.base, "queue:", queue, &name, error);
    if (code == PAWL_OK)
        code = read_lease(store, name.text, &row, error);
    if (code != PAWL_OK)
        return code;
    int64_t us    = pawl__sqlite_program_number(store->program);
    bool    alive = row.process == us;
    if (!alive)
        code = is_alive(store, row.process, &alive, error);
    if (code == PAWL_OK && !alive &&
        (code = pawl__sql_stamp_begin(&store->sql.base, error)) == PAWL_OK) {
        code = take_lease(store, name.text, &row, error);
        code = pawl__sql_stamp_end(&store->sql.base, code, error);
    }
    *use = NULL;
    if (code == PAWL_OK && row.process != us) {
        *holder = pawl_arena_printf(arena, "process %lld", (long long)row.pid);
        return PAWL_OK;
    }
    if (code == PAWL_OK && (*use = pawl__sqlite_use_find(store, queue)) == NULL)
        code = use_add(store, queue, use, error);
    if (code == PAWL_OK)
        (*use)->epoch = row.epoch;
    return code;
}

pawl_code pawl__sqlite_lease_check(pawl__sqlite *store, const pawl__sqlite_use *use, bool *is_ours,
                                   pawl_error *error)
{
    pawl__sql_lease_name_text name;
    pawl__sql_lease           row;
    *is_ours       = false;
    pawl_code code = pawl__sql_lease_name(
        &store->sql.base, "queue:", pawl__sqlite_queue_name(use->queue), &name, error);
    if (code == PAWL_OK && (code = read_lease(store, name.text, &row, error)) == PAWL_OK)
        *is_ours =
            row.process == pawl__sqlite_program_number(store->program) && row.epoch == use->epoch;
    return code;
}

static pawl_code give_back(pawl__sqlite *store, pawl_text queue, pawl_error *error)
{
    pawl__sql_lease_name_text name;
    pawl_code code = pawl__sql_lease_name(&store->sql.base, "queue:", queue, &name, error);
    if (code == PAWL_OK)
        code = pawl__sql_stamp_begin(&store->sql.base, error);
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_LEASE_FREE, error);
    pawl__sqlite_put_text(&request, name.text);
    pawl__sqlite_put_int(&request, pawl__sqlite_program_number(store->program));
    return pawl__sql_stamp_end(&store->sql.base, pawl__sqlite_run(&request), error);
}

pawl_code pawl__sqlite_leave_queues(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = PAWL_OK;
    if (store->book == NULL)
        return PAWL_OK;
    pawl__sqlite_claim_end_all(store->book, store);
    pawl__sqlite_detach(store->book, store);
    while (store->uses != NULL) {
        pawl__sqlite_use *use = store->uses;
        store->uses           = use->next;
        pawl_text queue       = pawl__sqlite_queue_name(use->queue);
        if (pawl__sqlite_queue_leave(store->book, use->queue, store)) {
            pawl_code gave = give_back(store, queue, code == PAWL_OK ? error : NULL);
            code           = code == PAWL_OK ? gave : code;
        }
        pawl_free(use);
    }
    return code;
}
