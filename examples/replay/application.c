/* application.c - the handlers of the replay, and its tables.
 *
 * A saga sends the log in chunks: each event is a message that is due at the event's own time, and one more message,
 * due with the last of them, goes to the saga itself. Under the virtual clock everything happens in due order, timeouts
 * before messages, so a case that was quiet long enough is closed before the next event.
 *
 *     read_on, position 0    sends events 0 .. 254, then read_on, position 255
 *     read_on, position 255  sends events 255 .. 509 ...
 *
 * With a broker they go to the route `wire` instead, and come back into the same queue with their due times. There a
 * read_on is due at once: it was sent after its events, and messages of one saga keep their order, so its arrival shows
 * that they have arrived. The virtual clock stops at the last event that has certainly arrived, so that no timeout
 * fires before an event that is still on its way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "records.h"

#include <inttypes.h>
#include <stdio.h>

#define QUIET "quiet" /* the timeout of a case */
#define COUNTED_AT (PAWL_TIME_MAX - 1)

/* ---- The reader ---------------------------------------------------------- */

static const char *destination(const replay_job *job)
{
    return job->is_by_broker ? REPLAY_WIRE : REPLAY_ENDPOINT;
}

/* The id contains the run and the event's position in the file, so events of one run or of several runs are never
 * confused. */
static pawl_code send_event(pawl_context *ctx, const replay_job *job, const replay_event *event)
{
    const replay_log *log = job->log;
    char              id[REPLAY_MESSAGE_ID_SIZE];
    char              group_key[REPLAY_GROUP_KEY_SIZE];
    snprintf(id, sizeof id, "%s:%" PRIu32, job->run, event->order);
    /* A delay, since a due time of 0 would mean none; it is never negative. */
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .id = id,
                                 .delay = event->time - pawl_now(ctx)};
    return pawl_send_with(
        ctx, destination(job), &options,
        PAWL_MESSAGE(log_event, .case_id = log->cases[event->case_index],
                     .activity  = log->activities[event->activity_index],
                     .group     = log->groups[event->group_index],
                     .group_key = replay_group_key(log, event->group_index, group_key),
                     .at        = event->time));
}

static pawl_code send_read_on(pawl_context *ctx, const replay_job *job, size_t position)
{
    char id[REPLAY_MESSAGE_ID_SIZE];
    snprintf(id, sizeof id, "%s:from:%zu", job->run, position);
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .id = id};
    if (!job->is_by_broker)
        options.delay = job->log->events[position - 1].time - pawl_now(ctx);
    return pawl_send_with(
        ctx, destination(job), &options,
        PAWL_MESSAGE(read_on, .run = pawl_text_of(job->run), .position = (int64_t)position));
}

static pawl_code on_read_on(pawl_context *ctx, log_reader *reader, const read_on *message)
{
    replay_job *job   = pawl_user(ctx);
    size_t      count = job->log->event_count;
    char        name[17];
    if (message->position != reader->position || reader->position < 0 ||
        (size_t)reader->position >= count + job->is_by_broker)
        return pawl_fail(ctx, PAWL_REJECT,
                         "asked to read on from event %" PRId64 ", the reader is at %" PRId64
                         " of %zu",
                         message->position, reader->position, count);
    size_t    begun    = (size_t)reader->position;
    size_t    position = begun;
    size_t    end      = count - position > job->chunk ? position + job->chunk : count;
    pawl_code code     = PAWL_OK;
    for (; code == PAWL_OK && position < end; position++)
        code = send_event(ctx, job, &job->log->events[position]);
    if (code == PAWL_OK && (end < count || (job->is_by_broker && begun < count)))
        code = send_read_on(ctx, job, end);
    if (code != PAWL_OK)
        return code;
    pawl_text log        = replay_log_name(job->log, name);
    reader->log          = pawl_arena_text(pawl_scratch(ctx), log);
    reader->events       = (int64_t)count;
    reader->position     = (int64_t)end;
    reader->is_by_broker = job->is_by_broker;
    reader->arrived      = (int64_t)begun;
    reader->is_done      = (job->is_by_broker ? begun : end) == count;
    job->position        = end;
    job->arrived         = begun;
    return reader->log.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}
PAWL_HANDLER(on_read_on, log_reader, read_on);

static pawl_code on_case_quiet(pawl_context *ctx, log_reader *reader, const case_quiet *message)
{
    (void)ctx;
    (void)message;
    reader->closings++;
    return PAWL_OK;
}
PAWL_HANDLER(on_case_quiet, log_reader, case_quiet);

static const pawl_saga reader_saga = {
    .name        = "Reader",
    .state       = PAWL_RECORD_OF(log_reader),
    .correlation = "run",
    .on          = PAWL_ON({.handle = PAWL_HANDLE(on_read_on), .key = "run", .starts = true},
                           {.handle = PAWL_HANDLE(on_case_quiet), .key = "run"})};

/* ---- Cases --------------------------------------------------------------- */

static pawl_code on_log_event(pawl_context *ctx, open_case *open, const log_event *message)
{
    const replay_job *job = pawl_user(ctx);
    if (open->events == 0)
        open->first = message->at;
    else if (message->at < open->last)
        open->misplaced++;
    if (pawl_now(ctx) != message->at)
        open->misplaced++;
    open->events++;
    open->last          = message->at;
    open->last_activity = message->activity;
    return pawl_timeout(ctx, QUIET, job->quiet);
}
PAWL_HANDLER(on_log_event, open_case, log_event);

