/* test_runtime_outlived.c - a handler that runs longer than the store keeps its claim: the run
 * counts as a failed attempt, the batch's other messages are handled, and it ends as a dead letter.
 *
 * Time is the endpoint's machine clock, which the handlers move. "fault:" loses the commit behind a slow handler, as a
 * server does that ends the session of a transaction that rests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/gate.h"
#include "support/hook.h"

#include <unistd.h>

#define NUMBERS 8

RECORD(task, (INT32, number), (INT32, bucket));
PAWL_RECORD(job, A_NUMBER);
RECORD(book, (INT32, number), (INT32, rings));
PAWL_RECORD(item, A_NUMBER);

static struct {
    world   it;
    int64_t slow[NUMBERS]; /* how long the handler of that number takes */
    int     runs[NUMBERS];
    bool    loses[NUMBERS]; /* the next commit behind it */
    bool    is_refusing;    /* the server is read-only and refuses that commit */
    bool    sleeps;         /* the handlers take their time, too */
    int     failures;       /* of runs, from now on */
    bool    rearms;         /* the next run has its timeout set anew meanwhile */
    int     waits;          /* commits behind a run that wait in vain until the deadline */
    /* Two processes: one of them runs, and behind a slow handler's time the other one makes some steps. */
    pawl_endpoint *two[2];
    int            running;
} t;

static void lose_next_commit(void)
{
    static fault_plan lost;
    lost = (fault_plan){.kind = FAULT_BEFORE,
                        .op   = fault_op_commit,
                        .n    = 1,
                        .code = t.is_refusing ? PAWL_EUNREACHABLE : PAWL_ELOST};
    fault_plan_set(&lost);
}

/* As another message of the saga would. */
static void set_anew(void)
{
    const pawl_timeout_row *row = &world_timeouts(&t.it).items[0];
    t.rearms                    = false;
    MUST_COMMIT(t.it.store, timeout_set, pawl_clock_now(t.it.machine), .id = row->id,
                .saga_id = row->saga_id, .saga_type = row->saga_type, .name = row->name,
                .destination = row->destination, .due = row->due);
}

#define STEPS_OF_ANOTHER \
    200 /* more than it takes to forget a long step, if steps that wait counted */

/* A step may lose the queue: its answer is not asked for. */
static void let_another_go_on(void)
{
    pawl_step step = PAWL_STEP_INIT;
    t.running      = 1 - t.running;
    for (int i = 0; i < STEPS_OF_ANOTHER; i++) {
        pawl_clock_set(t.it.machine, pawl_clock_now(t.it.machine) + PAWL_MILLISECONDS(200));
        (void)pawl_endpoint_step(t.two[t.running], &step, NULL);
    }
    t.running = 1 - t.running;
}

static pawl_code run_slowly(int number)
{
    t.runs[number]++;
    pawl_clock_set(t.it.machine, pawl_clock_now(t.it.machine) + t.slow[number]);
    if (t.rearms)
        set_anew();
    if (t.two[0] != NULL)
        let_another_go_on();
    if (t.sleeps)
        (void)usleep((useconds_t)t.slow[number]);
    if (t.failures > 0) {
        t.failures--;
        return PAWL_RETRY;
    }
    if (t.loses[number])
        lose_next_commit();
    return PAWL_OK;
}

static pawl_code on_task(pawl_context *ctx, const task *message)
{
    return run_slowly(message->number);
}
PAWL_MESSAGE_HANDLER(on_task, task);

/* Begins the saga, whose timeout is as slow as the number says. */
static pawl_code on_job(pawl_context *ctx, book *state, const job *message)
{
    state->number = message->number;
    return pawl_timeout(ctx, "bell", PAWL_MINUTES(1));
}
PAWL_HANDLER(on_job, book, job);

static pawl_code on_bell(pawl_context *ctx, book *state)
{
    state->rings++;
    return run_slowly(state->number);
}
PAWL_TIMEOUT_HANDLER(on_bell, book);

static pawl_code on_items(pawl_context *ctx, const item *messages, size_t count)
{
    return run_slowly(messages[0].number);
}
PAWL_BATCH_HANDLER(on_items, item);

static const pawl_saga books = SAGA_OF(
    "Book", book, "number", {.handle = PAWL_HANDLE(on_job), .key = "number", .starts = true},
    {.handle = PAWL_HANDLE(on_bell), .timeout = "bell"});
