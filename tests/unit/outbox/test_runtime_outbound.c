/* test_runtime_outbound.c - outbound transports that a route names: an application's own function, and a queue of the
 * same store by way of the outbox. In which order, in how many calls, and under whose leadership rows reach them. O8
 * to O16, O19 to O21, O30.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/outbox/test_outbox_sample.h"

#include "runtime/runtime.h"
#include "support/hook.h"

RECORD(advance, (TEXT, name), (INT32, number));

static const char *plan;   /* destinations of the next messages, a letter each */
static const char *plan_g; /* the same for the flow "g", or NULL */

static pawl_code on_advance(pawl_context *ctx, flow_state *flow, const advance *message)
{
    pawl_code   code    = PAWL_OK;
    bool        is_g    = pawl_text_equal(message->name, PAWL_TEXT("g"));
    const char *letters = is_g && plan_g != NULL ? plan_g : plan;
    for (size_t i = 0; letters[i] != '\0' && code == PAWL_OK; i++) {
        char to[2] = {letters[i], '\0'};
        code       = pawl_send(ctx, to, PAWL_MESSAGE(note, .number = message->number + (int32_t)i));
    }
    return code;
}
PAWL_HANDLER(on_advance, flow_state, advance);

static const pawl_saga          flow_saga   = FLOW_SAGA(on_advance);
static const pawl_endpoint_spec source      = {.name = "source", .sagas = PAWL_SAGAS(&flow_saga)};
static const pawl_application   application = APPLICATION("sinks", &source, &notes);

/* ---- An outbound transport that writes down what it gets --------------------------------------- */

typedef struct ear {
    const char          *name;
    pawl_attempt_outcome answers[8]; /* of the first deliveries; then SUCCESS */
    pawl_text            why;
    size_t               answered;
    pawl_code            code;      /* of the next call as a whole */
    bool                 is_silent; /* which it does not explain */
    void (*before)(void);           /* in the next call, once */
} ear;

static char heard[400]; /* by all ears: "a1 a2 |" is one call of ear a */
static ear  a, b;

static pawl_code hear(pawl_transport *transport, pawl_delivery *items, size_t count,
                      pawl_arena *arena, pawl_error *error)
{
    ear *it              = transport->context;
    void (*before)(void) = it->before;
    pawl_code code       = it->code;
    it->before           = NULL;
    it->code             = PAWL_OK;
    for (size_t i = 0; i < count; i++) {
        int    number = 0;
        size_t used   = strlen(heard);
        sscanf(items[i].message.body.data, "{\"number\":%d", &number);
        snprintf(heard + used, sizeof heard - used, "%s%d ", it->name, number);
        if (it->answered < 8)
            items[i].outcome = it->answers[it->answered++];
        items[i].error =
            items[i].outcome != PAWL_ATTEMPT_SUCCESS ? it->why : (pawl_text){.data = "", .size = 0};
    }
    strcat(heard, "|");
    if (before != NULL)
        before();
    return code == PAWL_OK || it->is_silent ? code : pawl_error_set(error, code, "the ear is shut");
}

static const pawl_transport_ops plain   = PAWL_OUTBOUND(hear);
static const pawl_transport_ops ordered = {
    .ops_size = sizeof(pawl_transport_ops), .deliver = hear, .promises = PAWL_TRANSPORT_PREFIX};

static const pawl_route routes[] = {{.name = "a", .outbound = &plain, .context = &a},
                                    {.name = "b", .outbound = &plain, .context = &b},
                                    {.name = "o", .outbound = &ordered, .context = &a},
                                    {.name = "q", .queue = "notes", .is_outbox = true},
                                    {.name = NULL}};

static world *open_world(const char *url, pawl_endpoint_options options)
{
    heard[0]       = '\0';
    a              = (ear){.name = "a", .why = PAWL_TEXT("the test says no")};
    b              = (ear){.name = "b", .why = PAWL_TEXT("the test says no")};
    plan           = "";
    plan_g         = NULL;
    options.routes = routes;
    world_forget(&seen);
    return world_begin(url, &application, "source", &options);
}

static void advance_flow(world *it, const char *name, int32_t number, const char *to)
{
    plan = to;
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = pawl_text_of(name), .number = number));
    world_drain(it);
}

static void assert_heard(const char *expected)
{
    assert_string_equal(heard, expected);
    heard[0] = '\0';
}

static void assert_counts(world *it, size_t pending, size_t held, size_t dispatched, size_t dead)
{
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, pending);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_BLOCKED).count, held);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DISPATCHED).count, dispatched);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DEAD).count, dead);
}

