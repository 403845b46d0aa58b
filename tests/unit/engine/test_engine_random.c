/* test_engine_random.c - random work beside a model of it: messages that begin, continue
 * and end sagas, set and cancel timeouts, fail, are collected; copies of messages; another
 * worker that writes the same sagas; answers that are lost, and programs that end in the
 * middle. After each time that all is done the store holds what the model holds.
 *
 * The model handles one message after another, in the order of their time. The seeds are
 * 1 to 4; one that was printed, or COUNT from there on, is played by
 * test_engine_random SEED [COUNT]; many are by engine_random_soak. E1 to E7,
 * E12 to E14, E18, E25, O32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

#include "pawl/operations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 4
#define ROUNDS 40
#define NAMES 3
#define POSTS_MAX 1000
#define MODULUS 1000003

static uint64_t    seed_first = 1, seed_count = SEEDS;
static pawl_random source;

static int64_t below(int64_t limit)
{
    return (int64_t)pawl_random_below(&source, (uint64_t)limit);
}

/* ---- The application -------------------------------------------------------- */

#define POST(F)       \
    F(TEXT, name)     \
    F(TEXT, box_name) \
    F(INT64, number)  \
    F(INT64, ring_in) \
    F(BOOL, cancels)  \
    F(BOOL, ends)     \
    F(BOOL, fails)    \
    F(BOOL, sends)
PAWL_RECORD(begin, POST)
PAWL_RECORD(go_on, POST)
PAWL_RECORD(both, POST)
PAWL_RECORD(collect, POST)
#define COUNTER(F)   \
    F(TEXT, name)    \
    F(INT64, digest) \
    F(INT64, rings)
PAWL_RECORD(counter, COUNTER)
PAWL_RECORD(box, COUNTER)
#define NOTE(F) F(INT64, number)
PAWL_RECORD(note, NOTE)

static pawl_code send_note(pawl_context *ctx, int64_t number)
{
    return pawl_send(ctx, "out", PAWL_MESSAGE(note, .number = number));
}

static int64_t mix(int64_t digest, int64_t number)
{
    return (digest * 31 + number + 1) % MODULUS;
}

static pawl_code count(pawl_context *ctx, counter *state, const begin *message)
{
    state->digest = mix(state->digest, message->number);
    if (message->ring_in > 0)
        pawl_timeout(ctx, "ring", message->ring_in);
    if (message->cancels)
        pawl_cancel_timeout(ctx, "ring");
    if (message->sends)
        send_note(ctx, message->number);
    if (message->fails)
        return PAWL_REJECT;
    return message->ends ? pawl_complete(ctx) : PAWL_OK;
}

static pawl_code on_begin(pawl_context *ctx, counter *state, const begin *message)
{
    return count(ctx, state, message);
}
PAWL_HANDLER(on_begin, counter, begin);

static pawl_code on_go_on(pawl_context *ctx, counter *state, const go_on *message)
{
    begin same;
    memcpy(&same, message, sizeof same);
    return count(ctx, state, &same);
}
PAWL_HANDLER(on_go_on, counter, go_on);

static pawl_code on_both(pawl_context *ctx, counter *state, const both *message)
{
    begin same;
    memcpy(&same, message, sizeof same);
    return count(ctx, state, &same);
}
PAWL_HANDLER(on_both, counter, both);

static pawl_code on_both_box(pawl_context *ctx, box *state, const both *message)
{
    (void)ctx;
    state->digest = mix(state->digest, message->number);
    return PAWL_OK;
}
PAWL_HANDLER(on_both_box, box, both);

static pawl_code on_ring(pawl_context *ctx, counter *state)
{
    state->rings++;
    return send_note(ctx, -((pawl_now(ctx) - WORLD_START) / 1000));
}
PAWL_TIMEOUT_HANDLER(on_ring, counter);

static pawl_code on_collected(pawl_context *ctx, const collect *messages, size_t number)
{
    pawl_code code = number >= 3 ? PAWL_OK : PAWL_REJECT;
    for (size_t i = 0; i < number && code == PAWL_OK; i++)
        code = send_note(ctx, messages[i].number);
    return code;
}
PAWL_BATCH_HANDLER(on_collected, collect);

