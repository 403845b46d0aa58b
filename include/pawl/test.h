/* test.h - the test kit: runs an application under clocks that the test moves, in
 * memory or on any store, and queries its messages, states, timeouts and dead letters.
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
 * All endpoints of the application run step by step on the calling thread, on a store of
 * the test's own. Nothing sleeps, and each run is the same: time and ids are computed from the options.
 *
 * The store is in memory, unless the options name another. In memory a handler with .own_sql gets no
 * connection: a message whose handler requests one becomes a dead letter that says so. To test
 * such a handler, name a store with SQL. There pawl_test_create makes pawl's tables, and
 * pawl_test_destroy drops them. A store that is not empty is refused: ids and clocks start again with each
 * test, so its messages would count as copies of those of an earlier run. Tables of your own you make and drop
 * by a connection of your own.
 *
 * Messages to a destination that no endpoint reads stay in its queue: pawl_test_sent(test, "billing", ...)
 * lists them. A destination with a route to another store gets its
 * messages through the outbox, as in production.
 *
 * Functions return a code and never abort; a query that finds nothing answers PAWL_ENOTFOUND. A handler that
 * fails does not fail these functions: query the dead letters. The log goes to standard error, with a warning for
 * each dead letter, unless pawl_log_set redirects it.
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
/* Most steps until everything is idle: the limit for an application that sends messages to itself endlessly. */
#define PAWL_TEST_STEPS_MAX 100000
#define PAWL_TEST_ENDPOINTS_MAX 16
/* For option `store`: a SQLite file in a new folder in $TMPDIR (/tmp). Destroy removes both. */
#define PAWL_TEST_SQLITE "sqlite:"

/* Zero means the default in brackets. */
typedef struct pawl_test_options {
    size_t                       options_size;
    pawl_time                    start;    /* both clocks, years 1 to 9999 [PAWL_TEST_START] */
    const pawl_endpoint_options *endpoint; /* retries, routes, user ... of every endpoint; store,
                                              clocks and mode are the test's own [NULL] */
    const char *store; /* its URL, or PAWL_TEST_SQLITE [NULL: in memory, of this test's own] */
    bool is_emptied;   /* create drops the shared tables in `store` and those of this application's
                          sagas, not those of other applications [false: it must be empty] */
    bool is_kept;      /* destroy leaves the tables and their rows [false] */
} pawl_test_options;

#define PAWL_TEST_OPTIONS_INIT PAWL__BRACES(PAWL__SET(options_size, sizeof(pawl_test_options)))

/* Makes the tables of the application in the store, as `pawl schema apply` does, and creates
 * all its endpoints. PAWL_ECONFIG: the application is refused (a test that only calls this is useful), or the
 * store is not empty or has tables of another version; it is left unchanged.
 * PAWL_EINVAL: no URL; PAWL_EUNREACHABLE, EDENIED ...: as pawl_store_open; these texts begin with
 * "store of a test". The application and all that the options point to must outlive the test.
 * NULL options: all defaults. On failure *test is NULL. */
PAWL_API pawl_code pawl_test_create(const pawl_application  *application,
                                    const pawl_test_options *options, pawl_test **test,
                                    pawl_error *error);
/* Destroys the endpoints and, unless the options have is_kept, drops the tables; if one cannot be dropped, a
 * warning is logged. Accepts NULL. */
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
/* The same with any text as body, valid JSON or not, and any type, known or not. NULL options: none. */
PAWL_API pawl_code pawl_test_deliver_json(pawl_test *test, const char *queue,
                                          const pawl_send_options *options, const char *type,
                                          const char *json, pawl_error *error);
/* Publishes a message to every queue that subscribes to its type, and runs until nothing is due. */
PAWL_API pawl_code pawl_test_publish(pawl_test *test, const pawl_record *record,
                                     const void *message, pawl_error *error);
/* Settles the dead letter of a message as an operator named "test" (store_dead.h); then runs until nothing is due.
 * `endpoint` NULL: the endpoint that has it. PAWL_EGONE: there is no such dead letter. PAWL_EINVAL:
 * `message_id` is NULL or empty, or several endpoints have a dead letter of that id. */
PAWL_API pawl_code pawl_test_dead_retry(pawl_test *test, const char *endpoint,
                                        const char *message_id, pawl_error *error);
PAWL_API pawl_code pawl_test_dead_edit(pawl_test *test, const char *endpoint,
                                       const char *message_id, const char *json, pawl_error *error);
PAWL_API pawl_code pawl_test_dead_discard(pawl_test *test, const char *endpoint,
                                          const char *message_id, pawl_error *error);
/* Changes a timeout of a saga or process as an operator named "test" (store_timeout.h); then runs until
 * nothing is due. `shift` is microseconds. PAWL_EGONE: there is no timeout of that name;
 * PAWL_ENOTFOUND: there is no such saga; PAWL_EINVAL: `saga`, `key` or `name` is NULL. */
PAWL_API pawl_code pawl_test_timeout_cancel(pawl_test *test, const char *saga, const char *key,
                                            const char *name, pawl_error *error);
PAWL_API pawl_code pawl_test_timeout_move(pawl_test *test, const char *saga, const char *key,
                                          const char *name, int64_t shift, pawl_error *error);
