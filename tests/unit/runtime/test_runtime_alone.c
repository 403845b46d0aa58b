/* test_runtime_alone.c - messages that run alone, and what a drain sums up: how many are claimed
 * beside one that has its transaction open, the handlers that share this transaction (E24), a stream
 * that is lost again and again (E35, O4), and dead letters of several batches (E26).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"
#include "support/hook.h"
#include "support/native.h"
#include "support/world.h"

#include "pawl/process.h"

#define MEDDLINGS 230 /* more than a worker gives its messages back for */

PAWL_RECORD(alone, A_NUMBER);
PAWL_RECORD(bad, A_NUMBER);
PAWL_RECORD(order, A_NUMBER);
PAWL_RECORD_WITH(gift, A_NUMBER, .base = PAWL_RECORD_OF(order));
RECORD(put, (TEXT, box), (INT64, number));
PAWL_RECORD(was_put, A_NUMBER);
RECORD(box, (INT64, count));

static struct {
    world      *it;
    int         handled;
    size_t      free; /* messages that another worker could have while the second ran */
    int64_t     version;
    int         left;  /* commits before which somebody else comes first */
    int         ran;   /* handlers since the last commit */
    int         alone; /* commits of one of the two messages */
    const char *url;
    pawl_code   second; /* answer of the second handler that writes a row */
} t;

static pawl_code on_alone(pawl_context *ctx, const alone *message)
{
    assert_int_equal(native_in(ctx, t.url, "insert into {own_rows} values (1)"), PAWL_OK);
    if (++t.handled == 2) {
        pawl_queue_rows  rows  = {.count = 0};
        pawl_queue_claim claim = {.queue     = PAWL_TEXT("single"),
                                  .due_max   = world_now(t.it),
                                  .count_max = 9,
                                  .now       = world_now(t.it)};
        must(pawl_store_queue_claim(t.it->store, &claim, t.it->arena, &rows, world_error()));
        t.free = rows.count;
    }
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_alone, alone);

static pawl_code write_row(pawl_context *ctx, const char *sql)
{
    pawl_code code = native_in(ctx, t.url, sql);
    return code == PAWL_OK && ++t.handled == 2 ? t.second : code;
}

static pawl_code on_order(pawl_context *ctx, const order *message)
{
    return write_row(ctx, "insert into {own_rows} values (1)");
}
PAWL_MESSAGE_HANDLER(on_order, order);

static pawl_code on_gift(pawl_context *ctx, const gift *message)
{
    return write_row(ctx, "insert into {own_rows} values (2)");
}
PAWL_MESSAGE_HANDLER(on_gift, gift);

static pawl_code on_bad(pawl_context *ctx, const bad *message)
{
    return pawl_fail(ctx, PAWL_EINVAL, "number %d is bad", (int)message->number);
}
PAWL_MESSAGE_HANDLER(on_bad, bad);

static pawl_code on_put(pawl_context *ctx, const box *state, const put *command)
{
    t.ran++;
    return pawl_emit(ctx, PAWL_MESSAGE(was_put, .number = (int32_t)command->number));
}
PAWL_ENTITY_HANDLER(on_put, box, put);

static void apply_put(box *state, const was_put *event)
{
    state->count++;
}
PAWL_APPLY(apply_put, box, was_put);

static const pawl_entity      box_entity = {.name  = "Box",
                                            .state = PAWL_RECORD_OF(box),
                                            .on = PAWL_ON({.handle = PAWL_HANDLE(on_put), .key = "box"}),
                                            .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_put))};
static const pawl_application application =
    ONE_ENDPOINT("boxes", .name = "boxes", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_bad)}),
                 .entities = PAWL_ENTITIES(&box_entity));

static const pawl_endpoint_spec single = {
    .name     = "single",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_alone), .own_sql = true},
                        {.handle = PAWL_HANDLE(on_order), .own_sql = true},
                        {.handle = PAWL_HANDLE(on_gift), .own_sql = true})};
