/* test_runtime_alarm.c - alarms of the service say what is so now: through a handle that was opened anew, after the lead was
 * lost, for one route of several, and without a event store that grows with each time that a receiver comes and goes. O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/outbox/test_outbox_sample.h"

#include "pawl/store_alarm.h"
#include "runtime/runtime.h"

static const pawl_endpoint_spec source      = {.name     = "source",
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)})};
static const pawl_application   application = APPLICATION("alarm", &source);

/* ---- Two runners, two receivers ---------------------------------------------------- */

static struct {
    world          it;
    pawl__service *one, *two;
    bool           is_away[4];
    bool        stands_still; /* in its next call the first runner does, and the second one leads */
    const char *why;
    pawl_code   code; /* of sweeps that fail */
    int         rows;
} t;

static pawl_code step(pawl__service *service)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_step  done  = {.next_due = PAWL_TIME_MAX};
    return pawl__service_step(service, &done, &error);
}

static void pass(int64_t time)
{
    pawl_clock_set(t.it.machine, pawl_clock_now(t.it.machine) + time);
}

/* Rows, tries of routes, and sweeps, as they come within the time. */
static void go(pawl__service *service, int64_t time)
{
    for (; time > 0; time -= PAWL_SECONDS(5)) {
        pass(PAWL_SECONDS(5));
        (void)step(service);
    }
}

static pawl_code hear(pawl_transport *transport, pawl_delivery *items, size_t count,
                      pawl_arena *arena, pawl_error *error)
{
    const bool *is_away = transport->context;
    if (t.stands_still) {
        t.stands_still = false;
        t.is_away[0]   = false;
        pass(PAWL_SECONDS(20));
        assert_int_equal(step(t.two), PAWL_OK);
        return pawl_error_set(error, PAWL_EUNREACHABLE, "it was not there");
    }
    if (*is_away && t.why == NULL)
        return PAWL_EDENIED;
    return *is_away ? pawl_error_set(error, PAWL_EUNREACHABLE, "%s", t.why) : PAWL_OK;
}

static const pawl_transport_ops ear = PAWL_OUTBOUND(hear);
static const pawl_route routes[]    = {{.name = "a", .outbound = &ear, .context = &t.is_away[0]},
                                       {.name = "b", .outbound = &ear, .context = &t.is_away[1]},
                                       {.name = "c", .outbound = &ear, .context = &t.is_away[2]},
                                       {.name = "d", .outbound = &ear, .context = &t.is_away[3]},
                                       {.name = NULL}};

static pawl__service *new_runner(void)
{
    pawl__service *service = NULL;
    must(pawl__service_create(t.it.endpoint, NULL, &service, world_error()));
    return service;
}

static void add_row(const char *destination)
{
    unsigned char   n       = (unsigned char)++t.rows;
    pawl_outbox_add add     = {.dispatch_id = {{{1, n}}},
                               .source      = pawl_arena_printf(t.it.arena, "Flow/%d", t.rows),
                               .version     = 1,
                               .endpoint    = PAWL_TEXT("source"),
                               .destination = pawl_text_of(destination),
                               .message     = {.id   = pawl_arena_printf(t.it.arena, "m%d", t.rows),
                                               .type = PAWL_TEXT("note"),
                                               .body = PAWL_TEXT("{\"number\":1}")},
                               .at          = pawl_clock_now(t.it.machine)};
    pawl_changes    changes = {ONE_UNIT, .now = add.at, .outbox_add = {&add, 1}};
    must(pawl_store_commit(t.it.store, &changes, NULL, world_error()));
}

static void close_two(void *context)
{
    pawl__service_destroy(t.one);
    pawl__service_destroy(t.two);
    world_close(&t.it);
}

static void open_two(const char *url)
{
    memset(&t, 0, sizeof t);
    t.why  = "nobody is there";
    t.code = PAWL_EDENIED;
    world_open(&t.it, url, &application, "source",
               &(pawl_endpoint_options){.routes = routes, .no_service = true});
    t.one = new_runner();
    t.two = new_runner();
    test_later(close_two, &t);
}

/* ---- What others see --------------------------------------------------------------- */

