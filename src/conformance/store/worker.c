/* worker.c - handles and workers: listing, fork, waiting, interrupting,
 * holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#include "pawl/pawl.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const pawl_worker_info *find(const pawl_worker_info *items, size_t count, pawl_worker_id id)
{
    for (size_t i = 0; i < count; i++)
        if (pawl_uuid_compare(items[i].id.uuid, id.uuid) == 0)
            return &items[i];
    return NULL;
}

static void live_workers_are_listed(suite *s)
{
    pawl_store       *a = suite_open(s), *b = suite_open(s), *sender = suite_open_bare(s);
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    EXPECT_OK(s, pawl_store_worker_open(sender, TEXT(""), TEXT("[]"), SUITE_NOW, &s->error));
    EXPECT_OK(s, pawl_store_worker_list(b, s->arena, &items, &count, &s->error));
    EXPECT_EQ(s, count, 3);
    const pawl_worker_info *info = find(items, count, pawl_store_worker(a));
    EXPECT(s, info != NULL);
    EXPECT_TEXT(s, info->endpoint, TEXT("suite"));
    EXPECT_TEXT(s, info->types, TEXT("[\"PlaceOrder\"]"));
    EXPECT(s, info->epoch > 0);
    info = find(items, count, pawl_store_worker(sender));
    EXPECT(s, info != NULL && info->endpoint.size == 0);
    suite_end_worker(s, a);
    EXPECT_OK(s, pawl_store_worker_list(b, s->arena, &items, &count, &s->error));
    EXPECT_EQ(s, count, 2);
    EXPECT(s, find(items, count, pawl_store_worker(a)) == NULL);
    EXPECT(s, find(items, count, pawl_store_worker(b)) != NULL);
}

static const pawl_worker_info *row_of(suite *s, pawl_store *reader, const pawl_store *store)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    EXPECT_OK(s, pawl_store_worker_list(reader, s->arena, &items, &count, &s->error));
    const pawl_worker_info *row = find(items, count, pawl_store_worker(store));
    EXPECT(s, row != NULL);
    return row;
}

/* A name of the largest size, with two-byte characters, is kept completely; one more byte is cut off. */
static void a_workers_row_names_its_program_version_and_host(suite *s)
{
    pawl_store *a = suite_open_bare(s), *b = suite_open(s);
    char        name[PAWL_NAME_SIZE_MAX + 2];
    pawl_text   whole  = {.data = name, .size = PAWL_NAME_SIZE_MAX};
    pawl_text   longer = {.data = name, .size = sizeof name};
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = "\xC3\xA9"[i % 2];
    pawl_store_program_set(a, whole, longer);
    EXPECT_OK(s, pawl_store_worker_open(a, TEXT("suite"), TEXT("[]"), SUITE_NOW, &s->error));
    const pawl_worker_info *row = row_of(s, b, a), *about = pawl_store_program(a);
    EXPECT_TEXT(s, row->program, whole);
    EXPECT_TEXT(s, row->program_version, about->program_version);
    EXPECT(s, row->program_version.size > 0 && row->program_version.size <= PAWL_NAME_SIZE_MAX);
    EXPECT_TEXT(s, row->host, about->host);
    EXPECT_TEXT(s, row->pawl_version, pawl_text_of(pawl_version()));
    EXPECT(s, row->started > 0 && row->started <= row->seen);
    row = row_of(s, a, b);
    EXPECT_TEXT(s, row->host, about->host);
    EXPECT_EQ(s, row->program.size, 0);
    EXPECT_EQ(s, row->program_version.size, 0);
}

/* Times are kept to the microsecond. */
static void a_workers_start_and_last_seen_times_are_the_callers(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_set   set = suite_changes(s);
    EXPECT_EQ(s, row_of(s, b, a)->started, SUITE_NOW);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"), .at = SUITE_NOW);
    set.changes.now = SUITE_NOW + 7;
    COMMIT(&set, a);
    EXPECT_EQ(s, row_of(s, b, a)->seen, SUITE_NOW + 7);
    EXPECT_EQ(s, row_of(s, b, a)->started, SUITE_NOW);
}

