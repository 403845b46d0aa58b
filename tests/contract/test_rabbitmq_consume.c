/* test_rabbitmq_consume.c - a real RabbitMQ is read from: by the intake alone, and by an endpoint that steps. A message that
 * was handed out before says so, a reader ends in order, and bodies that no store keeps do not stop the reading. E3, E26, E28.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/rabbitmq_fixture.h"
#include "support/tests.h"

#include "pawl/inbound.h"

static broker server;

static void publish_with(const char *queue, const char *id, const char *body, size_t size,
                         amqp_table_t headers)
{
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_MESSAGE_ID_FLAG |
                                                    AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_HEADERS_FLAG,
                                          .message_id = amqp_cstring_bytes(id),
                                          .type       = amqp_cstring_bytes("note")};
    properties.headers                 = headers;
    assert_int_equal(amqp_basic_publish(server.connection, 1, amqp_empty_bytes,
                                        amqp_cstring_bytes(queue), true, false, &properties,
                                        (amqp_bytes_t){size, (void *)(uintptr_t)body}),
                     AMQP_STATUS_OK);
}

static amqp_table_entry_t header_of(const char *name, const char *value)
{
    return (amqp_table_entry_t){
        .key   = amqp_cstring_bytes(name),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes(value)}};
}

static void publish(const char *queue, const char *id, const char *body, size_t size)
{
    amqp_table_entry_t of = header_of("of", "mine");
    publish_with(queue, id, body, size, (amqp_table_t){1, &of});
}

static void publish_notes(const char *queue, int count)
{
    for (int i = 1; i <= count; i++) {
        char body[40];
        publish(queue, test_text("m-%d", i), body,
                (size_t)snprintf(body, sizeof body, "{\"number\":%d}", i));
    }
}

static size_t count_left(const char *queue)
{
    amqp_queue_declare_ok_t *found =
        amqp_queue_declare(server.connection, 1, amqp_cstring_bytes(queue), true, false, false,
                           false, amqp_empty_table);
    assert_non_null(found);
    return found->message_count;
}

/* ---- The intake alone -------------------------------------------------------------------------- */

typedef struct tap {
    pawl_inbound *inbound;
    pawl_arena   *arena;
} tap;

static void tap_open(tap *t, const char *queue, size_t prefetch)
{
    static const pawl_text  types[] = {PAWL_TEXT_INIT("note")};
    const pawl_inbound_ops *ops     = NULL;
    pawl_inbound_options    options = {.options_size = sizeof options,
                                       .queue        = queue,
                                       .types        = types,
                                       .type_count   = 1,
                                       .prefetch     = prefetch};
    must(pawl_inbound_find(server.server, &ops, world_error()));
    t->arena   = pawl_arena_create(0);
    t->inbound = pawl_allocate(ops->inbound_size);
    assert_true(t->inbound != NULL && t->arena != NULL);
    t->inbound->ops = ops;
    must(ops->open(t->inbound, server.server, &options, world_error()));
}

static void tap_close(tap *t)
{
    t->inbound->ops->close(t->inbound);
    pawl_free(t->inbound);
    pawl_arena_destroy(t->arena);
}

/* Waits until `count` came, or for a moment when none is to come; settles none. */
static pawl_takings tap_take(tap *t, size_t count)
{
    pawl_takings all = {.items = pawl_arena_take(t->arena, 100 * sizeof(pawl_taken))};
    for (int tries = 0; tries < 100 && (all.count < count || tries == 0); tries++) {
        pawl_takings came;
        pawl_take    by = {.count_max = count > 0 ? count - all.count : 1,
                           .size_max  = 1 << 20,
                           .wait      = PAWL_MILLISECONDS(300),
                           .wake_fd   = -1};
        must(t->inbound->ops->take(t->inbound, &by, t->arena, &came, world_error()));
        for (size_t i = 0; i < came.count; i++)
            all.items[all.count++] = came.items[i];
    }
    assert_int_equal(all.count, count);
    return all;
}

/* A message that killed its process is known by that: a row is made of it, and its deaths count. */
TEST(e26_a_message_that_was_handed_out_before_says_so)
{
    tap         t;
    const char *queue = own_name("again");
    broker_queue(&server, queue, "quorum");
    publish_notes(queue, 3);
    tap_open(&t, queue, 2);
    pawl_takings first = tap_take(&t, 2);
    assert_false(first.items[0].is_redelivered || first.items[1].is_redelivered);
    t.inbound->ops->leave(t.inbound);
    pawl_takings second = tap_take(&t, 2);
    assert_true(second.items[0].is_redelivered && second.items[1].is_redelivered);
    assert_string_equal(second.items[0].message.id.data, "m-1");
    must(t.inbound->ops->settle(t.inbound, second.items, 2, world_error()));
    assert_false(tap_take(&t, 1).items[0].is_redelivered);
    tap_close(&t);
    broker_delete(&server, queue);
}