/* ---- Order ---------------------------------------------------------------------- */

ON_ALL_STORES(o14_a_row_waits_for_the_one_before_at_another_outbound_transport, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    advance_flow(it, "f", 1, "abab");
    assert_heard("a1 |b2 |a3 |b4 |");
    /* The first fails: the others, for another outbound transport, are held. */
    a = (ear){.name = "a", .why = a.why, .answers = {PAWL_ATTEMPT_TRANSIENT}};
    advance_flow(it, "f", 5, "abb");
    assert_heard("a5 |");
    assert_counts(it, 1, 2, 4, 0);
    /* Other sources go on, to both. */
    advance_flow(it, "g", 20, "ba");
    assert_heard("b20 |a21 |");
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a5 |b6 |b7 |");
    assert_counts(it, 0, 0, 9, 0);
}

ON_ALL_STORES(o8_an_outbound_transport_without_a_promise_has_one_row_of_a_source, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    plan      = "aa";
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = PAWL_TEXT("f"), .number = 1));
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = PAWL_TEXT("g"), .number = 11));
    world_drain(it);
    assert_heard("a1 a11 |a2 a12 |");
    advance_flow(it, "f", 3, "ooo");
    assert_heard("a3 a4 a5 |");
    /* Rows handed over behind a failed row are held with it, and not counted. */
    a = (ear){
        .name = "a", .why = a.why, .answers = {0, PAWL_ATTEMPT_TRANSIENT, PAWL_ATTEMPT_TRANSIENT}};
    advance_flow(it, "f", 6, "ooo");
    assert_heard("a6 a7 a8 |");
    assert_counts(it, 1, 1, 8, 0);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_BLOCKED).items[0].attempts, 0);
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a7 |a8 |");
    assert_counts(it, 0, 0, 10, 0);
}

ON_ALL_STORES(few_rows_are_no_pass, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){.outbox_batch = 8});
    for (char name[] = "g"; name[0] < 'p'; name[0]++)
        world_post(it, NULL, PAWL_MESSAGE(advance, .name = pawl_text_of(name)));
    plan_g = "aa", plan = "a";
    world_drain(it);
    assert_heard("a0 a0 a0 a0 a0 a0 a0 |a1 a0 a0 |");
}

ON_ALL_STORES(o14_a_rejected_row_holds_nothing_back, const char *url)
{
    world *it    = open_world(url, (pawl_endpoint_options){0});
    a.answers[0] = PAWL_ATTEMPT_REJECTED;
    advance_flow(it, "f", 1, "aba");
    assert_heard("a1 |b2 |a3 |");
    assert_counts(it, 0, 0, 2, 1);
}

/* ---- Outcomes ----------------------------------------------------------------------- */

static pawl_attempt_row only_attempt(world *it, pawl_outbox_state state)
{
    pawl_attempt_rows attempts = world_attempts(it, world_outbox_row(it, state).id);
    assert_int_equal(attempts.count, 1);
    return attempts.items[0];
}

ON_ALL_STORES(o13_what_nobody_can_read_is_dead_at_once, const char *url)
{
    world *it    = open_world(url, (pawl_endpoint_options){0});
    a.answers[0] = PAWL_ATTEMPT_POISON;
    a.why        = PAWL_TEXT("no type note here");
    advance_flow(it, "f", 1, "a");
    world_go_machine(it, PAWL_HOURS(1));
    assert_heard("a1 |");
    pawl_attempt_row attempt = only_attempt(it, PAWL_OUTBOX_DEAD);
    assert_int_equal(attempt.outcome, PAWL_ATTEMPT_POISON);
    assert_string_equal(attempt.error.data, "no type note here");
}

/* An outbound transport's text goes to the store only in a form that the store takes. */
ON_ALL_STORES(an_outbound_transport_may_say_anything, const char *url)
{
    static char long_text[2000];
    world      *it = open_world(url, (pawl_endpoint_options){0});
    memset(long_text, 'x', sizeof long_text - 1);
    memcpy(long_text + PAWL_ERROR_TEXT_SIZE_MAX - 1, "\xC3\xA4", 2); /* cut in the middle */
    a.answers[0] = PAWL_ATTEMPT_REJECTED;
    a.why        = pawl_text_of(long_text);
    advance_flow(it, "f", 1, "a");
    assert_int_equal(only_attempt(it, PAWL_OUTBOX_DEAD).error.size, PAWL_ERROR_TEXT_SIZE_MAX - 1);
    a.answers[1] = (pawl_attempt_outcome)77;
    advance_flow(it, "g", 2, "a");
    pawl_attempt_row attempt = only_attempt(it, PAWL_OUTBOX_PENDING);
    assert_int_equal(attempt.outcome, PAWL_ATTEMPT_TRANSIENT);
    assert_true(world_says(attempt.error, "77"));
}

