/* test_engine_again.c - messages and partitions that come twice, or to two workers at once: a
 * message that was handled, a copy that another worker handles meanwhile, a message whose flush is
 * still to come, a partition that two workers hand over. E22, E25, E33, O26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

PAWL_RECORD(order, A_NUMBER);
PAWL_RECORD(parcel, A_NUMBER);

static world_log seen, heard;
static int       refusals; /* by the outbound transport, of its next calls */

static pawl_code on_order(pawl_context *ctx, const order *message)
{
    world_note(&seen, "order%d", (int)message->number);
    pawl_send(ctx, "near", PAWL_MESSAGE(order, .number = message->number));
    return pawl_send(ctx, "far", PAWL_MESSAGE(order, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_order, order);

static pawl_code on_parcels(pawl_context *ctx, const parcel *messages, size_t count)
{
    char   text[200] = "";
    size_t size      = 0;
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, ",%d", (int)messages[i].number);
    world_note(&seen, "%zu%s", count, text);
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_parcels, parcel);

static pawl_code hear(pawl_transport *transport, pawl_delivery *items, size_t count,
                      pawl_arena *arena, pawl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        bool is_refused  = refusals-- > 0;
        items[i].outcome = is_refused ? PAWL_ATTEMPT_TRANSIENT : PAWL_ATTEMPT_SUCCESS;
        world_note(&heard, "%s%.*s", is_refused ? "!" : "", PAWL_TEXT_ARGS(items[i].message.id));
    }
    return PAWL_OK;
}

static const pawl_transport_ops outbound = PAWL_OUTBOUND(hear);
static const pawl_route         routes[] = {{.name = "far", .outbound = &outbound}, {.name = NULL}};
static const pawl_aggregator    parcels  = {
        .name = "Parcels", .handle = PAWL_HANDLE(on_parcels), .size = 3};
static const pawl_application application =
    ONE_ENDPOINT("again", .name = "desk", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_order)}),
                 .aggregators = PAWL_AGGREGATORS(&parcels));

static world *open_world(const char *url)
{
    refusals = 0;
    world_forget(&seen);
    world_forget(&heard);
    return world_begin(url, &application, NULL, &(pawl_endpoint_options){.routes = routes});
}

static void post_order(world *it, const char *id, int32_t number)
{
    world_post(it, id, PAWL_MESSAGE(order, .number = number));
}

static void post_parcels(world *it, int32_t first, int32_t count)
{
    for (int32_t i = first; i < first + count; i++)
        world_post(it, NULL, PAWL_MESSAGE(parcel, .number = i));
}

/* ---- A message that was handled --------------------------------------------------- */

/* Messages that it sent then have not arrived: they go again, as they were. */
ON_ALL_STORES(e25_a_known_message_sends_what_is_left_as_it_was, const char *url)
{
    world *it = open_world(url);
    refusals  = 1;
    post_order(it, "m", 1);
    world_drain(it);
    const char *id = world_outbox_row(it, PAWL_OUTBOX_PENDING).message.id.data;
    post_order(it, "m", 2);
    assert_int_equal(world_drain(it).handled, 0);
    assert_string_equal(seen.text, "order1 ");
    assert_int_equal(world_queue(it, "desk").count, 0);
    assert_int_equal(world_queue(it, "near").count, 1);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 1);
    world_go_both(it, PAWL_MINUTES(1));
    const char *expected = test_text("!%s %s ", id, id);
    assert_string_equal(heard.text, expected);
    /* All has arrived: nothing is sent. */
    post_order(it, "m", 3);
    LOG_AFTER(world_go_both(it, PAWL_MINUTES(1)), seen, "order1 ");
    assert_string_equal(heard.text, expected);
    assert_int_equal(world_queue(it, "near").count, 1);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DISPATCHED).count, 1);
}

/* ---- A copy in other hands -------------------------------------------------------- */

static world *around; /* another worker handles a copy of "m" before its next commit */

