/* test_store_calls.c - the seam before every entry of a driver: emptied answers, entries that are
 * absent, a process that did not open the handle, arguments without a sense.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_calls.h"
#include "support/called.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOW INT64_C(1767225600000000)

/* The call: an answer that is spoilt before is empty after a failure, and the driver's own otherwise. */
#define CALL(name, declare, call, empty)                              \
    static pawl_code try_##name(pawl_store *store, pawl_error *error) \
    {                                                                 \
        declare;                                                      \
        pawl_code code = call;                                        \
        assert_int_equal(empty, code != PAWL_OK);                     \
        return code;                                                  \
    }

static const pawl_text        name  = {.data = "orders", .size = 6};
static const pawl_session_id  us    = {.uuid = {.bytes = {1}}};
static const pawl_saga_table  table = {.type = {.data = "Order", .size = 5}};
static const pawl_value       value = {.type = PAWL_VALUE_UUID};
static const pawl_queue_claim queue_claim;
static const pawl_stream_read stream = {.stream = PAWL_TEXT_INIT("Account/1")};
static const pawl_sweep       nothing_old;
static const pawl_changes     no_changes;
static const pawl_diagnosis   no_diagnosis;
static const pawl_queue_query any_message = {.queue = {.data = "orders", .size = 6}};
static const pawl_scan        any_scan    = {.kind = PAWL_SCAN_QUEUE};

#define COMMA , /* inside of a macro's argument */
#define LEASE .lease = 1, .now = NOW

/* ---- Each call, on an answer that is spoilt before ----------------------- */

/* These answer nothing but their code. */
#define PLAIN_CALL(name, call) CALL(name, , call, code != PAWL_OK)

PLAIN_CALL(worker_open, pawl_store_worker_open(store, name, name, NOW, error))
PLAIN_CALL(worker_close, pawl_store_worker_close(store, NOW, error))
PLAIN_CALL(worker_heartbeat, pawl_store_worker_heartbeat(store, NULL, 0, NOW, error))
PLAIN_CALL(unlead, pawl_store_unlead(store, name, error))
PLAIN_CALL(handler_transaction_begin, pawl_store_handler_transaction_begin(store, error))
PLAIN_CALL(wait, pawl_store_wait(store, 0, -1, error))
PLAIN_CALL(enlist, pawl_store_enlist(store, store, &no_changes, error))
CALL(worker_list, pawl_worker_info *items = (void *)store;
     size_t count = 9, pawl_store_worker_list(store, NULL, &items, &count, error),
     items == NULL && count == 0)
CALL(worker_crashed, pawl_worker_info *items = (void *)store;
     size_t count = 9, pawl_store_worker_crashed(store, NULL, &items, &count, error),
     items == NULL && count == 0)
CALL(lead_list, pawl_lead_row *items = (void *)store;
     size_t count = 9, pawl_store_lead_list(store, NOW, NULL, &items, &count, error),
     items == NULL && count == 0)
/* Of an answer that is a list of rows. */
#define LIST_CALL(name, type, call) \
    CALL(name, type rows = {.count = 9}, call, rows.items == NULL && rows.count == 0)
LIST_CALL(scan, pawl_scan_rows, pawl_store_scan(store, &any_scan, NULL, &rows, error))
LIST_CALL(dead_count, pawl_dead_counts, pawl_store_dead_count(store, NULL, &rows, error))
LIST_CALL(queue_retried, pawl_queue_rows,
          pawl_store_queue_retried(store, &(pawl_retried_query){0}, NULL, &rows, error))
LIST_CALL(queue_find, pawl_queue_messages,
          pawl_store_queue_find(store, &any_message, NULL, &rows, error))
LIST_CALL(history_find, pawl_history_rows,
          pawl_store_history_find(store, &(pawl_history_query){0}, NULL, &rows, error))
LIST_CALL(dead_find, pawl_dead_rows,
          pawl_store_dead_find(store, &(pawl_dead_query){0}, NULL, &rows, error))
