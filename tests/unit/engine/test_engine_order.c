/* test_engine_order.c - an ordered endpoint: messages of one key are handled in the order in which they
 * were sent, whatever becomes of the earlier ones, and those of other keys go on. E26, E27, E34.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "engine/order.h"
#include "pawl/operations.h"
#include "runtime/runtime.h"

RECORD(line, (TEXT, key), (INT32, number));
RECORD(page, (TEXT, key), (INT32, number));
RECORD(book, (TEXT, key), (INT32, number));

static world_log seen;
static int       failing, failures; /* the message of that number fails so often */
static pawl_code failure;
static int       cutting; /* the book of that number sets a timeout that cuts the batch */

static pawl_code meet(pawl_context *ctx, pawl_text key, int32_t number)
{
    bool fails = number == failing && failures > 0;
    failures -= fails;
    world_note(&seen, "%.*s%d%s", PAWL_TEXT_ARGS(key), (int)number, fails ? "!" : "");
    return fails ? pawl_fail(ctx, failure, "not now") : PAWL_OK;
}

static pawl_code on_line(pawl_context *ctx, const line *message)
{
    return meet(ctx, message->key, message->number);
}
PAWL_MESSAGE_HANDLER(on_line, line);

static pawl_code on_begin_book(pawl_context *ctx, book *state, const book *message)
{
    if (message->number == cutting)
        pawl_timeout(ctx, "due", 1);
    return meet(ctx, message->key, message->number);
}
PAWL_HANDLER(on_begin_book, book, book);

IDLE_TIMEOUT_HANDLER(on_book_due, book);

static pawl_code on_page(pawl_context *ctx, book *state, const page *message)
{
    return meet(ctx, message->key, message->number);
}
PAWL_HANDLER(on_page, book, page);

static const pawl_saga book_saga = SAGA_OF(
    "Book", book, "key", {.handle = PAWL_HANDLE(on_begin_book), .key = "key", .starts = true},
    {.handle = PAWL_HANDLE(on_page), .key = "key", .starts = true},
    {.handle = PAWL_HANDLE(on_book_due), .timeout = "due"});
static const pawl_application application =
    ONE_ENDPOINT("order", .name = "desk", .sagas = PAWL_SAGAS(&book_saga),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_line)}),
                 .options  = PAWL_OPTIONS(.ordered = PAWL_ORDERED_BY_SAGA, .immediate_retries = -1,
                                          .delayed_retries = 2, .retry_delay = PAWL_MINUTES(1)));

static world *open_as(const char *url, const char *ordered)
{
    const pawl_endpoint_options options = {.ordered = ordered};
    world_forget(&seen);
    failing = failures = cutting = 0;
    failure                      = PAWL_EUNREACHABLE;
    return world_begin(url, &application, NULL, &options);
}

static world *open_world(const char *url)
{
    return open_as(url, "property:key");
}

static void post(world *it, const char *key, int number)
{
    world_post(it, test_text("%s%d", key, number),
               PAWL_MESSAGE(line, .key = pawl_text_of(key), .number = number));
}

static void let_fail(int number, int times)
{
    failing  = number;
    failures = times;
}

static void expect(const char *text)
{
    assert_string_equal(seen.text, text);
    world_forget(&seen);
}

static pawl_queue_message find(world *it, const char *id)
{
    pawl_queue_messages    found;
    const pawl_queue_query query = {.queue = PAWL_TEXT("desk"), .message_id = pawl_text_of(id)};
    must(pawl_store_queue_find(it->store, &query, it->arena, &found, world_error()));
    assert_int_equal(found.count, 1);
    return found.items[0];
}

static void take(world *it, const char *id)
{
    size_t                taken = 0;
    int64_t               seq   = find(it, id).row.seq;
    const pawl_queue_take away  = {
         .action = PAWL_TAKE_DISCARD, .queue = PAWL_TEXT("desk"), .by = PAWL_TEXT("ann")};
    must(pawl_store_queue_take(it->store, &away, &seq, 1, world_now(it), &taken, NULL,
                               world_error()));
    assert_int_equal(taken, 1);
}

/* ---- Retries and letters ---------------------------------------------------- */

