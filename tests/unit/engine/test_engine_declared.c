/* test_engine_declared.c - rows that declare the effects of their handlers: another effect fails the
 * message, whatever kind of handler it is of. E26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"

PAWL_RECORD(answer, A_NAME);
PAWL_RECORD(other, A_NAME);
RECORD(held, (TEXT, name),
       (TEXT, how)); /* a row with a list, one without any, one with an empty one */
RECORD(loose, (TEXT, name), (TEXT, how));
RECORD(silent, (TEXT, name), (TEXT, how));

#define ANSWER PAWL_MESSAGE(answer, .name = PAWL_TEXT("a"))
#define OTHER PAWL_MESSAGE(other, .name = PAWL_TEXT("o"))

/* ---- Handlers without a saga ------------------------------------------------- */

static pawl_code send_other(pawl_context *ctx, void *data)
{
    return pawl_send(ctx, "away", OTHER);
}

static pawl_code act(pawl_context *ctx, pawl_text how)
{
#define IS(word) pawl_text_equal(how, PAWL_TEXT(word))
    if (IS("send"))
        pawl_send(ctx, "out", ANSWER);
    if (IS("send away"))
        pawl_send(ctx, "away", ANSWER);
    if (IS("send other"))
        pawl_send(ctx, "out", OTHER);
    if (IS("anywhere"))
        pawl_send(ctx, how.data, PAWL_MESSAGE(loose, .name = PAWL_TEXT("l")));
    if (IS("now"))
        pawl_send_now(ctx, "out", ANSWER);
    if (IS("now away"))
        pawl_send_now(ctx, "away", ANSWER);
    if (IS("publish"))
        pawl_publish(ctx, ANSWER);
    if (IS("publish other"))
        pawl_publish(ctx, OTHER);
    if (IS("reply"))
        pawl_reply(ctx, ANSWER);
    if (IS("reply other"))
        pawl_reply(ctx, OTHER);
    if (IS("callback"))
        pawl_before_commit(ctx, send_other, NULL);
    return PAWL_OK; /* a refusal may be ignored, and counts all the same */
}

static pawl_code on_held(pawl_context *ctx, const held *message)
{
    return act(ctx, message->how);
}
PAWL_MESSAGE_HANDLER(on_held, held);
static pawl_code on_loose(pawl_context *ctx, const loose *message)
{
    return act(ctx, message->how);
}
PAWL_MESSAGE_HANDLER(on_loose, loose);
static pawl_code on_silent(pawl_context *ctx, const silent *message)
{
    return act(ctx, message->how);
}
PAWL_MESSAGE_HANDLER(on_silent, silent);

static pawl_code before(pawl_context *ctx, const pawl_message *message, void *context)
{
    return pawl_text_equal(message->id, PAWL_TEXT("filtered")) ? pawl_send(ctx, "away", OTHER)
                                                               : PAWL_OK;
}

/* ---- A saga -------------------------------------------------------------------- */

RECORD(order, (TEXT, name), (TEXT, how));
RECORD(place, (TEXT, name), (TEXT, how));
RECORD(change, (TEXT, name), (TEXT, how));

static pawl_code on_place(pawl_context *ctx, order *state, const place *message)
{
    state->how = message->how;
    return pawl_timeout(ctx, message->how.data, PAWL_MINUTES(1));
}
PAWL_HANDLER(on_place, order, place);
static pawl_code on_change(pawl_context *ctx, order *state, const change *message)
{
    if (pawl_text_equal(message->how, PAWL_TEXT("cancel")))
        return pawl_cancel_timeout(ctx, "late");
    return pawl_timeout_at(ctx, "late", pawl_now(ctx));
}
PAWL_HANDLER(on_change, order, change);
static pawl_code on_lost(pawl_context *ctx, const change *message)
{
    return pawl_send(ctx, "away", ANSWER);
}
PAWL_MESSAGE_HANDLER(on_lost, change);
static pawl_code on_late(pawl_context *ctx, order *state)
{
    return pawl_send(ctx, "out", OTHER);
}
PAWL_TIMEOUT_HANDLER(on_late, order);

static const pawl_saga order_saga =
    SAGA_OF("Order", order, "name",
            {.handle = PAWL_HANDLE(on_place),
             .key    = "name",
             .starts = true,
             .does   = PAWL_DOES(PAWL_SETS("late"), PAWL_SETS("later"))},
            {.handle    = PAWL_HANDLE(on_change),
             .key       = "name",
             .not_found = PAWL_NOT_FOUND_CALL,
             .missing   = PAWL_HANDLE(on_lost),
             .does      = PAWL_DOES_NOTHING},
            {.handle = PAWL_HANDLE(on_late), .timeout = "late", .does = PAWL_DOES_NOTHING},
            {.handle  = PAWL_HANDLE(on_late),
             .timeout = "later",
             .does    = PAWL_DOES(PAWL_SENDS(other, "out"))});