LIST_CALL(diagnose, pawl_finding_rows,
          pawl_store_diagnose(store, &no_diagnosis, NULL, &rows, error))
CALL(queue_claim, pawl_queue_rows rows = {.count = 9},
     pawl_store_queue_claim(store, &queue_claim, NULL, &rows, error),
     rows.count == 0 && !rows.is_taken)
CALL(queue_oldest, pawl_time placed = 9;
     int64_t seq = 9, pawl_store_queue_oldest(store, name, NOW, NULL, 0, &placed, &seq, error),
     placed == PAWL_TIME_MAX && seq == INT64_MAX)
CALL(inbox_known, bool known[2] = {true}; pawl_text ids[2] = {name COMMA name},
                                          pawl_store_inbox_known(store, name, ids, 2, known, error),
                                          !known[0] && !known[1])
CALL(saga_load, pawl_saga_row rows[2] = {{.version = 9} COMMA{.presence = PAWL_SAGA_THERE}};
     pawl_value values[2] = {value COMMA value},
     pawl_store_saga_load(store, &table, PAWL_SAGA_BY_ID, values, 2, PAWL_SAGA_UNLOCKED, NULL, rows,
                          error),
     rows[0].version == 0 && rows[1].version == 0 && rows[1].presence == PAWL_SAGA_MISSING)
CALL(saga_count, int64_t count = 9, pawl_store_saga_count(store, &table, &count, error), count == 0)
CALL(timeout_claim, pawl_timeout_rows rows = {.count = 9};
     pawl_timeout_claim claim = {.owner = us COMMA LEASE},
     pawl_store_timeout_claim(store, &claim, NULL, &rows, error),
     rows.count == 0 && rows.next_due == PAWL_TIME_MAX)
CALL(timeout_reap, int64_t count = 9, pawl_store_timeout_reap(store, NOW, &count, error),
     count == 0)
CALL(leased_batch_claim, pawl_leased_batch rows = {.count = 9};
     pawl_leased_batch_claim claim = {.session = us COMMA LEASE},
     pawl_store_leased_batch_claim(store, &claim, NULL, &rows, error), rows.count == 0)
LIST_CALL(aggregator_get, pawl_leased_batch,
          pawl_store_aggregator_get(store, name, NULL, &rows, error))
CALL(aggregator_count, pawl_aggregator_counts counts = {.all = 9},
     pawl_store_aggregator_counts(store, name, NULL, 0, NOW, &counts, error), counts.all == 0)
LIST_CALL(flush_list, pawl_flush_rows,
          pawl_store_flush_list(store, name, NOW, 7, NULL, &rows, error))
CALL(outbox_claim, pawl_outbox_rows rows = {.count = 9},
     pawl_store_outbox_claim(store, name, NOW, 7, NULL, &rows, error),
     rows.count == 0 && rows.next_attempt == PAWL_TIME_MAX)
CALL(lead, bool is_ours = true, pawl_store_lead(store, name, NOW, 1, &is_ours, error), !is_ours)
LIST_CALL(subscriptions, pawl_subscriptions, pawl_store_subscriptions(store, NULL, &rows, error))
CALL(next_due, pawl_next_due next = {.queue = 9},
     pawl_store_next_due(store, name, NULL, 0, &next, error),
     next.queue == PAWL_TIME_MAX && next.timeout == PAWL_TIME_MAX && next.flush == PAWL_TIME_MAX)
CALL(stats, pawl_stats stats = {.stats_size = sizeof(pawl_stats) COMMA.dead = 9},
     pawl_store_stats(store, NOW, NULL, &stats, error), stats.dead == 0)
CALL(sweep, int64_t count = 9; bool more = true,
                               pawl_store_sweep(store, &nothing_old, &count, &more, error),
                               count == 0 && !more)
