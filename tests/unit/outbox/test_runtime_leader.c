/* test_runtime_leader.c - questions of a runner to the store before it sends, and a machine's clock
 * that was set back. O8, O16, O20.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "runtime/outbox/dispatcher.h"

PAWL_RECORD(note, A_NUMBER);

static pawl_code on_note(pawl_context *ctx, const note *message)
{
    pawl_send(ctx, "one", PAWL_MESSAGE(note, .number = message->number));
    return pawl_send(ctx, "two", PAWL_MESSAGE(note, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_note, note);

static const pawl_application application = ONE_ENDPOINT(
    "leading", .name = "source", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)}));

/* ---- Two outbound transports -------------------------------------------------------------- */

static struct {
    world          it;
    pawl__service *first, *second;
    int            calls[2];      /* of the outbound transports */
    int64_t        pause;         /* the first call of the first outbound transport takes so long */
    bool           is_stop;       /* the process is stopped for so long */
    bool           lets_other_in; /* and meanwhile the second runner delivers all, and ends */
    bool           is_busy;       /* the second outbound transport fails, for one call */
} t;

static void step(pawl__service *service)
{
    pawl_step done = {.next_due = PAWL_TIME_MAX};
    must(pawl__service_step(service, &done, world_error()));
}

static void pass(int64_t time)
{
    pawl_clock_set(t.it.machine, pawl_clock_now(t.it.machine) + time);
}

static pawl__service *new_runner(void)
{
    pawl__service *service = NULL;
    must(pawl__service_create(t.it.endpoint, NULL, &service, world_error()));
    return service;
}

static void let_other_in(void)
{
    t.lets_other_in = false;
    pass(PAWL_SECONDS(20));
    t.second = new_runner();
    step(t.second);
    pawl__service_destroy(t.second);
}

/* A beat each second, until the process is stopped: when it goes on, the call's end may come
 * before the next beat. */
static void pause_call(void)
{
    pawl__stopped_time *pulse = &t.it.endpoint->stopped_time;
    for (int64_t left = t.pause; left > 0; left -= PAWL_SECONDS(1)) {
        if (!t.is_stop || left == t.pause)
            pawl__stopped_time_note(pulse, pawl_clock_now(t.it.machine));
        pass(PAWL_SECONDS(1));
    }
}

static pawl_code receive(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    int *calls = transport->context;
    ++*calls;
    if (calls == &t.calls[0] && t.lets_other_in)
        let_other_in();
    else if (calls == &t.calls[0] && t.pause > 0)
        pause_call();
    if (calls == &t.calls[1] && t.is_busy) {
        t.is_busy = false;
        return pawl_error_set(error, PAWL_EBUSY, "busy");
    }
    t.pause = 0;
    return PAWL_OK;
}

static const pawl_transport_ops outbound = PAWL_OUTBOUND(receive);
static const pawl_route routes[] = {{.name = "one", .outbound = &outbound, .context = &t.calls[0]},
                                    {.name = "two", .outbound = &outbound, .context = &t.calls[1]},
                                    {.name = NULL}};

static void close_two(void *context)
{
    pawl__service_destroy(t.first);
    world_close(&t.it);
}

/* A row for each outbound transport, and a runner that has delivered nothing yet. */
static void open_two(const char *url)
{
    memset(&t, 0, sizeof t);
    world_open(&t.it, url, &application, NULL,
               &(pawl_endpoint_options){.routes = routes, .no_service = true});
    world_post(&t.it, NULL, PAWL_MESSAGE(note, .number = 1));
    world_drain(&t.it);
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_PENDING).count, 2);
    t.first = new_runner();
    test_later(close_two, &t);
}

/* ---- Before a send ---------------------------------------------------------- */

/* The runner leads again when it asks, but its claims belong to an earlier time. */
ON_STORES(o20_rows_of_an_earlier_leadership_are_not_sent, const char *url)
{
    open_two(url);
    t.lets_other_in = true;
    step(t.first);
    assert_int_equal(t.calls[0], 2); /* in doubt: the first runner had sent it */
    assert_int_equal(t.calls[1], 1);
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 2);
}

/* A row that was chosen and not sent is not settled either: it waits, as the other runner left it. */
ON_STORES(o16_what_was_not_sent_is_not_settled, const char *url)
{
    open_two(url);
    t.lets_other_in = t.is_busy = true;
    step(t.first);
    assert_int_equal(t.calls[1], 1);
    pawl_outbox_row rows = world_outbox_row(&t.it, PAWL_OUTBOX_PENDING);
    assert_true(world_says(rows.destination, "two"));
    assert_int_equal(rows.attempts, 1);
    assert_int_equal(world_attempts(&t.it, rows.id).count, 1);
    pass(PAWL_MINUTES(10));
    step(t.first);
    assert_int_equal(t.calls[1], 2);
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 2);
}