static void committed_data_stays_after_the_handle_that_wrote_it_is_closed(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW);
    suite_end_worker(s, a);
    suite_close(s, a);
    pawl_store *c = suite_open(s);
    EXPECT_EQ(s, suite_claim(s, c, TEXT("orders"), SUITE_NOW, 1).count, 1);
    EXPECT_EQ(s, suite_queue(s, b, TEXT("orders")).count, 1);
    EXPECT(s, strcmp(pawl_store_identity(b), pawl_store_identity(c)) == 0);
    EXPECT(s, pawl_store_identity(b)[0] != '\0');
}

static void fill(suite *s, pawl_store *a)
{
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(1), .destination = TEXT("orders"),
               .due = SUITE_NOW);
    COMMIT_ONE(s, a, aggregator_add, .name = TEXT("Bills"), .partition = TEXT("Bills"),
               .key = TEXT("k"), .message = suite_message(s, TEXT("k")), .at = SUITE_NOW,
               .due = SUITE_NOW);
}

/* Can this handle claim the message, the timeout and the partition? */
static void expect_claimed(suite *s, pawl_store *store, unsigned owner, size_t count)
{
    EXPECT_EQ(s, suite_claim(s, store, TEXT("orders"), SUITE_NOW, 1).count, count);
    EXPECT_EQ(s, suite_claim_timeouts(s, store, owner, SUITE_NOW, 1).count, count);
    EXPECT_EQ(s, suite_snapshot_of(s, store, TEXT("Bills"), owner, SUITE_NOW).count, count);
}

/* Claims, leases and leadership end with the worker. */
static void closing_a_worker_ends_its_claims_and_leases(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    fill(s, a);
    expect_claimed(s, a, 70, 1);
    expect_claimed(s, b, 71, 0);
    suite_end_worker(s, a);
    expect_claimed(s, b, 71, 1);
}

/* Another handle takes over the worker, as after a thread that hangs. The old handle is open, but not used. Stores that
 * name a missing privilege are excused: without it the old session lasts until the server ends it. */
static pawl_store *take_over(suite *s, const pawl_store *old)
{
    pawl_store *by = suite_open_bare(s);
    pawl_store_worker_set(by, pawl_store_worker(old));
    pawl_store_program_set(by, TEXT("heir"), TEXT("2"));
    pawl_code code =
        pawl_store_worker_open(by, TEXT("suite"), TEXT("[]"), SUITE_NOW + 1, &s->error);
    if (code == PAWL_EBUSY && strstr(s->error.text, PAWL_STORE_KEEPS_SESSION) != NULL)
        suite_not_applicable(s, PAWL_STORE_KEEPS_SESSION);
    EXPECT_CODE(s, code, PAWL_OK);
    return by;
}

static void end_worker_and_close(suite *s, pawl_store *store)
{
    suite_end_worker(s, store);
    suite_close(s, store);
}

/* The claims are free as soon as the worker is taken over, not only after its end. */
static void a_worker_that_is_taken_over_loses_its_claims_and_leases(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    fill(s, a);
    expect_claimed(s, a, 70, 1);
    expect_claimed(s, b, 71, 0);
    pawl_store *by = take_over(s, a);
    expect_claimed(s, b, 71, 1);
    end_worker_and_close(s, by);
    suite_set     set     = suite_changes(s);
    pawl_refusals refused = {.arena = s->arena};
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("late"), .at = SUITE_NOW);
    EXPECT(s, suite_try(&set, a, &refused) != PAWL_OK);
    EXPECT(s, !suite_knows(s, b, TEXT("suite"), TEXT("late")));
}

/* Opens a handle without a worker, as senders have, and removes its row, as a sweep does after a long pause. If its
 * session was ended, too, the next commit may fail with PAWL_ELOST. */
static pawl_store *open_swept(suite *s)
{
    pawl_store *idle = suite_open_bare(s);
    suite_send(s, idle, TEXT("orders"), "m-1", SUITE_NOW);
    end_worker_and_close(s, take_over(s, idle));
    return idle;
}