CALL(queue_list, pawl_queue_rows rows = {.count = 9}; pawl_arena *arena = pawl_arena_create(0);
     pawl_code listed = pawl_store_queue_list(store, name, 0, arena, &rows, error);
     pawl_arena_destroy(arena), listed, rows.items == NULL && rows.count == 0)
CALL(timeout_list, pawl_timeout_rows rows = {.count = 9},
     pawl_store_timeout_list(store, (pawl_saga_id){us.uuid}, 0, NULL, &rows, error),
     rows.count == 0 && rows.next_due == PAWL_TIME_MAX)
CALL(timeout_find, pawl_timeout_rows rows = {.count = 9},
     pawl_store_timeout_find(store, &(pawl_timeout_query){0}, NULL, &rows, error),
     rows.count == 0 && rows.next_due == PAWL_TIME_MAX)
CALL(outbox_list, pawl_outbox_rows rows = {.count = 9},
     pawl_store_outbox_list(store, PAWL_OUTBOX_DISCARDED, 0, NULL, &rows, error),
     rows.count == 0 && rows.next_attempt == PAWL_TIME_MAX)
CALL(outbox_find, pawl_outbox_rows rows = {.count = 9},
     pawl_store_outbox_find(store, &(pawl_outbox_query){0}, NULL, &rows, error),
     rows.count == 0 && rows.next_attempt == PAWL_TIME_MAX)
LIST_CALL(outbox_attempts, pawl_attempt_rows,
          pawl_store_outbox_attempts(store, 1, NULL, &rows, error))
LIST_CALL(dead_list, pawl_dead_rows, pawl_store_dead_list(store, name, 0, NULL, &rows, error))
CALL(stream_load, pawl_stream rows[2] = {{.version = 9} COMMA{.version = 9}};
     pawl_stream_read reads[2] = {stream COMMA stream},
     pawl_store_stream_load(store, reads, 2, NULL, rows, error),
     rows[0].version == 0 && rows[1].version == 0)
LIST_CALL(event_list, pawl_event_rows,
          pawl_store_event_list(store, &(pawl_event_query){0}, NULL, &rows, error))
CALL(event_number, int64_t count = 9, pawl_store_event_number(store, 1, &count, error), count == 0)
CALL(checkpoint_get, int64_t position = 9, pawl_store_checkpoint_get(store, name, &position, error),
     position == 0)
LIST_CALL(timeout_foreign, pawl_foreign_rows,
          pawl_store_timeout_foreign(store, name, NOW, NULL, &rows, error))

/* ---- All of them --------------------------------------------------------- */

static const struct {
    const char *name;
    pawl_code (*call)(pawl_store *store, pawl_error *error);
    const char *entry;
    size_t      offset; /* of the entry */
} calls[] = {
#define ROW(entry) {#entry, try_##entry, #entry, offsetof(pawl_store_ops, entry)},
#define FIND(name) {#name, try_##name, "find", offsetof(pawl_store_ops, find)},
    CALLED_ENTRIES(ROW) CALLED_FINDS(FIND)
#undef ROW
#undef FIND
};

static void expect(size_t i, pawl_store *store, pawl_code code, const char *part)
{
    pawl_error error  = PAWL_ERROR_INIT;
    pawl_code  actual = calls[i].call(store, &error);
    if (actual != code || strstr(error.text, part) == NULL)
        fail_msg("%s: %s: %s", calls[i].name, pawl_code_name(actual), error.text);
}

TEST(a_call_asks_its_entry)
{
    pawl_store *store = called_open("called:");
    for (size_t i = 0; i < COUNT(calls); i++) {
        called.calls = called.ready_calls = 0;
        expect(i, store, PAWL_OK, "");
        assert_string_equal(called.called, calls[i].entry);
        assert_int_equal(called.calls, 1);
        assert_int_equal(called.ready_calls, 1);
    }
}

/* Values that the entry wrote before it failed are not shown: each call looks. */
TEST(a_call_that_fails_answers_nothing)
{
    pawl_store *store = called_open("called:");
    called.code       = PAWL_EBUSY;
    for (size_t i = 0; i < COUNT(calls); i++)
        expect(i, store, PAWL_EBUSY, "page 7 is damaged");
    assert_int_equal(called.calls, COUNT(calls));
}

