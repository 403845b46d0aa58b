/* traffic.c - drawing tasks, and the handlers that do them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/traffic.h"

#include "pawl/driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_MAX 4000
#define SLOW_MAX PAWL_MINUTES(2)

#define ACT(F)       \
    F(INT64, number) \
    F(TEXT, key)
PAWL_RECORD(act, ACT);
PAWL_RECORD(news, ACT);
PAWL_RECORD(cargo, ACT);
PAWL_RECORD(parcel, ACT);
PAWL_RECORD(note, ACT);
PAWL_RECORD(poke, ACT);
PAWL_RECORD(job, ACT);
#define NUMBER(F) F(INT64, number)
PAWL_RECORD(duty, NUMBER);
PAWL_RECORD(begun, NUMBER);
PAWL_RECORD(heard, NUMBER);
PAWL_RECORD(over, NUMBER);
#define NOTED(F)     \
    F(INT64, number) \
    F(INT64, count)
PAWL_RECORD(noted, NOTED);
#define SEEN(F)      \
    F(INT64, number) \
    F(TEXT, stream)  \
    F(INT64, version)
PAWL_RECORD(seen, SEEN);
#define PACKED(F) F(TEXT, log)
PAWL_RECORD(packed, PACKED);
#define BOOK(F) F(INT64, count)
PAWL_RECORD(book, BOOK);
#define CLOSED(F)     \
    F(TEXT, instance) \
    F(TEXT, log)
PAWL_RECORD(closed, CLOSED);
#define NODE(F)       \
    F(TEXT, key)      \
    F(TEXT, log)      \
    F(INT64, armed_a) \
    F(INT64, armed_b)
PAWL_RECORD(node, NODE);

const char *const traffic_endpoints[ENDPOINTS] = {"alpha", "beta"};

static const char *const timer_names[TIMERS] = {"a", "b"};

static struct {
    const sim_plan *plan;
    pawl_random     random;
    sim_task        tasks[TASKS_MAX + 1]; /* by number, from 1 */
    int64_t         count;
} all;

const plan_settings *traffic_settings(void)
{
    return &all.plan->settings;
}

/* ---- Tasks ------------------------------------------------------------------------- */

sim_task *traffic_task(int64_t number)
{
    return number > 0 && number <= all.count ? &all.tasks[number] : NULL;
}

int64_t traffic_count(void)
{
    return all.count;
}

static int64_t below(int64_t limit)
{
    return (int64_t)pawl_random_below(&all.random, (uint64_t)limit);
}

static bool happens(int64_t per_thousand)
{
    return below(1000) < per_thousand;
}

static task_kind draw_kind(const plan_settings *settings)
{
    const int64_t chances[] = {[TASK_CARGO]  = settings->cargo,
                               [TASK_TIMER]  = settings->timers,
                               [TASK_PARCEL] = settings->bursts != 0 ? 400 : settings->parcels,
                               [TASK_FACT]   = settings->facts,
                               [TASK_POKE]   = settings->pokes,
                               [TASK_JOB]    = settings->jobs};
    int64_t       drawn     = below(1000);
    for (int kind = TASK_CARGO; kind <= TASK_JOB; kind++) {
        if (drawn < chances[kind])
            return (task_kind)kind;
        drawn -= chances[kind];
    }
    return below(6) == 0 ? TASK_NEWS : TASK_ACT;
}

static task_end draw_end(const plan_settings *settings, task_kind kind)
{
    if (kind == TASK_CARGO || kind == TASK_PARCEL ||
        happens(1000 - settings->poison - settings->completes))
        return TASK_SUCCEEDS;
    if (kind == TASK_JOB)
        return happens(500) ? TASK_SUCCEEDS : happens(700) ? TASK_REJECTS : TASK_FAILS;
    if (kind == TASK_FACT) /* which has no end */
        return happens(300) ? TASK_FAILS : TASK_SUCCEEDS;
    if (kind == TASK_TIMER || happens(500))
        return TASK_COMPLETES;
    return happens(500) ? TASK_REJECTS : TASK_FAILS;
}

