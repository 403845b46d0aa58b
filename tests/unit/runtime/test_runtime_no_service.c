/* test_runtime_no_service.c - an endpoint whose outbox another process delivers
 * leaves it alone; one without that option then delivers what is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

PAWL_RECORD(call, A_NUMBER);
PAWL_RECORD(note, A_NUMBER);

static pawl_code on_call(pawl_context *ctx, const call *message)
{
    pawl_code      code     = pawl_send(ctx, "far", PAWL_MESSAGE(note, .number = message->number));
    pawl_endpoint *endpoint = pawl_user(ctx) != NULL ? *(pawl_endpoint **)pawl_user(ctx) : NULL;
    if (endpoint != NULL)
        pawl_endpoint_stop(endpoint);
    return code;
}
PAWL_MESSAGE_HANDLER(on_call, call);

static const pawl_application application = ONE_ENDPOINT(
    "no_service", .name = "caller", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_call)}));

static const pawl_route routes[] = {{.name = "far", .url = "memory:no_service_target"},
                                    {.name = NULL}};

ON_ALL_STORES(test_steps_leave_the_outbox, const char *url)
{
    pawl_endpoint_options options = PAWL_ENDPOINT_OPTIONS_INIT;
    options.routes                = routes;
    options.no_service            = true;
    world *it                     = world_begin(url, &application, NULL, &options);
    world_post(it, NULL, PAWL_MESSAGE(call, .number = 1));
    pawl_step sum = world_drain(it);
    assert_int_equal(sum.handled, 1);
    assert_int_equal(sum.sent, 0);
    assert_true(sum.is_idle);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 1);
}

ON_ALL_STORES(test_another_delivers_what_is_left, const char *url)
{
    pawl_store           *keeper  = NULL; /* a memory store goes with its last handle */
    pawl_endpoint_options options = PAWL_ENDPOINT_OPTIONS_INIT;
    options.routes                = routes;
    options.no_service            = true;
    world_ok(pawl_store_open(url, NULL, &keeper, NULL), NULL);
    world *it = world_begin(url, &application, NULL, &options);
    world_post(it, NULL, PAWL_MESSAGE(call, .number = 1));
    assert_int_equal(world_drain(it).handled, 1);
    world_close(it);
    options.no_service = false;
    it                 = world_begin(url, &application, NULL, &options);
    assert_int_equal(world_drain(it).sent, 1);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 0);
    world_close(it);
    pawl_store_close(keeper);
}

/* The handler stops the endpoint, so that run() returns; its batch is finished
 * first. */
ON_ALL_STORES(test_run_leaves_the_outbox, const char *url)
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.routes                 = routes;
    options.no_service             = true;
    world *it                      = world_begin(url, &application, NULL, &options);
    world_post_at(it, NULL, PAWL_SECONDS(1), PAWL_MESSAGE(call, .number = 1));
    options.store   = url;
    options.workers = 2;
    options.user    = &endpoint;
    must(pawl_endpoint_create(&application, NULL, &options, &endpoint, world_error()));
    must(pawl_endpoint_run(endpoint, world_error()));
    pawl_endpoint_destroy(endpoint);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 1);
}