/* The driver answers seven rows to each, for which a caller that asks for six has no room. */
TEST(rows_over_what_was_asked_for_are_refused)
{
    pawl_store             *store  = called_open("called:");
    pawl_queue_claim        claim  = {.count_max = 6};
    pawl_timeout_claim      due    = {.owner = us, .count_max = 6, LEASE};
    pawl_leased_batch_claim part   = {.session = us, .count_max = 6, LEASE};
    pawl_scan               scan   = {.kind = PAWL_SCAN_QUEUE, .count_max = 6};
    pawl_queue_query        query  = {.queue = name, .count_max = 6};
    pawl_queue_rows         taken  = {.count = 0};
    pawl_timeout_rows       leased = {.count = 0};
    pawl_leased_batch       batch  = {.count = 0};
    pawl_outbox_rows        sent   = {.count = 0};
    pawl_scan_rows          rows   = {.count = 0};
    pawl_queue_messages     found  = {.count = 0};
#define REFUSED(name, call, answer)                                                            \
    do {                                                                                       \
        pawl_error error = PAWL_ERROR_INIT;                                                    \
        assert_int_equal(call, PAWL_EPERSIST);                                                 \
        assert_string_equal(error.text, "driver 'called': " name " answered 7 rows, limit 6"); \
        assert_int_equal((answer).count, 0);                                                   \
    } while (false)
    REFUSED("queue_claim", pawl_store_queue_claim(store, &claim, NULL, &taken, &error), taken);
    REFUSED("timeout_claim", pawl_store_timeout_claim(store, &due, NULL, &leased, &error), leased);
    REFUSED("leased_batch_claim", pawl_store_leased_batch_claim(store, &part, NULL, &batch, &error),
            batch);
    REFUSED("outbox_claim", pawl_store_outbox_claim(store, name, NOW, 6, NULL, &sent, &error),
            sent);
    REFUSED("scan", pawl_store_scan(store, &scan, NULL, &rows, &error), rows);
    REFUSED("queue_find", pawl_store_queue_find(store, &query, NULL, &found, &error), found);
#undef REFUSED
    claim.count_max = 7;
    assert_int_equal(pawl_store_queue_claim(store, &claim, NULL, &taken, NULL), PAWL_OK);
    assert_int_equal(taken.count, 7);
}

TEST(a_count_without_an_array_is_refused)
{
    pawl_store     *store = called_open("called:");
    pawl_queue_rows rows  = {.count = 0};
    called.has_no_array   = true;
    assert_int_equal(pawl_store_queue_claim(store, &queue_claim, NULL, &rows, NULL), PAWL_EPERSIST);
    assert_int_equal(rows.count, 0);
}

TEST(an_absent_entry_is_named)
{
    pawl_store *store = called_open("called:");
    for (size_t i = 0; i < COUNT(calls); i++) {
        called_fill(&called_ops);
        memset((char *)&called_ops + calls[i].offset, 0, sizeof called_ops.commit);
        if (strcmp(calls[i].name, "wait") != 0)
            expect(i, store, PAWL_EUNSUPPORTED,
                   test_text("driver 'called' has no %s", calls[i].entry));
    }
    assert_int_equal(called.calls, 0);
}

TEST(rows_that_a_driver_cannot_find_are_named)
{
    pawl_store *store = called_open("called:");
    called.code       = PAWL_EUNSUPPORTED;
    for (size_t i = 0; i < COUNT(calls); i++)
        if (strcmp(calls[i].entry, "find") == 0)
            expect(i, store, PAWL_EUNSUPPORTED,
                   test_text("driver 'called' has no %s", calls[i].name));
}

