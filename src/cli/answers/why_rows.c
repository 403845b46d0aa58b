/* why_rows.c - looks for an id in the outbox, among timeouts and streams, and for the name of a schedule, a projection,
 * a partition of an aggregator, or a queue.
 *
 * A process or an entity waits for messages; the outbox rows with its ordering key show what it waits for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/why.h"
#include "cli/outbox/outbox.h"
#include "cli/queue/queue.h"
#include "cli/timeout/timeout.h"
#include "pawl/store_schedule.h"

#include <inttypes.h>
#include <string.h>

/* ---- The outbox --------------------------------------------------------- */

static const char *const waits[] = {
    [PAWL_OUTBOX_PENDING]    = "its delivery",
    [PAWL_OUTBOX_BLOCKED]    = "an earlier row of its ordering key",
    [PAWL_OUTBOX_DISPATCHED] = "nothing: it was delivered",
    [PAWL_OUTBOX_DEAD]       = "somebody who retries or discards it",
    [PAWL_OUTBOX_DISCARDED]  = "nothing: it was discarded",
};

/* The last attempt that failed. */
static pawl_code read_attempts(pawl__why *why, const pawl_outbox_row *row, pawl__answer *answer)
{
    pawl_attempt_rows rows = {.count = 0};
    pawl_code code = pawl_store_outbox_attempts(why->store, row->id, why->arena, &rows, why->error);
    answer->since  = row->at;
    if (code != PAWL_OK || rows.count == 0)
        return code;
    const pawl_attempt_row *last = &rows.items[rows.count - 1];
    answer->since                = last->at;
    if (last->error.size != 0)
        answer->error = last->error;
    return PAWL_OK;
}

static void offer_commands(const pawl__why *why, const pawl_outbox_row *row, int64_t blocker,
                           bool is_there, pawl__answer *answer)
{
    size_t      count         = 0;
    pawl_arena *arena         = why->arena;
    answer->commands[count++] = pawl__must_printf(arena, "pawl outbox show %" PRId64, row->id);
    if (blocker != 0)
        answer->commands[count++] = pawl__must_printf(arena, "pawl why %" PRId64, blocker);
    if (row->state == PAWL_OUTBOX_DEAD) {
        answer->commands[count++] = pawl__must_printf(arena, "pawl outbox retry %" PRId64, row->id);
        answer->commands[count++] =
            pawl__must_printf(arena, "pawl outbox discard %" PRId64, row->id);
    } else if (!is_there && row->state != PAWL_OUTBOX_DISPATCHED &&
               row->state != PAWL_OUTBOX_DISCARDED)
        answer->commands[count++] = PAWL_TEXT("pawl run APP.so");
}

