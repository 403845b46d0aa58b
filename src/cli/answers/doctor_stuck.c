/* doctor_stuck.c - checks of `pawl doctor` for rows that wait for something that fails: messages in
 * delayed retry, blocked ordering keys, missing routes, projections, partitions, messages that are older than the
 * deduplication records; and for sagas that nothing wakes: without a timeout, and not saved for longer than .idle_after
 * of their type.
 *
 * Rows that will be retried are only reported; those that need an operator, and projections, are
 * failures. Ids of sagas rise with the time at which they began, so the first ones by id are the ones that may be
 * stuck. A saga that was saved last by a program without .idle_after counts from its beginning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/doctor.h"

#include "cli/answers/why.h"
#include "cli/outbox/outbox.h"
#include "cli/queue/queue.h"
#include "engine/batch.h"
#include "runtime/common/clock.h"
#include "runtime/operate/upgrade/upgrade.h"

#include <inttypes.h>

#define ROWS_MAX 200
#define RETENTION PAWL_DAYS(7)       /* default of deduplication records */
#define LAG_MAX 10000                /* as in health */
#define PARTITIONS_MAX 1000          /* the first ones by name */
#define UNTRIED_MIN PAWL_SECONDS(10) /* a dispatcher would have tried the row by then */
#define NO_ROUTE "no route to another store is named"
#define SAGAS_MAX 2000 /* of each type: those that began first */
#define SAGAS_PAGE 200

/* "pawl why ID" and the like: the word may have blanks. */
static const char *command(const pawl__doctor *doctor, const char *verb, pawl_text word)
{
    return pawl__why_command(verb, word, doctor->arena).data;
}

/* Messages of a queue that wait for one reason. */
typedef struct waiting {
    pawl_arena        *arena;
    size_t             count;
    pawl_queue_message oldest; /* should have been handled first; without its body and headers */
} waiting;

static void add_waiting(waiting *it, const pawl_queue_message *message)
{
    const pawl_queue_row *row = &message->row;
    if (it->count++ > 0 && row->placed >= it->oldest.row.placed)
        return;
    it->oldest =
        (pawl_queue_message){.row   = {.placed       = row->placed,
                                       .due          = row->due,
                                       .message.id   = pawl__must_text(it->arena, row->message.id),
                                       .message.type = pawl__must_text(it->arena, row->message.type)},
                             .error = pawl__must_text(it->arena, message->error)};
}

/* ---- Delayed retries ---------------------------------------------------- */

/* Retried messages that were not read, as too many messages are due before them: only the statistics count these. */
static pawl_code find_unread_retries(pawl__doctor *doctor, const pawl_queue_stats *queue)
{
    char      since[PAWL__SPAN_SIZE];
    pawl_text remedy = pawl__must_printf(doctor->arena, "%s --due later",
                                         command(doctor, "pawl queue peek", queue->queue));
    return pawl__doctor_find(doctor, PAWL_FINDING_WARN, remedy.data,
                             "queue %.*s: %" PRId64 " message%s failed and wait%s to be tried "
                             "again, behind the %d that are due next: the oldest was due %s",
                             PAWL_TEXT_ARGS(queue->queue), queue->retried,
                             PAWL__PLURAL(queue->retried), queue->retried == 1 ? "s" : "", ROWS_MAX,
                             pawl__age_text(queue->retried_since, doctor->now, since));
}

static void add_retried(void *context, const pawl_queue_message *message)
{
    if (message->row.attempts > 0)
        add_waiting(context, message);
}

