/* test_engine_random.c - random work beside a model of it: messages of two senders that begin,
 * continue and end sagas, find them by a transitional property, meet two handlers of one saga, set
 * and cancel timeouts, fail and are discarded or dead, are collected; flushes that fail; copies of
 * messages; another worker that writes the same sagas; answers that are lost, programs that end in
 * the middle, clocks that step back. After each time that all is done the store holds what the
 * model holds.
 *
 * The model handles one message after another, in the order of their time. The seeds are
 * 1 to 4; one that was printed, or COUNT from there on, is played by
 * test_engine_random SEED [COUNT]; many are by engine_random_soak. E1 to E7,
 * E9, E12 to E14, E18, E21, E25, O32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "test_engine_random_sample.h"

#include "pawl/operations.h"

#include <inttypes.h>

#define SEEDS 4
#define ROUNDS 40
#define POSTS_MAX 1000

static uint64_t    seed_first = 1, seed_count = SEEDS;
static pawl_random source;

static int64_t below(int64_t limit)
{
    return (int64_t)pawl_random_below(&source, (uint64_t)limit);
}

/* ---- The model ---------------------------------------------------------------- */

typedef enum kind { BEGIN, GO_ON, BOTH, COLLECT, LAST, SEEK_BADGE, KIND_COUNT } kind;

typedef struct post {
    kind      is;
    int       name, box_name, sender;
    begin     what;
    int64_t   sought; /* SEEK_BADGE: the message that gave the badge */
    pawl_time due;
    bool      is_done;
} post;

typedef struct model_saga {
    bool      exists;
    int64_t   digest, rings, badge;
    int       sender; /* of the message that began it */
    pawl_time ring;   /* PAWL_TIME_MAX: not set */
} model_saga;

typedef struct model {
    post       posts[POSTS_MAX];
    size_t     count, dead;
    model_saga counters[NAMES], boxes[NAMES];
    int64_t    notes[2 * POSTS_MAX]; /* as note_in */
    size_t     note_count;
    int64_t    collected[POSTS_MAX];
    size_t     collected_count;
} model;

/* The queue is a part of the note, so that one in the wrong queue is missed. */
static int64_t note_in(size_t queue, int64_t number)
{
    return number * (1 + SENDERS) + (int64_t)queue;
}

static void model_note(model *it, size_t queue, int64_t number)
{
    it->notes[it->note_count++] = note_in(queue, number);
}

static void model_begin(model_saga *saga, const post *one)
{
    if (!saga->exists)
        *saga = (model_saga){.exists = true, .ring = PAWL_TIME_MAX, .sender = one->sender};
}

static void model_count(model *it, model_saga *saga, const post *one)
{
    model_begin(saga, one);
    saga->digest = mix(saga->digest, one->what.number);
    saga->badge  = one->what.number;
    if (one->what.ring_in > 0)
        saga->ring = one->due + one->what.ring_in;
    if (one->what.cancels)
        saga->ring = PAWL_TIME_MAX;
    if (one->what.sends)
        model_note(it, 0, one->what.number);
    if (!one->what.ends)
        return;
    model_note(it, 1 + (size_t)saga->sender, one->what.number);
    *saga = (model_saga){.ring = PAWL_TIME_MAX};
}

static void model_seek(model *it, const post *one)
{
    for (size_t i = 0; i < NAMES; i++)
        if (it->counters[i].exists && it->counters[i].badge == one->sought) {
            it->counters[i].digest = mix(it->counters[i].digest, one->what.number);
            it->counters[i].badge  = one->what.number;
            model_note(it, 0, one->what.number);
            return;
        }
}

/* The first of two handlers; false: it completed the saga, and the second does not run. */
static bool model_last(model_saga *saga, const post *one)
{
    model_begin(saga, one);
    saga->digest = mix(saga->digest, one->what.number + 7);
    if (one->what.ends)
        *saga = (model_saga){.ring = PAWL_TIME_MAX};
    return saga->exists;
}

static void model_handle(model *it, post *one)
{
    model_saga *saga = &it->counters[one->name], *other = &it->boxes[one->box_name];
    one->is_done = true;
    if (one->is == COLLECT) {
        it->collected[it->collected_count++] = one->what.number;
        return;
    }
    if (one->is == SEEK_BADGE) {
        model_seek(it, one);
        return;
    }
    if (one->is == GO_ON && !saga->exists)
        return;
    if (one->what.fails && !(one->is == LAST && one->what.ends)) {
        it->dead += one->what.number % 2 == 0; /* others are discarded */
        return;
    }
    if (one->is == LAST && !model_last(saga, one))
        return;
    model_count(it, saga, one);
    if (one->is == BOTH) {
        other->exists = true;
        other->digest = mix(other->digest, one->what.number);
    }
}