TEST(without_a_connection_no_entry_is_asked)
{
    pawl_store *store = called_open("called:");
    called.ready_code = PAWL_EUNREACHABLE;
    for (size_t i = 0; i < COUNT(calls); i++)
        expect(i, store, PAWL_EUNREACHABLE, "page 7");
    pawl_changes changes = {0};
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_EUNREACHABLE);
    assert_int_equal(called.calls, 0);
    called_ops.ready = NULL; /* nothing that could be lost */
    expect(0, store, PAWL_OK, "");
    called_fill(&called_ops);
    called.ready_code = PAWL_OK;
}

/* handler_transaction_end, which a driver's commit does by itself, is asked wherever that one is not. */
TEST(a_commit_that_does_not_reach_the_driver_ends_the_hold)
{
    pawl_store     *store   = called_open("called:");
    pawl_queue_send nowhere = {.due = NOW};
    pawl_changes    wrong   = {.queue_send = {.items = &nowhere, .count = 1}, ONE_UNIT};
    pawl_changes    changes = {0};
    called.ready_code       = PAWL_EUNREACHABLE;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_EUNREACHABLE);
    assert_int_equal(called.void_calls, 1);
    called.ready_code = PAWL_OK;
    assert_int_equal(pawl_store_commit(store, &wrong, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(called.void_calls, 2);
    called.code = PAWL_EBUSY; /* worker_open's */
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_EBUSY);
    assert_int_equal(called.void_calls, 3);
    called.code = PAWL_OK;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(called.void_calls, 3);
}

/* ---- Where no entry may be called ---------------------------------------- */

static int try_in_child(pawl_store *store)
{
    for (size_t i = 0; i < COUNT(calls); i++) {
        pawl_error error = PAWL_ERROR_INIT;
        if (calls[i].call(store, &error) != PAWL_EINVAL || error.text[0] == '\0' ||
            strncmp(error.text, calls[i].name, strlen(calls[i].name)) != 0 ||
            strstr(error.text, "fork first, then open one") == NULL)
            return (int)i + 1;
    }
    pawl_store_interrupt(store);
    pawl_store_handler_transaction_end(store);
    bool has_native = pawl_store_native(store, "fake") != NULL;
    return called.calls != 0 || called.ready_calls != 0 || called.void_calls != 0 || has_native
               ? 100
               : 0;
}

TEST(a_child_may_not_call)
{
    pawl_store *store = called_open("called:");
    pid_t       child = fork();
    if (child == 0)
        _exit(try_in_child(store));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect(0, store, PAWL_OK, "");
}

TEST(a_handle_for_the_schema_may_not_call)
{
    pawl_store        *store   = NULL;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_changes       changes = {0};
    test_now(called_open("called:"));
    options.mode = PAWL_OPEN_SCHEMA;
    assert_int_equal(pawl_store_open("called:", &options, &store, NULL), PAWL_OK);
    for (size_t i = 0; i < COUNT(calls); i++)
        expect(i, store, PAWL_EINVAL, "for its schema alone");
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(called.calls + called.ready_calls, 0);
    pawl_store_close(store);
}

/* ---- Arguments ----------------------------------------------------------- */

static void expect_invalid(pawl_code code, const pawl_error *error, const char *text)
{
    assert_int_equal(code, PAWL_EINVAL);
    assert_string_equal(error->text, text);
    assert_int_equal(called.calls, 0);
}

