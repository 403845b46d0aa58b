/* test_mongodb_commit.c - a commit on MongoDB whose commands fail, go astray or meet others: it is applied once, and
 * the caller is told so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "contract/mongodb_fixture.h"
#include "pawl/store_calls.h"

#define COMMIT "\"failCommands\": [\"commitTransaction\"], "
#define WRITES "\"failCommands\": [\"insert\", \"update\"], "
#define ALL                                                                            \
    "\"failCommands\": [\"find\", \"aggregate\", \"insert\", \"update\", \"delete\", " \
    "\"findAndModify\", \"commitTransaction\"], \"closeConnection\": true"

/* The checkpoint is moved on from `number`, which would be refused a second time, and a message is sent. */
static pawl_code commit(fixture *p, pawl_store *store, int64_t number)
{
    pawl_refusals       refused = {.arena = p->arena};
    pawl_checkpoint_set move    = {.name = TEXT("c"), .from = number, .to = number + 1, .at = NOW};
    pawl_queue_send send    = {.queue = TEXT("orders"), .due = NOW, .message = {.type = TEXT("t")}};
    pawl_changes    changes = {.now = NOW,
                               ONE_UNIT,
                               .checkpoint_set = {.items = &move, .count = 1},
                               .queue_send     = {.items = &send, .count = 1}};
    send.message.id         = pawl_text_of(test_text("m-%d", (int)number));
    pawl_code code          = pawl_store_commit(store, &changes, &refused, &p->error);
    assert_int_equal(refused.count, 0);
    return code;
}

static int64_t messages(const fixture *p)
{
    return raw_number(p->raw, p->database, json("{\"count\": \"pawl_queue\"}"), "n");
}

/* Faults that the store settles by itself. */
ON_FIXTURE(o32_a_commit_in_doubt_is_settled, fixture *p)
{
    static const struct {
        const char *mode, *data;
    } faults[] = {
        {"{\"times\": 1}", COMMIT "\"closeConnection\": true, \"afterwards\": true"},
        {"{\"times\": 2}", COMMIT "\"closeConnection\": true, \"afterwards\": true"},
        {"{\"times\": 2}", COMMIT "\"closeConnection\": true"},
        {"{\"times\": 3}",
         COMMIT "\"errorCode\": 91, \"errorLabels\": [\"UnknownTransactionCommitResult\"]"},
        {"{\"times\": 1}",
         COMMIT "\"errorCode\": 251, \"errorLabels\": [\"TransientTransactionError\"]"},
        {"{\"times\": 1}", WRITES "\"errorCode\": 112"},
        {"{\"skip\": 1, \"times\": 1}",
         WRITES "\"errorCode\": 112, \"errorLabels\": [\"TransientTransactionError\"]"},
    };
    pawl_store *store  = open_worker(p, p->url);
    int64_t     number = 0;
    for (size_t i = 0; i < COUNT(faults); i++, number++) {
        fault_on(p, faults[i].mode, faults[i].data);
        pawl_code code   = commit(p, store, number);
        int64_t   struck = fault_off(p);
        if (code != PAWL_OK || struck == 0)
            fail_msg("fault %zu, which struck %d times: %s: %s", i, (int)struck,
                     pawl_code_name(code), p->error.text);
        assert_int_equal(messages(p), number + 1);
    }
}

/* Before the commit command nothing is there, and the caller is told so or never learns of it. */
ON_FIXTURE(o32_every_command_of_a_commit_is_lost, fixture *p)
{
    pawl_store *store  = open_worker(p, p->url);
    int64_t     number = 0, struck = 1;
    for (int i = 0; struck > 0; i++) {
        struck = 0;
        for (int is_applied = 0; is_applied < 2; is_applied++, number++) {
            fault_on(p, test_text("{\"skip\": %d, \"times\": 1}", i),
                     is_applied ? ALL ", \"afterwards\": true" : ALL);
            pawl_code code = commit(p, store, number);
            struck += fault_off(p);
            if (code != PAWL_OK && code != PAWL_ELOST)
                fail_msg("command %d: %s: %s", i, pawl_code_name(code), p->error.text);
            assert_int_equal(messages(p), number + (code == PAWL_OK));
            if (code != PAWL_OK && commit(p, store, number) != PAWL_OK)
                fail_msg("command %d, again: %s", i, p->error.text);
            assert_int_equal(messages(p), number + 1);
        }
    }
    assert_true(number > 6);
}

