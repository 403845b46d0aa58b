/* why_rows.c - an id in the outbox, among timeouts and streams.
 *
 * A process or an entity waits for messages; the deliveries of its source say what holds it back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/why.h"
#include "cli/outbox/outbox.h"
#include "cli/timeout/timeout.h"
#include "runtime/common/clock.h"

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
static pawl_code name_leader(pawl__why *why, const pawl_outbox_row *row, pawl__answer *answer)
{
    pawl_lead_row *leads = NULL;
    size_t         count = 0;
    pawl_text      name  = pawl__lease_name("outbox", row->endpoint, why->arena);
    pawl_code      code =
        pawl_store_lead_list(why->store, why->now, why->arena, &leads, &count, why->error);
    answer->claimed_by = PAWL_TEXT("nobody");
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        char id[PAWL_UUID_TEXT_SIZE + 1];
        pawl_uuid_format(leads[i].worker.uuid, id);
        if (pawl_text_equal(leads[i].name, name) && row->state <= PAWL_OUTBOX_BLOCKED)
            answer->claimed_by =
                pawl__must_printf(why->arena, "worker %s, which leads the outbox", id);
    }
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

static pawl_code add_row(pawl__why *why, const pawl_outbox_row *row, const char *place)
{
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
        code = name_leader(why, row, &answer);
    offer_commands(why, row, blocker, workers.size != 0, &answer);
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

/* By number, by dispatch id, and those that the handler of a message sent. */
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
    char         span[PAWL__SPAN_SIZE], id[PAWL_UUID_TEXT_SIZE + 1];
    bool         is_leased = row->lease_expires > why->now;
    bool         is_over   = row->lease_expires != 0 && !is_leased;
    bool         is_paused = false;
    pawl_text    workers   = pawl__why_workers(why, row->destination);
    pawl__answer answer    = {.place = "timeout", .since = row->due};
    pawl_uuid_format(row->id.uuid, id);
    pawl__age_text(row->due, why->now, span);
    answer.name      = pawl__must_printf(why->arena, "%s, %.*s of %.*s, for endpoint %.*s", id,
                                         PAWL_TEXT_ARGS(row->name), PAWL_TEXT_ARGS(row->saga_type),
                                         PAWL_TEXT_ARGS(row->destination));
    answer.waits_for = row->due > why->now ? pawl__must_printf(why->arena, "its time, %s", span)
                       : is_leased         ? PAWL_TEXT("the end of its handling")
                       : is_over ? PAWL_TEXT("a worker: the lease of the one that had it ran out")
                                 : PAWL_TEXT("a worker that is free");
    pawl_uuid_format(row->owner.uuid, id);
    answer.claimed_by =
        is_leased ? pawl__must_printf(why->arena, "session %s, for another %s at most", id,
                                      pawl__span_text(row->lease_expires - why->now, span))
                  : PAWL_TEXT("nobody");
    answer.next = workers.size != 0 ? PAWL_TEXT("a worker of the endpoint handles it then")
                                    : PAWL_TEXT("nothing, until a worker of the endpoint runs");
    if (workers.size == 0)
        answer.commands[0] = PAWL_TEXT("pawl run APP.so");
    pawl_uuid_format(row->id.uuid, id);
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

/* A process or an entity by its last event; a saga's deliveries by their source. */
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
