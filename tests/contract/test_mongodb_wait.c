/* test_mongodb_wait.c - waits on MongoDB end by a change stream, or by a look at the counter where there is none.
 *
 * The commands that a wait sends are counted, which no load of the machine changes: one that has news to tell takes one,
 * one that has none takes several.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mongodb_fixture.h"
#include "support/tests.h"

#include "pawl/store_calls.h"

#define STREAMED "\"failCommands\": [\"getMore\"]"
#define OPENED "\"failCommands\": [\"aggregate\"]"
#define POLLED "\"failCommands\": [\"find\"]"

/* The one that waits has the application's name, which the faults strike; the one that sends has not. */
typedef struct pair {
    fixture    *p;
    pawl_store *waits, *sends;
} pair;

static pair open_pair(fixture *p)
{
    char url[500];
    fixture_url(p->database, "other", 0, url, sizeof url);
    return (pair){p, open_worker(p, p->url), open_worker(p, url)};
}

static void commit(const pair *t, pawl_changes *changes)
{
    pawl_refusals refused = {.arena = t->p->arena};
    changes->now          = NOW;
    changes->unit_count = changes->group_count = 1;
    if (pawl_store_commit(t->sends, changes, &refused, &t->p->error) != PAWL_OK ||
        refused.count != 0)
        fail_msg("%s", t->p->error.text);
}

/* As many of one commit, whose events come together. */
static void send_messages(const pair *t, const char *name)
{
    pawl_queue_send sends[40];
    char            ids[40][30];
    for (size_t i = 0; i < 40; i++) {
        snprintf(ids[i], sizeof ids[i], "%s-%zu", name, i);
        sends[i] = (pawl_queue_send){.queue   = TEXT("orders"),
                                     .due     = NOW,
                                     .message = {.id = pawl_text_of(ids[i]), .type = TEXT("t")}};
    }
    pawl_changes changes = {.queue_send = {.items = sends, .count = 40}};
    commit(t, &changes);
}

static void wait_for(const pair *t, int64_t milliseconds)
{
    if (pawl_store_wait(t->waits, PAWL_MILLISECONDS(milliseconds), -1, &t->p->error) != PAWL_OK)
        fail_msg("%s", t->p->error.text);
}

/* How many of these commands a wait takes. */
static int64_t wait_counted(const pair *t, int64_t milliseconds, const char *commands)
{
    fault_on(t->p, "\"alwaysOn\"", commands);
    wait_for(t, milliseconds);
    return fault_off(t->p);
}

ON_FIXTURE(what_was_committed_before_a_wait_ends_it, fixture *p)
{
    pair t = open_pair(p);
    wait_for(&t, 0);
    send_messages(&t, "a");
    assert_int_equal(wait_counted(&t, 9000, STREAMED), 1);
    assert_true(wait_counted(&t, 900, STREAMED) > 1); /* nothing is new */
    send_messages(&t, "b");
    send_messages(&t, "c");
    assert_int_equal(wait_counted(&t, 9000, STREAMED), 1);
    assert_int_equal(wait_counted(&t, 300, POLLED), 0);
}

/* The stream is opened before the caller looks: so the wait that opens it is over, and a wait of no time takes what
 * there is. */
ON_FIXTURE(the_wait_that_opens_the_stream_is_over, fixture *p)
{
    pair t = open_pair(p);
    send_messages(&t, "a");
    assert_int_equal(wait_counted(&t, 9000, "\"failCommands\": [\"aggregate\", \"getMore\"]"), 1);
    send_messages(&t, "b");
    assert_int_equal(wait_counted(&t, 0, STREAMED), 1);
    assert_true(wait_counted(&t, 900, STREAMED) > 1);
}

ON_FIXTURE(what_nobody_waits_for_ends_none, fixture *p)
{
    pair             t    = open_pair(p);
    pawl_inbox_entry mark = {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW};
    pawl_changes     set  = {.inbox_entry = {.items = &mark, .count = 1}};
    wait_for(&t, 0);
    commit(&t, &set);
    assert_true(wait_counted(&t, 900, STREAMED) > 1);
}

/* Timeouts are set outside of the counter that polling looks at. */
ON_FIXTURE(a_timeout_ends_a_wait, fixture *p)
{
    pair             t       = open_pair(p);
    pawl_timeout_set timeout = {
        .saga_type = TEXT("Order"), .destination = TEXT("orders"), .due = NOW, .is_new = true};
    pawl_changes set = {.timeout_set = {.items = &timeout, .count = 1}};
    memset(&timeout.id, 7, sizeof timeout.id);
    wait_for(&t, 0);
    commit(&t, &set);
    assert_int_equal(wait_counted(&t, 9000, STREAMED), 1);
}