/* ---- Parts ----------------------------------------------------------------- */

#define GROUPS 3
#define SENDS 600 /* of a group: two groups are more than a transaction has */

/* A set of three transactions. */
static pawl_code commit_parts(fixture *p, pawl_store *store, pawl_uuid *id, pawl_refusals *refused)
{
    static pawl_queue_send sends[GROUPS * SENDS];
    static char            ids[GROUPS * SENDS][16];
    for (int i = 0; i < GROUPS * SENDS; i++) {
        snprintf(ids[i], sizeof ids[i], "p-%d", i);
        sends[i] = (pawl_queue_send){.unit    = (uint32_t)(i / SENDS),
                                     .group   = (uint32_t)(i / SENDS),
                                     .queue   = TEXT("orders"),
                                     .due     = NOW,
                                     .message = {.id = pawl_text_of(ids[i]), .type = TEXT("t")}};
    }
    pawl_changes changes = {.now         = NOW,
                            .unit_count  = GROUPS,
                            .group_count = GROUPS,
                            .queue_send  = {.items = sends, .count = GROUPS * SENDS}};
    *refused             = (pawl_refusals){.arena = p->arena};
    pawl_code code       = pawl_store_commit(store, &changes, refused, &p->error);
    *id                  = changes.commit_id;
    return code;
}

