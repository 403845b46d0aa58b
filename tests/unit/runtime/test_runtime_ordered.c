/* test_runtime_ordered.c - an ordered queue read by two programs of three threads each, and a process
 * that dies with a message in hand. E27, E34.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/thread.h"

#include "runtime/ordered/ordered.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEYS 5
#define MESSAGES 300

RECORD(track, (TEXT, key), (INT64, last));
RECORD(entry, (TEXT, key), (INT64, number));

static atomic_int handled, late, failures[MESSAGES + 1];
static bool       dies; /* at a message in the middle */

/* The effects are those of handlers that run again after a conflict or a death, too: a message that is
 * late in any of them is late. */
static pawl_code on_entry(pawl_context *ctx, track *state, const entry *message)
{
    if (dies && message->number == MESSAGES / 2)
        raise(SIGKILL);
    if (atomic_load(&failures[message->number]) > 0) {
        atomic_fetch_sub(&failures[message->number], 1);
        return pawl_fail(ctx, PAWL_EUNREACHABLE, "not now");
    }
    if (message->number <= state->last)
        atomic_fetch_add(&late, 1);
    state->last = message->number;
    atomic_fetch_add(&handled, 1);
    return PAWL_OK;
}
PAWL_HANDLER(on_entry, track, entry);

static const pawl_saga track_saga =
    SAGA_OF("Track", track, "key", {.handle = PAWL_HANDLE(on_entry), .key = "key", .starts = true});
static const pawl_application application =
    ONE_ENDPOINT("order", .name = "desk", .sagas = PAWL_SAGAS(&track_saga),
                 .options = PAWL_OPTIONS(.ordered = PAWL_ORDERED_BY_SAGA, .immediate_retries = -1,
                                         .delayed_retries = 9, .retry_delay = PAWL_MILLISECONDS(5),
                                         .batch_messages = 16));

static void send_some(const char *url, int first, int count)
{
    pawl_sender *sender = NULL;
    must(pawl_sender_open(url, NULL, &sender, world_error()));
    for (int i = first; i < first + count; i++) {
        char key[2] = {(char)('a' + i % KEYS), '\0'};
        test_send(sender, "desk", NULL, PAWL_MESSAGE(entry, .key = pawl_text_of(key), .number = i));
    }
    pawl_sender_close(sender);
}

static void wait_for_handled(int count)
{
    patience left = patience_of(THREAD_SECONDS);
    while (atomic_load(&handled) < count)
        patience_wait(&left, "%d of %d messages are handled", atomic_load(&handled), count);
}

/* Every third message fails at first; the program that leads stops in the middle. */
ON_ALL_STORES_IN_TIME(e27_the_order_holds_with_many_threads_and_programs, const char *url)
{
    const pawl_endpoint_options options = {.workers = 3};
    runner                      first, second;
    world_hold(url);
    atomic_store(&handled, 0);
    atomic_store(&late, 0);
    for (int i = 1; i <= MESSAGES; i++)
        atomic_store(&failures[i], i % 3 == 0 ? 1 + i % 2 : 0);
    runner_open(&first, &application, NULL, url, options);
    send_some(url, 1, MESSAGES / 3);
    wait_for_handled(MESSAGES / 6);
    runner_open(&second, &application, NULL, url, options);
    send_some(url, MESSAGES / 3 + 1, MESSAGES / 3);
    wait_for_handled(MESSAGES / 3);
    runner_close(&first);
    send_some(url, 2 * (MESSAGES / 3) + 1, MESSAGES / 3);
    wait_for_handled(MESSAGES);
    runner_close(&second);
    assert_int_equal(atomic_load(&late), 0);
}

/* The message that was in hand comes before the later ones of its key, in the next program. */
TESTS(e34_the_order_outlives_a_process, const char *url,
      STORE_ROW(e34_the_order_outlives_a_process, "sqlite"),
      STORE_ROW(e34_the_order_outlives_a_process, "postgres"),
      STORE_ROW(e34_the_order_outlives_a_process, "mariadb"),
      STORE_ROW(e34_the_order_outlives_a_process, "mysql"),
      STORE_ROW(e34_the_order_outlives_a_process, "mongodb"))
{
    int status = 0;
    atomic_store(&handled, 0);
    atomic_store(&late, 0);
    for (int i = 1; i <= MESSAGES; i++)
        atomic_store(&failures[i], 0);
    world_make_tables(url, &application);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dies         = true;
        runner *next = runner_begin(&application, NULL, url, (pawl_endpoint_options){.workers = 2});
        send_some(url, 1, MESSAGES);
        runner_join(next);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    runner  *next = runner_begin(&application, NULL, url, (pawl_endpoint_options){.workers = 2});
    patience left = patience_of(THREAD_SECONDS);
    const pawl_queue_query query = {.queue = PAWL_TEXT("desk"), .count_max = 1};
    pawl_arena            *arena = pawl_arena_create(0);
    pawl_store            *store = NULL;
    pawl_queue_messages    found = {.count = 1};
    must(pawl_store_open(url, NULL, &store, world_error()));
    while (found.count > 0) {
        must(pawl_store_queue_find(store, &query, arena, &found, world_error()));
        patience_wait(&left, "the queue is not empty");
    }
    test_now(next);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    assert_true(atomic_load(&handled) >= 1);
    assert_int_equal(atomic_load(&late), 0);
}

/* ---- The lease --------------------------------------------------------------------- */