static pawl_alarm_rows alarms(void)
{
    pawl_alarm_rows rows = {.count = 0};
    must(pawl_store_alarms(t.it.store, t.it.arena, &rows, world_error()));
    return rows;
}

/* One alarm stands, and this runner's handle raised it. */
static void expect_alarm(const pawl__service *of, const char *what, const char *part)
{
    pawl_alarm_rows rows = alarms();
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].what.data, what);
    assert_true(world_says(rows.items[0].text, part));
    assert_memory_equal(&rows.items[0].worker, &(pawl_worker_id){pawl_store_worker(of->store).uuid},
                        sizeof rows.items[0].worker);
}

static void expect_none(void)
{
    assert_int_equal(alarms().count, 0);
}

static size_t events(void)
{
    return world_events(&t.it, PAWL_ALARM_STREAMS "/source").count;
}

/* The worker of the runner's handle is ended by others, as after a connection that was lost. */
static void lose(const pawl__service *service)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *other   = NULL;
    pawl_time          now     = pawl_clock_now(t.it.machine);
    options.mode               = PAWL_OPEN_CHECK;
    must(pawl_store_open(t.it.url, &options, &other, world_error()));
    pawl_store_worker_set(other, pawl_store_worker(service->store));
    must(pawl_store_worker_open(other, PAWL_TEXT("source"), PAWL_TEXT("[]"), now, world_error()));
    must(pawl_store_worker_close(other, now, world_error()));
    pawl_store_close(other);
}

/* ---- A handle that was opened anew -------------------------------------------------- */

ON_ALL_STORES(o23_an_alarm_is_raised_again_through_the_next_handle, const char *url)
{
    open_two(url);
    t.is_away[0] = true;
    add_row("a");
    go(t.one, PAWL_SECONDS(5));
    expect_alarm(t.one, "route", "route 'a': nobody is there");
    for (int i = 0; i < 3; i++) {
        lose(t.one);
        expect_none();
        go(t.one, PAWL_MINUTES(2));
        expect_alarm(t.one, "route", "route 'a': nobody is there");
    }
    t.is_away[0] = false;
    go(t.one, PAWL_MINUTES(1));
    expect_none();
}

/* "The store cannot be reached" would be said of a store that is there. */
ON_STORE(o23_the_alarm_of_a_receiver_without_a_word_names_the_code, const char *url, "memory")
{
    open_two(url);
    t.is_away[0] = true;
    t.why        = NULL;
    add_row("a");
    go(t.one, PAWL_SECONDS(5));
    expect_alarm(t.one, "route", "route 'a': the outbound transport does not say why (EDENIED)");
}

/* As after a commit in doubt, which the handle settled by itself. */
ON_ALL_STORES(o23_an_alarm_is_raised_again_in_the_next_epoch, const char *url)
{
    bool is_applied = false;
    open_two(url);
    t.is_away[0] = true;
    add_row("a");
    go(t.one, PAWL_SECONDS(5));
    expect_alarm(t.one, "route", "'a'");
    int64_t epoch = pawl_store_epoch(t.one->store);
    must(pawl_store_resolve(t.one->store, (pawl_uuid){{1}}, &is_applied, world_error()));
    assert_int_equal(pawl_store_epoch(t.one->store), epoch + 1);
    expect_none();
    go(t.one, PAWL_SECONDS(5));
    expect_alarm(t.one, "route", "'a'");
}

static pawl_code fail_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                           pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EBUSY, "no events today");
}

ON_STORES(o23_an_alarm_that_could_not_be_written_is_raised_later, const char *url)
{
    static pawl_store_ops deaf;
    open_two(url);
    (void)step(t.one);
    const pawl_store_ops *ops = t.one->store->ops;
    deaf                      = *ops;
    deaf.stream_load          = fail_load;
    t.one->store->ops         = &deaf;
    t.is_away[0]              = true;
    add_row("a");
    go(t.one, PAWL_SECONDS(30));
    expect_none();
    t.one->store->ops = ops;
    (void)step(t.one); /* no try of the route: its pause is longer */
    pass(PAWL_SECONDS(1));
    (void)step(t.one);
    expect_alarm(t.one, "route", "'a'");
}

