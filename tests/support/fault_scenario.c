/* fault_scenario.c - runs a shop and its depot while one call fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_scenario.h"

#include "pawl/operations.h"
#include "support/fault_memory.h"
#include "support/fault_shop.h"
#include "support/native.h"
#include "support/thread.h"
#include "support/world.h"

#define ROUNDS_MAX 1000
#define VERSIONS_MAX 16

/* ---- One run -------------------------------------------------------------------- */

typedef struct saga_version {
    pawl_uuid id;
    int64_t   last; /* last version; 0: the saga has ended */
} saga_version;

typedef struct run {
    char                  name[120]; /* the plan's name, for messages */
    char                  main_url[1000], depot_url[1000];
    bool                  has_sql;
    pawl_clock           *business, *machine;
    pawl_endpoint_options options;
    pawl_endpoint        *shop, *depot;
    pawl_store           *main_store, *depot_store; /* to inspect the stores, without faults */
    pawl_sender          *sender;
    pawl_arena           *arena;
    saga_version          versions[VERSIONS_MAX];
    size_t                version_count;
    fault_result          result;
    long                  memory_n; /* the allocation that fails; 0: faults of the plan */
} run;

#define CHECK(it, condition, ...)                                                               \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            print_message("under %s, met in %s:\n", (it)->name, fault_op_name(fault_op_met())); \
            fail_msg(__VA_ARGS__);                                                              \
        }                                                                                       \
    } while (0)

static bool is_touched(const run *it)
{
    return it->memory_n > 0 ? fault_memory_was_reached() : fault_was_reached();
}

/* Counts a failure of the program, which must come from the fault. Calls of the test itself never fail: memory faults
 * are paused. */
static bool is_borne(run *it, pawl_code code, const pawl_error *error)
{
    fault_memory_pause();
    if (code == PAWL_OK)
        return true;
    CHECK(it, is_touched(it), "no fault was met, yet: %s: %s", pawl_code_name(code), error->text);
    it->result.failures++;
    CHECK(it, it->result.failures < ROUNDS_MAX, "it fails again and again: %s: %s",
          pawl_code_name(code), error->text);
    return false;
}

/* ---- Versions follow one another ---- */

static saga_version *version_of(run *it, pawl_saga_id id)
{
    for (size_t i = 0; i < it->version_count; i++)
        if (pawl_uuid_compare(it->versions[i].id, id.uuid) == 0)
            return &it->versions[i];
    CHECK(it, it->version_count < VERSIONS_MAX, "more sagas than messages that begin one");
    it->versions[it->version_count] = (saga_version){.id = id.uuid};
    return &it->versions[it->version_count++];
}

static bool is_refused(const pawl_refusals *refused, uint32_t group)
{
    for (size_t i = 0; refused != NULL && i < refused->count; i++)
        if (refused->items[i].group == group)
            return true;
    return false;
}

static void see_commit(const pawl_changes *changes, const pawl_refusals *refused, void *context)
{
    run *it = context;
    for (size_t i = 0; i < changes->saga_delete.count; i++) {
        const pawl_saga_delete *change = &changes->saga_delete.items[i];
        if (is_refused(refused, change->group))
            continue;
        CHECK(it, version_of(it, change->id)->last == change->version,
              "a saga was deleted at version %lld", (long long)change->version);
        version_of(it, change->id)->last = 0;
    }
    for (size_t i = 0; i < changes->saga_insert.count; i++) {
        const pawl_saga_insert *change = &changes->saga_insert.items[i];
        if (is_refused(refused, change->group))
            continue;
        CHECK(it, version_of(it, change->id)->last == 0, "a saga was inserted twice");
        version_of(it, change->id)->last = 1;
    }
    for (size_t i = 0; i < changes->saga_update.count; i++) {
        const pawl_saga_update *change = &changes->saga_update.items[i];
        if (is_refused(refused, change->group))
            continue;
        CHECK(it, version_of(it, change->id)->last == change->version,
              "a saga went from version %lld, it was at %lld", (long long)change->version,
              (long long)version_of(it, change->id)->last);
        version_of(it, change->id)->last = change->version + 1;
    }
}