/* The leader of the endpoint delivers, and no other worker. */
static pawl_code name_leader(pawl__why *why, const pawl_outbox_row *row, bool *is_led,
                             pawl__answer *answer)
{
    pawl_worker_id leader;
    pawl_code      code = pawl__why_leader(why, "outbox", row->endpoint, is_led, &leader);
    answer->claimed_by  = PAWL_TEXT("nobody");
    if (code == PAWL_OK && *is_led && row->state <= PAWL_OUTBOX_BLOCKED)
        answer->claimed_by = pawl__must_printf(why->arena, "worker %s, which leads the outbox",
                                               pawl__uuid_text(leader.uuid, why->arena).data);
    *is_led |= code != PAWL_OK;
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* A program without any route delivers nothing, and has no leader of the outbox. */
static void say_routeless(const pawl__why *why, const pawl_outbox_row *row, pawl__answer *answer)
{
    pawl_text route = pawl__must_printf(why->arena, "%.*s=URL", PAWL_TEXT_ARGS(row->destination));
    answer->waits_for =
        pawl__must_printf(why->arena, "a program of endpoint %.*s with the route %.*s",
                          PAWL_TEXT_ARGS(row->endpoint), PAWL_TEXT_ARGS(row->destination));
    answer->next        = PAWL_TEXT("nothing: the workers of the endpoint have no route");
    answer->commands[1] = pawl__why_command("pawl run APP.so --route", route, why->arena);
}

static pawl_code add_row(pawl__why *why, const pawl_outbox_row *row, const char *place)
{
    bool         is_led  = true;
    int64_t      blocker = 0;
    pawl_text    workers = pawl__why_workers(why, row->endpoint);
    pawl__answer answer  = {
         .place = place,
         .name  = pawl__must_printf(
              why->arena, "row %" PRId64 ", %s, %.*s for %.*s, of endpoint %.*s", row->id,
              pawl__outbox_state_name(row->state), PAWL_TEXT_ARGS(row->message.type),
              PAWL_TEXT_ARGS(row->destination), PAWL_TEXT_ARGS(row->endpoint)),
         .waits_for = pawl_text_of(waits[row->state]),
    };
    pawl_code code = pawl__outbox_next(why->store, row, why->now, why->arena, &answer.next,
                                       &blocker, why->error);
    if (code == PAWL_OK)
        code = read_attempts(why, row, &answer);
    if (code == PAWL_OK)
        code = name_leader(why, row, &is_led, &answer);
    offer_commands(why, row, blocker, workers.size != 0, &answer);
    if (!is_led && workers.size != 0 && row->state == PAWL_OUTBOX_PENDING && blocker == 0)
        say_routeless(why, row, &answer);
    if (code == PAWL_OK && row->state == PAWL_OUTBOX_PENDING && blocker == 0 && workers.size != 0)
        code = pawl__why_route(why, row, &answer);
    return code == PAWL_OK ? pawl__why_add(why, &answer) : code;
}

pawl_code pawl__why_add_rows(pawl__why *why, const pawl_outbox_query *query, const char *place)
{
    pawl_outbox_rows rows = {.count = 0};
    pawl_code code = pawl_store_outbox_find(why->store, query, why->arena, &rows, why->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        code = add_row(why, &rows.items[i], place);
    return code;
}

/* Finds rows by number, by dispatch id, and by the message whose handler sent them. */
pawl_code pawl__why_outbox(pawl__why *why)
{
    pawl_outbox_query by_id  = {.count_max = 1};
    pawl_outbox_query caused = {.states       = PAWL__WHY_LIVE_STATES,
                                .causation_id = why->word,
                                .count_max    = PAWL__WHY_ROWS_MAX};
    char              word[PAWL_UUID_TEXT_SIZE + 1];
    snprintf(word, sizeof word, "%.*s", PAWL_TEXT_ARGS(why->word));
    pawl_code code        = PAWL_OK;
    bool      is_dispatch = pawl_uuid_parse(why->word, &by_id.dispatch_id.uuid, NULL) == PAWL_OK &&
                       !pawl_uuid_is_zero(by_id.dispatch_id.uuid);
    bool is_number = why->word.size < sizeof word && pawl__number_parse(word, &by_id.id);
    if (is_dispatch || is_number)
        code = pawl__why_add_rows(why, &by_id, "outbox");
    return code == PAWL_OK ? pawl__why_add_rows(why, &caused, "outbox, sent by its handler") : code;
}

/* ---- Timeouts ----------------------------------------------------------- */

pawl_code pawl__why_add_timeout(pawl__why *why, const pawl_timeout_row *row)
{
    char         span[PAWL__SPAN_SIZE];
    const char  *id        = pawl__uuid_text(row->id.uuid, why->arena).data;
    bool         is_leased = row->lease_expires > why->now;
    bool         is_over   = row->lease_expires != 0 && !is_leased;
    bool         is_paused = false;
    pawl_text    workers   = pawl__why_workers(why, row->destination);
    pawl__answer answer    = {.place = "timeout", .since = row->due};
    pawl__age_text(row->due, why->now, span);
    answer.name = pawl__must_printf(why->arena, "%s, %.*s of %.*s, for endpoint %.*s", id,
                                    PAWL_TEXT_ARGS(row->name), PAWL_TEXT_ARGS(row->saga_type),
                                    PAWL_TEXT_ARGS(row->destination));
    answer.waits_for =
        row->due > why->now && row->attempts > 0
            ? pawl__must_printf(why->arena, "its next run, %s: %d failed; the log has the error",
                                span, (int)row->attempts)
        : row->due > why->now ? pawl__must_printf(why->arena, "its time, %s", span)
        : is_leased           ? PAWL_TEXT("the end of its handling")
        : is_over             ? PAWL_TEXT("a worker: the lease of the one that had it ran out")
                              : PAWL_TEXT("a worker that is free");
    answer.claimed_by =
        is_leased ? pawl__must_printf(why->arena, "session %s, for another %s at most",
                                      pawl__uuid_text(row->owner.uuid, why->arena).data,
                                      pawl__span_text(row->lease_expires - why->now, span))
                  : PAWL_TEXT("nobody");
    answer.next = workers.size != 0 ? PAWL_TEXT("a worker of the endpoint handles it then")
                                    : PAWL_TEXT("nothing, until a worker of the endpoint runs");
    if (workers.size == 0)
        answer.commands[0] = PAWL_TEXT("pawl run APP.so");
    answer.commands[1] = pawl__must_printf(why->arena, "pawl timeout show %s", id);
    if (row->due > why->now)
        answer.commands[2] = pawl__must_printf(why->arena, "pawl timeout run-now %s", id);
    pawl_code code = pawl__why_pause(why, row->destination, &answer, &is_paused);
    if (code == PAWL_OK && !is_paused)
        code = pawl__why_breaker(why, row->destination, &answer, &is_paused);
    return code == PAWL_OK ? pawl__why_add(why, &answer) : code;
}

pawl_code pawl__why_timeout(pawl__why *why)
{
    pawl_uuid        id;
    pawl_timeout_row row;
    bool             is_there = false;
    if (pawl_uuid_parse(why->word, &id, NULL) != PAWL_OK)
        return PAWL_OK;
    pawl_code code = pawl__timeout_find(why->store, id, why->arena, &row, &is_there, why->error);
    return code == PAWL_OK && is_there ? pawl__why_add_timeout(why, &row) : code;
}

/* ---- Streams and sources ------------------------------------------------ */

/* Finds a process or an entity by its last event, and the outbox rows of any sender by their ordering key. */
pawl_code pawl__why_stream(pawl__why *why)
{
    const pawl_outbox_query sent = {
        .states = PAWL__WHY_LIVE_STATES, .source = why->word, .count_max = PAWL__WHY_ROWS_MAX};
    const pawl_event_query query = {.stream = why->word, .is_backward = true, .count_max = 1};
    pawl_event_rows        rows  = {.count = 0};
    if (memchr(why->word.data, '/', why->word.size) == NULL)
        return PAWL_OK;
    pawl_code code = pawl_store_event_list(why->store, &query, why->arena, &rows, why->error);
    if (code == PAWL_OK && rows.count > 0) {
        const pawl_event *last   = &rows.items[0].event;
        pawl__answer      answer = {
                 .place = "stream",
                 .name = pawl__must_printf(why->arena, "%.*s, version %" PRId64 ", last event %.*s",
                                           PAWL_TEXT_ARGS(why->word), rows.items[0].version,
                                           PAWL_TEXT_ARGS(last->type)),
                 .waits_for = PAWL_TEXT("a message that it handles, or one of its timeouts"),
                 .since     = last->at,
                 .claimed_by = PAWL_TEXT("nobody, or the worker that handles a message of it just now"),
                 .next       = PAWL_TEXT("nothing without a message"),
        };
        answer.commands[0] = pawl__why_command("pawl events list --stream", why->word, why->arena);
        code               = pawl__why_add(why, &answer);
    }
    return code == PAWL_OK ? pawl__why_add_rows(why, &sent, "outbox, of this ordering key") : code;
}

/* ---- Projections -------------------------------------------------------- */

static void say_failing(const pawl__why *why, const pawl_projection_row *row, pawl__answer *answer)
{
    char                           span[PAWL__SPAN_SIZE];
    const pawl_projection_failure *failure = &row->failure;
    answer->waits_for                      = pawl__must_printf(
                             why->arena, "event %" PRId64 ", %.*s of stream %.*s, which it fails at: %" PRId64 " behind",
                             failure->position, PAWL_TEXT_ARGS(failure->type), PAWL_TEXT_ARGS(failure->stream),
                             row->lag);
    answer->since = failure->since;
    answer->error = pawl__must_printf(why->arena, "%.*s: %.*s", PAWL_TEXT_ARGS(failure->code),
                                      PAWL_TEXT_ARGS(failure->error));
    if (answer->claimed_by.size != 0)
        answer->next = pawl__must_printf(why->arena, "tried again %s",
                                         pawl__age_text(failure->next, why->now, span));
    answer->commands[1] = pawl__why_command("pawl projection restart", row->name, why->arena);
}

static pawl_code add_projection(pawl__why *why, const pawl_projection_row *row)
{
    bool         is_read = !pawl_uuid_is_zero(row->worker.uuid);
    pawl__answer answer  = {
         .place     = "projection",
         .name      = pawl__must_printf(why->arena, "%.*s, at global position %" PRId64,
                                        PAWL_TEXT_ARGS(row->name), row->position),
         .waits_for = row->lag > 0
                          ? pawl__must_printf(why->arena, "its worker: %" PRId64 " behind", row->lag)
                          : PAWL_TEXT("the next event"),
    };
    if (is_read)
        answer.claimed_by = pawl__must_printf(why->arena, "worker %s, which reads",
                                              pawl__uuid_text(row->worker.uuid, why->arena).data);
    answer.next        = is_read ? PAWL_TEXT("its worker reads on")
                                 : PAWL_TEXT("nothing, until a worker that runs it is alive");
    answer.commands[0] = pawl__why_command("pawl projection show", row->name, why->arena);
    if (row->failure.position != 0)
        say_failing(why, row, &answer);
    if (!is_read)
        answer.claimed_by = PAWL_TEXT("nobody");
    return pawl__why_add(why, &answer);
}

pawl_code pawl__why_projection(pawl__why *why)
{
    pawl_projection_rows rows = {.count = 0};
    pawl_code            code =
        pawl_store_projection_list(why->store, why->now, why->arena, &rows, why->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].name, why->word))
            code = add_projection(why, &rows.items[i]);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* ---- Schedules ---------------------------------------------------------- */

static pawl_code add_schedule(pawl__why *why, const pawl_schedule_row *row)
{
    char         span[PAWL__SPAN_SIZE];
    pawl_arena  *arena   = why->arena;
    pawl_text    workers = pawl__why_workers(why, row->queue);
    bool         is_held = row->is_paused;
    bool         is_due  = !row->is_paused && row->next <= why->now;
    pawl__answer answer  = {.place = "schedule", .since = is_due ? row->next : 0};
    answer.name =
        pawl__must_printf(arena, "%.*s, message %.*s for queue %.*s", PAWL_TEXT_ARGS(row->id),
                          PAWL_TEXT_ARGS(row->type), PAWL_TEXT_ARGS(row->queue));
    answer.waits_for  = is_due && workers.size != 0 ? PAWL_TEXT("a worker that is free")
                        : is_due                    ? PAWL_TEXT("a worker of its endpoint")
                                                    : pawl__must_printf(arena, "its time, %s",
                                                                        pawl__age_text(row->next, why->now, span));
    answer.claimed_by = PAWL_TEXT("nobody, or the worker that sends its message just now");
    answer.next = workers.size != 0 ? PAWL_TEXT("a worker of the endpoint sends its message then")
                                    : PAWL_TEXT("nothing, until a worker of the endpoint runs");
    if (workers.size == 0)
        answer.commands[0] = PAWL_TEXT("pawl run APP.so");
    answer.commands[1] = pawl__why_command("pawl schedule show", row->id, arena);
    if (row->is_paused) {
        answer.waits_for =
            pawl__must_printf(arena, "the end of its pause: %.*s paused it at %.*s%s%.*s",
                              PAWL_TEXT_ARGS(row->changed_by), PAWL_TEXT_ARGS(row->changed_at),
                              row->reason.size > 0 ? ": " : "", PAWL_TEXT_ARGS(row->reason));
        answer.next        = PAWL_TEXT("nothing, until somebody resumes it");
        answer.commands[0] = pawl__why_command("pawl schedule resume", row->id, arena);
    }
    pawl_code code = is_held ? PAWL_OK : pawl__why_pause(why, row->queue, &answer, &is_held);
    if (code == PAWL_OK && !is_held)
        code = pawl__why_breaker(why, row->queue, &answer, &is_held);
    return code == PAWL_OK ? pawl__why_add(why, &answer) : code;
}

/* Finds schedules by QUEUE/NAME, or by the name only. */
pawl_code pawl__why_schedule(pawl__why *why)
{
    pawl_schedule_rows rows = {.count = 0};
    pawl_code          code = pawl_store_schedule_list(why->store, why->arena, &rows, why->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].id, why->word) ||
            pawl_text_equal(rows.items[i].name, why->word))
            code = add_schedule(why, &rows.items[i]);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* ---- Partitions --------------------------------------------------------- */

