/* test_sqlite_file.c - the file is deleted, moved away or replaced while it is open: a
 * handle says so at its next call, and answers OK for nothing that would be lost
 * (O32). The lock file beside it: its owner and mode, and its descriptor behind a fork.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "support/tests.h"

#include <errno.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define DELETED "deleted, or moved away"
#define REPLACED "another file took the place"

static void delete_file(const fixture *p)
{
    assert_int_equal(unlink(p->path), 0);
}

static void move_away(const fixture *p)
{
    assert_int_equal(rename(p->path, test_text("%s-copy", p->path)), 0);
}

/* The file as a restored backup: another inode under the same name. */
static void replace_file(const fixture *p)
{
    const char *other = test_text("%s-copy", p->path);
    sqlite3    *db    = raw_open(other);
    raw_run(db, "create table other (id integer)");
    sqlite3_close(db);
    assert_int_equal(rename(other, p->path), 0);
}

static void delete_log(const fixture *p)
{
    (void)unlink(test_text("%s-wal", p->path));
    (void)unlink(test_text("%s-shm", p->path));
}

static pawl_code try_send(fixture *p, pawl_store *store)
{
    return send_one(p, store, "orders", "m-2");
}

static pawl_code try_claim(fixture *p, pawl_store *store)
{
    pawl_queue_rows  rows;
    pawl_queue_claim claim = {.queue = TEXT("orders"), .due_max = NOW, .count_max = 1, .now = NOW};
    return pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error);
}

static pawl_code try_stats(fixture *p, pawl_store *store)
{
    pawl_stats stats = PAWL_STATS_INIT;
    return pawl_store_stats(store, NOW, p->arena, &stats, &p->error);
}

static pawl_code try_lead(fixture *p, pawl_store *store)
{
    bool is_held;
    return pawl_store_lead(store, TEXT("outbox/orders"), NOW, 1000, &is_held, &p->error);
}

static pawl_code try_hold(fixture *p, pawl_store *store)
{
    return pawl_store_handler_transaction_begin(store, &p->error);
}

static pawl_code try_wait(fixture *p, pawl_store *store)
{
    return pawl_store_wait(store, PAWL_SECONDS(60), -1, &p->error);
}

static void expect_noticed(fixture *p, pawl_store *store, const char *says)
{
    static pawl_code (*const tries[])(fixture * p, pawl_store * store) = {
        try_send, try_claim, try_stats, try_lead, try_hold, try_wait, try_send};
    for (size_t i = 0; i < COUNT(tries); i++) {
        p->error = (pawl_error)PAWL_ERROR_INIT;
        refuses(p, tries[i](p, store), PAWL_EUNREACHABLE, says);
        expect_text(p, p->path);
    }
}

ON_FIXTURE(a_file_that_is_gone_is_noticed, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    delete_file(p);
    expect_noticed(p, store, DELETED);
    test_now(store);
    assert_int_equal(access(p->path, F_OK), -1); /* nothing brought it back */

    store = open_store(p, p->url);
    move_away(p);
    expect_noticed(p, store, DELETED);
}

ON_FIXTURE(another_file_in_its_place_is_noticed, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    replace_file(p);
    expect_noticed(p, store, REPLACED);
    test_now(store);
    delete_log(p); /* the log is the old file's */
    assert_int_equal(path_number(p->path, "select count(*) from sqlite_master"), 1);
}

/* The handler's own SQL went into a file that nobody will find. */
ON_FIXTURE(a_commit_of_a_hold_is_refused, fixture *p)
{
    pawl_store     *store   = open_store(p, p->url);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    delete_file(p);
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_EUNREACHABLE);
    assert_int_equal(sqlite3_get_autocommit(store->ops->native(store)), 1);
}

static int delete_now(unsigned what, void *context, void *statement, void *text)
{
    (void)unlink(((fixture *)context)->path);
    return 0;
}

/* A worker with nothing to do sleeps for half a minute. */
ON_FIXTURE(a_wait_notices_it, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    sqlite3_trace_v2(store->ops->native(store), SQLITE_TRACE_STMT, delete_now, p);
    refuses(p, try_wait(p, store), PAWL_EUNREACHABLE, DELETED);
}

/* ---- The lock file beside it ----------------------------------------------- */

