/* simulation.c - the processes, the events and the end of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/simulation.h"

#include "simulation/client.h"
#include "simulation/disk.h"
#include "simulation/traffic.h"

#include "runtime/worker/isolation/isolation.h"
#include "store/core/wait.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define REST_MAX PAWL_HOURS(4)
#define STEPS_MAX UINT64_C(20000000)
#define BUSY_STEPS UINT64_C(50000)
#define REST_STEPS 256 /* between two looks whether all is at rest */
#define RESTART_DELAY PAWL_SECONDS(1)
#define DUMMY_WAITERS 128
#define SUBSCRIPTIONS_MAX 32
#define ON_DISK_MAX \
    2 /* processes, which open the store at each power cut again: for SQLite they are threads of one */
#define CUTS_MAX \
    100 /* of the power, in a run: each leaves rows of dead workers, and more of them make it slow */
#define POWER_OPERATIONS 120 /* of the disk, between two cuts at most */

static const simulation_application *app;

typedef struct actor {
    process       *process;
    int            endpoint;
    pawl_endpoint *running; /* NULL: it is not in run() */
    bool           is_stopping;
    int64_t        restart; /* MACHINE_NEVER: it runs, or never again */
} actor;

static struct {
    const sim_plan *plan;
    actor           actors[MACHINE_PROCESSES_MAX];
    int             actor_count;
    process        *client;
    int64_t         sent[PLAN_EVENTS_MAX]; /* tasks */
    int             sent_count;
    int64_t         carrier_away;
    bool            is_traced, is_calm, has_canary;
    bool            is_on_disk; /* whose power is cut until the calm */
    pawl_store     *store;      /* of the simulation itself */
    const char     *store_url;
    /* Of the run's commits. */
    simulation_counts counts;
    char              failure[600];
} run;

/* ---- For the application -------------------------------------------------------------- */

void simulation_fail(const char *format, ...)
{
    va_list arguments;
    if (run.failure[0] != '\0')
        return;
    va_start(arguments, format);
    int size = snprintf(run.failure, sizeof run.failure,
                        "at %.6f: ", (double)(machine_now() - MACHINE_START) / 1e6);
    vsnprintf(run.failure + size, sizeof run.failure - (size_t)size, format, arguments);
    va_end(arguments);
}

const char *simulation_failure(void)
{
    return run.failure[0] != '\0' ? run.failure : NULL;
}

void simulation_pause(int64_t microseconds)
{
    machine_pause(microseconds);
}

uint64_t simulation_draw(uint64_t limit)
{
    return machine_draw(limit);
}

int64_t simulation_now(void)
{
    return machine_now();
}

bool simulation_is_refused(const pawl_refusals *refused, uint32_t group)
{
    for (size_t i = 0; refused != NULL && i < refused->count; i++)
        if (refused->items[i].group == group)
            return true;
    return false;
}

const simulation_application *simulation_app(void)
{
    return app;
}

/* ---- The receiver outside --------------------------------------------------------------- */

/* A delivery that arrived may be said to have failed, and comes again. */
static pawl_code deliver(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        machine_pause((int64_t)machine_draw((uint64_t)run.plan->settings.latency + 1));
        if (machine_now() < run.carrier_away)
            return pawl_error_set(error, PAWL_EUNREACHABLE, "the carrier is away");
        bool fails = !run.is_calm && (int64_t)machine_draw(1000) < run.plan->settings.carrier_fails;
        if (app->delivered != NULL && (!fails || machine_draw(2) == 0))
            app->delivered(items[i].message.id, items[i].message.body);
        if (fails) {
            items[i].outcome = PAWL_ATTEMPT_TRANSIENT;
            items[i].error   = PAWL_TEXT("the carrier is busy");
        }
    }
    return PAWL_OK;
}

const pawl_transport_ops simulation_outbound = PAWL_OUTBOUND(deliver);

/* ---- Processes -------------------------------------------------------------------------- */