TEST(a_lease_has_a_length_and_an_owner)
{
    pawl_store             *store  = called_open("called:");
    pawl_error              error  = PAWL_ERROR_INIT;
    pawl_timeout_claim      claim  = {.owner = us, .lease = 0, .now = NOW};
    pawl_leased_batch_claim leased = {.partition = name, .session = us, .lease = -1, .now = NOW};
    pawl_timeout_rows       timeouts;
    pawl_leased_batch       rows;
    bool                    is_ours;
    expect_invalid(pawl_store_timeout_claim(store, &claim, NULL, &timeouts, &error), &error,
                   "claim of timeouts: the lease is 0 microseconds, at least 1 is needed");
    claim = (pawl_timeout_claim){.lease = 1, .now = NOW};
    expect_invalid(pawl_store_timeout_claim(store, &claim, NULL, &timeouts, &error), &error,
                   "claim of timeouts: the owner is zero");
    expect_invalid(pawl_store_leased_batch_claim(store, &leased, NULL, &rows, &error), &error,
                   "leased batch of 'orders': the lease is -1 microseconds, at least 1 is needed");
    leased = (pawl_leased_batch_claim){.partition = name, .lease = 1, .now = NOW};
    expect_invalid(pawl_store_leased_batch_claim(store, &leased, NULL, &rows, &error), &error,
                   "leased batch of 'orders': the session is zero");
    expect_invalid(pawl_store_lead(store, name, NOW, 0, &is_ours, &error), &error,
                   "lead: the lease is 0 microseconds, at least 1 is needed");
    static char data[PAWL_NAME_SIZE_MAX + 1];
    memset(data, 'x', sizeof data);
    const pawl_text nothing = {.data = "", .size = 0},
                    endless = {.data = data, .size = sizeof data};
    expect_invalid(pawl_store_lead(store, nothing, NOW, 1, &is_ours, &error), &error,
                   "lead: its name has 0 bytes, limit 1 to 200");
    expect_invalid(pawl_store_unlead(store, nothing, &error), &error,
                   "lead: its name has 0 bytes, limit 1 to 200");
    expect_invalid(pawl_store_lead(store, endless, NOW, 1, &is_ours, &error), &error,
                   "lead: its name has 201 bytes, limit 1 to 200");
    const pawl_text longest = {.data = data, .size = PAWL_NAME_SIZE_MAX};
    assert_int_equal(pawl_store_lead(store, longest, NOW, 1, &is_ours, &error), PAWL_OK);
}

static pawl_code load_by(pawl_store *store, const pawl_saga_table *from, int key, pawl_error *error)
{
    pawl_saga_row    rows[2];
    const pawl_value values[2] = {value, value};
    return pawl_store_saga_load(store, from, (pawl_saga_key)key, values, 2, PAWL_SAGA_UNLOCKED,
                                NULL, rows, error);
}

TEST(a_saga_is_asked_for_by_what_it_has)
{
    pawl_store     *store  = called_open("called:");
    pawl_error      error  = PAWL_ERROR_INIT;
    pawl_saga_table mapped = table;
    expect_invalid(load_by(store, &table, PAWL_SAGA_BY_MAIN, &error), &error,
                   "saga Order has no main correlation property");
    mapped.main.type = PAWL_VALUE_TEXT;
    expect_invalid(load_by(store, &mapped, PAWL_SAGA_BY_TRANSITIONAL, &error), &error,
                   "saga Order has no transitional correlation property");
    expect_invalid(load_by(store, &mapped, PAWL_SAGA_BY_TRANSITIONAL + 1, &error), &error,
                   "saga Order: key 3 is unknown");
    expect_invalid(load_by(store, &mapped, -1, &error), &error, "saga Order: key -1 is unknown");
    assert_int_equal(load_by(store, &mapped, PAWL_SAGA_BY_MAIN, &error), PAWL_OK);
    mapped.transitional.type = PAWL_VALUE_INT;
    assert_int_equal(load_by(store, &mapped, PAWL_SAGA_BY_TRANSITIONAL, &error), PAWL_OK);
}

TEST(a_state_of_the_outbox_is_one_of_its_own)
{
    pawl_store      *store = called_open("called:");
    pawl_error       error = PAWL_ERROR_INIT;
    pawl_outbox_rows rows;
    static const int states[] = {-1, PAWL_OUTBOX_DISCARDED + 1};
    for (size_t i = 0; i < COUNT(states); i++) {
        expect_invalid(
            pawl_store_outbox_list(store, (pawl_outbox_state)states[i], 0, NULL, &rows, &error),
            &error, "outbox rows: a state is unknown");
    }
}