static const pawl_aggregator items = {
    .name = "Items", .handle = PAWL_HANDLE(on_items), .size = 2, .max = 2};
static const pawl_application application = ONE_ENDPOINT(
    "outlived", .name = "works", .sagas = PAWL_SAGAS(&books),
    .aggregators = PAWL_AGGREGATORS(&items), .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_task)}));

static void end(void *context)
{
    fault_plan_set(NULL);
    hook_set(NULL, NULL);
    world_close(&t.it);
}

static void begin(const char *url, const pawl_endpoint_options *options)
{
    memset(&t, 0, sizeof t);
    fault_plan_set(NULL);
    gate_listen();
    fault_bind("outlived", url);
    world_open(&t.it, "fault:outlived", &application, NULL, options);
    test_later(end, &t);
}

static void post(int number)
{
    world_post(&t.it, test_text("t-%d", number), PAWL_MESSAGE(task, .number = number));
}

static bool is_handled(int number)
{
    return world_is_marked(&t.it, test_text("t-%d", number));
}

/* Steps until nothing is due, over the losses; how many there were. */
static int drain(void)
{
    pawl_error error  = PAWL_ERROR_INIT;
    pawl_step  step   = PAWL_STEP_INIT;
    int        losses = 0;
    for (int i = 0; i < 200 && !step.is_idle; i++) {
        pawl_code code = pawl_endpoint_step(t.it.endpoint, &step, &error);
        if (code == PAWL_ELOST)
            losses++;
        else
            world_ok(code, &error);
        step.is_idle = step.is_idle && code == PAWL_OK;
    }
    assert_true(step.is_idle);
    return losses;
}

static int go(int64_t duration)
{
    pawl_clock_set(t.it.business, pawl_clock_now(t.it.business) + duration);
    return drain();
}

/* An operator sends the letter again, and this time nothing is lost. */
static void retry_letter(const char *id)
{
    memset(t.loses, 0, sizeof t.loses);
    must(pawl_store_dead_retry(t.it.store, PAWL_TEXT("works"), pawl_text_of(id), PAWL_TEXT("me"),
                               PAWL_TEXT(""), world_now(&t.it), world_error()));
}

/* ---- What follows -------------------------------------------------------------------- */

/* Two slow ones in batches of five; the others of a batch are not counted, and run again once for each loss at most. */
ON_ALL_STORES(a_run_that_outlives_its_session_counts_as_an_attempt, const char *url)
{
    begin(url, &(pawl_endpoint_options){.delayed_retries = 2, .retry_delay = PAWL_SECONDS(10)});
    t.slow[2]  = PAWL_SECONDS(65);
    t.loses[2] = true;
    for (int i = 1; i <= 5; i++)
        post(i);
    assert_int_equal(drain(), 1);
    assert_int_equal(t.runs[2], 1); /* the second claim did not run it */
    for (int i = 1; i <= 5; i++)
        assert_in_range(t.runs[i], 1, 2);
    pawl_queue_row left = world_queue_row(&t.it, "works");
    assert_true(world_says(left.message.id, "t-2"));
    assert_int_equal(left.attempts, 1);
    assert_true(world_says(left.history, "handler on_task ran for 65.0 s"));
    assert_true(world_says(left.history, "claim did not last"));
    assert_true(world_says(left.history, "ELOST"));
    assert_int_equal(gate_said("claim did not last so long: "), 2); /* and the retry */
    assert_int_equal(gate_said("counts as a failed attempt"), 1);
    for (int i = 1; i <= 5; i++)
        assert_int_equal(is_handled(i), i != 2);

    post(6); /* beside its second and its third attempt */
    assert_int_equal(go(PAWL_SECONDS(12)), 1);
    assert_int_equal(world_queue(&t.it, "works").items[0].attempts, 2);
    assert_int_equal(world_dead(&t.it).count, 0);
    assert_int_equal(go(PAWL_SECONDS(25)), 1);
    assert_int_equal(world_queue(&t.it, "works").count, 0);
    assert_int_equal(t.runs[2], 3);
    pawl_dead_rows dead = world_dead(&t.it);
    assert_int_equal(dead.count, 1);
    assert_true(world_says(dead.items[0].error, "ran for 65.0 s"));

    retry_letter("t-2");
    assert_int_equal(drain(), 0);
    assert_int_equal(t.runs[2], 4);
    assert_true(world_is_marked(&t.it, "t-2"));
}

