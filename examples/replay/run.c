/* run.c - opens the endpoints, and steps them to the end.
 *
 *     send the first read_on, unless the reader is there already
 *     step until nothing is left        the whole log; every case is closed
 *     flush the aggregator, step        the last batch of each group
 *
 * Stages are not recorded: after a kill all three run again; complete ones find nothing to do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run.h"

#include "pawl/loop.h"
#include "progress.h"
#include "records.h"
#include "support/interrupt.h"
#include "support/store.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#define WAIT_MS 20       /* for a delivery that will be retried */
#define DEAD_WAIT_MS 200 /* for a process that should have ended */
#define SOON PAWL_SECONDS(1)
#define PATIENCE PAWL_MINUTES(5) /* limit without any progress */
#define WIRE_ATTEMPTS 1000
#define CHUNK_MIN 100       /* with a broker: a chunk waits until the previous one has arrived */
#define COMMITS_PER_KILL 50 /* commits between two kills of --crash */

int64_t replay_run_batch(const replay_options *options, const replay_log *log)
{
    int64_t most = REPLAY_BATCH_MESSAGES_DEFAULT;
    if (options->batch_messages != 0)
        return options->batch_messages;
    if (options->kills == 0)
        return most;
    int64_t batch = (int64_t)log->event_count / (options->kills * COMMITS_PER_KILL);
    return batch < 1 ? 1 : batch > most ? most : batch;
}

/* ---- Opening --------------------------------------------------------------- */

static pawl_code open_endpoint(replay_run *run, const char *name, const char *url,
                               const pawl_route *routes, pawl_endpoint **endpoint,
                               pawl_error *error)
{
    const replay_options *options = run->options;
    pawl_endpoint_options how     = PAWL_ENDPOINT_OPTIONS_INIT;
    how.store                     = url;
    how.mode                      = PAWL_OPEN_CREATE;
    how.system_prefix             = run->workspace->system_prefix;
    how.saga_prefix               = run->workspace->system_prefix;
    how.routes                    = routes;
    how.batch_messages            = (int)replay_run_batch(options, run->job.log);
    how.outbox_batch              = how.batch_messages;
    how.deadline                  = options->deadline;
    how.business                  = run->clock;
    how.user                      = &run->job;
    if (routes != NULL && run->transport != NULL) {
        how.transport        = run->transport;
        how.ordered          = PAWL_ORDERED_BY_SAGA; /* and its queue has one reader at a time */
        how.outbox_attempts  = WIRE_ATTEMPTS; /* keep trying while the broker is unavailable */
        how.outbox_delay_max = PAWL_SECONDS(1);
    }
    pawl_code code = pawl_endpoint_create(&run->made.application, name, &how, endpoint, error);
    return code == PAWL_OK ? code : example_store_wrap(url, code, error);
}

typedef struct census {
    const replay_run *run;
    size_t            count;
} census;

static pawl_code count_workers(void *context, pawl_error *error)
{
    census *c = context;
    return replay_workspace_count_workers(c->run->workspace, c->run->options, &c->count, error);
}

/* Waits until the claims of a killed process are free: immediate if its session or a lock shows its end, after 15 s
 * behind a pooler. Until then its messages would be skipped, which would break the order of the log. */
static pawl_code await_the_dead(const replay_run *run, pawl_error *error)
{
    census    c        = {.run = run};
    int64_t   begun    = example_monotonic();
    bool      was_said = false;
    pawl_code code     = replay_patiently(run->patience, count_workers, &c, error);
    while (code == PAWL_OK && c.count > 0) {
        int64_t waited = example_monotonic() - begun;
        if (waited > PATIENCE)
            return pawl_error_set(error, PAWL_EBUSY, "run %s: another process works on it",
                                  run->workspace->run);
        if (waited > SOON && !was_said)
            replay_say("run %s: waiting until the process before is known to be dead",
                       run->workspace->run);
        was_said = waited > SOON;
        poll(NULL, 0, was_said ? DEAD_WAIT_MS : WAIT_MS);
        code = example_interrupt_check(error);
        if (code == PAWL_OK)
            code = replay_patiently(run->patience, count_workers, &c, error);
    }
    return code;
}

