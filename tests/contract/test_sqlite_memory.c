/* test_sqlite_memory.c - SQLite runs out of memory, at each of its allocations in turn:
 * no lock stays, nothing half done stays, and the handle goes on once there is memory
 * (O30, O32, S33).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "support/tests.h"

/* ---- SQLite's allocator ----------------------------------------------------- */

static sqlite3_mem_methods system_memory;
static long                left;        /* allocations until one fails; 0: none does */
static bool                is_shortage; /* all after that one fail, too */
static bool                was_reached;

static bool fails(void)
{
    if (left == 0 || (left > 1 && left-- > 1))
        return false;
    was_reached = true;
    if (!is_shortage)
        left = 0;
    return true;
}

static void *take(int size)
{
    return fails() ? NULL : system_memory.xMalloc(size);
}

static void *resize(void *memory, int size)
{
    return fails() ? NULL : system_memory.xRealloc(memory, size);
}

/* Before SQLite is used at all. Its small blocks come from here, too. */
static void replace_memory(void)
{
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory), SQLITE_OK);
    sqlite3_mem_methods methods = system_memory;
    methods.xMalloc             = take;
    methods.xRealloc            = resize;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
}

/* Nothing here is about power cuts: syncs cost nothing. */
static sqlite3_io_methods quick_files[4];
static sqlite3_vfs        quick, *system_vfs;

static int sync_nothing(sqlite3_file *file, int flags)
{
    return SQLITE_OK;
}

/* The system has a few kinds of files, with methods of their own. */
static int open_quick(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *out_flags)
{
    static const sqlite3_io_methods *known[4];
    size_t                           i = 0;
    int result = system_vfs->xOpen(system_vfs, name, file, flags, out_flags);
    if (file->pMethods == NULL)
        return result;
    while (known[i] != NULL && known[i] != file->pMethods)
        i++;
    assert_true(i + 1 < COUNT(known));
    known[i]             = file->pMethods;
    quick_files[i]       = *known[i];
    quick_files[i].xSync = sync_nothing;
    file->pMethods       = &quick_files[i];
    return result;
}

static void replace_files(void)
{
    system_vfs  = sqlite3_vfs_find(NULL);
    quick       = *system_vfs;
    quick.zName = "quick";
    quick.pNext = NULL;
    quick.xOpen = open_quick;
    assert_int_equal(sqlite3_vfs_register(&quick, 1), SQLITE_OK);
}

/* ---- What is tried ------------------------------------------------------------ */

typedef pawl_code try_fn(fixture *p, pawl_store *store);

static pawl_changes marked_send(pawl_queue_send *send, pawl_inbox_entry *mark)
{
    pawl_changes changes = {.now = NOW,
                            ONE_UNIT,
                            .queue_send  = {.items = send, .count = 1},
                            .inbox_entry = {.items = mark, .count = 1}};
    return changes;
}

static pawl_code try_commit(fixture *p, pawl_store *store)
{
    pawl_queue_send  send    = send_of("orders", "m-1");
    pawl_inbox_entry mark    = {.endpoint = TEXT("orders"), .message_id = TEXT("m-0"), .at = NOW};
    pawl_changes     changes = marked_send(&send, &mark);
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static pawl_code try_hold(fixture *p, pawl_store *store)
{
    pawl_code code = pawl_store_handler_transaction_begin(store, &p->error);
    if (code != PAWL_OK)
        return code;
    if (sqlite3_exec(store->ops->native(store), "insert into mine values (7)", NULL, NULL, NULL) !=
        SQLITE_OK) {
        pawl_store_handler_transaction_end(store);
        return PAWL_ENOMEM;
    }
    return try_commit(p, store);
}

static pawl_code try_resolve(fixture *p, pawl_store *store)
{
    bool is_applied;
    return pawl_store_resolve(store, uuid_of(1), &is_applied, &p->error);
}

static pawl_code try_claim(fixture *p, pawl_store *store)
{
    pawl_queue_rows  rows;
    pawl_queue_claim claim = {.queue = TEXT("known"), .due_max = NOW, .count_max = 1, .now = NOW};
    return pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error);
}

static pawl_code try_lead(fixture *p, pawl_store *store)
{
    bool is_held;
    return pawl_store_lead(store, TEXT("outbox/orders"), NOW, 1000, &is_held, &p->error);
}

