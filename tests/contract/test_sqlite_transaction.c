/* test_sqlite_transaction.c - the caller's own SQL: holds and enlist; and
 * commits whose log cannot be synced (S33, O32).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "support/tests.h"

/* ---- Statements --------------------------------------------------------- */

/* How often SQLite prepared statements of the connection anew by itself. */
static int prepared_anew(sqlite3 *db)
{
    int count = 0;
    for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(db, s)) != NULL;)
        count += sqlite3_stmt_status(s, SQLITE_STMTSTATUS_REPREPARE, 0);
    return count;
}

static void set_and_cancel(fixture *p, pawl_store *store, pawl_time due)
{
    static const unsigned sagas[3] = {11, 12, 13};
    pawl_timeout_set      sets[3];
    pawl_timeout_cancel   cancels[2] = {{.name = TEXT("pay")}, {.name = TEXT("")}};
    pawl_changes          changes    = {.now = NOW, ONE_UNIT};
    for (unsigned i = 0; i < 3; i++)
        sets[i] = (pawl_timeout_set){.id          = {uuid_of(20 + i)},
                                     .saga_id     = {uuid_of(sagas[i])},
                                     .name        = TEXT("pay"),
                                     .destination = TEXT("orders"),
                                     .due         = due + i};
    cancels[0].saga_id        = sets[0].saga_id;
    cancels[1].saga_id        = sets[1].saga_id;
    changes.timeout_set.items = sets;
    changes.timeout_set.count = 3;
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_OK);
    changes.timeout_set.count    = 0;
    changes.timeout_cancel.items = cancels;
    changes.timeout_cancel.count = 2;
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_OK);
}

/* A partial index finds a saga's timeouts. SQLite looked at each new value whether it serves. */
ON_FIXTURE(other_values_prepare_nothing_anew, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    sqlite3    *db    = store->ops->native(store);
    set_and_cancel(p, store, NOW + 1);
    int before = prepared_anew(db);
    for (int i = 2; i < 10; i++)
        set_and_cancel(p, store, NOW + i);
    assert_int_equal(prepared_anew(db), before);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_timeouts"), 1);
}

/* Of all statements of the connection since it was asked last. */
static int steps_of(sqlite3 *db)
{
    int count = 0;
    for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(db, s)) != NULL;)
        count += sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 1);
    return count;
}

/* Else a large partition, which goes in many claims, is read as many times, under the file's write lock. */
ON_FIXTURE(a_claim_reads_no_row_of_a_partition_that_it_leaves, fixture *p)
{
    const pawl_text         types[] = {TEXT("Known")};
    pawl_leased_batch       taken   = {0};
    pawl_leased_batch_claim claim   = {.partition  = TEXT("vans/b"),
                                       .session    = {uuid_of(1)},
                                       .types      = types,
                                       .type_count = 1,
                                       .count_max  = 10,
                                       .now        = NOW,
                                       .lease      = PAWL_MINUTES(5)};
    pawl_store             *store   = open_store(p, p->url);
    sqlite3                *db      = store->ops->native(store);
    raw_run(db,
            "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) "
            "insert into pawl_aggregator (Name, \"Partition\", \"Key\", At, MessageId, Type, "
            "CorrelationId, CausationId, Headers, Body) select 'vans', 'vans/b', 'k' || i, i, "
            "'m-' || i, case i when 1 then 'Other' else 'Known' end, '', '', '{}', '{}' from n");
    (void)steps_of(db);
    ok(p, pawl_store_leased_batch_claim(store, &claim, p->arena, &taken, &p->error));
    assert_int_equal(taken.count, 10);
    assert_int_equal(taken.items[9].at, 11);
    assert_true(steps_of(db) < 5000);
    claim.count_max = 5000;
    ok(p, pawl_store_leased_batch_claim(store, &claim, p->arena, &taken, &p->error));
    assert_int_equal(taken.count, 4989);
    assert_int_equal(taken.unresolved, 1);
}

/* ---- Holds -------------------------------------------------------------- */

static pawl_changes one_send(pawl_queue_send *send)
{
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = send, .count = 1}};
    return changes;
}

static pawl_store *open_with_own_table(fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    raw_run(store->ops->native(store), "create table mine (id integer primary key)");
    return store;
}

