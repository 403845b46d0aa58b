/* headers_before.c - a program that uses what pawl/pawl.h, pawl/test.h and pawl/operate.h declare, for
 * headers_before.sh: compiled with older headers, it runs with today's library.
 *
 *     headers_before memory: | sqlite:
 *
 * Bytes behind each struct that the library writes are checked: they are another object's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/operate.h>
#include <pawl/pawl.h>
#include <pawl/test.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- An application ------------------------------------------------------- */

#define PLACE_ORDER(F)                  \
    F(TEXT, order_id, .required = true) \
    F(INT64, cents)
PAWL_RECORD(place_order, PLACE_ORDER);

#define PAY(F) F(TEXT, order_id, .required = true)
PAWL_RECORD(pay, PAY);

#define ORDER_LATE(F) F(TEXT, order_id)
PAWL_RECORD(order_late, ORDER_LATE);

#define ORDER(F)         \
    F(TEXT, order_id)    \
    F(INT64, cents)      \
    F(OPT_TIME, paid_at) \
    F(LIST_TEXT, notes)
PAWL_RECORD(order, ORDER);

static pawl_code on_place_order(pawl_context *ctx, order *state, const place_order *message)
{
    pawl_send_options later = {PAWL_SEND_OPTIONS_HEAD, .delay = PAWL_MINUTES(1)};
    state->cents            = message->cents;
    pawl_timeout(ctx, "payment", PAWL_MINUTES(15));
    return pawl_send_with(ctx, "billing", &later, PAWL_MESSAGE(pay, .order_id = message->order_id));
}
PAWL_HANDLER(on_place_order, order, place_order);

static pawl_code on_late(pawl_context *ctx, order *state)
{
    pawl_publish(ctx, PAWL_MESSAGE(order_late, .order_id = state->order_id));
    return pawl_complete(ctx);
}
PAWL_TIMEOUT_HANDLER(on_late, order);

static pawl_code on_pay(pawl_context *ctx, const pay *message)
{
    return pawl_fail(ctx, PAWL_REJECT, "no money for %.*s", PAWL_TEXT_ARGS(message->order_id));
}
PAWL_MESSAGE_HANDLER(on_pay, pay);

static const pawl_saga order_saga = {
    .name        = "Order",
    .state       = PAWL_RECORD_OF(order),
    .correlation = "order_id",
    .on = PAWL_ON({.handle = PAWL_HANDLE(on_place_order), .key = "order_id", .starts = true},
                  {.handle = PAWL_HANDLE(on_late), .timeout = "payment"})};
static const pawl_endpoint_spec orders  = {.name    = "orders",
                                           .sagas   = PAWL_SAGAS(&order_saga),
                                           .options = PAWL_OPTIONS(.immediate_retries = PAWL_NONE)};
static const pawl_endpoint_spec billing = {.name     = "billing",
                                           .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_pay)})};
static const pawl_application   shop    = {PAWL_APPLICATION_HEAD, .name = "shop",
                                           .endpoints = PAWL_ENDPOINTS(&orders, &billing)};

/* ---- What it checks ---------------------------------------------------------- */

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, error.text); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

static pawl_error error = PAWL_ERROR_INIT;

/* A struct of the program, and the object behind it. */
#define WITH_END(struct_type)   \
    struct {                    \
        struct_type   it;       \
        unsigned char end[256]; \
    }
#define SET_END(object) memset((object).end, 0xA5, sizeof(object).end)
static int is_whole(const unsigned char *end, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (end[i] != 0xA5)
            return 0;
    return 1;
}
#define END_IS_WHOLE(object) is_whole((object).end, sizeof(object).end)