static pawl_code try_timeout_claim(fixture *p, pawl_store *store)
{
    pawl_timeout_rows  rows;
    pawl_timeout_claim claim = {.destination = TEXT("orders"),
                                .due_max     = NOW,
                                .now         = NOW,
                                .owner       = {uuid_of(7)},
                                .lease       = 1000,
                                .count_max   = 9};
    return pawl_store_timeout_claim(store, &claim, p->arena, &rows, &p->error);
}

static pawl_code try_sweep(fixture *p, pawl_store *store)
{
    int64_t    count   = 0;
    bool       more    = false;
    pawl_sweep request = {.inbox_before = NOW + 1, .outbox_before = NOW + 1, .count_max = 9};
    return pawl_store_sweep(store, &request, &count, &more, &p->error);
}

static pawl_code try_stats(fixture *p, pawl_store *store)
{
    pawl_stats stats = PAWL_STATS_INIT;
    return pawl_store_stats(store, NOW, p->arena, &stats, &p->error);
}

static pawl_code try_wait(fixture *p, pawl_store *store)
{
    return pawl_store_wait(store, 0, -1, &p->error);
}

/* Statements of the connection have to be prepared again, those of a rollback too. */
static void expire(pawl_store *store)
{
    raw_run(store->ops->native(store), "pragma foreign_keys = on");
}

static const struct try_row {
    const char *name;
    try_fn     *run;
} tries[] = {
    {"commit", try_commit},     {"hold", try_hold},   {"resolve", try_resolve},
    {"queue_claim", try_claim}, {"lead", try_lead},   {"timeout_claim", try_timeout_claim},
    {"sweep", try_sweep},       {"stats", try_stats}, {"wait", try_wait},
};

/* ---- What must then be true ------------------------------------------------------ */