/* ---- The program ---- */

static void create_shop(run *it)
{
    pawl_error              error       = PAWL_ERROR_INIT;
    const pawl_application *application = it->has_sql ? &fault_shop_sql : &fault_shop_plain;
    pawl_code               code;
    do {
        fault_memory_go_on();
        code = pawl_endpoint_create(application, NULL, &it->options, &it->shop, &error);
    } while (!is_borne(it, code, &error));
}

static void restart(run *it)
{
    it->result.restarts++;
    pawl_endpoint_destroy(it->shop);
    create_shop(it);
}

/* Steps both endpoints until nothing is due. */
static void drain(run *it)
{
    pawl_error error = PAWL_ERROR_INIT;
    bool       is_idle;
    int        rounds = 0;
    do {
        pawl_step step = PAWL_STEP_INIT, depot_step = PAWL_STEP_INIT;
        fault_memory_go_on();
        pawl_code code    = pawl_endpoint_step(it->shop, &step, &error);
        bool      is_fine = is_borne(it, code, &error);
        if (!is_fine)
            pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(1));
        if (!is_fine && pawl_code_retry(code) == PAWL_RETRY_NEVER)
            restart(it);
        must(pawl_endpoint_drain(it->depot, &depot_step, world_error()));
        is_idle = is_fine && step.is_idle && depot_step.handled == 0;
        CHECK(it, rounds++ < ROUNDS_MAX, "it is never idle");
    } while (!is_idle);
}

static void look_into(const char *url, pawl_store **store)
{
    must(pawl_store_open(url, NULL, store, world_error()));
}

static pawl_stats look(run *it)
{
    pawl_stats stats = PAWL_STATS_INIT;
    must(pawl_store_stats(it->main_store, pawl_clock_now(it->business), it->arena, &stats,
                          world_error()));
    return stats;
}

static int64_t pending(run *it)
{
    pawl_stats stats = look(it);
    return stats.outbox_pending + stats.outbox_blocked;
}

/* Advances both clocks, and drains; then advances the machine clock until the outbox has delivered everything. */
static void move(run *it, int64_t duration)
{
    pawl_clock_set(it->business, pawl_clock_now(it->business) + duration);
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + duration);
    drain(it);
    for (int i = 0; pending(it) > 0; i++) {
        CHECK(it, i < ROUNDS_MAX, "%lld outbox rows are never delivered", (long long)pending(it));
        pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_MINUTES(1));
        drain(it);
    }
}

static void open_sender(run *it)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code;
    do {
        fault_memory_go_on();
        code = pawl_sender_open("fault:main", NULL, &it->sender, &error);
    } while (!is_borne(it, code, &error));
}

static void send_all(run *it)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code;
    do {
        fault_memory_go_on();
        code = pawl_sender_commit(it->sender, &error);
    } while (!is_borne(it, code, &error));
}

static void put(run *it, const char *id, const pawl_record *record, const void *message)
{
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = pawl_clock_now(it->business),
                                 .id = id};
    must(pawl_sender_send(it->sender, "shop", &options, record, message, world_error()));
}

static void put_json(run *it, const char *id, const char *type)
{
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = pawl_clock_now(it->business),
                                 .id = id};
    must(pawl_sender_send_json(it->sender, "shop", &options, type, PAWL_TEXT("{}"), world_error()));
}

/* A newer program works beside this one and knows a type that this one does not. The message must not become a dead
 * letter before the newer program has ended. */