ON_ALL_STORES_AND_ODBC(e26_a_message_in_retry_holds_its_key_and_no_other, const char *url)
{
    world *it = open_world(url);
    let_fail(1, 1);
    post(it, "a", 1);
    post(it, "b", 5);
    post(it, "a", 2);
    post(it, "a", 3);
    world_drain(it);
    expect("a1! b5 ");
    assert_int_equal(find(it, "a1").row.attempts, 1);
    pawl_queue_message second = find(it, "a2"), third = find(it, "a3");
    assert_int_equal(second.row.attempts, 0);
    assert_int_equal(second.row.waiting_since, 0);
    assert_int_equal(second.row.due, find(it, "a1").row.due);
    assert_int_equal(third.row.due, second.row.due);
    assert_true(world_says(second.error, "waits for message a1 of its key 'a'"));
    post(it, "b", 6);
    post(it, "a", 4); /* comes behind those that wait */
    world_drain(it);
    expect("b6 ");
    world_go(it, PAWL_MINUTES(2));
    expect("a1 a2 a3 a4 ");
    post(it, "a", 7);
    world_drain(it);
    expect("a7 ");
    assert_int_equal(world_queue(it, "desk").count, 0);
}

ON_ALL_STORES(e26_an_id_of_one_byte_is_waited_for, const char *url)
{
    world *it = open_world(url);
    let_fail(1, 1);
    world_post(it, "x", PAWL_MESSAGE(line, .key = PAWL_TEXT("a"), .number = 1));
    post(it, "a", 2);
    world_drain(it);
    expect("a1! ");
    assert_true(world_says(find(it, "a2").error, "waits for message x of its key 'a'"));
}

ON_ALL_STORES_AND_ODBC(e26_a_message_that_fails_again_is_waited_for_again, const char *url)
{
    world *it = open_world(url);
    let_fail(1, 2);
    post(it, "a", 1);
    post(it, "a", 2);
    world_drain(it);
    world_go(it, PAWL_MINUTES(2));
    expect("a1! a1! ");
    assert_int_equal(find(it, "a2").row.due, find(it, "a1").row.due);
    world_go(it, PAWL_MINUTES(4));
    expect("a1 a2 ");
}

/* Six messages of three keys, a second apart, in one batch: one fails, and a timeout that one sets
 * is due before the next. The run that failed is counted wherever the batch is cut. */
static void play_cut(world *it, int fails, int cuts)
{
    static const char *const keys[] = {"a", "b", "c"};
    static int               play;
    char                     key[20], id[30] = "";
    play++;
    let_fail(fails, 1);
    cutting = cuts;
    for (int i = 1; i <= 6; i++) {
        (void)snprintf(key, sizeof key, "%s%d", keys[i % 3], play);
        const char *made = test_text("%s-%d", key, i);
        if (i == fails)
            (void)snprintf(id, sizeof id, "%s", made);
        world_post_at(it, made, world_now(it) + PAWL_SECONDS(i),
                      PAWL_MESSAGE(book, .key = pawl_text_of(key), .number = i));
    }
    world_go(it, PAWL_SECONDS(10));
    assert_int_equal(find(it, id).row.attempts, 1);
    world_go(it, PAWL_MINUTES(2));
    assert_int_equal(world_queue(it, "desk").count, 0);
    size_t runs = 0;
    for (const char *at = seen.text; (at = strchr(at, ' ')) != NULL; at++)
        runs++;
    assert_int_equal(runs, 7);
    world_forget(&seen);
}

ON_ALL_STORES_AND_ODBC(e26_a_failure_before_the_cut_of_a_batch_is_counted, const char *url)
{
    world *it = open_world(url);
    for (int fails = 1; fails <= 6; fails++)
        for (int cuts = 1; cuts <= 6; cuts++)
            play_cut(it, fails, cuts);
}

ON_ALL_STORES_AND_ODBC(e26_an_immediate_retry_keeps_the_order, const char *url)
{
    const pawl_endpoint_options options = {.ordered = "property:key", .immediate_retries = 2};
    world_forget(&seen);
    failure   = PAWL_EUNREACHABLE;
    world *it = world_begin(url, &application, NULL, &options);
    let_fail(1, 2);
    post(it, "a", 1);
    post(it, "a", 2);
    world_drain(it);
    expect("a1! a1! a1 a2 ");
}