static pawl_code fail_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                            pawl_error *error)
{
    return pawl_error_set(error, t.code, "no sweeping today");
}

/* A minute, and a sweep. A handle is opened before it. */
static void sweep(pawl__service *service, bool may_sweep)
{
    static pawl_store_ops unswept;
    pass(PAWL_MINUTES(1));
    service->sweep_due = PAWL_TIME_MAX;
    (void)step(service);
    if (service->store == NULL)
        (void)step(service);
    service->sweep_due        = PAWL_TIME_MIN;
    const pawl_store_ops *ops = service->store->ops;
    unswept                   = *ops;
    unswept.sweep             = fail_sweep;
    if (!may_sweep)
        service->store->ops = &unswept;
    (void)step(service);
    if (service->store != NULL)
        service->store->ops = ops;
}

/* Soon, and not after as many failures as at first. */
/* by a call that fails */
ON_ALL_STORES(o29_the_alarm_of_sweeps_is_raised_again_through_the_next_handle, const char *url)
{
    open_two(url);
    add_row("a");
    for (int i = 0; i < 9; i++)
        sweep(t.one, false);
    expect_none();
    sweep(t.one, false);
    expect_alarm(t.one, "retention", "no sweeping today");
    size_t count = events();
    for (int i = 0; i < 9; i++)
        sweep(t.one, false);
    assert_int_equal(events(), count);
    lose(t.one);
    expect_none();
    add_row("a");
    sweep(t.one, false);
    expect_alarm(t.one, "retention", "no sweeping today");
    for (int i = 0; i < 5; i++)
        sweep(t.one, true);
    expect_none();
}

/* A sweep of which nobody knows whether it took place leaves a handle that is not used any more. */
ON_STORES(o29_a_sweep_that_loses_the_handle_opens_another, const char *url)
{
    static const struct {
        pawl_code code;
        bool      is_lost;
    } rows[] = {{PAWL_EUNKNOWN, true},     {PAWL_ELOST, true},  {PAWL_EFENCED, true},
                {PAWL_EUNREACHABLE, true}, {PAWL_EBUSY, false}, {PAWL_EDENIED, false}};
    open_two(url);
    for (size_t i = 0; i < COUNT(rows); i++) {
        t.code = rows[i].code;
        sweep(t.one, false);
        assert_int_equal(t.one->store == NULL, rows[i].is_lost);
        sweep(t.one, true);
        assert_non_null(t.one->store);
        assert_int_equal(t.one->sweep_failures, 0);
    }
}

/* ---- A lead that was lost ------------------------------------------------------------ */

/* by a call that fails */
ON_ALL_STORES(o20_the_alarm_of_a_leader_that_stood_still_stands_no_more, const char *url)
{
    open_two(url);
    t.is_away[0] = true;
    add_row("a");
    go(t.one, PAWL_SECONDS(5));
    expect_alarm(t.one, "route", "'a'");
    t.is_away[0] = false;
    pass(PAWL_SECONDS(20));
    expect_alarm(t.one, "route", "'a'"); /* nobody knows better */
    assert_int_equal(step(t.two), PAWL_OK);
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 1);
    expect_none();
    t.is_away[0] = true;
    add_row("a");
    go(t.two, PAWL_SECONDS(35));
    expect_alarm(t.two, "route", "'a'");
    (void)step(t.one); /* goes on, leads no more, and ends its own */
    expect_alarm(t.two, "route", "'a'");
    assert_int_equal(events(), 3);
    pawl__service_leave(t.two);
    t.is_away[0] = false;
    go(t.one, PAWL_MINUTES(1));
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 2);
    expect_none();
}

/* An answer that comes when the lease is over says nothing of now. */
ON_ALL_STORES(o20_a_leader_that_stood_still_in_a_call_raises_nothing, const char *url)
{
    open_two(url);
    t.stands_still = true;
    add_row("a");
    (void)step(t.one);
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 1);
    go(t.two, PAWL_SECONDS(5));
    assert_int_equal(events(), 0);
    expect_none();
}

/* ---- Several routes, long words, and often ------------------------------------------- */