static pawl_code send_again(suite *s, pawl_store *store, const char *id)
{
    pawl_code code = PAWL_ELOST;
    for (int tries = 0; tries < 3 && (code == PAWL_ELOST || code == PAWL_EUNKNOWN); tries++) {
        pawl_refusals refused;
        suite_set     set = suite_changes(s);
        ADD(&set, queue_send, .queue = TEXT("orders"), .due = SUITE_NOW,
            .message = suite_message(s, pawl_text_of(id)));
        code = suite_try(&set, store, &refused);
    }
    return code;
}

static void a_handle_that_opened_no_worker_can_commit_after_its_row_was_deleted(suite *s)
{
    pawl_store *idle = open_swept(s), *b = suite_open(s);
    EXPECT_CODE(s, send_again(s, idle, "m-2"), PAWL_OK);
    EXPECT_EQ(s, row_of(s, b, idle)->endpoint.size, 0);
    suite_send(s, idle, TEXT("orders"), "m-3", SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, b, TEXT("orders"), SUITE_NOW, 9).count, 3);
    suite_end_worker(s, idle);
    EXPECT_CODE(s, send_again(s, idle, "m-4"), PAWL_EFENCED);
    EXPECT_OK(s, pawl_store_worker_open(idle, TEXT("suite"), TEXT("[]"), SUITE_NOW, &s->error));
    suite_send(s, idle, TEXT("orders"), "m-5", SUITE_NOW);
    end_worker_and_close(s, take_over(s, idle)); /* this worker was opened explicitly */
    EXPECT_CODE(s, send_again(s, idle, "m-6"), PAWL_EFENCED);
}

static void a_worker_that_is_taken_over_shows_the_program_that_took_it_over(suite *s)
{
    pawl_store             *a = suite_open(s), *b = suite_open(s);
    const pawl_worker_info *before = row_of(s, b, a);
    EXPECT_EQ(s, before->program.size, 0);
    pawl_store             *by    = take_over(s, a);
    const pawl_worker_info *after = row_of(s, b, by);
    EXPECT_TEXT(s, after->program, TEXT("heir"));
    EXPECT_TEXT(s, after->program_version, TEXT("2"));
    EXPECT_TEXT(s, after->host, before->host);
    EXPECT_TEXT(s, after->pawl_version, before->pawl_version);
    EXPECT(s, after->started > before->started);
}

/* The worker that is taken over has an open handler transaction. */
static void a_handler_transaction_whose_worker_is_taken_over_is_rolled_back(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    if ((pawl_store_promises(a) & PAWL_STORE_ROW_LOCKS) == 0)
        suite_not_applicable(s, "in this store an open transaction blocks all other writers");
    suite_insert_order(s, a, 1, "order-1");
    pawl_value    ref = pawl_value_text(TEXT("order-1"));
    pawl_saga_row row = {0};
    EXPECT_OK(s, pawl_store_handler_transaction_begin(a, &s->error));
    EXPECT_OK(s, pawl_store_saga_load(a, s->tables[SUITE_ORDER], PAWL_SAGA_BY_MAIN, &ref, 1,
                                      PAWL_SAGA_LOCKED, s->arena, &row, &s->error));
    end_worker_and_close(s, take_over(s, a));
    COMMIT_ONE(s, b, saga_update, .table = s->tables[SUITE_ORDER], .id = row.id, .version = 1,
               .row = row.row, .metadata = TEXT("{}"), .data = TEXT("{\"n\":2}"),
               .type_version = TEXT("1.0"));
    pawl_store_handler_transaction_end(a);
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 1).version, 2);
}