static void use_as_application(pawl_test *test)
{
    order   state;
    int64_t version          = 0;
    size_t  count            = 0;
    WITH_END(pawl_step) step = {.it = PAWL_STEP_INIT};
    WITH_END(pawl_saga_row) row;
    WITH_END(pawl_stats) stats = {.it = PAWL_STATS_INIT};
    SET_END(step), SET_END(row), SET_END(stats);
    CHECK(pawl_test_watch(test, PAWL_RECORD_OF(order_late), &error) == PAWL_OK);
    CHECK(pawl_test_deliver(test, "orders",
                            PAWL_MESSAGE(place_order, .order_id = PAWL_TEXT("o-1"), .cents = 5),
                            &error) == PAWL_OK);
    CHECK(pawl_test_saga(test, "Order", "o-1", PAWL_RECORD_OF(order), &state, &version, &error) ==
          PAWL_OK);
    CHECK(state.cents == 5 && version == 1 && !state.paid_at.is_set && state.notes.count == 0);
    CHECK(pawl_test_saga_row(test, "Order", "o-1", &row.it, &error) == PAWL_OK);
    CHECK(row.it.version == 1 && END_IS_WHOLE(row));
    CHECK(pawl_test_advance(test, PAWL_MINUTES(2), &error) == PAWL_OK);
    CHECK(pawl_test_drain(test, &step.it, &error) == PAWL_OK);
    CHECK(step.it.is_idle && step.it.handled == 0 && END_IS_WHOLE(step));
    CHECK(pawl_endpoint_step(pawl_test_endpoint(test, "orders"), &step.it, &error) == PAWL_OK);
    CHECK(step.it.is_idle && END_IS_WHOLE(step));
    CHECK(pawl_test_stats(test, &stats.it, &error) == PAWL_OK);
    CHECK(stats.it.dead == 1 && stats.it.timeouts_pending == 1 && END_IS_WHOLE(stats));
    CHECK(pawl_test_advance(test, PAWL_MINUTES(15), &error) == PAWL_OK);
    CHECK(pawl_test_count(test, PAWL_TEST_EVENTS, PAWL_RECORD_OF(order_late), &count, &error) ==
          PAWL_OK);
    CHECK(count == 1);
}

static void use_as_operator(pawl_test *test)
{
    pawl_store       *store        = pawl_test_store(test);
    pawl_time         now          = pawl_test_now(test);
    pawl_arena       *arena        = pawl_arena_create(0);
    pawl_worker_info *workers      = NULL;
    size_t            worker_count = 0;
    pawl_dead_query   any          = {.endpoint = PAWL_TEXT("billing")};
    WITH_END(pawl_queue_infos) queues;
    WITH_END(pawl_dead_rows) letters;
    WITH_END(pawl_health) health;
    WITH_END(pawl_dead_settled) settled;
    SET_END(queues), SET_END(letters), SET_END(health), SET_END(settled);
    CHECK(pawl_store_worker_list(store, arena, &workers, &worker_count, &error) == PAWL_OK);
    CHECK(worker_count >= 2);
    for (size_t i = 0; i < worker_count; i++)
        CHECK(workers[i].endpoint.size < 8);
    CHECK(pawl_store_queue_infos(store, now, arena, &queues.it, &error) == PAWL_OK);
    CHECK(queues.it.count >= 2 && END_IS_WHOLE(queues));
    CHECK(pawl_text_equal(queues.it.items[0].queue, PAWL_TEXT("billing")));
    CHECK(queues.it.items[0].dead == 1);
    CHECK(pawl_store_dead_find(store, &any, arena, &letters.it, &error) == PAWL_OK);
    CHECK(letters.it.count == 1 && END_IS_WHOLE(letters));
    CHECK(strstr(letters.it.items[0].error.data, "no money for o-1") != NULL);
    CHECK(pawl_health_check(store, NULL, now, &health.it, &error) == PAWL_OK);
    CHECK(health.it.state == PAWL_DEGRADED && END_IS_WHOLE(health));
    pawl_dead_settle retry = {.action = PAWL_DEAD_RETRY, .by = PAWL_TEXT("anna")};
    CHECK(pawl_store_dead_settle(store, letters.it.items, 1, &retry, now, &settled.it, &error) ==
          PAWL_OK);
    CHECK(settled.it.gone_count == 0 && settled.it.left_count == 0 && END_IS_WHOLE(settled));
    CHECK(pawl_test_drain(test, NULL, &error) == PAWL_OK);
    CHECK(pawl_store_dead_find(store, &any, arena, &letters.it, &error) == PAWL_OK);
    CHECK(letters.it.count == 1);
    pawl_arena_destroy(arena);
}

int main(int count, char **words)
{
    pawl_test            *test;
    pawl_endpoint_options endpoint = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_test_options     options  = PAWL_TEST_OPTIONS_INIT;
    endpoint.immediate_retries     = 1;
    options.endpoint               = &endpoint;
    if (count == 2 && strcmp(words[1], PAWL_TEST_SQLITE) == 0)
        options.store = PAWL_TEST_SQLITE;
    CHECK(pawl_test_create(&shop, &options, &test, &error) == PAWL_OK);
    use_as_application(test);
    use_as_operator(test);
    pawl_test_destroy(test);
    printf("it runs\n");
    return 0;
}