/* The commit that counts the attempt is lost, too. */
ON_ALL_STORES(the_attempt_counts_although_its_own_commit_is_lost, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_step  step  = PAWL_STEP_INIT;
    begin(url, NULL);
    t.slow[2]  = PAWL_SECONDS(65);
    t.loses[2] = true;
    post(2);
    post(3);
    assert_int_equal(pawl_endpoint_step(t.it.endpoint, &step, &error), PAWL_ELOST);
    lose_next_commit();
    assert_int_equal(drain(), 1);
    assert_int_equal(t.runs[2], 1);
    assert_int_equal(world_queue(&t.it, "works").count, 1);
    assert_int_equal(world_queue(&t.it, "works").items[0].attempts, 1);
}

/* A connection that is lost behind quick handlers says nothing of them. */
ON_STORES(a_loss_behind_quick_handlers_counts_nothing, const char *url)
{
    begin(url, NULL);
    t.slow[1]  = PAWL_MILLISECONDS(999);
    t.loses[1] = true;
    post(1);
    post(2);
    pawl_error error = PAWL_ERROR_INIT;
    pawl_step  step  = PAWL_STEP_INIT;
    assert_int_equal(pawl_endpoint_step(t.it.endpoint, &step, &error), PAWL_ELOST);
    t.loses[1] = false;
    assert_int_equal(drain(), 0);
    assert_int_equal(t.runs[1], 2);
    assert_int_equal(world_queue(&t.it, "works").count, 0);
    assert_int_equal(gate_said("counts as a failed attempt"), 0);
}

/* A server that became read-only, or cannot be reached, behind a slow handler says nothing of its claim. */
ON_STORES(a_server_that_refuses_the_commit_counts_nothing, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_step  step  = PAWL_STEP_INIT;
    begin(url, NULL);
    t.slow[1]     = PAWL_SECONDS(65);
    t.loses[1]    = true;
    t.is_refusing = true;
    post(1);
    assert_int_equal(pawl_endpoint_step(t.it.endpoint, &step, &error), PAWL_EUNREACHABLE);
    t.loses[1] = false;
    assert_int_equal(drain(), 0);
    assert_int_equal(t.runs[1], 2);
    assert_true(is_handled(1));
    assert_int_equal(gate_said("claim did not last so long: "), 0);
}

/* A handler that takes longer than it may, and whose session goes on, is handled. */
ON_STORES(the_limit_alone_fails_nothing, const char *url)
{
    begin(url, &(pawl_endpoint_options){.handler_time_max = PAWL_MILLISECONDS(200),
                                        .delayed_retries  = -1});
    t.slow[1] = PAWL_MILLISECONDS(300);
    post(1);
    assert_int_equal(drain(), 0);
    assert_int_equal(world_queue(&t.it, "works").count, 0);
    t.slow[2]  = PAWL_MILLISECONDS(300);
    t.loses[2] = true;
    post(2);
    assert_int_equal(drain(), 1);
    assert_int_equal(t.runs[2], 1);
    assert_true(world_says(world_dead(&t.it).items[0].error, "handler-time-max is 0.2 s"));
    assert_true(world_says(world_dead(&t.it).items[0].history, "ETIMEOUT"));
    retry_letter("t-2"); /* with no attempts, as when it was lost */
    assert_int_equal(drain(), 0);
    assert_int_equal(t.runs[2], 2);
    assert_int_equal(world_dead(&t.it).count, 0);
}