pawl_code pawl__doctor_retries(pawl__doctor *doctor, const pawl_queue_stats *queue)
{
    const pawl_queue_query query = {
        .queue = queue->queue, .due_min = doctor->now + 1, .count_max = ROWS_MAX};
    waiting retried = {.arena = doctor->arena};
    size_t  count   = 0;
    char    since[PAWL__SPAN_SIZE], due[PAWL__SPAN_SIZE];
    if (queue->retried == 0)
        return PAWL_OK;
    pawl_code code =
        pawl__queue_each(doctor->store, &query, add_retried, &retried, &count, doctor->error);
    if (code == PAWL_OK && retried.count == 0 && count == ROWS_MAX)
        return find_unread_retries(doctor, queue);
    if (code != PAWL_OK || retried.count == 0)
        return code;
    const pawl_queue_message *oldest  = &retried.oldest;
    const pawl_message       *message = &oldest->row.message;
    bool is_oldest = count < ROWS_MAX || oldest->row.placed <= queue->retried_since;
    return pawl__doctor_find(
        doctor, PAWL_FINDING_WARN, command(doctor, "pawl why", message->id),
        "queue %.*s: %" PRId64 " message%s failed and wait%s to be tried again, %s is %.*s "
        "(%.*s), due %s, tried again %s: %.*s",
        PAWL_TEXT_ARGS(queue->queue), queue->retried, PAWL__PLURAL(queue->retried),
        queue->retried == 1 ? "s" : "", is_oldest ? "the oldest" : "one of them",
        PAWL_TEXT_ARGS(message->id), PAWL_TEXT_ARGS(message->type),
        pawl__age_text(oldest->row.placed, doctor->now, since),
        pawl__age_text(oldest->row.due, doctor->now, due), PAWL_TEXT_ARGS(oldest->error));
}

