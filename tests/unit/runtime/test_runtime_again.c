/* test_runtime_again.c - units that run again after a conflict (E7, E35): messages with a cause and timeouts side by side, in
 * every combination of how often each loses, and twice. None runs without end, and what a unit has with it is still
 * there: in what its handler sends, and in its letter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

RECORD(visit_state, (TEXT, name), (INT32, count));
PAWL_RECORD(visit, A_NAME);
RECORD(told, (TEXT, of));

#define BUDGET 2
#define FOR_EVER 1000
#define RUNS_MAX 50 /* an end for a loop without one */

/* A saga of each: the message, a message that nobody moves, the timeout. */
enum { LOSER, CALM, LATE, NAMES };
static const char *const names[NAMES] = {"loser", "calm", "late"};

static const pawl_application *application;
static world                  *around;
static int                     moves[NAMES], runs[NAMES];

static pawl_code run(pawl_context *ctx, visit_state *state)
{
    int at = 0;
    while (at < NAMES && !pawl_text_equal(state->name, pawl_text_of(names[at])))
        at++;
    assert_true(at < NAMES);
    state->count++;
    if (++runs[at] < RUNS_MAX && moves[at] > 0) {
        moves[at]--;
        world_overwrite(around->store, around->arena, application, names[at], NULL);
    }
    return pawl_send(ctx, "out", PAWL_MESSAGE(told, .of = state->name));
}

/* The first visit begins the saga, and sets its timeout. */
static pawl_code on_visit(pawl_context *ctx, visit_state *state, const visit *message)
{
    if (state->count > 0)
        return run(ctx, state);
    state->name  = message->name;
    state->count = 1;
    return PAWL_OK;
}
PAWL_HANDLER(on_visit, visit_state, visit);

PAWL_RECORD(wake, A_NAME);
static pawl_code on_wake(pawl_context *ctx, visit_state *state, const wake *message)
{
    return pawl_timeout(ctx, "due", PAWL_SECONDS(10));
}
PAWL_HANDLER(on_wake, visit_state, wake);

static pawl_code on_due(pawl_context *ctx, visit_state *state)
{
    return run(ctx, state);
}
PAWL_TIMEOUT_HANDLER(on_due, visit_state);

static const pawl_saga visits = SAGA_OF(
    "Visit", visit_state, "name", {.handle = PAWL_HANDLE(on_visit), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_wake), .key = "name"},
    {.handle = PAWL_HANDLE(on_due), .timeout = "due"});
static const pawl_application again =
    ONE_ENDPOINT("again", .name = "house", .sagas = PAWL_SAGAS(&visits));

/* ---- A round ------------------------------------------------------------------ */

/* A message with all that it may have with it. */
static void post_caused(world *it, const char *id, const char *name, pawl_time due)
{
    MUST_COMMIT(it->store, queue_send, WORLD_START, .queue = PAWL_TEXT("house"),
                .message = {.id             = pawl_text_of(id),
                            .type           = PAWL_TEXT("visit"),
                            .body           = pawl_text_of(test_text("{\"name\":\"%s\"}", name)),
                            .headers        = PAWL_TEXT("{\"colour\":\"red\"}"),
                            .correlation_id = PAWL_TEXT("the whole story"),
                            .causation_id   = PAWL_TEXT("what came before it")},
                .due     = due);
}

static void check_text(const char *what, pawl_text is, const char *wanted)
{
    if (!pawl_text_equal(is, pawl_text_of(wanted)))
        fail_msg("%s is '%.*s', not '%s'", what, PAWL_TEXT_ARGS(is), wanted);
}

/* One message for each unit that was handled, by its cause. */
static size_t count_told(world *it, const char *name, const char *cause)
{
    pawl_queue_rows rows = world_queue(it, "out");
    size_t          sent = 0;
    const char     *part = test_text("\"%s\"", name);
    for (size_t i = 0; i < rows.count; i++) {
        const pawl_message *message = &rows.items[i].message;
        bool                is_its  = world_says(message->body, part);
        if (is_its && cause != NULL && pawl_text_equal(message->causation_id, pawl_text_of(cause)))
            check_text("the correlation", message->correlation_id, "the whole story");
        sent += is_its &&
                (cause == NULL || pawl_text_equal(message->causation_id, pawl_text_of(cause)));
    }
    return sent;
}