static void expect_no_lock(fixture *p, const char *label)
{
    sqlite3 *db = raw_open(p->path);
    if (sqlite3_exec(db, "begin immediate; rollback", NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", label, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* All of a commit or nothing, and nothing but it. */
static void expect_whole(fixture *p, const char *label, pawl_code code, bool is_hold)
{
    int64_t sends = path_number(p->path, "select count(*) from pawl_queue where MessageId = 'm-1'");
    int64_t marks = path_number(p->path, "select count(*) from pawl_inbox");
    int64_t rows  = path_number(p->path, "select count(*) from mine");
    if (sends != marks || rows != (is_hold ? sends : 0))
        fail_msg("%s: %d sends, %d marks, %d rows", label, (int)sends, (int)marks, (int)rows);
    if (code != PAWL_OK && sends != 0)
        fail_msg("%s: %s and applied", label, pawl_code_name(code));
}

static pawl_store *open_with_rows(fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    raw_run(store->ops->native(store), "create table if not exists mine (id integer)");
    raw_run(store->ops->native(store),
            "delete from mine; delete from pawl_inbox; delete from pawl_queue");
    ok(p, send_one(p, store, "known", "m-9"));
    return store;
}

/* False when the try passed untouched. */
static bool fail_once(fixture *p, const struct try_row *row, long n, bool is_expired)
{
    pawl_store *store = open_with_rows(p);
    const char *label =
        test_text("%s, allocation %ld%s%s", row->name, n, is_shortage ? " and all after it" : "",
                  is_expired ? ", expired" : "");
    if (is_expired)
        expire(store);
    void *before   = store->ops->native(store);
    was_reached    = false;
    left           = n;
    pawl_code code = row->run(p, store);
    left           = 0;
    if (!is_expired && row->run == try_commit && store->ops->native(store) != before)
        fail_msg("%s: the connection was closed for a rollback that needs no memory", label);
    if (code != PAWL_OK && code != PAWL_ENOMEM && code != PAWL_ELOST)
        fail_msg("%s: %s: %s", label, pawl_code_name(code), p->error.text);
    expect_no_lock(p, label);
    if (row->run == try_commit || row->run == try_hold)
        expect_whole(p, label, code, row->run == try_hold);
    /* The same handle goes on, and what it commits survives a power cut. */
    if (send_one(p, store, "known", "m-10") != PAWL_OK)
        fail_msg("%s: then %s", label, p->error.text);
    if (raw_number(store->ops->native(store), "pragma synchronous") != 2)
        fail_msg("%s: commits are not synced any longer", label);
    size_t in_hand = row->run == try_claim && code == PAWL_OK;
    if (claim_some(p, store, "known", 9).count + in_hand != 2)
        fail_msg("%s: a row is claimed that nobody has", label);
    test_now(store);
    return was_reached;
}

static void each_allocation_fails(fixture *p, bool shortage, bool is_expired)
{
    long failed = 0;
    is_shortage = shortage;
    for (size_t i = 0; i < COUNT(tries); i++)
        for (long n = 1; fail_once(p, &tries[i], n, is_expired); n++)
            failed++;
    assert_true(failed > 200);
}

ON_FIXTURE(o30_no_lock_stays_when_one_allocation_fails, fixture *p)
{
    each_allocation_fails(p, false, false);
    each_allocation_fails(p, false, true);
}

ON_FIXTURE(o30_no_lock_stays_while_there_is_no_memory, fixture *p)
{
    each_allocation_fails(p, true, false);
}

/* Here the rollback itself cannot be run: the connection is closed and made anew. */
ON_FIXTURE(o30_a_connection_that_cannot_roll_back_is_made_anew, fixture *p)
{
    each_allocation_fails(p, true, true);
}

/* Claims are the handle's, not the connection's: they outlive it. The file is found again
 * from another folder, too. */
ON_FIXTURE(claims_outlive_a_connection, fixture *p)
{
    char before_path[4096];
    assert_non_null(getcwd(before_path, sizeof before_path));
    assert_int_equal(chdir(p->folder), 0);
    pawl_store *store = open_store(p, "sqlite:store.db");
    assert_int_equal(chdir(before_path), 0);
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows rows   = claim_some(p, store, "orders", 1);
    void           *before = store->ops->native(store);
    is_shortage            = true;
    for (long n = 1; store->ops->native(store) == before; n++) {
        assert_true(n < 1000);
        expire(store);
        left = n;
        (void)try_resolve(p, store);
        left = 0;
    }
    assert_int_equal(claim_some(p, store, "orders", 1).count, 0);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 0);
}

/* The connection is made once more for it. */
ON_FIXTURE(a_handle_that_lost_its_connection_ends_its_worker, fixture *p)
{
    pawl_store *store  = open_store(p, p->url);
    void       *before = store->ops->native(store);
    is_shortage        = true;
    for (long n = 1; store->ops->native(store) == before; n++) {
        assert_true(n < 1000);
        expire(store);
        left = n;
        (void)try_resolve(p, store);
        left = 0;
    }
    assert_int_equal(path_number(p->path, "select count(*) from pawl_workers where Process <> 0"),
                     1);
    test_now(store);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_workers where Process <> 0"),
                     0);
}

/* ---- The caller's own transaction -------------------------------------------------- */

static pawl_code enlist(fixture *p, pawl_store *store, sqlite3 *db)
{
    pawl_queue_send  send    = send_of("orders", "m-1");
    pawl_inbox_entry mark    = {.endpoint = TEXT("orders"), .message_id = TEXT("m-0"), .at = NOW};
    pawl_changes     changes = marked_send(&send, &mark);
    return pawl_store_enlist(store, db, &changes, &p->error);
}

static bool enlist_fails_once(fixture *p, long n)
{
    pawl_store *store = open_with_rows(p);
    sqlite3    *db    = raw_open(p->path);
    const char *label = test_text("enlist, allocation %ld", n);
    raw_run(db, "begin; insert into mine values (1)");
    was_reached    = false;
    left           = n;
    pawl_code code = enlist(p, store, db);
    left           = 0;
    bool is_open   = sqlite3_get_autocommit(db) == 0;
    if (!is_open && code == PAWL_OK)
        fail_msg("%s: OK, and the transaction is over", label);
    if (is_open)
        raw_run(db, "commit");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    int64_t sends = path_number(p->path, "select count(*) from pawl_queue where MessageId = 'm-1'");
    int64_t marks = path_number(p->path, "select count(*) from pawl_inbox");
    int64_t rows  = path_number(p->path, "select count(*) from mine");
    if (sends != marks || sends != (code == PAWL_OK) || rows != is_open)
        fail_msg("%s: %s: %d sends, %d marks, %d rows", label, pawl_code_name(code), (int)sends,
                 (int)marks, (int)rows);
    test_now(store);
    return was_reached;
}

ON_FIXTURE(s33_an_enlist_without_memory_leaves_nothing_half, fixture *p)
{
    for (int i = 0; i < 2; i++) {
        long n      = 1;
        is_shortage = i == 1;
        while (enlist_fails_once(p, n))
            n++;
        assert_true(n > 10);
    }
}

int main(void)
{
    replace_memory();
    replace_files();
    return tests_run(NULL, NULL);
}