static int32_t or_none(int64_t count)
{
    return count > 0 ? (int32_t)count : PAWL_NONE;
}

static const char *name_of(const actor *self)
{
    return app->application->endpoints[self->endpoint]->name;
}

const char *simulation_queue_of(const plan_event *event)
{
    return name_of(&run.actors[event->process % run.actor_count]);
}

static pawl_endpoint_options options_of(const actor *self)
{
    const plan_settings  *settings = &run.plan->settings;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = "sim:";
    options.mode                   = PAWL_OPEN_CREATE;
    options.workers                = (int)settings->workers;
    options.batch_messages         = (int)settings->batch;
    options.immediate_retries      = or_none(settings->immediate_retries);
    options.delayed_retries        = or_none(settings->delayed_retries);
    options.outbox_batch           = (int32_t)settings->outbox_batch;
    options.outbox_attempts        = 1000;
    options.conflict_retries       = 1000;
    options.crashes_max = PAWL_NONE; /* the simulation's crashes are not the messages' fault */
    options.history     = settings->history != 0 ? PAWL_DAYS(1) : 0;
    options.audit       = settings->audit != 0 ? "#copies" : NULL;
    options.ordered     = settings->ordered != 0 ? PAWL_ORDERED_BY_SAGA : NULL;
    if (app->configure != NULL)
        app->configure(name_of(self), &options);
    return options;
}

/* Runs the endpoint until it is stopped; what fails is begun anew, as a service manager does it. */
static void live(void *argument)
{
    actor                *self    = argument;
    pawl_endpoint_options options = options_of(self);
    while (!self->is_stopping) {
        pawl_error     error = PAWL_ERROR_INIT;
        pawl_endpoint *made  = NULL;
        pawl_code      code =
            pawl_endpoint_create(app->application, name_of(self), &options, &made, &error);
        self->running = made;
        if (code == PAWL_OK && !self->is_stopping)
            code = pawl_endpoint_run(made, &error);
        self->running = NULL;
        pawl_endpoint_destroy(made);
        if (code != PAWL_OK)
            pawl_log(PAWL_LOG_INFO, "process ends: %s", error.text);
        if (code != PAWL_OK)
            machine_pause(RESTART_DELAY);
    }
}

static void start(actor *self)
{
    self->restart     = MACHINE_NEVER;
    self->is_stopping = false;
    self->running     = NULL;
    machine_start(self->process, live, self);
}

static void forget_fd(int fd)
{
    pawl__wake_remove(fd);
}

static void crash(actor *self, int64_t pause)
{
    sim_store_crash(self->process);
    machine_crash(self->process, forget_fd);
    self->running = NULL;
    self->restart = machine_now() + pause;
}

static void stop(actor *self)
{
    self->is_stopping = true;
    if (self->running != NULL)
        pawl_endpoint_stop(self->running);
}

/* ---- Events --------------------------------------------------------------------------------- */

static void allow_faults(void)
{
    if (app->faults != NULL)
        app->faults();
}

static void do_event(const plan_event *event)
{
    actor  *self   = &run.actors[event->process % run.actor_count];
    int64_t number = 0;
    switch (event->kind) {
    case plan_event_send:
        number = app->draw();
        if (number != 0)
            run.sent[run.sent_count++] = number;
        break;
    case plan_event_again:
        if (run.sent_count > 0)
            number = run.sent[machine_draw((uint64_t)run.sent_count)];
        break;
    case plan_event_crash: crash(self, event->value); break;
    case plan_event_stop: stop(self); break;
    case plan_event_stall: machine_stall(self->process, event->value); break;
    case plan_event_clock:
        machine_shift(self->process, event->value);
        if (app->clock != NULL)
            app->clock(event->value > 0 ? event->value : -event->value);
        break;
    case plan_event_fault:
        allow_faults();
        sim_store_fault(self->process, (fault_op)event->op, (sim_fault)event->fault,
                        (unsigned)event->value);
        break;
    case plan_event_cut:
        allow_faults();
        sim_store_cut(self->process);
        break;
    case plan_event_away:
        allow_faults();
        sim_store_away_until(machine_now() + event->value);
        break;
    case plan_event_carrier: run.carrier_away = machine_now() + event->value; break;
    case plan_event_retry: machine_start(run.client, client_retry_dead, NULL); break;
    case plan_event_pause:
        machine_start(run.client, client_pause_queue, (void *)(uintptr_t)event);
        break;
    case plan_event_abroad:
        if (app->timeout != NULL)
            machine_start(run.client, client_set_timeout,
                          (void *)(intptr_t)(event - run.plan->events + 1));
        break;
    case plan_event_count: break;
    }
    if (number != 0)
        machine_start(run.client, client_send, (void *)(intptr_t)number);
}

