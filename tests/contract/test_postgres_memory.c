/* test_postgres_memory.c - the first, second, third ... allocation of the driver
 * fails: nothing is half written, nothing leaks, and the handle works on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/fault_memory.h"
#include "support/tests.h"

#define FAULTS_MAX 2000 /* no scenario has as many allocations */

/* A failure is that of the memory, or of the connection that it cost. */
static void expect_failure(const fixture *p, pawl_code code, long n)
{
    if (code != PAWL_ENOMEM && code != PAWL_ELOST)
        fail_msg("allocation %ld: is %s: %s", n, pawl_code_name(code), p->error.text);
}

/* ---- Opening ------------------------------------------------------------ */

static pawl_code open_and_attach(fixture *p, pawl_store **store)
{
    pawl_code code = open_with(p, p->url, order_tables, 1, store);
    if (code != PAWL_OK)
        return code;
    code = pawl_store_worker_open(*store, TEXT("orders"), TEXT("[]"), NOW, &p->error);
    if (code != PAWL_OK) /* the handle is there: another try works */
        ok(p, pawl_store_worker_open(*store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return code;
}

ON_TROUBLE(opening_survives, fixture *p)
{
    bool was_reached = true;
    apply_schema(p, p->url, order_tables, 1);
    for (long n = 1; was_reached; n++) {
        pawl_store *store = NULL;
        long        live  = fault_memory_live();
        assert_true(n < FAULTS_MAX);
        fault_memory_begin(n);
        pawl_code code = open_and_attach(p, &store);
        was_reached    = fault_memory_end();
        if (was_reached && code == PAWL_OK)
            ok(p, send_one(p, store, "orders", "m-1"));
        else if (was_reached)
            expect_failure(p, code, n);
        else
            ok(p, code);
        if (store != NULL)
            ok(p, pawl_store_worker_close(store, NOW, &p->error));
        test_now(store);
        assert_int_equal(fault_memory_live(), live);
    }
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_workers where \"Epoch\" > 0"), 0);
}

/* ---- A message ---------------------------------------------------------- */

/* A message is claimed, its saga loaded, and one set settles it, marks it, saves
 * the saga and sends. With a refusal a second group does what was done before. */
typedef struct message_trip {
    fixture          *p;
    pawl_store       *store;
    pawl_arena       *arena; /* of the calls under test */
    long              n;
    char              id[30];
    bool              is_refused;
    bool              is_held;
    int64_t           version; /* of the saga, before */
    pawl_queue_settle settle;
    pawl_inbox_entry  marks[2];
    pawl_saga_update  update;
    pawl_queue_send   send;
    pawl_changes      changes;
} message_trip;

static int64_t count_of(const message_trip *t, const char *format)
{
    return raw_number(t->p->pg, test_text(format, t->id));
}

static void make_changes(message_trip *t)
{
    t->settle     = (pawl_queue_settle){.queue = TEXT("orders")};
    t->settle.seq = count_of(t, "select \"Seq\" from pawl_queue where \"Queue\" = 'orders' "
                                "and \"MessageId\" = '%s'");
    t->marks[0]   = (pawl_inbox_entry){
          .endpoint = TEXT("orders"), .message_id = pawl_text_of(t->id), .at = NOW};
    t->marks[1] = (pawl_inbox_entry){
        .unit = 1, .group = 1, .endpoint = TEXT("orders"), .message_id = TEXT("m-0"), .at = NOW};
    t->update                     = (pawl_saga_update){.table    = &order_table,
                                                       .id       = {uuid_of(1)},
                                                       .version  = t->version,
                                                       .metadata = TEXT("{}"),
                                                       .data     = TEXT("{\"n\":2}")};
    t->send                       = send_of("bills", t->id);
    t->changes                    = (pawl_changes){.now = NOW, .group_count = 2, .unit_count = 2};
    t->changes.queue_settle.items = &t->settle;
    t->changes.queue_settle.count = 1;
    t->changes.inbox_entry.items  = t->marks;
    t->changes.inbox_entry.count  = t->is_refused ? 2 : 1;
    t->changes.saga_update.items  = &t->update;
    t->changes.saga_update.count  = 1;
    t->changes.queue_send.items   = &t->send;
    t->changes.queue_send.count   = 1;
}

