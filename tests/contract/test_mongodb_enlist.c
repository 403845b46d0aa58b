/* test_mongodb_enlist.c - changes in a transaction of the application's own: they are there when it commits, and not
 * when it aborts. The session is one of libmongoc's, of a client of the application's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mongodb_fixture.h"
#include "support/tests.h"

#include "pawl/pawl.h"
#include "pawl/store_calls.h"

/* The store, and the application's own client with a session. */
typedef struct both {
    fixture                 *fixture;
    pawl_store              *store;
    mongoc_client_t         *client;
    mongoc_client_session_t *session;
} both;

static void open_both(both *b, fixture *p)
{
    bson_error_t error;
    *b = (both){.fixture = p, .store = open_store(p, p->url)};
    (void)raw_number(p->raw, p->database, json("{\"create\": \"mine\"}"), "ok");
    b->client  = mongoc_client_new(p->url);
    b->session = mongoc_client_start_session(b->client, NULL, &error);
    assert_non_null(b->session);
}

static void close_both(both *b)
{
    mongoc_client_session_destroy(b->session);
    mongoc_client_destroy(b->client);
}

static void begin(both *b)
{
    bson_error_t error;
    assert_true(mongoc_client_session_start_transaction(b->session, NULL, &error));
}

/* A document of the application's own, in its transaction. */
static void insert_own(both *b, int number)
{
    bson_t  in_session = BSON_INITIALIZER, reply;
    bson_t *insert =
        BCON_NEW("insert", "mine", "documents", "[", "{", "_id", BCON_INT32(number), "}", "]");
    assert_true(mongoc_client_session_append(b->session, &in_session, NULL));
    assert_true(raw_try(b->client, b->fixture->database, insert, &in_session, &reply));
    bson_destroy(&reply);
    bson_destroy(&in_session);
}

static pawl_code enlist(both *b, const char *id, bool is_new)
{
    return pawl_store_enlist(b->store, b->session,
                             ONE_CHANGE(queue_send, NOW, .queue = TEXT("orders"), .due = NOW,
                                        .is_new  = is_new,
                                        .message = {.id = pawl_text_of(id), .type = TEXT("t")}),
                             &b->fixture->error);
}

static void enlist_well(both *b, const char *id)
{
    pawl_code code = enlist(b, id, false);
    if (code != PAWL_OK)
        fail_msg("%s: %s", pawl_code_name(code), b->fixture->error.text);
}

static void expect(const both *b, int messages, int own)
{
    const fixture *p = b->fixture;
    assert_int_equal(raw_number(p->raw, p->database, json("{\"count\": \"pawl_queue\"}"), "n"),
                     messages);
    assert_int_equal(raw_number(p->raw, p->database, json("{\"count\": \"mine\"}"), "n"), own);
}

ON_FIXTURE(both_are_there_or_neither, fixture *p)
{
    both         b;
    bson_error_t error;
    open_both(&b, p);
    begin(&b);
    insert_own(&b, 1);
    enlist_well(&b, "m-1");
    expect(&b, 0, 0);
    assert_true(mongoc_client_session_commit_transaction(b.session, NULL, &error));
    expect(&b, 1, 1);
    begin(&b);
    insert_own(&b, 2);
    enlist_well(&b, "m-2");
    assert_true(mongoc_client_session_abort_transaction(b.session, &error));
    expect(&b, 1, 1);
    begin(&b);
    enlist_well(&b, "m-3");
    enlist_well(&b, "m-4");
    assert_true(mongoc_client_session_commit_transaction(b.session, NULL, &error));
    expect(&b, 3, 1);
    close_both(&b);
}

ON_FIXTURE(a_sender_sends_in_the_transaction, fixture *p)
{
    both         b;
    bson_error_t error;
    pawl_sender *sender = NULL;
    open_both(&b, p);
    ok(p, pawl_enlist(b.store, b.session, &sender, &p->error));
    begin(&b);
    insert_own(&b, 1);
    ok(p, pawl_sender_send_json(sender, "orders", NULL, "t", TEXT("{}"), &p->error));
    ok(p, pawl_sender_send_json(sender, "bills", NULL, "t", TEXT("{}"), &p->error));
    expect(&b, 0, 0);
    assert_true(mongoc_client_session_commit_transaction(b.session, NULL, &error));
    expect(&b, 2, 1);
    begin(&b);
    ok(p, pawl_sender_send_json(sender, "orders", NULL, "t", TEXT("{}"), &p->error));
    assert_true(mongoc_client_session_abort_transaction(b.session, &error));
    expect(&b, 2, 1);
    pawl_sender_close(sender);
    close_both(&b);
}

