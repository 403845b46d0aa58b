/* test_sqlite_checkpoint.c - the log is copied into the file at its size, and begins again, while others read
 * it, or on a full disk; a reader that stays is waited for once, not by each commit; and no checkpoint follows one that
 * was complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "support/tests.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#define LOG_SIZE (INT64_C(1) << 20)
#define BODY_SIZE 65536
#define COMMITS_OF_A_LOG (LOG_SIZE / BODY_SIZE)

/* The driver waits for locks in nanosleep: here its pauses are counted, and are over at once unless
 * something goes on meanwhile. */
static atomic_int  pauses;
static atomic_bool is_time_real;

__attribute__((visibility("default"))) int nanosleep(const struct timespec *pause,
                                                     struct timespec       *left)
{
    atomic_fetch_add(&pauses, 1);
    if (!atomic_load(&is_time_real))
        return 0;
    int result = clock_nanosleep(CLOCK_REALTIME, 0, pause, left);
    errno      = result;
    return result == 0 ? 0 : -1;
}

/* Checkpoints of the driver; those that came directly behind one that had copied all frames. */
static int  checkpoints, restarts, too_many;
static bool was_complete;

static void begin_to_read(sqlite3 *db)
{
    raw_run(db, "begin");
    (void)raw_number(db, "select count(*) from pawl_queue");
}

/* Two connections that read by turns: the next one begins between a commit and its checkpoint. */
static sqlite3 *turns[2];

static void take_turns(bool is_waited_for)
{
    if (turns[0] == NULL)
        return;
    if (!is_waited_for)
        begin_to_read(turns[1]);
    if (sqlite3_get_autocommit(turns[0]) == 0)
        raw_run(turns[0], "commit");
    sqlite3 *next = turns[1];
    turns[1]      = turns[0];
    turns[0]      = next;
}

typedef int checkpoint_fn(sqlite3 *db, const char *name, int mode, int *frames, int *copied);

__attribute__((visibility("default"))) int
sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode, int *frames, int *copied)
{
    checkpoint_fn *real;
    void          *address = dlsym(RTLD_NEXT, "sqlite3_wal_checkpoint_v2");
    int            all = -1, some = -1;
    memcpy(&real, &address, sizeof real);
    take_turns(mode != SQLITE_CHECKPOINT_PASSIVE);
    checkpoints++;
    restarts += mode != SQLITE_CHECKPOINT_PASSIVE;
    too_many += was_complete;
    int result   = real(db, name, mode, &all, &some);
    was_complete = result == SQLITE_OK && all == some;
    if (frames != NULL)
        *frames = all;
    if (copied != NULL)
        *copied = some;
    return result;
}

static pawl_store *open_small(fixture *p)
{
    const char *url = test_text("%s?log_mb=1&synchronous=off", p->url);
    return open_store(p, url);
}

static int64_t log_size(const fixture *p)
{
    struct stat status;
    const char *path = test_text("%s-wal", p->path);
    assert_int_equal(stat(path, &status), 0);
    return (int64_t)status.st_size;
}

/* Sends a message with a body of that size, and takes it away. */
static void write_some(fixture *p, pawl_store *store)
{
    static char     body[BODY_SIZE];
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    memset(body, 'x', sizeof body);
    send.message.body = (pawl_text){.data = body, .size = sizeof body};
    was_complete      = false;
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    was_complete = false;
    pawl_arena_reset(p->arena);
    pawl_queue_rows rows = claim_some(p, store, "orders", 1);
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
}

/* ---- Readers that come and go ------------------------------------------------------------------ */

typedef struct readers {
    const char *path;
    atomic_bool is_ended;
    atomic_int  reads;
} readers;

/* Two connections by turns, so that one of them reads at any time. */
static void *read_on(void *context)
{
    readers *it    = context;
    sqlite3 *db[2] = {raw_open(it->path), raw_open(it->path)};
    begin_to_read(db[0]);
    for (int i = 1; !atomic_load(&it->is_ended); i = 1 - i) {
        begin_to_read(db[i]);
        raw_run(db[1 - i], "commit");
        atomic_fetch_add(&it->reads, 1);
    }
    sqlite3_close(db[0]);
    sqlite3_close(db[1]);
    return NULL;
}

ON_FIXTURE(test_begins_again, fixture *p)
{
    pawl_store *store = open_small(p);
    readers     it    = {.path = p->path};
    pthread_t   thread;
    atomic_store(&is_time_real, true);
    assert_int_equal(pthread_create(&thread, NULL, read_on, &it), 0);
    while (atomic_load(&it.reads) == 0)
        sched_yield();
    for (int i = 0; i < 32 * COMMITS_OF_A_LOG; i++)
        write_some(p, store);
    int64_t size = log_size(p);
    atomic_store(&it.is_ended, true);
    pthread_join(thread, NULL);
    atomic_store(&is_time_real, false);
    if (size > 16 * LOG_SIZE)
        fail_msg("the log has %lld bytes", (long long)size);
}

/* ---- Sizes, and a reader that stays -------------------------------------------------------------- */

ON_FIXTURE(test_has_its_size, fixture *p)
{
    pawl_store *store = open_small(p);
    for (int i = 0; i < 8 * COMMITS_OF_A_LOG; i++)
        write_some(p, store);
    int64_t size = log_size(p);
    if (size < LOG_SIZE || size > 2 * LOG_SIZE)
        fail_msg("the log has %lld bytes", (long long)size);
}