ON_FIXTURE(own_sql_commits_with_the_changes, fixture *p)
{
    pawl_store     *store   = open_with_own_table(p);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    raw_run(store->ops->native(store), "insert into mine values (1)");
    assert_int_equal(path_number(p->path, "select count(*) from mine"), 0);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    assert_int_equal(path_number(p->path, "select count(*) from mine"), 1);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 1);

    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    raw_run(store->ops->native(store), "insert into mine values (2)");
    pawl_store_handler_transaction_end(store);
    pawl_store_handler_transaction_end(store);
    assert_int_equal(path_number(p->path, "select count(*) from mine"), 1);
}

/* The statement's rows are not read to their end. */
static sqlite3_stmt *leave(pawl_store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(store->ops->native(store), sql, -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    return statement;
}

/* The handle sees what others commit afterwards, and writes. */
static void expect_goes_on(fixture *p, pawl_store *store, const char *id)
{
    pawl_store     *other   = open_store(p, p->url);
    pawl_queue_send send    = send_of("orders", id);
    pawl_changes    changes = one_send(&send);
    ok(p, pawl_store_commit(other, &changes, NULL, &p->error));
    pawl_queue_rows rows = claim_some(p, store, "orders", 9);
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
}

ON_FIXTURE(e24_a_statement_that_is_left_unfinished_ends_with_the_hold, fixture *p)
{
    static const char *const texts[] = {"select name from sqlite_schema",
                                        "insert into mine values (1), (2) returning id"};
    pawl_store              *store   = open_with_own_table(p);
    pawl_queue_send          send    = send_of("orders", "m-1");
    pawl_changes             changes = one_send(&send);
    for (size_t i = 0; i < COUNT(texts); i++) {
        ok(p, pawl_store_handler_transaction_begin(store, &p->error));
        sqlite3_stmt *statement = leave(store, texts[i]);
        refuses(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_EINVAL,
                "left a statement unfinished");
        expect_goes_on(p, store, "m-2");
        ok(p, pawl_store_handler_transaction_begin(store, &p->error));
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        pawl_store_handler_transaction_end(store);
        expect_goes_on(p, store, "m-3");
        ok(p, pawl_store_handler_transaction_begin(store, &p->error));
        raw_run(store->ops->native(store), "rollback");
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        pawl_store_handler_transaction_end(store);
        raw_run(store->ops->native(store), "delete from mine");
        expect_goes_on(p, store, "m-4");
        sqlite3_finalize(statement);
    }
}

/* Modules of SQLite keep a statement without text until the transaction's end. */
ON_FIXTURE(e24_own_sql_writes_to_a_search_index, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    sqlite3    *db    = store->ops->native(store);
    raw_run(db, "create virtual table words using fts5 (word)");
    raw_run(db, "create virtual table places using rtree (id, low, high)");
    for (int i = 0; i < 2; i++) {
        pawl_queue_send send    = send_of("orders", i == 0 ? "m-1" : "m-2");
        pawl_changes    changes = one_send(&send);
        ok(p, pawl_store_handler_transaction_begin(store, &p->error));
        raw_run(db, "insert into words values ('heron')");
        raw_run(db, "insert into places values (null, 1, 2)");
        if (i == 0)
            ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
        pawl_store_handler_transaction_end(store);
        assert_int_equal(raw_number(db, "select count(*) from words where words match 'heron'"), 1);
        assert_int_equal(raw_number(db, "select count(*) from places"), 1);
    }
    assert_int_equal(claim_some(p, store, "orders", 9).count, 1);
}

ON_FIXTURE(a_statement_outside_of_a_hold_is_named, fixture *p)
{
    pawl_store     *store   = open_with_own_table(p);
    pawl_store     *other   = open_store(p, p->url);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    sqlite3_stmt   *left    = leave(store, "select name from sqlite_schema");
    ok(p, pawl_store_commit(other, &changes, NULL, &p->error));
    refuses(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_EBUSY, "is unfinished");
    sqlite3_finalize(left);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

/* A connection with a statement is a zombie until that is finalized, but one without locks. */
ON_FIXTURE(a_closed_handle_keeps_no_lock_for_a_statement, fixture *p)
{
    pawl_store   *store = open_with_own_table(p);
    sqlite3      *db    = raw_open(p->path);
    sqlite3_stmt *left  = leave(store, "select name from sqlite_schema");
    test_now(store);
    raw_run(db, "insert into mine values (1)");
    assert_int_equal(raw_number(db, "pragma wal_checkpoint(truncate)"),
                     0); /* 1: somebody reads the log */
    sqlite3_close(db);
    sqlite3_finalize(left);
}

/* SQLite undoes a transaction by itself when the disk is full, for example; what was written before is not in another one. */
ON_FIXTURE(e24_a_transaction_that_the_handler_began_anew_is_not_committed, fixture *p)
{
    pawl_store     *store   = open_with_own_table(p);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    raw_run(store->ops->native(store), "insert into mine values (1)");
    raw_run(store->ops->native(store), "rollback");
    raw_run(store->ops->native(store), "begin");
    raw_run(store->ops->native(store), "insert into mine values (2)");
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_EINVAL);
    assert_int_equal(path_number(p->path, "select count(*) from mine"), 0);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 0);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

ON_FIXTURE(a_deferred_constraint_fails_the_commit, fixture *p)
{
    pawl_store     *store   = open_with_own_table(p);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    raw_run(store->ops->native(store),
            "create table child (id references mine (id) deferrable initially deferred)");
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    raw_run(store->ops->native(store), "insert into child values (1)");
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_ECONFLICT);
    assert_int_equal(path_number(p->path, "select count(*) from child"), 0);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 0);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

