/* trip.c - a scenario with every kind of work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/trip.h"

/* ---- The application -------------------------------------------------------- */

RECORD(trip_state, (TEXT, name), (INT32, rings), (TEXT, log), (TEXT, ballast));
RECORD(depart, (TEXT, name), (TEXT, ballast));
RECORD(passenger, (INT32, number), (TEXT, ballast));
RECORD(seated, (INT32, count), (TEXT, ballast));

static char            heavy[70000];
static const pawl_text ballast = {.data = heavy, .size = sizeof heavy};

static pawl_code on_depart(pawl_context *ctx, trip_state *state, const depart *message)
{
    state->ballast = message->ballast;
    pawl_timeout(ctx, "first", PAWL_SECONDS(60));
    pawl_timeout(ctx, "second", PAWL_SECONDS(70));
    for (int32_t i = 1; i <= 3; i++)
        pawl_send(ctx, "far", PAWL_MESSAGE(seated, .count = i, .ballast = message->ballast));
    return PAWL_OK;
}
PAWL_HANDLER(on_depart, trip_state, depart);

static pawl_code ring(pawl_context *ctx, trip_state *state, const char *name)
{
    state->rings++;
    state->log = pawl_arena_printf(pawl_scratch(ctx), "%.*s%s ", PAWL_TEXT_ARGS(state->log), name);
    return state->log.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code on_first(pawl_context *ctx, trip_state *state)
{
    return ring(ctx, state, "first");
}
PAWL_TIMEOUT_HANDLER(on_first, trip_state);

static pawl_code on_second(pawl_context *ctx, trip_state *state)
{
    return ring(ctx, state, "second");
}
PAWL_TIMEOUT_HANDLER(on_second, trip_state);

static pawl_code on_passengers(pawl_context *ctx, const passenger *messages, size_t count)
{
    return pawl_send(ctx, "out",
                     PAWL_MESSAGE(seated, .count = (int32_t)count, .ballast = messages[0].ballast));
}
PAWL_BATCH_HANDLER(on_passengers, passenger);

static const pawl_saga trip_saga = SAGA_OF(
    "Trip", trip_state, "name", {.handle = PAWL_HANDLE(on_depart), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_first), .timeout = "first"},
    {.handle = PAWL_HANDLE(on_second), .timeout = "second"});
static const pawl_aggregator seats = {
    .name = "Seats", .handle = PAWL_HANDLE(on_passengers), .size = 4};
static const pawl_endpoint_spec station = {
    .name = "station", .sagas = PAWL_SAGAS(&trip_saga), .aggregators = PAWL_AGGREGATORS(&seats)};
const pawl_application trip_application = APPLICATION("trip", &station);

/* ---- Going on ------------------------------------------------------------------- */

/* Steps until nothing is due. */
static void go_on(trip *self)
{
    pawl_step  step  = PAWL_STEP_INIT;
    pawl_error error = PAWL_ERROR_INIT;
    for (int i = 0; !step.is_idle; i++) {
        bool      had_failed = *self->has_failed;
        pawl_code code       = pawl_endpoint_step(self->it.endpoint, &step, &error);
        if (code != PAWL_OK && (code != self->code || had_failed || !*self->has_failed))
            fail_msg("%s: %s: %s", self->label, pawl_code_name(code), error.text);
        if (code != PAWL_OK)
            step.is_idle = false;
        if (i > 50)
            fail_msg("%s: never idle", self->label);
    }
}

/* Advances both clocks, so that the dispatcher's back-off ends as well; in total by less than a lease, so that a lease
 * left behind is noticed. */
static void move(trip *self, int64_t duration)
{
    pawl_clock_set(self->it.business, pawl_clock_now(self->it.business) + duration);
    pawl_clock_set(self->it.machine, pawl_clock_now(self->it.machine) + duration);
    go_on(self);
}

void trip_open(trip *self, const char *url, const char *target)
{
    pawl_endpoint_options options = {.routes = self->routes};
    self->routes[0]               = (pawl_route){.name = "far", .url = target};
    self->routes[1]               = (pawl_route){.name = NULL};
    self->target                  = target;
    memset(heavy, '.', sizeof heavy);
    must(pawl_store_open(target, NULL, &self->keep, world_error()));
    world_open(&self->it, url, &trip_application, NULL, &options);
    world_post(&self->it, NULL, PAWL_MESSAGE(depart, .name = PAWL_TEXT("t"), .ballast = ballast));
    for (int32_t i = 0; i < 4; i++)
        world_post(&self->it, NULL, PAWL_MESSAGE(passenger, .number = i, .ballast = ballast));
}

void trip_go(trip *self)
{
    go_on(self);
    for (int i = 0; i < 4; i++)
        move(self, PAWL_SECONDS(60));
}

/* ---- Checking --------------------------------------------------------------------- */

static void assert_begins(const trip *self, const char *text, const char *with)
{
    if (strncmp(text, with, strlen(with)) != 0)
        fail_msg("%s: '%.60s...' does not begin with '%s'", self->label, text, with);
}

static void assert_count(const trip *self, const char *what, int64_t count, int64_t expected)
{
    if (count != expected)
        fail_msg("%s: %s: %lld, expected %lld", self->label, what, (long long)count,
                 (long long)expected);
}

static void check_target(trip *self)
{
    pawl_queue_rows rows = {.count = 0};
    must(pawl_store_queue_list(self->keep, PAWL_TEXT("far"), 0, self->it.arena, &rows,
                               world_error()));
    assert_count(self, "messages that arrived", (int64_t)rows.count, 3);
    for (size_t i = 0; i < 3; i++) {
        char body[40];
        snprintf(body, sizeof body, "{\"count\":%zu,\"ballast\":\"...", i + 1);
        assert_begins(self, rows.items[i].message.body.data, body);
    }
}

void trip_end(trip *self)
{
    world *it = &self->it;
    move(self, PAWL_SECONDS(20));
    const char *state = world_saga_text(it, "Trip", "t", NULL);
    assert_count(self, "rings", world_json_number(state, "rings"), 2);
    assert_count(self, "the state's size", strlen(state) > sizeof heavy, true);
    if (strstr(state, "\"first second \"") == NULL)
        fail_msg("%s: the log is not in '%.100s...'", self->label, state);
    assert_count(self, "timeouts", (int64_t)world_timeouts(it).count, 0);
    assert_count(self, "messages left", (int64_t)world_queue(it, "station").count, 0);
    assert_count(self, "dead letters", (int64_t)world_dead(it).count, 0);
    assert_count(self, "passengers left", world_aggregated(it, "Seats", "passenger").all, 0);
    assert_count(self, "outbox rows", (int64_t)world_outbox(it, PAWL_OUTBOX_DISPATCHED).count, 3);
    pawl_queue_rows taken = world_queue(it, "out");
    assert_count(self, "flushes", (int64_t)taken.count, 1);
    assert_begins(self, taken.items[0].message.body.data, "{\"count\":4,\"ballast\":\"...");
    check_target(self);
}

void trip_close(trip *self)
{
    world_close(&self->it);
    pawl_store_close(self->keep);
}