static const pawl_saga counter_saga = {
    .name        = "Counter",
    .state       = PAWL_RECORD_OF(counter),
    .correlation = "name",
    .on = (const pawl_on[]){{.handle = PAWL_HANDLE(on_begin), .key = "name", .starts = true},
                            {.handle = PAWL_HANDLE(on_go_on), .key = "name"},
                            {.handle = PAWL_HANDLE(on_both), .key = "name", .starts = true},
                            {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"},
                            {.handle = NULL}}};
static const pawl_saga box_saga = {
    .name        = "Box",
    .state       = PAWL_RECORD_OF(box),
    .correlation = "name",
    .on = (const pawl_on[]){{.handle = PAWL_HANDLE(on_both_box), .key = "box_name", .starts = true},
                            {.handle = NULL}}};
static const pawl_aggregator collected = {
    .name = "Collected", .handle = PAWL_HANDLE(on_collected), .size = 3};
static const pawl_endpoint_spec desk = {
    .name        = "desk",
    .sagas       = (const pawl_saga *const[]){&counter_saga, &box_saga, NULL},
    .aggregators = (const pawl_aggregator *const[]){&collected, NULL}};
static const pawl_application application = {PAWL_APPLICATION_INIT, .name = "random",
                                             .endpoints =
                                                 (const pawl_endpoint_spec *const[]){&desk, NULL}};

static const char *const names[NAMES] = {"a", "b", "c"};

/* ---- The model ---------------------------------------------------------------- */

typedef enum kind { BEGIN, GO_ON, BOTH, COLLECT, KIND_COUNT } kind;

typedef struct post {
    kind      is;
    int       name, box_name;
    begin     what;
    pawl_time due;
    bool      is_done;
} post;

typedef struct model_saga {
    bool      exists;
    int64_t   digest, rings;
    pawl_time ring; /* PAWL_TIME_MAX: not set */
} model_saga;

typedef struct model {
    post       posts[POSTS_MAX];
    size_t     count, dead;
    model_saga counters[NAMES], boxes[NAMES];
    int64_t    notes[2 * POSTS_MAX]; /* in the queue "out" */
    size_t     note_count;
    int64_t    collected[POSTS_MAX];
    size_t     collected_count;
} model;

static void model_note(model *it, int64_t number)
{
    it->notes[it->note_count++] = number;
}

static void model_count(model *it, model_saga *saga, const post *one)
{
    if (!saga->exists)
        *saga = (model_saga){.exists = true, .ring = PAWL_TIME_MAX};
    saga->digest = mix(saga->digest, one->what.number);
    if (one->what.ring_in > 0)
        saga->ring = one->due + one->what.ring_in;
    if (one->what.cancels)
        saga->ring = PAWL_TIME_MAX;
    if (one->what.sends)
        model_note(it, one->what.number);
    if (one->what.ends)
        *saga = (model_saga){.ring = PAWL_TIME_MAX};
}

static void model_handle(model *it, post *one)
{
    model_saga *saga = &it->counters[one->name], *other = &it->boxes[one->box_name];
    one->is_done = true;
    if (one->is == COLLECT) {
        it->collected[it->collected_count++] = one->what.number;
        return;
    }
    if (one->is == GO_ON && !saga->exists)
        return;
    if (one->what.fails) {
        it->dead++;
        return;
    }
    model_count(it, saga, one);
    if (one->is == BOTH) {
        other->exists = true;
        other->digest = mix(other->digest, one->what.number);
    }
}

static void model_ring(model *it, model_saga *saga)
{
    saga->rings++;
    model_note(it, -((saga->ring - WORLD_START) / 1000));
    saga->ring = PAWL_TIME_MAX;
}

/* Runs timeouts and messages in the order of their due times, up to `now`. */
static bool model_step(model *it, pawl_time now)
{
    pawl_time   first = now + 1;
    post       *one   = NULL;
    model_saga *saga  = NULL;
    for (size_t i = 0; i < it->count; i++)
        if (!it->posts[i].is_done && it->posts[i].due < first) {
            one   = &it->posts[i];
            first = one->due;
        }
    for (size_t i = 0; i < NAMES; i++)
        if (it->counters[i].ring < first) {
            saga  = &it->counters[i];
            first = saga->ring;
        }
    if (saga != NULL)
        model_ring(it, saga);
    else if (one != NULL)
        model_handle(it, one);
    return saga != NULL || one != NULL;
}

/* ---- Trouble ------------------------------------------------------------------ */

typedef enum trouble { NONE, CONFLICT, LOST_BEFORE, LOST_AFTER, UNKNOWN_AFTER } trouble;

typedef struct play {
    world    it;
    model    want;
    uint64_t seed;
    int      round;
    trouble  next; /* of the next commit that comes after `skips` others */
    int      skips;
    bool     ended[NAMES]; /* by a message of this round */
    int64_t  conflicts, losses;
} play;

#define CHECK(p, condition, ...)                                                               \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            print_error("seed %" PRIu64 ", round %d; again: test_engine_random %" PRIu64 ": ", \
                        (p)->seed, (p)->round, (p)->seed);                                     \
            print_error(__VA_ARGS__);                                                          \
            fail_msg(": %s", #condition);                                                      \
        }                                                                                      \
    } while (0)