ON_ALL_STORES(o23_the_alarm_names_no_route_that_is_back, const char *url)
{
    open_two(url);
    t.is_away[0] = t.is_away[1] = true;
    add_row("a");
    go(t.one, PAWL_SECONDS(5));
    expect_alarm(t.one, "route", "route 'a': nobody is there");
    add_row("b");
    go(t.one, PAWL_MINUTES(3));
    expect_alarm(t.one, "route", "route 'a': nobody is there; route 'b': nobody is there");
    assert_false(world_says(alarms().items[0].text, "more"));
    t.is_away[0] = false;
    for (int i = 0; i < 24; i++) {
        go(t.one, PAWL_SECONDS(5));
        pawl_alarm_rows rows = alarms();
        assert_true(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count == 0 || rows.count == 0 ||
                    !world_says(rows.items[0].text, "'a'"));
    }
    expect_alarm(t.one, "route", "route 'b'");
    t.is_away[1] = false;
    go(t.one, PAWL_MINUTES(1));
    expect_none();
}

ON_ALL_STORES(o23_a_long_reason_is_cut, const char *url)
{
    static char why[490];
    open_two(url);
    memset(why, 'x', sizeof why - 1);
    t.why        = why;
    t.is_away[0] = true;
    add_row("a");
    go(t.one, PAWL_SECONDS(5));
    expect_alarm(t.one, "route", "xxx...");
}

/* The event is not written again with each try of a route that the text has no room for. */
ON_ALL_STORES(o23_an_alarm_says_how_many_more_there_are, const char *url)
{
    static char why[191];
    open_two(url);
    memset(why, 'x', sizeof why - 1);
    t.why = why;
    for (int i = 0; i < 4; i++) {
        t.is_away[i] = true;
        add_row((const char *const[]){"a", "b", "c", "d"}[i]);
    }
    go(t.one, PAWL_MINUTES(3));
    expect_alarm(t.one, "route", "xxx; route 'b': xxx");
    expect_alarm(t.one, "route", "xxx; and 2 more");
    size_t count = events();
    go(t.one, PAWL_MINUTES(30));
    assert_int_equal(events(), count);
    t.is_away[3] = false;
    go(t.one, PAWL_MINUTES(11));
    expect_alarm(t.one, "route", "xxx; and 1 more");
    t.is_away[0] = false;
    for (int i = 0; i < 150; i++) {
        go(t.one, PAWL_SECONDS(5));
        pawl_alarm_rows rows = alarms();
        assert_true(rows.count == 0 || world_says(rows.items[0].text, "and 1 more") ||
                    world_says(rows.items[0].text, "xxx; route 'c': xxx"));
    }
    expect_alarm(t.one, "route", "route 'b': xxx");
    expect_alarm(t.one, "route", "xxx; route 'c': xxx");
    assert_false(world_says(alarms().items[0].text, "route 'a'"));
    assert_false(world_says(alarms().items[0].text, "more"));
    t.is_away[1] = t.is_away[2] = false;
    go(t.one, PAWL_MINUTES(1));
    expect_none();
}

/* A receiver that blocks and unblocks twice a minute for a day. Twenty at most would be one in ten minutes for these three
 * hours; the rest are those of the first minutes. */
ON_STORES(o23_a_receiver_that_comes_and_goes_writes_few_events, const char *url)
{
    open_two(url);
    for (int i = 0; i < 180; i++) {
        t.is_away[0] = true;
        add_row("a");
        go(t.one, PAWL_SECONDS(30));
        t.is_away[0] = false;
        go(t.one, PAWL_SECONDS(30));
        if (i == 0)
            assert_int_equal(events(), 2);
        expect_none(); /* an end is not put off */
    }
    size_t count = events();
    assert_true(count >= 20 && count <= 2 * (18 + 8));
    t.is_away[0] = true;
    add_row("a");
    go(t.one, PAWL_MINUTES(11));
    expect_alarm(t.one, "route", "'a'");
    t.is_away[0] = false;
    go(t.one, PAWL_MINUTES(20));
    expect_none();
    t.is_away[0] = true; /* after a while of calm at once */
    add_row("a");
    go(t.one, PAWL_SECONDS(30));
    expect_alarm(t.one, "route", "'a'");
}
