/* test_runtime_sender.c - sending from outside a handler: all or none, started,
 * published, and inside the caller's own transaction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/native.h"
#include "support/world.h"

RECORD(order_state, (TEXT, order_id), (INT32, count));
RECORD(place, (TEXT, order_id));
RECORD(pay, (TEXT, order_id));
RECORD(happened, (TEXT, what));
#define BROKE(F) F(TEXT, what)
PAWL_RECORD_WITH(broke, BROKE, .base = PAWL_RECORD_OF(happened));
PAWL_RECORD(job, A_NAME);
RECORD_WITH(place_in_haste, ((TEXT, order_id)), .base = PAWL_RECORD_OF(place));
/* Its nearest base type is handled by the menders, the next one by the audit. */
PAWL_RECORD_WITH(mend, BROKE, .base = PAWL_RECORD_OF(happened));
PAWL_RECORD_WITH(mend_in_haste, BROKE, .base = PAWL_RECORD_OF(mend));
PAWL_RECORD_WITH(mend_at_once, BROKE, .base = PAWL_RECORD_OF(mend_in_haste));

static world_log seen;

static pawl_code on_place(pawl_context *ctx, order_state *order, const place *message)
{
    order->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_place, order_state, place);

static pawl_code on_pay(pawl_context *ctx, order_state *order, const pay *message)
{
    order->count += 10;
    return PAWL_OK;
}
PAWL_HANDLER(on_pay, order_state, pay);

static pawl_code on_happened(pawl_context *ctx, const happened *message)
{
    world_note(&seen, "happened(%.*s)", PAWL_TEXT_ARGS(message->what));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_happened, happened);

static pawl_code on_job(pawl_context *ctx, const job *message)
{
    world_note(&seen, "job(%.*s)", PAWL_TEXT_ARGS(message->name));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_job, job);

IDLE_MESSAGE_HANDLER(on_mend, mend);

static const pawl_saga order_saga =
    SAGA_OF("Order", order_state, "order_id",
            {.handle = PAWL_HANDLE(on_place), .key = "order_id", .starts = true},
            {.handle = PAWL_HANDLE(on_pay), .key = "order_id"});
static const pawl_endpoint_spec shop = {
    .name = "shop", .queue = "shop.in", .sagas = PAWL_SAGAS(&order_saga)};
static const pawl_endpoint_spec audit = {
    .name     = "audit",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_happened)}, {.handle = PAWL_HANDLE(on_job)})};
static const pawl_endpoint_spec menders     = {.name     = "menders",
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_mend)})};
static const pawl_application   application = APPLICATION("senders", &shop, &audit, &menders);

static world *open_world(const char *url, const char *name)
{
    world_forget(&seen);
    return world_begin(url, &application, name, NULL);
}

static const pawl_send_options at_start = {PAWL_SEND_OPTIONS_HEAD, .due = WORLD_START};

ON_ALL_STORES(all_or_none, const char *url)
{
    world *it = open_world(url, "audit");
    must(pawl_sender_send(it->sender, "audit", &at_start, PAWL_MESSAGE(job, .name = PAWL_TEXT("1")),
                          world_error()));
    must(pawl_sender_send_json(it->sender, "audit", &at_start, "job", PAWL_TEXT("{\"name\":\"2\"}"),
                               world_error()));
    assert_int_equal(world_queue(it, "audit").count, 0);
    must(pawl_sender_commit(it->sender, world_error()));
    assert_int_equal(world_queue(it, "audit").count, 2);
    LOG_AFTER(world_drain(it), seen, "job(1) job(2) ");

    const pawl_send_options below_zero = {PAWL_SEND_OPTIONS_HEAD, .delay = -PAWL_HOURS(1)};
    pawl_time               before     = pawl_clock_now(NULL);
    test_send(it->sender, "later", &below_zero, PAWL_MESSAGE(job, .name = PAWL_TEXT("4")));
    assert_true(world_queue(it, "later").items[0].due >= before);

    /* Messages that are not committed are dropped. */
    pawl_sender *other = NULL;
    must(pawl_sender_open(url, NULL, &other, world_error()));
    must(pawl_sender_send(other, "audit", &at_start, PAWL_MESSAGE(job, .name = PAWL_TEXT("3")),
                          world_error()));
    pawl_sender_close(other);
    assert_int_equal(world_queue(it, "audit").count, 0);
}

static void collect(world *it, const char *name)
{
    must(pawl_sender_send(it->sender, "audit", &at_start,
                          PAWL_MESSAGE(job, .name = pawl_text_of(name)), world_error()));
}

