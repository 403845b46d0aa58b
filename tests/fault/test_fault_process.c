/* test_fault_process.c - money that moves between two accounts while every call of
 * the store, and every allocation, fails in turn.
 *
 * O1, O4, O7, O16 to O18, O32. Three transfers go through the outbox of one
 * store: one succeeds, one is rejected at its first leg, one at its second and gets
 * its money back. The program is stopped and started in between. Whatever fails, the
 * event store must then tell the same story.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/bank.h"
#include "support/fault_memory.h"
#include "support/fault_store.h"
#include "support/fault_strides.h"

#include <limits.h>

#define STEPS_MAX 400
#define MEMORY_STRIDE 97 /* on a server one allocation of so many fails */

static const pawl_entity account_entity = {.name           = "Account",
                                           .state          = PAWL_RECORD_OF(account),
                                           .on             = account_on,
                                           .apply          = account_apply,
                                           .snapshot_every = 2};

static const pawl_endpoint_spec bank        = {.name      = "bank",
                                               .processes = PAWL_PROCESSES(&transfer_process),
                                               .entities  = PAWL_ENTITIES(&account_entity)};
static const pawl_application   application = APPLICATION("bank", &bank);

/* ---- The play --------------------------------------------------------------------- */

typedef struct play {
    char                  name[120]; /* of the plan */
    char                  made[300]; /* URL that the scenario was given */
    char                  url[330];  /* the same, of a store that waits for no disk */
    pawl_clock           *business, *machine;
    pawl_endpoint_options options;
    pawl_endpoint        *endpoint;
    pawl_store           *store; /* without faults, to look */
    pawl_arena           *arena;
    long                  failures;
} play;

#define CHECK(it, condition, ...)            \
    do {                                     \
        if (!(condition)) {                  \
            print_error("%s: ", (it)->name); \
            print_error(__VA_ARGS__);        \
            fail_msg("%s", #condition);      \
        }                                    \
    } while (0)

static void send(play *it, const char *id, const pawl_record *record, const void *message)
{
    pawl_sender            *sender = NULL;
    const pawl_send_options with   = {PAWL_SEND_OPTIONS_HEAD, .id = id,
                                      .due = pawl_clock_now(it->business)};
    must(pawl_sender_open(it->url, NULL, &sender, world_error()));
    must(pawl_sender_send(sender, "bank", &with, record, message, world_error()));
    must(pawl_sender_commit(sender, world_error()));
    pawl_sender_close(sender);
}

static void open_endpoint(play *it)
{
    for (int i = 0; it->endpoint == NULL; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        CHECK(it, i < 10, "the endpoint cannot be created: ");
        fault_memory_go_on();
        pawl_code code =
            pawl_endpoint_create(&application, NULL, &it->options, &it->endpoint, &error);
        fault_memory_pause();
        it->failures += code != PAWL_OK;
    }
}

/* Messages that failed several times wait for minutes; which calls fail depends on how fast the
 * machine is. */
static bool has_waiting(play *it)
{
    pawl_stats stats = PAWL_STATS_INIT;
    must(pawl_store_stats(it->store, PAWL_TIME_MAX, it->arena, &stats, world_error()));
    return stats.queue_count +
               (size_t)(stats.outbox_pending + stats.outbox_blocked + stats.timeouts_pending) !=
           0;
}

/* Until nothing is due for a while: what failed waits for its next try. */
static void go(play *it)
{
    int idle = 0;
    for (int i = 0; idle < 6 || has_waiting(it); i++) {
        pawl_error error = PAWL_ERROR_INIT;
        pawl_step  step  = PAWL_STEP_INIT;
        CHECK(it, i < STEPS_MAX, "it does not come to rest: ");
        open_endpoint(it);
        fault_memory_go_on();
        pawl_code code = pawl_endpoint_step(it->endpoint, &step, &error);
        fault_memory_pause();
        it->failures += code != PAWL_OK;
        if (code == PAWL_OK && !step.is_idle) {
            idle = 0;
            continue;
        }
        idle++;
        pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(20));
        pawl_clock_set(it->business, pawl_clock_now(it->business) + PAWL_SECONDS(20));
    }
}

static void close_endpoint(play *it)
{
    pawl_endpoint_destroy(it->endpoint);
    it->endpoint = NULL;
}

/* ---- What must be true -------------------------------------------------------------- */

static pawl_event_rows events_of(play *it, const char *stream)
{
    pawl_event_rows        rows  = {.count = 0};
    const pawl_event_query query = {.stream = pawl_text_of(stream)};
    must(pawl_store_event_list(it->store, &query, it->arena, &rows, world_error()));
    for (size_t i = 0; i < rows.count; i++)
        CHECK(it, rows.items[i].version == (int64_t)i + 1, "%s has a gap: ", stream);
    return rows;
}