/* Group 1 is fine, but what the handler wrote cannot be done again here. */
ON_FIXTURE(a_refusal_in_a_hold_refuses_everything, fixture *p)
{
    pawl_store      *store   = open_with_own_table(p);
    pawl_inbox_entry marks[] = {
        {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW},
        {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW},
    };
    pawl_queue_send send      = send_of("orders", "m-2");
    pawl_refusals   refused   = {.arena = p->arena};
    pawl_changes    changes   = one_send(&send);
    changes.group_count       = 2;
    changes.unit_count        = 2;
    changes.inbox_entry.items = marks;
    changes.inbox_entry.count = 2;
    send.unit = send.group = 1;
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    raw_run(store->ops->native(store), "insert into mine values (1)");
    ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
    assert_int_equal(refused.count, 2);
    assert_int_equal(refused.items[0].group, 0);
    assert_int_equal(refused.items[0].reason, PAWL_EDUPLICATE);
    assert_int_equal(refused.items[1].group, 1);
    assert_int_equal(refused.items[1].unit, 1);
    assert_int_equal(refused.items[1].reason, PAWL_ECONFLICT);
    assert_int_equal(path_number(p->path, "select count(*) from mine"), 0);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 0);
    /* The hold is over: the next commit stands alone. */
    changes.inbox_entry.count = 1;
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

/* A word of the handler's, or a statement that undoes its transaction: each run would end it again. */
ON_FIXTURE(only_pawl_ends_the_transaction, fixture *p)
{
    static const char *const ends[]  = {"commit", "rollback",
                                        "insert or rollback into mine values (1)"};
    pawl_store              *store   = open_with_own_table(p);
    pawl_queue_send          send    = send_of("orders", "m-1");
    pawl_changes             changes = one_send(&send);
    for (size_t i = 0; i < COUNT(ends); i++) {
        ok(p, pawl_store_handler_transaction_begin(store, &p->error));
        raw_run(store->ops->native(store), "insert or replace into mine values (1)");
        (void)sqlite3_exec(store->ops->native(store), ends[i], NULL, NULL, NULL);
        refuses(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_EINVAL,
                "only pawl may commit it or roll it back");
        assert_int_equal(path_number(p->path, "select count(*) from mine"), 1);
        assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 0);
    }
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

/* ---- Enlist ------------------------------------------------------------- */

ON_FIXTURE(enlisted_changes_follow_the_caller, fixture *p)
{
    pawl_store     *store   = open_with_own_table(p);
    sqlite3        *db      = raw_open(p->path);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    raw_run(db, "begin; insert into mine values (1)");
    ok(p, pawl_store_enlist(store, db, &changes, &p->error));
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 0);
    raw_run(db, "rollback");
    assert_int_equal(raw_number(db, "select count(*) from pawl_queue"), 0);
    raw_run(db, "begin; insert into mine values (1)");
    ok(p, pawl_store_enlist(store, db, &changes, &p->error));
    raw_run(db, "commit");
    assert_int_equal(raw_number(db, "select count(*) from mine"), 1);
    assert_int_equal(claim_some(p, store, "orders", 9).count, 1);
    /* No statement of ours is left on the caller's connection. */
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The rows to hold are looked for where they were added: another connection does not see them. */
ON_FIXTURE(an_enlist_holds_rows_of_its_own_transaction, fixture *p)
{
    pawl_store       *store  = open_with_own_table(p);
    sqlite3          *db     = raw_open(p->path);
    pawl_outbox_add   add    = {.dispatch_id = {uuid_of(1)},
                                .source      = TEXT("S"),
                                .version     = 1,
                                .endpoint    = TEXT("orders"),
                                .destination = TEXT("billing"),
                                .message     = message_of("m-1"),
                                .at          = NOW};
    pawl_outbox_block hold   = {.source = TEXT("S")};
    pawl_changes      adds   = {.now = NOW, ONE_UNIT};
    pawl_changes      holds  = adds;
    pawl_queue_send   send   = send_of("orders", "m-2");
    pawl_changes      later  = one_send(&send);
    adds.outbox_add.items    = &add;
    adds.outbox_add.count    = 1;
    holds.outbox_block.items = &hold;
    holds.outbox_block.count = 1;
    raw_run(db, "begin");
    ok(p, pawl_store_enlist(store, db, &adds, &p->error));
    ok(p, pawl_store_enlist(store, db, &holds, &p->error));
    raw_run(db, "commit");
    assert_int_equal(raw_number(db, "select count(*) from pawl_outbox where State = 'held'"), 1);
    /* The next commit goes over the store's own connection again. */
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    ok(p, pawl_store_commit(store, &later, NULL, &p->error));
    assert_int_equal(claim_some(p, store, "orders", 9).count, 1);
}