/* Others took the claim while the handler ran for 20 s, as if its worker were dead. */
static void lose_claim(const char *url, int64_t lease, int32_t attempts)
{
    static const fault_plan steal = {.kind = FAULT_STEAL, .op = fault_op_timeout_claim, .n = 1};
    begin(url, &(pawl_endpoint_options){.timeout_lease = lease});
    t.slow[1] = PAWL_SECONDS(20);
    world_post(&t.it, "j-1", PAWL_MESSAGE(job, .number = 1));
    world_post(&t.it, "j-2", PAWL_MESSAGE(job, .number = 2));
    assert_int_equal(drain(), 0);
    fault_plan_set(&steal);
    assert_int_equal(go(PAWL_MINUTES(1)), 0);
    assert_true(fault_was_reached());
    assert_int_equal(gate_said("endpoint works: 2 claims were gone at their commit"), 1);
    assert_int_equal(t.runs[1], attempts > 0 ? 1 : 2);
    assert_int_equal(t.runs[2], 2);
    assert_int_equal(world_timeouts(&t.it).count, attempts);
    if (attempts > 0)
        assert_int_equal(world_timeouts(&t.it).items[0].attempts, attempts);
    assert_int_equal(go(PAWL_MINUTES(1)), 0);
    assert_int_equal(t.runs[1], 2);
    assert_int_equal(world_timeouts(&t.it).count, 0);
}

ON_STORES(a_claim_that_is_gone_counts_as_an_attempt, const char *url)
{
    lose_claim(url, PAWL_SECONDS(30), 1);
}

/* A timeout may run again and again behind conflicts. */
ON_STORES(a_claim_that_lasts_much_longer_than_its_handler_counts_none, const char *url)
{
    lose_claim(url, PAWL_MINUTES(5), 0);
}

/* Without a handler that was slow; those that are sent have none. */
ON_STORES(e13_lost_leases_of_a_batch_are_logged_once, const char *url)
{
    static const fault_plan steal = {.kind = FAULT_STEAL, .op = fault_op_timeout_claim, .n = 2};
    begin(url, NULL);
    for (unsigned char i = 1; i <= 2; i++)
        MUST_COMMIT(t.it.store, timeout_set, pawl_clock_now(t.it.machine), .id = {{{i}}},
                    .name = PAWL_TEXT("remind"), .destination = PAWL_TEXT("vans"),
                    .due = world_now(&t.it));
    fault_plan_set(&steal); /* the first claim is of the endpoint's own */
    assert_int_equal(drain(), 0);
    assert_true(fault_was_reached());
    assert_int_equal(gate_said("endpoint works: 2 claims were gone at their commit"), 1);
    assert_int_equal(gate_said("of type remind: "), 1);
    assert_int_equal(go(PAWL_MINUTES(1)), 0);
    assert_int_equal(world_queue(&t.it, "vans").count, 2);
    assert_int_equal(gate_said("gone at their commit"), 1);
}

/* A row is handed out once more behind its settling: row locks that are gone are nothing to tell. */
ON_ALL_STORES(a_lost_row_lock_is_not_logged, const char *url)
{
    static const fault_plan again = {.kind = FAULT_AGAIN, .op = fault_op_queue_claim, .n = 1};
    begin(url, NULL);
    fault_plan_set(&again);
    post(1);
    assert_int_equal(drain(), 0);
    assert_int_equal(t.runs[1], 1);
    assert_true(fault_was_reached());
    bool has_row_locks = (pawl_store_promises(t.it.store) & PAWL_STORE_ROW_LOCKS) != 0;
    assert_int_equal(gate_said("endpoint works: 1 claims were gone at their commit"),
                     has_row_locks ? 0 : 1);
}

static pawl_code wait_in_vain(hook_point point, void *context)
{
    return point == HOOK_BEFORE_COMMIT && t.runs[1] > 0 && t.waits-- > 0 ? PAWL_ETIMEOUT : PAWL_OK;
}

/* Its commit waited until the deadline, with others and alone. */
static void wait_twice(const char *url, const fault_plan *plan)
{
    begin(hook_url(url), NULL);
    hook_set(wait_in_vain, NULL);
    world_post(&t.it, "j-1", PAWL_MESSAGE(job, .number = 1));
    assert_int_equal(drain(), 0);
    t.waits = 2;
    fault_plan_set(plan);
    assert_int_equal(go(PAWL_MINUTES(1)), 0);
    assert_int_equal(t.runs[1], 2);
    assert_int_equal(world_timeouts(&t.it).count, 1);
    assert_int_equal(world_timeouts(&t.it).items[0].attempts, 1);
    assert_int_equal(gate_said("counts as a failed attempt"), plan != NULL);
    assert_int_equal(go(PAWL_MINUTES(1)), 0);
    assert_int_equal(t.runs[1], 3);
    assert_int_equal(world_timeouts(&t.it).count, 0);
}