/* The next restart, or MACHINE_NEVER. */
static actor *find_restart(int64_t *time)
{
    actor *next = NULL;
    *time       = MACHINE_NEVER;
    for (int i = 0; i < run.actor_count; i++)
        if (run.actors[i].restart < *time) {
            next  = &run.actors[i];
            *time = next->restart;
        }
    return next;
}

/* A process that ended by itself is gone as any other one: what it had is the system's again. */
static void bury(void)
{
    for (int i = 0; i < run.actor_count; i++) {
        actor *self = &run.actors[i];
        if (process_is_alive(self->process) || self->restart != MACHINE_NEVER)
            continue;
        crash(self, RESTART_DELAY);
    }
}

/* Lets the next thread run, an event happen or a process start. */
static void go_on(int *next_event)
{
    int64_t restart, thread = machine_next();
    int64_t event = *next_event < run.plan->event_count
                        ? MACHINE_START + run.plan->events[*next_event].at
                        : MACHINE_NEVER;
    actor  *self  = find_restart(&restart);
    int64_t first = restart < event ? restart : event;
    if (thread <= first) {
        machine_step();
        return;
    }
    machine_wait_until(first);
    machine_note((uint64_t)first);
    if (event <= restart)
        do_event(&run.plan->events[(*next_event)++]);
    else
        start(self);
}

/* ---- Runs --------------------------------------------------------------------------------------- */

/* Answers of entities go through the outbox, too, and are no tasks. */
static bool has_outbox(void)
{
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_stats  stats = PAWL_STATS_INIT;
    pawl_arena *arena = pawl_arena_create(0);
    if (pawl_store_stats(run.store, machine_now(), arena, &stats, &error) != PAWL_OK)
        simulation_fail("no statistics: %s", error.text);
    pawl_arena_destroy(arena);
    return stats.outbox_pending + stats.outbox_blocked != 0;
}

/* Threads that go on and on within a second, while nothing is committed, wait for something in a busy loop. */
static void look_for_busy_loop(void)
{
    static int64_t  begin, commits;
    static uint64_t steps;
    int64_t         now = machine_now();
    if (machine_steps() < steps || now < begin || now - begin >= PAWL_SECONDS(1) ||
        run.counts.commits != commits) {
        begin   = now;
        steps   = machine_steps();
        commits = run.counts.commits;
    } else if (machine_steps() - steps > BUSY_STEPS) {
        simulation_fail("a busy loop: %" PRIu64 " steps in %" PRId64 " us, and no commit",
                        BUSY_STEPS, now - begin);
    }
}

static int64_t count_done(void)
{
    return app->done != NULL ? app->done() : 0;
}

/* ---- Power ---------------------------------------------------------------------------------- */

static void plan_cut(void)
{
    if (run.is_on_disk)
        disk_cut_after(
            run.is_calm || run.counts.cuts == CUTS_MAX ? 0 : 1 + machine_draw(POWER_OPERATIONS));
}