/* Messages that were handed out by then are taken, and no more. */
TEST(e3_a_reader_that_ends_takes_what_was_handed_out)
{
    tap         t;
    const char *queue = own_name("ending");
    broker_queue(&server, queue, "quorum");
    publish_notes(queue, 10);
    tap_open(&t, queue, 4);
    must(t.inbound->ops->finish(t.inbound, world_error())); /* not connected yet: nothing */
    tap_take(&t, 0);
    t.inbound->ops->leave(t.inbound);
    pawl_takings first = tap_take(&t, 1);
    usleep(300000); /* the others of the prefetch are on their way */
    must(t.inbound->ops->finish(t.inbound, world_error()));
    must(t.inbound->ops->settle(t.inbound, first.items, 1, world_error()));
    pawl_takings last = tap_take(&t, 3);
    assert_string_equal(last.items[2].message.id.data, "m-4");
    must(t.inbound->ops->settle(t.inbound, last.items, 3, world_error()));
    tap_take(&t, 0);
    t.inbound->ops->leave(t.inbound);
    assert_int_equal(count_left(queue), 6);
    tap_close(&t);
    broker_delete(&server, queue);
}

/* The library does not copy headers without a name, inside of another either. Bodies: none, and one of several frames. */
TEST(e28_headers_without_a_name_do_not_stop_the_reading)
{
    static char        body[300000];
    tap                t;
    const char        *queue  = own_name("nameless");
    amqp_table_entry_t inner  = header_of("", "inner");
    amqp_table_entry_t some[] = {
        header_of("", "outer"),
        header_of("of", "mine"),
        {.key   = amqp_cstring_bytes("at"),
         .value = {.kind = AMQP_FIELD_KIND_TABLE, .value.table = {1, &inner}}}};
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (char)('a' + i % 23);
    broker_queue(&server, queue, "quorum");
    publish(queue, "empty", "", 0);
    publish_with(queue, "odd", body, sizeof body, (amqp_table_t){3, some});
    publish_notes(queue, 1);
    tap_open(&t, queue, 3);
    pawl_takings all = tap_take(&t, 3);
    assert_int_equal(all.items[0].message.body.size, 0);
    assert_string_equal(all.items[1].message.id.data, "odd");
    assert_string_equal(all.items[1].message.headers.data, "{\"\":\"outer\",\"of\":\"mine\"}");
    assert_int_equal(all.items[1].message.body.size, sizeof body);
    assert_memory_equal(all.items[1].message.body.data, body, sizeof body);
    assert_string_equal(all.items[2].message.body.data, "{\"number\":1}");
    for (int i = 0; i < 3; i++)
        assert_false(all.items[i].is_redelivered);
    must(t.inbound->ops->settle(t.inbound, all.items, 3, world_error()));
    tap_close(&t);
    assert_int_equal(count_left(queue), 0);
    broker_delete(&server, queue);
}

/* ---- An endpoint ------------------------------------------------------------------------------------ */

static int notes;

static pawl_code on_note(pawl_context *ctx, const note *message)
{
    notes++;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_note, note);

static const pawl_application reading =
    ONE_ENDPOINT("reading", .name = "desk", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)}));

/* As many as may be unacknowledged, and good ones behind them. */
TEST(e28_bodies_over_the_limit_do_not_stop_the_reading)
{
    char        store[1000];
    const char *queue = own_name("large");
    size_t      size  = PAWL_BODY_SIZE_MAX + 1;
    char       *body  = malloc(size);
    assert_non_null(body);
    memset(body, 'x', size);
    broker_queue(&server, queue, "quorum");
    publish(queue, "l-1", body, size);
    publish(queue, "l-2", body, size);
    publish_notes(queue, 3);
    free(body);
    notes           = 0;
    const char *url = test_text("%s?prefetch=2#%s", server.server, queue);
    const char *why =
        test_text("its body has %zu bytes, the limit is %d", size, PAWL_BODY_SIZE_MAX);
    assert_true(scenario_url("memory", store, sizeof store));
    world *it = world_begin(store, &reading, "desk", &(pawl_endpoint_options){.transport = url});
    for (int i = 0; i < 100 && notes < 3; i++) {
        size_t count = 0;
        must(pawl_endpoint_receive(it->endpoint, PAWL_MILLISECONDS(300), &count, world_error()));
        world_drain(it);
    }
    assert_int_equal(notes, 3);
    pawl_dead_rows letters = world_dead(it);
    assert_int_equal(letters.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(letters.items[i].message.body.size, 0);
        assert_string_equal(letters.items[i].message.headers.data, "{\"of\":\"mine\"}");
        assert_true(world_says(letters.items[i].error, why));
    }
    world_close(it);
    scenario_forget(store);
    assert_int_equal(count_left(queue), 0);
    broker_delete(&server, queue);
}

int main(void)
{
    const char *url = getenv("PAWL_TEST_RABBITMQ");
    if (url == NULL) {
        puts("skipped: PAWL_TEST_RABBITMQ names no server");
        return server_may_be_missing("rabbitmq") ? 77 : 1;
    }
    world_quiet();
    broker_open(&server, url);
    int failed = tests_run(NULL, NULL);
    broker_close(&server);
    return failed;
}
