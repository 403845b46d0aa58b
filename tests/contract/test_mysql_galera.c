/* test_mysql_galera.c - handles on different nodes of one cluster: what another node's change undoes,
 * claims, and the order of a stream's events (E8, O32).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"
#include "conformance/suite/run.h"
#include "support/tests.h"

#undef TEXT
#include "contract/mysql_fixture.h"

#define CASE(function) \
    TESTS(function, void **state, cmocka_unit_test_setup_teardown(function, setup, teardown))

#define NODES 3
#define TRIES 20000 /* of what another node has to apply first */

typedef struct cluster {
    unsigned      ports[NODES];
    MYSQL        *raw[NODES];
    suite_address nodes[NODES];
    suite_tables  tables;
    suite         s;
} cluster;

static bool read_url(cluster *c)
{
    const char *url = getenv("PAWL_TEST_GALERA");
    return url != NULL && sscanf(url, "mariadb://root@127.0.0.1:%u,127.0.0.1:%u,127.0.0.1:%u/",
                                 &c->ports[0], &c->ports[1], &c->ports[2]) == NODES;
}

static MYSQL *connect_node(const cluster *c, unsigned node, const char *database)
{
    fixture p = {.port = c->ports[node]};
    snprintf(p.host, sizeof p.host, "127.0.0.1");
    return raw_connect(&p, database);
}

/* The tables are made on the first node. */
static int setup(void **state)
{
    static cluster c;
    c      = (cluster){.s = {.arena = pawl_arena_create(0)}};
    *state = &c;
    if (!read_url(&c))
        return -1;
    const char *name =
        test_text("pawl_galera_%ld_%llx", (long)getpid(), (unsigned long long)time(NULL));
    MYSQL *first = connect_node(&c, 0, NULL);
    raw_run(first, test_text("create database %s", name));
    mysql_close(first);
    for (unsigned i = 0; i < NODES; i++)
        snprintf(c.nodes[i].url, sizeof c.nodes[i].url, "mariadb://root@127.0.0.1:%u/%s",
                 c.ports[i], name);
    suite_tables_make(&c.tables, &c.nodes[0]);
    memcpy(c.s.tables, c.tables.list, sizeof c.s.tables);
    if (pawl_store_schema(c.nodes[0].url, PAWL_SCHEMA_APPLY, &c.tables.spec, no_line, NULL,
                          &c.s.error) != PAWL_OK)
        fail_msg("%s", c.s.error.text);
    for (unsigned i = 0; i < NODES; i++) {
        c.raw[i] = connect_node(&c, i, name);
        raw_run(c.raw[i], "set wsrep_sync_wait = 3"); /* before reads, and before updates */
        raw_number(c.raw[i], "select count(*) from pawl_queue"); /* the tables are there, too */
    }
    return 0;
}

static int teardown(void **state)
{
    cluster *c = *state;
    suite_close_all(&c->s);
    if (c->raw[0] != NULL)
        (void)mysql_query(c->raw[0], "execute immediate concat('drop database ', database())");
    for (unsigned i = 0; i < NODES; i++)
        if (c->raw[i] != NULL)
            mysql_close(c->raw[i]);
    pawl_arena_destroy(c->s.arena);
    return 0;
}

static pawl_store *open_node(cluster *c, unsigned node)
{
    c->s.address = &c->nodes[node];
    return suite_open(&c->s);
}

/* A failed expectation of the suite ends here. */
#define IN_SUITE(c)                 \
    if (setjmp((c)->s.failed) != 0) \
    fail_msg("%s", (c)->s.failure)

/* ---- Undone by another node -------------------------------------------------- */

static void make_row(cluster *c)
{
    raw_run(c->raw[0], "create table t (id int primary key, v int not null)");
    raw_run(c->raw[0], "insert into t values (1, 0)");
}

/* Another node changes the row that `own` has changed, and this node has the change. */
static void change_elsewhere(cluster *c, MYSQL *own)
{
    raw_run(own, "update t set v = 1 where id = 1");
    raw_run(c->raw[1], "update t set v = 2 where id = 1");
    assert_int_equal(raw_number(c->raw[0], "select v from t where id = 1"), 2);
}

/* The node says at the rollback that it undid the transaction: that is no reason to leave it. */
CASE(o32_a_hold_that_was_undone_ends_and_keeps_its_session)
{
    cluster *c = *state;
    IN_SUITE(c);
    pawl_store   *a       = open_node(c, 0);
    MYSQL        *own     = pawl_store_native(a, "MYSQL");
    unsigned long session = mysql_thread_id(own);
    make_row(c);
    EXPECT_OK(&c->s, pawl_store_handler_transaction_begin(a, &c->s.error));
    change_elsewhere(c, own);
    pawl_store_handler_transaction_end(a);
    suite_send(&c->s, a, PAWL_TEXT("orders"), "m-1", SUITE_NOW);
    assert_ptr_equal(pawl_store_native(a, "MYSQL"), own);
    assert_int_equal(mysql_thread_id(own), session);
}

CASE(o32_a_hold_that_was_undone_is_lost_at_its_commit)
{
    cluster *c = *state;
    IN_SUITE(c);
    pawl_store   *a = open_node(c, 0);
    pawl_refusals refused;
    make_row(c);
    EXPECT_OK(&c->s, pawl_store_handler_transaction_begin(a, &c->s.error));
    change_elsewhere(c, pawl_store_native(a, "MYSQL"));
    suite_set set = suite_changes(&c->s);
    ADD(&set, queue_send, .queue = PAWL_TEXT("orders"), .due = SUITE_NOW,
        .message = suite_message(&c->s, PAWL_TEXT("m-1")));
    EXPECT_CODE(&c->s, suite_try(&set, a, &refused), PAWL_ELOST);
    EXPECT_EQ(&c->s, suite_queue(&c->s, a, PAWL_TEXT("orders")).count, 0);
    COMMIT(&set, a);
    EXPECT_EQ(&c->s, suite_queue(&c->s, a, PAWL_TEXT("orders")).count, 1);
}