/* Returns the child's failures as bits, for its exit code. */
static int try_in_child(suite *s, pawl_store *store)
{
    pawl_queue_rows  rows  = {0};
    pawl_queue_claim claim = {
        .queue = TEXT("orders"), .due_max = SUITE_NOW, .count_max = 1, .now = SUITE_NOW};
    pawl_refusals refused;
    suite_set     set   = suite_changes(s);
    int           wrong = 0;
    ADD(&set, queue_send, .queue = TEXT("orders"), .due = SUITE_NOW,
        .message = suite_message(s, TEXT("from the child")));
    if (pawl_store_queue_claim(store, &claim, s->arena, &rows, &s->error) != PAWL_EINVAL)
        wrong |= 1;
    if (suite_try(&set, store, &refused) != PAWL_EINVAL)
        wrong |= 2;
    return wrong;
}

static void a_handle_is_refused_in_a_forked_child_process(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW);
    pid_t child = fork();
    if (child == 0)
        _exit(try_in_child(s, a));
    int status = -1;
    EXPECT(s, child > 0 && waitpid(child, &status, 0) == child);
    EXPECT(s, WIFEXITED(status));
    EXPECT_EQ(s, WEXITSTATUS(status), 0);
    EXPECT_EQ(s, suite_claim(s, a, TEXT("orders"), SUITE_NOW, 9).count, 1);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("orders")).count, 1);
}

typedef struct waiting {
    pawl_store *store;
    int         wake_fd;
    pawl_code   code;
    atomic_bool is_done;
} waiting;

static void *wait_long(void *context)
{
    waiting *w = context;
    w->code    = pawl_store_wait(w->store, PAWL_SECONDS(10), w->wake_fd, NULL);
    atomic_store(&w->is_done, true);
    return NULL;
}

/* Half of the wait is enough for a thread to begin. */
static bool is_done_soon(waiting *w)
{
    for (unsigned tries = 0; tries < 500 && !atomic_load(&w->is_done); tries++)
        (void)poll(NULL, 0, 10);
    return atomic_load(&w->is_done);
}

/* The descriptor is ready, so the call does not wait; it stays ready. */
static void wait_ends_when_the_wake_descriptor_is_readable(suite *s)
{
    waiting   w = {.store = suite_open(s)};
    int       ends[2];
    char      byte = 'x', read_back = 0;
    pthread_t thread;
    EXPECT_EQ(s, pipe(ends), 0);
    w.wake_fd       = ends[0];
    ssize_t written = write(ends[1], &byte, 1);
    int     begun   = pthread_create(&thread, NULL, wait_long, &w);
    bool    is_soon = begun == 0 && is_done_soon(&w);
    if (begun == 0)
        pthread_join(thread, NULL);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    ssize_t got = read(ends[0], &read_back, 1);
    close(ends[0]);
    close(ends[1]);
    EXPECT_EQ(s, written, 1);
    EXPECT_OK(s, w.code);
    EXPECT(s, is_soon);
    EXPECT_EQ(s, got, 1);
    EXPECT_EQ(s, read_back, 'x');
    EXPECT_OK(s, pawl_store_wait(w.store, 0, -1, &s->error));
}

static void an_interrupt_ends_a_wait(suite *s)
{
    pawl_store *a = suite_open(s);
    waiting     w = {.store = a, .wake_fd = -1};
    pthread_t   thread;
    atomic_init(&w.is_done, false);
    /* Notices all earlier commits, so that the long wait is not ended by them. */
    EXPECT_OK(s, pawl_store_wait(a, 0, -1, &s->error));
    EXPECT_EQ(s, pthread_create(&thread, NULL, wait_long, &w), 0);
    /* An interrupt has no effect before the call begins, so it is repeated. */
    while (!atomic_load(&w.is_done)) {
        pawl_store_interrupt(a);
        sched_yield();
    }
    pthread_join(thread, NULL);
    EXPECT_EQ(s, w.code, PAWL_EINTERRUPTED);
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, a, TEXT("orders"), SUITE_NOW, 1).count, 1);
}

