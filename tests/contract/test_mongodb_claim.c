/* test_mongodb_claim.c - memory that is missing: a claim of a queue that fails behind its stamp, whose messages are free
 * for the next one, and a commit; a commit between the looks of a claim of the outbox. A look for retried messages
 * reads no others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mongodb_fixture.h"
#include "support/tests.h"

#include "support/fault_memory.h"

#include "pawl/store_calls.h"
#include "pawl/store_dead.h"
#include "store/mongo/mongo.h"

#define MESSAGES 40

static void commit(fixture *p, pawl_store *store, pawl_changes *changes)
{
    pawl_refusals refused = {.arena = p->arena};
    changes->now          = NOW;
    changes->unit_count = changes->group_count = 1;
    if (pawl_store_commit(store, changes, &refused, &p->error) != PAWL_OK || refused.count != 0)
        fail_msg("%s", p->error.text);
}

static void send_all(fixture *p, pawl_store *store)
{
    static pawl_queue_send sends[MESSAGES];
    static char            ids[MESSAGES][14];
    for (int i = 0; i < MESSAGES; i++) {
        snprintf(ids[i], sizeof ids[i], "m-%d", i);
        sends[i] = (pawl_queue_send){.queue   = TEXT("orders"),
                                     .due     = NOW,
                                     .message = {.id = pawl_text_of(ids[i]), .type = TEXT("t")}};
    }
    pawl_changes changes = {.queue_send = {.items = sends, .count = MESSAGES}};
    commit(p, store, &changes);
}

static void release_all(fixture *p, pawl_store *store, const pawl_queue_rows *rows)
{
    static pawl_queue_settle settles[MESSAGES];
    for (size_t i = 0; i < rows->count; i++)
        settles[i] = (pawl_queue_settle){
            .action = PAWL_QUEUE_RELEASE, .queue = TEXT("orders"), .seq = rows->items[i].seq};
    pawl_changes changes = {.queue_settle = {.items = settles, .count = rows->count}};
    commit(p, store, &changes);
}

/* Blocks of the arena are small, so that many of its rows and texts are an allocation. */
static pawl_code claim(fixture *p, pawl_store *store, pawl_arena *arena, pawl_queue_rows *rows)
{
    pawl_queue_claim asked = {.queue = TEXT("orders"), .due_max = NOW, .count_max = MESSAGES};
    *rows                  = (pawl_queue_rows){.count = 0};
    return pawl_store_queue_claim(store, &asked, arena, rows, &p->error);
}

ON_FIXTURE(messages_of_a_claim_without_memory_are_claimed_again, fixture *p)
{
    pawl_store     *store       = open_worker(p, p->url);
    bool            was_reached = true;
    long            failed      = 0;
    pawl_queue_rows rows;
    send_all(p, store);
    for (long n = 1; was_reached; n++) {
        pawl_arena *arena = pawl_arena_create(512), *again = pawl_arena_create(0);
        fault_memory_begin(n);
        pawl_code code = claim(p, store, arena, &rows);
        was_reached    = fault_memory_end();
        failed += code != PAWL_OK;
        if (code != PAWL_OK && claim(p, store, again, &rows) != PAWL_OK)
            fail_msg("allocation %ld: %s", n, p->error.text);
        if (rows.count != MESSAGES)
            fail_msg("allocation %ld: %zu messages are claimed behind it", n, rows.count);
        release_all(p, store, &rows);
        pawl_arena_destroy(again);
        pawl_arena_destroy(arena);
    }
    assert_true(failed > 5);
}

#define ADDS 2000 /* more than a block of the arena holds pointers to */

/* Adds to a partition, and a dead letter whose error is not UTF-8. */
static pawl_code commit_short_of_memory(fixture *p, pawl_store *store, pawl_refusals *refused)
{
    static pawl_aggregator_add adds[ADDS];
    static char                ids[ADDS][14];
    pawl_dead_set              letter = {.endpoint = TEXT("orders"),
                                         .queue    = TEXT("orders"),
                                         .message  = {.id = TEXT("m"), .type = TEXT("t")},
                                         .error    = TEXT("a\xff.b"),
                                         .at       = NOW};
    for (int i = 0; i < ADDS; i++) {
        snprintf(ids[i], sizeof ids[i], "a-%d", i);
        adds[i] = (pawl_aggregator_add){.name      = TEXT("sum"),
                                        .partition = TEXT("sum"),
                                        .key       = pawl_text_of(ids[i]),
                                        .message = {.id = pawl_text_of(ids[i]), .type = TEXT("t")},
                                        .at      = NOW,
                                        .due     = PAWL_TIME_MAX};
    }
    pawl_changes changes = {.now = NOW,
                            ONE_UNIT,
                            .dead_set       = {.items = &letter, .count = 1},
                            .aggregator_add = {.items = adds, .count = ADDS}};
    return pawl_store_commit(store, &changes, refused, &p->error);
}