/* The rest of a text that has a bad byte is what helps; and no text says that there is
 * none. */
/* The text is made before it is stored; two stores for it are cheap here. */
ON_STORE(an_operator_reads_what_an_outbound_transport_says, const char *url, "memory")
{
    const pawl_text said[] = {
        PAWL_TEXT("busy\xff until\0noon"), {.size = 0}, {.size = 20}, {.size = 2000}};
    for (size_t i = 0; i < COUNT(said); i++) {
        world *it    = open_world(url, (pawl_endpoint_options){0});
        a.answers[0] = PAWL_ATTEMPT_REJECTED;
        a.why        = said[i];
        advance_flow(it, "f", 1, "a");
        assert_string_equal(only_attempt(it, PAWL_OUTBOX_DEAD).error.data,
                            i == 0 ? "busy? until?noon"
                                   : "the outbound transport does not say why");
        world_close(it);
    }
}

/* The text of the code alone may be about a store. */
ON_STORE(a_call_that_fails_without_a_word_is_named, const char *url, "memory")
{
    world *it   = open_world(url, (pawl_endpoint_options){0});
    a.code      = PAWL_EPERSIST;
    a.is_silent = true;
    advance_flow(it, "f", 1, "a");
    assert_string_equal(only_attempt(it, PAWL_OUTBOX_PENDING).error.data,
                        "the outbound transport does not say why (EPERSIST)");
}

ON_ALL_STORES(a_call_that_fails_is_transient_for_all, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    a.code    = PAWL_EBUSY;
    plan      = "a";
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = PAWL_TEXT("f"), .number = 1));
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = PAWL_TEXT("g"), .number = 2));
    world_drain(it);
    pawl_outbox_rows rows = world_outbox(it, PAWL_OUTBOX_PENDING);
    assert_int_equal(rows.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(world_says(world_attempts(it, rows.items[i].id).items[0].error, "ear is shut"));
}

/* ---- Into a queue of this store -------------------------------------------------------- */

ON_ALL_STORES(o9_a_queue_here_gets_it_with_the_settling, const char *url)
{
    world *it       = open_world(url, (pawl_endpoint_options){0});
    world *receiver = world_begin(url, &application, "notes", NULL);
    advance_flow(it, "f", 1, "qqaq");
    LOG_AFTER(world_drain(receiver), seen, "note1 note2 note4 ");
    assert_heard("a3 |");
    assert_counts(it, 0, 0, 4, 0);
    pawl_outbox_rows rows = world_outbox(it, PAWL_OUTBOX_DISPATCHED);
    assert_int_equal(world_attempts(it, rows.items[0].id).items[0].outcome, PAWL_ATTEMPT_SUCCESS);
}

static int       commits_left;
static pawl_code commit_code;

static pawl_code lose_commit(hook_point point, void *context)
{
    return point == HOOK_BEFORE_COMMIT && commits_left-- == 0 ? commit_code : PAWL_OK;
}

/* The settling is lost: so is the message in the queue. Never one without the other. */
ON_ALL_STORES(o16_settled_and_queued_are_one, const char *url)
{
    pawl_step  step  = PAWL_STEP_INIT;
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = open_world(hook_url(url), (pawl_endpoint_options){0});
    plan             = "qq";
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = PAWL_TEXT("f"), .number = 1));
    commits_left = 2; /* the message's and the take-over's are good */
    commit_code  = PAWL_ELOST;
    hook_set(lose_commit, NULL);
    assert_int_equal(pawl_endpoint_step(it->endpoint, &step, &error), PAWL_ELOST);
    assert_true(strstr(error.text, "outbox of source: ") != NULL);
    hook_set(NULL, NULL);
    assert_counts(it, 2, 0, 0, 0);
    assert_int_equal(world_queue(it, "notes").count, 0);
    world_drain(it);
    assert_counts(it, 0, 0, 2, 0);
    assert_int_equal(world_queue(it, "notes").count, 2);
}