static void meet_newer(run *it)
{
    pawl_store *newer = NULL;
    pawl_time   now   = pawl_clock_now(it->machine);
    look_into(it->main_url, &newer);
    must(pawl_store_worker_open(newer, PAWL_TEXT("shop"), PAWL_TEXT("[\"rolling\"]"), now,
                                world_error()));
    put_json(it, "m-rolling", "rolling");
    send_all(it);
    move(it, 0);
    CHECK(it, look(it).dead == 1, "a type that a newer worker knows is a dead letter");
    must(pawl_store_worker_close(newer, now, world_error()));
    pawl_store_close(newer);
}

/* Inserts a timeout of another program, for a queue that nobody reads here. */
static void insert_foreign(run *it)
{
    pawl_store      *other = NULL;
    pawl_time        now   = pawl_clock_now(it->machine);
    pawl_timeout_row row   = {.id          = {{{1}}},
                              .name        = PAWL_TEXT("tide"),
                              .destination = PAWL_TEXT("harbour"),
                              .due         = pawl_clock_now(it->business) + PAWL_MINUTES(10)};
    look_into(it->main_url, &other);
    must(pawl_store_timeout_insert(other, &row, now, world_error()));
    must(pawl_store_worker_close(other, now, world_error()));
    pawl_store_close(other);
}

static void play(run *it)
{
    insert_foreign(it);
    put(it, "m-a", PAWL_MESSAGE(place, .name = PAWL_TEXT("a")));
    put(it, "m-b", PAWL_MESSAGE(place, .name = PAWL_TEXT("b")));
    put(it, "m-stray", PAWL_MESSAGE(pay, .name = PAWL_TEXT("stray")));
    put_json(it, "m-unknown", "mystery");
    for (int32_t i = 1; i <= 2 && it->has_sql; i++) {
        char id[20];
        snprintf(id, sizeof id, "m-audit-%d", (int)i);
        put(it, id, PAWL_MESSAGE(audit, .number = i));
    }
    send_all(it);
    move(it, 0);
    move(it, PAWL_MINUTES(6));
    put(it, "m-pay", PAWL_MESSAGE(pay, .name = PAWL_TEXT("a")));
    send_all(it);
    move(it, 0);
    move(it, PAWL_MINUTES(30));
    meet_newer(it);
    pawl_endpoint_destroy(it->shop); /* restarts after a pause */
    create_shop(it);
    move(it, PAWL_HOURS(25));
    /* Each minute refused flushes are due again. */
    for (int i = 0; i < 50 && look(it).aggregator_rows > 0; i++)
        move(it, PAWL_MINUTES(1));
}

/* On a server a claim may skip a message that became visible late, for as long as scans of the whole queue are slow.
 * That is measured by the server's clock, so the virtual clocks do not help. */
static void empty_depot(run *it)
{
    patience left = patience_of(THREAD_SECONDS);
    for (;;) {
        pawl_queue_rows rows = {.count = 0};
        pawl_step       step = PAWL_STEP_INIT;
        must(pawl_endpoint_drain(it->depot, &step, world_error()));
        must(pawl_store_queue_list(it->depot_store, PAWL_TEXT("depot"), 0, it->arena, &rows,
                                   world_error()));
        if (rows.count == 0)
            return;
        patience_wait(&left, "under %s: %zu messages of the depot are left", it->name, rows.count);
    }
}

/* ---- What must be true ---- */

static void check_order(run *it)
{
    static const char expected[] =
        "{\"name\":\"a\",\"steps\":4,\"reminders\":1,\"paid\":1,\"packed\":1}";
    pawl_error error   = PAWL_ERROR_INIT;
    pawl_text  data    = {0};
    int64_t    version = 0, count = 0;
    pawl_value name = pawl_value_text(PAWL_TEXT("a"));
    while (!is_borne(
        it, pawl_endpoint_saga(it->shop, "OrderSaga", &name, it->arena, &data, &version, &error),
        &error)) {
    }
    CHECK(it, world_json_is(it->main_url, data.data, expected), "order a is %.*s",
          PAWL_TEXT_ARGS(data));
    CHECK(it, version == 4, "order a is at version %lld", (long long)version);
    while (!is_borne(it, pawl_endpoint_saga_count(it->shop, "OrderSaga", &count, &error), &error)) {
    }
    CHECK(it, count == 1, "%lld orders are left", (long long)count);
}