static pawl_code open_both(void *context, pawl_error *error)
{
    replay_run *run  = context;
    pawl_code   code = PAWL_OK;
    if (run->replay == NULL)
        code = open_endpoint(run, REPLAY_ENDPOINT, run->workspace->store, run->routes, &run->replay,
                             error);
    if (code == PAWL_OK)
        code =
            open_endpoint(run, REPLAY_ARCHIVE, run->workspace->archive, NULL, &run->archive, error);
    run->patience->was_reached |= code == PAWL_OK;
    return code;
}

/* The endpoint that reads the queue declares it, not the route. */
static pawl_code name_wire(replay_run *run, const char *url, pawl_error *error)
{
    const char *with =
        strchr(url, '?') != NULL ? "&delay=header&declare=no" : "?delay=header&declare=no";
    replay_workspace_queue(run->workspace, run->queue);
    run->transport = replay_workspace_join(url, "#", run->queue);
    run->wire      = replay_workspace_join(url, with, "");
    run->routes[1] = (pawl_route){.name = REPLAY_WIRE, .url = run->wire, .queue = run->queue};
    run->job.is_by_broker = true;
    if (run->job.chunk < CHUNK_MIN)
        run->job.chunk = CHUNK_MIN;
    if (run->transport == NULL || run->wire == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    return PAWL_OK;
}

pawl_code replay_run_open(replay_run *run, const replay_options *options,
                          const replay_workspace *workspace, const replay_log *log,
                          replay_patience *patience, pawl_error *error)
{
    int64_t batch = replay_run_batch(options, log);
    *run          = (replay_run){.options = options, .workspace = workspace, .patience = patience};
    run->job      = (replay_job){.log   = log,
                                 .run   = workspace->run,
                                 .quiet = options->quiet,
                                 .batch = options->batch,
                                 .chunk = batch > 1 ? (size_t)batch - 1 : 1};
    /* with one store for both, the archive's queue needs no route */
    run->routes[0] = (pawl_route){.name  = REPLAY_ARCHIVE,
                                  .url   = workspace->is_one_store ? NULL : workspace->archive,
                                  .queue = REPLAY_ARCHIVE,
                                  .system_prefix = workspace->system_prefix};
    replay_application_make(options->batch, &run->made);
    pawl_code code = PAWL_OK;
    run->clock     = pawl_clock_create(options->transport != NULL ? PAWL_TIME_MIN : PAWL_TIME_MAX);
    run->arena     = pawl_arena_create(0);
    if (run->clock == NULL || run->arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    if (options->transport != NULL)
        code = name_wire(run, options->transport, error);
    if (code != PAWL_OK)
        return code;
    if (options->child != NULL || options->run != NULL)
        code = await_the_dead(run, error);
    return code == PAWL_OK ? replay_patiently(patience, open_both, run, error) : code;
}

void replay_run_close(replay_run *run)
{
    pawl_endpoint_destroy(run->replay);
    pawl_endpoint_destroy(run->archive);
    pawl_clock_destroy(run->clock);
    pawl_arena_destroy(run->arena);
    pawl_free(run->transport);
    pawl_free(run->wire);
    *run = (replay_run){.replay = NULL};
}

/* ---- Beginning, or going on --------------------------------------------------- */

static pawl_code send_first(const replay_run *run, pawl_error *error)
{
    pawl_sender       *sender  = NULL;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    options.system_prefix      = run->workspace->system_prefix;
    options.deadline           = run->options->deadline;
    pawl_code code             = pawl_sender_open(run->workspace->store, &options, &sender, error);
    if (code == PAWL_OK)
        code = replay_application_start(&run->job, sender, error);
    if (code == PAWL_OK)
        code = pawl_sender_commit(sender, error);
    pawl_sender_close(sender);
    return code == PAWL_OK ? code : example_store_wrap(run->workspace->store, code, error);
}

/* A position is valid only in its log: another log would be replayed from the middle. */
static pawl_code check_log(const replay_run *run, const log_reader *reader, pawl_error *error)
{
    char      buffer[17];
    pawl_text name = replay_log_name(run->job.log, buffer);
    if (reader->is_by_broker != run->job.is_by_broker)
        return pawl_error_set(error, PAWL_EINPUT, "run %s was begun %s --transport",
                              run->workspace->run, reader->is_by_broker ? "with" : "without");
    if (pawl_text_equal(name, reader->log) && reader->events == (int64_t)run->job.log->event_count)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINPUT,
                          "%s: this is not the log that run %s was begun with, which had %" PRId64
                          " events",
                          run->options->log, run->workspace->run, reader->events);
}

static pawl_code begin(void *context, pawl_error *error)
{
    replay_run *run     = context;
    pawl_value  value   = pawl_value_text(pawl_text_of(run->workspace->run));
    pawl_text   data    = {0};
    int64_t     version = 0;
    log_reader  reader;
    pawl_code   code =
        pawl_endpoint_saga(run->replay, "Reader", &value, run->arena, &data, &version, error);
    if (code == PAWL_OK && version == 0)
        return send_first(run, error); /* a second one has the same id and changes nothing */
    if (code == PAWL_OK)
        code = pawl_record_decode(log_reader_pawl_record(), data, 0, run->arena, &reader, error);
    if (code != PAWL_OK)
        return example_store_wrap(run->workspace->store, code, error);
    run->job.position = (size_t)reader.position;
    run->job.arrived  = (size_t)reader.arrived;
    code              = check_log(run, &reader, error);
    pawl_arena_reset(run->arena);
    return code;
}

/* ---- The broker ---------------------------------------------------------------- */

/* Events up to this time have certainly arrived. */
static pawl_time known_until(const replay_job *job)
{
    const replay_event *events = job->log->events;
    if (job->arrived == job->log->event_count)
        return PAWL_TIME_MAX;
    return events[job->arrived > 0 ? job->arrived - 1 : 0].time;
}

static pawl_code receive_once(void *context, pawl_error *error)
{
    replay_run *run  = context;
    pawl_code   code = pawl_endpoint_receive(run->replay, run->wait, &run->received, error);
    return code == PAWL_OK ? code : example_store_wrap(run->options->transport, code, error);
}

/* Receives messages from the broker, waiting at most `wait` microseconds. */
static pawl_code receive(replay_run *run, int64_t wait, pawl_error *error)
{
    run->wait     = wait;
    run->received = 0;
    if (!run->job.is_by_broker || run->job.arrived == run->job.log->event_count)
        return PAWL_OK;
    pawl_code code = replay_patiently(run->patience, receive_once, run, error);
    if (code != PAWL_OK || run->received == 0)
        return code;
    run->commits++;
    return run->watch(run, run->context, error);
}

/* ---- Stepping ----------------------------------------------------------------- */

/* An endpoint of the run, of two, and a question about it. */
typedef struct side {
    replay_run    *run;
    pawl_endpoint *endpoint;
    const char    *url;
    pawl_step      done;
    int64_t        left;
} side;

static pawl_code step_side(void *context, pawl_error *error)
{
    side *s        = context;
    s->done        = (pawl_step)PAWL_STEP_INIT;
    pawl_code code = pawl_endpoint_step(s->endpoint, &s->done, error);
    return code == PAWL_OK ? code : example_store_wrap(s->url, code, error);
}

/* Steps both. `*is_idle`: neither had work. */
static pawl_code step(replay_run *run, side sides[2], bool *is_idle, pawl_error *error)
{
    *is_idle = true;
    for (size_t i = 0; i < 2; i++) {
        const pawl_step *done = &sides[i].done;
        pawl_code        code = replay_patiently(run->patience, step_side, &sides[i], error);
        if (code == PAWL_OK)
            code = example_interrupt_check(error);
        if (code != PAWL_OK)
            return code;
        *is_idle = *is_idle && done->is_idle && !done->is_taken;
        run->messages += done->handled;
        if (done->handled + done->sent + done->dead == 0)
            continue;
        run->commits++;
        code = run->watch(run, run->context, error);
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}

/* Counts rows that still have to be handled or delivered. Those of the aggregator wait for the flush. */
static pawl_code count_left(void *context, pawl_error *error)
{
    side      *s     = context;
    pawl_stats stats = PAWL_STATS_INIT;
    pawl_code  code  = pawl_endpoint_stats(s->endpoint, s->run->arena, &stats, error);
    if (code != PAWL_OK)
        return example_store_wrap(s->url, code, error);
    s->left = stats.timeouts_due + stats.timeouts_pending;
    for (size_t i = 0; i < stats.queue_count; i++)
        s->left += stats.queues[i].ready + stats.queues[i].scheduled;
    s->left += stats.outbox_pending + stats.outbox_blocked;
    if (s->run->is_flushed)
        s->left += stats.aggregator_rows;
    pawl_arena_reset(s->run->arena);
    return PAWL_OK;
}

static pawl_code wait_for_work(replay_run *run, pawl_error *error)
{
    if (run->job.is_by_broker && run->job.arrived < run->job.log->event_count)
        return receive(run, PAWL_MILLISECONDS(WAIT_MS), error);
    struct pollfd wakes[2] = {
        {.fd = pawl_endpoint_wake_fd(run->replay), .events = POLLIN},
        {.fd = pawl_endpoint_wake_fd(run->archive), .events = POLLIN},
    };
    poll(wakes, 2, WAIT_MS);
    return PAWL_OK;
}

static pawl_code count_all_left(replay_run *run, side sides[2], int64_t *count, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    /* messages in the broker are in no store */
    *count = run->job.is_by_broker && run->job.arrived < run->job.log->event_count;
    for (size_t i = 0; i < 2 && code == PAWL_OK; i++) {
        code = replay_patiently(run->patience, count_left, &sides[i], error);
        *count += sides[i].left;
    }
    return code;
}

/* Repeated after an outage, which may have interrupted the first request. */
static pawl_code flush(const replay_run *run, pawl_error *error)
{
    pawl_code code = pawl_endpoint_flush(run->replay, REPLAY_AGGREGATOR, NULL, error);
    return code == PAWL_OK ? code : example_store_wrap(run->workspace->store, code, error);
}

/* Steps until no work is left. An idle endpoint may still have a delivery that waits for its retry, or a queue that
 * another process has not released yet. */
static pawl_code settle(replay_run *run, pawl_error *error)
{
    side    sides[2] = {{.run = run, .endpoint = run->replay, .url = run->workspace->store},
                        {.run = run, .endpoint = run->archive, .url = run->workspace->archive}};
    int64_t moved_at = example_monotonic();
    for (;;) {
        bool      is_idle = false;
        int64_t   left    = -1;
        int64_t   commits = run->commits;
        int64_t   outages = run->patience->outages;
        pawl_code code    = receive(run, 0, error);
        if (run->job.is_by_broker)
            pawl_clock_set(run->clock, known_until(&run->job));
        if (code == PAWL_OK)
            code = step(run, sides, &is_idle, error);
        if (code == PAWL_OK && is_idle && run->received == 0)
            code = count_all_left(run, sides, &left, error);
        bool was_out = run->patience->outages != outages;
        if (code == PAWL_OK && was_out && run->is_flushed && left != 0)
            code = flush(run, error);
        if (code != PAWL_OK || left == 0)
            return code;
        if (run->commits != commits || was_out)
            moved_at = example_monotonic();
        else if (example_monotonic() - moved_at > PATIENCE)
            return pawl_error_set(error, PAWL_ETIMEOUT,
                                  "run %s: nothing moved for 5 minutes, and not all is done",
                                  run->workspace->run);
        else if (is_idle)
            code = wait_for_work(run, error);
        if (code != PAWL_OK)
            return code;
    }
}

pawl_code replay_run_work(replay_run *run, replay_watch_fn *watch, void *context, pawl_error *error)
{
    run->watch     = watch;
    run->context   = context;
    pawl_code code = replay_patiently(run->patience, begin, run, error);
    if (code == PAWL_OK)
        code = settle(run, error);
    if (code == PAWL_OK)
        code = flush(run, error);
    run->is_flushed = code == PAWL_OK;
    return code == PAWL_OK ? settle(run, error) : code;
}