ON_ALL_STORES_AND_ODBC(e34_a_dead_letter_frees_its_key, const char *url)
{
    world *it = open_world(url);
    let_fail(1, 9);
    failure = PAWL_REJECT;
    post(it, "a", 1);
    post(it, "a", 2);
    world_drain(it);
    expect("a1! a2 ");
    assert_int_equal(world_dead(it).count, 1);
    failure = PAWL_EUNREACHABLE;
    let_fail(3, 9);
    post(it, "a", 3);
    post(it, "a", 4);
    world_drain(it);
    world_go(it, PAWL_HOURS(1));
    expect("a3! a3! a3! a4 ");
    assert_int_equal(world_dead(it).count, 2);
}

/* ---- Keys ------------------------------------------------------------------- */

ON_ALL_STORES_AND_ODBC(e26_messages_for_one_saga_have_one_key, const char *url)
{
    world *it = open_as(url, NULL); /* as the table says: by the saga */
    let_fail(1, 1);
    world_post(it, NULL, PAWL_MESSAGE(book, .key = PAWL_TEXT("x"), .number = 1));
    world_post(it, NULL, PAWL_MESSAGE(page, .key = PAWL_TEXT("x"), .number = 2));
    world_post(it, NULL, PAWL_MESSAGE(page, .key = PAWL_TEXT("y"), .number = 3));
    world_drain(it);
    expect("x1! y3 ");
    world_go(it, PAWL_MINUTES(2));
    expect("x1 x2 ");
}

static void post_with(world *it, const char *tenant, const char *key, int number)
{
    const pawl_header       headers[] = {{"tenant", tenant}, {NULL, NULL}};
    const pawl_send_options options   = {
          PAWL_SEND_OPTIONS_HEAD, .headers = tenant != NULL ? headers : NULL, .due = world_now(it)};
    test_send(it->sender, "desk", &options,
              PAWL_MESSAGE(line, .key = pawl_text_of(key), .number = number));
}

ON_ALL_STORES_AND_ODBC(e26_a_header_is_a_key, const char *url)
{
    world *it = open_as(url, "header:tenant");
    let_fail(1, 1);
    post_with(it, "north", "a", 1);
    post_with(it, "north", "b", 2);
    post_with(it, "south", "a", 3);
    post_with(it, NULL, "a", 4); /* without a key nothing is waited for */
    world_drain(it);
    expect("a1! a3 a4 ");
    world_go(it, PAWL_MINUTES(2));
    expect("a1 b2 ");
}

/* The message has no key, and waits for no other; what cannot be handled without it is a dead letter. */
ON_ALL_STORES_AND_ODBC(e26_a_message_without_the_keys_text_waits_for_no_other, const char *url)
{
    static const char *const bodies[] = {"{\"number\":2}", "{\"key\":null,\"number\":3}",
                                         "{\"key\":\"\",\"number\":4}"};
    static const char *const orders[] = {"property:key", PAWL_ORDERED_BY_SAGA, "header:key"};
    world_hold(url);
    for (size_t order = 0; order < COUNT(orders); order++) {
        world *it = open_as(url, orders[order]);
        let_fail(1, 1);
        world_post(it, NULL, PAWL_MESSAGE(line, .key = PAWL_TEXT("a"), .number = 1));
        for (size_t i = 0; i < COUNT(bodies); i++)
            world_post_json(it, NULL, "line", bodies[i]);
        world_post_text(it, orders[order], "line", "[]");
        for (size_t i = 0; i < COUNT(bodies); i++)
            world_post_json(it, NULL, "page", bodies[i]);
        world_post(it, NULL, PAWL_MESSAGE(line, .key = PAWL_TEXT("b"), .number = 5));
        world_drain(it);
        expect("a1! 2 3 4 b5 ");
        assert_int_equal(world_dead(it).count, 4 * (order + 1));
        world_go(it, PAWL_MINUTES(2));
        expect("a1 ");
        world_close(it);
    }
}

ON_ALL_STORES_AND_ODBC(e26_an_endpoint_may_be_told_not_to_keep_an_order, const char *url)
{
    world *it = open_as(url, "none");
    let_fail(1, 1);
    world_post(it, NULL, PAWL_MESSAGE(book, .key = PAWL_TEXT("x"), .number = 1));
    world_post(it, NULL, PAWL_MESSAGE(page, .key = PAWL_TEXT("x"), .number = 2));
    world_drain(it);
    expect("x1! x2 ");
}

