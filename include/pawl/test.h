/* test.h - for your own tests: an application under clocks that the test moves, in
 * memory or on any store, and everything that can be seen of it.
 *
 *     create -> watch* -> { deliver | publish | advance | query }* -> destroy
 *
 *     static void an_unpaid_order_is_cancelled(void **state)
 *     {
 *         pawl_test *test;
 *         size_t     cancelled;
 *         assert_int_equal(pawl_test_create(&orders_application, NULL, &test, NULL), PAWL_OK);
 *         pawl_test_watch(test, PAWL_RECORD_OF(order_cancelled), NULL);
 *         pawl_test_deliver(test, NULL, PAWL_MESSAGE(place_order, .order_id = ...), NULL);
 *         pawl_test_advance(test, PAWL_MINUTES(15), NULL);
 *         pawl_test_count(test, PAWL_TEST_EVENTS, PAWL_RECORD_OF(order_cancelled), &cancelled,
 *                         NULL);
 *         assert_int_equal(cancelled, 1);
 *         pawl_test_destroy(test);
 *     }
 *
 * All endpoints of the application run, one step at a time, on the calling
 * thread, on a store of this test's own. Nothing sleeps, and a run repeats: time and
 * ids come from the options alone.
 *
 * The store is in memory, unless the options name another. In memory a handler that says
 * .own_sql gets no connection: a message for which it requests one is a dead letter that says
 * so, and all else of the application runs. To test such a handler, name a store with SQL.
 * Create makes pawl's tables there, destroy drops them again, and what
 * is not empty is refused: ids and clocks begin anew with each test, so that its messages
 * would be taken for those of an earlier run. Tables of your own are yours to make and drop,
 * by a connection of your own.
 *
 * A destination that no endpoint reads keeps what is sent to it: "billing" is a
 * queue to read. A destination with a route to another store gets its
 * messages through the outbox, as in production.
 *
 * Nothing here aborts: every function answers with a code, a query for
 * something that is not there with PAWL_ENOTFOUND. A failure of your handlers is
 * no failure of these functions: read the dead letters. Nothing is printed but lines of
 * the log, a warning for each dead letter among them: pawl_log_set takes them elsewhere.
 *
 * Threads: a test belongs to one thread.
 * Memory: what a query returns lives until pawl_test_destroy.
 * Tests: tests/unit/runtime/test_test_kit.c, test_test_store.c, test_test_outbox.c,
 *     tests/unit/examples/test_example_orders.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TEST_H
#define PAWL_TEST_H

#include "pawl/base.h"
#include "pawl/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Setting up --------------------------------------------------------------- */

typedef struct pawl_test pawl_test;

#define PAWL_TEST_START INT64_C(1767258000000000) /* 2026-01-01T09:00:00Z */
/* The queue that watched events are copied to. */
#define PAWL_TEST_EVENTS "pawl.test.events"
/* Steps until everything is idle; an application that sends messages to itself
 * without end is stopped here. */
#define PAWL_TEST_STEPS_MAX 100000
#define PAWL_TEST_ENDPOINTS_MAX 16
/* A store: a SQLite file in a new folder in $TMPDIR (/tmp), both removed by destroy. */
#define PAWL_TEST_SQLITE "sqlite:"

/* Zero means the default in brackets. */
typedef struct pawl_test_options {
    size_t                       options_size;
    pawl_time                    start;    /* both clocks [PAWL_TEST_START] */
    const pawl_endpoint_options *endpoint; /* retries, routes, user ... of every endpoint; store,
                                              clocks and mode are the test's own [NULL] */
    const char *store; /* its URL, or PAWL_TEST_SQLITE [NULL: in memory, of this test's own] */
    bool is_emptied;   /* create drops all that pawl has in `store` [false: it must be empty] */
    bool is_kept;      /* destroy leaves tables and rows to be read [false] */
} pawl_test_options;

#define PAWL_TEST_OPTIONS_INIT                    \
    {                                             \
        .options_size = sizeof(pawl_test_options) \
    }

/* Makes the tables of the application in the store, as `pawl schema apply` does, and creates
 * all its endpoints. PAWL_ECONFIG when the application is refused, and a test that only
 * creates is worth having; also when the store is not empty, or has tables of another version:
 * it stays as it was.
 * PAWL_EINVAL: no URL; PAWL_EUNREACHABLE, EDENIED ...: as pawl_store_open; all of them begin with
 * "store of a test". The application and what the options point to must outlive the test.
 * NULL options: all defaults. On failure *test is NULL. */