static void a_handler_transaction_ends_with_commit_or_handler_transaction_end(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    if ((pawl_store_promises(a) & PAWL_STORE_HAS_SQL) == 0)
        suite_not_applicable(s, "the store does not promise PAWL_STORE_HAS_SQL");
    suite_insert_order(s, a, 1, "order-1");
    pawl_store_handler_transaction_end(a);
    EXPECT_OK(s, pawl_store_handler_transaction_begin(a, &s->error));
    const char *type = pawl_store_native_type(a);
    EXPECT(s, type != NULL && type[0] != '\0');
    EXPECT(s, pawl_store_native(a, type) != NULL);
    EXPECT(s, pawl_store_native(a, "not a type") == NULL);
    pawl_value    ref = pawl_value_text(TEXT("order-1"));
    pawl_saga_row row = {0};
    EXPECT_OK(s, pawl_store_saga_load(a, s->tables[SUITE_ORDER], PAWL_SAGA_BY_MAIN, &ref, 1,
                                      PAWL_SAGA_LOCKED, s->arena, &row, &s->error));
    EXPECT_EQ(s, row.version, 1);
    COMMIT_ONE(s, a, saga_update, .table = s->tables[SUITE_ORDER], .id = row.id, .version = 1,
               .row = row.row, .metadata = TEXT("{}"), .data = TEXT("{\"n\":2}"),
               .type_version = TEXT("1.0"));
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 1).version, 2);
    EXPECT_OK(s, pawl_store_handler_transaction_begin(a, &s->error));
    pawl_store_handler_transaction_end(a);
    pawl_store_handler_transaction_end(a);
    suite_insert_order(s, b, 2, "order-2");
    suite_insert_order(s, a, 3, "order-3");
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 3);
}

/* Begins a transaction and locks the row, as for a pessimistic saga. */
static pawl_code find_in_handler_transaction(suite *s, pawl_store *store, pawl_saga_row *row)
{
    pawl_value ref  = pawl_value_text(TEXT("order-1"));
    pawl_code  code = pawl_store_handler_transaction_begin(store, &s->error);
    return code == PAWL_OK
               ? pawl_store_saga_load(store, s->tables[SUITE_ORDER], PAWL_SAGA_BY_MAIN, &ref, 1,
                                      PAWL_SAGA_LOCKED, s->arena, row, &s->error)
               : code;
}

static void save_in_handler_transaction(suite *s, pawl_store *store, int64_t version)
{
    COMMIT_ONE(s, store, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1),
               .version = version, .metadata = TEXT("{}"), .data = TEXT("{}"),
               .type_version = TEXT("1.0"));
}

/* The second locked load waits up to the handle's deadline, and may be repeated. After the first commit it sees the
 * current rows. */
static void a_second_locked_load_waits_or_fails_with_a_code_that_allows_a_retry(suite *s)
{
    pawl_store   *a = suite_open(s), *b = suite_open(s);
    pawl_saga_row row = {.version = 0};
    if ((pawl_store_promises(a) & PAWL_STORE_HAS_SQL) == 0)
        suite_not_applicable(s, "the store does not promise PAWL_STORE_HAS_SQL");
    suite_insert_order(s, a, 1, "order-1");
    EXPECT_OK(s, find_in_handler_transaction(s, a, &row));
    EXPECT_EQ(s, row.version, 1);
    pawl_store *brief = suite_open_brief(s);
    pawl_code   code  = find_in_handler_transaction(s, brief, &row);
    EXPECT(s, code != PAWL_OK);
    EXPECT(s, pawl_code_retry(code) != PAWL_RETRY_NEVER);
    pawl_store_handler_transaction_end(brief);
    save_in_handler_transaction(s, a, 1);
    EXPECT_OK(s, find_in_handler_transaction(s, b, &row));
    EXPECT_EQ(s, row.version, 2);
    save_in_handler_transaction(s, b, 2);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 3);
}