/* The first code that is not OK. */
static pawl_code go(message_trip *t)
{
    pawl_error      *error   = &t->p->error;
    pawl_queue_rows  rows    = {0};
    pawl_saga_row    row     = {0};
    pawl_refusals    refused = {.arena = t->arena};
    pawl_value       id      = {.type = PAWL_VALUE_UUID, .as.uuid = uuid_of(1)};
    pawl_queue_claim claim = {.queue = TEXT("orders"), .due_max = NOW, .count_max = 9, .now = NOW};
    pawl_code        code  = pawl_store_queue_claim(t->store, &claim, t->arena, &rows, error);
    if (code == PAWL_OK && t->is_held)
        code = pawl_store_handler_transaction_begin(t->store, error);
    if (code == PAWL_OK)
        code = pawl_store_saga_load(t->store, &order_table, PAWL_SAGA_BY_ID, &id, 1,
                                    PAWL_SAGA_UNLOCKED, t->arena, &row, error);
    if (code == PAWL_OK)
        code = pawl_store_commit(t->store, &t->changes, &refused, error);
    if (code == PAWL_OK && refused.count != (size_t)t->is_refused)
        fail_msg("allocation %ld: %zu refusals", t->n, refused.count);
    pawl_store_handler_transaction_end(t->store);
    return code;
}

/* All of it, or nothing. */
static void check_applied(const message_trip *t, bool is_applied)
{
    assert_int_equal(count_of(t, "select count(*) from pawl_queue where \"Queue\" = 'orders' "
                                 "and \"MessageId\" = '%s'"),
                     !is_applied);
    assert_int_equal(count_of(t, "select count(*) from pawl_queue where \"Queue\" = 'bills' "
                                 "and \"MessageId\" = '%s'"),
                     is_applied);
    assert_int_equal(count_of(t, "select count(*) from pawl_inbox where \"MessageId\" = '%s'"),
                     is_applied);
    assert_int_equal(order_version(t->p, 1), t->version + is_applied);
}

static bool try_message(message_trip *t)
{
    fixture *p    = t->p;
    long     live = fault_memory_live();
    make_changes(t);
    t->store = open_more(p, p->url);
    t->arena = pawl_arena_create(0);
    assert_non_null(t->arena);
    fault_memory_begin(t->n);
    pawl_code code        = go(t);
    bool      was_reached = fault_memory_end();
    if (!was_reached)
        ok(p, code);
    else if (code != PAWL_OK)
        expect_failure(p, code, t->n);
    check_applied(t, code == PAWL_OK);
    if (code != PAWL_OK) {
        t->is_held = t->is_refused   = false;
        t->changes.inbox_entry.count = 1;
        ok(p, go(t));
        check_applied(t, true);
    }
    test_now(t->store);
    pawl_arena_destroy(t->arena);
    assert_int_equal(fault_memory_live(), live);
    return was_reached;
}

static void try_messages(fixture *p, bool is_refused, bool is_held)
{
    pawl_store *keeper      = open_store(p, p->url);
    bool        was_reached = true;
    begin_order(p, keeper, 1);
    raw_run(p->pg, "insert into pawl_inbox values ('orders', 'm-0', 'handled', now())");
    for (long n = 1; was_reached; n++) {
        message_trip t = {.p = p, .n = n, .is_refused = is_refused, .is_held = is_held};
        assert_true(n < FAULTS_MAX);
        t.version = order_version(p, 1);
        snprintf(t.id, sizeof t.id, "m-%ld", n);
        ok(p, send_one(p, keeper, "orders", t.id));
        was_reached = try_message(&t);
    }
    test_now(keeper);
}

ON_TROUBLE(a_message_survives, fixture *p)
{
    try_messages(p, false, false);
}

ON_TROUBLE(a_refusal_survives, fixture *p)
{
    try_messages(p, true, false);
}

ON_TROUBLE(a_hold_survives, fixture *p)
{
    try_messages(p, false, true);
}

/* Claims are given back by a rollback. Without memory for its text the transaction would stay open: the
 * connection is given up, and with it the row locks. */
ON_TROUBLE(a_release_survives, fixture *p)
{
    pawl_store       *keeper      = open_store(p, p->url);
    bool              was_reached = true;
    pawl_queue_settle settle      = {.queue = TEXT("orders"), .action = PAWL_QUEUE_RELEASE};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_settle = {.items = &settle, .count = 1}};
    ok(p, send_one(p, keeper, "orders", "m-1"));
    for (long n = 1; was_reached; n++) {
        pawl_store     *store = open_more(p, p->url);
        pawl_queue_rows rows  = claim_some(p, store, "orders", NOW, 1);
        assert_true(n < FAULTS_MAX && rows.count == 1);
        settle.seq = rows.items[0].seq;
        fault_memory_begin(n);
        pawl_code code = pawl_store_commit(store, &changes, NULL, &p->error);
        was_reached    = fault_memory_end();
        if (code == PAWL_OK) { /* at the handle's next call, whatever it is */
            ok(p, pawl_store_wait(store, 0, -1, &p->error));
            assert_int_equal(claim_some(p, keeper, "orders", NOW, 1).count, 1);
            ok(p, pawl_store_commit(keeper, &changes, NULL, &p->error));
        } else {
            expect_failure(p, code, n);
        }
        test_now(store);
    }
}

/* ---- Enlist ------------------------------------------------------------- */