PAWL_API pawl_code pawl_test_create(const pawl_application  *application,
                                    const pawl_test_options *options, pawl_test **test,
                                    pawl_error *error);
/* Drops what create made, unless the options say is_kept; a table that cannot be dropped is a
 * warning in the log. Accepts NULL. */
PAWL_API void pawl_test_destroy(pawl_test *test);
/* Copies every message of this type that is published from now on to
 * PAWL_TEST_EVENTS. */
PAWL_API pawl_code pawl_test_watch(pawl_test *test, pawl_record_fn *record, pawl_error *error);

/* ---- Acting --------------------------------------------------------------------- */

/* Sends a message, due now, and runs until nothing is due. `queue` NULL: that
 * of the application's only endpoint. */
PAWL_API pawl_code pawl_test_deliver(pawl_test *test, const char *queue, const pawl_record *record,
                                     const void *message, pawl_error *error);
/* The same with an id, headers, a delay or a due time. Delivering an id twice is
 * how a redelivery is tested. */
PAWL_API pawl_code pawl_test_deliver_with(pawl_test *test, const char *queue,
                                          const pawl_send_options *options,
                                          const pawl_record *record, const void *message,
                                          pawl_error *error);
/* A body that may be anything, of a type that need not be known. NULL options:
 * none. */
PAWL_API pawl_code pawl_test_deliver_json(pawl_test *test, const char *queue,
                                          const pawl_send_options *options, const char *type,
                                          const char *json, pawl_error *error);
/* An event from outside: to every queue that subscribes to it. */
PAWL_API pawl_code pawl_test_publish(pawl_test *test, const pawl_record *record,
                                     const void *message, pawl_error *error);
/* Settles the dead letter of a message as an operator does (store_dead.h), by "test"; then runs until
 * nothing is due. `endpoint` NULL: of whichever has it. PAWL_EGONE: there is no such dead letter. */
PAWL_API pawl_code pawl_test_dead_retry(pawl_test *test, const char *endpoint,
                                        const char *message_id, pawl_error *error);
PAWL_API pawl_code pawl_test_dead_edit(pawl_test *test, const char *endpoint,
                                       const char *message_id, const char *json, pawl_error *error);
PAWL_API pawl_code pawl_test_dead_discard(pawl_test *test, const char *endpoint,
                                          const char *message_id, pawl_error *error);
/* Does to the timeout of that name of a saga or process as an operator does (store_timeout.h), by
 * "test"; then runs until nothing is due. `shift` is microseconds. PAWL_EGONE: it has none of that
 * name; PAWL_ENOTFOUND: there is no such saga. */
PAWL_API pawl_code pawl_test_timeout_cancel(pawl_test *test, const char *saga, const char *key,
                                            const char *name, pawl_error *error);
PAWL_API pawl_code pawl_test_timeout_move(pawl_test *test, const char *saga, const char *key,
                                          const char *name, int64_t shift, pawl_error *error);
PAWL_API pawl_code pawl_test_timeout_run_now(pawl_test *test, const char *saga, const char *key,
                                             const char *name, pawl_error *error);
/* Moves both clocks, stopping at every time at which something becomes due, so
 * that what happens at 9:05 is over before what is due at 9:10 begins, in all
 * endpoints; retries of messages, deliveries and projections too. PAWL_EINVAL for a negative duration. */
PAWL_API pawl_code pawl_test_advance(pawl_test *test, int64_t duration, pawl_error *error);
/* The same to a time; a time that is past is PAWL_EINVAL. */
PAWL_API pawl_code pawl_test_advance_to(pawl_test *test, pawl_time time, pawl_error *error);
/* Runs until nothing is due; the functions above have done so. `sum` may be NULL, else it begins
 * with PAWL_STEP_INIT. PAWL_ELIMIT after PAWL_TEST_STEPS_MAX steps. */
PAWL_API pawl_code pawl_test_drain(pawl_test *test, pawl_step *sum, pawl_error *error);

/* ---- Queries -------------------------------------------------------------------- */

PAWL_API pawl_time pawl_test_now(const pawl_test *test);

/* The state of the saga whose correlation value is `key` (the text of it: "o-1",
 * "42", a uuid), decoded into `state`, a struct of `record`. `version` may be
 * NULL. PAWL_ENOTFOUND when there is no such saga; PAWL_EINVAL when the
 * saga's state is of another record. */