static void write_saga(play *p, const pawl_saga_table *table, const char *name)
{
    pawl_error    error = PAWL_ERROR_INIT;
    pawl_value    value = pawl_value_text(pawl_text_of(name));
    pawl_saga_row row;
    pawl_code code = pawl_store_saga_find(p->it.store, table, PAWL_SAGA_BY_MAIN, value, p->it.arena,
                                          &row, &error);
    if (code == PAWL_ENOTFOUND || row.version == 0)
        return;
    world_ok(code, &error);
    world_ok(pawl_store_saga_update(p->it.store, table, &row, WORLD_START, &error), &error);
    p->conflicts++;
}

/* Another worker saves some of the sagas as they are. */
static void write_as_another(play *p)
{
    pawl_error                    error  = PAWL_ERROR_INIT;
    const pawl_saga_table *const *tables = NULL;
    size_t                        number = 0;
    world_ok(pawl_endpoint_tables(&application, NULL, NULL, p->it.arena, &tables, &number, &error),
             &error);
    for (size_t i = 0; i < number; i++)
        for (size_t j = 0; j < NAMES; j++)
            if (below(2) == 0)
                write_saga(p, tables[i], names[j]);
}

static pawl_code trouble_at(hook_point point, void *context)
{
    play      *p   = context;
    trouble    now = p->next;
    hook_point wanted =
        now == LOST_AFTER || now == UNKNOWN_AFTER ? HOOK_AFTER_COMMIT : HOOK_BEFORE_COMMIT;
    if (now == NONE || point != wanted || p->skips-- > 0)
        return PAWL_OK;
    p->next = NONE;
    if (now == CONFLICT) {
        write_as_another(p);
        return PAWL_OK;
    }
    p->losses++;
    return now == UNKNOWN_AFTER ? PAWL_EUNKNOWN : PAWL_ELOST;
}

/* The program ends without a word, or goes on with a new handle. */
static void restart(play *p)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (below(2) == 0)
        return;
    p->next = NONE;
    pawl_endpoint_destroy(p->it.endpoint);
    p->it.options.seed++; /* or its ids would be those of its first life */
    world_ok(pawl_endpoint_create(&application, NULL, &p->it.options, &p->it.endpoint, &error),
             &error);
}

static void drain(play *p)
{
    for (int i = 0;; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        pawl_step  step;
        int64_t    losses = p->losses;
        pawl_code  code   = pawl_endpoint_drain(p->it.endpoint, &step, &error);
        if (code == PAWL_OK)
            return;
        CHECK(p, p->losses > losses && i < 10, "%s: %s", pawl_code_name(code), error.text);
        restart(p);
    }
}

/* ---- Looking --------------------------------------------------------------------- */