/* ---- Aggregators, an entity, projections ------------------------------------------ */

PAWL_RECORD(piece, A_NAME);
PAWL_RECORD(tally, A_NAME);
PAWL_RECORD(count_up, A_NAME);
PAWL_RECORD(counted, A_NAME);

static pawl_code on_pieces(pawl_context *ctx, const piece *items, size_t count)
{
    return pawl_send(ctx, "out", ANSWER);
}
PAWL_BATCH_HANDLER(on_pieces, piece);
static pawl_code on_count_up(pawl_context *ctx, const tally *state, const count_up *message)
{
    return pawl_emit(ctx, PAWL_MESSAGE(counted, .name = message->name));
}
PAWL_ENTITY_HANDLER(on_count_up, tally, count_up);
static void apply_counted(tally *state, const counted *event)
{
    state->name = event->name;
}
PAWL_APPLY(apply_counted, tally, counted);
static pawl_code on_counted(pawl_context *ctx, const counted *event)
{
    return pawl_send(ctx, "out", ANSWER);
}
PAWL_MESSAGE_HANDLER(on_counted, counted);

#define AGGREGATOR(name_, ...)                                                           \
    {                                                                                    \
        .name = (name_), .handle = PAWL_HANDLE(on_pieces), .size = 1, .attempts_max = 1, \
        .does = (__VA_ARGS__)                                                            \
    }
static const pawl_aggregator mute    = AGGREGATOR("mute", PAWL_DOES_NOTHING);
static const pawl_aggregator loud    = AGGREGATOR("loud", PAWL_DOES(PAWL_SENDS(answer, "out")));
static const pawl_projection unsaid  = {.name = "unsaid",
                                        .on   = PAWL_ON({.handle = PAWL_HANDLE(on_counted)}),
                                        .does = PAWL_DOES_NOTHING};
static const pawl_projection said    = {.name = "said",
                                        .on   = PAWL_ON({.handle = PAWL_HANDLE(on_counted)}),
                                        .does = PAWL_DOES(PAWL_SENDS(answer, NULL))};
static const pawl_entity     counter = {
        .name  = "Tally",
        .state = PAWL_RECORD_OF(tally),
        .on = PAWL_ON({.handle = PAWL_HANDLE(on_count_up), .key = "name", .does = PAWL_DOES_NOTHING}),
        .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_counted))};

#define HANDLERS                                                                     \
    PAWL_ON({.handle = PAWL_HANDLE(on_held),                                         \
             .does   = PAWL_DOES(PAWL_SENDS(answer, "out"), PAWL_SENDS(loose, NULL), \
                                 PAWL_PUBLISHES(answer), PAWL_REPLIES(answer))},       \
            {.handle = PAWL_HANDLE(on_loose)},                                       \
            {.handle = PAWL_HANDLE(on_silent), .does = PAWL_DOES_NOTHING})

static const pawl_endpoint_spec desk        = {.name        = "desk",
                                               .handlers    = HANDLERS,
                                               .sagas       = PAWL_SAGAS(&order_saga),
                                               .aggregators = PAWL_AGGREGATORS(&mute),
                                               .entities    = PAWL_ENTITIES(&counter),
                                               .projections = PAWL_PROJECTIONS(&unsaid)};
static const pawl_endpoint_spec table       = {.name        = "table",
                                               .aggregators = PAWL_AGGREGATORS(&loud),
                                               .entities    = PAWL_ENTITIES(&counter),
                                               .projections = PAWL_PROJECTIONS(&said)};
static const pawl_application   application = {PAWL_APPLICATION_HEAD, .name = "declared",
                                               .endpoints = PAWL_ENDPOINTS(&desk, &table),
                                               .filters   = PAWL_FILTERS({.before = before})};

/* The letter whose error says it; `count` letters there are. */
static void expect_dead(world *it, size_t count, const char *says)
{
    pawl_dead_rows dead    = world_dead(it);
    bool           is_said = says == NULL;
    for (size_t i = 0; i < dead.count; i++)
        is_said |= says != NULL && world_says(dead.items[i].error, says);
    if (dead.count != count || !is_said)
        fail_msg("%zu letters, expected %zu with '%s'; the last says '%s'", dead.count, count, says,
                 dead.count != 0 ? dead.items[dead.count - 1].error.data : "");
}

#define UNDECLARED ", which the .does of its row does not declare"