static void check_ledger(run *it, const char *name, const char *expected)
{
    pawl_text  data    = {0};
    int64_t    version = 0;
    pawl_value value   = pawl_value_text(pawl_text_of(name));
    must(pawl_endpoint_saga(it->depot, "LedgerSaga", &value, it->arena, &data, &version,
                            world_error()));
    CHECK(it, world_json_is(it->depot_url, data.data, expected), "the ledger of %s is %.*s", name,
          PAWL_TEXT_ARGS(data));
}

/* Six or four messages were sent to the shop, which sent itself three parcels and an event. */
static size_t copies_of(const run *it)
{
    return it->has_sql ? 6 + 4 : 4 + 4;
}

static void check_rows(run *it)
{
    pawl_store            *store  = it->main_store;
    pawl_text              type   = PAWL_TEXT("parcel");
    pawl_queue_rows        queue  = {.count = 0};
    pawl_timeout_rows      times  = {.count = 0};
    pawl_dead_rows         dead   = {.count = 0};
    pawl_outbox_rows       sent   = {.count = 0};
    pawl_flush_rows        flush  = {.count = 0};
    pawl_aggregator_counts counts = {0};
    must(pawl_store_queue_list(store, PAWL_TEXT("shop"), 0, it->arena, &queue, world_error()));
    CHECK(it, queue.count == 0, "%zu messages are left", queue.count);
    must(pawl_store_queue_list(store, PAWL_TEXT("harbour"), 0, it->arena, &queue, world_error()));
    CHECK(it, queue.count == 1, "%zu messages came of the timeout for elsewhere", queue.count);
    must(
        pawl_store_timeout_list(store, (pawl_saga_id){{{0}}}, 0, it->arena, &times, world_error()));
    CHECK(it, times.count == 0, "%zu timeouts are left", times.count);
    must(pawl_store_dead_list(store, (pawl_text){.data = "", .size = 0}, 0, it->arena, &dead,
                              world_error()));
    for (size_t i = 0; i < dead.count; i++)
        CHECK(it,
              pawl_text_equal(dead.items[i].message.id, PAWL_TEXT("m-unknown")) ||
                  pawl_text_equal(dead.items[i].message.id, PAWL_TEXT("m-rolling")),
              "%.*s is a dead letter: %.*s", PAWL_TEXT_ARGS(dead.items[i].message.id),
              PAWL_TEXT_ARGS(dead.items[i].error));
    CHECK(it, dead.count == 2, "%zu dead letters", dead.count);
    must(pawl_store_outbox_list(store, PAWL_OUTBOX_DISPATCHED, 0, it->arena, &sent, world_error()));
    CHECK(it, sent.count == 6 + copies_of(it), "%zu outbox rows are delivered", sent.count);
    must(pawl_store_outbox_list(store, PAWL_OUTBOX_DEAD, 0, it->arena, &sent, world_error()));
    CHECK(it, sent.count == 0, "%zu outbox rows are dead", sent.count);
    must(pawl_store_aggregator_counts(store, PAWL_TEXT("Parcels/a"), &type, 1,
                                      pawl_clock_now(it->machine), &counts, world_error()));
    CHECK(it, counts.all == 0, "%lld parcels are left", (long long)counts.all);
    must(pawl_store_flush_list(store, PAWL_TEXT("Parcels"), PAWL_TIME_MAX, 10, it->arena, &flush,
                               world_error()));
    CHECK(it, flush.count == 0, "%zu flush rows are left", flush.count);
}