ON_TROUBLE(an_enlist_survives, fixture *p)
{
    pawl_store *store       = open_store(p, p->url);
    PGconn     *pg          = raw_open(p->schema);
    bool        was_reached = true;
    raw_run(pg, "create table mine (id integer)");
    for (long n = 1; was_reached; n++) {
        pawl_queue_send send    = {.queue = TEXT("orders"), .due = NOW};
        pawl_changes    changes = one_send(&send);
        long            live    = fault_memory_live();
        send.message            = message_of(test_text("m-%ld", n));
        assert_true(n < FAULTS_MAX);
        raw_run(pg, "begin; insert into mine values (1)");
        fault_memory_begin(n);
        pawl_code code = pawl_store_enlist(store, pg, &changes, &p->error);
        was_reached    = fault_memory_end();
        if (was_reached && code != PAWL_OK)
            assert_int_equal(code, PAWL_ENOMEM);
        else
            ok(p, code);
        assert_int_equal(fault_memory_live(), live);
        if (code != PAWL_OK) { /* the caller's transaction goes on without it */
            assert_int_equal(raw_number(pg, "select count(*) from pawl_queue"), n - 1);
            ok(p, pawl_store_enlist(store, pg, &changes, &p->error));
        }
        raw_run(pg, "commit");
        assert_int_equal(queue_count(p), n);
        assert_int_equal(raw_number(p->pg, "select count(*) from mine"), n);
    }
    PQfinish(pg);
}

/* ---- Timeouts ----------------------------------------------------------- */

/* A lease and the question what is due next go to the server together, COMMIT behind them: a claim
 * that failed has leased nothing. */
ON_TROUBLE(a_claim_of_timeouts_survives, fixture *p)
{
    open_store(p, p->url);
    assert_non_null(pawl_arena_take(p->arena, 1)); /* its first block counts as live */
    bool               was_reached = true;
    pawl_timeout_rows  rows;
    pawl_timeout_claim claim = {.destination = TEXT("orders"),
                                .due_max     = NOW,
                                .count_max   = 1,
                                .owner       = {uuid_of(7)},
                                .now         = NOW,
                                .lease       = PAWL_MINUTES(5)};
    raw_run(p->pg, "insert into pawl_timeouts (\"Id\", \"Generation\", \"SagaType\", \"Name\", "
                   "\"Destination\", \"Due\", \"Attempts\", \"CorrelationId\", \"Headers\") "
                   "values (gen_random_uuid(), 1, '', 't', 'orders', '2020-01-01', 0, '', '')");
    for (long n = 1; was_reached; n++) {
        long        live  = fault_memory_live();
        pawl_store *store = open_more(p, p->url);
        assert_true(n < FAULTS_MAX);
        fault_memory_begin(n);
        pawl_code code = pawl_store_timeout_claim(store, &claim, p->arena, &rows, &p->error);
        was_reached    = fault_memory_end();
        if (was_reached && code != PAWL_OK)
            expect_failure(p, code, n);
        else
            ok(p, code);
        if (code != PAWL_ELOST)
            assert_int_equal(raw_number(p->pg, "select count(\"Owner\") from pawl_timeouts"),
                             code == PAWL_OK);
        test_now(store);
        raw_run(p->pg, "update pawl_timeouts set \"Owner\" = null, \"LeaseExpires\" = null, "
                       "\"LeaseWorker\" = null");
        assert_int_equal(fault_memory_live(), live);
    }
}

/* ---- Positions ---------------------------------------------------------- */

static void append_event(fixture *p, pawl_store *store)
{
    COMMIT_OK(p, store, event_append, NOW, .stream = TEXT("s"), .version = 1, .is_first = true,
              .event = {.type = TEXT("Paid"), .type_version = 1, .at = NOW});
}

/* The turn to number, the positions and COMMIT go to the server together: without the turn, which keeps
 * others from numbering, nothing behind it is sent. Readers are told behind the commit, by what an
 * append has prepared already. */
ON_TROUBLE(a_numbering_survives, fixture *p)
{
    open_store(p, p->url);
    bool was_reached = true;
    for (long n = 1; was_reached; n++) {
        int64_t     count = 0;
        pawl_store *store = open_more(p, p->url);
        append_event(p, store);
        assert_true(n < FAULTS_MAX);
        fault_memory_begin(n);
        pawl_code code = pawl_store_event_number(store, 10, &count, &p->error);
        was_reached    = fault_memory_end();
        if (was_reached && code != PAWL_OK)
            expect_failure(p, code, n);
        else
            ok(p, code);
        if (code != PAWL_ELOST)
            assert_int_equal(raw_number(p->pg, "select count(\"Position\") from pawl_events"),
                             code == PAWL_OK);
        test_now(store);
        raw_run(p->pg, "delete from pawl_events");
    }
}

int main(void)
{
    if (fixture_server() == NULL)
        return fixture_skip();
    fault_memory_install();
    return tests_run(NULL, NULL);
}
