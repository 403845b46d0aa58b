/* test_engine_order_random.c - random work of an ordered endpoint: messages that fail now and then, or
 * for good, three programs of which one claims, programs that stand still or end in the middle,
 * answers that are lost, messages in other hands, operators who take messages away, timeouts that are set
 * and cancelled, clocks that move between two messages. Each message is handled once, and none after a
 * later one of its key.
 *
 * The seeds are 1 to 6; one that was printed, or COUNT from there on, is played by
 * test_engine_order_random SEED [COUNT]; many are by engine_order_random_soak. E26, E27, E34.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

#include "pawl/operations.h"

#include <inttypes.h>

#define SEEDS 6
#define ROUNDS 40
#define KEYS 4
#define PROGRAMS 3
#define POSTS_MAX 1000

static uint64_t    seed_first = 1, seed_count = SEEDS;
static pawl_random source;

static int64_t below(int64_t limit)
{
    return (int64_t)pawl_random_below(&source, (uint64_t)limit);
}

#define TRACK(F)     \
    F(TEXT, key)     \
    F(INT64, last)   \
    F(INT64, alarms) \
    F(INT64, late) /* messages handled after a later one */
PAWL_RECORD(track, TRACK);
RECORD(entry, (TEXT, key), (INT64, number));

static int  failures[POSTS_MAX]; /* of each message, that are left */
static bool is_hopeless[POSTS_MAX];

typedef enum timer { TIMER_NONE, TIMER_SET, TIMER_CANCEL } timer;
static timer   timers[POSTS_MAX]; /* of the saga, when the message is handled */
static int64_t delays[POSTS_MAX];

static pawl_code on_entry(pawl_context *ctx, track *state, const entry *message)
{
    state->late += message->number <= state->last;
    state->last = message->number;
    if (is_hopeless[message->number])
        return pawl_fail(ctx, PAWL_REJECT, "never");
    if (failures[message->number] > 0) {
        failures[message->number]--;
        return pawl_fail(ctx, PAWL_EUNREACHABLE, "not now");
    }
    switch (timers[message->number]) {
    case TIMER_SET: return pawl_timeout(ctx, "alarm", delays[message->number]);
    case TIMER_CANCEL: return pawl_cancel_timeout(ctx, "alarm");
    case TIMER_NONE: break;
    }
    return PAWL_OK;
}
PAWL_HANDLER(on_entry, track, entry);

static pawl_code on_alarm(pawl_context *ctx, track *state)
{
    state->alarms++;
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_alarm, track);

static const pawl_saga track_saga =
    SAGA_OF("Track", track, "key", {.handle = PAWL_HANDLE(on_entry), .key = "key", .starts = true},
            {.handle = PAWL_HANDLE(on_alarm), .timeout = "alarm"});
static const pawl_application application =
    ONE_ENDPOINT("order", .name = "desk", .sagas = PAWL_SAGAS(&track_saga),
                 .options = PAWL_OPTIONS(.ordered = PAWL_ORDERED_BY_SAGA, .immediate_retries = -1,
                                         .delayed_retries = 3, .retry_delay = PAWL_SECONDS(10)));

/* ---- A play ------------------------------------------------------------------ */

typedef struct play {
    world          it;
    const char    *url;
    pawl_endpoint *programs[PROGRAMS];
    size_t         count;   /* of messages, from 1 */
    size_t         taken;   /* by operators */
    size_t         running; /* the program that does */
    bool           is_inside;
    bool           is_even; /* messages of a round have one business time */
    bool           has_timers;
    int64_t        trouble_in; /* commits */
    bool           is_loss;
    int64_t        losses, stands;
} play;

static void open_program(play *p, size_t index)
{
    pawl_endpoint_options options = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                 = p->url;
    options.business              = p->it.business;
    options.machine               = p->it.machine;
    options.batch_messages        = 1 + (int)below(40);
    options.seed                  = 1 + (uint64_t)below(1000);
    must(pawl_endpoint_create(&application, NULL, &options, &p->programs[index], world_error()));
}

/* A failure that a program meets in a play is none of the test: the store is opened again. */
static void run(play *p, size_t index)
{
    pawl_step  sum   = PAWL_STEP_INIT;
    pawl_error error = PAWL_ERROR_INIT;
    p->running       = index;
    for (int i = 0; i < 5; i++)
        if (pawl_endpoint_drain(p->programs[index], &sum, &error) == PAWL_OK)
            return;
}

static void pass_machine_time(play *p, int64_t duration)
{
    pawl_clock_set(p->it.machine, pawl_clock_now(p->it.machine) + duration);
}

/* The answer of a commit is lost, or its program stands still before it while others go on. */
static pawl_code trouble_at(hook_point point, void *context)
{
    play *p = context;
    if (p->is_inside || p->trouble_in == 0 ||
        point != (p->is_loss ? HOOK_AFTER_COMMIT : HOOK_BEFORE_COMMIT) || --p->trouble_in > 0)
        return PAWL_OK;
    if (p->is_loss) {
        p->losses++;
        return PAWL_ELOST;
    }
    p->stands++;
    p->is_inside = true;
    pass_machine_time(p, PAWL_MINUTES(5));
    size_t standing = p->running;
    for (size_t i = 0; i < PROGRAMS; i++)
        if (i != standing)
            run(p, i);
    p->running   = standing;
    p->is_inside = false;
    return PAWL_OK;
}

static void pass_business_time(play *p, int64_t duration)
{
    pawl_clock_set(p->it.business, world_now(&p->it) + duration);
}

static void choose_timer(const play *p, size_t number)
{
    timers[number] = TIMER_NONE;
    delays[number] = 0;
    if (!p->has_timers || below(3) > 0)
        return;
    timers[number] = below(3) == 0 ? TIMER_CANCEL : TIMER_SET;
    delays[number] = PAWL_SECONDS(below(20));
}