static int64_t draw_task(task_kind kind, int64_t parent, int depth);

/* At most one child is a timeout of each name: the last one that a handler sets counts. */
static void draw_children(sim_task *it, int64_t number, int depth)
{
    bool is_set[TIMERS] = {false};
    for (int i = 0; i < TASK_CHILDREN_MAX && depth < TASK_DEPTH_MAX; i++) {
        task_kind kind = draw_kind(&all.plan->settings);
        if (!happens(all.plan->settings.children / (depth + 1)) || all.count >= TASKS_MAX - 1)
            continue;
        int timer = (int)below(TIMERS);
        if (kind == TASK_TIMER && is_set[timer])
            continue;
        int64_t child          = draw_task(kind, number, depth + 1);
        all.tasks[child].timer = timer;
        is_set[timer] |= kind == TASK_TIMER;
        it->children[it->child_count++] = child;
        bool is_burst                   = kind == TASK_PARCEL && all.plan->settings.bursts != 0;
        for (; is_burst && i + 1 < TASK_CHILDREN_MAX && all.count < TASKS_MAX - 1; i++)
            it->children[it->child_count++] = draw_task(kind, number, depth + 1);
    }
    if (below(4) == 0)
        it->cancels = (int)below(TIMERS);
}

static int64_t draw_task(task_kind kind, int64_t parent, int depth)
{
    const plan_settings *settings = &all.plan->settings;
    int64_t              number   = ++all.count;
    sim_task            *it       = &all.tasks[number];
    *it                           = (sim_task){.kind     = kind,
                                               .end      = draw_end(settings, kind),
                                               .parent   = parent,
                                               .endpoint = (int)below(ENDPOINTS),
                                               .key      = (int)below(settings->keys),
                                               .delay    = below(4) == 0 ? below(settings->delay_max + 1) : 0,
                                               .duration = below(settings->handler_max + 1),
                                               .cancels  = -1};
    if (kind == TASK_FACT && it->end == TASK_SUCCEEDS && number % 4 == 0)
        it->end = TASK_REJECTS;                         /* and the sender is told */
    if (kind == TASK_PARCEL && settings->bursts != 0) { /* so that workers meet at a partition */
        it->key = it->endpoint = 0;
        it->delay              = 0;
    }
    if (happens(settings->handler_slow))
        it->duration = below(SLOW_MAX);
    it->is_failing = happens(settings->failing);
    it->failures   = it->is_failing ? 1 + (unsigned)below(2) : 0;
    if (kind == TASK_TIMER)
        it->delay = 1 + below(settings->timer_max);
    bool has_effects =
        kind == TASK_ACT || kind == TASK_NEWS || kind == TASK_TIMER || kind == TASK_POKE;
    if (has_effects && (it->end == TASK_SUCCEEDS || it->end == TASK_COMPLETES))
        draw_children(it, number, depth);
    if (kind == TASK_JOB) {
        it->delay   = 0;
        it->timeout = 1 + below(settings->timer_max);
        if (all.count < TASKS_MAX - 1)
            it->children[it->child_count++] = draw_task(TASK_FACT, number, depth + 1);
    }
    return number;
}

int64_t traffic_draw(void)
{
    task_kind kind = draw_kind(&all.plan->settings);
    if (kind == TASK_CARGO || kind == TASK_TIMER)
        kind = TASK_ACT;
    return all.count < TASKS_MAX / 2 ? draw_task(kind, 0, 0) : 0;
}

static const char *type_of(task_kind kind)
{
    static const char *const types[] = {
        [TASK_ACT] = "act",       [TASK_NEWS] = "news", [TASK_CARGO] = "cargo", [TASK_TIMER] = "",
        [TASK_PARCEL] = "parcel", [TASK_FACT] = "note", [TASK_POKE] = "poke",   [TASK_JOB] = "job"};
    return types[kind];
}

int64_t traffic_number(pawl_text body)
{
    const char *at = body.data != NULL ? strstr(body.data, "\"number\":") : NULL;
    return at != NULL ? strtoll(at + strlen("\"number\":"), NULL, 10) : 0;
}