/* Somebody else took the lease while the answer was fresh enough for the lease itself:
 * an answer that is older than a second is asked for again. */
ON_STORES(o20_an_old_answer_is_asked_for_again, const char *url)
{
    bool is_held = false;
    open_two(url);
    t.it.options.no_service = true;
    step(t.first);
    assert_true(t.first->is_leader);
    int64_t answered = t.first->answered;
    pass(PAWL_SECONDS(1));
    must(pawl__leader_check(t.first, world_error()));
    assert_int_equal(t.first->answered, answered);
    pass(1);
    must(pawl__leader_check(t.first, world_error()));
    assert_true(t.first->answered > answered);
    /* The store says that it does not lead any more. */
    must(pawl_store_unlead(t.first->store, t.first->lease_name, world_error()));
    must(pawl_store_worker_open(t.it.store, PAWL_TEXT(""), PAWL_TEXT("[]"),
                                pawl_clock_now(t.it.machine), world_error()));
    t.it.store->is_attached = true;
    must(pawl_store_lead(t.it.store, t.first->lease_name, pawl_clock_now(t.it.machine),
                         PAWL_SECONDS(11), &is_held, world_error()));
    assert_true(is_held);
    must(pawl__leader_check(t.first, world_error()));
    assert_true(t.first->is_leader); /* the runner does not know yet */
    pass(PAWL_SECONDS(1) + 1);
    must(pawl__leader_check(t.first, world_error()));
    assert_false(t.first->is_leader);
}

static const pawl_store_ops *quick;

static pawl_code slow_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                           bool *is_held, pawl_error *error)
{
    pawl_code code = quick->lead(store, name, now, lease, is_held, error);
    pass(PAWL_SECONDS(3));
    return code;
}

static pawl_code slow_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    pawl_code code = quick->commit(store, changes, refused, error);
    pass(PAWL_SECONDS(3));
    return code;
}

/* An answer is as old as its question: another runner may have come while it was under way. */
ON_STORES(o20_a_slow_answer_is_an_old_one, const char *url)
{
    pawl_refusals refused = {.arena = NULL};
    pawl_changes  changes = {ONE_UNIT, .now = WORLD_START};
    open_two(url);
    step(t.first);
    refused.arena       = t.first->arena;
    quick               = t.first->store->ops;
    pawl_store_ops slow = *quick;
    slow.lead           = slow_lead;
    slow.commit         = slow_commit;
    t.first->store->ops = &slow;
    pass(PAWL_SECONDS(2));
    pawl_time begin = pawl_clock_now(t.it.machine);
    must(pawl__leader_check(t.first, world_error()));
    assert_int_equal(t.first->answered, begin);
    assert_int_equal(t.first->lease_end, begin + PAWL_SECONDS(10));
    begin = pawl_clock_now(t.it.machine);
    must(pawl__leader_commit(t.first, &changes, &refused, world_error()));
    assert_int_equal(t.first->answered, begin);
    t.first->store->ops = quick;
}

/* The last second of a lease is nobody's. */
ON_STORES(o20_nothing_is_sent_in_the_margin_of_a_lease, const char *url)
{
    open_two(url);
    step(t.first);
    assert_true(pawl__leader_is(t.it.endpoint));
    pass(PAWL_SECONDS(10) - 1);
    assert_true(pawl__leader_is(t.it.endpoint));
    pass(1);
    assert_false(pawl__leader_is(t.it.endpoint));
}

/* ---- Between sends ------------------------------------------------------------ */

/* Rows that others commit, and whose notification is lost, wait for the next look. */
ON_STORES(o21_a_lost_notification_delays_by_half_a_minute_at_most, const char *url)
{
    open_two(url);
    step(t.first);
    step(t.first);
    assert_int_equal(t.calls[0], 1);
    world_post(&t.it, NULL, PAWL_MESSAGE(note, .number = 2));
    world_drain(&t.it);
    for (int i = 1; i < 30; i++) {
        pass(PAWL_SECONDS(1));
        step(t.first);
        assert_int_equal(t.calls[0], 1);
    }
    pass(PAWL_SECONDS(1));
    assert_true(pawl__service_due(t.first) <= pawl_clock_now(t.it.machine));
    step(t.first);
    assert_int_equal(t.calls[0], 2);
}

/* ---- How long a lease lasts -------------------------------------------------- */

static int64_t time_after_a_call(const char *url, bool is_stop)
{
    open_two(url);
    t.is_stop = is_stop;
    t.pause   = PAWL_SECONDS(8);
    step(t.first);
    assert_int_equal(t.calls[0], 1);
    int64_t time = t.first->delivery_time;
    test_now(&t);
    return time;
}