static const pawl_dead_row *find_letter(const pawl_dead_rows *dead, const char *type)
{
    const pawl_dead_row *found = NULL;
    for (size_t i = 0; i < dead->count; i++)
        if (pawl_text_equal(dead->items[i].message.type, pawl_text_of(type))) {
            assert_null(found);
            found = &dead->items[i];
        }
    return found;
}

static void check_letter(world *it, const char *type, bool is_wanted)
{
    pawl_dead_rows       dead   = world_dead(it);
    const pawl_dead_row *letter = find_letter(&dead, type);
    assert_int_equal(letter != NULL, is_wanted);
    if (letter == NULL)
        return;
    check_text("the code", letter->code, "ECONFLICT");
    if (strcmp(type, "visit") != 0)
        return;
    check_text("the correlation", letter->message.correlation_id, "the whole story");
    check_text("the cause", letter->message.causation_id, "what came before it");
    check_text("the headers", letter->message.headers, "{\"colour\":\"red\"}");
}

static void discard_letters(world *it)
{
    pawl_dead_rows dead = world_dead(it);
    if (dead.count > 0)
        must(pawl_store_dead_settle(
            it->store, dead.items, dead.count,
            &(const pawl_dead_settle){.by = PAWL_TEXT("ann"), .action = PAWL_DEAD_DISCARD},
            WORLD_START, NULL, world_error()));
}

/* All of a batch; the message and the timeout lose so often. */
static void play(world *it, int round, int message_loses, int timeout_loses)
{
    char ids[NAMES][30];
    world_post(it, NULL, PAWL_MESSAGE(wake, .name = PAWL_TEXT("late")));
    world_drain(it);
    for (int i = 0; i < NAMES; i++)
        snprintf(ids[i], sizeof ids[i], "%s-%d", names[i], round);
    memset(runs, 0, sizeof runs);
    moves[LOSER] = message_loses;
    moves[LATE]  = timeout_loses;
    size_t late  = count_told(it, "late", NULL);
    post_caused(it, ids[CALM], "calm", world_now(it) + PAWL_SECONDS(10));
    post_caused(it, ids[LOSER], "loser", world_now(it) + PAWL_SECONDS(10));
    world_go(it, PAWL_SECONDS(10));
    moves[LOSER] = moves[LATE] = 0;
    for (int i = 0; i < NAMES; i++) {
        int loses  = i == LOSER ? message_loses : i == LATE ? timeout_loses : 0;
        int wanted = loses == FOR_EVER ? BUDGET + 2 : loses + 1;
        if (runs[i] != wanted)
            fail_msg("round %d, %d and %d: %s ran %d times, not %d", round, message_loses,
                     timeout_loses, names[i], runs[i], wanted);
    }
    assert_int_equal(count_told(it, "calm", ids[CALM]), 1);
    assert_int_equal(count_told(it, "loser", ids[LOSER]), message_loses != FOR_EVER);
    assert_int_equal(count_told(it, "late", NULL), late + (timeout_loses != FOR_EVER));
    check_letter(it, "visit", message_loses == FOR_EVER);
    check_letter(it, "due", timeout_loses == FOR_EVER);
    discard_letters(it);
}

/* On a server the row is locked from the third conflict on, and the other worker, a step of this
     * one, would wait for it. */
ON_STORES(e7_each_runs_again_as_often_as_it_may, const char *url)
{
    static const int loses[] = {0, 1, BUDGET + 1, FOR_EVER};
    int              round   = 0;
    application              = &again;
    world *it                = world_begin(url, &again, NULL,
                                           &(pawl_endpoint_options){.conflict_retries  = BUDGET,
                                                                    .immediate_retries = -1,
                                                                    .delayed_retries   = -1});
    around                   = it;
    for (int i = 0; i < NAMES; i++)
        world_post(it, NULL, PAWL_MESSAGE(visit, .name = pawl_text_of(names[i])));
    world_drain(it);
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < COUNT(loses); i++)
            for (size_t j = 0; j < COUNT(loses); j++)
                play(it, round++, loses[i], loses[j]);
}