ON_ALL_STORES(e26_an_effect_that_is_not_declared_fails_its_message, const char *url)
{
    static const struct {
        const char *how, *says;
    } rows[] = {
        {"send", NULL},
        {"anywhere", NULL},
        {"now", NULL},
        {"publish", NULL},
        {"callback", NULL},
        {"send away", "the handler of held sends answer to away" UNDECLARED},
        {"send other", "the handler of held sends other to out" UNDECLARED},
        {"now away", "the handler of held sends answer to away" UNDECLARED},
        {"publish other", "the handler of held publishes other" UNDECLARED},
    };
    size_t count = 0;
    world *it    = world_begin(url, &application, "desk", NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        world_post(it, NULL, PAWL_MESSAGE(held, .how = pawl_text_of(rows[i].how)));
        world_post(it, NULL, PAWL_MESSAGE(loose, .how = pawl_text_of(rows[i].how)));
        world_drain(it);
        expect_dead(it, count += rows[i].says != NULL, rows[i].says);
    }
    world_post(it, NULL, PAWL_MESSAGE(silent, .how = PAWL_TEXT("send")));
    world_post(it, "filtered", PAWL_MESSAGE(silent, .how = PAWL_TEXT("")));
    world_drain(it);
    expect_dead(it, ++count, "the handler of silent sends answer to out" UNDECLARED);
}

ON_ALL_STORES(e26_a_reply_is_declared_by_its_type, const char *url)
{
    static const pawl_header headers[] = {{"pawl.reply_to", "asker"}, {NULL, NULL}};
    static const char *const hows[]    = {"reply", "reply other"};
    world                   *it        = world_begin(url, &application, "desk", NULL);
    for (size_t i = 0; i < 2; i++) {
        pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .headers = headers,
                                     .due = world_now(it)};
        must(pawl_sender_send(it->sender, "desk", &options,
                              PAWL_MESSAGE(held, .how = pawl_text_of(hows[i])), world_error()));
    }
    must(pawl_sender_commit(it->sender, world_error()));
    world_drain(it);
    assert_int_equal(world_queue(it, "asker").count, 1);
    expect_dead(it, 1, "the handler of held replies with other" UNDECLARED);
}

static void post_change(world *it, const char *name, const char *how)
{
    world_post(it, NULL,
               PAWL_MESSAGE(change, .name = pawl_text_of(name), .how = pawl_text_of(how)));
    world_drain(it);
}

ON_ALL_STORES(e26_timeouts_are_declared, const char *url)
{
    world *it = world_begin(url, &application, "desk", NULL);
    world_post(it, NULL, PAWL_MESSAGE(place, .name = PAWL_TEXT("1"), .how = PAWL_TEXT("late")));
    world_post(it, NULL, PAWL_MESSAGE(place, .name = PAWL_TEXT("2"), .how = PAWL_TEXT("later")));
    world_drain(it);
    assert_int_equal(world_timeouts(it).count, 2);
    post_change(it, "2", "set");
    expect_dead(it, 1, "the handler of change sets the timeout late" UNDECLARED);
    world_go(it, PAWL_HOURS(24)); /* the first one fails, as often as it may */
    assert_int_equal(world_queue(it, "out").count, 1);
    post_change(it, "1", "cancel"); /* takes back what was set: no effect of its own */
    assert_int_equal(world_saga_count(it, "Order"), 2);
}

ON_ALL_STORES(e26_a_missing_handler_shares_its_row, const char *url)
{
    world *it = world_begin(url, &application, "desk", NULL);
    post_change(it, "nobody", "set");
    world_go_machine(it, PAWL_HOURS(1));
    assert_int_equal(world_queue(it, "away").count, 0);
    expect_dead(it, 1, "the handler of change sends answer to away" UNDECLARED);
}

/* An aggregator's flush, then an event of a projection, which stands still while it is refused. */
static void hand_over(const char *url, const char *endpoint, size_t sent)
{
    world *it = world_begin(url, &application, endpoint, NULL);
    world_post(it, NULL, PAWL_MESSAGE(piece, .name = PAWL_TEXT("p")));
    world_drain(it);
    assert_int_equal(world_queue(it, "out").count, sent);
    world_post(it, NULL, PAWL_MESSAGE(count_up, .name = PAWL_TEXT("c")));
    world_drain(it);
    assert_int_equal(world_queue(it, "out").count, 2 * sent);
    assert_int_equal(world_events(it, "Tally/c").count, 1);
    expect_dead(it, 0, NULL);
    world_close(it);
}

ON_ALL_STORES(e26_aggregators_and_projections_are_held_to_their_lists, const char *url)
{
    hand_over(url, "desk", 0);
}

ON_ALL_STORES(e26_aggregators_and_projections_do_what_is_declared, const char *url)
{
    hand_over(url, "table", 1);
}
