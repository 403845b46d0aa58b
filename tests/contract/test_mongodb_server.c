/* test_mongodb_server.c - the server of the tests does what the tests on it, and the driver, take for granted:
 * sessions, transactions, retried writes, failpoints (tests/servers/mongodb_gateway.py).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mongodb_fixture.h"
#include "support/tests.h"

#define ON_MADE(function) \
    TESTS(function, fixture *p, FIXTURE_ROW(function, made_setup, fixture_teardown))

#define TRANSIENT "TransientTransactionError"
#define UNKNOWN "UnknownTransactionCommitResult"

/* A client of the fixture with one session. */
typedef struct user {
    const fixture           *fixture;
    mongoc_client_t         *client;
    mongoc_client_session_t *session;
    bson_t                   in_session;
} user;

static void open_user(const fixture *p, user *made)
{
    bson_error_t error;
    made->fixture = p;
    made->client  = mongoc_client_new(p->url);
    made->session = mongoc_client_start_session(made->client, NULL, &error);
    assert_non_null(made->session);
    bson_init(&made->in_session);
    assert_true(mongoc_client_session_append(made->session, &made->in_session, &error));
}

static void close_user(user *u)
{
    bson_destroy(&u->in_session);
    mongoc_client_session_destroy(u->session);
    mongoc_client_destroy(u->client);
}

static void begin(const user *u)
{
    bson_error_t error;
    assert_true(mongoc_client_session_start_transaction(u->session, NULL, &error));
}

/* In the user's transaction, if it has one; the code of the error, of the command or of its first write. */
static int run(const user *u, const char *text, bson_t *reply)
{
    bson_iter_t at, code;
    bool        is_ok = raw_try(u->client, u->fixture->database, json(text), &u->in_session, reply);
    if (is_ok && bson_iter_init_find(&at, reply, "writeErrors"))
        assert_true(bson_iter_init(&at, reply) &&
                    bson_iter_find_descendant(&at, "writeErrors.0.code", &code));
    else if (is_ok)
        return 0;
    else if (!bson_iter_init_find(&code, reply, "code"))
        return -1; /* no reply */
    return (int)bson_iter_as_int64(&code);
}

static int code_of(const user *u, const char *text)
{
    bson_t reply;
    int    code = run(u, text, &reply);
    bson_destroy(&reply);
    return code;
}

static bool commit(const user *u, bson_t *reply)
{
    bson_error_t error;
    return mongoc_client_session_commit_transaction(u->session, reply, &error);
}

static void expect_commit(const user *u)
{
    bson_t reply;
    assert_true(commit(u, &reply));
    bson_destroy(&reply);
}

static int64_t documents(const fixture *p)
{
    return raw_number(p->raw, p->database, json("{\"count\": \"a\"}"), "n");
}

static void make(const fixture *p)
{
    (void)raw_number(p->raw, p->database, json("{\"create\": \"a\"}"), "ok");
}

static int made_setup(void **state)
{
    int result = fixture_setup(state);
    if (result == 0)
        make(*state);
    return result;
}

static void lose_commits(const fixture *p, const char *mode, bool is_applied)
{
    fault_on(
        p, mode,
        is_applied
            ? "\"failCommands\": [\"commitTransaction\"], \"closeConnection\": true, \"afterwards\": true"
            : "\"failCommands\": [\"commitTransaction\"], \"closeConnection\": true");
}

/* The driver asks once more; when that is lost, too, nobody knows. */
ON_MADE(a_commit_whose_answers_are_lost_is_unknown)
{
    user   u;
    bson_t reply;
    open_user(p, &u);
    for (int is_applied = 0; is_applied < 2; is_applied++) {
        begin(&u);
        assert_int_equal(code_of(&u, is_applied
                                         ? "{\"insert\": \"a\", \"documents\": [{\"_id\": 1}]}"
                                         : "{\"insert\": \"a\", \"documents\": [{\"_id\": 2}]}"),
                         0);
        lose_commits(p, "\"alwaysOn\"", is_applied);
        assert_false(commit(&u, &reply));
        assert_true(mongoc_error_has_label(&reply, UNKNOWN));
        bson_destroy(&reply);
        assert_true(fault_off(p) > 0);
        assert_int_equal(documents(p), is_applied ? 2 : 0);
        expect_commit(&u); /* asked for again it answers as the first one did */
        assert_int_equal(documents(p), is_applied + 1);
    }
    close_user(&u);
}

ON_MADE(an_unnamed_label_is_that_of_a_server)
{
    user   u;
    bson_t reply;
    open_user(p, &u);
    begin(&u);
    fault_on(p, "{\"skip\": 1, \"times\": 1}", "\"failCommands\": [\"insert\"], \"errorCode\": 91");
    assert_int_equal(code_of(&u, "{\"insert\": \"a\", \"documents\": [{\"_id\": 1}]}"), 0);
    assert_int_equal(run(&u, "{\"insert\": \"a\", \"documents\": [{\"_id\": 2}]}", &reply), 91);
    assert_true(mongoc_error_has_label(&reply, TRANSIENT));
    bson_destroy(&reply);
    assert_int_equal(fault_off(p), 1);
    assert_true(mongoc_client_session_abort_transaction(u.session, NULL));
    assert_int_equal(documents(p), 0);
    close_user(&u);
}

ON_MADE(a_fault_strikes_its_application_alone)
{
    user u;
    open_user(p, &u);
    fault_on(p, "\"alwaysOn\"", "\"failCommands\": [\"insert\"], \"errorCode\": 50");
    (void)raw_number(p->raw, p->database,
                     json("{\"insert\": \"a\", \"documents\": [{\"_id\": 1}]}"), "n");
    assert_int_equal(code_of(&u, "{\"insert\": \"a\", \"documents\": [{\"_id\": 2}]}"), 50);
    assert_int_equal(fault_off(p), 1);
    assert_int_equal(code_of(&u, "{\"insert\": \"a\", \"documents\": [{\"_id\": 2}]}"), 0);
    close_user(&u);
}

/* The driver sends it again, with the number of the first. */
ON_MADE(a_retried_write_is_applied_once)
{
    mongoc_client_t     *own = mongoc_client_new(p->url);
    mongoc_collection_t *all = mongoc_client_get_collection(own, p->database, "a");
    bson_t              *one = json("{\"_id\": 1, \"n\": 0}"), *id = json("{\"_id\": 1}");
    bson_t              *change = json("{\"$inc\": {\"n\": 1}}");
    bson_error_t         error;
    assert_true(mongoc_collection_insert_one(all, one, NULL, NULL, &error));
    fault_on(p, "{\"times\": 1}",
             "\"failCommands\": [\"update\"], \"closeConnection\": true, \"afterwards\": true");
    assert_true(mongoc_collection_update_one(all, id, change, NULL, NULL, &error));
    assert_int_equal(fault_off(p), 1);
    assert_int_equal(
        raw_number(p->raw, p->database, json("{\"find\": \"a\"}"), "cursor.firstBatch.0.n"), 1);
    bson_destroy(one);
    bson_destroy(id);
    bson_destroy(change);
    mongoc_collection_destroy(all);
    mongoc_client_destroy(own);
}