/* Others took the claim meanwhile. */
ON_STORES(a_failure_whose_claim_is_gone_counts_as_an_attempt, const char *url)
{
    static const fault_plan steal = {.kind = FAULT_STEAL, .op = fault_op_timeout_claim, .n = 1};
    wait_twice(url, &steal);
}

ON_STORES(a_failure_with_its_claim_is_counted_once, const char *url)
{
    wait_twice(url, NULL);
}

/* Its handler had another timeout in hand, under the same id. */
ON_STORES(a_timeout_that_was_set_anew_counts_no_attempt, const char *url)
{
    begin(url, &(pawl_endpoint_options){.delayed_retries = PAWL_NONE});
    t.slow[1] = PAWL_SECONDS(20);
    world_post(&t.it, "j-1", PAWL_MESSAGE(job, .number = 1));
    assert_int_equal(drain(), 0);
    t.rearms = true;
    assert_int_equal(go(PAWL_MINUTES(1)), 0);
    assert_int_equal(t.runs[1], 2);
    assert_int_equal(world_timeouts(&t.it).count, 0);
    assert_int_equal(world_dead(&t.it).count, 0);
}

/* Two processes of an ordered endpoint, and a handler that takes so long; until both messages are handled. */
static void play_ordered(const char *url, int64_t time)
{
    pawl_step step = PAWL_STEP_INIT;
    begin(url, &(pawl_endpoint_options){.delayed_retries = PAWL_NONE,
                                        .batch_messages  = 1,
                                        .ordered         = "property:bucket"});
    pawl_endpoint_options options = t.it.options;
    t.two[0]                      = t.it.endpoint;
    must(pawl_endpoint_create(&application, NULL, &options, &t.two[1], world_error()));
    t.slow[1] = time;
    post(1);
    post(2); /* nobody has it in hand, and it waits */
    for (int i = 0; i < 20 && !is_handled(2); i++) {
        for (int k = 0; k < 10; k++)
            (void)pawl_endpoint_step(t.two[t.running], &step, NULL);
        t.running = 1 - t.running;
    }
    assert_true(is_handled(1) && is_handled(2));
    pawl_endpoint_destroy(t.two[1]);
}

/* The lease of an ordered queue lasts for a minute at first. Each process loses the queue once while its handler runs,
 * learns how long that takes, and none counts it: the third run has the time that it needs. */
/* one process works a file */
ON_STORE(two_processes_of_an_ordered_queue_learn_how_long_a_handler_takes, const char *url,
         "memory")
{
    play_ordered(url, PAWL_SECONDS(100));
    assert_int_equal(t.runs[1], 3);
    assert_int_equal(world_dead(&t.it).count, 0);
}

ON_STORE(an_ordered_queue_is_kept_for_no_handler_beyond_the_limit, const char *url, "memory")
{
    play_ordered(url, PAWL_MINUTES(6));
    assert_true(t.runs[1] <= 2);
    assert_int_equal(world_dead(&t.it).count, 1);
    assert_true(world_says(world_dead(&t.it).items[0].error, "(handler-time-max is "));
}

/* Runs that fail and are repeated in memory are one unit's. */
ON_STORES(runs_of_one_delivery_add_up, const char *url)
{
    begin(url, NULL);
    t.slow[1]  = PAWL_MILLISECONDS(400);
    t.slow[2]  = PAWL_MILLISECONDS(700);
    t.loses[1] = true;
    t.failures = 2;
    post(1);
    post(2);
    assert_int_equal(drain(), 1);
    assert_int_equal(t.runs[1], 3);
    assert_int_equal(world_queue(&t.it, "works").count, 1);
    assert_true(world_says(world_queue(&t.it, "works").items[0].history, "ran for 1.2 s"));
}