static void model_ring(model *it, model_saga *saga)
{
    saga->rings++;
    model_note(it, 1 + (size_t)saga->sender, -((saga->ring - WORLD_START) / 1000));
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
    world     it;
    model     want;
    uint64_t  seed;
    int       round;
    trouble   next; /* of the next commit that comes after `skips` others */
    int       skips;
    bool      ended[NAMES]; /* by a message that may be in one batch with the next */
    pawl_time last;         /* due time of a message */
    int64_t   conflicts, losses, releases;
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
    must(pawl_store_saga_update(p->it.store, table, &row, WORLD_START, world_error()));
    p->conflicts++;
}

/* Another worker saves some of the sagas as they are. */
static void write_as_another(play *p)
{
    const pawl_saga_table *const *tables = NULL;
    size_t                        number = 0;
    must(pawl_endpoint_tables(&application, NULL, NULL, p->it.arena, &tables, &number,
                              world_error()));
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
    if (below(2) == 0)
        return;
    p->next = NONE;
    pawl_endpoint_destroy(p->it.endpoint);
    p->it.options.seed++; /* or its ids would be those of its first life */
    must(pawl_endpoint_create(&application, NULL, &p->it.options, &p->it.endpoint, world_error()));
}

static void drain(play *p)
{
    for (int i = 0;; i++) {
        pawl_error error  = PAWL_ERROR_INIT;
        pawl_step  step   = PAWL_STEP_INIT;
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

/* The numbers of the notes that are there; how many. */
static size_t find_notes(play *p, int64_t *found)
{
    size_t count = 0;
    for (size_t queue = 0; queue < 1 + SENDERS; queue++) {
        pawl_queue_rows rows = world_queue(&p->it, queues[queue]);
        for (size_t i = 0; i < rows.count; i++) {
            const char *json   = rows.items[i].message.body.data;
            bool        is_any = strstr(json, "number") != NULL;
            found[count++]     = note_in(queue, is_any ? world_json_number(json, "number") : 0);
        }
    }
    return count;
}

/* An operator has the dead partition handed over again. */
static void release(play *p)
{
    must(pawl_store_partition_run_now(p->it.store, PAWL_TEXT("Collected"), PAWL_TEXT("ann"),
                                      PAWL_TEXT(""), world_now(&p->it), world_error()));
    p->releases++;
}

/* Rows that were handed over left notes; the rest is fewer than a flush, or waits for the next try
 * of one that failed. */
static void check_notes(play *p)
{
    static int64_t         wanted[3 * POSTS_MAX], found[3 * POSTS_MAX];
    model                 *want   = &p->want;
    pawl_aggregator_counts counts = world_aggregated(&p->it, "Collected", "collect");
    size_t                 rest = (size_t)counts.all, count = want->note_count, kept = 0, all;
    size_t                 found_count = find_notes(p, found);
    CHECK(p, rest < 3 || counts.flush_attempts > 0, "%zu collected rows are left", rest);
    if (counts.flush_is_dead)
        release(p);
    memcpy(wanted, want->notes, count * sizeof wanted[0]);
    for (size_t i = 0; i < want->collected_count; i++)
        wanted[count + i] = note_in(0, want->collected[i]);
    all = count + want->collected_count;
    CHECK(p, found_count + rest == all, "%zu notes and %zu rows, wanted %zu", found_count, rest,
          all);
    qsort(wanted, all, sizeof wanted[0], compare_numbers);
    qsort(found, found_count, sizeof found[0], compare_numbers);
    for (size_t i = 0; i < all; i++)
        kept += kept < found_count && found[kept] == wanted[i];
    CHECK(p, kept == found_count, "a note is there twice, in another queue, or nobody sent it");
}

/* A message for a badge that no saga has waits a moment before it is dropped. */
static void check_left(play *p)
{
    pawl_queue_rows left = world_queue(&p->it, "desk");
    for (size_t i = 0; i < left.count; i++) {
        const pawl_queue_row *row        = &left.items[i];
        bool                  is_waiting = row->waiting_since != 0 || row->due > world_now(&p->it);
        CHECK(p, is_waiting, "a message is left, of type %s, due in %d us, %d attempts, %s",
              row->message.type.data, (int)(row->due - world_now(&p->it)), (int)row->attempts,
              row->history.data);
    }
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
    check_left(p);
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
    case LAST: return PAWL_RECORD_OF(last)();
    case SEEK_BADGE: return PAWL_RECORD_OF(seek)();
    default: return PAWL_RECORD_OF(collect)();
    }
}

/* In the name of its sender. */
static void post_one(play *p, size_t number, const post *one)
{
    char              badges[2][40];
    const pawl_header headers[] = {{"pawl.reply_to", queues[1 + one->sender]}, {NULL, NULL}};
    const char       *id        = test_text("m-%zu", number);
    snprintf(badges[0], sizeof badges[0], "badge-%d", (int)one->what.number);
    snprintf(badges[1], sizeof badges[1], "badge-%d", (int)one->sought);
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = one->due, .id = id};
    begin             what    = one->what;
    const seek        sought  = {.badge      = pawl_text_of(badges[1]),
                                 .next_badge = pawl_text_of(badges[0]),
                                 .number     = what.number};
    what.badge                = pawl_text_of(badges[0]);
    options.headers           = headers;
    const void *message       = one->is == SEEK_BADGE ? (const void *)&sought : &what;
    test_send(p->it.sender, "desk", &options, record_of(one->is), message);
}