static void a_refused_commit_rolls_back_the_handler_transaction(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    if ((pawl_store_promises(a) & PAWL_STORE_HAS_SQL) == 0)
        suite_not_applicable(s, "the store does not promise PAWL_STORE_HAS_SQL");
    suite_insert_order(s, a, 1, "order-1");
    EXPECT_OK(s, pawl_store_handler_transaction_begin(a, &s->error));
    suite_set set = suite_changes(s);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"), .at = SUITE_NOW);
    ADD(&set, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1), .version = 9,
        .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
    REFUSED(&set, a);
    EXPECT(s, !suite_knows(s, b, TEXT("suite"), TEXT("m-1")));
    suite_insert_order(s, b, 2, "order-2");
    suite_insert_order(s, a, 3, "order-3");
}

/* The rollback undoes everything that the handler did, but keeps the claims: no other worker gets the message before
 * its failure is committed. Repeated, as a message is retried at once. */
static void rolling_back_a_handler_transaction_keeps_the_claimed_messages(suite *s)
{
    pawl_store   *a = suite_open(s), *b = suite_open(s);
    pawl_saga_row row = {.version = 0};
    if ((pawl_store_promises(a) & PAWL_STORE_HAS_SQL) == 0)
        suite_not_applicable(s, "the store does not promise PAWL_STORE_HAS_SQL");
    suite_insert_order(s, a, 1, "order-1");
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW);
    suite_send(s, a, TEXT("orders"), "m-2", SUITE_NOW);
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, 1);
    EXPECT_EQ(s, rows.count, 1);
    for (int tries = 0; tries < 3; tries++) {
        EXPECT_OK(s, find_in_handler_transaction(s, a, &row));
        pawl_store_handler_transaction_end(a);
        pawl_store     *other = suite_open(s);
        pawl_queue_rows left  = suite_claim(s, other, TEXT("orders"), SUITE_NOW, 9);
        EXPECT_EQ(s, left.count, 1);
        EXPECT_TEXT(s, left.items[0].message.id, TEXT("m-2"));
        end_worker_and_close(s, other);
    }
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
               .seq = rows.items[0].seq);
    EXPECT_EQ(s, suite_claim(s, b, TEXT("orders"), SUITE_NOW, 9).count, 1);
}

/* Idle as a worker: claims nothing, reads the next due time, and waits for a moment. */
static void go_to_sleep(suite *s, pawl_store *store)
{
    pawl_next_due next;
    EXPECT_EQ(s, suite_claim(s, store, TEXT("orders"), SUITE_NOW, 10).count, 0);
    EXPECT_EQ(s, suite_claim_timeouts(s, store, 80, SUITE_NOW, 10).count, 0);
    EXPECT_OK(s, pawl_store_next_due(store, TEXT("orders"), NULL, 0, &next, &s->error));
    EXPECT_OK(s, pawl_store_wait(store, PAWL_MILLISECONDS(1), -1, &s->error));
}

static void expect_woken(suite *s, pawl_store *store)
{
    struct timespec begin, end;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    EXPECT_OK(s, pawl_store_wait(store, PAWL_SECONDS(9), -1, &s->error));
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    EXPECT(s, end.tv_sec - begin.tv_sec < 8);
}

/* Not for the memory store, which has no other processes; there each commit wakes the other handles itself. */
static void a_released_timeout_wakes_a_waiting_worker(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s), *operator= suite_open(s);
    if ((pawl_store_promises(a) & PAWL_STORE_HAS_WAKE) == 0 ||
        (pawl_store_promises(a) & PAWL_STORE_HAS_SQL) == 0)
        suite_not_applicable(
            s, "the store does not promise PAWL_STORE_HAS_WAKE and PAWL_STORE_HAS_SQL");
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(1), .saga_type = TEXT("Order"),
               .destination = TEXT("orders"), .due = SUITE_NOW, .is_new = true);
    EXPECT_EQ(s, suite_claim(s, a, TEXT("orders"), SUITE_NOW, 10).count, 0);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 10).count, 1);
    go_to_sleep(s, b);
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RETRY, .id = suite_timeout_id(1),
               .due = SUITE_NOW + 1);
    expect_woken(s, b);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 71, SUITE_NOW + 1, 10).count, 1);
    go_to_sleep(s, b);
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RELEASE, .id = suite_timeout_id(1));
    expect_woken(s, b);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 72, SUITE_NOW + 1, 10).count, 1);
    go_to_sleep(s, b);
    COMMIT_ONE(s, operator, timeout_settle, .action = PAWL_TIMEOUT_RELEASE,
               .id = suite_timeout_id(1));
    expect_woken(s, b);
    EXPECT_EQ(s, suite_claim_timeouts(s, b, 73, SUITE_NOW + 1, 10).count, 1);
}