ON_ALL_STORES_AND_ODBC(e26_a_key_that_is_none_is_refused, const char *url)
{
    static const char *const wrong[] = {"", "key", "header:", "property:", "Saga"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
        pawl_endpoint        *endpoint = NULL;
        pawl_error            error    = PAWL_ERROR_INIT;
        options.store                  = url;
        options.ordered                = wrong[i];
        assert_int_equal(pawl_endpoint_create(&application, NULL, &options, &endpoint, &error),
                         PAWL_ECONFIG);
        assert_non_null(strstr(error.text, "option ordered"));
    }
}

/* ---- Bodies that this program does not decode -------------------------------------- */

RECORD(sheet, (TEXT, key, .json = "TheKey"), (INT32, number));
RECORD_WITH(newer_sheet, ((TEXT, key, .json = "TheKey"), (INT32, number)), .type = "sheet",
            .version = 2);

static pawl_code on_sheet(pawl_context *ctx, book *state, const sheet *message)
{
    return meet(ctx, message->key, message->number);
}
PAWL_HANDLER(on_sheet, book, sheet);

RECORD(folder, (UUID, id, .json = "Id", .required = true), (INT32, number));

static pawl_code on_sheet_of_folder(pawl_context *ctx, folder *state, const sheet *message)
{
    return meet(ctx, PAWL_TEXT("id"), message->number);
}
PAWL_HANDLER(on_sheet_of_folder, folder, sheet);

static const pawl_saga sheet_saga =
    SAGA_OF("Book", book, "key", {.handle = PAWL_HANDLE(on_sheet), .key = "key", .starts = true});
static const pawl_saga folder_saga =
    SAGA_OF("Folder", folder, "id",
            {.handle = PAWL_HANDLE(on_sheet_of_folder), .key = "key", .starts = true});
static const pawl_endpoint_spec folder_desk = {.name = "desk", .sagas = PAWL_SAGAS(&folder_saga)};
static const pawl_application   sheets =
    ONE_ENDPOINT("order", .name = "desk", .sagas = PAWL_SAGAS(&sheet_saga));
static const pawl_application folders = APPLICATION("order", &folder_desk);

/* The first message is of a version that the program does not know, and holds the other one back. */
static void play_newer(const char *url, const pawl_application *of, const char *ordered,
                       const char *newer, const char *known)
{
    const pawl_endpoint_options options = {.ordered = ordered};
    static int                  play;
    world_forget(&seen);
    failures           = 0;
    const char *first  = test_text("first%d", ++play);
    const char *second = test_text("second%d", play);
    world      *it     = world_begin(url, of, NULL, &options);
    world_post(it, first, PAWL_MESSAGE(newer_sheet, .key = pawl_text_of(newer), .number = 1));
    world_post(it, second, PAWL_MESSAGE(sheet, .key = pawl_text_of(known), .number = 2));
    world_drain(it);
    expect("");
    assert_true(world_says(find(it, second).error, "waits for message first"));
    take(it, first);
    world_go(it, PAWL_MINUTES(2));
    assert_int_equal(world_queue(it, "desk").count, 0);
    world_close(it);
}

ON_ALL_STORES(e26_a_message_of_a_newer_version_has_its_key, const char *url)
{
    play_newer(url, &sheets, "property:key", "k", "k");
    expect("k2 ");
    play_newer(url, &sheets, "saga", "k", "k");
    expect("k2 ");
    /* As the saga's property is a uuid. */
    play_newer(url, &folders, "saga", "00112233-4455-6677-8899-AABBCCDDEEFF",
               "00112233-4455-6677-8899-aabbccddeeff");
    expect("id2 ");
}

/* ---- Messages that are elsewhere ------------------------------------------------ */

ON_ALL_STORES_AND_ODBC(e27_a_message_in_another_hand_holds_its_key, const char *url)
{
    world *it = open_world(url);
    world_drain(it);
    post(it, "a", 1);
    pawl_queue_row first = world_claim_oldest(it, "desk");
    post(it, "a", 2);
    post(it, "b", 3);
    world_drain(it);
    expect("b3 ");
    world_give_back(it, "desk", &first, PAWL_QUEUE_RELEASE);
    world_drain(it);
    expect("a1 a2 ");
}