/* The store does not know which endpoint has an aggregator, so any live worker may be the one that runs it. */
static void say_idle(const pawl__why *why, pawl__answer *answer)
{
    for (size_t i = 0; i < why->worker_count; i++)
        if (why->workers[i].endpoint.size > 0)
            return;
    answer->claimed_by  = PAWL_TEXT("nobody");
    answer->next        = PAWL_TEXT("nothing, until a worker that has the aggregator runs");
    answer->commands[2] = PAWL_TEXT("pawl run APP.so");
}

bool pawl__has_undecoded(const pawl_partition_row *row)
{
    return !row->is_dead && row->attempts == 0 && row->error.size != 0;
}

static pawl_code add_partition(pawl__why *why, const pawl_partition_row *row)
{
    char         span[PAWL__SPAN_SIZE];
    pawl__answer answer = {
        .place = "partition",
        .name =
            pawl__must_printf(why->arena, "%.*s, %" PRId64 " message%s",
                              PAWL_TEXT_ARGS(row->partition), row->count, PAWL__PLURAL(row->count)),
        .waits_for  = PAWL_TEXT("more messages, or its time"),
        .since      = row->oldest,
        .error      = row->error,
        .claimed_by = PAWL_TEXT("nobody, or the worker that hands it over"),
        .next       = PAWL_TEXT("handed over when it is full"),
    };
    if (row->is_dead) {
        answer.waits_for =
            pawl__must_printf(why->arena, "somebody who runs it now: it is dead after %d flush%s",
                              (int)row->attempts, row->attempts == 1 ? "" : "es");
        answer.claimed_by = PAWL_TEXT("nobody");
        answer.next       = PAWL_TEXT("nothing");
    } else if (row->attempts > 0) {
        answer.waits_for =
            pawl__must_printf(why->arena, "its next attempt: the last %d flush%s failed",
                              (int)row->attempts, row->attempts == 1 ? "" : "es");
        answer.next = pawl__must_printf(why->arena, "handed over again %s",
                                        pawl__age_text(row->due, why->now, span));
    } else if (row->due != PAWL_TIME_MAX)
        answer.next = pawl__must_printf(why->arena, "handed over %s at the latest",
                                        pawl__age_text(row->due, why->now, span));
    if (pawl__has_undecoded(row)) {
        answer.waits_for = PAWL_TEXT("more messages, or its time; some of its messages cannot be "
                                     "decoded and stay, until another program decodes them");
        answer.next =
            pawl__must_printf(why->arena, "%.*s; those that cannot be decoded are tried again then",
                              PAWL_TEXT_ARGS(answer.next));
    }
    if (!row->is_dead && row->due <= why->now) {
        answer.waits_for = pawl__must_printf(
            why->arena, "a worker that has aggregator %.*s: due %s",
            PAWL_TEXT_ARGS(row->aggregator), pawl__age_text(row->due, why->now, span));
        answer.next = PAWL_TEXT("a worker that has the aggregator hands it over");
    }
    if (!row->is_dead)
        say_idle(why, &answer);
    answer.commands[0] = pawl__why_command("pawl aggregator show", row->partition, why->arena);
    answer.commands[1] = pawl__why_command("pawl aggregator run-now", row->partition, why->arena);
    return pawl__why_add(why, &answer);
}