/* Messages that were collected before a failure leave with the next commit, unless they are cleared. */
ON_ALL_STORES(what_is_cleared_is_not_sent, const char *url)
{
    world     *it    = open_world(url, "audit");
    pawl_error error = PAWL_ERROR_INIT;
    pawl_sender_clear(it->sender);
    for (int request = 1; request <= 3; request++) {
        collect(it, request == 1 ? "1" : request == 2 ? "2" : "3");
        assert_int_equal(
            pawl_sender_send_json(it->sender, "", &at_start, "job", PAWL_TEXT("{}"), &error),
            PAWL_EINVAL);
        if (request == 1)
            pawl_sender_clear(it->sender);
    }
    must(pawl_sender_commit(it->sender, world_error()));
    collect(it, "4");
    must(pawl_sender_commit(it->sender, world_error()));
    LOG_AFTER(world_drain(it), seen, "job(2) job(3) job(4) ");
}

ON_ALL_STORES(a_message_id_is_stored_once, const char *url)
{
    world *it = open_world(url, "audit");
    world_post(it, "same", PAWL_MESSAGE(job, .name = PAWL_TEXT("1")));
    world_post(it, "same", PAWL_MESSAGE(job, .name = PAWL_TEXT("1")));
    assert_int_equal(world_queue(it, "audit").count, 1);
}

ON_ALL_STORES(bad_input_is_refused_at_the_call, const char *url)
{
    char   name[300];
    world *it = open_world(url, "audit");
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(pawl_sender_send(it->sender, name, &at_start,
                                      PAWL_MESSAGE(job, .name = PAWL_TEXT("1")), world_error()),
                     PAWL_ELIMIT);
    assert_int_equal(pawl_sender_send(it->sender, "", &at_start,
                                      PAWL_MESSAGE(job, .name = PAWL_TEXT("1")), world_error()),
                     PAWL_EINVAL);
    must_fail_with(pawl_sender_send(it->sender, "audit", &at_start,
                                    PAWL_MESSAGE(job, .name = PAWL_TEXT("\xff")), world_error()),
                   PAWL_EINVAL, "message job: name");
    const pawl_send_options in_seconds = {PAWL_SEND_OPTIONS_HEAD, .due = 1700000900};
    must_fail_with(pawl_sender_send(it->sender, "audit", &in_seconds,
                                    PAWL_MESSAGE(job, .name = PAWL_TEXT("1")), world_error()),
                   PAWL_EINVAL, "the due time of a message is at 1970-01-01");
    must_fail_with(pawl_sender_send_json(it->sender, "audit", &at_start, "job",
                                         PAWL_TEXT("{\"name\":"), world_error()),
                   PAWL_EINVAL, "message job: invalid JSON at byte 8 of 8");
    assert_int_equal(
        pawl_sender_send_json(it->sender, "audit", &at_start, "job", PAWL_TEXT(""), world_error()),
        PAWL_EINVAL);
    /* The good ones of the same sender still go. */
    world_post(it, NULL, PAWL_MESSAGE(job, .name = PAWL_TEXT("good")));
    assert_int_equal(world_queue(it, "audit").count, 1);
}

ON_ALL_STORES(start_finds_the_queue, const char *url)
{
    world *it = open_world(url, "shop");
    must(pawl_sender_start(it->sender, &application, &at_start,
                           PAWL_MESSAGE(place, .order_id = PAWL_TEXT("o1")), world_error()));
    must(pawl_sender_start(it->sender, &application, &at_start,
                           PAWL_MESSAGE(job, .name = PAWL_TEXT("j")), world_error()));
    must_fail_with(pawl_sender_start(it->sender, &application, &at_start,
                                     PAWL_MESSAGE(pay, .order_id = PAWL_TEXT("o1")), world_error()),
                   PAWL_ENOTFOUND, "message pay starts no saga");
    must(pawl_sender_commit(it->sender, world_error()));
    assert_int_equal(world_queue(it, "shop.in").count, 1);
    assert_int_equal(world_queue(it, "audit").count, 1);
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Order"), 1);
}