/* All processes are gone, but for those that only send, whose calls fail. */
static void lose_power(void)
{
    pawl_error error = PAWL_ERROR_INIT;
    sim_store_lose_power();
    pawl_store_close(run.store);
    run.store = NULL;
    if (!sim_store_recover(&error) ||
        pawl_store_open(run.store_url, NULL, &run.store, &error) != PAWL_OK)
        simulation_fail("behind a power cut: %s", error.text);
    for (int i = 0; i < run.actor_count; i++)
        if (run.actors[i].restart == MACHINE_NEVER)
            crash(&run.actors[i], (int64_t)machine_draw(RESTART_DELAY));
    run.counts.cuts++;
    plan_cut();
}

static void play(void)
{
    int     next = 0;
    char    what[300];
    int64_t end = MACHINE_NEVER, done = 0;
    while (simulation_failure() == NULL) {
        go_on(&next);
        if (disk_is_off())
            lose_power();
        bury();
        look_for_busy_loop();
        if (next == run.plan->event_count && !run.is_calm) {
            run.is_calm = true;
            sim_store_calm();
            plan_cut();
            end = machine_now() + REST_MAX;
        }
        if (run.is_calm && count_done() > done) {
            done = count_done();
            end  = machine_now() + REST_MAX;
        }
        if (run.is_calm && machine_steps() % REST_STEPS == 0 && !process_is_alive(run.client) &&
            app->is_at_rest(what, sizeof what) && !has_outbox())
            return;
        if (machine_now() > end || machine_steps() > STEPS_MAX) {
            (void)app->is_at_rest(what, sizeof what);
            simulation_fail("not at rest after %s: %s",
                            machine_now() > end ? "four hours in which nothing was done"
                                                : "20 million steps",
                            what);
        }
    }
}

/* All processes end in order, which they can: nothing is left to do. */
static void stop_all(void)
{
    int64_t end   = machine_now() + PAWL_MINUTES(10);
    bool    lives = true;
    for (int i = 0; i < run.actor_count; i++) {
        run.actors[i].restart = MACHINE_NEVER;
        stop(&run.actors[i]);
    }
    while (lives && simulation_failure() == NULL) {
        lives = false;
        for (int i = 0; i < run.actor_count; i++)
            lives |= process_is_alive(run.actors[i].process);
        if (lives && machine_next() > end)
            simulation_fail("a process does not end");
        else if (lives)
            machine_step();
    }
}

static void compare(void)
{
    pawl_arena *arena = pawl_arena_create(0);
    if (simulation_failure() == NULL && app->compare != NULL)
        app->compare(run.store, arena);
    pawl_arena_destroy(arena);
}

static void say(pawl_log_level level, const char *text, void *context)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    if (run.is_traced)
        fprintf(stderr, "%12.6f %-8s %s: %s\n", (double)(machine_now() - MACHINE_START) / 1e6,
                machine_name(), names[level], text);
}

/* The list of waiters is the program's: it is made large enough outside of all processes. */
static void make_waiters(void)
{
    pawl_error error = PAWL_ERROR_INIT;
    for (int i = 0; i < DUMMY_WAITERS; i++)
        if (pawl__wake_add("simulation", -1 - i, &error) != PAWL_OK)
            abort();
    for (int i = 1; i < DUMMY_WAITERS; i++)
        pawl__wake_remove(-1 - i);
}

void simulation_init(const simulation_application *application, bool is_traced, bool has_canary)
{
    app            = application;
    run.is_traced  = is_traced;
    run.has_canary = has_canary;
    pawl_log_set(say, is_traced ? PAWL_LOG_DEBUG : PAWL_LOG_ERROR, NULL);
    machine_own(&pawl__isolation_is_running, sizeof pawl__isolation_is_running);
    machine_begin(0);
    machine_end();
    make_waiters();
}

/* An event reaches those that have subscribed: here before anything is published. */
static void subscribe(void)
{
    pawl_subscription_set sets[SUBSCRIPTIONS_MAX];
    pawl_error            error   = PAWL_ERROR_INIT;
    pawl_changes          changes = {
                 .group_count = 1, .unit_count = 1, .now = MACHINE_START, .subscription_set.items = sets};
    for (size_t i = 0; i < app->subscription_count && i < SUBSCRIPTIONS_MAX; i++)
        sets[changes.subscription_set.count++] = (pawl_subscription_set){
            .type = app->subscriptions[i].type, .queue = app->subscriptions[i].queue};
    if (pawl_store_commit(run.store, &changes, NULL, &error) != PAWL_OK)
        simulation_fail("no subscriptions: %s", error.text);
}