int traffic_endpoint(pawl_text name)
{
    for (int i = 0; i < ENDPOINTS; i++) {
        size_t size = strlen(traffic_endpoints[i]);
        if (name.size >= size && memcmp(name.data, traffic_endpoints[i], size) == 0)
            return i;
    }
    return -1;
}

/* ---- Handlers -------------------------------------------------------------------------- */

static pawl_text key_text(pawl_context *ctx, int key)
{
    return pawl_arena_printf(pawl_scratch(ctx), "k%d", key);
}

static pawl_code send_child(pawl_context *ctx, const sim_task *child, int64_t number)
{
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .delay = child->delay};
    pawl_text         key     = key_text(ctx, child->key);
    switch (child->kind) {
    case TASK_ACT:
        return pawl_send_with(ctx, traffic_endpoints[child->endpoint], &options,
                              PAWL_MESSAGE(act, .number = number, .key = key));
    case TASK_NEWS:
        return pawl_publish_with(ctx, &options, PAWL_MESSAGE(news, .number = number, .key = key));
    case TASK_PARCEL:
        return pawl_send_with(ctx, traffic_endpoints[child->endpoint], &options,
                              PAWL_MESSAGE(parcel, .number = number, .key = key));
    case TASK_POKE:
        return pawl_send_with(ctx, traffic_endpoints[child->endpoint], &options,
                              PAWL_MESSAGE(poke, .number = number, .key = key));
    case TASK_FACT:
        return pawl_send_with(ctx, traffic_endpoints[child->endpoint], &options,
                              PAWL_MESSAGE(note, .number = number, .key = key));
    case TASK_JOB:
        return pawl_send_with(ctx, traffic_endpoints[child->endpoint], &options,
                              PAWL_MESSAGE(job, .number = number, .key = key));
    case TASK_CARGO:
        return pawl_send(ctx, "carrier", PAWL_MESSAGE(cargo, .number = number, .key = key));
    default: return pawl_timeout(ctx, timer_names[child->timer], child->delay);
    }
}

static int64_t *armed_of(node *state, int timer)
{
    return timer == 0 ? &state->armed_a : &state->armed_b;
}