ON_STORES(o20_a_stop_in_an_outbound_transport_is_not_its_time, const char *url)
{
    assert_int_equal(time_after_a_call(url, true), 0);
    /* An eighth of it is forgotten after the second outbound transport's call. */
    assert_int_equal(time_after_a_call(url, false), PAWL_SECONDS(7));
}

/* Gaps are added up once each, and only those that are too long for a busy machine. */
TEST(the_pulse_counts_what_is_missing)
{
    pawl__stopped_time pulse;
    pawl__stopped_time_init(&pulse);
    int64_t now = PAWL_SECONDS(1000);
    assert_int_equal(pawl__stopped_time_read(&pulse, now), 0);
    pawl__stopped_time_note(&pulse, now);
    assert_int_equal(pawl__stopped_time_read(&pulse, now + PAWL_SECONDS(3)), 0);
    assert_int_equal(pawl__stopped_time_read(&pulse, now + PAWL_SECONDS(4)), PAWL_SECONDS(4));
    pawl__stopped_time_note(&pulse, now + PAWL_SECONDS(5));
    assert_int_equal(pawl__stopped_time_read(&pulse, now + PAWL_SECONDS(6)), PAWL_SECONDS(5));
    pawl__stopped_time_note(&pulse, now + PAWL_SECONDS(6));
    pawl__stopped_time_note(&pulse, now + PAWL_SECONDS(12));
    assert_int_equal(pawl__stopped_time_read(&pulse, now + PAWL_SECONDS(12)), PAWL_SECONDS(11));
    pawl__stopped_time_destroy(&pulse);
}

/* ---- A clock that is set back ------------------------------------------------------ */

/* As if what was planned had been planned by a clock that was an hour ahead. */
static void set_back(pawl__service *service)
{
    service->last_now += PAWL_HOURS(1);
    service->outbox_due += PAWL_HOURS(1);
    service->lease_renewal += PAWL_HOURS(1);
    service->sweep_due += PAWL_HOURS(1);
    service->reap_due += PAWL_HOURS(1);
}

ON_STORES(o16_a_clock_that_was_set_back_stops_nothing, const char *url)
{
    open_two(url);
    step(t.first);
    assert_int_equal(t.calls[0] + t.calls[1], 2);
    world_post(&t.it, NULL, PAWL_MESSAGE(note, .number = 2));
    world_drain(&t.it);
    pass(PAWL_SECONDS(31));
    set_back(t.first);
    t.first->outbox_due = t.first->lease_renewal = PAWL_TIME_MAX;
    step(t.first);
    assert_int_equal(t.calls[0] + t.calls[1], 4);
    pawl_time now = pawl_clock_now(t.it.machine);
    assert_true(t.first->sweep_due <= now + PAWL_MINUTES(5));
    assert_true(t.first->reap_due <= now + PAWL_MINUTES(5));
    assert_true(pawl__service_due(t.first) <= now + PAWL_MINUTES(1));
}

/* ---- Sources that waited ------------------------------------------------------------ */

static size_t blocks; /* taken, and not given back */

static void *count_blocks(void *memory, size_t size, void *context)
{
    blocks += memory == NULL && size > 0;
    blocks -= memory != NULL && size == 0;
    if (size > 0)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static pawl_text name_of(int number)
{
    static char name[200];
    int         size = snprintf(name, sizeof name, "%0150d", number);
    return (pawl_text){.data = name, .size = (size_t)size};
}

static void put_number(pawl__source_table *table, int number, size_t value)
{
    must(pawl__source_table_put(table, name_of(number), value));
}

static int get_number(const pawl__source_table *table, int number)
{
    return (int)pawl__source_table_get(table, name_of(number));
}

/* Ten thousand keys, each of which had one failed try: as in a month. */
TEST(o14_sources_that_wait_no_more_take_no_memory)
{
    static const pawl_allocator counted = {count_blocks, NULL};
    blocks                              = 0;
    pawl_allocator_set(&counted);
    pawl__source_table table = pawl__source_table_create();
    must(pawl__source_table_put(&table, PAWL_TEXT("stays"), 7));
    for (int i = 0; i < 10000; i++) {
        put_number(&table, i, 1);
        put_number(&table, i, 0);
    }
    assert_int_equal(table.live, 1);
    assert_int_equal(pawl__source_table_get(&table, PAWL_TEXT("stays")), 7);
    assert_true(blocks < 30);
    for (int i = 0; i < 200; i++)
        put_number(&table, i, (size_t)i + 1);
    for (int i = 0; i < 200; i++)
        assert_int_equal(get_number(&table, i), i + 1);
    pawl_arena_destroy(table.arena);
    assert_int_equal(blocks, 0);
    pawl_allocator_set(NULL);
}