TEST(a_walk_is_over_a_kind_of_rows)
{
    pawl_store     *store = called_open("called:");
    pawl_error      error = PAWL_ERROR_INIT;
    pawl_scan_rows  rows;
    const pawl_scan unknown = {.kind = (pawl_scan_kind)PAWL_SCAN_KINDS};
    const pawl_scan sagas   = {.kind = PAWL_SCAN_SAGAS};
    expect_invalid(pawl_store_scan(store, &unknown, NULL, &rows, &error), &error,
                   "scan: kind 10 is unknown");
    expect_invalid(pawl_store_scan(store, &sagas, NULL, &rows, &error), &error,
                   "scan of sagas: give their table");
}

TEST(what_is_enlisted_is_checked)
{
    pawl_store  *store   = called_open("called:");
    pawl_error   error   = PAWL_ERROR_INIT;
    pawl_changes changes = {.queue_send = {.count = 1}};
    expect_invalid(pawl_store_enlist(store, NULL, &no_changes, &error), &error,
                   "enlist: the connection is NULL");
    pawl_queue_send nowhere  = {.due = NOW};
    changes.queue_send.items = &nowhere;
    changes.group_count = changes.unit_count = 1;
    assert_int_equal(pawl_store_enlist(store, store, &changes, &error), PAWL_EINVAL);
    assert_int_equal(called.calls, 0);
}

/* ---- The trace hook ------------------------------------------------------- */

typedef struct counting {
    const char *name; /* of the call that was told last */
    pawl_code   code;
    unsigned    count;
} counting;

static void count_told(const pawl_store_call *call, void *context)
{
    counting *told = context;
    *told          = (counting){call->name, call->code, told->count + 1};
}

/* Also those that are refused before the driver is asked. */
TEST(each_call_is_told_once)
{
    pawl_store *store = called_open("called:");
    counting    told  = {.count = 0};
    pawl_store_trace_set(count_told, &told);
    for (size_t i = 0; i < COUNT(calls); i++)
        for (int round = 0; round < 3; round++) {
            pawl_code code    = round == 0 ? PAWL_OK : round == 1 ? PAWL_EBUSY : PAWL_EUNREACHABLE;
            called.code       = round == 1 ? PAWL_EBUSY : PAWL_OK;
            called.ready_code = round == 2 ? PAWL_EUNREACHABLE : PAWL_OK;
            told.count        = 0;
            expect(i, store, code, "");
            assert_int_equal(told.count, 1);
            assert_string_equal(told.name, calls[i].name);
            assert_int_equal(told.code, code);
        }
    pawl_store_trace_set(NULL, NULL);
}

/* ---- The handle ---------------------------------------------------------- */

TEST(a_worker_is_attached_while_it_is_open)
{
    pawl_store *store = called_open("called:");
    called.code       = PAWL_EBUSY;
    assert_int_equal(pawl_store_worker_open(store, name, name, NOW, NULL), PAWL_EBUSY);
    assert_false(pawl_store_is_attached(store));
    called.code = PAWL_OK;
    assert_int_equal(pawl_store_worker_open(store, name, name, NOW, NULL), PAWL_OK);
    assert_true(pawl_store_is_attached(store));
    called.code = PAWL_EBUSY;
    assert_int_equal(pawl_store_worker_close(store, NOW, NULL), PAWL_EBUSY);
    assert_true(pawl_store_is_attached(store));
    called.code = PAWL_OK;
    assert_int_equal(pawl_store_worker_close(store, NOW, NULL), PAWL_OK);
    assert_false(pawl_store_is_attached(store));
    pawl_worker_id other = {us.uuid};
    pawl_store_worker_set(store, other);
    assert_int_equal(pawl_uuid_compare(pawl_store_worker(store).uuid, us.uuid), 0);
    assert_string_equal(pawl_store_identity(store), "minimal");
    assert_string_equal(pawl_store_scheme(store), "called");
    assert_int_equal(pawl_store_promises(store), PAWL_STORE_HAS_SQL);
}