static pawl_code close_saga(pawl_context *ctx, const node *state)
{
    char instance[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(pawl_saga_id_in_flight(ctx).uuid, instance);
    pawl_code code = pawl_send(
        ctx, "closed", PAWL_MESSAGE(closed, .instance = pawl_text_of(instance), .log = state->log));
    return code == PAWL_OK ? pawl_complete(ctx) : code;
}

/* All tasks take time, and may fail. */
static pawl_code begin_task(pawl_context *ctx, int64_t number)
{
    sim_task *it = traffic_task(number);
    if (it == NULL)
        return pawl_fail(ctx, PAWL_REJECT, "no task has the number %" PRId64, number);
    simulation_pause(it->duration);
    if (it->failures > 0) {
        it->failures--;
        return pawl_fail(ctx, PAWL_EPERSIST, "not yet");
    }
    if (it->end == TASK_REJECTS)
        return pawl_fail(ctx, PAWL_REJECT, "never");
    if (it->end == TASK_FAILS)
        return pawl_fail(ctx, PAWL_EPERSIST, "never");
    return PAWL_OK;
}

static pawl_code do_task(pawl_context *ctx, node *state, int64_t number)
{
    const sim_task *it   = traffic_task(number);
    pawl_code       code = begin_task(ctx, number);
    if (code != PAWL_OK)
        return code;
    state->log = pawl_arena_printf(pawl_scratch(ctx), "%.*s%" PRId64 ",",
                                   PAWL_TEXT_ARGS(state->log), number);
    if (it->kind == TASK_NEWS && pawl_user(ctx) != &traffic_endpoints[0])
        return PAWL_OK; /* its other effects are alpha's */
    if (it->cancels >= 0) {
        pawl_cancel_timeout(ctx, timer_names[it->cancels]);
        *armed_of(state, it->cancels) = 0;
    }
    for (size_t i = 0; i < it->child_count; i++) {
        const sim_task *child = traffic_task(it->children[i]);
        if (send_child(ctx, child, it->children[i]) == PAWL_OK && child->kind == TASK_TIMER)
            *armed_of(state, child->timer) = it->children[i];
        simulation_pause((int64_t)simulation_draw(50));
    }
    return it->end == TASK_COMPLETES ? close_saga(ctx, state) : PAWL_OK;
}

static pawl_code on_act(pawl_context *ctx, node *state, const act *message)
{
    return do_task(ctx, state, message->number);
}
PAWL_HANDLER(on_act, node, act);

static pawl_code on_news(pawl_context *ctx, node *state, const news *message)
{
    return do_task(ctx, state, message->number);
}
PAWL_HANDLER(on_news, node, news);

static pawl_code on_poke(pawl_context *ctx, node *state, const poke *message)
{
    return do_task(ctx, state, message->number);
}
PAWL_HANDLER(on_poke, node, poke);

static pawl_code on_timer(pawl_context *ctx, node *state, int timer)
{
    int64_t number = *armed_of(state, timer);
    if (number == 0)
        return pawl_fail(ctx, PAWL_REJECT, "a timeout came that is not set");
    *armed_of(state, timer) = 0;
    return do_task(ctx, state, number);
}

static pawl_code on_a(pawl_context *ctx, node *state)
{
    return on_timer(ctx, state, 0);
}
PAWL_TIMEOUT_HANDLER(on_a, node);

static pawl_code on_b(pawl_context *ctx, node *state)
{
    return on_timer(ctx, state, 1);
}
PAWL_TIMEOUT_HANDLER(on_b, node);

/* The answer of an entity says nothing that a saga waits for. */
static pawl_code on_accepted(pawl_context *ctx, node *state, const pawl_accepted *answer)
{
    return PAWL_OK;
}
PAWL_HANDLER(on_accepted, node, pawl_accepted);

static pawl_code on_rejected(pawl_context *ctx, node *state, const pawl_rejected *answer)
{
    return PAWL_OK;
}
PAWL_HANDLER(on_rejected, node, pawl_rejected);

static pawl_code on_note(pawl_context *ctx, const book *state, const note *message)
{
    pawl_code code = begin_task(ctx, message->number);
    return code != PAWL_OK ? code
                           : pawl_emit(ctx, PAWL_MESSAGE(noted, .number = message->number,
                                                         .count = state->count + 1));
}
PAWL_ENTITY_HANDLER(on_note, book, note);

static void apply_noted(book *state, const noted *event)
{
    state->count++;
}
PAWL_APPLY(apply_noted, book, noted);

/* ---- Processes ------------------------------------------------------------------------- */

static pawl_code on_job(pawl_context *ctx, const duty *state, const job *message)
{
    const sim_task *it = traffic_task(message->number);
    simulation_pause(it->duration);
    pawl_emit(ctx, PAWL_MESSAGE(begun, .number = message->number));
    for (size_t i = 0; i < it->child_count; i++)
        (void)send_child(ctx, traffic_task(it->children[i]), it->children[i]);
    return pawl_timeout(ctx, "off", it->timeout);
}
PAWL_PROCESS_HANDLER(on_job, duty, job);

/* The first rejection makes a dead letter, which runs when an operator has sent it again. */
static pawl_code on_off(pawl_context *ctx, const duty *state)
{
    sim_task *it   = traffic_task(state->number);
    pawl_code code = begin_task(ctx, state->number);
    if (code == PAWL_REJECT && it->end == TASK_REJECTS) {
        it->end        = TASK_SUCCEEDS;
        it->is_failing = true;
    }
    return code != PAWL_OK ? code : pawl_emit(ctx, PAWL_MESSAGE(over, .number = state->number));
}
PAWL_PROCESS_TIMEOUT_HANDLER(on_off, duty);

static pawl_code on_job_accepted(pawl_context *ctx, const duty *state, const pawl_accepted *answer)
{
    return pawl_emit(ctx, PAWL_MESSAGE(heard, .number = state->number));
}
PAWL_PROCESS_HANDLER(on_job_accepted, duty, pawl_accepted);

static pawl_code on_job_rejected(pawl_context *ctx, const duty *state, const pawl_rejected *answer)
{
    return pawl_emit(ctx, PAWL_MESSAGE(heard, .number = state->number));
}
PAWL_PROCESS_HANDLER(on_job_rejected, duty, pawl_rejected);

static void apply_begun(duty *state, const begun *event)
{
    state->number = event->number;
}
PAWL_APPLY(apply_begun, duty, begun);

static void apply_heard(duty *state, const heard *event)
{
}
PAWL_APPLY(apply_heard, duty, heard);

static void apply_over(duty *state, const over *event)
{
}
PAWL_APPLY(apply_over, duty, over);

static pawl_code on_noted(pawl_context *ctx, const noted *event)
{
    const pawl_event_row *row = pawl_event_in_flight(ctx);
    simulation_pause((int64_t)simulation_draw(1000));
    return pawl_send(ctx, "seen",
                     PAWL_MESSAGE(seen, .number = event->number, .stream = row->stream,
                                  .version = row->version));
}
PAWL_MESSAGE_HANDLER(on_noted, noted);

static pawl_code on_parcels(pawl_context *ctx, const parcel *messages, size_t count)
{
    pawl_text log      = PAWL_TEXT("");
    bool      is_ready = true;
    for (size_t i = 0; i < count; i++) {
        sim_task *it = traffic_task(messages[i].number);
        simulation_pause(it->duration / 8);
        is_ready &= it->failures == 0;
        it->failures -= it->failures > 0;
        log = pawl_arena_printf(pawl_scratch(ctx), "%.*s%" PRId64 ",", PAWL_TEXT_ARGS(log),
                                messages[i].number);
    }
    return is_ready ? pawl_send(ctx, "packed", PAWL_MESSAGE(packed, .log = log))
                    : pawl_fail(ctx, PAWL_EPERSIST, "not yet");
}
PAWL_BATCH_HANDLER(on_parcels, parcel);

/* ---- The application ---------------------------------------------------------------------- */

#define NODE_SAGA(saga)                                                                     \
    {                                                                                       \
        .name = (saga), .state = PAWL_RECORD_OF(node), .correlation = "key",                \
        .on = (const pawl_on[])                                                             \
        {                                                                                   \
            {.handle = PAWL_HANDLE(on_act), .key = "key", .starts = true},                  \
                {.handle = PAWL_HANDLE(on_news), .key = "key", .starts = true},             \
                {.handle = PAWL_HANDLE(on_poke), .key = "key"},                             \
                {.handle = PAWL_HANDLE(on_a), .timeout = "a"},                              \
                {.handle = PAWL_HANDLE(on_b), .timeout = "b"},                              \
                {.handle = PAWL_HANDLE(on_accepted)}, {.handle = PAWL_HANDLE(on_rejected)}, \
            {                                                                               \
                .handle = NULL                                                              \
            }                                                                               \
        }                                                                                   \
    }

#define BOOK_ENTITY(entity)                                                   \
    {                                                                         \
        .name = (entity), .state = PAWL_RECORD_OF(book), .snapshot_every = 3, \
        .on    = PAWL_ON({.handle = PAWL_HANDLE(on_note), .key = "key"}),     \
        .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_noted))                   \
    }