ON_ALL_STORES(o30_failures_have_a_name_and_interruptions_none, const char *url)
{
    pawl_step step = PAWL_STEP_INIT;
    world    *it   = open_world(hook_url(url), (pawl_endpoint_options){0});
    plan           = "a";
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = PAWL_TEXT("f"), .number = 1));
    commits_left = 1; /* the take-over */
    commit_code  = PAWL_EINTERRUPTED;
    hook_set(lose_commit, NULL);
    must_fail(pawl_endpoint_step(it->endpoint, &step, world_error()), PAWL_EINTERRUPTED,
              "the test says EINTERRUPTED");
    commits_left = 0;
    commit_code  = PAWL_EBUSY;
    must_fail(pawl_endpoint_step(it->endpoint, &step, world_error()), PAWL_EBUSY,
              "outbox of source: the test says EBUSY");
    hook_set(NULL, NULL);
    assert_heard("");
    world_drain(it);
    assert_heard("a1 |");
}

/* ---- Who leads --------------------------------------------------------------------------- */

static world *second;

static void lose_lease(void)
{
    world_go_machine(second, PAWL_SECONDS(14));
}

static world *open_second(const world *first, const char *url)
{
    pawl_endpoint_options options = {.routes = routes};
    world                *it      = world_begin(url, &application, "source", &options);
    pawl_endpoint_destroy(it->endpoint);
    pawl_clock_destroy(it->machine);
    it->machine         = first->machine; /* one clock for both */
    it->options.machine = first->machine;
    must(pawl_endpoint_create(&application, "source", &it->options, &it->endpoint, world_error()));
    second = it;
    return it;
}

static void close_second(world *it)
{
    it->machine = NULL;
    world_close(it);
}

/* The first runner stands still in its outbound transport; the second takes over and delivers all. The deliveries
 * of the first then count for nothing, and it sends nothing more. */
ON_ALL_STORES(o20_a_runner_that_stood_still_settles_nothing, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    world_drain(it); /* the first runner leads */
    world *other = open_second(it, url);
    a            = (ear){
                   .name = "a", .why = a.why, .answers = {PAWL_ATTEMPT_TRANSIENT, 0}, .before = lose_lease};
    advance_flow(it, "f", 1, "aab");
    /* First one call of the first, in it the rounds of the second; then silence. */
    assert_heard("a1 |a1 |a2 |b3 |");
    assert_counts(it, 0, 0, 3, 0);
    pawl_outbox_rows rows = world_outbox(it, PAWL_OUTBOX_DISPATCHED);
    for (size_t i = 0; i < rows.count; i++)
        assert_int_equal(world_attempts(it, rows.items[i].id).count, 1);
    close_second(other);
}

/* In one pass rows go to two outbound transports, and the lease ends in the call of the first. */
ON_ALL_STORES(o20_a_runner_that_stood_still_sends_nothing_more, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    world_drain(it);
    world *other = open_second(it, url);
    a.before     = lose_lease;
    plan         = "a";
    plan_g       = "b";
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = PAWL_TEXT("f"), .number = 1));
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = PAWL_TEXT("g"), .number = 2));
    world_drain(it);
    assert_heard("a1 |a1 |b2 |");
    assert_counts(it, 0, 0, 2, 0);
    close_second(other);
}

/* Nobody else was there: what came of a call that took too long is recorded. */
static pawl_clock *slow_clock;

static void take_long(void)
{
    pawl_clock_set(slow_clock, pawl_clock_now(slow_clock) + PAWL_SECONDS(40));
}

ON_ALL_STORES(o10_a_slow_outbound_transport_has_its_outcome_recorded, const char *url)
{
    world *it    = open_world(url, (pawl_endpoint_options){0});
    slow_clock   = it->machine;
    a.before     = take_long;
    a.answers[0] = PAWL_ATTEMPT_TRANSIENT;
    advance_flow(it, "f", 1, "ab");
    assert_heard("a1 |");
    assert_counts(it, 1, 1, 0, 0);
    assert_int_equal(only_attempt(it, PAWL_OUTBOX_PENDING).outcome, PAWL_ATTEMPT_TRANSIENT);
    a.before = take_long;
    world_go_machine(it, PAWL_MINUTES(1));
    world_drain(it);
    assert_heard("a1 |b2 |");
    assert_counts(it, 0, 0, 2, 0);
}

/* The commit itself is refused when somebody led in between, however late it comes. */
static pawl_code take_over_before_commit(hook_point point, void *context)
{
    if (point == HOOK_BEFORE_COMMIT && commits_left-- == 0) {
        hook_set(NULL, NULL);
        lose_lease();
    }
    return PAWL_OK;
}