ON_ALL_STORES(start_finds_the_queue_of_the_nearest_base_type, const char *url)
{
    world *it = open_world(url, "shop");
    must(pawl_sender_start(it->sender, &application, &at_start,
                           PAWL_MESSAGE(place_in_haste, .order_id = PAWL_TEXT("o1")),
                           world_error()));
    must(pawl_sender_start(it->sender, &application, &at_start,
                           PAWL_MESSAGE(mend_at_once, .what = PAWL_TEXT("it")), world_error()));
    must(pawl_sender_start(it->sender, &application, &at_start,
                           PAWL_MESSAGE(broke, .what = PAWL_TEXT("it")), world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    assert_int_equal(world_queue(it, "shop.in").count, 1);
    assert_int_equal(world_queue(it, "audit").count, 1);
    assert_int_equal(world_queue(it, "menders").count, 1);
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Order"), 1);
}

ON_ALL_STORES(publish_reaches_subscribers_of_base_types, const char *url)
{
    world *it = open_world(url, "audit");
    must(pawl_sender_publish(it->sender, &at_start,
                             PAWL_MESSAGE(broke, .what = PAWL_TEXT("window")), world_error()));
    must(pawl_sender_publish(it->sender, &at_start,
                             PAWL_MESSAGE(pay, .order_id = PAWL_TEXT("nobody cares")),
                             world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    LOG_AFTER(world_drain(it), seen, "happened(window) ");
}

static void subscribe(world *it, const char *queue)
{
    MUST_COMMIT(it->store, subscription_set, WORLD_START, .type = PAWL_TEXT("happened"),
                .queue = pawl_text_of(queue));
}

/* The queues have the same message: one event begins one conversation. */
static void expect_same(world *it, const char *one, const char *other)
{
    pawl_queue_rows ours = world_queue(it, one), theirs = world_queue(it, other);
    assert_int_equal(ours.count, 1);
    assert_int_equal(theirs.count, 1);
    const pawl_message *left = &ours.items[0].message, *right = &theirs.items[0].message;
    assert_string_equal(left->id.data, right->id.data);
    assert_string_equal(left->correlation_id.data, left->id.data);
    assert_string_equal(right->correlation_id.data, left->id.data);
    assert_string_equal(right->type.data, "happened");
    world_json_equal(it, left->body.data, right->body.data);
}

ON_ALL_STORES(what_is_published_is_one_message_for_all, const char *url)
{
    world *it = open_world(url, "audit");
    subscribe(it, "left");
    subscribe(it, "right");
    must(pawl_sender_publish(it->sender, &at_start, PAWL_MESSAGE(happened, .what = PAWL_TEXT("it")),
                             world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    expect_same(it, "left", "right");
    expect_same(it, "left", "audit");
    const pawl_queue_row first = world_queue(it, "left").items[0];
    must(pawl_sender_publish(it->sender, &at_start, PAWL_MESSAGE(happened, .what = PAWL_TEXT("it")),
                             world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    pawl_queue_rows rows = world_queue(it, "left");
    assert_int_equal(rows.count, 2);
    assert_true(pawl_text_equal(rows.items[0].message.id, first.message.id) !=
                pawl_text_equal(rows.items[1].message.id, first.message.id));
}

/* Sends, starts and publishes among the caller's own rows. */
static void enlist_and_send(world *it, void *native)
{
    pawl_error   error  = PAWL_ERROR_INIT;
    pawl_sender *sender = NULL;
    must(pawl_enlist(it->store, native, &sender, world_error()));
    native_run(it->url, native, "insert into {customers} values ('c')");
    must(pawl_sender_send(sender, "audit", &at_start, PAWL_MESSAGE(job, .name = PAWL_TEXT("mine")),
                          world_error()));
    must(pawl_sender_start(sender, &application, &at_start,
                           PAWL_MESSAGE(place, .order_id = PAWL_TEXT("o1")), world_error()));
    must(pawl_sender_publish(sender, &at_start, PAWL_MESSAGE(happened, .what = PAWL_TEXT("it")),
                             world_error()));
    assert_int_equal(pawl_sender_commit(sender, &error), PAWL_EINVAL);
    pawl_sender_clear(sender);
    pawl_sender_close(sender);
}

ON_SQL_STORES(enlisted_messages_commit_and_roll_back_with_the_caller, const char *url)
{
    world *it     = open_world(url, "audit");
    void  *native = native_open(url);
    native_run(url, native, "create table {customers} (name varchar(10))");
    subscribe(it, "left");
    subscribe(it, "right");

    native_run(url, native, "begin");
    enlist_and_send(it, native);
    native_run(url, native, "rollback");
    native_expect(url, "select count(*) from {customers}", "0");
    assert_int_equal(world_queue(it, "audit").count, 0);

    native_run(url, native, "begin");
    enlist_and_send(it, native);
    assert_int_equal(world_queue(it, "audit").count, 0); /* not yet */
    native_run(url, native, "commit");
    native_expect(url, "select count(*) from {customers}", "1");
    assert_int_equal(world_queue(it, "audit").count, 2);
    assert_int_equal(world_queue(it, "shop.in").count, 1);
    expect_same(it, "left", "right");
    LOG_AFTER(world_drain(it), seen, "job(mine) happened(it) ");
    native_close(url, native);
}

/* Only a store in memory has no transactions of a caller. */
ON_STORE(enlist_needs_a_store_with_transactions, const char *url, "memory")
{
    int          something = 0;
    pawl_error   error     = PAWL_ERROR_INIT;
    pawl_sender *sender    = NULL;
    world       *it        = open_world(url, "audit");
    assert_int_equal(pawl_enlist(it->store, NULL, &sender, &error), PAWL_EINVAL);
    pawl_code code = pawl_enlist(it->store, &something, &sender, &error);
    if (code == PAWL_OK)
        code = pawl_sender_send(sender, "audit", &at_start,
                                PAWL_MESSAGE(job, .name = PAWL_TEXT("1")), &error);
    assert_int_equal(code, PAWL_EUNSUPPORTED);
    pawl_sender_close(sender);
}