static void check_marks(run *it)
{
    const pawl_text ids[] = {PAWL_TEXT("m-a"),       PAWL_TEXT("m-b"),   PAWL_TEXT("m-stray"),
                             PAWL_TEXT("m-unknown"), PAWL_TEXT("m-pay"), PAWL_TEXT("m-rolling")};
    bool            known[6];
    must(pawl_store_inbox_known(it->main_store, PAWL_TEXT("shop"), ids, 6, known, world_error()));
    for (size_t i = 0; i < 6; i++)
        CHECK(it, known[i], "message %s is not remembered", ids[i].data);
}

static bool has_copy(const pawl_queue_rows *copies, const char *id)
{
    char   part[80];
    size_t found = 0;
    snprintf(part, sizeof part, "\"pawl.audit.id\":\"%s\"", id);
    for (size_t i = 0; i < copies->count; i++)
        found += world_says(copies->items[i].message.headers, part);
    return found == 1;
}

/* Each handled message of the shop was copied once to the audit queue, dead letters were not. */
static void check_copies(run *it)
{
    static const char *const ids[] = {"m-a", "m-b", "m-stray", "m-pay", "m-audit-1", "m-audit-2"};
    size_t                   count = it->has_sql ? 6 : 4;
    pawl_queue_rows          rows  = {.count = 0};
    must(pawl_store_queue_list(it->main_store, PAWL_TEXT("copies"), 0, it->arena, &rows,
                               world_error()));
    for (size_t i = 0; i < count; i++)
        CHECK(it, has_copy(&rows, ids[i]), "message %s has no copy, or two", ids[i]);
    CHECK(it, rows.count == copies_of(it), "%zu copies of handled messages", rows.count);
}

/* A handler's own SQL took effect once: no number twice, none missing. */
static void check_audit(run *it)
{
    int64_t count = native_number(it->main_url, "select count(*) from {audit}");
    int64_t sum   = native_number(it->main_url, "select coalesce(sum(number), 0) from {audit}");
    CHECK(it, count == 2 && sum == 3,
          "the handler with its own SQL wrote %lld rows, their sum %lld", (long long)count,
          (long long)sum);
}

/* After the endpoint's end no lease may outlive its duration, 15 seconds for a leader. */
static void check_leases(run *it)
{
    pawl_store *store   = NULL;
    bool        is_held = false;
    pawl_time   now     = pawl_clock_now(it->machine);
    patience    left    = patience_of(THREAD_SECONDS);
    pawl_stats  stats   = look(it);
    /* A worker may have ended by a fault: a server's session ends a moment after its client. */
    for (; stats.workers > 0 && server_is(it->main_url); stats = look(it))
        patience_wait(&left, "under %s: %lld workers are left", it->name, (long long)stats.workers);
    it->result.conflicts = stats.counters.conflicts;
    it->result.handled   = stats.counters.messages;
    CHECK(it, stats.workers == 0, "%lld workers are left", (long long)stats.workers);
    must(pawl_store_open(it->main_url, NULL, &store, world_error()));
    must(pawl_store_worker_open(store, PAWL_TEXT("next"), PAWL_TEXT("[]"), now, world_error()));
    must(pawl_store_lead(store, PAWL_TEXT("outbox/shop"), now + PAWL_SECONDS(15), PAWL_SECONDS(15),
                         &is_held, world_error()));
    CHECK(it, is_held, "the lease of the outbox's leader is left behind");
    must(pawl_store_worker_close(store, now, world_error()));
    pawl_store_close(store);
}

/* ---- Setting up ---- */

static void name_plan(run *it, const char *scheme, const fault_plan *plan)
{
    static const char *const kinds[] = {"nothing", "before",    "after",     "unknown",
                                        "late",    "just late", "deaf done", "deaf lost",
                                        "delay",   "again",     "steal",     "reorder"};
    snprintf(it->name, sizeof it->name, "%s: %s (%s) of call %ld of %s, chance %d, seed %llu",
             scheme, kinds[plan->kind], pawl_code_name(plan->code), plan->n,
             fault_op_name(plan->op), plan->chance, (unsigned long long)plan->seed);
}