ON_ALL_STORES(o20_a_late_commit_of_an_old_leader_is_refused, const char *url)
{
    world *it = open_world(hook_url(url), (pawl_endpoint_options){0});
    world_drain(it);
    world *other = open_second(it, url);
    a            = (ear){.name = "a", .why = a.why, .answers = {PAWL_ATTEMPT_TRANSIENT}};
    commits_left = 2; /* the message is sent and handled, then settled */
    hook_set(take_over_before_commit, NULL);
    advance_flow(it, "f", 1, "ab");
    assert_heard("a1 |a1 |b2 |");
    assert_counts(it, 0, 0, 2, 0);
    assert_int_equal(world_attempts(it, world_outbox(it, PAWL_OUTBOX_DISPATCHED).items[0].id).count,
                     1);
    close_second(other);
}

/* Rows 2 and 3 are held behind 1; 4 came when nobody met it. In the claim of the new
 * leader 1 and 4 stand side by side, and what is held belongs between them. */
ON_ALL_STORES(o14_what_is_held_goes_before_what_came_later, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    world_drain(it);
    world *other = open_second(it, url);
    a.answers[0] = PAWL_ATTEMPT_TRANSIENT;
    advance_flow(it, "f", 1, "aaa");
    assert_heard("a1 |");
    assert_counts(it, 1, 2, 0, 0);
    advance_flow(other, "f", 4, "a"); /* the other runner does not lead */
    assert_counts(it, 2, 2, 0, 0);
    pawl_endpoint_destroy(it->endpoint);
    it->endpoint = NULL;
    world_go_machine(other, PAWL_MINUTES(1));
    assert_heard("a1 |a2 |a3 |a4 |");
    assert_counts(it, 0, 0, 4, 0);
    close_second(other);
}

/* A late success of the old leader is refused: it would leave the new leader waiting for a row that
 * is gone. */
ON_ALL_STORES(o20_a_late_success_of_an_old_leader_is_refused, const char *url)
{
    world *it = open_world(hook_url(url), (pawl_endpoint_options){0});
    world_drain(it);
    world *other = open_second(it, url);
    a            = (ear){.name = "a", .why = a.why, .answers = {0, PAWL_ATTEMPT_TRANSIENT}};
    commits_left = 2;
    hook_set(take_over_before_commit, NULL);
    advance_flow(it, "f", 1, "ab");
    assert_heard("a1 |a1 |");
    assert_counts(it, 1, 1, 0, 0);
    for (int i = 0; i < 10; i++)
        world_go_machine(other, PAWL_SECONDS(5));
    assert_heard("a1 |b2 |");
    assert_counts(it, 0, 0, 2, 0);
    close_second(other);
}

ON_ALL_STORES(o21_an_empty_outbox_is_looked_at_after_its_idle_time, const char *url)
{
    pawl__service *service = NULL;
    pawl_step      step    = PAWL_STEP_INIT;
    world         *it = open_world(url, (pawl_endpoint_options){.outbox_idle = PAWL_SECONDS(2)});
    must(pawl__service_create(it->endpoint, NULL, &service, world_error()));
    must(pawl__service_step(service, &step, world_error()));
    assert_int_equal(pawl__service_due(service), WORLD_START + PAWL_SECONDS(2));
    pawl__service_destroy(service);
}

/* ---- Enabled again ------------------------------------------------------------------------- */

static void enable(world *it, int64_t id)
{
    pawl_time now = pawl_clock_now(it->machine);
    MUST_COMMIT(it->store, outbox_reset, now, .id = id, .action = PAWL_OUTBOX_RETRY, .at = now);
}

ON_ALL_STORES(o19_an_enabled_row_has_all_its_attempts, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){.outbox_attempts = 2});
    a         = (ear){.name    = "a",
                      .why     = a.why,
                      .answers = {PAWL_ATTEMPT_REJECTED, PAWL_ATTEMPT_TRANSIENT, PAWL_ATTEMPT_TRANSIENT}};
    advance_flow(it, "f", 1, "ab");
    assert_heard("a1 |b2 |");
    enable(it, world_outbox(it, PAWL_OUTBOX_DEAD).items[0].id);
    world_go_machine(it, PAWL_SECONDS(1));
    assert_heard("a1 |");
    assert_counts(it, 1, 0, 1, 0);
    /* An enabled row goes out of order: rows that the source sends meanwhile do not wait for it. */
    advance_flow(it, "f", 3, "b");
    assert_heard("b3 |");
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a1 |");
    assert_counts(it, 0, 0, 2, 1);
    pawl_attempt_rows attempts = world_attempts(it, world_outbox(it, PAWL_OUTBOX_DEAD).items[0].id);
    assert_int_equal(attempts.count, 4); /* rejected, enabled, transient, poison */
    assert_int_equal(attempts.items[1].outcome, PAWL_ATTEMPT_RETRIED);
    assert_int_equal(attempts.items[3].outcome, PAWL_ATTEMPT_POISON);
}