static void a_released_partition_wakes_a_waiting_worker(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    if ((pawl_store_promises(a) & PAWL_STORE_HAS_WAKE) == 0 ||
        (pawl_store_promises(a) & PAWL_STORE_HAS_SQL) == 0)
        suite_not_applicable(
            s, "the store does not promise PAWL_STORE_HAS_WAKE and PAWL_STORE_HAS_SQL");
    COMMIT_ONE(s, a, aggregator_add, .name = TEXT("Bills"), .partition = TEXT("Bills"),
               .key = TEXT("m-1"), .at = SUITE_NOW, .due = SUITE_NOW,
               .message = suite_message(s, TEXT("m-1")));
    EXPECT_EQ(s, suite_snapshot_of(s, a, TEXT("Bills"), 70, SUITE_NOW).count, 1);
    go_to_sleep(s, b);
    COMMIT_ONE(s, a, leased_batch_release, .partition = TEXT("Bills"),
               .session = suite_session_id(70));
    expect_woken(s, b);
    EXPECT_EQ(s, suite_snapshot_of(s, b, TEXT("Bills"), 71, SUITE_NOW).count, 1);
    go_to_sleep(s, b);
    COMMIT_ONE(s, a, flush_set, .partition = TEXT("Bills"), .due = SUITE_NOW);
    expect_woken(s, b);
}

static const suite_case cases[] = {
    {"E28 live workers are listed", live_workers_are_listed},
    {"a worker's row names its program, version and host",
     a_workers_row_names_its_program_version_and_host},
    {"a handle that opened no worker can commit after its row was deleted",
     a_handle_that_opened_no_worker_can_commit_after_its_row_was_deleted},
    {"a worker's start and last-seen times are the caller's",
     a_workers_start_and_last_seen_times_are_the_callers},
    {"a worker that is taken over shows the program that took it over",
     a_worker_that_is_taken_over_shows_the_program_that_took_it_over},
    {"O22 committed data stays after the handle that wrote it is closed",
     committed_data_stays_after_the_handle_that_wrote_it_is_closed},
    {"E16 closing a worker ends its claims and leases",
     closing_a_worker_ends_its_claims_and_leases},
    {"E29 a worker that is taken over loses its claims and leases",
     a_worker_that_is_taken_over_loses_its_claims_and_leases},
    {"E29 a handler transaction whose worker is taken over is rolled back",
     a_handler_transaction_whose_worker_is_taken_over_is_rolled_back},
    {"a handle is refused in a forked child process",
     a_handle_is_refused_in_a_forked_child_process},
    {"O21 wait ends when the wake descriptor is readable",
     wait_ends_when_the_wake_descriptor_is_readable},
    {"E29 an interrupt ends a wait", an_interrupt_ends_a_wait},
    {"T13 E13 a released timeout wakes a waiting worker",
     a_released_timeout_wakes_a_waiting_worker},
    {"A27 a released partition wakes a waiting worker",
     a_released_partition_wakes_a_waiting_worker},
    {"S32 E24 a handler transaction ends with commit or handler_transaction_end",
     a_handler_transaction_ends_with_commit_or_handler_transaction_end},
    {"S32 a second locked load waits, or fails with a code that allows a retry",
     a_second_locked_load_waits_or_fails_with_a_code_that_allows_a_retry},
    {"E24 a refused commit rolls back the handler transaction",
     a_refused_commit_rolls_back_the_handler_transaction},
    {"E24 rolling back a handler transaction keeps the claimed messages",
     rolling_back_a_handler_transaction_keeps_the_claimed_messages},
};

const suite_cases cases_worker = SUITE_CASES("worker", cases);