static pawl_code handle_copy(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_COMMIT || around == NULL || seen.size == 0)
        return PAWL_OK;
    world *it = around;
    around    = NULL;
    MUST_COMMIT(it->store, inbox_entry, WORLD_START, .endpoint = PAWL_TEXT("desk"),
                .message_id = PAWL_TEXT("m"), .outcome = PAWL_INBOX_HANDLED, .at = WORLD_START);
    return PAWL_OK;
}

/* The other was first: this one's effects are not there, and it is dropped. */
ON_ALL_STORES(o26_a_second_copy_in_hand_is_refused_and_dropped, const char *url)
{
    test_lines lost;
    world     *it = open_world(hook_url(url));
    hook_set(handle_copy, NULL);
    around = it;
    post_order(it, "m", 1);
    post_order(it, "other", 2);
    test_listen(&lost, PAWL_LOG_INFO, "claims were gone");
    pawl_step step = world_drain(it);
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
    assert_int_equal(lost.count, 0);
    assert_string_equal(seen.text, "order1 order2 ");
    assert_int_equal(step.refused, 1);
    assert_int_equal(step.handled, 1);
    assert_int_equal(world_queue(it, "desk").count, 0);
    assert_int_equal(world_queue(it, "near").count, 1);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DISPATCHED).count, 1);
    assert_int_equal(world_dead(it).count, 0);
    hook_set(NULL, NULL);
}

/* ---- A message whose flush is still to come ------------------------------------------ */

static void add_parcel(world *it, const char *id)
{
    MUST_COMMIT(it->store, aggregator_add, WORLD_START, .name = PAWL_TEXT("Parcels"),
                .partition = PAWL_TEXT("Parcels"), .key = pawl_text_of(id),
                .message = {.id   = pawl_text_of(id),
                            .type = PAWL_TEXT("parcel"),
                            .body = PAWL_TEXT("{\"number\":9}")},
                .at = WORLD_START, .due = PAWL_TIME_MAX);
}

/* Its row is there already, and stays one; the gate is read all the same, without waiting
 * for the next look at all partitions. */
ON_ALL_STORES(e22_a_message_that_comes_again_opens_the_gate, const char *url)
{
    world *it = open_world(url);
    world_drain(it);
    add_parcel(it, "x");
    add_parcel(it, "y");
    add_parcel(it, "z");
    LOG_AFTER(world_drain(it), seen, "");
    world_post(it, "z", PAWL_MESSAGE(parcel, .number = 1));
    assert_int_equal(world_drain(it).dead, 0);
    assert_string_equal(seen.text, "3,9,9,9 ");
    assert_int_equal(world_aggregated(it, "Parcels", "parcel").all, 0);
}

/* ---- A partition that two hand over -------------------------------------------------- */

static hook_point meeting; /* of the endpoint's flush: there the other one works, once */
static int        commits; /* before its commits this one is let go */

static pawl_code meet(hook_point point, void *context)
{
    if (point != meeting || (point == HOOK_BEFORE_COMMIT && commits++ == 0))
        return PAWL_OK;
    hook_set(NULL, NULL);
    post_parcels(context, 4, 3);
    world_drain(context);
    return PAWL_OK;
}

/* A second endpoint adds, and hands over, right before the first leases its rows, or
 * before it says that it has handed them over. */
static void meet_at(const char *url, hook_point point, const char *expected)
{
    world *first = open_world(hook_url(url));
    world *second =
        world_begin(url, &application, NULL, &(pawl_endpoint_options){.routes = routes});
    world_drain(second);
    world_drain(first);
    post_parcels(first, 1, 3);
    meeting = point;
    commits = 0;
    hook_set(meet, second);
    LOG_AFTER(world_drain(first), seen, expected);
    assert_int_equal(world_aggregated(first, "Parcels", "parcel").all, 0);
    hook_set(NULL, NULL);
    world_close(second);
    world_close(first);
}

ON_ALL_STORES(e33_no_row_is_handed_to_two_callbacks, const char *url)
{
    meet_at(url, HOOK_BEFORE_LEASE, "6,1,2,3,4,5,6 ");
    meet_at(url, HOOK_BEFORE_COMMIT, "3,1,2,3 3,4,5,6 ");
}