static size_t count_of(play *it, const char *stream, const char *type, const char *body)
{
    pawl_event_rows rows  = events_of(it, stream);
    size_t          count = 0;
    for (size_t i = 0; i < rows.count; i++)
        count += pawl_text_equal(rows.items[i].event.type, pawl_text_of(type)) &&
                 (body == NULL || pawl_text_equal(rows.items[i].event.body, pawl_text_of(body)));
    return count;
}

static void check_count(play *it, const char *stream, const char *type, const char *body,
                        size_t wanted)
{
    size_t found = count_of(it, stream, type, body);
    CHECK(it, found == wanted, "%s has %zu of %s %s, wanted are %zu: ", stream, found, type,
          body != NULL ? body : "", wanted);
}

static void check_total(play *it, const char *stream, size_t wanted)
{
    size_t found = events_of(it, stream).count;
    CHECK(it, found == wanted, "%s has %zu events, wanted are %zu: ", stream, found, wanted);
}

static void check_story(play *it)
{
    check_count(it, "Account/a", "credited", "{\"cents\":100}", 1);
    check_count(it, "Account/a", "debited", "{\"cents\":30}", 1);
    check_count(it, "Account/a", "debited", "{\"cents\":10}", 1);
    check_count(it, "Account/a", "credited", "{\"cents\":10}", 1);
    check_total(it, "Account/a", 4);
    check_count(it, "Account/b", "credited", "{\"cents\":30}", 1);
    check_total(it, "Account/b", 1);
    check_total(it, "Account/c", 0);
    check_count(it, "Transfer/1", "advanced", NULL, 2);
    check_count(it, "Transfer/1", "pawl.completed", NULL, 1);
    check_total(it, "Transfer/1", 4);
    check_count(it, "Transfer/2", "failed", NULL, 1);
    check_count(it, "Transfer/2", "pawl.completed", NULL, 1);
    check_total(it, "Transfer/2", 3);
    check_count(it, "Transfer/3", "advanced", NULL, 2);
    check_count(it, "Transfer/3", "failed", NULL, 1);
    check_count(it, "Transfer/3", "pawl.completed", NULL, 1);
    check_total(it, "Transfer/3", 5);
}

static void check_rows(play *it)
{
    pawl_queue_rows   queue;
    pawl_timeout_rows timeouts;
    pawl_outbox_rows  outbox;
    pawl_dead_rows    dead;
    pawl_store       *store = it->store;
    must(pawl_store_queue_list(store, PAWL_TEXT("bank"), 0, it->arena, &queue, world_error()));
    CHECK(it, queue.count == 0, "%zu messages are left: ", queue.count);
    must(pawl_store_timeout_list(store, (pawl_saga_id){{{0}}}, 0, it->arena, &timeouts,
                                 world_error()));
    CHECK(it, timeouts.count == 0, "%zu timeouts are left: ", timeouts.count);
    must(pawl_store_dead_list(store, (pawl_text){.data = "", .size = 0}, 0, it->arena, &dead,
                              world_error()));
    CHECK(it, dead.count == 0,
          "%.*s is a dead letter: %.*s: ", PAWL_TEXT_ARGS(dead.items[0].message.id),
          PAWL_TEXT_ARGS(dead.items[0].error));
    must(pawl_store_outbox_list(store, PAWL_OUTBOX_DISPATCHED, 0, it->arena, &outbox,
                                world_error()));
    /* Six commands and six answers. */
    CHECK(it, outbox.count == 12, "%zu outbox rows are delivered: ", outbox.count);
}

/* ---- Playing it ---------------------------------------------------------------------- */

static void set_up(play *it, const char *scheme)
{
    static const pawl_route routes[] = {{.name = "bank", .is_outbox = true}, {.name = NULL}};
    assert_true(scenario_url(scheme, it->made, sizeof it->made));
    snprintf(it->url, sizeof it->url, "%s%s", it->made,
             strcmp(scheme, "sqlite") == 0 ? "?synchronous=off" : "");
    fault_bind("bank", it->url);
    it->business         = pawl_clock_create(WORLD_START);
    it->machine          = pawl_clock_create(WORLD_START);
    it->arena            = pawl_arena_create(0);
    it->options          = (pawl_endpoint_options)PAWL_ENDPOINT_OPTIONS_INIT;
    it->options.store    = "fault:bank";
    it->options.business = it->business;
    it->options.machine  = it->machine;
    it->options.routes   = routes;
    it->options.seed     = 7;
    world_make_tables(it->url, &application);
    must(pawl_store_open(it->url, NULL, &it->store, world_error()));
}

static long calls; /* of the last plan */