pawl_code pawl__why_partition(pawl__why *why)
{
    pawl_partition_row row;
    pawl_error         none = PAWL_ERROR_INIT;
    if (why->word.size == 0 || why->word.size > PAWL_PARTITION_SIZE_MAX)
        return PAWL_OK;
    pawl_code code = pawl_store_partition_find(why->store, why->word, why->arena, &row, &none);
    if (code == PAWL_ENOTFOUND || code == PAWL_EUNSUPPORTED)
        return PAWL_OK;
    return code == PAWL_OK ? add_partition(why, &row)
                           : pawl_error_set(why->error, code, "%s", none.text);
}

#define COLLECTED_PAGE 100
#define PARTITIONS_MAX 1000 /* of the aggregator, the first ones by name */
#define COLLECTED_MAX 20000 /* rows that are read: no index has their message ids */

/* The row of a message does not name its partition: any partition with undecoded messages may be the one. */
static pawl_code say_undecoded(const pawl__why *why, pawl_text aggregator, pawl__answer *answer)
{
    const pawl_partition_query of   = {.aggregator = aggregator, .count_max = PARTITIONS_MAX};
    pawl_partition_rows        rows = {.count = 0};
    pawl_code code = pawl_store_partition_list(why->store, &of, why->arena, &rows, why->error);
    size_t    i    = 0;
    while (i < rows.count && !pawl__has_undecoded(&rows.items[i]))
        i++;
    if (code != PAWL_OK || i == rows.count)
        return code;
    answer->waits_for = pawl__must_printf(
        why->arena,
        "the flush of its partition; messages of partition %.*s that cannot be "
        "decoded stay there until another program decodes them, and it may be one",
        PAWL_TEXT_ARGS(rows.items[i].partition));
    answer->error = rows.items[i].error;
    answer->commands[0] =
        pawl__why_command("pawl aggregator show", rows.items[i].partition, why->arena);
    return PAWL_OK;
}