static void see_commit(void *context, const pawl_changes *changes, const pawl_refusals *refused)
{
    run.counts.commits++;
    for (size_t i = 0; refused != NULL && i < refused->count; i++) {
        run.counts.refused++;
        run.counts.refused_kinds[refused->items[i].kind] = true;
    }
#define KIND(name, is_refusable) run.counts.kinds[pawl_change_##name] |= changes->name.count != 0;
    PAWL_CHANGE_KINDS(KIND)
#undef KIND
    app->committed(changes, refused);
}

static void see_claim(void *context, const pawl_queue_claim *claim, const pawl_queue_rows *rows)
{
    if (app->claimed != NULL)
        app->claimed(claim, rows);
}

static void begin_store(const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    run.store_url    = run.is_on_disk ? disk_begin(run.has_canary) : url;
    sim_store_forget_timeouts(run.has_canary && !run.is_on_disk);
    if (pawl_store_open(run.store_url, NULL, &run.store, &error) != PAWL_OK) {
        fprintf(stderr, "simulation: %s: %s\n", run.store_url, error.text);
        exit(1);
    }
}

static void begin(const sim_plan *plan, const char *store_url)
{
    static const char *const names[MACHINE_PROCESSES_MAX] = {"p0", "p1", "p2", "p3", "p4", "p5"};
    sim_observer             observer  = {.committed = see_commit, .claimed = see_claim};
    sim_latency              latency   = {.usual    = plan->settings.latency,
                                          .slow     = (unsigned)plan->settings.slow,
                                          .slow_max = plan->settings.slow_max};
    bool                     is_traced = run.is_traced, has_canary = run.has_canary;
    memset(&run, 0, sizeof run);
    run.is_traced   = is_traced;
    run.has_canary  = has_canary;
    run.plan        = plan;
    run.actor_count = (int)plan->settings.processes;
    run.is_on_disk  = strcmp(store_url, "sqlite:") == 0;
    if (run.is_on_disk && run.actor_count > ON_DISK_MAX)
        run.actor_count = ON_DISK_MAX;
    machine_begin(plan->seed);
    machine_preempt((unsigned)plan->settings.preempt);
    traffic_plan(plan);
    if (app->begin != NULL)
        app->begin(plan->seed);
    begin_store(store_url);
    sim_store_begin(run.store_url, &observer, &latency);
    subscribe();
    plan_cut();
    run.client    = machine_process("client");
    int endpoints = 0;
    while (app->application->endpoints[endpoints] != NULL)
        endpoints++;
    for (int i = 0; i < run.actor_count; i++) {
        run.actors[i] = (actor){.process = machine_process(names[i]), .endpoint = i % endpoints};
        start(&run.actors[i]);
    }
}

void simulation_run(const sim_plan *plan, const char *store_url, simulation_result *result)
{
    begin(plan, store_url);
    play();
    stop_all();
    compare();
    *result = (simulation_result){.is_failed = simulation_failure() != NULL,
                                  .steps     = machine_steps(),
                                  .trace     = machine_trace(),
                                  .lasted    = machine_now() - MACHINE_START,
                                  .done      = count_done(),
                                  .counts    = run.counts};
    if (result->is_failed)
        snprintf(result->failure, sizeof result->failure, "%s", simulation_failure());
    for (int i = 0; i < run.actor_count; i++)
        crash(&run.actors[i], 0);
    sim_store_crash(run.client);
    machine_crash(run.client, forget_fd);
    pawl_store_close(run.store);
    if (run.is_on_disk)
        disk_end();
    if (app->end != NULL)
        app->end();
    machine_end();
}