static bool play_once(const char *scheme, const fault_plan *given, long memory_n, long *failures)
{
    play       it   = {.failures = 0};
    fault_plan plan = *given;
    set_up(&it, scheme);
    snprintf(it.name, sizeof it.name, "%s: kind %d of call %ld, seed %llu, allocation %ld", scheme,
             (int)plan.kind, plan.n, (unsigned long long)plan.seed, memory_n);
    plan.clock = it.machine;
    fault_memory_set(memory_n);
    fault_memory_pause();
    fault_plan_set(&plan);
    send(&it, "m-1", PAWL_MESSAGE(credit, .account = PAWL_TEXT("a"), .cents = 100));
    send(&it, "m-2",
         PAWL_MESSAGE(request, .number = 1, .from = PAWL_TEXT("a"), .to = PAWL_TEXT("b"),
                      .cents = 30));
    send(&it, "m-3",
         PAWL_MESSAGE(request, .number = 2, .from = PAWL_TEXT("a"), .to = PAWL_TEXT("b"),
                      .cents = 500));
    go(&it);
    close_endpoint(&it);
    send(&it, "m-4",
         PAWL_MESSAGE(request, .number = 3, .from = PAWL_TEXT("a"), .to = PAWL_TEXT("c"),
                      .cents = 10, .how = PAWL_TEXT("closed")));
    go(&it);
    close_endpoint(&it);
    check_story(&it);
    check_rows(&it);
    bool was_reached = memory_n > 0 ? fault_memory_was_reached() : fault_was_reached();
    *failures += it.failures;
    calls = fault_counts_now().eligible;
    fault_plan_set(NULL);
    fault_memory_set(0);
    pawl_store_close(it.store);
    pawl_clock_destroy(it.business);
    pawl_clock_destroy(it.machine);
    pawl_arena_destroy(it.arena);
    scenario_forget(it.made);
    return was_reached;
}

static const char *scheme_of(const char *url)
{
    static char scheme[20];
    snprintf(scheme, sizeof scheme, "%.*s", (int)strcspn(url, ":"), url);
    return scheme;
}

/* The first run is untouched: it counts the calls that there are. */
static void raise_n(const char *url, const char *name, fault_plan plan)
{
    long failures = 0, runs = 0;
    plan.n = LONG_MAX;
    assert_false(play_once(scheme_of(url), &plan, 0, &failures));
    fault_strides all = fault_strides_of(url, calls);
    for (plan.n = all.first; plan.n <= all.last; plan.n += all.stride, runs++)
        if (!play_once(scheme_of(url), &plan, 0, &failures))
            fail_msg("%s: call %ld of %ld is not reached", name, plan.n, all.last);
    print_message("%s, %s: of %ld calls %ld went wrong in turn, %ld failures were borne\n",
                  scheme_of(url), name, all.last, runs, failures);
    assert_true(all.last > 20);
}

static void many(const char *url, const char *name, fault_plan plan)
{
    const uint64_t seeds    = seeds_of(url, 10);
    long           failures = 0;
    for (plan.seed = 1; plan.seed <= seeds; plan.seed++)
        (void)play_once(scheme_of(url), &plan, 0, &failures);
    print_message("%s, %s: %d of 1000 calls, seeds 1 to %d, %ld failures were borne\n",
                  scheme_of(url), name, plan.chance, (int)seeds, failures);
}

ON_ALL_STORES(o1_o16_a_call_fails_before_it_does_anything, const char *url)
{
    raise_n(url, "before", (fault_plan){.kind = FAULT_BEFORE, .code = PAWL_ELOST});
}

ON_ALL_STORES(o7_o16_an_answer_is_lost, const char *url)
{
    raise_n(url, "after", (fault_plan){.kind = FAULT_AFTER});
}

ON_ALL_STORES(o32_a_commit_lands_late, const char *url)
{
    raise_n(url, "late", (fault_plan){.kind = FAULT_LATE});
    raise_n(url, "just late", (fault_plan){.kind = FAULT_JUST_LATE});
}

ON_ALL_STORES(o4_o7_one_commit_of_three_is_in_doubt, const char *url)
{
    many(url, "unknown", (fault_plan){.kind = FAULT_UNKNOWN, .chance = 333});
    many(url, "late", (fault_plan){.kind = FAULT_LATE, .chance = 333});
}

ON_ALL_STORES(o17_claims_are_handed_out_twice_or_taken, const char *url)
{
    many(url, "again", (fault_plan){.kind = FAULT_AGAIN, .chance = 500});
    many(url, "steal", (fault_plan){.kind = FAULT_STEAL, .chance = 500});
}

ON_ALL_STORES(every_allocation_fails_in_turn, const char *url)
{
    static const fault_plan none     = {.kind = FAULT_NONE};
    const long              stride   = stride_of(url, MEMORY_STRIDE);
    long                    failures = 0, n = 1;
    for (; play_once(scheme_of(url), &none, n, &failures); n += stride)
        assert_true(n < 20000);
    print_message("%s: %ld allocations failed in turn, %ld failures were borne\n", scheme_of(url),
                  (n - 1) / stride, failures);
    assert_true(n > 20);
}

void (*const tests_first)(void) = fault_memory_install;
