/* observed.c - the application, its world and the module.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/observed.h"

#include "runtime/operate/observe/observe.h"
#include "support/hook.h"

/* ---- The application ----------------------------------------------------------- */

static pawl_code on_call(pawl_context *ctx, const call *message)
{
    if (message->number == OBSERVED_AWAY)
        return pawl_fail(ctx, PAWL_EUNREACHABLE, "the bank is away");
    return pawl_send(ctx, "far", PAWL_MESSAGE(call, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_call, call);

static const pawl_endpoint_spec left                 = {.name     = "left",
                                                        .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_call)})};
static const pawl_endpoint_spec right                = {.name     = "right",
                                                        .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_call)})};
const pawl_application          observed_application = APPLICATION("observe", &left, &right);

int observed_failures;

static pawl_code fail_delivery(hook_point at, void *context)
{
    return at == HOOK_BEFORE_COMMIT && observed_failures-- > 0 ? PAWL_EBUSY : PAWL_OK;
}

static void close_observed(void *context)
{
    observed *it = context;
    world_close(&it->it);
    hook_set(NULL, NULL);
    scenario_forget(it->target);
    free(it);
}

observed *observed_open(const char *url, pawl_observe_options observe,
                        pawl_endpoint_options options)
{
    pawl_store *store = NULL;
    observed   *it    = calloc(1, sizeof *it);
    assert_non_null(it);
    scenario_url_like(url, it->target, sizeof it->target);
    must(pawl_store_open(it->target, NULL, &store, world_error()));
    pawl_store_close(store);
    it->observe              = observe;
    it->observe.options_size = sizeof it->observe;
    it->routes[0]     = (pawl_route){.name = "far", .url = hook_url(it->target), .queue = "calls"};
    it->routes[1]     = (pawl_route){.name = NULL};
    options.routes    = it->routes;
    options.observe   = &it->observe;
    observed_failures = 0;
    hook_set(fail_delivery, NULL);
    world_open(&it->it, url, &observed_application, "left", &options);
    test_later(close_observed, it);
    return it;
}

pawl_step observed_send(observed *it, int count)
{
    for (int32_t i = 0; i < count; i++)
        world_post(&it->it, NULL, PAWL_MESSAGE(call, .number = i));
    return world_drain(&it->it);
}

/* ---- The module ---------------------------------------------------------------- */

const pawl_observe_plan *observed_plan;
int                      observed_starts, observed_stops, observed_wakes;

static pawl_code start(const pawl_observe_plan *given, void **carrier, int *port, pawl_error *error)
{
    observed_plan = given;
    *carrier      = &observed_starts;
    *port         = given->port == PAWL_OBSERVE_PORT_ANY ? 4242 : given->port;
    observed_starts++;
    return PAWL_OK;
}

static void wake(void *carrier)
{
    observed_wakes++;
}

static void stop(void *carrier)
{
    observed_plan = NULL;
    observed_stops++;
}

static const pawl_observe_ops module = {
    .ops_size = sizeof module, .start = start, .wake = wake, .stop = stop};

int observed_use_module(void **state)
{
    pawl__observe_load_set(&module);
    observed_starts = observed_stops = observed_wakes = 0;
    return 0;
}

pawl_observe_answer observed_ask(observed *it, const char *path)
{
    pawl_observe_answer        answer;
    const pawl_observe_source *source = &observed_plan->source;
    source->answer(source->context, pawl_text_of(path), it->it.arena, &answer);
    return answer;
}

const exposition *observed_metrics(observed *it)
{
    static exposition   page;
    pawl_observe_answer answer = observed_ask(it, "/metrics");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.content_type, "text/plain; version=0.0.4; charset=utf-8");
    exposition_read(&page, answer.body);
    return &page;
}