static void post(play *p)
{
    char   key[2] = {(char)('a' + below(KEYS)), '\0'};
    size_t number = ++p->count;
    assert_true(number < POSTS_MAX);
    failures[number]    = below(4) == 0 ? 1 + (int)below(5) : 0;
    is_hopeless[number] = below(20) == 0;
    choose_timer(p, number);
    if (!p->is_even)
        pass_business_time(p, PAWL_SECONDS(below(3)));
    if (!p->is_even && below(8) == 0)
        pass_machine_time(p, PAWL_SECONDS(below(20)));
    world_post(&p->it, NULL,
               PAWL_MESSAGE(entry, .key = pawl_text_of(key), .number = (int64_t)number));
}

static void take_any(play *p)
{
    pawl_queue_rows       rows  = world_queue(&p->it, "desk");
    size_t                taken = 0;
    const pawl_queue_take away  = {
         .action = PAWL_TAKE_DISCARD, .queue = PAWL_TEXT("desk"), .by = PAWL_TEXT("ann")};
    if (rows.count == 0)
        return;
    int64_t seq = rows.items[below((int64_t)rows.count)].seq;
    must(pawl_store_queue_take(p->it.store, &away, &seq, 1, world_now(&p->it), &taken, NULL,
                               world_error()));
    p->taken += taken;
}

/* A message is in another hand for a while. */
static void run_beside_claim(play *p)
{
    if (world_queue(&p->it, "desk").count == 0)
        return;
    pawl_queue_claim claim = {.queue     = PAWL_TEXT("desk"),
                              .due_max   = world_now(&p->it),
                              .count_max = 1 + (size_t)below(3),
                              .now       = pawl_clock_now(p->it.machine)};
    pawl_queue_rows  rows  = {.count = 0};
    must(pawl_store_queue_claim(p->it.store, &claim, p->it.arena, &rows, world_error()));
    for (size_t i = 0; i < PROGRAMS; i++)
        run(p, i);
    for (size_t i = 0; i < rows.count; i++)
        world_give_back(&p->it, "desk", &rows.items[i], PAWL_QUEUE_RELEASE);
}

static void end_program(play *p, size_t index)
{
    pawl_endpoint_destroy(p->programs[index]);
    open_program(p, index);
}

static void check_order(play *p)
{
    for (char key[2] = "a"; key[0] < 'a' + KEYS; key[0]++) {
        int64_t     version;
        const char *state = world_saga_text(&p->it, "Track", key, &version);
        if (version != 0 && strstr(state, "late") != NULL)
            assert_int_equal(world_json_number(state, "late"), 0);
    }
}

static void play_round(play *p)
{
    for (int64_t i = below(10); i > 0; i--)
        post(p);
    if (below(2) == 0) {
        p->trouble_in = 1 + below(4);
        p->is_loss    = below(2) == 0;
    }
    if (below(4) == 0)
        end_program(p, (size_t)below(PROGRAMS));
    if (below(6) == 0)
        take_any(p);
    if (below(6) == 0)
        run_beside_claim(p);
    if (below(3) == 0)
        pass_machine_time(p, PAWL_SECONDS(below(100)));
    if (below(2) == 0)
        pass_business_time(p, PAWL_SECONDS(below(30)));
    for (int i = 0; i < PROGRAMS; i++)
        run(p, (size_t)below(PROGRAMS));
    check_order(p);
}

static bool is_left(play *p)
{
    return world_queue(&p->it, "desk").count > 0 || world_timeouts(&p->it).count > 0;
}

/* At the end every message was handled, given up or taken away, and every timeout has come. */
static void finish(play *p)
{
    p->trouble_in = 0;
    for (int i = 0; i < 40 && is_left(p); i++) {
        pass_machine_time(p, PAWL_MINUTES(5));
        pass_business_time(p, PAWL_MINUTES(10));
        for (size_t j = 0; j < PROGRAMS; j++)
            run(p, j);
    }
    assert_false(is_left(p));
    check_order(p);
}

static void play_seed(const char *url, uint64_t seed)
{
    static play p;
    memset(&p, 0, sizeof p);
    pawl_random_seed(&source, seed);
    p.is_even    = below(3) == 0;
    p.has_timers = below(3) > 0;
    world_hold(url);
    world_open(&p.it, url, &application, NULL, NULL);
    pawl_endpoint_stop(p.it.endpoint); /* programs of the play do the work */
    p.url = hook_url(url);
    for (size_t i = 0; i < PROGRAMS; i++)
        open_program(&p, i);
    hook_set(trouble_at, &p);
    for (int i = 0; i < ROUNDS; i++)
        play_round(&p);
    finish(&p);
    hook_set(NULL, NULL);
    for (size_t i = 0; i < PROGRAMS; i++)
        pawl_endpoint_destroy(p.programs[i]);
    world_close(&p.it);
    print_message("seed %" PRIu64 ": %zu messages, %zu taken away, %d answers lost, %d programs "
                  "stood still\n",
                  seed, p.count, p.taken, (int)p.losses, (int)p.stands);
}

ON_ALL_STORES_IN_TIME(e26_messages_of_a_key_keep_their_order, const char *url)
{
    for (uint64_t i = 0; i < seed_count; i++) {
        char own[1000];
        scenario_url_like(url, own, sizeof own);
        play_seed(own, seed_first + i);
        scenario_forget(own);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seed_first = strtoull(argv[1], NULL, 10);
    if (argc > 1)
        seed_count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    scenario_files_in_memory();
    world_quiet();
    return tests_run(NULL, NULL);
}