static const pawl_application own_application = APPLICATION("single", &single);

/* After a message that ran alone the next claim takes one, so that others have the rest. */
/* Memory has no SQL. */
ON_STORE(e35_who_runs_alone_leaves_the_rest_to_others, const char *url, "sqlite")
{
    const pawl_endpoint_options options = {.batch_messages = 8};
    memset(&t, 0, sizeof t);
    world *it = world_begin(url, &own_application, NULL, &options);
    t.it      = it;
    t.url     = url;
    must(pawl_store_worker_open(it->store, PAWL_TEXT(""), PAWL_TEXT("[]"), world_now(it),
                                world_error()));
    native_exec(url, "create table {own_rows} (number integer)");
    for (int i = 0; i < 4; i++)
        world_post(it, NULL, PAWL_MESSAGE(alone, .number = i));
    (void)world_drain(it);
    assert_int_equal(t.handled, 2);
    assert_int_equal(t.free, 2);
    pawl_store_worker_close(it->store, world_now(it), NULL);
    (void)world_drain(it);
    assert_int_equal(t.handled, 4);
}

/* Of the message's own type and of its base type: their rows stand or fall together. */
ON_SQL_STORES(e24_all_handlers_of_a_message_share_a_transaction, const char *url)
{
    static const struct {
        pawl_code second;
        int       runs, rows;
    } cases[] = {{PAWL_REJECT, 2, 0}, {PAWL_RETRY, 4, 2}};
    world *it = world_begin(url, &own_application, NULL, NULL);
    native_exec(url, "create table {own_rows} (number integer)");
    for (size_t i = 0; i < COUNT(cases); i++) {
        memset(&t, 0, sizeof t);
        t.url    = url;
        t.second = cases[i].second;
        world_post(it, NULL, PAWL_MESSAGE(gift, .number = 1));
        (void)world_drain(it);
        assert_int_equal(t.handled, cases[i].runs);
        assert_int_equal(native_number(url, "select count(*) from {own_rows}"), cases[i].rows);
        assert_int_equal(native_number(url, "select count(distinct number) from {own_rows}"),
                         cases[i].rows);
    }
}

ON_ALL_STORES(e26_a_drain_counts_the_dead_of_all_batches, const char *url)
{
    const pawl_endpoint_options options = {.batch_messages = 1};
    world                      *it      = world_begin(url, &application, NULL, &options);
    for (int i = 0; i < 3; i++)
        world_post(it, NULL, PAWL_MESSAGE(bad, .number = i));
    int64_t dead = 0;
    for (int i = 0; i < 20 && dead < 3; i++)
        dead += world_go_machine(it, i > 0 ? PAWL_HOURS(1) : 0).dead;
    assert_int_equal(dead, 3);
    assert_int_equal(world_dead(it).count, 3);
}

/* Somebody else appends to the stream just before the commit. */
static pawl_code come_first(hook_point point, void *context)
{
    pawl_error        error  = PAWL_ERROR_INIT;
    pawl_event_append append = {.stream   = PAWL_TEXT("Box/a"),
                                .version  = t.version + 1,
                                .is_first = true,
                                .event    = {.type           = PAWL_TEXT("was_put"),
                                             .type_version   = 1,
                                             .body           = PAWL_TEXT("{\"number\":0}"),
                                             .message_id     = PAWL_TEXT("other"),
                                             .correlation_id = PAWL_TEXT("other"),
                                             .at             = WORLD_START}};
    if (point != HOOK_BEFORE_COMMIT || t.left == 0 || t.ran == 0)
        return PAWL_OK;
    t.alone += t.ran == 1;
    t.ran                = 0;
    pawl_changes changes = {ONE_UNIT, .now = world_now(t.it),
                            .event_append = {.items = &append, .count = 1}};
    hook_set(NULL, NULL); /* not for this commit */
    if (pawl_store_commit(t.it->store, &changes, NULL, &error) == PAWL_OK) {
        t.left--;
        t.version++;
    }
    hook_set(come_first, NULL);
    return PAWL_OK;
}