/* A worker whose calls end soon. */
static pawl_store *open_impatient(fixture *p, int64_t deadline)
{
    pawl_store        *store   = NULL;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CREATE;
    options.deadline           = deadline;
    ok(p, fixture_open(p, p->url, &options, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

/* The answer of the second part's commit is lost, and whoever asks what became of it gets none: the parts behind it are
 * not tried, and the caller is told. Once it can be asked, the fence's document says that it is in. */
ON_FIXTURE(a_part_in_doubt_leaves_the_rest, fixture *p)
{
    pawl_store   *store = open_impatient(p, PAWL_MILLISECONDS(1500));
    pawl_refusals refused;
    pawl_uuid     id;
    bool          is_applied = false;
    /* Numbers and the first commit pass. */
    fault_on(p, "{\"skip\": 2}",
             "\"failCommands\": [\"findAndModify\", \"commitTransaction\"], \"closeConnection\": "
             "true, \"afterwards\": true");
    pawl_code code = commit_parts(p, store, &id, &refused);
    assert_true(fault_off(p) > 1);
    if (code != PAWL_EUNKNOWN)
        fail_msg("%s: %s", pawl_code_name(code), p->error.text);
    assert_int_equal(messages(p), 2 * SENDS);
    if (pawl_store_resolve(store, id, &is_applied, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    assert_true(is_applied);
}

/* The second part's commit is lost on its way, and whoever asks what became of it gets no answer. Once it can be asked,
 * the fence's document has the first part alone: neither answer would be true of the whole set. */
ON_FIXTURE(o32_a_set_of_which_a_part_is_in_is_neither_applied_nor_not, fixture *p)
{
    pawl_store   *store = open_impatient(p, PAWL_MILLISECONDS(1500));
    pawl_refusals refused;
    pawl_uuid     id;
    bool          is_applied = false;
    /* Numbers and the first commit pass. */
    fault_on(
        p, "{\"skip\": 2}",
        "\"failCommands\": [\"findAndModify\", \"commitTransaction\"], \"closeConnection\": true");
    pawl_code code = commit_parts(p, store, &id, &refused);
    assert_true(fault_off(p) > 1);
    assert_int_equal(code, PAWL_EUNKNOWN);
    assert_int_equal(messages(p), SENDS);
    /* Nobody gets the document before the server has given the second part's transaction up. */
    code = PAWL_EBUSY;
    for (int i = 0; i < 100 && pawl_code_retry(code) == PAWL_RETRY_LATER; i++)
        code = pawl_store_resolve(store, id, &is_applied, &p->error);
    expect_code(p, code, PAWL_EUNKNOWN);
    assert_non_null(strstr(p->error.text, "a part of the commit was applied"));
    assert_false(is_applied);
    assert_int_equal(messages(p), SENDS);
}

/* Each answer of the three commits is lost once. */
ON_FIXTURE(lost_answers_of_parts_are_settled, fixture *p)
{
    pawl_store   *store = open_worker(p, p->url);
    pawl_refusals refused;
    for (int i = 0; i < GROUPS; i++) {
        pawl_uuid id;
        fault_on(p, test_text("{\"skip\": %d, \"times\": 1}", i),
                 COMMIT "\"closeConnection\": true, \"afterwards\": true");
        pawl_code code = commit_parts(p, store, &id, &refused);
        assert_int_equal(fault_off(p), 1);
        if (code != PAWL_OK)
            fail_msg("part %d: %s: %s", i, pawl_code_name(code), p->error.text);
        assert_int_equal(refused.count, 0);
        assert_int_equal(messages(p), GROUPS * SENDS);
    }
}

/* The number of the last transaction of the last commit, which its fence left. */
static int64_t transactions(const fixture *p)
{
    return raw_number(p->raw, p->database,
                      json("{\"find\": \"pawl_workers\", \"filter\": {\"last_commit\": "
                           "{\"$exists\": true}}}"),
                      "cursor.firstBatch.0.part");
}

/* The folds of streams, one in a group, and the queue's messages behind them, which have no bytes to speak of. */
static int64_t commit_folds(fixture *p, pawl_store *store, const char *name, size_t count,
                            size_t size)
{
    pawl_stream_snapshot_set folds[4];
    char                     streams[4][30];
    char                    *state = malloc(size + 1);
    assert_non_null(state);
    memset(state, 'x', size);
    snprintf(state + size - 2, 3, "\"}");
    memcpy(state, "{\"a\":\"", 6);
    for (size_t i = 0; i < count; i++) {
        snprintf(streams[i], sizeof streams[i], "%s/%zu", name, i);
        folds[i] = (pawl_stream_snapshot_set){.unit         = (uint32_t)i,
                                              .group        = (uint32_t)i,
                                              .stream       = pawl_text_of(streams[i]),
                                              .version      = 1,
                                              .type_version = 1,
                                              .at           = NOW,
                                              .dispatches   = TEXT("{}"),
                                              .state        = {.data = state, .size = size}};
    }
    pawl_changes  changes = {.now                 = NOW,
                             .unit_count          = (uint32_t)count,
                             .group_count         = (uint32_t)count,
                             .stream_snapshot_set = {.items = folds, .count = count}};
    pawl_refusals refused = {.arena = p->arena};
    if (pawl_store_commit(store, &changes, &refused, &p->error) != PAWL_OK || refused.count != 0)
        fail_msg("%s", p->error.text);
    free(state);
    return transactions(p);
}

/* Groups of 8 MB are one transaction; the one that is more has its own. */
ON_FIXTURE(a_part_ends_before_its_size_is_too_much, fixture *p)
{
    pawl_store *store = open_worker(p, p->url);
    assert_int_equal(commit_folds(p, store, "a", 4, (size_t)2 << 20), 2); /* with their names */
    assert_int_equal(commit_folds(p, store, "b", 4, ((size_t)2 << 20) - 100), 1);
    assert_int_equal(commit_folds(p, store, "c", 2, (size_t)9 << 20), 2);
    assert_int_equal(raw_number(p->raw, p->database, json("{\"count\": \"pawl_folds\"}"), "n"), 10);
}

/* Of four groups with 240 documents each, which one transaction takes: 500 documents are two of them, and 250 one. */
ON_FIXTURE(after_two_aborts_parts_are_half_as_large, fixture *p)
{
    static const int expected[] = {1, 1, 2, 2, 4};
    pawl_store      *store      = open_worker(p, p->url);
    for (int aborts = 0; aborts < 5; aborts++) {
        static pawl_queue_send sends[960];
        static char            ids[960][30];
        for (int i = 0; i < 960; i++) {
            snprintf(ids[i], sizeof ids[i], "%d-%d", aborts, i);
            sends[i] =
                (pawl_queue_send){.unit    = (uint32_t)(i / 240),
                                  .group   = (uint32_t)(i / 240),
                                  .queue   = TEXT("orders"),
                                  .due     = NOW,
                                  .message = {.id = pawl_text_of(ids[i]), .type = TEXT("t")}};
        }
        pawl_changes  changes = {.now         = NOW,
                                 .unit_count  = 4,
                                 .group_count = 4,
                                 .queue_send  = {.items = sends, .count = 960}};
        pawl_refusals refused = {.arena = p->arena};
        fault_on(p, test_text("{\"times\": %d}", aborts),
                 "\"failCommands\": [\"insert\"], \"errorCode\": 112");
        if (pawl_store_commit(store, &changes, &refused, &p->error) != PAWL_OK)
            fail_msg("%s", p->error.text);
        assert_int_equal(fault_off(p), aborts);
        assert_int_equal(refused.count, 0);
        assert_int_equal(transactions(p), expected[aborts]);
        assert_int_equal(messages(p), (aborts + 1) * 960);
    }
}

/* ---- Adds to one partition --------------------------------------------------- */

/* Adds messages to the partition "bills"; `key` is the last one's. */
static pawl_code add_bills(pawl_arena *arena, pawl_store *store, const char *own, const char *key,
                           pawl_error *error)
{
    const char         *keys[2] = {own, key};
    pawl_aggregator_add adds[2];
    for (size_t i = 0; i < 2; i++)
        adds[i] = (pawl_aggregator_add){
            .name      = TEXT("bills"),
            .partition = TEXT("bills"),
            .key       = pawl_text_of(keys[i]),
            .message   = {.id = pawl_text_of(keys[i]), .type = TEXT("t"), .body = TEXT("{}")},
            .at        = NOW,
            .due       = NOW};
    pawl_changes  changes = {.now = NOW, ONE_UNIT, .aggregator_add = {.items = adds, .count = 2}};
    pawl_refusals refused = {.arena = arena};
    pawl_code     code    = pawl_store_commit(store, &changes, &refused, error);
    return code == PAWL_OK && refused.count != 0 ? PAWL_ECONFLICT : code;
}

typedef struct slow_add {
    pawl_store *store;
    pawl_arena *arena;
    pawl_code   code;
    pawl_error  error;
    atomic_bool is_done;
} slow_add;

static void *run_slow_add(void *context)
{
    slow_add *slow = context;
    slow->code     = add_bills(slow->arena, slow->store, "slow", "shared", &slow->error);
    atomic_store(&slow->is_done, true);
    return NULL;
}

#define ADDS_MAX 100

/* An add whose key is there takes a trip more, a slow one here. Other workers add to the partition all the time, and it
 * is in before they have ended. */
ON_FIXTURE(a25_an_add_of_a_known_key_is_not_overtaken_for_ever, fixture *p)
{
    slow_add  slow = {.store = open_worker(p, p->url), .arena = pawl_arena_create(0)};
    char      url[500];
    pthread_t thread;
    fixture_url(p->database, "quick", 0, url, sizeof url);
    pawl_store *quick = open_worker(p, url);
    ok(p, add_bills(p->arena, quick, "first", "shared", &p->error));
    fault_on(p, "\"alwaysOn\"",
             "\"failCommands\": [\"find\"], \"blockConnection\": true, \"blockTimeMS\": 200");
    assert_int_equal(pthread_create(&thread, NULL, run_slow_add, &slow), 0);
    int adds = 0;
    for (; adds < ADDS_MAX && !atomic_load(&slow.is_done); adds++)
        if (add_bills(p->arena, quick, test_text("quick-%d", adds), "shared", &p->error) != PAWL_OK)
            fail_msg("%s", p->error.text);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (slow.code != PAWL_OK)
        fail_msg("%s", slow.error.text);
    assert_true(fault_off(p) > 0);
    assert_true(adds < ADDS_MAX);
    pawl_arena_destroy(slow.arena);
}

/* ---- Trips ----------------------------------------------------------------- */

#define EACH                                                                            \
    "\"failCommands\": [\"find\", \"getMore\", \"aggregate\", \"insert\", \"update\", " \
    "\"delete\", \"findAndModify\", \"commitTransaction\"]"
#define SETTLED 400

static void claim_all(fixture *p, pawl_store *store, pawl_queue_rows *rows)
{
    pawl_queue_claim claim = {.queue = TEXT("orders"), .due_max = NOW, .count_max = SETTLED};
    if (pawl_store_queue_claim(store, &claim, p->arena, rows, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    assert_int_equal(rows->count, SETTLED);
}

static void settle_all(fixture *p, pawl_store *store, const pawl_queue_rows *rows)
{
    static pawl_queue_settle settles[SETTLED];
    static pawl_inbox_entry  marks[SETTLED];
    pawl_refusals            refused = {.arena = p->arena};
    for (size_t i = 0; i < SETTLED; i++) {
        settles[i] = (pawl_queue_settle){
            .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"), .seq = rows->items[i].seq};
        marks[i] = (pawl_inbox_entry){
            .endpoint = TEXT("orders"), .message_id = rows->items[i].message.id, .at = NOW};
    }
    pawl_changes changes = {.now = NOW,
                            ONE_UNIT,
                            .queue_settle = {.items = settles, .count = SETTLED},
                            .inbox_entry  = {.items = marks, .count = SETTLED}};
    if (pawl_store_commit(store, &changes, &refused, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    assert_int_equal(refused.count, 0);
}

/* Of many messages: find and stamp are a claim; the fence, a bulk for each kind and the commit are a commit. */
ON_FIXTURE(a_batch_is_a_command_for_each_kind, fixture *p)
{
    pawl_store     *store = open_worker(p, p->url);
    pawl_queue_rows rows  = {.count = 0};
    pawl_uuid       id;
    pawl_refusals   refused;
    if (commit_parts(p, store, &id, &refused) != PAWL_OK)
        fail_msg("%s", p->error.text);
    fault_on(p, "\"alwaysOn\"", EACH);
    claim_all(p, store, &rows);
    assert_int_equal(fault_off(p), 2);
    fault_on(p, "\"alwaysOn\"", EACH);
    settle_all(p, store, &rows);
    assert_int_equal(fault_off(p), 4);
}

#define ROWS 5

static void add_rows(fixture *p, pawl_store *store)
{
    pawl_outbox_add adds[ROWS];
    pawl_refusals   refused = {.arena = p->arena};
    for (int i = 0; i < ROWS; i++)
        adds[i] = (pawl_outbox_add){.dispatch_id = {{.bytes = {(uint8_t)(i + 1)}}},
                                    .source      = TEXT("Order/1"),
                                    .version     = i + 1,
                                    .endpoint    = TEXT("orders"),
                                    .destination = TEXT("bank"),
                                    .message     = {.id = TEXT("m"), .type = TEXT("t")},
                                    .at          = NOW};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .outbox_add = {.items = adds, .count = ROWS}};
    ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
}

/* Which rows come first, and their messages; a third find is for the time of the next one, where no row is left that
 * says it. The others are not read. */
ON_FIXTURE(a_claim_of_the_outbox_reads_what_it_takes, fixture *p)
{
    pawl_store      *store = open_worker(p, p->url);
    pawl_outbox_rows rows  = {.count = 0};
    add_rows(p, store);
    for (size_t count_max = ROWS - 1; count_max <= ROWS; count_max++) {
        fault_on(p, "\"alwaysOn\"", EACH);
        ok(p, pawl_store_outbox_claim(store, TEXT("orders"), NOW, count_max, p->arena, &rows,
                                      &p->error));
        assert_int_equal(fault_off(p), count_max < ROWS ? 2 : 3);
        assert_int_equal(rows.count, count_max);
        for (size_t i = 0; i < rows.count; i++)
            assert_int_equal(rows.items[i].version, i + 1);
        assert_true(count_max < ROWS ? rows.next_attempt <= NOW
                                     : rows.next_attempt == PAWL_TIME_MAX);
    }
}

/* ---- Memory ------------------------------------------------------------------ */

#define LARGE_GROUP 6000

static int64_t peak_kb(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* A group is one transaction, however large; its memory is not the square of its size. */
ON_FIXTURE(a_large_group_takes_memory_as_its_changes_do, fixture *p)
{
    pawl_queue_send *sends   = pawl_arena_take(p->arena, LARGE_GROUP * sizeof *sends);
    pawl_store      *store   = open_worker(p, p->url);
    pawl_refusals    refused = {.arena = p->arena};
    for (int i = 0; i < LARGE_GROUP; i++) {
        char *id = pawl_arena_take(p->arena, 16);
        snprintf(id, 16, "m-%d", i);
        sends[i] = (pawl_queue_send){.queue   = TEXT("orders"),
                                     .due     = NOW,
                                     .message = {.id = pawl_text_of(id), .type = TEXT("t")}};
    }
    pawl_changes changes = {
        .now = NOW, ONE_UNIT, .queue_send = {.items = sends, .count = LARGE_GROUP}};
    int64_t before = peak_kb();
    ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
    assert_int_equal(messages(p), LARGE_GROUP);
    assert_in_range(peak_kb() - before, 0, 50000);
}

/* ---- Rests of bodies ---------------------------------------------------------- */

static int64_t rests(const fixture *p)
{
    return raw_number(p->raw, p->database, json("{\"count\": \"pawl_bodies\"}"), "n");
}

/* Too large for one document. */
static void set_letter(fixture *p, pawl_store *store, const char *id, bool is_remove)
{
    static char   body[16 * 1024 * 1024 - 1000];
    pawl_refusals refused = {.arena = p->arena};
    memset(body, 'x', sizeof body);
    ok(p, pawl_store_commit(store,
                            ONE_CHANGE(dead_set, NOW, .is_remove = is_remove,
                                       .endpoint = TEXT("orders"), .queue = TEXT("orders"),
                                       .message = {.id   = pawl_text_of(id),
                                                   .type = TEXT("t"),
                                                   .body = {.data = body, .size = sizeof body}},
                                       .code = TEXT("EPERSIST"), .at = NOW),
                            &refused, &p->error));
    assert_int_equal(refused.count, 0);
}

/* A sweep of one rest each time goes past those whose letters are there. */
ON_FIXTURE(rests_of_letters_that_went_are_swept_behind_others, fixture *p)
{
    static const char *const ids[] = {"m-1", "m-2", "m-3"};
    pawl_store              *store = open_worker(p, p->url);
    pawl_sweep               what  = {.count_max = 1};
    int64_t                  count = 0;
    bool                     more  = false;
    for (size_t i = 0; i < COUNT(ids); i++)
        set_letter(p, store, ids[i], false);
    assert_int_equal(rests(p), 3);
    set_letter(p, store, "m-3", true);
    for (int i = 0; i < 3; i++)
        ok(p, pawl_store_sweep(store, &what, &count, &more, &p->error));
    assert_int_equal(rests(p), 2);
    set_letter(p, store, "m-1", true);
    for (int i = 0; i < 3; i++)
        ok(p, pawl_store_sweep(store, &what, &count, &more, &p->error));
    assert_int_equal(rests(p), 1);
}

/* A read that names each of them would take longer than the call may: the first one tells for all. */
ON_FIXTURE(thousands_of_events_go_on_a_stream_in_one_commit, fixture *p)
{
    enum { ALREADY = 2000, MORE = 8000 };
    static pawl_event_append items[ALREADY + MORE];
    pawl_store              *store = open_impatient(p, PAWL_SECONDS(5));
    for (int i = 0; i < ALREADY + MORE; i++)
        items[i] = (pawl_event_append){
            .stream   = TEXT("Box/1"),
            .version  = i + 1,
            .is_first = i == 0 || i == ALREADY,
            .event    = {.type = TEXT("noted"), .type_version = 1, .at = NOW, .body = TEXT("{}")}};
    for (int i = 0; i < 3; i++) {
        pawl_refusals refused      = {.arena = p->arena};
        pawl_changes  changes      = {.now = NOW, ONE_UNIT};
        changes.event_append.items = i == 0 ? items : items + ALREADY;
        changes.event_append.count = i == 0 ? ALREADY : MORE;
        ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
        assert_int_equal(refused.count, i == 2); /* the last time they are there */
        assert_int_equal(raw_number(p->raw, p->database, json("{\"count\": \"pawl_events\"}"), "n"),
                         i == 0 ? ALREADY : ALREADY + MORE);
    }
}