PAWL_API pawl_code pawl_test_timeout_run_now(pawl_test *test, const char *saga, const char *key,
                                             const char *name, pawl_error *error);
/* Moves both clocks by `duration`, microseconds, in steps: at each time at which something is due in any
 * endpoint (retries, deliveries and projections included), the clocks stop until that is handled.
 * PAWL_EINVAL: the duration is negative. */
PAWL_API pawl_code pawl_test_advance(pawl_test *test, int64_t duration, pawl_error *error);
/* The same up to a time. PAWL_EINVAL: the time is past. */
PAWL_API pawl_code pawl_test_advance_to(pawl_test *test, pawl_time time, pawl_error *error);
/* Runs until nothing is due, as the functions above do at their end. `sum` may be NULL, else it begins
 * with PAWL_STEP_INIT. PAWL_ELIMIT: work was left after PAWL_TEST_STEPS_MAX steps. */
PAWL_API pawl_code pawl_test_drain(pawl_test *test, pawl_step *sum, pawl_error *error);

/* ---- Queries -------------------------------------------------------------------- */

/* A query that decodes into a struct answers PAWL_EINVAL when the record or the struct is NULL. */
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

/* The state of a process or an entity by the text of its key, decoded into `state`, a struct of
 * `record`. The state is computed from all events of its stream, also after a process ended. `version` may be
 * NULL. PAWL_ENOTFOUND: the stream has no events; PAWL_EINVAL: the state is of another record. */
PAWL_API pawl_code pawl_test_state(pawl_test *test, const char *name, const char *key,
                                   pawl_record_fn *record, void *state, int64_t *version,
                                   pawl_error *error);
/* The events of a stream, "NAME/key", by version; NULL: of all streams, in the order of their insertion. */
PAWL_API pawl_code pawl_test_events(pawl_test *test, const char *stream, pawl_event_rows *rows,
                                    pawl_error *error);
/* The event at `index`, from 0, among those of this record's type, decoded into `event`; the record's upcaster converts
 * an older version. PAWL_ENOTFOUND: there are no more than `index`. */
PAWL_API pawl_code pawl_test_event(pawl_test *test, const char *stream, pawl_record_fn *record,
                                   size_t index, void *event, pawl_error *error);

/* Messages in a queue, oldest first: those for a destination that no endpoint reads, or due later. */
PAWL_API pawl_code pawl_test_sent(pawl_test *test, const char *queue, pawl_queue_rows *rows,
                                  pawl_error *error);
/* How many of them are of this record's type; NULL: of any. */
PAWL_API pawl_code pawl_test_count(pawl_test *test, const char *queue, pawl_record_fn *record,
                                   size_t *count, pawl_error *error);
/* The message at `index`, from 0, among those of this record's type, decoded into `message` as handlers read it.
 * PAWL_ENOTFOUND: there are no more than `index`. */
PAWL_API pawl_code pawl_test_message(pawl_test *test, const char *queue, pawl_record_fn *record,
                                     size_t index, void *message, pawl_error *error);
/* Decodes any message that a query returned, as handlers read it. PAWL_EINVAL when it is of
 * another type. */
PAWL_API pawl_code pawl_test_read(pawl_test *test, const pawl_message *from, pawl_record_fn *record,
                                  void *message, pawl_error *error);

/* Timeouts that are set, by due time: of one saga or process, or of all when `saga` and `key` are NULL. */
PAWL_API pawl_code pawl_test_timeouts(pawl_test *test, const char *saga, const char *key,
                                      pawl_timeout_rows *rows, pawl_error *error);
/* Messages of an aggregator's partition, oldest first. `partition` is the aggregator's name, or
 * with a key the name, '/' and the key's text: "shipping/north". */
PAWL_API pawl_code pawl_test_aggregated(pawl_test *test, const char *partition,
                                        pawl_leased_batch *rows, pawl_error *error);
/* Outbox rows in one state, in the order they were written. */
PAWL_API pawl_code pawl_test_outbox(pawl_test *test, pawl_outbox_state state,
                                    pawl_outbox_rows *rows, pawl_error *error);
/* Dead letters of one endpoint, or of all with NULL. */
PAWL_API pawl_code pawl_test_dead(pawl_test *test, const char *endpoint, pawl_dead_rows *rows,
                                  pawl_error *error);
PAWL_API pawl_code pawl_test_stats(pawl_test *test, pawl_stats *stats, pawl_error *error);

/* ---- Parts of the test ------------------------------------------------------------ */

/* Lends an endpoint, for pawl_endpoint_flush and the like; name NULL: the only
 * one. NULL when there is none of that name. */
PAWL_API pawl_endpoint *pawl_test_endpoint(pawl_test *test, const char *name);
/* Lends a handle on the store. */
PAWL_API pawl_store *pawl_test_store(pawl_test *test);
/* The store's URL, for a handle or a sender of your own. */
PAWL_API const char *pawl_test_url(const pawl_test *test);
/* The path of the file of a SQLite store, for a connection of your own, which makes and reads the tables of
 * your handlers. NULL for other stores. */
PAWL_API const char *pawl_test_file(const pawl_test *test);

#ifdef __cplusplus
}
#endif
#endif