/* The messages are claimed again together each time; a worker that only ever loses runs them one
 * by one in the end. */
ON_ALL_STORES(o4_who_only_loses_runs_alone_in_the_end, const char *url)
{
    memset(&t, 0, sizeof t);
    world *it = world_begin(hook_url(url), &application, NULL, NULL);
    t.it      = it;
    t.left    = MEDDLINGS;
    world_post(it, NULL, PAWL_MESSAGE(put, .box = PAWL_TEXT("a"), .number = 1));
    world_post(it, NULL, PAWL_MESSAGE(put, .box = PAWL_TEXT("a"), .number = 2));
    hook_set(come_first, NULL);
    for (int i = 0; i < 50 && world_queue(it, "boxes").count > 0; i++)
        (void)world_go_both(it, PAWL_MINUTES(1));
    hook_set(NULL, NULL);
    assert_int_equal(world_queue(it, "boxes").count, 0);
    assert_int_equal(world_events(it, "Box/a").count, t.version + 2);
    assert_true(t.alone > 0);
}

/* ---- A worker that cannot be ended ------------------------------------------------------ */

typedef struct loss {
    pawl_code claim, end; /* answers of the next claim, and of each end of a worker */
    int       ends;
} loss;

static pawl_code lose(hook_point point, void *context)
{
    loss     *it   = context;
    pawl_code code = PAWL_OK;
    if (point == HOOK_BEFORE_CLAIM) {
        code      = it->claim;
        it->claim = PAWL_OK;
    } else if (point == HOOK_BEFORE_END) {
        it->ends++;
        code = it->end;
    }
    return code;
}

static size_t count_workers(world *it)
{
    pawl_worker_info *items;
    size_t            count;
    must(pawl_store_worker_list(it->store, it->arena, &items, &count, world_error()));
    return count;
}

static test_lines crashes;

/* Its row is locked, so it still commits: the endpoint goes on with a worker of its own beside it, and ends it when it
 * can. Its process lives, so that is no crash. */
ON_ALL_STORES(a_lost_worker_that_still_commits_is_left_alone, const char *url)
{
    static const pawl_code      busy[]  = {PAWL_EBUSY, PAWL_ETIMEOUT};
    const pawl_endpoint_options options = {.immediate_retries = -1, .delayed_retries = -1};
    world                      *it      = world_begin(hook_url(url), &application, NULL, &options);
    world_drain(it);
    test_listen(&crashes, PAWL_LOG_WARNING, "of its workers crashed");
    for (size_t i = 0; i < COUNT(busy); i++) {
        loss      at   = {.claim = PAWL_ELOST, .end = busy[i]};
        pawl_step step = PAWL_STEP_INIT;
        hook_set(lose, &at);
        world_post(it, NULL, PAWL_MESSAGE(bad, .number = (int32_t)i));
        assert_int_equal(pawl_endpoint_drain(it->endpoint, &step, NULL), PAWL_ELOST);
        pawl__crashes_check_soon(it->endpoint);
        must(pawl_endpoint_drain(it->endpoint, &step, world_error()));
        assert_int_equal(crashes.count, 0);
        assert_int_equal(at.ends,
                         2); /* when it was lost, and before the next one: of several, one */
        hook_set(NULL, NULL);
        assert_int_equal(world_dead(it).count, i + 1);
    }
    loss at = {.end = PAWL_OK};
    hook_set(lose, &at);
    world_go_both(it, PAWL_MINUTES(10));
    hook_set(NULL, NULL);
    assert_true(at.ends >= (int)COUNT(busy));
    assert_int_equal(count_workers(it), 2); /* the endpoint's, and that of the test */
}