ON_FIXTURE(a_session_without_a_transaction_is_refused, fixture *p)
{
    both b;
    open_both(&b, p);
    assert_int_equal(enlist(&b, "m-1", false), PAWL_EINVAL);
    assert_non_null(strstr(b.fixture->error.text, "no open transaction"));
    expect(&b, 0, 0);
    close_both(&b);
}

/* A message that is there already writes nothing; one that has to be new fails, and the caller aborts. */
ON_FIXTURE(a_refused_change_fails_the_call, fixture *p)
{
    both         b;
    bson_error_t error;
    open_both(&b, p);
    begin(&b);
    enlist_well(&b, "m-1");
    assert_true(mongoc_client_session_commit_transaction(b.session, NULL, &error));
    begin(&b);
    insert_own(&b, 1);
    enlist_well(&b, "m-1");
    assert_int_equal(enlist(&b, "m-1", true), PAWL_EDUPLICATE);
    assert_true(mongoc_client_session_abort_transaction(b.session, &error));
    expect(&b, 1, 0);
    close_both(&b);
}

/* libmongoc begins no transaction with it, but one that has a write concern of its own. */
ON_FIXTURE(m1_a_client_whose_writes_have_no_answer_is_refused, fixture *p)
{
    both                      b;
    bson_error_t              error;
    mongoc_transaction_opt_t *options = mongoc_transaction_opts_new();
    mongoc_write_concern_t   *concern = mongoc_write_concern_new();
    open_both(&b, p);
    mongoc_write_concern_set_wmajority(concern, 0);
    mongoc_transaction_opts_set_write_concern(options, concern);
    mongoc_write_concern_set_w(concern, MONGOC_WRITE_CONCERN_W_UNACKNOWLEDGED);
    mongoc_client_set_write_concern(b.client, concern);
    assert_true(mongoc_client_session_start_transaction(b.session, options, &error));
    assert_int_equal(enlist(&b, "m-1", false), PAWL_ECONFIG);
    assert_non_null(strstr(p->error.text, "w=0"));
    assert_true(mongoc_client_session_abort_transaction(b.session, &error));
    mongoc_write_concern_destroy(concern);
    mongoc_transaction_opts_destroy(options);
    close_both(&b);
}

/* A transaction has it of its options, of its session's, or of its client. */
ON_FIXTURE(a_transaction_that_reads_from_secondaries_is_refused, fixture *p)
{
    both                      b;
    bson_error_t              error;
    mongoc_transaction_opt_t *options = mongoc_transaction_opts_new();
    mongoc_read_prefs_t      *prefs   = mongoc_read_prefs_new(MONGOC_READ_SECONDARY_PREFERRED);
    open_both(&b, p);
    mongoc_client_session_destroy(b.session);
    mongoc_client_set_read_prefs(b.client, prefs);
    b.session = mongoc_client_start_session(b.client, NULL, &error);
    begin(&b);
    assert_int_equal(enlist(&b, "m-1", false), PAWL_ECONFIG);
    assert_non_null(strstr(p->error.text, "read preference"));
    assert_true(mongoc_client_session_abort_transaction(b.session, &error));
    mongoc_read_prefs_set_mode(prefs, MONGOC_READ_PRIMARY);
    mongoc_transaction_opts_set_read_prefs(options, prefs);
    assert_true(mongoc_client_session_start_transaction(b.session, options, &error));
    enlist_well(&b, "m-2");
    assert_true(mongoc_client_session_commit_transaction(b.session, NULL, &error));
    expect(&b, 1, 0);
    mongoc_read_prefs_destroy(prefs);
    mongoc_transaction_opts_destroy(options);
    close_both(&b);
}