/* Each message has a time of its own, in whole milliseconds, and no timeout has. */
static void post_new(play *p)
{
    size_t number = p->want.count++;
    post  *one    = &p->want.posts[number];
    CHECK(p, number < POSTS_MAX, "too many");
    if (p->last < world_now(&p->it))
        p->last = world_now(&p->it);
    p->last += 1000;
    pawl_clock_set(p->it.business, p->last);
    *one      = (post){.is       = (kind)below(KIND_COUNT),
                       .name     = (int)below(NAMES),
                       .box_name = (int)below(NAMES),
                       .sender   = (int)below(SENDERS),
                       .sought   = (int64_t)number - below(3),
                       .due      = p->last};
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
    if (below(3) == 0)
        flush_failures = 1 + (int)below(2);
    /* Conflicts far apart: of a saga that is hot no other worker can write the row. */
    pawl_clock_set(p->it.machine, pawl_clock_now(p->it.machine) + PAWL_MINUTES(10));
}

/* Both clocks go on, stand still or step back: messages that were due are not due then. */
static void move_clocks(play *p)
{
    if (below(2) == 0)
        pawl_clock_set(p->it.business, world_now(&p->it) + PAWL_SECONDS(below(50)));
    else if (below(3) == 0)
        pawl_clock_set(p->it.business, world_now(&p->it) - below(5000));
    if (below(4) == 0)
        pawl_clock_set(p->it.machine, pawl_clock_now(p->it.machine) - PAWL_SECONDS(below(20)));
}

static void play_seed(const char *url, uint64_t seed)
{
    static play p;
    memset(&p, 0, sizeof p);
    p.seed = seed;
    for (size_t i = 0; i < NAMES; i++)
        p.want.counters[i].ring = p.want.boxes[i].ring = PAWL_TIME_MAX;
    pawl_random_seed(&source, seed);
    world_hold(url);
    world_open(&p.it, hook_url(url), &application, NULL,
               &(pawl_endpoint_options){.batch_messages = 1 + (int)below(20),
                                        .retry_delay    = PAWL_SECONDS(2)});
    hook_set(trouble_at, &p);
    for (p.round = 0; p.round < ROUNDS; p.round++) {
        if (world_queue(&p.it, "desk").count == 0)
            memset(p.ended, 0, sizeof p.ended);
        for (int64_t i = below(8); i > 0; i--)
            post_new(&p);
        if (below(3) == 0)
            post_copy(&p);
        plan_trouble(&p);
        move_clocks(&p);
        drain(&p);
        p.next = NONE;
        drain(&p);
        check_all(&p);
    }
    hook_set(NULL, NULL);
    world_close(&p.it);
    print_message("seed %" PRIu64 ": %zu messages, %d sagas written by another, %d answers lost, "
                  "%d partitions released\n",
                  seed, p.want.count, (int)p.conflicts, (int)p.losses, (int)p.releases);
}

ON_ALL_STORES_IN_TIME(the_store_holds_what_the_model_holds, const char *url)
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
