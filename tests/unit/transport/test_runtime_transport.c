/* test_runtime_transport.c - outbound transports of an application's own: registered by
 * scheme, given what the runner delivers, believed in what they answer.
 * O9 to O12, O14.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/transport.h"

PAWL_RECORD(note, A_NUMBER);
PAWL_RECORD(call, A_NUMBER);

static pawl_code on_call(pawl_context *ctx, const call *message)
{
    return pawl_send(ctx, "bell", PAWL_MESSAGE(note, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_call, call);

static const pawl_application application = ONE_ENDPOINT(
    "transport", .name = "source", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_call)}));

/* ---- The outbound transport: writes down what it gets, answers as it is told ------------------ */

static char                 heard[200];
static pawl_attempt_outcome answer;
static int                  opened, closed;

static pawl_code open_bell(pawl_transport *transport, const char *url, const char *system_prefix,
                           pawl_error *error)
{
    opened++;
    if (strcmp(url, "bell:cracked") == 0)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "the bell is cracked");
    return PAWL_OK;
}

static void close_bell(pawl_transport *transport)
{
    closed++;
}

static pawl_code ring(pawl_transport *transport, pawl_delivery *items, size_t count,
                      pawl_arena *arena, pawl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(heard);
        snprintf(heard + used, sizeof heard - used, "%.*s<%.*s ",
                 PAWL_TEXT_ARGS(items[i].message.body), PAWL_TEXT_ARGS(items[i].queue));
        items[i].outcome = answer;
        if (answer != PAWL_ATTEMPT_SUCCESS)
            items[i].error = pawl_arena_printf(arena, "the bell says no");
    }
    return PAWL_OK;
}

static const pawl_transport_ops bell = {.ops_size       = sizeof(pawl_transport_ops),
                                        .transport_size = sizeof(pawl_transport),
                                        .promises       = PAWL_TRANSPORT_PREFIX,
                                        .scheme         = "bell",
                                        .open           = open_bell,
                                        .close          = close_bell,
                                        .deliver        = ring};

static world *open_world(const char *url, const pawl_route *routes)
{
    pawl_endpoint_options options = {.routes = routes, .outbox_attempts = 2};
    heard[0]                      = '\0';
    answer                        = PAWL_ATTEMPT_SUCCESS;
    opened = closed = 0;
    must(pawl_transport_register(&bell, world_error()));
    world *it = world_begin(url, &application, "source", &options);
    assert_int_equal(opened, 1); /* for its URL's sake */
    assert_int_equal(closed, 1);
    opened = closed = 0;
    return it;
}

static const pawl_route to_tower[]   = {{.name = "bell", .url = "bell:tower", .queue = "hour"},
                                        {.name = "gong", .url = "bell:tower"},
                                        {.name = NULL}};
static const pawl_route to_cracked[] = {{.name = "bell", .url = "bell:cracked"}, {.name = NULL}};

ON_ALL_STORES(o9_an_outbound_transport_of_ones_own_gets_what_is_sent, const char *url)
{
    world *it = open_world(url, to_tower);
    world_post(it, "m1", PAWL_MESSAGE(call, .number = 7));
    world_post(it, "m2", PAWL_MESSAGE(call, .number = 8));
    world_drain(it);
    assert_string_equal(heard, "{\"number\":7}<hour {\"number\":8}<hour ");
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DISPATCHED).count, 2);
    assert_int_equal(opened, 1);
    world_close(it);
    assert_int_equal(closed, 1);
}

ON_ALL_STORES(o11_a_rejection_is_dead_at_once, const char *url)
{
    world *it = open_world(url, to_tower);
    answer    = PAWL_ATTEMPT_REJECTED;
    world_post(it, "m1", PAWL_MESSAGE(call, .number = 7));
    world_drain(it);
    world_go_machine(it, PAWL_HOURS(1));
    assert_string_equal(heard, "{\"number\":7}<hour ");
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DEAD).count, 1);
}

ON_ALL_STORES(o10_o12_an_outbound_transport_that_fails_is_asked_again_then_given_up,
              const char *url)
{
    world *it = open_world(url, to_tower);
    answer    = PAWL_ATTEMPT_TRANSIENT;
    world_post(it, "m1", PAWL_MESSAGE(call, .number = 7));
    world_drain(it);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 1);
    world_go_machine(it, PAWL_HOURS(1));
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DEAD).count, 1);
    assert_string_equal(heard, "{\"number\":7}<hour {\"number\":7}<hour ");
}

ON_ALL_STORES(an_outbound_transport_that_cannot_be_opened_costs_no_attempt, const char *url)
{
    world *it = open_world(url, to_cracked);
    world_post(it, "m1", PAWL_MESSAGE(call, .number = 7));
    world_drain(it);
    for (int i = 1; i <= 5; i++) {
        pawl_outbox_rows rows = world_outbox(it, PAWL_OUTBOX_PENDING);
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.items[0].attempts, 0);
        assert_int_equal(opened, i);
        world_go_machine(it, PAWL_HOURS(1));
    }
    assert_int_equal(closed, opened); /* close follows every open, failed or not */
    assert_string_equal(heard, "");
}

/* ---- The registry ----------------------------------------------------------------- */

static void refuse(const pawl_transport_ops *ops, pawl_code code, const char *text)
{
    must_fail_with(pawl_transport_register(ops, world_error()), code, text);
}

TEST(a_bad_table_is_refused)
{
    pawl_transport_ops ops = bell;
    ops.scheme             = NULL;
    refuse(&ops, PAWL_ECONFIG, "not the scheme");
    static const char *const schemes[] = {"", "gong:", "GONG", "my gong", "9"};
    for (size_t i = 0; i < COUNT(schemes); i++) {
        ops.scheme = schemes[i];
        refuse(&ops, PAWL_ECONFIG,
               test_text("outbound transport: '%s' is not the scheme of a URL", schemes[i]));
    }
    ops.scheme  = "gong";
    ops.deliver = NULL;
    refuse(&ops, PAWL_ECONFIG, "outbound transport 'gong'");
    ops.ops_size = 8;
    refuse(&ops, PAWL_ECONFIG, "8 bytes");
    refuse(NULL, PAWL_ECONFIG, "0 bytes");
}

TEST(a_scheme_belongs_to_one)
{
    static const pawl_transport_ops other = {.ops_size       = sizeof(pawl_transport_ops),
                                             .transport_size = sizeof(pawl_transport),
                                             .scheme         = "bell",
                                             .open           = open_bell,
                                             .close          = close_bell,
                                             .deliver        = ring};
    assert_int_equal(pawl_transport_register(&bell, NULL), PAWL_OK);
    assert_int_equal(pawl_transport_register(&bell, NULL), PAWL_OK);
    refuse(&other, PAWL_EDUPLICATE, "outbound transport 'bell'");
    assert_ptr_equal(pawl_transport_find("bell:tower"), &bell);
    assert_ptr_equal(pawl_transport_find("belle:tower"), &pawl_transport_store);
    assert_ptr_equal(pawl_transport_find("sqlite:x.db"), &pawl_transport_store);
}

TEST(a_module_without_an_outbound_transport_is_refused)
{
    must_fail_with(pawl_transport_load("./no-such-sink.so", world_error()), PAWL_EUNREACHABLE,
                   "no-such-sink.so");
    assert_int_equal(pawl_transport_load("", world_error()), PAWL_EINVAL);
}