static int compare_numbers(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void check_saga(play *p, const char *saga, const char *name, const model_saga *want)
{
    const char *json = world_saga_text(&p->it, saga, name, NULL);
    CHECK(p, (json[0] != '\0') == want->exists, "%s %s is '%s', wanted %d", saga, name, json,
          (int)want->exists);
    if (!want->exists)
        return;
    int64_t digest = want->digest != 0 ? world_json_number(json, "digest") : 0;
    int64_t rings  = want->rings != 0 ? world_json_number(json, "rings") : 0;
    CHECK(p, digest == want->digest && rings == want->rings, "%s %s is %s, wanted %d and %d", saga,
          name, json, (int)want->digest, (int)want->rings);
}

static void check_timeouts(play *p)
{
    pawl_timeout_rows rows   = world_timeouts(&p->it);
    size_t            wanted = 0;
    for (size_t i = 0; i < NAMES; i++) {
        pawl_time ring  = p->want.counters[i].ring;
        size_t    found = 0;
        for (size_t j = 0; j < rows.count; j++)
            found += rows.items[j].due == ring;
        wanted += ring != PAWL_TIME_MAX;
        CHECK(p, ring == PAWL_TIME_MAX || found > 0, "the timeout of %s is not there", names[i]);
    }
    CHECK(p, rows.count == wanted, "%zu timeouts, wanted %zu", rows.count, wanted);
}

/* Rows that were handed over left notes; the rest is fewer than a flush. */
static void check_notes(play *p)
{
    static int64_t  wanted[3 * POSTS_MAX], found[3 * POSTS_MAX];
    model          *want  = &p->want;
    pawl_queue_rows rows  = world_queue(&p->it, "out");
    size_t          rest  = (size_t)world_aggregated(&p->it, "Collected", "collect").all;
    size_t          count = want->note_count, kept = 0, all;
    CHECK(p, rest < 3, "%zu collected rows are left", rest);
    memcpy(wanted, want->notes, count * sizeof wanted[0]);
    memcpy(wanted + count, want->collected, want->collected_count * sizeof wanted[0]);
    all = count + want->collected_count;
    CHECK(p, rows.count + rest == all, "%zu notes and %zu rows, wanted %zu", rows.count, rest, all);
    for (size_t i = 0; i < rows.count; i++) {
        const char *json = rows.items[i].message.body.data;
        found[i]         = strstr(json, "number") != NULL ? world_json_number(json, "number") : 0;
    }
    qsort(wanted, all, sizeof wanted[0], compare_numbers);
    qsort(found, rows.count, sizeof found[0], compare_numbers);
    for (size_t i = 0; i < all; i++)
        kept += kept < rows.count && found[kept] == wanted[i];
    CHECK(p, kept == rows.count, "a note is there twice, or one that nobody sent");
}

static void check_all(play *p)
{
    model *want = &p->want;
    while (model_step(want, world_now(&p->it))) {
    }
    for (size_t i = 0; i < NAMES; i++) {
        check_saga(p, "Counter", names[i], &want->counters[i]);
        check_saga(p, "Box", names[i], &want->boxes[i]);
    }
    check_timeouts(p);
    check_notes(p);
    pawl_queue_rows left = world_queue(&p->it, "desk");
    CHECK(p, left.count == 0,
          "%zu messages are left, of type %s, due in %d us, %d attempts, waiting %d, %s",
          left.count, left.items[0].message.type.data, (int)(left.items[0].due - world_now(&p->it)),
          (int)left.items[0].attempts, (int)(left.items[0].waiting_since != 0),
          left.items[0].history.data);
    pawl_dead_rows dead = world_dead(&p->it);
    CHECK(p, dead.count == want->dead, "%zu dead letters, wanted %zu", dead.count, want->dead);
    pawl_arena_reset(p->it.arena);
}

/* ---- Playing ------------------------------------------------------------------------ */

static const pawl_record *record_of(kind is)
{
    switch (is) {
    case BEGIN: return PAWL_RECORD_OF(begin)();
    case GO_ON: return PAWL_RECORD_OF(go_on)();
    case BOTH: return PAWL_RECORD_OF(both)();
    default: return PAWL_RECORD_OF(collect)();
    }
}

static void post_one(play *p, size_t number, const post *one)
{
    char id[40];
    snprintf(id, sizeof id, "m-%zu", number);
    world_post_at(&p->it, id, one->due, record_of(one->is), &one->what);
}

/* Each message has a time of its own, in whole milliseconds, and no timeout has. */
static void post_new(play *p)
{
    size_t number = p->want.count++;
    post  *one    = &p->want.posts[number];
    CHECK(p, number < POSTS_MAX, "too many");
    pawl_clock_set(p->it.business, world_now(&p->it) + 1000);
    *one      = (post){.is       = (kind)below(KIND_COUNT),
                       .name     = (int)below(NAMES),
                       .box_name = (int)below(NAMES),
                       .due      = world_now(&p->it)};
    one->what = (begin){.name     = pawl_text_of(names[one->name]),
                        .box_name = pawl_text_of(names[one->box_name]),
                        .number   = (int64_t)number + 1,
                        .ring_in  = below(3) == 0 ? PAWL_SECONDS(1 + below(60)) + 500 : 0,
                        .ends     = below(6) == 0,
                        .fails    = below(8) == 0,
                        .sends    = below(2) == 0};
    /* A message that continues a saga ended by its batch is claimed again a moment later, and finds
     * a saga that begins meanwhile: the order of messages alone does not tell which. */
    if (one->is == GO_ON && p->ended[one->name])
        one->is = BEGIN;
    p->ended[one->name] |= one->what.ends;
    one->what.cancels = one->what.ring_in == 0 && below(4) == 0;
    post_one(p, number, one);
}

/* A message comes once more, whatever became of it. */
static void post_copy(play *p)
{
    if (p->want.count == 0)
        return;
    size_t number = (size_t)below((int64_t)p->want.count);
    post   again  = p->want.posts[number];
    if (again.is_done)
        again.due = world_now(&p->it);
    post_one(p, number, &again);
}

static void plan_trouble(play *p)
{
    p->next  = below(3) == 0 ? CONFLICT : (trouble)below(UNKNOWN_AFTER + 1);
    p->skips = (int)below(2);
    /* Conflicts far apart: of a saga that is hot no other worker can write the row. */
    pawl_clock_set(p->it.machine, pawl_clock_now(p->it.machine) + PAWL_MINUTES(10));
}

static void play_seed(const char *url, uint64_t seed)
{
    static play p;
    memset(&p, 0, sizeof p);
    p.seed = seed;
    for (size_t i = 0; i < NAMES; i++)
        p.want.counters[i].ring = p.want.boxes[i].ring = PAWL_TIME_MAX;
    pawl_random_seed(&source, seed);
    pawl_store *held = world_hold(url);
    world_open(&p.it, hook_url(url), &application, NULL,
               &(pawl_endpoint_options){.batch_messages = 1 + (int)below(20)});
    hook_set(trouble_at, &p);
    for (p.round = 0; p.round < ROUNDS; p.round++) {
        memset(p.ended, 0, sizeof p.ended);
        for (int64_t i = below(8); i > 0; i--)
            post_new(&p);
        if (below(3) == 0)
            post_copy(&p);
        plan_trouble(&p);
        if (below(2) == 0)
            pawl_clock_set(p.it.business, world_now(&p.it) + PAWL_SECONDS(below(50)));
        drain(&p);
        p.next = NONE;
        drain(&p);
        check_all(&p);
    }
    hook_set(NULL, NULL);
    world_close(&p.it);
    pawl_store_close(held);
    print_message("seed %" PRIu64 ": %zu messages, %d sagas written by another, %d answers lost\n",
                  seed, p.want.count, (int)p.conflicts, (int)p.losses);
}

static void the_store_holds_what_the_model_holds(const char *url)
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
    const struct CMUnitTest tests[] = {
        ON_ALL_STORES_IN_TIME(the_store_holds_what_the_model_holds),
    };
    if (argc > 1)
        seed_first = strtoull(argv[1], NULL, 10);
    if (argc > 1)
        seed_count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    scenario_files_in_memory();
    world_quiet();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