/* The commit behind a complete checkpoint begins the log again by itself. */
ON_FIXTURE(test_leaves_a_complete_checkpoint_alone, fixture *p)
{
    pawl_store *store = open_small(p);
    checkpoints = restarts = too_many = 0;
    for (int i = 0; i < 8 * COMMITS_OF_A_LOG; i++)
        write_some(p, store);
    assert_true(checkpoints >= 4);
    assert_int_equal(restarts, 0);
    assert_int_equal(too_many, 0);
    if (log_size(p) > 2 * LOG_SIZE)
        fail_msg("the log has %lld bytes", (long long)log_size(p));
}

/* Others read the log whenever a checkpoint has copied all of it, so no commit begins it again by itself. */
ON_FIXTURE(test_begins_again_behind_a_complete_checkpoint, fixture *p)
{
    pawl_store *store = open_small(p);
    write_some(p, store);
    turns[0]    = raw_open(p->path);
    turns[1]    = raw_open(p->path);
    checkpoints = restarts = too_many = 0;
    for (int i = 0; i < 8 * COMMITS_OF_A_LOG; i++)
        write_some(p, store);
    sqlite3_close(turns[0]);
    sqlite3_close(turns[1]);
    turns[0] = turns[1] = NULL;
    assert_true(checkpoints >= 8);
    assert_int_equal(too_many, 0);
    if (log_size(p) > 2 * LOG_SIZE)
        fail_msg("the log has %lld bytes", (long long)log_size(p));
}

/* Writes until a commit waits; the pages of the log by then are in its file. */
static int64_t write_until_it_waits(fixture *p, pawl_store *store)
{
    atomic_store(&pauses, 0);
    for (int i = 0; atomic_load(&pauses) == 0; i++) {
        assert_true(i < 8 * COMMITS_OF_A_LOG);
        write_some(p, store);
    }
    return log_size(p);
}

ON_FIXTURE(test_waits_once, fixture *p)
{
    pawl_store *store  = open_small(p);
    sqlite3    *reader = raw_open(p->path);
    write_some(p, store);
    begin_to_read(reader);
    int64_t first = write_until_it_waits(p, store);
    int     waits = atomic_load(&pauses);
    if (waits > 100) /* of 0.2 ms and more: no longer than a checkpoint may */
        fail_msg("%d pauses", waits);
    int64_t second = write_until_it_waits(p, store);
    if (second - first < LOG_SIZE * 3 / 4)
        fail_msg("waited again after %lld bytes", (long long)(second - first));
    raw_run(reader, "commit");
    for (int i = 0; i < 4 * COMMITS_OF_A_LOG; i++)
        write_some(p, store);
    int64_t third = log_size(p);
    begin_to_read(reader); /* an old state once more: the log is as short as it was */
    (void)write_until_it_waits(p, store);
    if (log_size(p) > third)
        fail_msg("the log grew from %lld to %lld bytes", (long long)third, (long long)log_size(p));
    sqlite3_close(reader);
}

/* ---- A full disk --------------------------------------------------------------------------------- */

/* No file grows; what is in one can be written anew. */
static ssize_t write_without_growing(int fd, const void *bytes, size_t size, off_t offset)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    if (offset + (off_t)size > status.st_size) {
        errno = ENOSPC;
        return -1;
    }
    return pwrite(fd, bytes, size, offset);
}

static void set_writes(sqlite3_syscall_ptr call)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    assert_int_equal(vfs->xSetSystemCall(vfs, "pwrite", call), SQLITE_OK);
    assert_int_equal(vfs->xSetSystemCall(vfs, "pwrite64", call), SQLITE_OK);
}

/* The file has free pages, the log has the room, and is far from its size. */
ON_FIXTURE(test_the_log_gives_its_room_on_a_full_disk, fixture *p)
{
    pawl_store *store = open_small(p);
    sqlite3    *db    = store->ops->native(store);
    for (int i = 0; i < 4; i++)
        write_some(p, store);
    raw_run(db, "pragma wal_checkpoint(truncate)");
    for (int i = 0; i < 4; i++)
        write_some(p, store);
    checkpoints = restarts = 0;
    set_writes((sqlite3_syscall_ptr)write_without_growing);
    expect_code(p, send_one(p, store, "orders", "m-2"), PAWL_EFULL);
    assert_int_equal(checkpoints, 1);
    assert_int_equal(restarts, 1); /* under the write lock */
    pawl_code code = send_one(p, store, "orders", "m-2");
    set_writes(NULL);
    ok(p, code);
    assert_int_equal(raw_number(db, "select count(*) from pawl_queue"), 1);
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    pawl_store_handler_transaction_end(store);
    assert_int_equal(checkpoints, 1); /* no rollback for another reason makes one */
}

/* The lock is waited for as long as the URL says, checkpoints or not. */
ON_FIXTURE(test_lock, fixture *p)
{
    pawl_store *store = open_small(p);
    sqlite3    *other = raw_open(p->path);
    for (int i = 0; i < 2 * COMMITS_OF_A_LOG; i++)
        write_some(p, store);
    raw_run(other, "begin immediate");
    atomic_store(&pauses, 0);
    expect_code(p, send_one(p, store, "orders", "m-2"), PAWL_EBUSY);
    if (atomic_load(&pauses) < 1000) /* of 20 ms at most: 30 s, the call's deadline */
        fail_msg("%d pauses", atomic_load(&pauses));
    sqlite3_close(other);
}

ON_FIXTURE(test_refuses, fixture *p)
{
    pawl_store *store = NULL;
    const char *url   = test_text("%s?log_mb=0", p->url);
    refuses(p, open_as(p, url, PAWL_OPEN_CREATE, order_tables, 1, &store), PAWL_ECONFIG,
            "log_mb is '0', may be 1 to 65536");
}