ON_ALL_STORES_AND_ODBC(e34_what_an_operator_takes_away_is_waited_for_no_longer, const char *url)
{
    world *it = open_world(url);
    let_fail(1, 9);
    post(it, "a", 1);
    post(it, "a", 2);
    post(it, "a", 3);
    world_drain(it);
    expect("a1! ");
    take(it, "a1"); /* the first */
    world_go(it, PAWL_MINUTES(2));
    expect("a2 a3 ");
    let_fail(4, 1);
    post(it, "a", 4);
    post(it, "a", 5);
    world_drain(it);
    expect("a4! ");
    take(it, "a5"); /* the last */
    post(it, "a", 6);
    world_go(it, PAWL_MINUTES(2));
    expect("a4 a6 ");
    post(it, "a", 7);
    world_drain(it);
    expect("a7 ");
}

/* ---- Take-over -------------------------------------------------------------- */

static pawl_endpoint *open_second(const world *it, const char *url, const pawl_application *of)
{
    pawl_endpoint_options options = it->options;
    pawl_endpoint        *second  = NULL;
    options.store                 = url;
    options.business              = it->business;
    options.machine               = it->machine;
    must(pawl_endpoint_create(of, NULL, &options, &second, world_error()));
    return second;
}

static pawl_step drain(pawl_endpoint *endpoint)
{
    pawl_step sum = PAWL_STEP_INIT;
    must(pawl_endpoint_drain(endpoint, &sum, world_error()));
    return sum;
}

ON_ALL_STORES_AND_ODBC(e27_one_worker_claims_and_the_next_one_knows_what_waits, const char *url)
{
    world *it = open_world(url);
    let_fail(1, 1);
    post(it, "a", 1);
    post(it, "a", 2);
    world_drain(it);
    expect("a1! ");
    pawl_endpoint *second = open_second(it, url, &application);
    post(it, "a", 3);
    post(it, "b", 4);
    pawl_step step = drain(second); /* the first one leads */
    expect("");
    assert_true(step.is_idle);
    assert_true(step.next_due > world_now(it)); /* not asked without end */
    pawl__worker_leave(it->endpoint->worker);
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(4));
    drain(second);
    expect("b4 ");
    assert_int_equal(find(it, "a3").row.due, find(it, "a1").row.due);
    pawl_clock_set(it->business, world_now(it) + PAWL_MINUTES(2));
    drain(second);
    expect("a1 a2 a3 ");
    pawl_endpoint_destroy(second);
}

/* The first worker stands still in its handler while its lease ends and another one takes over. */
static pawl_endpoint *successor;
static world         *standing;

static pawl_code on_line_slowly(pawl_context *ctx, const line *message)
{
    pawl_endpoint *other = successor;
    pawl_code      code  = meet(ctx, message->key, message->number);
    successor            = NULL;
    if (other != NULL) {
        pawl_clock_set(standing->machine, pawl_clock_now(standing->machine) + PAWL_MINUTES(5));
        drain(other);
    }
    return code;
}
PAWL_MESSAGE_HANDLER(on_line_slowly, line);

static const pawl_endpoint_spec slow_desk = {
    .name     = "desk",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_line_slowly)}),
    .options  = PAWL_OPTIONS(.ordered = "property:key", .immediate_retries = -1)};
static const pawl_application slow_application = APPLICATION("order", &slow_desk);

ON_ALL_STORES_AND_ODBC(e27_a_worker_that_was_succeeded_applies_nothing, const char *url)
{
    pawl_step step = PAWL_STEP_INIT;
    world_forget(&seen);
    failures  = 0;
    world *it = world_begin(url, &slow_application, NULL, NULL);
    world_drain(it);
    successor             = open_second(it, url, &slow_application);
    standing              = it;
    pawl_endpoint *second = successor;
    post(it, "a", 1);
    post(it, "a", 2);
    must_fail_with(pawl_endpoint_step(it->endpoint, &step, world_error()), PAWL_EFENCED,
                   "taken the ordered queue desk over");
    expect("a1 a2 "); /* by the first, in vain */
    assert_false(world_is_marked(it, "a1"));
    assert_false(world_is_marked(it, "a2"));
    world_drain(it); /* the first one does not lead any more */
    expect("");
    drain(second);
    expect("a1 a2 ");
    assert_true(world_is_marked(it, "a2"));
    pawl_endpoint_destroy(second);
}