/* No message is to blame for it, which EINVAL would say. */
ON_FIXTURE(a_commit_without_memory_says_so, fixture *p)
{
    pawl_store *store       = open_worker(p, p->url);
    bool        was_reached = true;
    long        failed      = 0;
    for (long n = 1; was_reached; n++) {
        pawl_refusals refused = {.arena = p->arena};
        fault_memory_begin(n);
        pawl_code code = commit_short_of_memory(p, store, &refused);
        was_reached    = fault_memory_end();
        failed += code != PAWL_OK;
        if (code != PAWL_OK && (code != PAWL_ENOMEM || strstr(p->error.text, "memory") == NULL))
            fail_msg("allocation %ld: %s: %s", n, pawl_code_name(code), p->error.text);
    }
    assert_true(failed > 2);
    pawl_dead_query all     = {.count_max = 2};
    pawl_dead_rows  letters = {.count = 0};
    ok(p, pawl_store_dead_find(store, &all, p->arena, &letters, &p->error));
    assert_int_equal(letters.count, 1);
    assert_true(pawl_text_equal(letters.items[0].error, TEXT("a?.b")));
}

/* ---- The outbox -------------------------------------------------------------- */

#define ROWS 5

static struct between {
    fixture            *p;
    pawl_store         *other; /* NULL: it has settled */
    pawl_outbox_settle *settle;
} between;

/* The first memory for rows is asked for when the first look is answered. */
static void *settle_meanwhile(void *memory, size_t size, void *context)
{
    if (size == 0) {
        free(memory);
        return NULL;
    }
    pawl_store *other = between.other;
    if (other != NULL && size >= sizeof(pawl_outbox_row)) {
        pawl_changes changes = {.outbox_settle = {.items = between.settle, .count = 1}};
        between.other        = NULL;
        commit(between.p, other, &changes);
    }
    return realloc(memory, size);
}

static pawl_outbox_rows claim_rows(fixture *p, pawl_store *store, pawl_arena *arena)
{
    pawl_outbox_rows rows = {.count = 0};
    ok(p, pawl_store_outbox_claim(store, TEXT("orders"), NOW, ROWS, arena, &rows, &p->error));
    return rows;
}

/* The leader before may settle a row that the next one has found. */
ON_FIXTURE(a_row_that_is_settled_while_it_is_claimed_is_left_out, fixture *p)
{
    pawl_store                 *store = open_worker(p, p->url), *other = open_worker(p, p->url);
    static const pawl_allocator allocator = {settle_meanwhile, NULL};
    pawl_outbox_add             adds[ROWS];
    for (uint8_t i = 0; i < ROWS; i++)
        adds[i] = (pawl_outbox_add){.dispatch_id = {{.bytes = {i + 1}}},
                                    .source      = TEXT("Order/1"),
                                    .version     = i + 1,
                                    .endpoint    = TEXT("orders"),
                                    .destination = TEXT("bank"),
                                    .message     = {.id = TEXT("m"), .type = TEXT("t")},
                                    .at          = NOW};
    pawl_changes changes = {.outbox_add = {.items = adds, .count = ROWS}};
    commit(p, store, &changes);
    pawl_outbox_settle later = {.id           = claim_rows(p, store, p->arena).items[0].id,
                                .state        = PAWL_OUTBOX_PENDING,
                                .attempts     = 1,
                                .next_attempt = NOW + 1,
                                .at           = NOW};
    pawl_arena        *arena = pawl_arena_create(64);
    between                  = (struct between){p, other, &later};
    pawl_allocator_set(&allocator);
    pawl_outbox_rows rows = claim_rows(p, store, arena);
    fault_memory_install();
    assert_null(between.other);
    assert_int_equal(rows.count, ROWS - 1);
    for (size_t i = 0; i < rows.count; i++) {
        assert_int_equal(rows.items[i].version, i + 2);
        assert_true(pawl_text_equal(rows.items[i].destination, TEXT("bank")));
    }
    pawl_arena_destroy(arena);
}

/* ---- Retried messages --------------------------------------------------------- */

typedef struct seen {
    fixture    *p;
    long long   size; /* of all answers */
    const char *goes; /* messages that are gone before the next command of that name; or NULL */
    const char *before;
    const char *rest; /* gone before the next aggregate then; or NULL */
} seen;