#define JOB_PROCESS(process)                                                               \
    {                                                                                      \
        .name = (process), .state = PAWL_RECORD_OF(duty),                                  \
        .on    = PAWL_ON({.handle = PAWL_HANDLE(on_job), .key = "number", .starts = true}, \
                         {.handle = PAWL_HANDLE(on_off), .timeout = "off"},                \
                         {.handle = PAWL_HANDLE(on_job_accepted)},                         \
                         {.handle = PAWL_HANDLE(on_job_rejected)}),                        \
        .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_begun), PAWL_APPLIES(apply_heard),     \
                                 PAWL_APPLIES(apply_over))                                 \
    }

static const pawl_process    alpha_job  = JOB_PROCESS("alpha_job");
static const pawl_process    beta_job   = JOB_PROCESS("beta_job");
static const pawl_saga       alpha_saga = NODE_SAGA("AlphaSaga");
static const pawl_saga       beta_saga  = NODE_SAGA("BetaSaga");
static const pawl_entity     alpha_book = BOOK_ENTITY("alpha_book");
static const pawl_entity     beta_book  = BOOK_ENTITY("beta_book");
static const pawl_projection view       = {
          .name = "view", .on = PAWL_ON({.handle = PAWL_HANDLE(on_noted)}), .batch = 4};