static void set_up(run *it, const char *scheme, const fault_plan *plan)
{
    static const pawl_route routes[] = {{.name = "depot", .url = "fault:depot"}, {.name = NULL}};
    memset(it, 0, sizeof *it);
    name_plan(it, scheme, plan);
    assert_true(scenario_url(scheme, it->main_url, sizeof it->main_url));
    assert_true(scenario_url(scheme, it->depot_url, sizeof it->depot_url));
    fault_bind("main", it->main_url);
    fault_bind("depot", it->depot_url);
    it->has_sql          = strcmp(scheme, "memory") != 0 && strcmp(scheme, "mongodb") != 0;
    it->business         = pawl_clock_create(WORLD_START);
    it->machine          = pawl_clock_create(WORLD_START);
    it->arena            = pawl_arena_create(0);
    it->options          = (pawl_endpoint_options)PAWL_ENDPOINT_OPTIONS_INIT;
    it->options.business = it->business;
    it->options.machine  = it->machine;
    it->options.seed     = 7;
    it->options.store    = it->depot_url;
    world_make_tables(it->main_url, it->has_sql ? &fault_shop_sql : &fault_shop_plain);
    world_make_tables(it->depot_url, &fault_depot);
    look_into(it->main_url, &it->main_store);
    look_into(it->depot_url, &it->depot_store);
    must(pawl_endpoint_create(&fault_depot, NULL, &it->options, &it->depot, world_error()));
    fault_shop_store = it->main_url;
    if (it->has_sql)
        native_exec(it->main_url, "create table {audit} (number integer)");
    it->options.store  = "fault:main";
    it->options.routes = routes;
    it->options.audit  = "#copies";
}

static void tear_down(run *it)
{
    pawl_sender_close(it->sender);
    pawl_endpoint_destroy(it->depot);
    pawl_store_close(it->main_store);
    pawl_store_close(it->depot_store);
    pawl_clock_destroy(it->business);
    pawl_clock_destroy(it->machine);
    pawl_arena_destroy(it->arena);
    scenario_forget(it->main_url);
    scenario_forget(it->depot_url);
}

static fault_result play_once(const char *scheme, const fault_plan *given, long memory_n)
{
    run        it;
    fault_plan plan = *given;
    set_up(&it, scheme, &plan);
    it.memory_n = memory_n;
    if (memory_n > 0)
        snprintf(it.name, sizeof it.name, "%s: allocation %ld", scheme, memory_n);
    plan.clock = it.machine;
    fault_plan_set(&plan);
    fault_observe(see_commit, &it);
    create_shop(&it);
    open_sender(&it);
    play(&it);
    empty_depot(&it);
    check_order(&it);
    check_ledger(&it, "a", "{\"name\":\"a\",\"placed\":1,\"reminded\":1,\"packed\":1}");
    check_ledger(&it, "b", "{\"name\":\"b\",\"placed\":1,\"reminded\":1,\"expired\":1}");
    check_rows(&it);
    check_marks(&it);
    check_copies(&it);
    if (it.has_sql)
        check_audit(&it);
    pawl_endpoint_destroy(it.shop);
    pawl_sender_close(it.sender);
    it.sender = NULL;
    check_leases(&it);
    it.result.was_reached = is_touched(&it);
    it.result.late        = fault_late_code();
    it.result.rows        = fault_row_count();
    it.result.counts      = fault_counts_now();
    fault_observe(NULL, NULL);
    fault_plan_set(NULL);
    tear_down(&it);
    return it.result;
}

fault_result fault_scenario_run(const char *scheme, const fault_plan *plan)
{
    return play_once(scheme, plan, 0);
}

fault_result fault_scenario_run_memory(const char *scheme, long n)
{
    static const fault_plan none = {.kind = FAULT_NONE};
    fault_memory_set(n);
    fault_result result = play_once(scheme, &none, n);
    fault_memory_set(0);
    return result;
}