/* The child may open a file under the number that the lock file had. */
ON_FIXTURE(a_grandchild_keeps_what_its_parent_opened, fixture *p)
{
    int status;
    open_store(p, p->url);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int files[20], lost = 0;
        for (size_t i = 0; i < COUNT(files); i++)
            files[i] = open("/dev/null", O_RDONLY);
        pid_t grandchild = fork();
        for (size_t i = 0; grandchild == 0 && i < COUNT(files); i++)
            lost += fcntl(files[i], F_GETFD) < 0;
        if (grandchild == 0)
            _exit(lost);
        _exit(waitpid(grandchild, &status, 0) != grandchild || status != 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Whoever's command makes the lock file, the users of the database can open it. */
ON_FIXTURE(the_lock_file_has_the_owner_and_mode_of_the_database, fixture *p)
{
    struct stat made;
    const char *path = test_text("%s-pawl", p->path);
    test_now(open_store(p, p->url));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(chmod(p->path, 0660), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(p->path, 65534, 65534), 0);
    test_now(open_store(p, p->url));
    assert_int_equal(stat(path, &made), 0);
    assert_int_equal(made.st_mode & 0777, 0660);
    assert_int_equal(made.st_uid, geteuid() == 0 ? 65534 : geteuid());
}

/* A user of the folder may put a link there that root's command follows. */
ON_FIXTURE(a_lock_file_that_leads_elsewhere_is_refused, fixture *p)
{
    static const char *const why[] = {"a symbolic link", "several names", "a symbolic link",
                                      "no regular file"};
    struct stat              it;
    pawl_store              *store = NULL;
    ok(p, open_as(p, p->url, PAWL_OPEN_CREATE, order_tables, 1, &store));
    assert_int_equal(chmod(p->path, 0664), 0);
    const char *name  = test_text("%s-pawl", p->path);
    const char *other = test_text("%s-copy", p->path);
    int         file  = open(other, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    for (size_t i = 0; i < COUNT(why); i++) {
        assert_int_equal(i == 0   ? symlink(other, name)
                         : i == 1 ? link(other, name)
                         : i == 2 ? symlink("nothing", name)
                                  : mkfifo(name, 0600),
                         0);
        pawl_code code = pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error);
        refuses(p, code, PAWL_EUNREACHABLE, name);
        expect_text(p, why[i]);
        assert_int_equal(unlink(name), 0);
    }
    assert_int_equal(fstat(file, &it), 0);
    assert_int_equal(it.st_mode & 0777, 0600);
    close(file);
    assert_int_equal(access(test_text("%s/nothing", p->folder), F_OK), -1);
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
}

/* A file that pawl did not make keeps its mode: another user may have put it there. */
ON_FIXTURE(a_lock_file_that_is_there_keeps_its_mode, fixture *p)
{
    struct stat it;
    const char *name = test_text("%s-pawl", p->path);
    test_now(open_store(p, p->url));
    assert_int_equal(chmod(name, 0600), 0);
    assert_int_equal(chmod(p->path, 0664), 0);
    test_now(open_store(p, p->url));
    assert_int_equal(stat(name, &it), 0);
    assert_int_equal(it.st_mode & 0777, 0600);
}

/* ---- A disk that fails ------------------------------------------------------------ */

static ssize_t read_nothing(int fd, void *bytes, size_t size, off_t offset)
{
    errno = EIO;
    return -1;
}

static void set_reads(sqlite3_syscall_ptr call)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    assert_int_equal(vfs->xSetSystemCall(vfs, "pread", call), SQLITE_OK);
    assert_int_equal(vfs->xSetSystemCall(vfs, "pread64", call), SQLITE_OK);
}

/* No message fails by it, and the file is not called damaged. The other handle's send makes the pages old that the first
 * one has read. */
ON_FIXTURE(a_disk_that_cannot_be_read_is_waited_for, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    ok(p, send_one(p, open_store(p, p->url), "orders", "m-1"));
    set_reads((sqlite3_syscall_ptr)read_nothing);
    expect_code(p, send_one(p, store, "orders", "m-2"), PAWL_EUNREACHABLE);
    set_reads(NULL);
    ok(p, send_one(p, store, "orders", "m-2"));
}

/* A damaged row of a lease: its epoch cannot be raised. */
ON_FIXTURE(a_lease_whose_epoch_cannot_be_raised_is_damaged, fixture *p)
{
    static const char *const epochs[] = {"9223372036854775807", "-9223372036854775807"};
    pawl_store              *store    = open_store(p, p->url);
    sqlite3                 *db       = raw_open(p->path);
    for (size_t i = 0; i < COUNT(epochs); i++) {
        bool             is_held;
        pawl_queue_rows  rows;
        pawl_queue_claim claim = {
            .queue = TEXT("orders"), .due_max = NOW, .count_max = 1, .now = NOW};
        raw_run(
            db,
            test_text(
                "insert or replace into pawl_leases (Name, Worker, Process, Pid, Epoch, Expires) "
                "values ('queue:orders', null, 0, 0, %s, 0), ('lead:one', null, 0, 0, %s, 0)",
                epochs[i], epochs[i]));
        refuses(p, pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error),
                PAWL_ENOTSTORE, "the lease 'queue:orders' is damaged");
        refuses(p, pawl_store_lead(store, TEXT("one"), NOW, 1000, &is_held, &p->error),
                PAWL_ENOTSTORE, epochs[i]);
    }
    sqlite3_close(db);
}
