/* test_postgres_send.c - the SQL function by which others than pawl send: what it
 * inserts, what it refuses, and whom it wakes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_fixture.h"
#include "support/tests.h"

ON_FIXTURE(a_message_sent_with_sql_is_claimed, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    raw_run(p->pg, "begin");
    expect_raw_text(p->pg,
                    "select pawl_send('orders', 'place_order', '{\"x\":\"\xC3\xA9\"}', "
                    "message_id => 'm-1', due => timestamptz '2026-01-01 00:00:00Z', headers => "
                    "'{\"trace\":\"t\"}', correlation_id => 'c-1')",
                    "m-1");
    assert_int_equal(claim_some(p, store, "orders", NOW, 10).count, 0);
    raw_run(p->pg, "commit");
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 10);
    assert_int_equal(rows.count, 1);
    const pawl_message *message = &rows.items[0].message;
    assert_int_equal(rows.items[0].due, NOW);
    assert_int_equal(rows.items[0].placed, NOW);
    assert_int_equal(rows.items[0].attempts + rows.items[0].crashes, 0);
    assert_int_equal(rows.items[0].waiting_since, 0);
    assert_true(pawl_text_equal(message->id, TEXT("m-1")));
    assert_true(pawl_text_equal(message->type, TEXT("place_order")));
    assert_true(pawl_text_equal(message->body, TEXT("{\"x\":\"\xC3\xA9\"}")));
    assert_true(pawl_text_equal(message->headers, TEXT("{\"trace\":\"t\"}")));
    assert_true(pawl_text_equal(message->correlation_id, TEXT("c-1")));
    assert_int_equal(message->causation_id.size, 0);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
}

ON_FIXTURE(what_is_not_given_is_made, fixture *p)
{
    apply_schema(p, p->url, NULL, 0);
    raw_run(p->pg, "begin; select pawl_send('orders', 'ping', '')");
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_queue where \"Due\" = now() and "
                                       "\"Placed\" = now() and \"MessageId\"::uuid is not null and "
                                       "\"CorrelationId\" = \"MessageId\" and \"Headers\" = '{}'"),
                     1);
    raw_run(p->pg, "rollback");
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_queue"), 0);
}

/* A search path that finds other tables changes nothing: a trigger runs with
 * whatever its client has set. */
ON_FIXTURE(the_function_finds_its_own_tables, fixture *p)
{
    apply_schema(p, p->url, NULL, 0);
    raw_run(p->pg, "set search_path = pg_catalog");
    expect_raw_text(
        p->pg,
        test_text("select %s.pawl_send('orders', 'ping', '', message_id => 'm-1')", p->schema),
        "m-1");
    assert_int_equal(raw_number(p->pg, test_text("select count(*) from %s.pawl_queue", p->schema)),
                     1);
}

ON_FIXTURE(a_live_id_is_sent_once, fixture *p)
{
    apply_schema(p, p->url, NULL, 0);
    raw_run(p->pg, "select pawl_send('orders', 'ping', 'first', message_id => 'm-1')");
    expect_raw_text(p->pg, "select pawl_send('orders', 'pong', 'second', message_id => 'm-1')",
                    "m-1");
    raw_run(p->pg, "select pawl_send('billing', 'ping', 'other', message_id => 'm-1')");
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_queue"), 2);
    expect_raw_text(p->pg,
                    "select convert_from(\"Body\", 'UTF8') from pawl_queue "
                    "where \"Queue\" = 'orders'",
                    "first");
    raw_run(p->pg, "delete from pawl_queue");
    raw_run(p->pg, "select pawl_send('orders', 'pong', 'third', message_id => 'm-1')");
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_queue"), 1);
}

ON_FIXTURE(the_function_refuses_what_pawl_refuses, fixture *p)
{
    static const struct {
        const char *arguments;
        const char *state;
        const char *says;
    } calls[] = {
        {"'', 't', 'b'", "22023", "queue is empty"},
        {"null, 't', 'b'", "22004", "queue is null"},
        {"repeat('q', 201), 't', 'b'", "22023", "queue has 201 bytes, limit 200"},
        {"repeat('\xC3\xA9', 101), 't', 'b'", "22023", "queue has 202 bytes, limit 200"},
        {"'q', '', 'b'", "22023", "type is empty"},
        {"'q', repeat('t', 201), 'b'", "22023", "type has 201 bytes"},
        {"'q', 't', null", "22004", "body is null"},
        {"'q', 't', repeat('b', 16777217)", "22023", "body has 16777217 bytes, limit 16777216"},
        {"'q', 't', 'b', message_id => ''", "22023", "message_id is empty"},
        {"'q', 't', 'b', message_id => repeat('m', 201)", "22023", "message_id has 201 bytes"},
        {"'q', 't', 'b', correlation_id => repeat('c', 201)", "22023", "correlation_id has 201"},
        {"'q', 't', 'b', due => 'infinity'", "22023", "due is infinity"},
        {"'q', 't', 'b', due => timestamptz '10000-01-01 00:00:00Z'", "22023", "due is"},
        {"'q', 't', 'b', due => timestamptz '0002-01-01 00:00:00Z BC'", "22023", "due is"},
        {"'q', 't', 'b', headers => '['", "22023", "headers are no JSON object of strings"},
        {"'q', 't', 'b', headers => '[]'", "22023", "headers are no JSON object of strings"},
        {"'q', 't', 'b', headers => '{\"a\":1}'", "22023", "headers are no JSON object of"},
        {"'q', 't', 'b', headers => '{\"a\":\"\\u0000\"}'", "22023", "headers are no JSON"},
        {"'q', 't', 'b', headers => '{\"a\":\"' || repeat('h', 65536) || '\"}'", "22023",
         "headers has 65544 bytes, limit 65536"},
    };
    apply_schema(p, p->url, NULL, 0);
    for (size_t i = 0; i < COUNT(calls); i++)
        expect_refused(p->pg, test_text("select pawl_send(%s)", calls[i].arguments), calls[i].state,
                       calls[i].says);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_queue"), 0);
    raw_run(p->pg, "select pawl_send(repeat('q', 200), repeat('t', 200), repeat('b', 16777216), "
                   "timestamptz '9999-12-31 23:59:59.999999Z', repeat('m', 200), "
                   "'{\"a\":\"' || repeat('h', 65528) || '\"}', '')");
    assert_int_equal(raw_number(p->pg, "select octet_length(\"Body\") from pawl_queue"), 16777216);
}

static PGnotify *next_notify(PGconn *pg)
{
    raw_run(pg, "select 1"); /* NOTIFYs of commits before are there with the answer */
    return PQnotifies(pg);
}

ON_FIXTURE(sending_wakes_who_listens, fixture *p)
{
    PGconn *other = raw_open(p->schema);
    apply_schema(p, p->url, NULL, 0);
    const char *sql = test_text("select 'pawl_' || md5('%s.pawl_')", p->schema);
    char        channel[64];
    raw_text(p->pg, sql, channel, sizeof channel);
    raw_run(p->pg, test_text("listen %s", channel));
    raw_run(other, "begin; select pawl_send('orders', 'ping', '')");
    assert_null(next_notify(p->pg));
    raw_run(other, "rollback");
    assert_null(next_notify(p->pg));
    raw_run(other, "select pawl_send('orders', 'ping', '')");
    PGnotify *notify = next_notify(p->pg);
    assert_non_null(notify);
    assert_string_equal(notify->relname, channel);
    assert_string_equal(notify->extra, "orders");
    PQfreemem(notify);
    PQfinish(other);
}
