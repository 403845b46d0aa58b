/* test_deaths_sample.h - the endpoint of the tests of deaths, and workers that die.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_DEATHS_SAMPLE_H
#define PAWL_TESTS_UNIT_DEATHS_SAMPLE_H

#include "test_deaths_dying.h"

#include <signal.h>

PAWL_RECORD(load, A_NUMBER);

static world_log seen;
static world    *around;  /* the handler looks at its own row; NULL: it does not */
static pawl_code answer;  /* of the handler */
static pawl_uuid process; /* of the worker that dies; zeros: nobody will note its death */

/* "2!" of a message whose row is marked, "2~" of one that is so among others; behind it "s" of a process with a
 * supervisor. */
static pawl_code on_load(pawl_context *ctx, const load *message)
{
    const char     *mark = "", *by = "";
    const char     *body = test_text("\"number\":%d", message->number);
    pawl_queue_rows rows = {.count = 0};
    if (around != NULL)
        rows = world_queue(around, "dock");
    for (size_t i = 0; i < rows.count; i++) {
        const pawl_queue_row *row = &rows.items[i];
        if (!world_says(row->message.body, body))
            continue;
        if (row->crashes > 0 && world_says(row->history, "in flight, isolated"))
            mark = "!";
        if (world_says(row->history, "in flight, among others"))
            mark = "~";
        by = world_says(row->history, "\"process\":\"") ? "s" : "";
    }
    world_note(&seen, "%d%s%s", message->number, mark, by);
    return answer;
}
PAWL_MESSAGE_HANDLER(on_load, load);

/* Loads are late ten seconds after the ship. */
PAWL_RECORD(ship_state, A_NAME);
PAWL_RECORD(docked, A_NAME);

static pawl_code on_docked(pawl_context *ctx, ship_state *ship, const docked *message)
{
    pawl_timeout(ctx, "late", PAWL_SECONDS(10));
    return answer;
}
PAWL_HANDLER(on_docked, ship_state, docked);

static pawl_code on_late(pawl_context *ctx, ship_state *ship)
{
    pawl_event_rows        rows  = {.count = 0};
    const pawl_event_query query = {.type        = PAWL_TEXT(PAWL_ISOLATED_IN_FLIGHT),
                                    .is_backward = true};
    if (around != NULL)
        (void)pawl_store_event_list(around->store, &query, around->arena, &rows, NULL);
    const char *mark = "";
    if (rows.count > 0 && world_says(rows.items[0].event.body, "in flight, isolated"))
        mark = "!";
    if (rows.count > 0 && world_says(rows.items[0].event.body, "in flight, among others"))
        mark = "~";
    world_note(&seen, "late%s", mark);
    return answer;
}
PAWL_TIMEOUT_HANDLER(on_late, ship_state);

static const pawl_saga ship = SAGA_OF(
    "Ship", ship_state, "name", {.handle = PAWL_HANDLE(on_docked), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_late), .timeout = "late"});

static const pawl_application application =
    ONE_ENDPOINT("dock", .name = "dock", .sagas = PAWL_SAGAS(&ship),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_load)}));

static world *open_world(const char *url, int32_t crashes_max)
{
    world *it =
        world_begin(url, &application, NULL,
                    &(pawl_endpoint_options){.immediate_retries = -1, .crashes_max = crashes_max});
    around = it;
    return it;
}

/* Three messages in a store that no handle has open, but one that keeps a store in memory. */
static void prepare(const char *url)
{
    answer = PAWL_OK;
    world_forget(&seen);
    world_hold(url);
    world *it = open_world(url, 0);
    for (int i = 1; i <= 3; i++) {
        char id[] = {'m', '-', (char)('0' + i), '\0'};
        world_post(it, id, PAWL_MESSAGE(load, .number = i));
    }
    world_close(it);
    around = NULL;
}

/* ---- Dying ------------------------------------------------------------------ */

static pawl_queue_rows claim(pawl_store *store, pawl_arena *arena, size_t count_max)
{
    pawl_queue_rows        rows  = {.count = 0};
    const pawl_queue_claim asked = {
        .queue = DOCK, .due_max = WORLD_START, .count_max = count_max, .now = WORLD_START};
    must(pawl_store_queue_claim(store, &asked, arena, &rows, world_error()));
    return rows;
}

/* Markers the first message, and lets go of it. */
static inline void stamp_first(pawl_store *store, pawl_arena *arena)
{
    pawl_queue_row             row    = claim(store, arena, 1).items[0];
    const pawl__history_marker marker = {
        pawl_store_worker(store).uuid, pawl_store_epoch(store), getpid(), WORLD_START, process, 0};
    MUST_COMMIT(store, queue_settle, WORLD_START, .action = PAWL_QUEUE_RETRY, .queue = DOCK,
                .seq = row.seq, .due = row.due, .crashes = row.crashes + 1,
                .history = pawl__history_marker_add(arena, row.history, &marker));
}

#endif