/* Told to a statement that begins a transaction, which then is begun again. */
CASE(e8_what_was_undone_outside_a_transaction_is_done_again)
{
    cluster *c = *state;
    IN_SUITE(c);
    pawl_store *a   = open_node(c, 0);
    MYSQL      *own = pawl_store_native(a, "MYSQL");
    make_row(c);
    raw_run(own, "start transaction");
    change_elsewhere(c, own);
    suite_send(&c->s, a, PAWL_TEXT("orders"), "m-1", SUITE_NOW);
    suite_send(&c->s, a, PAWL_TEXT("orders"), "m-2", SUITE_NOW);
    EXPECT_EQ(&c->s, suite_queue(&c->s, a, PAWL_TEXT("orders")).count, 2);
}

/* ---- The schema ------------------------------------------------------------- */

/* The other node has a great change to apply first, and the table a moment later. */
CASE(d26_a_table_that_another_node_made_is_waited_for)
{
    cluster           *c     = *state;
    pawl_schema_spec   spec  = {.tables = order_tables, .table_count = 1};
    pawl_store_options how   = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store = NULL;
    how.mode                 = PAWL_OPEN_CHECK;
    how.tables               = order_tables;
    how.table_count          = 1;
    raw_run(c->raw[0], "create table t (id int primary key, v int not null)");
    raw_run(c->raw[0], "insert into t select seq, 0 from seq_1_to_100000");
    if (pawl_store_schema(c->nodes[0].url, PAWL_SCHEMA_APPLY, &spec, no_line, NULL, &c->s.error) !=
            PAWL_OK ||
        pawl_store_open(c->nodes[1].url, &how, &store, &c->s.error) != PAWL_OK)
        fail_msg("%s", c->s.error.text);
    assert_int_equal(raw_number(pawl_store_native(store, "MYSQL"), "select @@wsrep_sync_wait"), 0);
    pawl_store_close(store);
    if (pawl_store_schema(c->nodes[2].url, PAWL_SCHEMA_VERIFY, &spec, no_line, NULL, &c->s.error) !=
        PAWL_OK)
        fail_msg("%s", c->s.error.text);
}

/* ---- Claims and events --------------------------------------------------------- */

static void wait_for_rows(cluster *c, unsigned node, long long count)
{
    assert_int_equal(raw_number(c->raw[node], "select count(*) from pawl_queue"), count);
}

CASE(e8_two_nodes_claim_no_row_twice)
{
    enum { ROWS = 40 };
    cluster *c = *state;
    IN_SUITE(c);
    pawl_store *a              = open_node(c, 0);
    pawl_store *b              = open_node(c, 1);
    bool        is_taken[ROWS] = {false};
    for (unsigned i = 0; i < ROWS; i++)
        suite_send(&c->s, a, PAWL_TEXT("orders"), suite_printf(&c->s, "m-%u", i).data, SUITE_NOW);
    wait_for_rows(c, 1, ROWS);
    for (unsigned i = 0; i < ROWS / 4; i++) {
        pawl_queue_rows rows =
            suite_claim(&c->s, i % 2 == 0 ? a : b, PAWL_TEXT("orders"), SUITE_NOW, 4);
        EXPECT_EQ(&c->s, rows.count, 4);
        for (size_t k = 0; k < rows.count; k++) {
            unsigned number = ROWS;
            (void)sscanf(rows.items[k].message.id.data, "m-%u", &number);
            assert_true(number < ROWS && !is_taken[number]);
            is_taken[number] = true;
        }
    }
}

/* A node knows the numbers of what it has applied, and a version follows only one that it has. */
CASE(e8_a_stream_that_grows_on_all_nodes_keeps_its_order)
{
    enum { VERSIONS = 60 };
    cluster *c = *state;
    IN_SUITE(c);
    pawl_store   *stores[NODES];
    pawl_refusals refused;
    int64_t       numbered = 0;
    for (unsigned i = 0; i < NODES; i++)
        stores[i] = open_node(c, i);
    for (unsigned version = 0, tries = 0; version < VERSIONS; tries++) {
        suite_set set = suite_changes(&c->s);
        assert_true(tries < TRIES);
        suite_add_events(&set, PAWL_TEXT("Account/1"), version, 1);
        EXPECT_OK(&c->s, suite_try(&set, stores[version * 7 / 5 % NODES], &refused));
        version += refused.count == 0;
    }
    EXPECT_EQ(&c->s, raw_number(c->raw[2], "select count(*) from pawl_events"), VERSIONS);
    EXPECT_OK(&c->s, pawl_store_event_number(stores[2], 0, &numbered, &c->s.error));
    EXPECT_EQ(&c->s, numbered, VERSIONS);
    pawl_event_rows rows =
        suite_events(&c->s, stores[2], (pawl_event_query){.is_by_position = true});
    EXPECT_EQ(&c->s, rows.count, VERSIONS);
    for (size_t i = 0; i < rows.count; i++)
        EXPECT_EQ(&c->s, rows.items[i].version, i + 1);
}

int main(void)
{
    if (getenv("PAWL_TEST_GALERA") != NULL)
        return tests_run(NULL, NULL);
    puts("skipped: PAWL_TEST_GALERA names no cluster");
    return server_may_be_missing("galera") ? SKIPPED : 1;
}