static pawl_code add_collected(pawl__why *why, const pawl_scan_row *row)
{
    pawl__answer answer = {
        .place      = "aggregator",
        .name       = pawl__must_printf(why->arena, "%.*s, message %.*s (%.*s)",
                                        PAWL_TEXT_ARGS(row->belongs_to), PAWL_TEXT_ARGS(why->word),
                                        PAWL_TEXT_ARGS(row->message.type)),
        .waits_for  = PAWL_TEXT("the flush of its partition"),
        .claimed_by = PAWL_TEXT("nobody, or the worker that flushes the partition"),
        .next       = PAWL_TEXT(
                  "handed over with its partition, unless that is dead or it cannot be decoded"),
    };
    answer.commands[0] = PAWL_TEXT("pawl aggregator list");
    answer.commands[1] = PAWL_TEXT("pawl aggregator list --dead");
    say_idle(why, &answer);
    pawl_code code = say_undecoded(why, row->belongs_to, &answer);
    return code == PAWL_OK ? pawl__why_add(why, &answer) : code;
}

pawl_code pawl__why_collected(pawl__why *why)
{
    pawl_scan_row   after = {.number = 0};
    const pawl_scan scan  = {
         .kind = PAWL_SCAN_AGGREGATORS, .after = &after, .count_max = COLLECTED_PAGE};
    pawl_scan_rows rows  = {.count = COLLECTED_PAGE};
    pawl_arena    *arena = pawl__must_create();
    pawl_code      code  = PAWL_OK;
    for (size_t n = 0; rows.count == COLLECTED_PAGE && n < COLLECTED_MAX; n += rows.count) {
        pawl_arena_reset(arena);
        code = pawl_store_scan(why->store, &scan, arena, &rows, why->error);
        if (code != PAWL_OK)
            rows.count = 0;
        for (size_t i = 0; i < rows.count && !why->is_collected; i++) {
            after.number      = rows.items[i].number;
            why->is_collected = pawl_text_equal(rows.items[i].message.id, why->word);
            if (why->is_collected)
                code = add_collected(why, &rows.items[i]);
        }
        if (why->is_collected)
            break;
    }
    why->may_be_collected = !why->is_collected && rows.count == COLLECTED_PAGE;
    pawl_arena_destroy(arena);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* ---- Queues ------------------------------------------------------------- */

#define KEYS_SAID 3

/* Counts the held keys of an ordered queue, and names those with the most waiting messages. */
static pawl_code say_keys(const pawl__why *why, const pawl_queue_info *info, pawl__answer *answer)
{
    pawl__held  held;
    pawl_arena *arena = why->arena;
    pawl_code   code = pawl__held_read(why->store, info->queue, why->now, arena, &held, why->error);
    for (size_t i = 0; code == PAWL_OK && i < held.count && i < KEYS_SAID; i++) {
        const pawl__held_key *key = &held.items[i];
        char                  since[PAWL__SPAN_SIZE];
        pawl_text             whose =
            key->is_there ? pawl__must_printf(arena, "message %.*s", PAWL_TEXT_ARGS(key->holder))
                                      : PAWL_TEXT("a message that is gone");
        answer->waits_for = pawl__must_printf(
            arena, "%.*s; %.*s blocks its key%s%s: %.*s", PAWL_TEXT_ARGS(answer->waits_for),
            PAWL_TEXT_ARGS(whose), key->since != 0 ? " since " : "",
            key->since != 0 ? pawl__age_text(key->since, why->now, since) : "",
            PAWL_TEXT_ARGS(pawl__held_words(&held, key, arena)));
        if (i == 0 && key->is_there)
            answer->commands[3] = pawl__why_command("pawl why", key->holder, arena);
    }
    if (code == PAWL_OK && held.count > KEYS_SAID)
        answer->waits_for =
            pawl__must_printf(arena, "%.*s; and %s%zu more key%s",
                              PAWL_TEXT_ARGS(answer->waits_for), held.is_cut ? "at least " : "",
                              held.count - KEYS_SAID, held.count == KEYS_SAID + 1 ? "" : "s");
    return code;
}

static pawl_code add_queue(pawl__why *why, const pawl_queue_info *info)
{
    char         ready[PAWL__SPAN_SIZE], scheduled[PAWL__SPAN_SIZE];
    bool         is_paused = false;
    pawl_text    workers   = pawl__why_workers(why, info->queue);
    pawl__answer answer    = {
           .place     = "queue",
           .name      = pawl__must_printf(why->arena, "%.*s, %s due, %s scheduled",
                                          PAWL_TEXT_ARGS(info->queue), pawl__rows_text(info->ready, ready),
                                          pawl__rows_text(info->scheduled, scheduled)),
           .waits_for = info->ready + info->scheduled == 0 ? PAWL_TEXT("messages")
                        : info->workers == 0               ? PAWL_TEXT("a worker that reads it")
                        : info->ready > 0                  ? PAWL_TEXT("its workers")
                                                           : PAWL_TEXT("the time of its messages"),
           .since     = info->oldest,
           .claimed_by =
            workers.size != 0
                   ? pawl__must_printf(why->arena, "%.*s; one of each process is its service",
                                       PAWL_TEXT_ARGS(workers))
                   : PAWL_TEXT("nobody"),
           .next = pawl__queue_next(info, why->arena),
    };
    if (info->workers == 0)
        answer.commands[0] = PAWL_TEXT("pawl run APP.so");
    answer.commands[1] = pawl__why_command("pawl queue show", info->queue, why->arena);
    answer.commands[2] = pawl__why_command("pawl queue peek", info->queue, why->arena);
    pawl_code code     = info->scheduled > 0 ? say_keys(why, info, &answer) : PAWL_OK;
    if (code == PAWL_OK)
        code = pawl__why_pause(why, info->queue, &answer, &is_paused);
    return code == PAWL_OK ? pawl__why_add(why, &answer) : code;
}

pawl_code pawl__why_whole_queue(pawl__why *why)
{
    pawl_queue_infos infos = {.count = 0};
    pawl_code code = pawl_store_queue_infos(why->store, why->now, why->arena, &infos, why->error);
    for (size_t i = 0; code == PAWL_OK && i < infos.count; i++)
        if (pawl_text_equal(infos.items[i].queue, why->word))
            code = add_queue(why, &infos.items[i]);
    return code;
}
