/* schedule.c - a due schedule sends its messages and gets its next time, in one commit.
 *
 * The row is a timeout that is not removed but set to the next time. The commit needs the claim to be
 * still valid (E13), so only one of two workers can commit. Message ids are computed from the row's name and
 * the planned time: a time is handled once, even if the row is restored from a backup.
 *
 * A row that cannot be planned or sent now is due again in a minute. Its header LATE keeps the planned
 * time meanwhile: "DUE PLANNED" in microseconds, which counts as long as the row is due at DUE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include "base/dispatch.h"

#include <stdlib.h>

#define PLAN_WAIT PAWL_MINUTES(1)

/* Never changes: rows are found by it. */
const pawl_saga_id pawl__schedules_saga = {{{0x9d, 0x1c, 0x53, 0x0e, 0x6a, 0x11, 0x4b, 0x7e, 0x8f,
                                             0x3a, 0x70, 0x61, 0x77, 0x6c, 0x2f, 0x73}}};

/* A schedule is never dead: a row that cannot be planned now is tried again, and each time logged. */
static pawl_code put_back(pawl_context *ctx, const pawl_error *error)
{
    pawl__unit *unit = ctx->unit;
    pawl_log(PAWL_LOG_ERROR, "schedule %.*s: %s; tried again in a minute",
             PAWL_TEXT_ARGS(unit->timeout.name), error->text);
    unit->end = PAWL__END_WAIT;
    unit->due = pawl_time_add(unit->now, PLAN_WAIT);
    return PAWL_OK;
}

static pawl_code send(pawl_context *ctx, const pawl__schedule_plan *plan, pawl_time planned)
{
    const pawl_timeout_row *row     = &ctx->unit->timeout;
    pawl_arena             *arena   = ctx->batch->arena;
    pawl_message            message = plan->message;
    char                    at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_dispatch_id        made =
        pawl__dispatch_id_of(row->destination, PAWL__SUBJECT_MESSAGE, row->name, planned, 0);
    pawl_time_format(planned, at);
    message.id             = pawl__arena_uuid(arena, made.uuid);
    message.correlation_id = message.id;
    if (message.id.data == NULL ||
        pawl__headers_set(plan->message.headers, PAWL_HEADER_PLANNED, pawl_text_of(at), arena,
                          &message.headers) != PAWL_OK)
        return pawl__context_no_memory(ctx);
    return pawl__context_put(ctx, row->destination, &message, PAWL__NO_DELAY, true);
}

pawl_code pawl__schedule_run(pawl_context *ctx)
{
    pawl__unit         *unit   = ctx->unit;
    pawl__engine       *engine = ctx->batch->engine;
    pawl__schedule_plan plan   = {.count = 0};
    pawl_error          error  = PAWL_ERROR_INIT;
    pawl_code code = engine->schedule(engine->runtime, &unit->timeout, unit->now, ctx->batch->arena,
                                      &plan, &error);
    if (code == PAWL_ENOMEM)
        return pawl__context_no_memory(ctx);
    if (code != PAWL_OK)
        return put_back(ctx, &error);
    if (plan.is_gone) {
        pawl_log(PAWL_LOG_INFO, "schedule %.*s is in no program's table any more, and removed",
                 PAWL_TEXT_ARGS(unit->timeout.name));
        unit->end = PAWL__END_DISCARDED;
        return PAWL_OK;
    }
    unit->due = plan.next;
    if (plan.next < ctx->batch->cut_timeout)
        ctx->batch->cut_timeout = plan.next;
    for (size_t i = 0; i < plan.count && code == PAWL_OK; i++)
        code = send(ctx, &plan, plan.times[i]);
    return code;
}

/* ---- A row that is put back ------------------------------------------------ */

pawl_code pawl__schedule_planned(const pawl_timeout_row *row, pawl_arena *arena, pawl_time *planned)
{
    pawl_text late;
    char     *end;
    pawl_code code =
        pawl__headers_value(row->headers, PAWL_TEXT(PAWL__SCHEDULE_LATE), arena, &late);
    *planned = row->due;
    if (code == PAWL_OK && late.size > 0 && strtoll(late.data, &end, 10) == row->due)
        *planned = strtoll(end, NULL, 10);
    return code;
}

/* Only a row that is written anew can have other headers. Those that are no JSON stay. */
static pawl_code write_again(pawl__batch *batch, const pawl__unit *unit, pawl_time due,
                             pawl_timeout_settle *settle, pawl_timeout_set *set)
{
    const pawl_timeout_row *row = &unit->timeout;
    pawl_time               planned;
    pawl_text               late, headers;
    settle->action = PAWL_TIMEOUT_RETRY;
    settle->due    = due;
    pawl_code code = pawl__schedule_planned(row, batch->arena, &planned);
    if (code == PAWL_OK) {
        late = pawl_arena_printf(batch->arena, "%lld %lld", (long long)due, (long long)planned);
        code = late.data != NULL ? pawl__headers_set(row->headers, PAWL__SCHEDULE_LATE, late,
                                                     batch->arena, &headers)
                                 : PAWL_ENOMEM;
    }
    if (code != PAWL_OK)
        return code == PAWL_ENOMEM ? code : PAWL_OK;
    settle->action = PAWL_TIMEOUT_REMOVE;
    *set           = (pawl_timeout_set){.unit        = settle->unit,
                                        .group       = settle->group,
                                        .id          = row->id,
                                        .saga_id     = row->saga_id,
                                        .saga_type   = row->saga_type,
                                        .name        = row->name,
                                        .destination = row->destination,
                                        .due         = due,
                                        .headers     = headers};
    batch->changes.timeout_set.count++;
    return PAWL_OK;
}

pawl_code pawl__schedule_settle(pawl__batch *batch, const pawl__unit *unit,
                                pawl_timeout_settle *settle)
{
    pawl_timeout_set *set = &batch->changes.timeout_set.items[batch->changes.timeout_set.count];
    switch (unit->end) {
    case PAWL__END_DISCARDED: return PAWL_OK;
    case PAWL__END_HANDLED:
        settle->action = PAWL_TIMEOUT_RETRY;
        settle->due    = unit->due;
        return PAWL_OK;
    case PAWL__END_DEAD:
        pawl_log(PAWL_LOG_ERROR, "schedule %.*s: %.*s; tried again in a minute",
                 PAWL_TEXT_ARGS(unit->timeout.name), PAWL_TEXT_ARGS(unit->error));
        return write_again(batch, unit, pawl_time_add(unit->now, PLAN_WAIT), settle, set);
    default: return write_again(batch, unit, unit->due, settle, set);
    }
}