static void on_command(const mongoc_apm_command_started_t *event)
{
    seen *by = mongoc_apm_command_started_get_context(event);
    if (by->goes == NULL ||
        strcmp(mongoc_apm_command_started_get_command_name(event), by->before) != 0)
        return;
    (void)raw_number(
        by->p->raw, by->p->database,
        json(test_text("{\"delete\": \"pawl_queue\", \"deletes\": [{\"q\": {%s}, \"limit\": 0}]}",
                       by->goes)),
        "n");
    *by = (seen){.p = by->p, .goes = by->rest, .before = "aggregate"};
}

static void on_answer(const mongoc_apm_command_succeeded_t *event)
{
    seen *by = mongoc_apm_command_succeeded_get_context(event);
    by->size += mongoc_apm_command_succeeded_get_reply(event)->len;
}

#define BODY_SIZE 10000

/* All but m-1 are retried, in the order of their ids, in which they were not sent. */
static pawl_store *retry_all(fixture *p, seen *by)
{
    static char     body[BODY_SIZE];
    pawl_store     *store = open_worker(p, p->url);
    pawl_queue_rows rows;
    memset(body, 'x', sizeof body);
    for (int i = MESSAGES - 1; i >= 0; i--) {
        pawl_queue_send send = {
            .queue   = TEXT("orders"),
            .due     = NOW - MESSAGES + i,
            .message = {.type = TEXT("t"), .body = {.data = body, .size = sizeof body}}};
        send.message.id      = pawl_text_of(test_text("m-%d", i));
        pawl_changes changes = {.queue_send = {.items = &send, .count = 1}};
        commit(p, store, &changes);
    }
    ok(p, claim(p, store, p->arena, &rows));
    for (size_t i = 0; i < rows.count; i++) {
        pawl_queue_settle settle  = {.action   = PAWL_QUEUE_RETRY,
                                     .queue    = TEXT("orders"),
                                     .seq      = rows.items[i].seq,
                                     .due      = NOW + (int64_t)i,
                                     .attempts = i != 1};
        pawl_changes      changes = {.queue_settle = {.items = &settle, .count = 1}};
        commit(p, store, &changes);
    }
    mongoc_apm_callbacks_t *callbacks = mongoc_apm_callbacks_new();
    mongoc_apm_set_command_started_cb(callbacks, on_command);
    mongoc_apm_set_command_succeeded_cb(callbacks, on_answer);
    *by = (seen){.p = p};
    assert_true(mongoc_client_set_apm_callbacks(pawl__mongo_of(store)->client, callbacks, by));
    mongoc_apm_callbacks_destroy(callbacks);
    return store;
}

/* The ids, and "." behind each. */
static void expect_retried(fixture *p, pawl_store *store, size_t scan_max, size_t count_max,
                           const char *ids)
{
    char                     text[1000] = "";
    pawl_queue_rows          rows;
    const pawl_retried_query query = {
        .queue = TEXT("orders"), .type = TEXT("t"), .scan_max = scan_max, .count_max = count_max};
    ok(p, pawl_store_queue_retried(store, &query, p->arena, &rows, &p->error));
    for (size_t i = 0; i < rows.count; i++) {
        size_t size = strlen(text);
        snprintf(text + size, sizeof text - size, "%.*s.",
                 PAWL_TEXT_ARGS(rows.items[i].message.id));
        assert_int_equal(rows.items[i].message.body.size, BODY_SIZE);
    }
    assert_string_equal(text, ids);
}

/* Of the messages that it looks at it reads those that it returns. */
ON_FIXTURE(a_look_for_retried_messages_reads_what_it_returns, fixture *p)
{
    static seen by; /* closing the store answers to it, too */
    pawl_store *store = retry_all(p, &by);
    expect_retried(p, store, MESSAGES, 2, "m-0.m-2.");
    if (by.size > 3 * BODY_SIZE)
        fail_msg("%lld bytes were read for two messages", by.size);
    expect_retried(p, store, 4, 9, "m-0.m-2.m-3.");
}

/* Fewer messages than were asked for would say that there are no others. */
ON_FIXTURE(a_retried_message_that_goes_meanwhile_makes_room, fixture *p)
{
    static seen by; /* closing the store answers to it, too */
    pawl_store *store = retry_all(p, &by);
    by                = (seen){.p = p, .goes = "\"message_id\": \"m-0\"", .before = "find"};
    expect_retried(p, store, MESSAGES, 2, "m-2.m-3.");
    by = (seen){.p = p, .goes = "\"message_id\": \"m-2\"", .before = "find", .rest = ""};
    expect_retried(p, store, MESSAGES, 2, "");
}

int main(void)
{
    fault_memory_install();
    int missing = fixture_is_missing();
    return missing != 0 ? missing : tests_run(NULL, NULL);
}