ON_FIXTURE(a_failed_enlist_leaves_nothing, fixture *p)
{
    pawl_store      *store   = open_with_own_table(p);
    sqlite3         *db      = raw_open(p->path);
    pawl_queue_send  send    = send_of("orders", "m-1");
    pawl_changes     changes = one_send(&send);
    pawl_inbox_entry marks[] = {
        {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW},
        {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW},
    };
    changes.inbox_entry.items = marks;
    changes.inbox_entry.count = 2;
    raw_run(db, "begin; insert into mine values (1)");
    refuses(p, pawl_store_enlist(store, db, &changes, &p->error), PAWL_EDUPLICATE, "m-1");
    raw_run(db, "commit");
    assert_int_equal(raw_number(db, "select count(*) from mine"), 1);
    assert_int_equal(raw_number(db, "select count(*) from pawl_inbox"), 0);
    assert_int_equal(raw_number(db, "select count(*) from pawl_queue"), 0);
    sqlite3_close(db);
}

ON_FIXTURE(enlist_wants_a_transaction_on_the_same_file, fixture *p)
{
    pawl_store     *store   = open_store(p, p->url);
    sqlite3        *db      = raw_open(p->path);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    expect_code(p, pawl_store_enlist(store, NULL, &changes, &p->error), PAWL_EINVAL);
    refuses(p, pawl_store_enlist(store, db, &changes, &p->error), PAWL_EINVAL, "BEGIN first");
    sqlite3_close(db);
    db = raw_open(test_text("%s2", p->path));
    raw_run(db, "begin; create table mine (id integer)");
    refuses(p, pawl_store_enlist(store, db, &changes, &p->error), PAWL_EINVAL,
            "must be the same file");
    sqlite3_close(db);
}

/* ---- A log that cannot be synced ---------------------------------------- */

/* A VFS like the system's, whose files fail to sync when told so. */
static sqlite3_vfs  failing_vfs;
static sqlite3_vfs *system_vfs;
static int          syncs_to_fail;

/* The system has a few kinds of files, with methods of their own. */
static struct {
    const sqlite3_io_methods *original;
    sqlite3_io_methods        failing;
} methods[4];

static int sync_or_fail(sqlite3_file *file, int flags)
{
    return syncs_to_fail > 0 && syncs_to_fail-- ? SQLITE_IOERR_FSYNC
                                                : methods[0].original->xSync(file, flags);
}

static const sqlite3_io_methods *failing_form(const sqlite3_io_methods *original)
{
    size_t i = 0;
    while (methods[i].original != NULL && methods[i].original != original)
        i++;
    assert_true(i + 1 < COUNT(methods));
    methods[i].original      = original;
    methods[i].failing       = *original;
    methods[i].failing.xSync = sync_or_fail;
    return &methods[i].failing;
}

static int open_failing(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                        int *out_flags)
{
    int result = system_vfs->xOpen(system_vfs, name, file, flags, out_flags);
    if (file->pMethods != NULL)
        file->pMethods = failing_form(file->pMethods);
    return result;
}

static void begin_failing(void)
{
    system_vfs        = sqlite3_vfs_find(NULL);
    failing_vfs       = *system_vfs;
    failing_vfs.zName = "failing";
    failing_vfs.pNext = NULL;
    failing_vfs.xOpen = open_failing;
    assert_int_equal(sqlite3_vfs_register(&failing_vfs, 1), SQLITE_OK);
}