PAWL_API pawl_code pawl_test_saga(pawl_test *test, const char *saga, const char *key,
                                  pawl_record_fn *record, void *state, int64_t *version,
                                  pawl_error *error);
/* The row itself: id, version, state and metadata as JSON. */
PAWL_API pawl_code pawl_test_saga_row(pawl_test *test, const char *saga, const char *key,
                                      pawl_saga_row *row, pawl_error *error);
PAWL_API pawl_code pawl_test_saga_count(pawl_test *test, const char *saga, int64_t *count,
                                        pawl_error *error);

/* The state of a process or an entity by the text of its key, decoded into `state`, a
 * struct of `record`: computed from all events of its stream, also when a process is over.
 * `version` may be NULL. PAWL_ENOTFOUND when it has no events; PAWL_EINVAL when its state
 * is of another record. */
PAWL_API pawl_code pawl_test_state(pawl_test *test, const char *name, const char *key,
                                   pawl_record_fn *record, void *state, int64_t *version,
                                   pawl_error *error);
/* The events of a stream, "NAME/key", by version; NULL: of all, as they were
 * appended. */
PAWL_API pawl_code pawl_test_events(pawl_test *test, const char *stream, pawl_event_rows *rows,
                                    pawl_error *error);
/* The one at `index` among those of this type, from 0, decoded into `event` as handlers read it: by the
 * record's upcaster where it is of an earlier version.
 * PAWL_ENOTFOUND when there are not as many. */
PAWL_API pawl_code pawl_test_event(pawl_test *test, const char *stream, pawl_record_fn *record,
                                   size_t index, void *event, pawl_error *error);

/* Messages in a queue, oldest first: sent to a destination outside, or due later. */
PAWL_API pawl_code pawl_test_sent(pawl_test *test, const char *queue, pawl_queue_rows *rows,
                                  pawl_error *error);
/* How many of them are of this record's type; NULL: of any. */
PAWL_API pawl_code pawl_test_count(pawl_test *test, const char *queue, pawl_record_fn *record,
                                   size_t *count, pawl_error *error);
/* The one at `index` among those of this type, from 0, decoded into `message` as handlers read it.
 * PAWL_ENOTFOUND when there are not as many. */
PAWL_API pawl_code pawl_test_message(pawl_test *test, const char *queue, pawl_record_fn *record,
                                     size_t index, void *message, pawl_error *error);
/* Decodes any message that a query returned, as handlers read it. PAWL_EINVAL when it is of
 * another type. */
PAWL_API pawl_code pawl_test_read(pawl_test *test, const pawl_message *from, pawl_record_fn *record,
                                  void *message, pawl_error *error);

/* Timeouts that are set, by due time: of one saga or process, or of all with NULL,
 * NULL. */
PAWL_API pawl_code pawl_test_timeouts(pawl_test *test, const char *saga, const char *key,
                                      pawl_timeout_rows *rows, pawl_error *error);
/* Messages that an aggregator has, oldest first. `partition` is the aggregator's name,
 * or with a key the name, '/' and the key's text: "shipping/north". */
PAWL_API pawl_code pawl_test_aggregated(pawl_test *test, const char *partition,
                                        pawl_leased_batch *rows, pawl_error *error);
/* Outbox rows in one state, in the order they were written. */
PAWL_API pawl_code pawl_test_outbox(pawl_test *test, pawl_outbox_state state,
                                    pawl_outbox_rows *rows, pawl_error *error);
/* Dead letters of one endpoint, or of all with NULL. */
PAWL_API pawl_code pawl_test_dead(pawl_test *test, const char *endpoint, pawl_dead_rows *rows,
                                  pawl_error *error);
PAWL_API pawl_code pawl_test_stats(pawl_test *test, pawl_stats *stats, pawl_error *error);

/* ---- What it is made of ----------------------------------------------------------- */

/* Lends an endpoint, for pawl_endpoint_flush and the like; name NULL: the only
 * one. NULL when there is none of that name. */
PAWL_API pawl_endpoint *pawl_test_endpoint(pawl_test *test, const char *name);
/* Lends a handle on the store. */
PAWL_API pawl_store *pawl_test_store(pawl_test *test);
/* The store's URL, for a handle or a sender of your own. */
PAWL_API const char *pawl_test_url(const pawl_test *test);
/* The path of the file when the store is SQLite, for a connection of your own: tables that
 * your handlers write to are made there, and read. NULL for other stores. */
PAWL_API const char *pawl_test_file(const pawl_test *test);

#ifdef __cplusplus
}
#endif
#endif