/* Both lose the message once, and one counts it: then the other one runs it. */
ON_STORE(two_processes_count_it_once, const char *url, "memory")
{
    pawl_endpoint *first, *second = NULL;
    pawl_error     error = PAWL_ERROR_INIT;
    pawl_step      step  = PAWL_STEP_INIT;
    begin(url, NULL);
    first                         = t.it.endpoint;
    pawl_endpoint_options options = t.it.options;
    must(pawl_endpoint_create(&application, NULL, &options, &second, world_error()));
    t.slow[1]  = PAWL_SECONDS(65);
    t.loses[1] = true;
    post(1);
    assert_int_equal(pawl_endpoint_step(first, &step, &error), PAWL_ELOST);
    assert_int_equal(pawl_endpoint_step(second, &step, &error), PAWL_ELOST);
    assert_int_equal(t.runs[1], 2);
    assert_int_equal(drain(), 0); /* the first */
    assert_int_equal(world_queue(&t.it, "works").items[0].attempts, 1);
    t.loses[1]    = false;
    t.it.endpoint = second;
    assert_int_equal(go(PAWL_SECONDS(12)), 0);
    t.it.endpoint = first;
    assert_int_equal(t.runs[1], 3);
    assert_int_equal(world_queue(&t.it, "works").count, 0);
    pawl_endpoint_destroy(second);
}

ON_STORES(a_timeout_and_a_flush_count_their_attempts, const char *url)
{
    begin(url, NULL);
    t.slow[1] = t.slow[2] = PAWL_SECONDS(65);
    t.loses[1] = t.loses[2] = true;
    world_post(&t.it, "j-1", PAWL_MESSAGE(job, .number = 1));
    assert_int_equal(drain(), 0);
    assert_int_equal(go(PAWL_MINUTES(1)), 1);
    assert_int_equal(t.runs[1], 1);
    assert_int_equal(world_timeout(&t.it).attempts, 1);
    t.loses[1] = false;
    assert_int_equal(go(PAWL_MINUTES(1)), 0);
    assert_int_equal(t.runs[1], 2);
    assert_int_equal(world_timeouts(&t.it).count, 0);

    world_post(&t.it, "i-1", PAWL_MESSAGE(item, .number = 2));
    world_post(&t.it, "i-2", PAWL_MESSAGE(item, .number = 2));
    assert_int_equal(drain(), 1);
    assert_int_equal(t.runs[2], 1);
    assert_int_equal(world_aggregated(&t.it, "Items", NULL).flush_attempts, 1);
    t.loses[2] = false;
    assert_int_equal(go(PAWL_MINUTES(5)), 0);
    assert_int_equal(t.runs[2], 2);
}

/* Short handlers of one batch, without a call of the store in between, take longer than one of them may. */
TESTS(a_session_lasts_for_the_time_of_a_batch, const char *url,
      STORE_ROW(a_session_lasts_for_the_time_of_a_batch, "postgres"),
      STORE_ROW(a_session_lasts_for_the_time_of_a_batch, "mariadb"))
{
    begin(url, &(pawl_endpoint_options){.handler_time_max = PAWL_SECONDS(1),
                                        .batch_time_max   = PAWL_SECONDS(10)});
    t.sleeps = true;
    for (int i = 1; i < NUMBERS; i++) {
        t.slow[i] = PAWL_MILLISECONDS(350);
        post(i);
    }
    assert_int_equal(drain(), 0);
    for (int i = 1; i < NUMBERS; i++)
        assert_int_equal(t.runs[i], 1);
}

/* The server's own limit, which is the endpoint's for a handler and a batch; a server of MariaDB counts in seconds. */
TESTS(the_session_ends_when_a_handler_takes_too_long, const char *url,
      STORE_ROW(the_session_ends_when_a_handler_takes_too_long, "postgres"),
      STORE_ROW(the_session_ends_when_a_handler_takes_too_long, "mariadb"))
{
    bool    is_postgres = strncmp(url, "postgres", 8) == 0;
    int64_t limit       = is_postgres ? PAWL_MILLISECONDS(300) : PAWL_SECONDS(1);
    begin(url, &(pawl_endpoint_options){.handler_time_max = limit, .delayed_retries = -1});
    t.sleeps  = true;
    t.slow[2] = 3 * limit + PAWL_MILLISECONDS(300);
    for (int i = 1; i <= 3; i++)
        post(i);
    (void)drain(); /* a session is found lost at the commit, or before it, and the claims with it */
    assert_int_equal(t.runs[2], 1);
    assert_true(world_says(world_dead_letter(&t.it).error, "(handler-time-max is "));
    assert_int_equal(world_queue(&t.it, "works").count, 0);
    assert_true(world_is_marked(&t.it, "t-1"));
    assert_true(world_is_marked(&t.it, "t-3"));
}