/* Of another transaction than pawl's: there is no worker in it. */
ON_FIXTURE(what_is_enlisted_ends_a_wait, fixture *g)
{
    pair                     t       = open_pair(g);
    mongoc_client_session_t *session = mongoc_client_start_session(t.p->raw, NULL, NULL);
    pawl_queue_send          send    = {
                    .queue = TEXT("orders"), .due = NOW, .message = {.id = TEXT("m-1"), .type = TEXT("t")}};
    pawl_changes set = {.queue_send = {.items = &send, .count = 1}, .now = NOW};
    set.unit_count = set.group_count = 1;
    wait_for(&t, 0);
    assert_true(mongoc_client_session_start_transaction(session, NULL, NULL));
    assert_int_equal(t.sends->ops->enlist(t.sends, session, &set, &t.p->error), PAWL_OK);
    assert_true(wait_counted(&t, 900, STREAMED) > 1);
    assert_true(mongoc_client_session_commit_transaction(session, NULL, NULL));
    assert_int_equal(wait_counted(&t, 9000, STREAMED), 1);
    mongoc_client_session_destroy(session);
}

/* Errors that say so for good: the stream is asked for once, and the counter looked at from then on. */
ON_FIXTURE(a_server_without_change_streams_is_polled, fixture *p)
{
    static const int codes[] = {13, 59, 115, 303, 40324, 40573};
    for (size_t i = 0; i < COUNT(codes); i++) {
        pair        t     = open_pair(p);
        const char *fault = test_text(OPENED ", \"errorCode\": %d", codes[i]);
        const char *name  = test_text("%d", codes[i]);
        assert_int_equal(wait_counted(&t, 0, fault), 1);
        assert_true(wait_counted(&t, 300, POLLED) > 1);
        assert_int_equal(wait_counted(&t, 20, "\"failCommands\": [\"aggregate\", \"getMore\"]"), 0);
        send_messages(&t, name);
        assert_int_equal(wait_counted(&t, 9000, POLLED), 1);
        test_end();
    }
}

/* A failure that may pass: this wait polls, the next one asks for the stream again. */
ON_FIXTURE(a_stream_that_cannot_be_opened_now_is_asked_for_again, fixture *p)
{
    pair t = open_pair(p);
    assert_int_equal(wait_counted(&t, 300, OPENED ", \"errorCode\": 8"), 1);
    assert_int_equal(wait_counted(&t, 9000, "\"failCommands\": [\"aggregate\", \"getMore\"]"), 1);
    assert_true(wait_counted(&t, 900, STREAMED) > 1);
}

/* Whose cursor is over with its first answer: opened in each wait, which is as long as it was to be. */
ON_FIXTURE(a_stream_that_is_over_at_once_is_no_news, fixture *g)
{
    pair t = open_pair(g);
    assert_int_equal(wait_counted(&t, 0, OPENED ", \"closeCursor\": true"), 1);
    for (int i = 0; i < 2; i++) {
        fault_on(t.p, "\"alwaysOn\"",
                 "\"failCommands\": [\"aggregate\", \"find\"], \"closeCursor\": true");
        wait_for(&t, 300);
        assert_true(fault_off(t.p) > 1); /* the counter, too */
    }
}

/* Lost with its connection, its primary, its history or its cursor. This wait polls, so it is no longer than it was to
 * be; the next one opens another stream and is over. */
ON_FIXTURE(a_stream_that_ends_is_opened_again, fixture *g)
{
    static const char *const faults[] = {
        STREAMED ", \"closeConnection\": true",
        STREAMED ", \"closeConnection\": true, \"afterwards\": true",
        STREAMED ", \"errorCode\": 10107",
        STREAMED ", \"errorCode\": 11600",
        STREAMED ", \"errorCode\": 43",
        STREAMED ", \"errorCode\": 286",
        STREAMED ", \"errorCode\": 280",
    };
    pair t = open_pair(g);
    for (size_t i = 0; i < COUNT(faults); i++) {
        const char *name = test_text("%zu", i);
        wait_for(&t, 0);
        send_messages(&t, name);
        fault_on(t.p, "{\"times\": 1}", faults[i]);
        wait_for(&t, 9000);
        assert_int_equal(fault_off(t.p), 1);
        assert_int_equal(wait_counted(&t, 9000, "\"failCommands\": [\"aggregate\", \"getMore\"]"),
                         1);
        assert_true(wait_counted(&t, 900, STREAMED) > 1);
    }
}

/* MongoDB ends the stream of a database that is dropped, without an event for who asks for inserts alone. */
ON_FIXTURE(a_stream_whose_database_is_dropped_is_opened_again, fixture *g)
{
    pair t = open_pair(g);
    wait_for(&t, 0);
    (void)raw_number(t.p->raw, t.p->database, json("{\"dropDatabase\": 1}"), "ok");
    assert_int_equal(wait_counted(&t, 300, STREAMED), 1);
    assert_int_equal(wait_counted(&t, 9000, OPENED), 1);
}