/* Reads the first timeouts by due time, of all endpoints. A timeout's row has no error to print. */
pawl_code pawl__doctor_timeout_retries(pawl__doctor *doctor)
{
    pawl_timeout_rows       rows  = {.count = 0};
    const pawl_timeout_row *first = NULL;
    size_t                  count = 0;
    char                    due[PAWL__SPAN_SIZE];
    pawl_code code = pawl_store_timeout_list(doctor->store, (pawl_saga_id){{{0}}}, ROWS_MAX,
                                             doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        if (rows.items[i].attempts > 0) {
            first = first == NULL ? &rows.items[i] : first;
            count++;
        }
    if (code != PAWL_OK || first == NULL)
        return code;
    return pawl__doctor_find(
        doctor, PAWL_FINDING_WARN,
        command(doctor, "pawl why", pawl__uuid_text(first->id.uuid, doctor->arena)),
        "%s%zu timeout%s failed and wait%s to be tried again, the first is %.*s of %.*s, for endpoint "
        "%.*s: %d failed, due %s; the log has the error",
        rows.count == ROWS_MAX ? "at least " : "", count, PAWL__PLURAL(count),
        count == 1 ? "s" : "", PAWL_TEXT_ARGS(first->name), PAWL_TEXT_ARGS(first->saga_type),
        PAWL_TEXT_ARGS(first->destination), (int)first->attempts,
        pawl__age_text(first->due, doctor->now, due));
}

/* ---- Versions ------------------------------------------------------------ */

/* The programs of the queue's workers with their versions, each once: " (shop 1.4, shop 1.5)". Empty
 * when none is known. */
static pawl_text programs_of(const pawl__doctor *doctor, pawl_text queue)
{
    pawl_text      said     = PAWL_TEXT("");
    pawl__text_set programs = {.arena = doctor->arena};
    for (size_t i = 0; i < doctor->worker_count; i++) {
        const pawl_worker_info *worker = &doctor->workers[i];
        pawl_text               name   = worker->program;
        if (worker->program_version.size > 0)
            name = pawl__must_join(doctor->arena, name, " ", worker->program_version);
        if (worker->program.size > 0 && pawl_text_equal(worker->endpoint, queue) &&
            pawl__text_set_add(&programs, name))
            said = pawl__must_join(doctor->arena, said, ", ", name);
    }
    return said.size > 0 ? pawl__must_printf(doctor->arena, " (%.*s)", PAWL_TEXT_ARGS(said)) : said;
}

static void add_unread(void *context, const pawl_queue_message *message)
{
    if (pawl__text_begins(message->error, PAWL_QUEUE_AWAITS_VERSION))
        add_waiting(context, message);
}

/* Messages whose version no worker reads are due again every few seconds: the ones that are due now are read, too. */
pawl_code pawl__doctor_versions(pawl__doctor *doctor, const pawl_queue_stats *queue)
{
    const pawl_queue_query query = {
        .queue = queue->queue, .due_min = doctor->now - PAWL_SECONDS(2), .count_max = ROWS_MAX};
    waiting unread = {.arena = doctor->arena};
    size_t  count  = 0;
    char    since[PAWL__SPAN_SIZE];
    if (queue->ready + queue->scheduled == 0)
        return PAWL_OK;
    pawl_code code =
        pawl__queue_each(doctor->store, &query, add_unread, &unread, &count, doctor->error);
    if (code == PAWL_OK && unread.count == 0 && count == ROWS_MAX)
        return pawl__doctor_find(
            doctor, PAWL_FINDING_OK, "",
            "queue %.*s: none of the %d messages that are due next waits for a "
            "program that reads its version; the others were not checked",
            PAWL_TEXT_ARGS(queue->queue), ROWS_MAX);
    if (code != PAWL_OK || unread.count == 0)
        return code;
    const pawl_queue_message *oldest   = &unread.oldest;
    pawl_text                 programs = programs_of(doctor, queue->queue);
    return pawl__doctor_find(
        doctor, PAWL_FINDING_WARN, command(doctor, "pawl why", oldest->row.message.id),
        "queue %.*s: %s%zu message%s wait%s for a program that reads their version, which no worker of it "
        "does%.*s: the oldest is %.*s (%.*s), due %s: %.*s",
        PAWL_TEXT_ARGS(queue->queue), count == ROWS_MAX ? "at least " : "", unread.count,
        PAWL__PLURAL(unread.count), unread.count == 1 ? "s" : "", PAWL_TEXT_ARGS(programs),
        PAWL_TEXT_ARGS(oldest->row.message.id), PAWL_TEXT_ARGS(oldest->row.message.type),
        pawl__age_text(oldest->row.placed, doctor->now, since), PAWL_TEXT_ARGS(oldest->error));
}

/* ---- Pauses ------------------------------------------------------------- */

pawl_code pawl__doctor_paused(pawl__doctor *doctor, const pawl_queue_stats *queue)
{
    char             since[PAWL__SPAN_SIZE], rows[PAWL__SPAN_SIZE];
    pawl_queue_pause pause = {.is_paused = false};
    int64_t          count = queue->ready + queue->scheduled;
    pawl_code code = pawl_store_queue_pause_find(doctor->store, queue->queue, doctor->arena, &pause,
                                                 doctor->error);
    if (code != PAWL_OK || !pause.is_paused)
        return code;
    return pawl__doctor_find(
        doctor, PAWL_FINDING_WARN, command(doctor, "pawl queue resume", queue->queue),
        "queue %.*s has %s message%s and is paused, since %s, by %.*s%s%.*s",
        PAWL_TEXT_ARGS(queue->queue), pawl__rows_text(count, rows), PAWL__PLURAL(count),
        pawl__age_text(pause.since, doctor->now, since), PAWL_TEXT_ARGS(pause.by),
        pause.reason.size > 0 ? ": " : "", PAWL_TEXT_ARGS(pause.reason));
}

/* ---- Alarms -------------------------------------------------------------- */

typedef struct alarm_row {
    const char *what;
    const char *says;
    const char *then;
} alarm_row;

static const alarm_row *alarm_row_of(pawl_text what)
{
    static const alarm_row rows[] = {
        {"breaker", "claims nothing, its breaker is open",
         "it probes by itself, and goes on when that succeeds"},
        {"route", "cannot deliver, receivers are unavailable",
         "its messages wait in the outbox, and it tries by itself"},
        {"inbound", "takes nothing from its broker", "it tries by itself"},
        {"retention", "cannot clean up", "it tries again by itself"},
    };
    size_t i = 0;
    while (i + 1 < sizeof rows / sizeof rows[0] &&
           !pawl_text_equal(what, pawl_text_of(rows[i].what)))
        i++;
    return &rows[i];
}

static void find_alarm(pawl__doctor *doctor, const pawl_alarm *alarm)
{
    char             since[PAWL__SPAN_SIZE];
    const alarm_row *row = alarm_row_of(alarm->what);
    pawl__age_text(alarm->since, doctor->now, since);
    pawl_text stream = pawl__must_printf(doctor->arena, PAWL_ALARM_STREAMS "/%.*s",
                                         PAWL_TEXT_ARGS(alarm->endpoint));
    (void)pawl__doctor_find(doctor, PAWL_FINDING_WARN, command(doctor, "pawl events show", stream),
                            "endpoint %.*s %s, since %s: %.*s; %s", PAWL_TEXT_ARGS(alarm->endpoint),
                            row->says, since, PAWL_TEXT_ARGS(alarm->text), row->then);
}

pawl_code pawl__doctor_alarms(pawl__doctor *doctor)
{
    pawl_alarm_rows rows = {.count = 0};
    pawl_code       code = pawl_store_alarms(doctor->store, doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        find_alarm(doctor, &rows.items[i]);
    return code;
}

/* ---- Sources and routes ------------------------------------------------- */

static pawl_code find_source(pawl__doctor *doctor, const pawl_outbox_rows *rows, size_t at)
{
    const pawl_outbox_row *row     = &rows->items[at];
    pawl_text              next    = {.size = 0};
    int64_t                blocker = 0;
    int64_t                count   = 0;
    char                   remedy[60];
    for (size_t i = at; i < rows->count; i++)
        count += pawl_text_equal(rows->items[i].source, row->source);
    pawl_code code = pawl__outbox_next(doctor->store, row, doctor->now, doctor->arena, &next,
                                       &blocker, doctor->error);
    if (code != PAWL_OK)
        return code;
    snprintf(remedy, sizeof remedy, "pawl why %" PRId64, blocker != 0 ? blocker : row->id);
    return pawl__doctor_find(
        doctor, PAWL_FINDING_WARN, remedy,
        "%" PRId64 " row%s behind an earlier one of the ordering key %.*s: %.*s", count,
        count == 1 ? " waits" : "s wait", PAWL_TEXT_ARGS(row->source), PAWL_TEXT_ARGS(next));
}

pawl_code pawl__doctor_sources(pawl__doctor *doctor)
{
    pawl_outbox_rows rows    = {.count = 0};
    pawl__text_set   sources = {.arena = doctor->arena};
    pawl_code        code    = PAWL_OK;
    if (doctor->stats.outbox_blocked == 0)
        return PAWL_OK;
    code = pawl_store_outbox_list(doctor->store, PAWL_OUTBOX_BLOCKED, ROWS_MAX, doctor->arena,
                                  &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count && sources.count < PAWL__DOCTOR_NAMED_MAX;
         i++)
        if (pawl__text_set_add(&sources, rows.items[i].source))
            code = find_source(doctor, &rows, i);
    return code;
}

/* A missing route is known by the error of the last attempt. */
static pawl_code ask_route(pawl__doctor *doctor, const pawl_outbox_row *row, bool *is_missing)
{
    pawl_attempt_rows rows = {.count = 0};
    pawl_code         code =
        pawl_store_outbox_attempts(doctor->store, row->id, doctor->arena, &rows, doctor->error);
    *is_missing = rows.count > 0 && pawl__text_begins(rows.items[rows.count - 1].error, NO_ROUTE);
    return code;
}

static bool is_first_for(const pawl_outbox_rows *rows, size_t at)
{
    const pawl_outbox_row *row = &rows->items[at];
    for (size_t i = 0; i < at; i++)
        if (pawl_text_equal(rows->items[i].destination, row->destination) &&
            pawl_text_equal(rows->items[i].endpoint, row->endpoint))
            return false;
    return true;
}

static void find_route(pawl__doctor *doctor, const pawl_outbox_row *row)
{
    pawl_text option =
        pawl__must_printf(doctor->arena, "%.*s=URL", PAWL_TEXT_ARGS(row->destination));
    (void)pawl__doctor_find(
        doctor, PAWL_FINDING_FAIL, command(doctor, "pawl run APP.so --route", option),
        "endpoint %.*s has no route named %.*s: row %" PRId64
        " and others for it are not delivered",
        PAWL_TEXT_ARGS(row->endpoint), PAWL_TEXT_ARGS(row->destination), row->id);
}

/* A program without any route has no outbox dispatcher: its workers live, but rows are never attempted. */
static pawl_code find_without_dispatcher(pawl__doctor *doctor)
{
    const pawl_outbox_query untried = {.states = 1U << PAWL_OUTBOX_PENDING, .count_max = ROWS_MAX};
    pawl_outbox_rows        rows    = {.count = 0};
    pawl_lead_row          *leads   = NULL;
    size_t                  count   = 0;
    pawl_code code = pawl_store_lead_list(doctor->store, doctor->now, doctor->arena, &leads, &count,
                                          doctor->error);
    if (code == PAWL_OK)
        code = pawl_store_outbox_find(doctor->store, &untried, doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        const pawl_outbox_row *row   = &rows.items[i];
        pawl_text              name  = pawl__lease_name("outbox", row->endpoint, doctor->arena);
        size_t                 found = 0;
        while (found < count && !pawl_text_equal(leads[found].name, name))
            found++;
        if (found == count && row->attempts == 0 && row->at <= doctor->now - UNTRIED_MIN &&
            pawl__doctor_has_worker(doctor, row->endpoint) && is_first_for(&rows, i))
            find_route(doctor, row);
    }
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

pawl_code pawl__doctor_routes(pawl__doctor *doctor)
{
    const pawl_outbox_query tried = {
        .states = 1U << PAWL_OUTBOX_PENDING, .attempts_min = 1, .count_max = ROWS_MAX};
    pawl_outbox_rows rows = {.count = 0};
    pawl_code        code = PAWL_OK;
    if (doctor->stats.outbox_pending > 0)
        code = pawl_store_outbox_find(doctor->store, &tried, doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        bool is_missing = false;
        if (is_first_for(&rows, i))
            code = ask_route(doctor, &rows.items[i], &is_missing);
        if (code == PAWL_OK && is_missing)
            find_route(doctor, &rows.items[i]);
    }
    return code == PAWL_OK && doctor->stats.outbox_pending > 0 ? find_without_dispatcher(doctor)
                                                               : code;
}

/* ---- Projections and partitions ----------------------------------------- */

static void find_failing(pawl__doctor *doctor, const pawl_projection_row *row)
{
    char                           since[PAWL__SPAN_SIZE];
    const pawl_projection_failure *failure = &row->failure;
    (void)pawl__doctor_find(
        doctor, PAWL_FINDING_FAIL, command(doctor, "pawl projection restart", row->name),
        "projection %.*s fails at event %" PRId64 " (%.*s of stream %.*s), first %s: %.*s: %.*s",
        PAWL_TEXT_ARGS(row->name), failure->position, PAWL_TEXT_ARGS(failure->type),
        PAWL_TEXT_ARGS(failure->stream), pawl__age_text(failure->since, doctor->now, since),
        PAWL_TEXT_ARGS(failure->code), PAWL_TEXT_ARGS(failure->error));
}

pawl_code pawl__doctor_projections(pawl__doctor *doctor)
{
    pawl_projection_rows rows = {.count = 0};
    pawl_code            code =
        pawl_store_projection_list(doctor->store, doctor->now, doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        const pawl_projection_row *row = &rows.items[i];
        if (row->failure.position != 0)
            find_failing(doctor, row);
        else if (row->lag >= LAG_MAX)
            (void)pawl__doctor_find(doctor, PAWL_FINDING_WARN,
                                    command(doctor, "pawl projection show", row->name),
                                    "projection %.*s is %" PRId64 " events behind",
                                    PAWL_TEXT_ARGS(row->name), row->lag);
    }
    return code;
}

static pawl_code find_undecoded(pawl__doctor *doctor)
{
    const pawl_partition_query first = {.count_max = PARTITIONS_MAX};
    pawl_partition_rows        rows  = {.count = 0};
    size_t                     named = 0;
    if (doctor->stats.aggregator_rows == 0)
        return PAWL_OK;
    pawl_code code =
        pawl_store_partition_list(doctor->store, &first, doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count && named < PAWL__DOCTOR_NAMED_MAX; i++) {
        const pawl_partition_row *row = &rows.items[i];
        if (!pawl__has_undecoded(row))
            continue;
        (void)pawl__doctor_find(
            doctor, PAWL_FINDING_WARN, command(doctor, "pawl aggregator show", row->partition),
            "partition %.*s: messages that cannot be decoded stay, of %" PRId64
            " that it has: %.*s",
            PAWL_TEXT_ARGS(row->partition), row->count, PAWL_TEXT_ARGS(row->error));
        named++;
    }
    return code;
}

pawl_code pawl__doctor_partitions(pawl__doctor *doctor)
{
    const pawl_partition_query dead  = {.is_dead = true, .count_max = PAWL__DOCTOR_NAMED_MAX};
    pawl_partition_rows        rows  = {.count = 0};
    int64_t                    count = doctor->stats.flushes_dead;
    pawl_code                  code  = PAWL_OK;
    if (count > 0)
        code = pawl_store_partition_list(doctor->store, &dead, doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        const pawl_partition_row *row = &rows.items[i];
        (void)pawl__doctor_find(
            doctor, PAWL_FINDING_FAIL, command(doctor, "pawl aggregator run-now", row->partition),
            "partition %.*s is dead after %d flush%s: the %" PRId64
            " message%s that it collected stay%s: %.*s",
            PAWL_TEXT_ARGS(row->partition), (int)row->attempts, row->attempts == 1 ? "" : "es",
            row->count, PAWL__PLURAL(row->count), row->count == 1 ? "s" : "",
            PAWL_TEXT_ARGS(row->error));
    }
    if (code == PAWL_OK && count > (int64_t)rows.count)
        (void)pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl aggregator list --dead",
                                "%" PRId64 " more are dead", count - (int64_t)rows.count);
    return code == PAWL_OK ? find_undecoded(doctor) : code;
}

/* ---- Retention ---------------------------------------------------------- */

/* Warns of rows older than the retention: without their deduplication record a second copy would be handled again. */
pawl_code pawl__doctor_retention(pawl__doctor *doctor)
{
    char      span[PAWL__SPAN_SIZE];
    pawl_time limit = doctor->now - RETENTION;
    if (doctor->stats.outbox_oldest != 0 && doctor->stats.outbox_oldest < limit)
        (void)pawl__doctor_find(
            doctor, PAWL_FINDING_WARN, "pawl outbox list --state pending --limit 1",
            "the oldest pending outbox row is from %s: a receiver whose deduplication records are swept after 7 d, "
            "the default of --inbox-retention, does not know a second copy of it",
            pawl__age_text(doctor->stats.outbox_oldest, doctor->now, span));
    for (size_t i = 0; i < doctor->stats.queue_count; i++) {
        const pawl_queue_stats *queue = &doctor->stats.queues[i];
        if (queue->retried > 0 && queue->retried_since < limit)
            (void)pawl__doctor_find(
                doctor, PAWL_FINDING_WARN, command(doctor, "pawl queue peek", queue->queue),
                "queue %.*s: a message that is tried again was due %s, longer than deduplication "
                "records are kept by default: --inbox-retention must be longer than all retries",
                PAWL_TEXT_ARGS(queue->queue),
                pawl__age_text(queue->retried_since, doctor->now, span));
    }
    return PAWL_OK;
}

/* ---- Sagas -------------------------------------------------------------- */

/* The scan of the sagas of one type. */
typedef struct idle_scan {
    const pawl__saga_model *saga;
    pawl_time               limit; /* a saga that was saved before this time is idle */
    pawl_arena             *page;
    size_t                  seen, found;
    bool                    is_end;
    pawl_saga_id            oldest; /* of those that are found */
    pawl_time               oldest_since;
} idle_scan;

static pawl_code count_idle(pawl__doctor *doctor, idle_scan *it, const pawl_saga_row *row)
{
    pawl_timeout_rows timeouts = {.count = 0};
    pawl_time         at       = pawl__saga_begun(row->id.uuid);
    if (row->presence != PAWL_SAGA_THERE)
        return PAWL_OK;
    pawl_text changed = pawl__must_header(row->metadata, PAWL__SAGA_CHANGED, it->page);
    if (changed.size != 0)
        (void)pawl_time_parse(changed, &at, NULL);
    if (at >= it->limit)
        return PAWL_OK;
    pawl_code code =
        pawl_store_timeout_list(doctor->store, row->id, 1, it->page, &timeouts, doctor->error);
    if (code != PAWL_OK || timeouts.count > 0)
        return code;
    if (it->found == 0 || at < it->oldest_since) {
        it->oldest       = row->id;
        it->oldest_since = at;
    }
    it->found++;
    return PAWL_OK;
}

/* A type without a table has no sagas; `pawl schema` and `pawl run` report a missing table. */
static pawl_code scan_type(pawl__doctor *doctor, idle_scan *it)
{
    pawl_scan_row  after = {.number = 0};
    pawl_scan_rows scanned;
    pawl_saga_row *rows;
    pawl_code      code = PAWL_OK;
    while (code == PAWL_OK && !it->is_end && it->seen < SAGAS_MAX) {
        pawl_arena_reset(it->page);
        code = pawl__saga_page(doctor->store, &it->saga->table, it->seen > 0 ? &after : NULL,
                               SAGAS_PAGE, it->page, &scanned, &rows, doctor->error);
        for (size_t i = 0; code == PAWL_OK && i < scanned.count; i++)
            code = count_idle(doctor, it, &rows[i]);
        it->seen += scanned.count;
        it->is_end = scanned.count < SAGAS_PAGE;
        if (code != PAWL_OK || it->is_end)
            continue;
        after      = (pawl_scan_row){.id = scanned.items[scanned.count - 1].id};
        it->is_end = pawl__saga_begun(after.id) >= it->limit; /* all later ones began since */
    }
    return code;
}

static pawl_code say_found(pawl__doctor *doctor, const idle_scan *it)
{
    char        since[PAWL__SPAN_SIZE], idle[PAWL__SPAN_SIZE], bound[60] = "";
    pawl_arena *arena = doctor->arena;
    pawl_text   name  = pawl__saga_source_of(pawl_text_of(it->saga->saga->name), it->oldest, arena);
    pawl__saga_named saga = {.type = it->saga->table.type, .id = it->oldest, .name = name};
    pawl_code code = pawl__saga_names(&doctor->book, doctor->store, &saga, 1, arena, doctor->error);
    if (code != PAWL_OK)
        return code;
    if (!it->is_end)
        snprintf(bound, sizeof bound, " (of the %d that began first)", SAGAS_MAX);
    pawl_text remedy = pawl__must_printf(
        arena, "pawl why %.*s%.*s", PAWL_TEXT_ARGS(pawl__shell_word(saga.name, arena)),
        PAWL_TEXT_ARGS(pawl__why_book_options(&doctor->book, arena)));
    return pawl__doctor_find(
        doctor, PAWL_FINDING_WARN, remedy.data,
        "nothing wakes %zu saga%s of %s%s: no timeout, and not saved for longer "
        "than %s (.idle_after); the oldest is %.*s, saved %s",
        it->found, PAWL__PLURAL(it->found), it->saga->saga->name, bound,
        pawl__span_text(it->saga->saga->idle_after, idle), PAWL_TEXT_ARGS(saga.name),
        pawl__age_text(it->oldest_since, doctor->now, since));
}

static pawl_code check_type(pawl__doctor *doctor, const pawl__saga_model *saga)
{
    idle_scan it = {
        .saga = saga, .limit = doctor->now - saga->saga->idle_after, .page = pawl__must_create()};
    pawl_code code = scan_type(doctor, &it);
    pawl_arena_destroy(it.page);
    return code == PAWL_OK && it.found > 0 ? say_found(doctor, &it) : code;
}

pawl_code pawl__doctor_sagas(pawl__doctor *doctor)
{
    const pawl_upgrade *upgrade = doctor->book.upgrade;
    size_t              count = doctor->found.count, types = 0;
    pawl_code           code = PAWL_OK;
    if (upgrade == NULL)
        return pawl__doctor_find(doctor, PAWL_FINDING_OK, "",
                                 "not checked: --app APP.so says how long a saga may be idle");
    for (size_t i = 0; i < upgrade->model_count; i++)
        for (size_t j = 0; code == PAWL_OK && j < upgrade->models[i]->saga_count; j++) {
            const pawl__saga_model *saga = &upgrade->models[i]->sagas[j];
            if (saga->stream != NULL || saga->saga->idle_after == 0)
                continue;
            types++;
            code = check_type(doctor, saga);
        }
    if (code != PAWL_OK || doctor->found.count > count)
        return code;
    return pawl__doctor_find(doctor, PAWL_FINDING_OK, "",
                             types == 0 ? "no saga of the program has .idle_after"
                                        : "each that was not saved for .idle_after has a timeout");
}