static pawl_aggregator boxes[ENDPOINTS]; /* as the plan says */

static const pawl_endpoint_spec alpha = {.name        = "alpha",
                                         .sagas       = PAWL_SAGAS(&alpha_saga),
                                         .entities    = PAWL_ENTITIES(&alpha_book),
                                         .processes   = PAWL_PROCESSES(&alpha_job),
                                         .projections = PAWL_PROJECTIONS(&view),
                                         .aggregators = PAWL_AGGREGATORS(&boxes[0])};
static const pawl_endpoint_spec beta  = {.name        = "beta",
                                         .sagas       = PAWL_SAGAS(&beta_saga),
                                         .entities    = PAWL_ENTITIES(&beta_book),
                                         .processes   = PAWL_PROCESSES(&beta_job),
                                         .aggregators = PAWL_AGGREGATORS(&boxes[1])};

const pawl_application traffic = {PAWL_APPLICATION_HEAD, .name = "traffic",
                                  .endpoints = PAWL_ENDPOINTS(&alpha, &beta)};

void traffic_plan(const sim_plan *plan)
{
    all.plan = plan;
}

int64_t traffic_period(void)
{
    const plan_settings *settings = &all.plan->settings;
    return PAWL_MILLISECONDS(1) + settings->box_period +
           (settings->bursts != 0 ? PAWL_MINUTES(10) : 0);
}

void traffic_begin(uint64_t seed)
{
    static const char *const names[ENDPOINTS] = {"alpha_box", "beta_box"};
    const sim_plan          *plan             = all.plan;
    memset(&all, 0, sizeof all);
    all.plan = plan;
    pawl_random_seed(&all.random, seed ^ UINT64_C(0x7261666669630000));
    for (int i = 0; i < ENDPOINTS; i++)
        boxes[i] =
            (pawl_aggregator){.name   = names[i],
                              .handle = PAWL_HANDLE(on_parcels),
                              .key    = "key",
                              .size   = plan->settings.box_size,
                              .max    = plan->settings.bursts != 0 ? plan->settings.box_size : 0,
                              .attempts_max = 1000,
                              .period       = traffic_period()};
}

void traffic_message(int64_t number, simulation_message *made)
{
    const sim_task *it    = traffic_task(number);
    int             count = 0;
    *made                 = (simulation_message){.type = type_of(it->kind), .delay = it->delay};
    snprintf(made->id, sizeof made->id, "root-%" PRId64, number);
    snprintf(made->body, sizeof made->body, "{\"number\":%" PRId64 ",\"key\":\"k%d\"}", number,
             it->key);
    for (int e = 0; e < ENDPOINTS; e++)
        if (it->kind == TASK_NEWS || it->endpoint == e)
            made->queues[count++] = traffic_endpoints[e];
}

void traffic_configure(const char *endpoint, pawl_endpoint_options *options)
{
    static const pawl_route direct[] = {{.name = "carrier", .outbound = &simulation_outbound},
                                        {.name = NULL}};
    static const pawl_route remote[] = {{.name = "carrier", .outbound = &simulation_outbound},
                                        {.name = "beta", .is_outbox = true},
                                        {.name = NULL}};
    int                     at       = strcmp(endpoint, traffic_endpoints[0]) == 0 ? 0 : 1;
    if (all.plan->settings.bursts != 0)
        options->batch_messages = 1;
    options->user   = (void *)(uintptr_t)&traffic_endpoints[at];
    options->routes = all.plan->settings.outbox_local != 0 && at == 0 ? remote : direct;
}