static bool others_may_lead(world *it)
{
    pawl_store *store   = NULL;
    bool        is_ours = false;
    pawl_time   now     = pawl_clock_now(it->machine);
    must(pawl_store_open(it->url, NULL, &store, world_error()));
    must(pawl_store_worker_open(store, PAWL_TEXT("desk"), PAWL_TEXT("[]"), now, world_error()));
    must(pawl_store_lead(store, PAWL_TEXT("ordered/desk"), now, PAWL_SECONDS(60), &is_ours,
                         world_error()));
    must(pawl_store_worker_close(store, now, world_error()));
    pawl_store_close(store);
    return is_ours;
}

/* Two workers of one process, of which one leads. */
static pawl__worker *open_two(world **opened, const char *url)
{
    pawl__worker *second = NULL;
    pawl_step     step   = {0};
    world        *it     = world_begin(url, &application, NULL, NULL);
    *opened              = it;
    world_drain(it);
    must(pawl__worker_create(it->endpoint, &second, world_error()));
    must(pawl__worker_step(second, &step, world_error()));
    assert_false(pawl__ordered_is_standby(it->endpoint->worker));
    assert_true(pawl__ordered_is_standby(second));
    return second;
}

static bool leads(pawl__worker *worker)
{
    pawl_step step = {0};
    must(pawl__worker_step(worker, &step, world_error()));
    return !pawl__ordered_is_standby(worker);
}

ON_STORES(e27_a_worker_that_gives_way_keeps_no_lease, const char *url)
{
    world        *it;
    pawl__worker *second = open_two(&it, url), *first = it->endpoint->worker;
    assert_false(others_may_lead(it));
    first->batch->has_unit_of_other = true;
    must(pawl__ordered_give_way(first, world_error()));
    first->batch->has_unit_of_other = false;
    assert_true(others_may_lead(it));
    assert_false(leads(first)); /* for ten seconds */
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(4));
    static test_lines lines;
    test_listen(&lines, PAWL_LOG_INFO, NULL);
    assert_true(leads(second)); /* though the first one's lease would not be over yet */
    world_quiet();
    assert_non_null(strstr(lines.last, ": this worker leads the ordered queue "));
    pawl__worker_destroy(second);
}

/* By the old plan neither would ask for an hour. */
/* the lease is the runtime's */
ON_STORES(e27_a_clock_that_was_set_back_stops_no_worker, const char *url)
{
    world        *it;
    pawl__worker *second = open_two(&it, url), *first = it->endpoint->worker;
    for (int i = 0; i < 2; i++) {
        world_set_back(it, PAWL_HOURS(1));
        assert_true(leads(first));
        assert_false(leads(second));
        assert_true(pawl__ordered_wait(first) <= PAWL_SECONDS(20));
    }
    pawl__worker_leave(first);
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(4));
    assert_true(leads(second));
    pawl__worker_destroy(second);
}

/* ---- A take-over of many pages ------------------------------------------------------- */

static pawl_store_ops        slow;
static const pawl_store_ops *behind_slow;
static world                *around;
static pawl__worker         *sibling;
static int                   pages;

/* While a page is read, other processes ask for the lease, and so does another worker of this one. */
static pawl_code find_slowly(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                             pawl_found *found, pawl_error *error)
{
    pawl_code code = behind_slow->find(store, asked, arena, found, error);
    if (asked->kind != PAWL_FIND_MESSAGES)
        return code;
    pages++;
    pawl_clock_set(around->machine, pawl_clock_now(around->machine) + PAWL_SECONDS(25));
    assert_false(leads(sibling));
    assert_false(others_may_lead(around));
    return code;
}

ON_STORES(e27_the_lease_is_kept_while_a_long_queue_is_read, const char *url)
{
    pages     = 0;
    world *it = around = world_begin(url, &application, NULL, NULL);
    for (int i = 1; i <= MESSAGES * 2; i++)
        must(pawl_sender_send(it->sender, "desk", NULL,
                              PAWL_MESSAGE(entry, .key = PAWL_TEXT("a"), .number = i),
                              world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    pawl__worker *first = it->endpoint->worker;
    must(pawl__worker_create(it->endpoint, &sibling, world_error()));
    must(pawl__worker_open(first, world_error()));
    pawl_store *store = first->store;
    behind_slow       = store->ops;
    slow              = *behind_slow;
    slow.find         = find_slowly;
    store->ops        = &slow;
    assert_true(leads(first));
    store->ops = behind_slow;
    assert_true(pages * PAWL_SECONDS(25) > PAWL_SECONDS(60));
    /* The other worker has not asked while this one was reading. */
    assert_int_equal(sibling->ordered->ask_due, PAWL_TIME_MIN);
    pawl__worker_destroy(sibling);
}

/* ---- A renewal that fails ------------------------------------------------------------ */

static pawl_code lose_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t time,
                           bool *is_ours, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ELOST, "the connection is lost");
}

/* No worker of the process leads then, and none waits for one that would. */
ON_STORES(e27_after_a_lost_renewal_the_next_step_leads, const char *url)
{
    world        *it;
    pawl_step     step   = {0};
    pawl__worker *second = open_two(&it, url), *first = it->endpoint->worker;
    pawl_store   *store = first->store;
    behind_slow         = store->ops;
    slow                = *behind_slow;
    slow.lead           = lose_lead;
    store->ops          = &slow;
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(20));
    assert_int_equal(pawl__worker_step(first, &step, NULL), PAWL_ELOST);
    assert_true(leads(first));
    assert_false(leads(second));
    pawl__worker_destroy(second);
}