TEST(the_connection_is_given_by_its_type)
{
    pawl_store *store = called_open("called:");
    assert_ptr_equal(pawl_store_native(store, "fake"), store);
    assert_null(pawl_store_native(store, "sqlite3"));
    assert_null(pawl_store_native(store, NULL));
    assert_true(pawl_store_can_enlist(store));
    called_ops.native_type = NULL;
    assert_null(pawl_store_native(store, "fake"));
    called_fill(&called_ops);
    called_ops.native = NULL;
    assert_null(pawl_store_native(store, "fake"));
    called_ops.promises = 0;
    assert_true(pawl_store_can_enlist(store)); /* a store without SQL may have transactions */
    called_ops.enlist = NULL;
    assert_false(pawl_store_can_enlist(store));
    pawl_store_interrupt(store);
    pawl_store_handler_transaction_end(store);
    assert_int_equal(called.void_calls, 3);
    called_ops.interrupt               = NULL;
    called_ops.handler_transaction_end = NULL;
    pawl_store_interrupt(store);
    pawl_store_handler_transaction_end(store);
    assert_int_equal(called.void_calls, 3);
}

/* The descriptor is ready: nothing is waited for. Without one the time that was asked for is, in the
 * caller's unit. */
TEST(without_wait_the_descriptor_ends_it)
{
    pawl_store *store = called_open("called:");
    time_t      begun = time(NULL);
    int         ends[2];
    called_ops.wait = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(pawl_store_wait(store, PAWL_HOURS(1000), ends[0], NULL), PAWL_OK);
    assert_int_equal(pawl_store_wait(store, 0, -1, NULL), PAWL_OK);
    assert_int_equal(pawl_store_wait(store, -1, -1, NULL), PAWL_OK);
    assert_int_equal(pawl_store_wait(store, PAWL_MILLISECONDS(20), -1, NULL), PAWL_OK);
    assert_true(time(NULL) - begun < 15);
    assert_int_equal(called.ready_calls, 4);
    close(ends[0]);
    close(ends[1]);
}

/* ---- Tables that end early ----------------------------------------------- */

/* Just the bytes that it says, so that a look past them would show. */
static pawl_store_ops *register_short(const char *scheme, size_t size)
{
    pawl_store_ops *made = malloc(size);
    pawl_store_ops  full;
    assert_non_null(made);
    called_fill(&full);
    full.scheme   = scheme;
    full.ops_size = size;
    memcpy(made, &full, size);
    assert_int_equal(pawl_store_register(made, NULL), PAWL_OK);
    return made;
}

TEST(an_entry_past_the_table_is_absent)
{
    static pawl_store_ops *lent[2];
    const size_t           size  = offsetof(pawl_store_ops, stream_load);
    pawl_store            *store = NULL;
    test_now(called_open("called:"));
    lent[0] = register_short("shorter", size);
    assert_int_equal(pawl_store_open("shorter:", NULL, &store, NULL), PAWL_OK);
    for (size_t i = 0; i < COUNT(calls); i++)
        expect(i, store, calls[i].offset < size ? PAWL_OK : PAWL_EUNSUPPORTED,
               calls[i].offset < size ? "" : calls[i].entry);
    assert_null(pawl_store_native(store, "fake"));
    pawl_store_close(store);

    lent[1] = register_short("shortest", offsetof(pawl_store_ops, queue_claim));
    assert_int_equal(pawl_store_open("shortest:", NULL, &store, NULL), PAWL_OK);
    pawl_changes changes = {0};
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_store_wait(store, 0, -1, NULL), PAWL_OK);
    assert_int_equal(try_queue_claim(store, NULL), PAWL_EUNSUPPORTED);
    pawl_store_interrupt(store);
    pawl_store_close(store);
    assert_int_equal(pawl_store_register(lent[1], NULL), PAWL_EDUPLICATE);
}