static pawl_code on_quiet(pawl_context *ctx, open_case *open)
{
    const replay_job *job = pawl_user(ctx);
    if (pawl_now(ctx) != open->last + job->quiet)
        open->misplaced++;
    pawl_code code = pawl_send(ctx, REPLAY_ARCHIVE,
                               PAWL_MESSAGE(case_closed, .case_id = open->case_id,
                                            .events = open->events, .misplaced = open->misplaced,
                                            .first = open->first, .last = open->last));
    /* Counted at the end: if the message were due at once, it would have to be handled before the next event, which
     * would end the batch. */
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = COUNTED_AT};
    if (code == PAWL_OK)
        code = pawl_send_with(ctx, REPLAY_ENDPOINT, &options,
                              PAWL_MESSAGE(case_quiet, .run = pawl_text_of(job->run)));
    return code == PAWL_OK ? pawl_complete(ctx) : code;
}
PAWL_TIMEOUT_HANDLER(on_quiet, open_case);

static const pawl_saga case_saga = {
    .name        = "OpenCase",
    .state       = PAWL_RECORD_OF(open_case),
    .correlation = "case_id",
    .on          = PAWL_ON({.handle = PAWL_HANDLE(on_log_event), .key = "case_id", .starts = true},
                           {.handle = PAWL_HANDLE(on_quiet), .timeout = QUIET})};

/* ---- Groups -------------------------------------------------------------- */

static pawl_code on_batch(pawl_context *ctx, const log_event *messages, size_t count)
{
    return pawl_send(ctx, REPLAY_ENDPOINT,
                     PAWL_MESSAGE(group_batch, .group_key = messages[0].group_key,
                                  .group = messages[0].group, .events = (int64_t)count));
}
PAWL_BATCH_HANDLER(on_batch, log_event);

static pawl_code on_group_batch(pawl_context *ctx, group_tally *tally, const group_batch *message)
{
    const replay_job *job = pawl_user(ctx);
    tally->group          = message->group;
    tally->batches++;
    tally->events += message->events;
    if (message->events != job->batch) {
        tally->uneven++;
        tally->uneven_last = tally->batches;
    }
    return PAWL_OK;
}
PAWL_HANDLER(on_group_batch, group_tally, group_batch);

static const pawl_saga group_saga = {
    .name        = "GroupTally",
    .state       = PAWL_RECORD_OF(group_tally),
    .correlation = "group_key",
    .on = PAWL_ON({.handle = PAWL_HANDLE(on_group_batch), .key = "group_key", .starts = true})};

/* ---- The archive --------------------------------------------------------- */

static pawl_code on_case_closed(pawl_context *ctx, archived_case *archived,
                                const case_closed *message)
{
    (void)ctx;
    archived->closings++;
    archived->events += message->events;
    archived->misplaced += message->misplaced;
    archived->last = message->last;
    return PAWL_OK;
}
PAWL_HANDLER(on_case_closed, archived_case, case_closed);

static const pawl_saga archive_saga = {
    .name        = "ArchivedCase",
    .state       = PAWL_RECORD_OF(archived_case),
    .correlation = "case_id",
    .on = PAWL_ON({.handle = PAWL_HANDLE(on_case_closed), .key = "case_id", .starts = true})};

/* ---- The tables ---------------------------------------------------------- */

static const pawl_saga *const replay_sagas[]  = {&reader_saga, &case_saga, &group_saga, NULL};
static const pawl_saga *const archive_sagas[] = {&archive_saga, NULL};

static const pawl_endpoint_spec archive_endpoint = {.name = REPLAY_ARCHIVE, .sagas = archive_sagas};

void replay_application_make(int64_t batch, replay_application *made)
{
    *made                = (replay_application){.aggregators = {NULL}};
    made->by_group       = (pawl_aggregator){.name   = REPLAY_AGGREGATOR,
                                             .handle = PAWL_HANDLE(on_batch),
                                             .key    = "group_key",
                                             .size   = batch,
                                             .max    = batch};
    made->aggregators[0] = &made->by_group;
    made->replay         = (pawl_endpoint_spec){
                .name = REPLAY_ENDPOINT, .sagas = replay_sagas, .aggregators = made->aggregators};
    made->endpoints[0] = &made->replay;
    made->endpoints[1] = &archive_endpoint;
    made->application =
        (pawl_application){PAWL_APPLICATION_HEAD, .name = "replay", .endpoints = made->endpoints};
}

pawl_code replay_application_start(const replay_job *job, pawl_sender *sender, pawl_error *error)
{
    char id[REPLAY_MESSAGE_ID_SIZE];
    snprintf(id, sizeof id, "%s:from:0", job->run);
    /* Due with the first event; 0 would mean no due time. */
    pawl_time         first   = job->log->events[0].time;
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .id = id, .due = first != 0 ? first : -1};
    return pawl_sender_send(sender, REPLAY_ENDPOINT, &options,
                            PAWL_MESSAGE(read_on, .run = pawl_text_of(job->run)), error);
}

/* ---- Names --------------------------------------------------------------- */

/* Size of the text up to a maximum, cut between characters. */
static size_t cut_size(pawl_text text, size_t size_max)
{
    if (text.size <= size_max)
        return text.size;
    size_t size = size_max;
    while (size > 0 && ((unsigned char)text.data[size] & 0xC0) == 0x80)
        size--;
    return size;
}

pawl_text replay_group_key(const replay_log *log, size_t group, char buffer[REPLAY_GROUP_KEY_SIZE])
{
    pawl_text text = log->groups[group];
    int       size = (int)cut_size(text, REPLAY_GROUP_KEY_SIZE - 24);
    snprintf(buffer, REPLAY_GROUP_KEY_SIZE, "%zu:%.*s", group, size,
             text.data != NULL ? text.data : "");
    return pawl_text_of(buffer);
}

pawl_text replay_log_name(const replay_log *log, char buffer[17])
{
    snprintf(buffer, 17, "%016" PRIx64, log->fingerprint);
    return pawl_text_of(buffer);
}