static void end_failing(void)
{
    syncs_to_fail = 0;
    assert_int_equal(sqlite3_vfs_unregister(&failing_vfs), SQLITE_OK);
    assert_int_equal(sqlite3_vfs_register(system_vfs, 1), SQLITE_OK);
}

/* The driver cannot tell, the core asks: the raised epoch takes the failed
 * commit's place in the log, and the answer is no. */
ON_FIXTURE(a_failed_sync_is_unknown_then_resolved, fixture *p)
{
    begin_failing();
    pawl_store     *store   = open_store(p, p->url);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    pawl_refusals   refused = {.arena = p->arena};
    int64_t         epoch   = store->epoch;
    bool            applied = true;

    changes.commit_id = uuid_of(9);
    syncs_to_fail     = 1;
    expect_code(p, store->ops->commit(store, &changes, &refused, &p->error), PAWL_EUNKNOWN);
    assert_int_equal(syncs_to_fail, 0);
    ok(p, store->ops->resolve(store, changes.commit_id, &applied, &p->error));
    assert_false(applied);
    assert_int_equal(store->epoch, epoch + 1);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 0);

    syncs_to_fail = 1;
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_ELOST);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    ok(p, store->ops->resolve(store, changes.commit_id, &applied, &p->error));
    assert_true(applied);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 1);
    test_now(store);
    end_failing();
}

/* Claims of a commit in doubt stay with the handle until the doubt is over. */
ON_FIXTURE(claims_outlive_a_commit_in_doubt, fixture *p)
{
    begin_failing();
    pawl_store *store = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows rows = claim_some(p, store, "orders", 1);
    assert_int_equal(rows.count, 1);
    syncs_to_fail = 1;
    expect_code(p, settle_one(p, store, "orders", rows.items[0].seq), PAWL_ELOST);
    assert_int_equal(claim_some(p, store, "orders", 1).count, 0);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 0);
    test_now(store);
    end_failing();
}

/* A lease taken inside a hold is written as a stamp elsewhere: here it waits for the end. */
ON_FIXTURE(a_lease_in_a_hold_goes_with_it, fixture *p)
{
    pawl_timeout_rows  rows;
    pawl_timeout_claim claim = {.destination = TEXT("orders"),
                                .due_max     = NOW,
                                .owner       = {uuid_of(8)},
                                .now         = NOW,
                                .lease       = PAWL_MINUTES(5)};
    pawl_store        *store = open_store(p, p->url);
    raw_run(store->ops->native(store), "create table mine (id integer)");
    COMMIT_OK(p, store, timeout_set, NOW, .id = {uuid_of(1)}, .destination = TEXT("orders"),
              .due = NOW);
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    raw_run(store->ops->native(store), "insert into mine values (7)");
    ok(p, pawl_store_timeout_claim(store, &claim, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
    raw_run(store->ops->native(store), "insert into mine values (8)");
    pawl_store_handler_transaction_end(store);
    assert_int_equal(path_number(p->path, "select count(*) from mine"), 0);
    ok(p, pawl_store_timeout_claim(store, &claim, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
}

/* ---- A savepoint that stays ------------------------------------------------------- */

/* Of the caller's connection, as the first row is written: statements that were prepared are
 * prepared once more, and the end of the savepoint is refused then. */
static int refuse_release(void *context, int action, const char *verb, const char *name,
                          const char *database, const char *trigger)
{
    return action == SQLITE_SAVEPOINT && strcmp(verb, "RELEASE") == 0 ? SQLITE_DENY : SQLITE_OK;
}

static void at_change(void *context, int kind, const char *database, const char *table,
                      sqlite3_int64 row)
{
    sqlite3_set_authorizer(context, refuse_release, NULL);
}

ON_FIXTURE(s33_an_enlist_that_cannot_be_kept_is_undone_with_its_transaction, fixture *p)
{
    pawl_store     *store = open_store(p, p->url);
    sqlite3        *db    = raw_open(p->path);
    pawl_queue_send send  = send_of("orders", "m-1");
    raw_run(db, "create table mine (id integer); begin; insert into mine values (7)");
    sqlite3_update_hook(db, at_change, db);
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    pawl_code    code    = pawl_store_enlist(store, db, &changes, &p->error);
    assert_int_not_equal(code, PAWL_OK);
    expect_text(p, "your transaction was rolled back");
    assert_int_not_equal(sqlite3_get_autocommit(db), 0);
    sqlite3_set_authorizer(db, NULL, NULL);
    assert_int_equal(raw_number(db, "select count(*) from mine"), 0);
    assert_int_equal(raw_number(db, "select count(*) from pawl_queue"), 0);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}
